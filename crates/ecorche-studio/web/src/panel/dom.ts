/** Elements, with less writing. Panels put them into the page by `patch`. */

import { listen, type Child } from "./patch.ts";

export interface Properties {
  class?: string;
  title?: string;
  text?: string;
  id?: string;
  /** What it shows, where its place and class do not tell it from others beside it. */
  key?: string;
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
  if (properties.key !== undefined) element.dataset.key = properties.key;
  if (properties.text !== undefined) element.textContent = properties.text;
  for (const [name, value] of Object.entries(properties.attributes ?? {})) element.setAttribute(name, value);
  for (const [name, listener] of Object.entries(properties.on ?? {})) {
    listen(element, name, listener as EventListener);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export function button(label: string, title: string, click: () => void, style = ""): HTMLButtonElement {
  return h("button", { class: `button ${style}`, key: label, title, text: label, on: { click } });
}

/** A choice of a few words in a row. */
export function segments<T extends string>(
  choices: [T, string, string][],
  value: T,
  choose: (value: T) => void,
): HTMLElement {
  const element = h("div", { class: "segments" });
  for (const [name, label, title] of choices) {
    const item = h("button", { class: name === value ? "chosen" : "", key: name, title, text: label, on: { click: () => { choose(name); } } });
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
  const element = h("select", { title, on: { change: (event) => { choose((event.currentTarget as HTMLSelectElement).value); } } });
  for (const [name, label] of choices) element.append(new Option(label, name, false, name === value));
  return element;
}

export function check(label: string, value: boolean, title: string, choose: (value: boolean) => void): HTMLElement {
  const input = h("input", { attributes: { type: "checkbox" }, on: { change: (event) => { choose((event.currentTarget as HTMLInputElement).checked); } } });
  input.checked = value;
  return h("label", { class: "check", key: label, title }, input, h("span", { text: label }));
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return h("section", { key: title }, h("h2", { text: title }), ...children);
}

export function row(label: string, title: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "row", key: label, title }, h("span", { class: "label", text: label }), ...children);
}

export function empty(text: string): HTMLElement {
  return h("p", { class: "empty", text });
}
