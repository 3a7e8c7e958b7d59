/** The name of what is under the pointer. */

import { h } from "../panel/dom.ts";
import type { Viewport } from "../stage/viewport.ts";

/** Milliseconds the pointer rests before a name is looked up. */
const REST = 80;

export function names(viewport: Viewport): HTMLElement {
  const label = h("div", { class: "under-pointer" });
  label.hidden = true;
  let waiting = 0;
  viewport.stage.element.addEventListener("pointermove", (event) => {
    clearTimeout(waiting);
    label.hidden = true;
    if (event.buttons !== 0 || event.target !== viewport.stage.renderer.domElement) return;
    const { offsetX: x, offsetY: y } = event;
    waiting = window.setTimeout(() => {
      const name = viewport.nameAt(x, y);
      label.hidden = name === null;
      label.textContent = name ?? "";
      label.style.left = `${x + 16}px`;
      label.style.top = `${y + 14}px`;
    }, REST);
  });
  for (const gone of ["pointerleave", "pointerdown"]) viewport.stage.element.addEventListener(gone, () => { clearTimeout(waiting); label.hidden = true; });
  return label;
}
