/** Settings of the implicit skin as a whole. */

import { KEYS } from "../anatomy_keys.ts";
import type { Value } from "../messages.ts";
import type { Model } from "../model.ts";
import { empty, section } from "./dom.ts";
import { keyChoice, keySlider } from "./keyed.ts";

export function skinSection(model: Model): HTMLElement {
  const { document: doc, character } = model;
  if (!doc || !character) return section("Implicit skin", empty("Waiting for the engine…"));
  const { skin } = doc;
  const set = (field: string, value: Value, drag: number | null): void => {
    model.edit([{ set: { target: "skin", field, value } }], drag);
  };
  const number = (field: "closure" | "gap" | "max_offset"): HTMLElement =>
    keySlider(model, KEYS.Skin[field], skin[field], (value, drag) => { set(field, value, drag); });
  const choice = (field: "operator" | "tracking" | "blend"): HTMLElement =>
    keyChoice(KEYS.Skin[field], skin[field], (value) => { set(field, value, null); });
  return section(
    "Implicit skin",
    choice("operator"),
    choice("tracking"),
    choice("blend"),
    keySlider(model, KEYS.Skin.samples, skin.samples[1], (most, drag) => {
      set("samples", [Math.min(skin.samples[0], most), most], drag);
    }),
    number("closure"),
    number("gap"),
    number("max_offset"),
  );
}
