/** The selected muscle. */

import type { Edit, Muscle, Profile, Target, Value } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Grip, Viewport } from "../stage/viewport.ts";
import { button, check, empty, h, row, section, select, slider } from "./dom.ts";

export function muscleSections(model: Model, viewport: Viewport): HTMLElement[] {
  const muscle = model.muscle();
  if (muscle === null) return [section("Muscle", empty("It is no longer there."))];
  const target: Target = { entry: ["muscle", muscle.name, muscle.side] };
  const set = (field: string, value: Value, drag: number | null = null): void => {
    model.edit([{ set: { target, field, value } }], drag);
  };
  const number = (label: string, field: string, value: number, [min, max, step]: [number, number, number], unit: string, title: string, scale = 1): HTMLElement =>
    slider({
      label, title, value: value * scale, min, max, step, unit,
      newDrag: () => model.newDrag(),
      change: (v, drag) => { set(field, Number((v / scale).toPrecision(6)), drag); },
    });
  return [
    shape(model, viewport, muscle, number, set),
    section(
      "Motion",
      number("Tone", "tone", muscle.tone, [0.5, 40, 0.5], "N", "Tension of the slack muscle. More makes it swing faster and less far"),
      number("Strength", "strength", muscle.strength, [0, 80, 0.5], "N", "Further tension when fully active"),
      number("Tendon", "tendon", muscle.tendon, [0, 45, 1], "%", "Share of the length at each end that is tendon", 100),
      number("Stiffness", "stiffness", muscle.stiffness, [20, 2000, 10], "N", "Axial stiffness of the tendons, newtons per unit of strain"),
      number("Damping", "damping", muscle.damping, [0, 40, 0.5], "1/s", "Loss of speed: 8 swings, 25 hardly"),
      number("Friction", "friction", muscle.friction, [0, 1, 0.05], "", "Against bones and other muscles; 0 slides freely"),
      h(
        "div",
        { class: "checks" },
        check("Bones", muscle.collide.bones, "Kept out of bones", (on) => { set("collide.bones", on); }),
        check("Muscles", muscle.collide.muscles, "Kept out of other muscles", (on) => { set("collide.muscles", on); }),
        check("Skin", muscle.collide.skin, "Kept inside the skin", (on) => { set("collide.skin", on); }),
      ),
    ),
    activation(model, muscle, number, set),
  ];
}

type NumberRow = (label: string, field: string, value: number, range: [number, number, number], unit: string, title: string, scale?: number) => HTMLElement;
type Setter = (field: string, value: Value, drag?: number | null) => void;

function shape(model: Model, viewport: Viewport, muscle: Muscle, number: NumberRow, set: Setter): HTMLElement {
  const target: Target = { entry: ["muscle", muscle.name, muscle.side] };
  const profile = (label: string, key: "rest" | "active"): HTMLElement => {
    const value: Profile = muscle.profile[key];
    if (!Array.isArray(value)) return row(label, "A profile of its own; edit it in the file", h("span", { class: "note", text: "from the file" }));
    const choices = [2, 3, 4, 5, 6, 7, 8, 9].map((n): [string, string] => [String(n), String(n)]);
    const power = (k: 0 | 1): HTMLSelectElement =>
      select(choices, String(value[k]), k === 0 ? "Toward the origin: smaller is fuller" : "Toward the insertion: smaller is fuller", (chosen) => {
        const next: [number, number] = [...value];
        next[k] = Number(chosen);
        const both = { rest: muscle.profile.rest, active: muscle.profile.active, [key]: next };
        set("profile", both);
      });
    return row(label, "How thickness is spread along the muscle", power(0), power(1));
  };
  const hold = (grip: Grip) => (): void => {
    const end = grip === "origin" ? muscle.origin : muscle.insertion;
    if (Array.isArray(end)) model.emit("notice", { level: "hint", text: "This end is a fan of several points; edit it in the file." });
    else viewport.hold(grip);
  };
  const stop = (edits: Edit[], next: () => void): (() => void) => () => { model.edit(edits); next(); };
  const nothing = (): void => { model.select({ kind: "none" }); };
  const copy = `${muscle.name} copy`;
  return section(
    muscle.side === "middle" ? muscle.name : `${muscle.name}, ${muscle.side}${muscle.mirror === true ? " and mirror" : ""}`,
    number("Width", "width", muscle.width, [1, 80, 0.1], "mm", "Mean radius at bind; the volume follows", 1000),
    number("Eccentricity", "eccentricity", muscle.eccentricity, [0, 0.98, 0.01], "", "0 is round, toward 1 flat"),
    number("Gain", "gain", muscle.gain ?? 1, [0.2, 3, 0.01], "×", "Multiplies the width without regard for the volume"),
    profile("Slack profile", "rest"),
    profile("Tense profile", "active"),
    h(
      "div",
      { class: "buttons" },
      button("Move origin", "Drag where it starts", hold("origin")),
      button("Move insertion", "Drag where it ends", hold("insertion")),
    ),
    h(
      "div",
      { class: "buttons" },
      muscle.side !== "middle" &&
        button(muscle.mirror === true ? "Unlink mirror" : "Mirror", muscle.mirror === true ? "The other side goes away" : "The other side becomes this one's mirror image", () => {
          model.edit([{ mirror: { target, linked: muscle.mirror !== true } }]);
        }),
      button("Duplicate", "A copy under another name (Ctrl+D)", stop([{ duplicate: { target, name: copy } }], () => { model.select({ kind: "muscle", name: copy, side: muscle.side }); })),
      button("Delete", "Take it out of the anatomy (Delete)", stop([{ remove: target }], nothing), "danger"),
    ),
  );
}

function activation(model: Model, muscle: Muscle, number: NumberRow, set: Setter): HTMLElement {
  const { transport, frame, document: doc } = model;
  const clip = transport.clip;
  const index = doc?.keys.findIndex((k) => k.clip === clip && k.muscle === muscle.name && k.side === muscle.side && k.parameter === "activation") ?? -1;
  const keys = index >= 0 ? doc?.keys[index] : undefined;
  const seconds = frame ? frame.at / frame.fps : 0;
  const sources: [string, string][] = [["pose", "pose (shortening or angle)"], ["shortening", "shortening"], ["angle", "angle"], ["constant", "constant"]];
  let wanted = keys?.values.at(-1)?.[1] ?? muscle.activation.base;
  const key = (): void => {
    if (clip === null) return;
    const time = Number(seconds.toFixed(3));
    const values = [...(keys?.values ?? []).filter(([t]) => Math.abs(t - time) > 1e-3), [time, wanted] as [number, number]].sort((a, b) => a[0] - b[0]);
    if (index >= 0) model.edit([{ set: { target: { keys: index }, field: "values", value: values } }]);
    else model.edit([{ addkeys: { clip, muscle: muscle.name, side: muscle.side, parameter: "activation", values } }]);
  };
  return section(
    "Activation",
    row("From", "What makes it tense where nobody keyed it", select(sources, muscle.activation.from, "", (value) => { set("activation.from", value); })),
    number("Gain", "activation.gain", muscle.activation.gain, [0, 4, 0.05], "×", "0 leaves the muscle slack, 2 tenses it twice as early"),
    number("Base", "activation.base", muscle.activation.base, [0, 1, 0.01], "", "Activation at bind"),
    slider({ label: "Key", title: "Activation of the next key", value: wanted, min: 0, max: 1, step: 0.01, unit: "", newDrag: () => model.newDrag(), change: (v) => { wanted = v; } }),
    h(
      "div",
      { class: "buttons" },
      button("Set key here", "Keys the activation at this moment of the clip", key),
      keys !== undefined && button("Clear keys", "Takes the keys of this clip away", () => { model.edit([{ remove: { keys: index } }]); }),
    ),
    keys === undefined
      ? empty(clip === null ? "Choose a clip to key the activation." : `No keys in “${clip}”.`)
      : h("p", { class: "hint", text: keys.values.map(([t, v]) => `${t.toFixed(2)} s: ${v.toFixed(2)}`).join("   ") }),
  );
}
