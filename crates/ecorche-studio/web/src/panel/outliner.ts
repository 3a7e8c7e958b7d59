/** The list on the left: muscles by region, fat, the tree of joints, and pieces; to be found, chosen, hidden and locked. */

import { markKey, type Mark, type Model, type Selection } from "../model.ts";
import type { Attachment, Piece, Side } from "../messages.ts";
import type { Viewport } from "../stage/viewport.ts";
import { newFat, newMuscle } from "./create.ts";
import { button, empty, h } from "./dom.ts";
import { newParametric } from "./parametric.ts";
import { patch } from "./patch.ts";
import { ORDER, regionBetween, regionOf } from "./regions.ts";

interface Entry {
  label: string;
  note: string;
  selection: Selection;
  /** How deep it is in a tree. */
  depth: number;
  /** Whether others are below it, and whether they are shown. */
  branch: "open" | "closed" | null;
  /** Left and right of a name, each to be chosen. */
  sides: { letter: string; about: string; selection: Selection }[];
}

const OTHER: Record<Side, Side> = { left: "right", right: "left", middle: "middle" };

function same(a: Selection, b: Selection): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

const MARKS: [Mark, string, string][] = [
  ["hidden", "◌", "Hide or show"],
  ["ghost", "◐", "Ghost: seen through"],
  ["locked", "⚿", "Lock: clicks in the view pass it by"],
];

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
        if (key === "ArrowDown") list.querySelector<HTMLElement>(".entry .name")?.focus();
      },
    },
  });
  const list = h("div", { class: "outline", attributes: { role: "tree" } });
  const closed = new Set<string>();
  const fold = (key: string): void => {
    if (!closed.delete(key)) closed.add(key);
    draw();
  };

  const flesh = (kind: "muscle" | "fat" | "parametric"): Entry[] => {
    const named = new Map<string, { sides: Side[]; region: string }>();
    const boneOf = (end: Attachment | Attachment[]): string => [end].flat()[0]?.bone ?? "";
    const regions = {
      muscle: model.document?.muscle.map(({ origin, insertion }) => regionBetween(boneOf(origin), boneOf(insertion))),
      fat: model.document?.fat.map(({ bone }) => regionOf(bone)),
      parametric: model.document?.parametric.map(({ origin, insertion }) => regionBetween(origin.bone, insertion.bone)),
    };
    (model.document?.[kind] ?? []).forEach(({ name, side, mirror }, k) => {
      const known = named.get(name);
      named.set(name, { sides: [...(known?.sides ?? []), ...(mirror ? [side, OTHER[side]] : [side])], region: known?.region ?? regions[kind]?.[k] ?? "" });
    });
    return [...named].map(([name, { sides, region }]) => ({
      label: name,
      note: region,
      depth: 1,
      branch: null,
      selection: { kind, name, side: sides[0] ?? "middle" },
      sides: (["left", "right"] as const)
        .filter((side) => sides.includes(side))
        .map((side) => ({ letter: side.charAt(0).toUpperCase(), about: `${name}, ${side}`, selection: { kind, name, side } })),
    }));
  };
  /** Joints of the skin, each below its parent; what is folded is left out unless it is looked for. */
  const tree = (everything: boolean): Entry[] => {
    const joints = model.character?.joints ?? [];
    const children = new Map<number | null, number[]>();
    joints.forEach(({ parent, in_skin }, k) => {
      if (!in_skin) return;
      let above = parent;
      while (above !== null && joints[above]?.in_skin !== true) above = joints[above]?.parent ?? null;
      children.set(above, [...(children.get(above) ?? []), k]);
    });
    const found: Entry[] = [];
    const walk = (joint: number, depth: number): void => {
      const { name } = joints[joint] ?? { name: "" };
      const below = children.get(joint) ?? [];
      const folded = closed.has(`joint ${name}`) && !everything;
      found.push({ label: name, note: model.pose.has(joint) ? "posed" : "", depth, branch: below.length === 0 ? null : folded ? "closed" : "open", selection: { kind: "joint", joint }, sides: [] });
      if (!folded) for (const child of below) walk(child, depth + 1);
    };
    for (const root of children.get(null) ?? []) walk(root, 0);
    return found;
  };

  const draw = (): void => {
    const { character } = model;
    if (!character) {
      patch(list);
      return;
    }
    const wanted = search.value.trim().toLowerCase();
    const fits = (entry: Entry): boolean => entry.label.toLowerCase().includes(wanted);
    const count = (entries: Entry[]): number => entries.reduce((sum, { sides }) => sum + Math.max(1, sides.length), 0);
    const muscles = flesh("muscle").filter(fits);
    const regions = ORDER.flatMap((region): HTMLElement[] => {
      const here = muscles.filter(({ note }) => note === region);
      if (here.length === 0) return [];
      const key = `region ${region}`;
      const open = !closed.has(key) || wanted !== "";
      return [
        h("div", { class: "region", key }, h("button", { class: "twist", key: "twist", title: open ? "Fold" : "Unfold", text: open ? "▾" : "▸", on: { click: () => { fold(key); } } }), h("span", { text: region }), h("span", { class: "count", text: String(count(here)) })),
        ...(open ? here.map((entry) => item({ ...entry, note: "" })) : []),
      ];
    });
    const none = (text: string): HTMLElement[] => [empty(wanted === "" ? text : "Nothing of that name.")];
    const group = (title: string, total: number, add: HTMLElement | null, content: HTMLElement[]): HTMLElement =>
      h("section", { key: title }, h("h2", {}, h("span", { text: `${title}  ` }), h("span", { class: "count", text: String(total) }), add), ...content);
    const fat = flesh("fat").filter(fits);
    const parametric = flesh("parametric").filter(fits);
    const joints = tree(wanted !== "").filter(fits);
    const pieces = model.pieces
      .map((piece, k) => ({ ...piece, label: `${k} ${piece.mesh}` }))
      .filter(({ label, role }) => `${label} ${role}`.toLowerCase().includes(wanted))
      .sort((a, b) => b.area - a.area);
    patch(
      list,
      group("Muscles", count(flesh("muscle")), button("+", "New muscle between two bones (N)", () => { newMuscle(model, viewport); }, "icon small"), muscles.length > 0 ? regions : none("None yet. Pick two bones to make one.")),
      group("Fat", count(flesh("fat")), button("+", "New fat pad under a place of the skin", () => { newFat(model, viewport); }, "icon small"), fat.length > 0 ? fat.map((entry) => item({ ...entry, note: "" })) : none("None yet. Pick a place on the skin.")),
      group("Parametric", count(flesh("parametric")), button("+", "New parametric muscle between two bones", () => { newParametric(model, viewport); }, "icon small"), parametric.length > 0 ? parametric.map((entry) => item({ ...entry, note: "" })) : none("None: made from the muscles.")),
      group("Joints", character.joints.filter(({ in_skin }) => in_skin).length, null, joints.length > 0 ? joints.map((entry) => item(wanted === "" ? entry : { ...entry, depth: 0, branch: null })) : none("This character has no skin.")),
      // One piece is all skin: nothing to tell apart.
      ...(model.pieces.length > 1
        ? [h("section", { class: "pieces" }, h("h2", {}, h("span", { text: "Pieces  " }), h("span", { class: "count", text: String(model.pieces.length) })), ...pieces.map(pieceItem))]
        : []),
    );
  };
  /** Buttons that hide, ghost and lock; Alt hides all others. */
  const marks = (key: string, others: () => string[], which: readonly Mark[]): HTMLElement[] =>
    MARKS.filter(([mark]) => which.includes(mark)).map(([mark, sign, about]) =>
      h("button", {
        class: `mark${model.marked(key, mark) ? " chosen" : ""}`, key: mark, text: sign,
        title: mark === "hidden" ? `${about}; with Alt this one alone is shown` : about,
        attributes: { "aria-label": `${about}: ${key}`, "aria-pressed": String(model.marked(key, mark)) },
        on: { click: (event) => { if (mark === "hidden" && event.altKey) model.solo(key, others()); else model.mark(key, mark); } },
      }));
  const pieceItem = ({ label, mesh, material, vertices, area, role, is_given, why }: Piece & { label: string }): HTMLElement => {
    const key = `piece ${mesh} ${material}`;
    return h(
      "div",
      { class: "entry", key: label, title: `${label}\n${vertices} vertices, ${(100 * area).toFixed(1)} % of the area. ${role}: ${is_given ? "given by the anatomy" : why}` },
      h("button", { class: "name", text: label, on: { click: () => { model.show({ quantity: "role" }); } } }),
      h("span", { class: "note", text: role }),
      ...marks(key, () => model.pieces.map((piece) => `piece ${piece.mesh} ${piece.material}`), ["hidden", "ghost"]),
    );
  };
  const item = (entry: Entry): HTMLElement => {
    const chosen = (selection: Selection): string => (same(selection, model.selection) || model.also.some((other) => same(other, selection)) || (selection.kind === "joint" && model.along.includes(selection.joint)) ? " chosen" : "");
    const either = entry.sides.map(({ selection }) => chosen(selection)).find((mark) => mark !== "") ?? chosen(entry.selection);
    const { selection } = entry;
    const key = markKey(selection);
    const others = (): string[] => [...flesh("muscle"), ...flesh("fat")].map((other) => markKey(other.selection));
    const element = h(
      "div",
      { class: `entry${either}${model.marked(key, "hidden") ? " faint" : ""}`, key: `${selection.kind} ${entry.label}`, title: entry.label, attributes: { role: "treeitem" } },
      entry.branch !== null && h("button", { class: "twist", key: "twist", title: entry.branch === "open" ? "Fold" : "Unfold", text: entry.branch === "open" ? "▾" : "▸", on: { click: () => { fold(`joint ${entry.label}`); } } }),
      h("button", { class: "name", text: entry.label, on: { click: (event) => { choose(entry.selection, event.shiftKey || event.ctrlKey); } } }),
      entry.note !== "" && h("span", { class: "note", text: entry.note }),
      ...entry.sides.map(({ letter, about, selection: side }) =>
        h("button", { class: `side${chosen(side)}`, key: letter, title: about, text: letter, on: { click: (event) => { choose(side, event.shiftKey || event.ctrlKey); } } }),
      ),
      ...(selection.kind === "joint" ? [] : marks(key, others, ["hidden", "ghost", "locked"])),
    );
    element.style.paddingLeft = `${6 + 9 * entry.depth + (entry.branch === null && selection.kind === "joint" ? 14 : 0)}px`;
    return element;
  };
  const choose = (selection: Selection, more: boolean): void => {
    if (selection.kind === "joint" && viewport.wantJoint !== null) {
      viewport.wantJoint(selection.joint);
      return;
    }
    if (selection.kind === "muscle" || selection.kind === "fat") {
      const opacity = Math.min(model.display.opacity, 0.35);
      model.show({ flesh: true, opacity });
    }
    if (!more) model.select(selection);
    else if (selection.kind === "joint") model.toggleAlong(selection.joint);
    else if (selection.kind !== "none") model.toggleAlso(selection);
  };
  list.addEventListener("keydown", (event) => {
    const names = [...list.querySelectorAll<HTMLElement>(".entry .name")];
    const at = names.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const twist = names[at]?.parentElement?.querySelector<HTMLElement>(".twist");
    if (by !== 0) names[at + by]?.focus();
    else if (event.key === "ArrowRight" && twist?.title === "Unfold") twist.click();
    else if (event.key === "ArrowLeft" && twist?.title === "Fold") twist.click();
    else return;
    event.preventDefault();
    // Else the arrows step through the clip, too.
    event.stopPropagation();
    if (by === 0 || event.shiftKey) return;
    names[at + by]?.click();
    names[at + by]?.focus();
  });
  let shape = "";
  model.on("document", (doc) => {
    // A drag changes numbers, not the list.
    const next = JSON.stringify([...doc.muscle, ...doc.fat, ...doc.parametric].map((entry) => [entry.name, entry.side, entry.mirror]));
    if (next === shape) return;
    shape = next;
    draw();
  });
  for (const event of ["character", "selection", "pose", "pieces", "marks"] as const) {
    model.on(event, draw);
  }
  return h("aside", { class: "left" }, search, list);
}
