/** Elements, with less writing. */

type Child = Node | string | null | undefined | false;

export interface Properties {
  class?: string;
  title?: string;
  text?: string;
  id?: string;
  attributes?: Record<string, string>;
  on?: Partial<{ [K in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[K]) => void }>;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (properties.class) element.className = properties.class;
  if (properties.title) element.title = properties.title;
  if (properties.id) element.id = properties.id;
  if (properties.text !== undefined) element.textContent = properties.text;
  for (const [name, value] of Object.entries(properties.attributes ?? {})) element.setAttribute(name, value);
  for (const [name, listener] of Object.entries(properties.on ?? {})) {
    element.addEventListener(name, listener as EventListener);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export function button(label: string, title: string, click: () => void, style = ""): HTMLButtonElement {
  return h("button", { class: `button ${style}`, title, text: label, on: { click } });
}

/** A choice of a few words in a row. */
export function segments<T extends string>(
  choices: [T, string, string][],
  value: T,
  choose: (value: T) => void,
): HTMLElement {
  const element = h("div", { class: "segments" });
  for (const [name, label, title] of choices) {
    const item = h("button", { class: name === value ? "chosen" : "", title, text: label, on: { click: () => { choose(name); } } });
    item.dataset.value = name;
    element.append(item);
  }
  return element;
}

/** A choice from a list. */
export function select(
  choices: [string, string][],
  value: string,
  title: string,
  choose: (value: string) => void,
): HTMLSelectElement {
  const element = h("select", { title, on: { change: () => { choose(element.value); } } });
  for (const [name, label] of choices) element.append(new Option(label, name, false, name === value));
  return element;
}

export function check(label: string, value: boolean, title: string, choose: (value: boolean) => void): HTMLElement {
  const input = h("input", { attributes: { type: "checkbox" }, on: { change: () => { choose(input.checked); } } });
  input.checked = value;
  return h("label", { class: "check", title }, input, h("span", { text: label }));
}

export interface SliderSettings {
  label: string;
  title: string;
  value: number;
  min: number;
  max: number;
  step: number;
  unit: string;
  /** Called while dragging; `drag` is the same for one drag. */
  change: (value: number, drag: number) => void;
  newDrag: () => number;
}

/** Digits that tell a step apart. */
function digits(step: number): number {
  return Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
}

/** A number that can be dragged or typed. */
export function slider(settings: SliderSettings): HTMLElement {
  const { label, title, min, max, step, unit, change, newDrag } = settings;
  const shown = (value: number): string => value.toFixed(digits(step));
  let drag = 0;
  const range = h("input", { attributes: { type: "range", min: `${min}`, max: `${max}`, step: `${step}`, "aria-label": label } });
  const number = h("input", { class: "number", attributes: { type: "number", min: `${min}`, step: `${step}`, "aria-label": label } });
  range.value = String(settings.value);
  number.value = shown(settings.value);
  range.addEventListener("pointerdown", () => { drag = newDrag(); });
  range.addEventListener("keydown", () => { drag = newDrag(); });
  range.addEventListener("input", () => {
    if (drag === 0) drag = newDrag();
    number.value = shown(range.valueAsNumber);
    change(range.valueAsNumber, drag);
  });
  number.addEventListener("change", () => {
    if (Number.isNaN(number.valueAsNumber)) return;
    range.value = number.value;
    change(number.valueAsNumber, newDrag());
  });
  const row = h("div", { class: "slider", title }, h("span", { class: "label", text: label }), range, number, h("span", { class: "unit", text: unit }));
  row.dataset.field = label;
  return row;
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return h("section", {}, h("h2", { text: title }), ...children);
}

export function row(label: string, title: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "row", title }, h("span", { class: "label", text: label }), ...children);
}

export function empty(text: string): HTMLElement {
  return h("p", { class: "empty", text });
}

/** Whether the user is at a control inside: it must not be replaced under their hands. */
export function busy(element: HTMLElement): boolean {
  const active = document.activeElement;
  return active instanceof HTMLInputElement && element.contains(active) && active.matches(":active, [type=number]:focus");
}
