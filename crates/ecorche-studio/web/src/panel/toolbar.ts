/** The bar at the top: what is shown by which method, undo, files. */

import type { Look } from "../messages.ts";
import type { Compare, Model } from "../model.ts";
import { button, h, segments, select } from "./dom.ts";
import { patch } from "./patch.ts";

export const LOOKS: [Look, string, string][] = [
  ["lbs", "LBS", "Linear blend skinning: fast, loses volume at bends (1)"],
  ["dqs", "DQS", "Dual quaternions: keeps volume, bulges at bends (2)"],
  ["cor", "CoR", "Optimised centres of rotation (3)"],
  ["implicit", "Implicit", "Skin that touches skin: fields and tracking (4)"],
  ["muscles", "Muscles", "The implicit skin over muscles and fat that bulge and swing (5)"],
  ["parametric", "Parametric", "Dual quaternions, displaced by muscles of a few curves: for crowds (6)"],
];

export interface Actions {
  save: () => void;
  saveAs: () => void;
  load: () => void;
  open: () => void;
  bake: () => void;
  notes: () => void;
  help: () => void;
  present: () => void;
}

export function toolbar(model: Model, actions: Actions): HTMLElement {
  const name = h("button", { class: "file", id: "character", text: "…", on: { click: actions.open } });
  const undo = button("↶", "Undo (Ctrl+Z)", () => { model.undo(); }, "icon");
  const redo = button("↷", "Redo (Ctrl+Shift+Z)", () => { model.redo(); }, "icon");
  undo.id = "undo";
  redo.id = "redo";
  const notes = button("⚠", "What was repaired when the file was read", actions.notes, "quiet");
  notes.id = "notes";
  notes.hidden = true;
  const save = button("Save", "Save the anatomy file (Ctrl+S)", actions.save);
  save.id = "save";
  const bake = button("Bake…", "Write the deformed animation to a cache (B)", actions.bake, "primary");
  bake.id = "bake-open";
  const methods = h("div", { class: "methods" });

  const draw = (): void => {
    const { looks, compare } = model.display;
    const choose = (slot: 0 | 1) => (look: Look): void => {
      const next: [Look, Look] = [...looks];
      next[slot] = look;
      model.show({ looks: next });
    };
    const modes: [Compare, string, string][] = [
      ["single", "One", "One method"],
      ["side", "Split", "Two methods side by side (C)"],
      ["wipe", "Wipe", "Two methods under a dividing line that can be dragged (C)"],
    ];
    const second = select(LOOKS.map(([id, label]) => [id, label]), looks[1], "The method to compare with", (value) => {
      choose(1)(value as Look);
    });
    second.id = "second-look";
    // Always there, so that nothing moves.
    second.disabled = compare === "single";
    const [first, mode] = [segments(LOOKS, looks[0], choose(0)), segments(modes, compare, (to) => { model.show({ compare: to }); })];
    first.id = "look";
    mode.id = "compare";
    patch(methods, first, mode, second);
  };
  const drawFile = (): void => {
    undo.disabled = !model.canUndo();
    redo.disabled = !model.canRedo();
    const { document: doc, character } = model;
    if (!character) return;
    name.textContent = `${character.name}${doc?.unsaved === true ? " •" : ""}`;
    name.title = `${doc?.path ?? "The anatomy has no file yet"}\nClick to open another character`;
    notes.hidden = character.notes.length === 0;
    notes.textContent = `⚠ ${character.notes.length}`;
    save.disabled = doc !== null && !doc.unsaved && doc.path !== null;
  };
  model.on("display", draw);
  for (const event of ["document", "character", "pose"] as const) model.on(event, drawFile);
  draw();
  drawFile();
  return h(
    "header",
    { class: "toolbar" },
    h("span", { class: "brand", text: "écorché" }),
    name,
    notes,
    methods,
    h("span", { class: "space" }),
    undo,
    redo,
    h("span", { class: "gap" }),
    save,
    ...menu("⋯", "More about the anatomy file", [
      ["Open character…", "Open another character", actions.open],
      ["Open anatomy…", "Open an anatomy file in place of this one", actions.load],
      ["Save anatomy as…", "Save the anatomy under another name", actions.saveAs],
    ]),
    button("◰", "The character alone, for pictures (O)", actions.present, "icon"),
    bake,
    button("?", "Keyboard shortcuts (?)", actions.help, "icon"),
  );
}

/** A button, and a list that opens under it. */
function menu(label: string, title: string, items: [string, string, () => void][]): HTMLElement[] {
  const list = h("div", { class: "menu", id: "file-menu", attributes: { popover: "auto" } });
  for (const [name, about, action] of items) {
    list.append(h("button", { class: "entry", title: about, text: name, on: { click: () => { list.hidePopover(); action(); } } }));
  }
  const opener = button(label, title, () => {
    const { right, bottom } = opener.getBoundingClientRect();
    list.style.top = `${bottom + 4}px`;
    list.style.right = `${innerWidth - right}px`;
    list.togglePopover();
  }, "icon");
  opener.id = "file-more";
  return [opener, list];
}
