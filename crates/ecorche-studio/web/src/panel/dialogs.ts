/** Windows over the page: names of files, questions, the keys. */

import type { Request } from "../messages.ts";
import type { Model } from "../model.ts";
import { button, h } from "./dom.ts";
import { SHORTCUTS } from "../shortcuts.ts";

/** A window over the page. */
export function dialog(title: string, ...children: (HTMLElement | null)[]): HTMLDialogElement {
  const element = h("dialog", {}, h("h1", { text: title }), ...children);
  element.addEventListener("close", () => { element.remove(); });
  element.addEventListener("click", (event) => { if (event.target === element) element.close(); });
  document.body.append(element);
  element.showModal();
  return element;
}

export function pathField(value: string, label: string): HTMLInputElement {
  const input = h("input", { class: "path", attributes: { type: "text", spellcheck: "false", "aria-label": label } });
  input.value = value;
  return input;
}

function askPath(title: string, value: string, hint: string, verb: string, done: (path: string) => void): void {
  const input = pathField(value, title);
  const finish = (): void => { done(input.value.trim()); element.close(); };
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    // Else the same key presses the button that gets the focus back.
    event.preventDefault();
    finish();
  });
  const element: HTMLDialogElement = dialog(
    title,
    input,
    h("p", { class: "hint", text: hint }),
    h("div", { class: "buttons end" }, button("Cancel", "Esc", () => { element.close(); }), button(verb, "Enter", finish, "primary")),
  );
  input.select();
}

export const WHERE = "A path on this machine, relative to the folder the studio was started in.";

export function saveAs(model: Model): void {
  askPath("Save the anatomy as", model.document?.path ?? `${model.character?.name ?? "anatomy"}.toml`, WHERE, "Save", (path) => {
    model.request({ save: { path } });
  });
}

export function save(model: Model): void {
  if ((model.document?.path ?? null) === null) saveAs(model);
  else model.request({ save: { path: null } });
}

export function load(model: Model): void {
  askPath("Open an anatomy file", model.document?.path ?? "", `${WHERE} Opening can be undone.`, "Open", (path) => {
    model.request({ load: { path } });
  });
}

/** Asks what the engine asks, and sends what the answer stands for. */
export function askQuestions(model: Model): void {
  model.on("notice", ({ text, yes, no }) => {
    if (yes === undefined) return;
    // A window that is only closed answers nothing.
    const reply = (answer: Request | null): void => { if (answer !== null) model.request(answer); question.close(); };
    const question: HTMLDialogElement = dialog(
      "Question",
      h("p", { text }),
      h("div", { class: "buttons end" }, button("No", "No", () => { reply(no ?? null); }), button("Yes", "Yes", () => { reply(yes); }, "primary")),
    );
  });
}

export function help(): void {
  const cells = SHORTCUTS.flatMap(([keys, what]) => [
    h("span", {}, ...keys.split(" ").map((key) => h("kbd", { text: key }))),
    h("span", { text: what }),
  ]);
  const element = dialog(
    "Keys",
    h("div", { class: "keys" }, ...cells),
    h("p", { class: "hint", text: "Drag to orbit, right drag to pan, wheel to zoom, double click to frame. Alt click follows a vertex and draws its path." }),
  );
  element.classList.add("wide");
}
