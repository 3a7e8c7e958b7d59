/** Settings of the implicit skin as a whole. */

import { KEYS, type Skin } from "../anatomy_keys.ts";
import type { Value } from "../messages.ts";
import type { Model } from "../model.ts";
import { empty, row, section, select } from "./dom.ts";
import { choicesOf, keyChoice, keySlider } from "./keyed.ts";

/** The operator of a skin that names none. */
function ownOperator(skin: Skin): string {
  return skin.tracking === "2012" ? "blend" : "contact";
}

/** The operator of every joint that names none. */
export function skinOperator(skin: Skin): string {
  return skin.operator ?? ownOperator(skin);
}

export function skinSection(model: Model): HTMLElement {
  const { document: doc, character } = model;
  if (!doc || !character) return section("Implicit skin", empty("Waiting for the engine…"));
  const { skin } = doc;
  const set = (field: string, value: Value, drag: number | null): void => {
    model.edit([{ set: { target: "skin", field, value } }], drag);
  };
  const number = (field: "closure" | "gap" | "max_offset" | "definition"): HTMLElement =>
    keySlider(model, KEYS.Skin[field], skin[field], (value, drag) => { set(field, value, drag); }, () => { clear(field); });
  const clear = (field: string): void => { model.edit([{ clear: { target: "skin", field } }]); };
  const choice = (field: "tracking" | "start" | "blend"): HTMLElement =>
    keyChoice(KEYS.Skin[field], skin[field], (value) => { set(field, value, null); });
  const { operator: operatorKey } = KEYS.Skin;
  const own: [string, string] = ["", `the tracking's own (${ownOperator(skin)})`];
  const operator = select([own, ...choicesOf(operatorKey)], skin.operator ?? "", "", (value) => {
    if (value !== "") set("operator", value, null);
    else model.edit([{ clear: { target: "skin", field: "operator" } }]);
  });
  return section(
    "Implicit skin",
    row(operatorKey.label, operatorKey.about, operator),
    choice("tracking"),
    choice("start"),
    choice("blend"),
    keySlider(model, KEYS.Skin.samples, skin.samples[1], (most, drag) => {
      set("samples", [Math.min(skin.samples[0], most), most], drag);
    }, () => { clear("samples"); }),
    number("closure"),
    number("gap"),
    number("max_offset"),
    number("definition"),
  );
}
