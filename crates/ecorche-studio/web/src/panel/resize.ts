/** The panels at the sides: their edges are dragged, a double click folds them. */

import { h } from "./dom.ts";

/** Pixels. */
const NARROWEST = 180;
const WIDEST = 560;
const FOLDED = 0;

function edge(side: "left" | "right", title: string): HTMLElement {
  const line = h("div", { class: `edge ${side}-edge`, title, attributes: { role: "separator", tabindex: "0", "aria-label": title } });
  const root = document.documentElement.style;
  const widthOf = (): number => document.querySelector<HTMLElement>(`aside.${side}`)?.offsetWidth ?? 0;
  const put = (width: number): void => {
    const folded = width < 0.5 * NARROWEST;
    root.setProperty(`--${side}`, `${folded ? FOLDED : Math.max(NARROWEST, Math.min(WIDEST, width))}px`);
    document.body.classList.toggle(`${side}-folded`, folded);
  };
  line.addEventListener("pointerdown", (event) => { line.setPointerCapture(event.pointerId); });
  line.addEventListener("pointermove", (event) => {
    if (line.hasPointerCapture(event.pointerId)) put(side === "left" ? event.clientX : innerWidth - event.clientX);
  });
  const fold = (): void => {
    if (widthOf() > 0) put(0);
    else {
      root.removeProperty(`--${side}`);
      document.body.classList.remove(`${side}-folded`);
    }
  };
  line.addEventListener("dblclick", fold);
  line.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (event.key === "Enter") fold();
    else if (by !== 0) put(widthOf() + 20 * (side === "left" ? by : -by));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return line;
}

export function edges(): HTMLElement[] {
  return [edge("left", "Drag for the width of the list; a double click folds it"), edge("right", "Drag for the width of the numbers; a double click folds them")];
}
