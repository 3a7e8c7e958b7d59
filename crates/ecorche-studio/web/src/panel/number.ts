/** A number that is typed as an expression, or scrubbed by dragging it sideways. */

import { h } from "./dom.ts";
import { evaluate } from "./expression.ts";
import { listen } from "./patch.ts";

export interface NumberSettings {
  label: string;
  title: string;
  value: number;
  min: number;
  max: number;
  step: number;
  unit: string;
  /** Called on every change; `drag` is the same for one drag. */
  change: (value: number, drag: number) => void;
  newDrag: () => number;
  /** Brings the default back. */
  reset?: (() => void) | undefined;
}

/** Pixels that the pointer moves before a press is a drag. */
const SLACK = 3;

/** Digits that tell a step apart. */
function digits(step: number): number {
  return Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
}

/** A value with the digits of its step. */
export function shown(value: number, step: number): string {
  return value.toFixed(digits(step));
}

/** The drag that is under way, of whichever field. */
let scrub: { from: number; x: number; drag: number } | null = null;

/** The field alone. It holds the last good value, so that Escape and nonsense bring it back. */
export function numberField(settings: NumberSettings): HTMLInputElement {
  const { label, title, min, max, step, unit, change, newDrag } = settings;
  const say = (field: HTMLInputElement, value: number, drag: number): void => {
    const within = Math.max(min, Math.min(max, value));
    field.value = shown(within, step);
    field.dataset.value = field.value;
    field.dispatchEvent(new CustomEvent("taken", { bubbles: true, detail: within }));
    change(within, drag);
  };
  const take = (event: Event): void => {
    const field = event.currentTarget as HTMLInputElement;
    const value = evaluate(field.value, unit);
    if (value === null) field.value = field.dataset.value ?? "";
    else if (field.value !== field.dataset.value) say(field, value, newDrag());
  };
  const field = h("input", {
    class: "number",
    title: `${title}\nDrag sideways to change it, with Shift finely. Sums and units work: 2*18, 1.5cm.`,
    attributes: { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-label": label, "data-value": shown(settings.value, step) },
    on: {
      change: take,
      keydown: (event) => {
        const input = event.currentTarget as HTMLInputElement;
        if (event.key === "Enter") input.blur();
        if (event.key === "Escape") input.value = input.dataset.value ?? "";
        const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
        if (by === 0) return;
        event.preventDefault();
        say(input, (evaluate(input.value, unit) ?? settings.value) + by * step * (event.shiftKey ? 10 : 1), newDrag());
      },
      focus: (event) => { (event.currentTarget as HTMLInputElement).select(); },
      pointerdown: (event) => {
        const input = event.currentTarget as HTMLInputElement;
        // A field that has the focus is for typing.
        if (event.button !== 0 || document.activeElement === input) return;
        event.preventDefault();
        input.setPointerCapture(event.pointerId);
        scrub = { from: evaluate(input.value, unit) ?? settings.value, x: event.clientX, drag: 0 };
      },
      pointermove: (event) => {
        if (scrub === null || !(event.currentTarget as HTMLInputElement).hasPointerCapture(event.pointerId)) return;
        const way = event.clientX - scrub.x;
        if (scrub.drag === 0 && Math.abs(way) < SLACK) return;
        if (scrub.drag === 0) scrub.drag = newDrag();
        say(event.currentTarget as HTMLInputElement, scrub.from + way * step * (event.shiftKey ? 0.1 : 1), scrub.drag);
      },
      pointerup: (event) => {
        const pressed = scrub;
        scrub = null;
        if (pressed?.drag === 0) (event.currentTarget as HTMLInputElement).focus();
      },
    },
  });
  field.value = shown(settings.value, step);
  return field;
}

/** The drag of the slider that is held; one hand holds one. */
let sliding = 0;

/** A number that can be dragged or typed. Typing may leave the slider's range, down to its least value. */
export function slider(settings: NumberSettings): HTMLElement {
  const { label, title, min, max, step, unit, change, newDrag, reset } = settings;
  const begin = (): void => { sliding = newDrag(); };
  const range = h("input", {
    attributes: { type: "range", min: `${min}`, max: `${max}`, step: `${step}`, "aria-label": label },
    on: {
      pointerdown: begin,
      keydown: begin,
      input: (event) => {
        const { valueAsNumber, parentElement } = event.currentTarget as HTMLInputElement;
        const number = parentElement?.querySelector<HTMLInputElement>(".number");
        if (number) number.value = number.dataset.value = shown(valueAsNumber, step);
        if (sliding === 0) begin();
        change(valueAsNumber, sliding);
      },
    },
  });
  range.value = String(settings.value);
  const number = numberField({ ...settings, max: Infinity });
  const name = h("span", { class: "label" }, h("span", { text: label }), reset && h("button", { class: "reset", title: "The default", text: "↺", attributes: { "aria-label": `Reset ${label}` }, on: { click: reset } }));
  const row = h("div", { class: "slider", key: label, title }, name, range, number, h("span", { class: "unit", text: unit }));
  listen(row, "taken", (event) => {
    const thumb = (event.currentTarget as HTMLElement).querySelector<HTMLInputElement>("[type=range]");
    if (thumb) thumb.value = String((event as CustomEvent<number>).detail);
  });
  row.dataset.field = label;
  return row;
}
