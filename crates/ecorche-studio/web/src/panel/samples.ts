/** Samples of a bone's field: choose one, move it, take it away, add one on the skin. */

import { Matrix4, Vector3 } from "three";
import type { Edit, JointSettings, SampleChanges } from "../messages.ts";
import type { Model } from "../model.ts";
import { rounded } from "../stage/skeleton.ts";
import type { Viewport } from "../stage/viewport.ts";
import { button, empty, h, section } from "./dom.ts";

/** Two places nearer than this are the same, metres. */
const SAME = 1e-4;

export interface ChosenSample {
  joint: number;
  place: Vector3;
  normal: Vector3;
}

/** The edit that takes `sample` away and puts `moved` in its place; either may be missing. `joints`: the settings it changes. */
export function sampleEdit(
  model: Model,
  viewport: Viewport,
  joint: number,
  sample: ChosenSample | null,
  moved: { place: Vector3; normal: Vector3 } | null,
  joints: Record<string, JointSettings> = model.document?.skin.joint ?? {},
): Edit[] {
  const name = model.character?.joints[joint]?.name;
  if (name === undefined) return [];
  const back = viewport.skeleton?.frame(joint).invert() ?? new Matrix4();
  const known = joints[name]?.samples;
  const changes: SampleChanges = { add: [...(known?.add ?? [])], remove: [...(known?.remove ?? [])] };
  if (sample !== null) {
    const at = sample.place.clone().applyMatrix4(back);
    const own = changes.add.findIndex(([x, y, z]) => at.distanceTo(new Vector3(x, y, z)) < SAME);
    if (own >= 0) changes.add.splice(own, 1);
    else changes.remove.push(rounded(at));
  }
  if (moved !== null) {
    const normal = moved.normal.clone().transformDirection(back);
    changes.add.push([...rounded(moved.place.clone().applyMatrix4(back)), ...rounded(normal)] as SampleChanges["add"][number]);
  }
  const target = { joint: name };
  if (changes.add.length === 0 && changes.remove.length === 0) return [{ clear: { target, field: "samples" } }];
  return [{ set: { target, field: "samples", value: { add: changes.add, remove: changes.remove } } }];
}

export function samplesSection(model: Model, viewport: Viewport, joint: number): HTMLElement {
  const name = model.character?.joints[joint]?.name ?? "";
  const known = model.document?.skin.joint[name]?.samples;
  const chosen = viewport.sample;
  const changed = (known?.add.length ?? 0) + (known?.remove.length ?? 0);
  return section(
    "Samples of its field",
    chosen === null ? empty("Click a point to choose it; drag its arrows to move it.") : null,
    h(
      "div",
      { class: "buttons" },
      button("Add on skin", "The next click on the skin adds a point there", () => {
        viewport.wantPoint = (place, normal) => {
          viewport.wantPoint = null;
          model.edit(sampleEdit(model, viewport, joint, null, { place, normal }));
        };
        model.emit("notice", { level: "hint", text: "Click the skin where the field should pass." });
      }),
      chosen !== null &&
        button("Delete point", "The field no longer goes through it (Delete)", () => {
          model.edit(sampleEdit(model, viewport, joint, chosen, null));
          viewport.chooseSample(null);
        }, "danger"),
      changed > 0 && button("All as found", "Takes back every change of this bone's points", () => {
        model.edit([{ clear: { target: { joint: name }, field: "samples" } }]);
        viewport.chooseSample(null);
      }),
    ),
    changed > 0 ? h("p", { class: "hint", text: `${known?.add.length ?? 0} added, ${known?.remove.length ?? 0} left out` }) : null,
  );
}
