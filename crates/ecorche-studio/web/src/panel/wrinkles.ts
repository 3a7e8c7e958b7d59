/** Wrinkles of the skin: whether it has any, and how long and high they are. */

import { KEYS } from "../anatomy_keys.ts";
import type { Target, Value } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Page } from "../page.ts";
import { button, empty, h, section } from "./dom.ts";
import { keyChoice, keySlider } from "./keyed.ts";

const target: Target = "wrinkles";

/** Gives the page its tab for wrinkles. */
export function addWrinkles(page: Page): void {
  const { model } = page;
  page.addTab({ id: "wrinkles", label: "Wrinkles", title: "Creases of compressed skin", of: "page", on: ["document", "character"], draw: () => [wrinkleSection(model)] });
}

function wrinkleSection(model: Model): HTMLElement {
  const { document: doc } = model;
  if (!doc) return section("Wrinkles", empty("Waiting for the engine…"));
  const { wrinkles } = doc;
  const set = (field: string, value: Value, drag: number | null = null): void => {
    model.edit([{ set: { target, field, value } }], drag);
  };
  const clear = (field: string): void => {
    model.edit([{ clear: { target, field } }]);
  };
  if (wrinkles === null) {
    return section(
      "Wrinkles",
      h("p", { class: "hint", text: "Skin can crease where a pose compresses it. The mesh needs four edges for a wave; a coarser one is refused with a word on how often to subdivide it." }),
      h("div", { class: "buttons" }, button("Wrinkle the skin", "Writes [wrinkles] to the anatomy", () => { set("gain", 1); })),
    );
  }
  const number = (field: "share" | "gain" | "onset" | "ramp" | "sharpness" | "creases"): HTMLElement =>
    keySlider(model, KEYS.Wrinkles[field], wrinkles[field], (value, drag) => { set(field, value, drag); }, () => { clear(field); });
  return section(
    "Wrinkles",
    keyChoice(KEYS.Wrinkles.system, wrinkles.system, (value) => { set("system", value); }),
    number("share"),
    keySlider(model, KEYS.Wrinkles.wavelength, wrinkles.wavelength ?? 0, (value, drag) => { set("wavelength", value, drag); }, () => { clear("wavelength"); }),
    number("gain"),
    number("creases"),
    number("onset"),
    number("ramp"),
    number("sharpness"),
  );
}
