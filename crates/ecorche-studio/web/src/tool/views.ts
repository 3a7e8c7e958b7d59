/** Looking from the front, the side, above, and three quarters. */

import { Vector3 } from "three";
import type { Stage } from "../stage/stage.ts";

export type Side = "front" | "back" | "left" | "right" | "top" | "bottom" | "quarter";

/** From the character, which faces +z, to the camera. Straight down the camera would have no up. */
const FROM: Record<Side, Vector3> = {
  front: new Vector3(0, 0, 1),
  back: new Vector3(0, 0, -1),
  left: new Vector3(1, 0, 0),
  right: new Vector3(-1, 0, 0),
  top: new Vector3(0, 1, 1e-4),
  bottom: new Vector3(0, -1, 1e-4),
  quarter: new Vector3(0.55, 0.18, 1),
};

export const VIEWS: [Side, string, string][] = [
  ["front", "Front", "From the front (1 of the number pad; with Ctrl from the back)"],
  ["left", "Side", "From the character’s left (3 of the number pad; with Ctrl from its right)"],
  ["top", "Top", "From above (7 of the number pad; with Ctrl from below)"],
  ["quarter", "3/4", "Three quarters from the front (0 of the number pad)"],
];

/** The view that a key of the number pad stands for. */
export function viewOf({ code, ctrlKey }: KeyboardEvent): Side | null {
  const views: Record<string, [Side, Side]> = { Numpad1: ["front", "back"], Numpad3: ["left", "right"], Numpad7: ["top", "bottom"], Numpad0: ["quarter", "quarter"] };
  return views[code]?.[ctrlKey ? 1 : 0] ?? null;
}

/** Turns the camera around what it looks at. */
export function lookFrom(stage: Stage, side: Side): void {
  const { camera, orbit } = stage;
  const distance = camera.position.distanceTo(orbit.target);
  camera.position.copy(FROM[side]).normalize().multiplyScalar(distance).add(orbit.target);
  orbit.update();
  stage.invalidate();
}
