/** What a tab shows, kept until it is closed: a page that is loaded again shows it again. */

import { Vector3 } from "three";
import type { Rotation } from "./messages.ts";
import { nameOf, type Display, type Model, type Selection, type Transport } from "./model.ts";
import type { Viewport } from "./stage/viewport.ts";

const KEY = "ecorche-view";

/** Milliseconds between two notes: playing changes the moment all the time. */
const PAUSE = 500;

interface Remembered {
  /** The character it is of. */
  of: string;
  transport: Transport;
  at: number;
  display: Display;
  selection: Selection;
  along: number[];
  pose: [number, Rotation][];
  /** Relative to the character's hips. */
  camera: { position: number[]; target: number[] };
}

function read(): Remembered | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Remembered | null;
  } catch {
    return null;
  }
}

export function remember(model: Model, viewport: Viewport): void {
  const known = read();
  const note = (): void => {
    const { skeleton, stage } = viewport;
    const { character } = model;
    if (model.frame === null || skeleton === null || character === null) return;
    const hub = skeleton.hub();
    const view: Remembered = {
      of: nameOf(character),
      transport: model.transport,
      at: model.moment(),
      display: model.display,
      selection: model.selection,
      along: model.along,
      pose: [...model.pose],
      camera: { position: stage.camera.position.clone().sub(hub).toArray(), target: stage.orbit.target.clone().sub(hub).toArray() },
    };
    // Where nothing can be kept the next load begins anew.
    try {
      sessionStorage.setItem(KEY, JSON.stringify(view));
    } catch {
      return;
    }
  };
  let waiting = 0;
  const soon = (): void => {
    if (waiting !== 0) return;
    waiting = window.setTimeout(() => { waiting = 0; note(); }, PAUSE);
  };
  for (const event of ["display", "selection", "transport", "pose", "frame"] as const) model.on(event, soon);
  viewport.stage.orbit.addEventListener("change", soon);
  addEventListener("pagehide", note);

  let recalled = false;
  model.on("character", () => {
    if (recalled || known === null || model.character === null || known.of !== nameOf(model.character)) return;
    recalled = true;
    const clip = model.character.clips.some(({ name }) => name === known.transport.clip) ? known.transport.clip : null;
    model.recall({ transport: { ...known.transport, clip }, at: known.at, display: { ...model.display, ...known.display }, pose: new Map(known.pose) });
    viewport.onceFramed = (hub) => {
      const { position, target } = known.camera;
      viewport.stage.camera.position.copy(new Vector3(...position).add(hub));
      viewport.stage.orbit.target.copy(new Vector3(...target).add(hub));
      viewport.stage.orbit.update();
    };
    // What is selected is looked up in the anatomy, which comes next.
    const stop = model.on("document", () => { stop(); model.select(known.selection, known.along); });
  });
}
