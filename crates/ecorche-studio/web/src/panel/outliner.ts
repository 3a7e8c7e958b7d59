/** The list on the left: muscles, fat, joints and pieces, to be found and chosen. */

import type { Model, Selection } from "../model.ts";
import type { Piece, Side } from "../messages.ts";
import type { Viewport } from "../stage/viewport.ts";
import { newFat, newMuscle } from "./create.ts";
import { button, empty, h } from "./dom.ts";
import { newParametric } from "./parametric.ts";
import { patch } from "./patch.ts";

interface Entry {
  label: string;
  note: string;
  selection: Selection;
  /** Left and right of a name, each to be chosen. */
  sides: { letter: string; about: string; selection: Selection }[];
}

const OTHER: Record<Side, Side> = { left: "right", right: "left", middle: "middle" };

function same(a: Selection, b: Selection): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export function outliner(model: Model, viewport: Viewport): HTMLElement {
  const search = h("input", {
    class: "search",
    id: "search",
    title: "Enter takes the first that is found",
    attributes: { type: "search", placeholder: "Find…   ( / )" },
    on: {
      input: () => { draw(); },
      keydown: ({ key }) => {
        if (key === "Enter") list.querySelector<HTMLElement>("section:not(.pieces) .entry .name")?.click();
      },
    },
  });
  const list = h("div", { class: "outline" });

  const draw = (): void => {
    const { character, document: doc } = model;
    if (!character) return;
    const wanted = search.value.trim().toLowerCase();
    const fits = (entry: Entry): boolean => entry.label.toLowerCase().includes(wanted);
    const flesh = (kind: "muscle" | "fat" | "parametric"): Entry[] => {
      const named = new Map<string, Side[]>();
      for (const { name, side, mirror } of doc?.[kind] ?? []) {
        named.set(name, [...(named.get(name) ?? []), ...(mirror ? [side, OTHER[side]] : [side])]);
      }
      return [...named].map(([name, sides]) => ({
        label: name,
        note: "",
        selection: { kind, name, side: sides[0] ?? "middle" },
        sides: (["left", "right"] as const)
          .filter((side) => sides.includes(side))
          .map((side) => ({ letter: side.charAt(0).toUpperCase(), about: `${name}, ${side}`, selection: { kind, name, side } })),
      }));
    };
    const count = (entries: Entry[]): number => entries.reduce((sum, { sides }) => sum + Math.max(1, sides.length), 0);
    const joints: Entry[] = character.joints.flatMap((joint, k) =>
      joint.in_skin
        ? [{ label: joint.name, note: model.pose.has(k) ? "posed" : "", selection: { kind: "joint", joint: k }, sides: [] }]
        : [],
    );
    const groups: [string, Entry[], string, HTMLElement | null][] = [
      ["Muscles", flesh("muscle"), "None yet. Pick two bones to make one.", button("+", "New muscle between two bones (N)", () => { newMuscle(model, viewport); }, "icon small")],
      ["Fat", flesh("fat"), "None yet. Pick a place on the skin.", button("+", "New fat pad under a place of the skin", () => { newFat(model, viewport); }, "icon small")],
      ["Parametric", flesh("parametric"), "None: made from the muscles.", button("+", "New parametric muscle between two bones", () => { newParametric(model, viewport); }, "icon small")],
      ["Joints", joints, "This character has no skin.", null],
    ];
    const pieces = model.pieces
      .map((piece, k) => ({ ...piece, label: `${k} ${piece.mesh}` }))
      .filter(({ label, role }) => `${label} ${role}`.toLowerCase().includes(wanted))
      .sort((a, b) => b.area - a.area);
    patch(
      list,
      ...groups.map(([title, entries, none, add]) => {
        const found = entries.filter(fits);
        const content =
          found.length > 0 ? found.map(item) : [empty(wanted === "" ? none : "Nothing of that name.")];
        return h("section", { key: title }, h("h2", {}, h("span", { text: `${title}  ` }), h("span", { class: "count", text: String(count(entries)) }), add), ...content);
      }),
      // One piece is all skin: nothing to tell apart.
      ...(model.pieces.length > 1
        ? [h("section", { class: "pieces" }, h("h2", {}, h("span", { text: "Pieces  " }), h("span", { class: "count", text: String(model.pieces.length) })), ...pieces.map(pieceItem))]
        : []),
    );
  };
  const pieceItem = ({ label, vertices, area, role, is_given, why }: Piece & { label: string }): HTMLElement =>
    h(
      "div",
      { class: "entry", key: label, title: `${vertices} vertices, ${(100 * area).toFixed(1)} % of the area. ${role}: ${is_given ? "given by the anatomy" : why}` },
      h("button", { class: "name", text: label, on: { click: () => { model.show({ quantity: "role" }); } } }),
      h("span", { class: "note", text: role }),
    );
  const item = (entry: Entry): HTMLElement => {
    const chosen = (selection: Selection): string => (same(selection, model.selection) ? " chosen" : "");
    const either = entry.sides.map(({ selection }) => chosen(selection)).find((mark) => mark !== "") ?? chosen(entry.selection);
    return h(
      "div",
      { class: `entry${either}`, key: entry.label, title: entry.label },
      h("button", { class: "name", text: entry.label, on: { click: () => { choose(entry.selection); } } }),
      entry.note !== "" && h("span", { class: "note", text: entry.note }),
      ...entry.sides.map(({ letter, about, selection }) =>
        h("button", { class: `side${chosen(selection)}`, key: letter, title: about, text: letter, on: { click: () => { choose(selection); } } }),
      ),
    );
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
  let shape = "";
  model.on("document", (doc) => {
    // A drag changes numbers, not the list.
    const next = JSON.stringify([...doc.muscle, ...doc.fat, ...doc.parametric].map((entry) => [entry.name, entry.side, entry.mirror]));
    if (next === shape) return;
    shape = next;
    draw();
  });
  for (const event of ["character", "selection", "pose", "pieces"] as const) {
    model.on(event, draw);
  }
  return h("aside", { class: "left" }, search, list);
}
