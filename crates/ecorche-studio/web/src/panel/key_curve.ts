/** The activation of the selected muscle over the clip: keys as points of a curve, to be added, dragged and deleted. */

import type { Model } from "../model.ts";
import { keysOf, without, type Key, type Keyed } from "./activation.ts";
import { button, h } from "./dom.ts";

const HEIGHT = 120;
const MARGIN = { left: 34, right: 14, top: 10, bottom: 18 };

/** How near a point a press must be, pixels. */
const REACH = 9;

export function keyCurve(model: Model): { element: HTMLElement; toggle: HTMLButtonElement } {
  const canvas = h("canvas", { class: "key-curve", attributes: { tabindex: "0", "aria-label": "Activation over the clip" }, title: "Double click adds a key; drag moves one, Delete takes it away" });
  const element = h("div", { class: "curve-view", id: "curve-view" }, canvas);
  element.hidden = true;
  const toggle = button("∿", "Curve of the selected muscle’s activation", () => { element.hidden = !element.hidden; draw(); }, "icon");
  toggle.id = "curve-toggle";
  let held: { others: Key[]; put: Keyed["put"]; drag: number } | null = null;
  let chosen: number | null = null;

  const clip = (): { fps: number; start: number; last: number } | null => model.character?.clips.find(({ name }) => name === model.transport.clip) ?? null;
  const box = (): { width: number; height: number } => ({ width: Math.max(1, canvas.clientWidth - MARGIN.left - MARGIN.right), height: HEIGHT - MARGIN.top - MARGIN.bottom });
  const xOf = (time: number): number => {
    const reel = clip();
    return reel === null ? 0 : MARGIN.left + (((time - reel.start) * reel.fps) / Math.max(reel.last, 1)) * box().width;
  };
  const yOf = (value: number): number => MARGIN.top + (1 - value) * box().height;
  const keyAt = (event: PointerEvent | MouseEvent): Key => {
    const reel = clip() ?? { fps: 30, start: 0, last: 1 };
    const frame = Math.max(0, Math.min(reel.last, Math.round(((event.offsetX - MARGIN.left) / box().width) * reel.last)));
    const value = Math.max(0, Math.min(1, 1 - (event.offsetY - MARGIN.top) / box().height));
    return [Number((reel.start + frame / reel.fps).toFixed(3)), Number(value.toFixed(3))];
  };
  const known = (): Keyed | null => {
    const muscle = model.muscle() ?? model.parametric();
    return muscle === null || clip() === null ? null : keysOf(model, muscle);
  };
  const sorted = (keys: Key[]): Key[] => keys.sort((a, b) => a[0] - b[0]);

  const draw = (): void => {
    toggle.disabled = known() === null;
    toggle.classList.toggle("chosen", !element.hidden && !toggle.disabled);
    element.classList.toggle("unused", toggle.disabled);
    if (element.hidden || toggle.disabled) return;
    const [muscle, keys, reel] = [model.muscle() ?? model.parametric(), known(), clip()];
    const width = canvas.clientWidth;
    if (muscle === null || keys === null || reel === null || width === 0) return;
    canvas.width = 2 * width;
    canvas.height = 2 * HEIGHT;
    const context = canvas.getContext("2d");
    if (context === null) return;
    const style = getComputedStyle(document.documentElement);
    context.scale(2, 2);
    context.font = "10px system-ui";
    context.lineWidth = 1;
    context.strokeStyle = style.getPropertyValue("--line");
    context.fillStyle = style.getPropertyValue("--dim");
    for (const value of [0, 0.5, 1]) {
      context.beginPath();
      context.moveTo(MARGIN.left, yOf(value));
      context.lineTo(width - MARGIN.right, yOf(value));
      context.stroke();
      context.fillText(value.toFixed(1), 8, yOf(value) + 3);
    }
    context.fillText(`activation of ${muscle.name}`, MARGIN.left + 4, HEIGHT - 5);
    const now = xOf(model.seconds());
    context.strokeStyle = "#cfd5dc";
    context.beginPath();
    context.moveTo(now, MARGIN.top);
    context.lineTo(now, HEIGHT - MARGIN.bottom);
    context.stroke();
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 2;
    context.beginPath();
    const [first, last] = [keys.values[0], keys.values.at(-1)];
    if (first && last) {
      context.moveTo(MARGIN.left, yOf(first[1]));
      for (const [time, value] of keys.values) context.lineTo(xOf(time), yOf(value));
      context.lineTo(width - MARGIN.right, yOf(last[1]));
    }
    context.stroke();
    keys.values.forEach(([time, value]) => {
      context.beginPath();
      context.arc(xOf(time), yOf(value), 4.5, 0, 2 * Math.PI);
      context.fillStyle = time === chosen ? "#fff" : "#f2b35d";
      context.fill();
    });
    canvas.dataset.points = JSON.stringify(keys.values.map(([time, value]) => [xOf(time), yOf(value)]));
  };

  canvas.addEventListener("pointerdown", (event) => {
    const keys = known();
    if (keys === null) return;
    const near = keys.values.find(([time, value]) => Math.hypot(xOf(time) - event.offsetX, yOf(value) - event.offsetY) < REACH);
    chosen = near?.[0] ?? null;
    if (near) {
      held = { others: without(keys.values, near[0]), put: keys.put, drag: model.newDrag() };
      canvas.setPointerCapture(event.pointerId);
    }
    draw();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held === null) return;
    const key = keyAt(event);
    [chosen] = key;
    held.put(sorted([...without(held.others, key[0]), key]), held.drag);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { held = null; });
  canvas.addEventListener("dblclick", (event) => {
    const keys = known();
    if (keys === null) return;
    const key = keyAt(event);
    [chosen] = key;
    keys.put(sorted([...without(keys.values, key[0]), key]), null);
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    // Else the muscle itself is deleted.
    event.stopPropagation();
    const keys = known();
    if (keys !== null && chosen !== null) keys.put(without(keys.values, chosen), null);
    chosen = null;
  });
  for (const event of ["document", "selection", "transport", "character", "frame"] as const) model.on(event, () => { if (held === null || event === "document") draw(); });
  new ResizeObserver(draw).observe(canvas);
  return { element, toggle };
}
