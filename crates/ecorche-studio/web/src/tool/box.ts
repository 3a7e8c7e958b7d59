/** A box drawn with Shift over the view chooses the joints in it. */

import type { Model } from "../model.ts";
import { h } from "../panel/dom.ts";
import type { Viewport } from "../stage/viewport.ts";

/** Pixels that the pointer moves before a press is a box. */
const SLACK = 5;

export function box(model: Model, viewport: Viewport): HTMLElement {
  const frame = h("div", { class: "box-select" });
  frame.hidden = true;
  const { element, renderer } = viewport.stage;
  let from: { x: number; y: number } | null = null;
  element.addEventListener("pointerdown", (event) => {
    const joints = viewport.skeleton?.group.visible === true;
    if (!joints || !event.shiftKey || event.button !== 0 || event.target !== renderer.domElement || viewport.gizmo.hovered) return;
    from = { x: event.offsetX, y: event.offsetY };
  }, true);
  element.addEventListener("pointermove", (event) => {
    if (from === null || event.target !== renderer.domElement) return;
    const [x, y] = [event.offsetX, event.offsetY];
    if (frame.hidden && Math.hypot(x - from.x, y - from.y) < SLACK) return;
    frame.hidden = false;
    // The view stands still meanwhile.
    viewport.stage.orbit.enabled = false;
    Object.assign(frame.style, { left: `${Math.min(x, from.x)}px`, top: `${Math.min(y, from.y)}px`, width: `${Math.abs(x - from.x)}px`, height: `${Math.abs(y - from.y)}px` });
  });
  addEventListener("pointerup", () => {
    if (from !== null && !frame.hidden) {
      const { offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height } = frame;
      const found = viewport.jointsIn(left, top, width, height);
      const [first, ...others] = found;
      if (first !== undefined) model.select({ kind: "joint", joint: first }, others);
    }
    if (from !== null) viewport.stage.orbit.enabled = true;
    from = null;
    frame.hidden = true;
  });
  return frame;
}
