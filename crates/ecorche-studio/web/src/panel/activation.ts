/** When the selected muscle tenses: what drives it, and its keys in the clip. */

import { KEYS } from "../anatomy_keys.ts";
import type { Muscle } from "../messages.ts";
import type { Model } from "../model.ts";
import { button, empty, h, section } from "./dom.ts";
import { keyChoice, keySlider } from "./keyed.ts";
import type { Setter } from "./muscle.ts";
import { slider } from "./number.ts";

export type Key = [time: number, value: number];

/** Seconds within which two keys are the same. */
const SAME = 1e-3;

export interface Keyed {
  values: Key[];
  /** Puts others in their place. All edits of a drag are from before its first, so one drag needs one of these. */
  put: (values: Key[], drag: number | null) => void;
}

/** A muscle of either kind, as far as it tenses. */
type Tensing = Pick<Muscle, "name" | "side" | "activation">;

/** The keys of a muscle in the clip that is shown. */
export function keysOf(model: Model, muscle: Tensing): Keyed {
  const { clip } = model.transport;
  const { kind } = model.selection;
  const { side } = kind === "muscle" || kind === "parametric" ? model.selection : muscle;
  const keys = model.document?.keys.findIndex((k) => k.clip === clip && k.muscle === muscle.name && k.side === side && k.parameter === "activation") ?? -1;
  return {
    values: model.document?.keys[keys]?.values ?? [],
    put: (values, drag) => {
      if (clip === null) return;
      if (values.length === 0) model.edit([{ remove: { keys } }], drag);
      else if (keys >= 0) model.edit([{ set: { target: { keys }, field: "values", value: values } }], drag);
      else model.edit([{ addkeys: { clip, muscle: muscle.name, side, parameter: "activation", values } }], drag);
    },
  };
}

/** The keys without those at a moment. */
export function without(values: readonly Key[], at: number): Key[] {
  return values.filter(([time]) => Math.abs(time - at) > SAME);
}

/** Activation between keys, as the engine has it. */
function between(values: readonly Key[], at: number): number | null {
  const after = values.findIndex(([time]) => time >= at);
  const [next, last] = [values[after], values[after < 0 ? values.length - 1 : after - 1]];
  if (!next || !last) return (next ?? last)?.[1] ?? null;
  return last[1] + ((next[1] - last[1]) * (at - last[0])) / Math.max(next[0] - last[0], 1e-9);
}

/** The drag that keys, the moment it keys, and the keys beside that: playing on does not smear it over the clip. */
let keying: { drag: number; time: number; others: Key[]; put: Keyed["put"] } | null = null;

export function activationSection(model: Model, title: string, muscle: Tensing, set: Setter): HTMLElement {
  const { transport } = model;
  const { values, put } = keysOf(model, muscle);
  const kind = model.selection.kind === "parametric" ? "parametric" : "muscle";
  const number = (field: "gain" | "base"): HTMLElement =>
    keySlider(model, KEYS.Activation[field], muscle.activation[field], (value, drag) => { set(`activation.${field}`, value, drag); }, () => { model.edit([{ clear: { target: { entry: [kind, muscle.name, muscle.side] }, field: `activation.${field}` } }]); });
  const time = Number(model.seconds().toFixed(3));
  const key = (value: number, drag: number): void => {
    if (keying?.drag !== drag) {
      const now = Number(model.seconds().toFixed(3));
      const known = keysOf(model, muscle);
      keying = { drag, time: now, others: without(known.values, now), put: known.put };
    }
    keying.put([...keying.others, [keying.time, value] as Key].sort((a, b) => a[0] - b[0]), drag);
  };
  return section(
    title,
    keyChoice(KEYS.Activation.from, muscle.activation.from, (value) => { set("activation.from", value); }),
    number("gain"),
    number("base"),
    transport.clip === null
      ? empty("Choose a clip to key the activation.")
      : slider({
          label: "Key here", title: "Keys the activation at this moment of the clip", value: between(values, time) ?? muscle.activation.base,
          min: 0, max: 1, step: 0.01, unit: `${time.toFixed(2)} s`, newDrag: () => model.newDrag(), change: key,
        }),
    transport.clip !== null && values.length === 0 ? empty(`No keys in “${transport.clip}”.`) : null,
    values.length > 0 &&
      h(
        "div",
        { class: "keyframes" },
        ...values.map(([t, v]) =>
          h(
            "span",
            { class: "keyframe", key: t.toFixed(3) },
            h("button", { class: "entry", title: "Go there", text: `${t.toFixed(2)} s  ${v.toFixed(2)}`, on: { click: () => { model.scrub(Math.round(t * (model.frame?.fps ?? 30))); } } }),
            button("×", "Take this key away", () => { put(without(values, t), null); }, "icon small"),
          ),
        ),
      ),
    values.length > 0 && h("div", { class: "buttons" }, button("Clear keys", "Takes the keys of this clip away", () => { put([], null); })),
  );
}
