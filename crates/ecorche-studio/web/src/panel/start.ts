/** What can be opened: samples with their pictures, recent files, a file, or what is dropped. */

import type { Desk } from "../messages.ts";
import type { Model } from "../model.ts";
import { dialog } from "./dialogs.ts";
import { button, h } from "./dom.ts";
import { askFile } from "./files.ts";
import { patch } from "./patch.ts";

/** Characters that can be read. */
export const CHARACTERS = ["glb", "gltf", "fbx", "dae", "obj", "usd", "usda", "usdc", "usdz"];

/** What is opened, with what belongs to it. */
export interface Opened {
  character: string | null;
  anatomy?: string | null;
  motion?: string | null;
  batch?: string | null;
}

/** Opens a character in place of this one; asks before something that is not saved is left. */
export function open(model: Model, { character, anatomy = null, motion = null, batch = null }: Opened): void {
  const go = (): void => { model.request({ open: { character, anatomy, motion, batch } }); };
  const unsaved = model.document?.unsaved === true;
  const baking = model.bake?.running === true;
  if (!unsaved && !baking) {
    go();
    return;
  }
  const why = [
    unsaved ? "The anatomy has changes that are not saved. They are kept beside it and offered when it is opened again." : "",
    baking ? "The bake that runs is cancelled." : "",
  ];
  const element: HTMLDialogElement = dialog(
    "Open another character?",
    h("p", { text: why.join(" ").trim() }),
    h("div", { class: "buttons end" }, button("Stay", "Esc", () => { element.close(); }), button("Open", "Enter", () => { element.close(); go(); }, "primary")),
  );
}

function fileName(path: string): string {
  return path.split(/[/\\]/).pop() ?? path;
}

export function askCharacter(model: Model): void {
  askFile(model, {
    title: "Open a character", verb: "Open", value: "", endings: CHARACTERS,
    hint: "Click a file and Open, or double click it. A path can be typed, too.",
    done: (character) => { open(model, { character }); },
  });
}

/** The lists; `chosen` is called when something was. */
function content(model: Model, desk: Desk, chosen: () => void): HTMLElement[] {
  const take = (opened: Opened) => (): void => { chosen(); open(model, opened); };
  return [
    h(
      "div",
      { class: "drop-here", key: "drop" },
      h("strong", { text: "Drop a character here" }),
      h("span", { text: `${CHARACTERS.slice(0, 6).map((ending) => `.${ending}`).join(" ")} … with its .bvh motion and .toml anatomy, if it has any` }),
      button("Open a file…", "Choose a file of this machine", () => { chosen(); askCharacter(model); }, "primary"),
    ),
    ...(desk.recent.length > 0
      ? [
          h("h2", { key: "recent", text: "Recent" }),
          h(
            "div",
            { class: "recent", key: "recents" },
            ...desk.recent.map((recent) =>
              h("button", { class: "entry", key: recent.character, title: [recent.character, recent.anatomy, recent.motion].filter((path) => typeof path === "string").join("\n"), on: { click: take(recent) } },
                h("span", { class: "name", text: fileName(recent.character) }),
                h("span", { class: "note", text: typeof recent.anatomy === "string" ? `with ${fileName(recent.anatomy)}` : "" })),
            ),
          ),
        ]
      : []),
    h("h2", { key: "samples", text: "Samples" }),
    h(
      "div",
      { class: "cards", key: "cards" },
      ...desk.samples.map(({ name, summary }) =>
        h("button", { class: "card", key: name, title: summary, on: { click: take({ character: `sample:${name}` }) } },
          h("img", { attributes: { src: `sample/${name}`, alt: "", loading: "lazy" } }),
          h("span", { class: "name", text: name }),
          h("span", { class: "note", text: summary })),
      ),
    ),
  ];
}

/** The page while no character is open. */
export function startPage(model: Model): HTMLElement {
  const body = h("div", { class: "start-body" });
  const page = h("div", { class: "start", id: "start" }, h("header", {}, h("span", { class: "brand", text: "écorché" }), h("span", { class: "note", text: "the same animation with better skin" })), body);
  page.hidden = true;
  model.on("desk", (desk) => {
    page.hidden = desk.open !== null;
    document.body.classList.toggle("starting", desk.open === null);
    if (desk.open === null) patch(body, ...content(model, desk, () => undefined));
  });
  return page;
}

/** The same lists over a character that is open. */
export function openOther(model: Model): void {
  if (model.desk === null) return;
  const element: HTMLDialogElement = dialog("Open", ...content(model, model.desk, () => { element.close(); }));
  element.classList.add("wide", "start-body");
}
