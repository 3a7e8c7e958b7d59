/** Which buttons turn, shift and zoom the view: the studio's own habits, Blender's, or Maya's. */

import { MOUSE } from "three";
import type { Habits } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Stage } from "../stage/stage.ts";

export type Navigation = NonNullable<Habits["navigation"]>;

export const NAVIGATIONS: [Navigation, string, string][] = [
  ["orbit", "Studio", "Left drag turns, right drag shifts, the wheel zooms"],
  ["blender", "Blender", "Middle drag turns, with Shift it shifts, with Ctrl it zooms"],
  ["maya", "Maya", "Alt and left drag turns, Alt and middle drag shifts, Alt and right drag zooms"],
];

/** What a press of a button does; null leaves it to clicks. */
function actionOf(navigation: Navigation, event: PointerEvent): MOUSE | null {
  const { button, shiftKey, ctrlKey, altKey } = event;
  if (navigation === "orbit") return button === 0 ? MOUSE.ROTATE : button === 1 ? MOUSE.DOLLY : MOUSE.PAN;
  if (navigation === "blender") return button !== 1 ? null : shiftKey ? MOUSE.PAN : ctrlKey ? MOUSE.DOLLY : MOUSE.ROTATE;
  return !altKey ? null : button === 0 ? MOUSE.ROTATE : button === 1 ? MOUSE.PAN : MOUSE.DOLLY;
}

export function navigation(model: Model, stage: Stage): void {
  stage.element.addEventListener("pointerdown", (event) => {
    const action = actionOf(model.desk?.habits?.navigation ?? "orbit", event);
    // The controls turn a drag with a key held into a shift of the view; here the habits say what it is.
    const held = event.shiftKey || event.ctrlKey || event.metaKey;
    const swapped = action === MOUSE.ROTATE && held ? MOUSE.PAN : action === MOUSE.PAN && held ? MOUSE.ROTATE : action;
    stage.orbit.mouseButtons = { LEFT: swapped, MIDDLE: swapped, RIGHT: swapped };
  }, true);
}
