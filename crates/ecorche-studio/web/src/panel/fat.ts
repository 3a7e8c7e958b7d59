/** The selected fat pad. */

import { KEYS } from "../anatomy_keys.ts";
import type { Target, Value } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Viewport } from "../stage/viewport.ts";
import { button, empty, h, section } from "./dom.ts";
import { keySlider } from "./keyed.ts";

export function fatSection(model: Model, viewport: Viewport): HTMLElement {
  const fat = model.fat();
  if (fat === null) return section("Fat", empty("It is no longer there."));
  const target: Target = { entry: ["fat", fat.name, fat.side] };
  const set = (field: string, value: Value, drag: number | null): void => { model.edit([{ set: { target, field, value } }], drag); };
  const radius = (label: string, k: 0 | 1 | 2): HTMLElement =>
    keySlider(model, { ...KEYS.Fat.radii, label }, fat.radii[k], (value, drag) => {
      set("radii", fat.radii.map((r, i) => (i === k ? value : r)), drag);
    });
  const number = (field: "stiffness" | "damping"): HTMLElement =>
    keySlider(model, KEYS.Fat[field], fat[field], (value, drag) => { set(field, value, drag); }, () => { model.edit([{ clear: { target, field } }]); });
  const copy = `${fat.name} copy`;
  return section(
    fat.side === "middle" ? fat.name : `${fat.name}, ${fat.side}`,
    radius("Across", 0),
    radius("Along", 1),
    radius("Deep", 2),
    number("stiffness"),
    number("damping"),
    h(
      "div",
      { class: "buttons" },
      button("Move", "Drag it", () => { viewport.hold("fat"); }),
      fat.side !== "middle" && button(fat.mirror ? "Unlink mirror" : "Mirror", "The other side as a mirror image", () => { model.edit([{ mirror: { target, linked: !fat.mirror } }]); }),
      button("Duplicate", "A copy under another name (Ctrl+D)", () => { model.edit([{ duplicate: { target, name: copy } }]); model.select({ kind: "fat", name: copy, side: fat.side }); }),
      button("Delete", "Take it out of the anatomy (Delete)", () => { model.edit([{ remove: target }]); model.select({ kind: "none" }); }, "danger"),
    ),
  );
}
