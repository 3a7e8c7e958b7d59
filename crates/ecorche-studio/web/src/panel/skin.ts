/** Settings of the implicit skin as a whole. */

import type { Value } from "../messages.ts";
import type { Model } from "../model.ts";
import { empty, row, section, select, slider } from "./dom.ts";

export function skinSection(model: Model): HTMLElement {
  const { document: doc, character } = model;
  if (!doc || !character) return section("Implicit skin", empty("Waiting for the engine…"));
  const { skin } = doc;
  const set = (field: string, value: Value, drag: number | null): void => {
    model.edit([{ set: { target: "skin", field, value } }], drag);
  };
  const newDrag = (): number => model.newDrag();
  const number = (label: string, field: string, value: number, [min, max, step]: [number, number, number], unit: string, title: string): HTMLElement =>
    slider({ label, title, value, min, max, step, unit, newDrag, change: (v, drag) => { set(field, v, drag); } });
  const operators = character.operators.map((name): [string, string] => [name, name]);
  return section(
    "Implicit skin",
    row("Operator", "How the fields of two bones are joined where a joint says nothing else; robust tracking takes those that blend and makes contact itself", select(operators, skin.operator, "", (value) => { set("operator", value, null); })),
    row("Tracking", "How vertices find their place in the field", select([["robust", "robust"], ["2012", "2012"], ["2014", "2014"]], skin.tracking, "", (value) => { set("tracking", value, null); })),
    row("Muscles", "How muscles join the fields of the skin: rounded in grooves, or as in the thesis, which shows every outline", select([["fillet", "fillet"], ["detail", "detail"]], skin.joining, "", (value) => { set("joining", value, null); })),
    slider({
      label: "Samples",
      title: "Most points a part's field goes through. More follow the skin closer and take longer to fit",
      value: skin.samples[1], min: 50, max: 600, step: 10, unit: "", newDrag,
      change: (v, drag) => { set("samples", [Math.min(skin.samples[0], v), v], drag); },
    }),
    number("Closure", "closure", skin.closure, [0, 3, 0.05], "×", "How far from a joint the caps that close a part may lie, in distances of the joint to the skin"),
    number("Gap", "gap", skin.gap, [0, 0.5, 0.005], "× r", "Left between parts that touch, in radii of the limb"),
    number("Leash", "leash", skin.leash, [0, 2, 0.01], "× r", "How far free skin may leave its skinned place, in inner radii of its part"),
  );
}
