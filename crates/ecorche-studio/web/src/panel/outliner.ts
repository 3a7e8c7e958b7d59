/** The list on the left: muscles, fat and joints, to be found and chosen. */

import type { Model, Selection } from "../model.ts";
import type { Side } from "../messages.ts";
import type { Viewport } from "../stage/viewport.ts";
import { newFat, newMuscle } from "./create.ts";
import { button, empty, h } from "./dom.ts";

interface Entry {
  label: string;
  note: string;
  about: string;
  selection: Selection;
}

const OTHER: Record<Side, Side> = { left: "right", right: "left", middle: "middle" };

function same(a: Selection, b: Selection): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export function outliner(model: Model, viewport: Viewport): HTMLElement {
  const search = h("input", { class: "search", id: "search", attributes: { type: "search", placeholder: "Find…   ( / )" } });
  const list = h("div", { class: "outline" });

  const draw = (): void => {
    const { character, document: doc } = model;
    if (!character) return;
    const wanted = search.value.trim().toLowerCase();
    const fits = (entry: Entry): boolean => entry.label.toLowerCase().includes(wanted);
    const flesh = (kind: "muscle" | "fat"): Entry[] =>
      (doc?.[kind] ?? []).flatMap((item) =>
        (item.mirror === true ? [item.side, OTHER[item.side]] : [item.side]).map((side) => ({
          label: item.name,
          note: side === "middle" ? "" : side.charAt(0).toUpperCase(),
          about: side === "middle" ? item.name : `${item.name}, ${side}`,
          selection: { kind, name: item.name, side },
        })),
      );
    const joints: Entry[] = character.joints.flatMap((joint, k) =>
      joint.in_skin
        ? [{ label: joint.name, note: model.pose.has(k) ? "posed" : "", about: joint.name, selection: { kind: "joint", joint: k } }]
        : [],
    );
    const groups: [string, Entry[], string, HTMLElement | null][] = [
      ["Muscles", flesh("muscle"), "None yet. Pick two bones to make one.", button("+", "New muscle between two bones (N)", () => { newMuscle(model, viewport); }, "icon small")],
      ["Fat", flesh("fat"), "None yet. Pick a place on the skin.", button("+", "New fat pad under a place of the skin", () => { newFat(model, viewport); }, "icon small")],
      ["Joints", joints, "This character has no skin.", null],
    ];
    list.replaceChildren(
      ...groups.map(([title, entries, none, add]) => {
        const found = entries.filter(fits);
        const content =
          found.length > 0 ? found.map(item) : [empty(wanted === "" ? none : "Nothing of that name.")];
        return h("section", {}, h("h2", {}, h("span", { text: `${title}  ` }), h("span", { class: "count", text: String(entries.length) }), add), ...content);
      }),
    );
  };
  const item = (entry: Entry): HTMLElement => {
    const element = h(
      "button",
      { class: `entry${same(entry.selection, model.selection) ? " chosen" : ""}`, on: { click: () => { choose(entry.selection); } } },
      h("span", { text: entry.label }),
      h("span", { class: "note", text: entry.note }),
    );
    element.title = entry.about;
    return element;
  };
  const choose = (selection: Selection): void => {
    if (selection.kind === "joint" && viewport.wantJoint !== null) {
      viewport.wantJoint(selection.joint);
      return;
    }
    if (selection.kind === "muscle" || selection.kind === "fat") {
      const opacity = Math.min(model.display.opacity, 0.35);
      model.show({ flesh: true, opacity });
    }
    model.select(selection);
  };
  search.addEventListener("input", draw);
  let shape = "";
  model.on("document", (doc) => {
    // A drag changes numbers, not the list.
    const next = JSON.stringify([...doc.muscle, ...doc.fat].map((entry) => [entry.name, entry.side, entry.mirror]));
    if (next === shape) return;
    shape = next;
    draw();
  });
  for (const event of ["character", "selection", "pose"] as const) {
    model.on(event, () => {
      const top = list.scrollTop;
      draw();
      list.scrollTop = top;
    });
  }
  return h("aside", { class: "left" }, search, list);
}
