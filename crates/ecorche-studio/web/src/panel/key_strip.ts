/** The keys of the selected muscle as diamonds over the timeline, to be dragged, copied and deleted. */

import type { Model } from "../model.ts";
import { keysOf, without, type Key, type Keyed } from "./activation.ts";
import { h } from "./dom.ts";
import { patch } from "./patch.ts";

/** Half a thumb of the timeline's slider, pixels: its ends are that far from the strip's. */
const INSET = 7;

/** A key on its way: the other keys, its value, how it is put, and whether it has moved. */
let moving: { drag: number; others: Key[]; value: number; put: Keyed["put"]; from: number; to: number } | null = null;

export function keyStrip(model: Model): HTMLElement {
  const strip = h("div", { class: "key-strip" });
  const clip = (): { fps: number; start: number; last: number } | undefined => model.character?.clips.find(({ name }) => name === model.transport.clip);

  const frameOf = (event: PointerEvent, last: number): number => {
    const { left, width } = strip.getBoundingClientRect();
    const share = (event.clientX - left - INSET) / Math.max(width - 2 * INSET, 1);
    return Math.max(0, Math.min(last, Math.round(share * last)));
  };
  const draw = (): void => {
    const [muscle, reel] = [model.muscle() ?? model.parametric(), clip()];
    if (muscle === null || reel === undefined || reel.last === 0) {
      patch(strip);
      return;
    }
    const { fps, start, last } = reel;
    const { values, put } = keysOf(model, muscle);
    const timeOf = (frame: number): number => Number((start + frame / fps).toFixed(3));
    const diamond = ([time, value]: Key, k: number): HTMLElement => {
      const frame = (time - start) * fps;
      const element = h("button", {
        class: "diamond",
        key: String(k),
        title: `${muscle.name}: ${value.toFixed(2)} at ${time.toFixed(2)} s\nDrag to another frame, with Ctrl a copy; Delete takes it away; a click goes there`,
        attributes: { "aria-label": `Key at ${time.toFixed(2)} s` },
        on: {
          pointerdown: (event) => {
            const held = event.currentTarget as HTMLElement;
            held.focus();
            held.setPointerCapture(event.pointerId);
            const others = event.ctrlKey ? values : without(values, time);
            moving = { drag: model.newDrag(), others: [...others], value, put, from: Math.round(frame), to: Math.round(frame) };
          },
          pointermove: (event) => {
            if (moving === null) return;
            const to = frameOf(event, last);
            if (to === moving.to) return;
            moving.to = to;
            const at = timeOf(to);
            moving.put([...without(moving.others, at), [at, moving.value] as Key].sort((a, b) => a[0] - b[0]), moving.drag);
          },
          pointerup: () => {
            const still = moving !== null && moving.from === moving.to;
            moving = null;
            if (still) model.scrub(Math.max(0, Math.min(last, Math.round(frame))));
          },
          pointercancel: () => { moving = null; },
          keydown: (event) => {
            if (event.key !== "Delete" && event.key !== "Backspace") return;
            // Else the muscle itself is deleted.
            event.stopPropagation();
            put(without(values, time), null);
          },
        },
      });
      element.style.left = `calc(${INSET}px + (100% - ${2 * INSET}px) * ${(frame / last).toFixed(5)})`;
      return element;
    };
    patch(strip, ...values.map(diamond));
  };
  for (const event of ["document", "selection", "transport", "character"] as const) model.on(event, draw);
  return strip;
}
