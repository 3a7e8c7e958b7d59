/** The selected muscle. */

import { Vector3 } from "three";
import { KEYS, type Profiles } from "../anatomy_keys.ts";
import type { Edit, Muscle, Target, Value } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Viewport } from "../stage/viewport.ts";
import { activationSection } from "./activation.ts";
import { button, empty, h, row, section, select } from "./dom.ts";
import { keyCheck, keySlider } from "./keyed.ts";

/** Changes a key of the muscle. */
export type Setter = (field: string, value: Value, drag?: number | null) => void;

/** The selected muscle with what changes its keys; null if it is gone. */
function selected(model: Model): { muscle: Muscle; set: Setter; number: (field: NumberField) => HTMLElement } | null {
  const muscle = model.muscle();
  if (muscle === null) return null;
  const set: Setter = (field, value, drag = null) => {
    // Ends and what hangs on them are each muscle's own.
    const targets = field === "origin" || field === "insertion" ? entriesOf(model).slice(0, 1) : entriesOf(model);
    model.edit(targets.map((target): Edit => ({ set: { target, field, value } })), drag);
  };
  const number = (field: NumberField): HTMLElement =>
    keySlider(model, KEYS.Muscle[field], muscle[field], (value, drag) => { set(field, value, drag); }, field === "width" ? undefined : () => { model.edit(entriesOf(model).map((target): Edit => ({ clear: { target, field } }))); });
  return { muscle, set, number };
}

/** The entries of the selected muscle and of those that are changed along with it; each once. */
function entriesOf(model: Model): Target[] {
  const names = new Map<string, Target>();
  const add = (muscle: Muscle | null): void => {
    if (muscle !== null) names.set(`${muscle.name} ${muscle.side}`, { entry: ["muscle", muscle.name, muscle.side] });
  };
  add(model.muscle());
  for (const { name, side } of model.also) add(model.muscleOf(name, side));
  return [...names.values()];
}

const gone = (): HTMLElement => section("Muscle", empty("It is no longer there."));

export function shapeSection(model: Model, viewport: Viewport): HTMLElement {
  const chosen = selected(model);
  return chosen === null ? gone() : shape(model, viewport, chosen.muscle, chosen.number, chosen.set);
}

export function motionSection(model: Model): HTMLElement {
  const chosen = selected(model);
  if (chosen === null) return gone();
  const { muscle, set, number } = chosen;
  const collides = (field: keyof Muscle["collide"], label: string): HTMLElement =>
    keyCheck(KEYS.Collide[field], label, muscle.collide[field], (on) => { set(`collide.${field}`, on); });
  return section(
    titleOf(model, muscle),
    number("tone"),
    number("strength"),
    number("tendon"),
    number("stiffness"),
    number("damping"),
    number("friction"),
    h("div", { class: "checks" }, collides("bones", "Out of bones"), collides("muscles", "Out of muscles"), collides("skin", "Inside skin")),
  );
}

export function activationTab(model: Model): HTMLElement {
  const chosen = selected(model);
  return chosen === null ? gone() : activationSection(model, titleOf(model, chosen.muscle), chosen.muscle, chosen.set);
}

/** Name and side as selected: one entry may stand for both sides. */
function titleOf({ selection, also }: Model, muscle: Muscle): string {
  const side = selection.kind === "muscle" ? selection.side : muscle.side;
  const more = also.length > 0 ? ` and ${also.length} more` : "";
  return `${side === "middle" ? muscle.name : `${muscle.name}, ${side}`}${more}`;
}

type NumberField = "width" | "eccentricity" | "gain" | "tone" | "strength" | "tendon" | "stiffness" | "damping" | "friction";

function shape(model: Model, viewport: Viewport, muscle: Muscle, number: (field: NumberField) => HTMLElement, set: Setter): HTMLElement {
  const target: Target = { entry: ["muscle", muscle.name, muscle.side] };
  const profile = (label: string, key: keyof Profiles): HTMLElement => {
    const value = muscle.profile[key];
    const put = (next: [number, number]): void => {
      set("profile", { rest: muscle.profile.rest, active: muscle.profile.active, [key]: next });
    };
    if (!Array.isArray(value)) {
      const own = "peak" in value ? `fullest at ${Math.round(100 * value.peak)} %` : `${value.sines.length} sines`;
      return row(label, "A profile written in the file", h("span", { class: "note", text: own }), button("Powers", "Two powers that can be chosen here instead", () => { put([3, 3]); }));
    }
    const choices = [2, 3, 4, 5, 6, 7, 8, 9].map((n): [string, string] => [String(n), String(n)]);
    const power = (k: 0 | 1): HTMLSelectElement =>
      select(choices, String(value[k]), k === 0 ? "Toward the origin: smaller is fuller" : "Toward the insertion: smaller is fuller", (chosen) => {
        const next: [number, number] = [...value];
        next[k] = Number(chosen);
        put(next);
      });
    return row(label, KEYS.Profiles[key].about, power(0), power(1));
  };
  const stop = (edits: Edit[], next: () => void): (() => void) => () => { model.edit(edits); next(); };
  const nothing = (): void => { model.select({ kind: "none" }); };
  const copy = `${muscle.name} copy`;
  return section(
    titleOf(model, muscle),
    muscle.mirror ? h("p", { class: "hint", text: `Both sides share these numbers; the ${muscle.side} one is written in the file.` }) : null,
    number("width"),
    number("eccentricity"),
    number("gain"),
    profile("Slack profile", "rest"),
    profile("Tense profile", "active"),
    ...attachment(model, viewport, muscle, "origin"),
    ...attachment(model, viewport, muscle, "insertion"),
    h(
      "div",
      { class: "buttons" },
      muscle.side !== "middle" &&
        button(muscle.mirror ? "Unlink mirror" : "Mirror", muscle.mirror ? "The other side goes away" : "The other side becomes this one's mirror image", () => {
          model.edit([{ mirror: { target, linked: !muscle.mirror } }]);
        }),
      button("Duplicate", "A copy under another name (Ctrl+D)", stop([{ duplicate: { target, name: copy } }], () => { model.select({ kind: "muscle", name: copy, side: muscle.side }); })),
      button("Delete", "Take it out of the anatomy (Delete)", stop([{ remove: target }], nothing), "danger"),
    ),
  );
}

/** Where a muscle begins or ends: on which bone, and ways to put it elsewhere. */
function attachment(model: Model, viewport: Viewport, muscle: Muscle, end: "origin" | "insertion"): HTMLElement[] {
  const { character } = model;
  const { skeleton } = viewport;
  if (!character || !skeleton) return [];
  const points = [muscle[end]].flat();
  const label = end === "origin" ? "Origin" : "Insertion";
  return points.flatMap((point, k) => {
    const joint = character.joints.findIndex((j) => j.name === point.bone);
    const place = (): Vector3 => new Vector3(...point.at).applyMatrix4(skeleton.frame(joint));
    const put = (bone: number, at: Vector3): void => {
      model.attach(end, k, { bone: character.joints[bone]?.name ?? point.bone, at: skeleton.within(bone, at) });
    };
    const bones = character.joints.flatMap(({ name, in_skin }): [string, string][] => (in_skin || name === point.bone ? [[name, name]] : []));
    const bone = select(bones, point.bone, "The bone it moves with; it stays where it is", (name) => {
      put(character.joints.findIndex((j) => j.name === name), place());
    });
    const onSkin = (): void => {
      viewport.wantPoint = (at) => {
        viewport.wantPoint = null;
        put(joint, at);
      };
      model.emit("notice", { level: "hint", text: `Click the skin where the ${end} should be.` });
    };
    const which = points.length > 1 ? `${label} ${k + 1}` : label;
    const buttons = h(
      "div",
      { class: "buttons" },
      button("Move", `Drag the ${end} by arrows`, () => { viewport.hold(end, k); }, `move-${end}`),
      button("To skin", "The next click on the skin puts it there", onSkin),
      button("To bone", "Puts it on the line of its bone", () => { put(joint, skeleton.onBone(joint, place())); }),
    );
    return [row(which, "The bone it is fixed to", bone), row("", "", buttons)];
  });
}
