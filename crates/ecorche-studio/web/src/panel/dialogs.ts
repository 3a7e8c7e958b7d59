/** Windows over the page: names of files, questions, the keys. */

import type { Request } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Page } from "../page.ts";
import { NAVIGATIONS } from "../tool/navigation.ts";
import { button, h, segments } from "./dom.ts";
import { patch } from "./patch.ts";
import { askFile } from "./files.ts";
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

export const WHERE = "A path on this machine, relative to the folder the studio was started in.";

export function saveAs(model: Model): void {
  askFile(model, {
    title: "Save the anatomy as", verb: "Save", hint: "The name ends in .toml.", endings: ["toml"],
    value: model.document?.path ?? `${model.character?.name ?? "anatomy"}.toml`,
    done: (path) => { model.request({ save: { path } }); },
  });
}

export function save(model: Model): void {
  if ((model.document?.path ?? null) === null) saveAs(model);
  else model.request({ save: { path: null } });
}

export function load(model: Model): void {
  askFile(model, {
    title: "Open an anatomy file", verb: "Open", hint: "It takes the place of the one that is open, which can be undone.", endings: ["toml"],
    value: model.document?.path ?? "",
    done: (path) => { model.request({ load: { path } }); },
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

/** What was repaired or made when the character was read. */
export function notes({ character }: Model): void {
  if (character === null) return;
  dialog(
    `How ${character.name} was read`,
    h("p", { class: "hint", text: "The file itself is not changed." }),
    h("ul", { class: "notes" }, ...character.notes.map((text) => h("li", { text }))),
  ).classList.add("wide");
}

/** The keys, how the view is turned, and the tour once more. */
export function help({ model, shortcuts }: Page): void {
  const keys = [...SHORTCUTS, ...shortcuts.map(({ key, about }): [string, string] => [key.toUpperCase(), about])];
  const cells = keys.flatMap(([keys, what]) => [
    h("span", {}, ...keys.split(" ").map((key) => h("kbd", { text: key }))),
    h("span", { text: what }),
  ]);
  const navigations = h("div", { class: "buttons" });
  const drawNavigations = (): void => {
    const now = model.desk?.habits?.navigation ?? "orbit";
    const about = NAVIGATIONS.find(([name]) => name === now)?.[2] ?? "";
    patch(navigations, segments(NAVIGATIONS, now, (navigation) => { model.keepHabits({ navigation }); drawNavigations(); }), h("span", { class: "note", text: about }));
  };
  const element: HTMLDialogElement = dialog(
    "Keys",
    h("div", { class: "keys" }, ...cells),
    h("p", { class: "hint", text: "Double click frames what is under the pointer. Which buttons turn the view:" }),
    navigations,
    h("div", { class: "buttons end" }, button("Tour", "Five steps through the page", () => { element.close(); model.emit("tour", null); })),
  );
  drawNavigations();
  element.classList.add("wide");
}
