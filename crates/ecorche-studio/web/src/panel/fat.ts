/** The selected fat pad. */

import type { Target, Value } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Viewport } from "../stage/viewport.ts";
import { button, empty, h, section, slider } from "./dom.ts";

export function fatSection(model: Model, viewport: Viewport): HTMLElement {
  const fat = model.fat();
  if (fat === null) return section("Fat", empty("It is no longer there."));
  const target: Target = { entry: ["fat", fat.name, fat.side] };
  const set = (field: string, value: Value, drag: number | null): void => { model.edit([{ set: { target, field, value } }], drag); };
  const newDrag = (): number => model.newDrag();
  const radius = (label: string, k: 0 | 1 | 2): HTMLElement =>
    slider({
      label, title: "Half axis", value: 1000 * fat.radii[k], min: 5, max: 300, step: 1, unit: "mm", newDrag,
      change: (v, drag) => { set("radii", fat.radii.map((r, i) => (i === k ? v / 1000 : r)), drag); },
    });
  const copy = `${fat.name} copy`;
  return section(
    fat.side === "middle" ? fat.name : `${fat.name}, ${fat.side}`,
    radius("Across", 0),
    radius("Along", 1),
    radius("Deep", 2),
    slider({ label: "Stiffness", title: "Of the ties over the mass; 500 swings at 3.6 Hz", value: fat.stiffness, min: 20, max: 3000, step: 10, unit: "1/s²", newDrag, change: (v, drag) => { set("stiffness", v, drag); } }),
    slider({ label: "Damping", title: "Loss of speed", value: fat.damping, min: 0, max: 40, step: 0.5, unit: "1/s", newDrag, change: (v, drag) => { set("damping", v, drag); } }),
    h(
      "div",
      { class: "buttons" },
      button("Move", "Drag it", () => { viewport.hold("fat"); }),
      fat.side !== "middle" && button(fat.mirror === true ? "Unlink mirror" : "Mirror", "The other side as a mirror image", () => { model.edit([{ mirror: { target, linked: fat.mirror !== true } }]); }),
      button("Duplicate", "A copy under another name (Ctrl+D)", () => { model.edit([{ duplicate: { target, name: copy } }]); model.select({ kind: "fat", name: copy, side: fat.side }); }),
      button("Delete", "Take it out of the anatomy (Delete)", () => { model.edit([{ remove: target }]); model.select({ kind: "none" }); }, "danger"),
    ),
  );
}
