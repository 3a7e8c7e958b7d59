/** New muscles and fat pads. */

import type { Side } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Viewport } from "../stage/viewport.ts";

/** Which half of the body a joint belongs to, by its name. */
function sideOf(name: string): Side {
  if (/left|(^|[^a-z])l([^a-z]|$)/i.test(name)) return "left";
  if (/right|(^|[^a-z])r([^a-z]|$)/i.test(name)) return "right";
  return "middle";
}

function free(known: string[], stem: string): string {
  let name = stem;
  for (let k = 2; known.includes(name); k++) name = `${stem} ${k}`;
  return name;
}

/** Asks for two joints and puts a muscle between the bones that start there. */
export function newMuscle(model: Model, viewport: Viewport): void {
  const { character, document: doc } = model;
  if (!character || !doc) return;
  const say = (text: string): void => { model.emit("notice", { level: "hint", text }); };
  model.show({ skeleton: true, flesh: true, opacity: Math.min(model.display.opacity, 0.5) });
  say("Click the joint of the bone the muscle starts on.");
  let origin: number | null = null;
  viewport.wantJoint = (joint) => {
    if (origin === null) {
      origin = joint;
      say("Now click the joint of the bone it ends on.");
      return;
    }
    viewport.wantJoint = null;
    if (joint === origin) {
      say("A muscle spans two bones; nothing was made.");
      return;
    }
    const skeleton = viewport.skeleton;
    const [from, to] = [character.joints[origin], character.joints[joint]];
    if (!skeleton || !from || !to) return;
    // On each bone a third of the way toward the other, so that it does not begin in the joint.
    const [a, b] = [skeleton.place(origin), skeleton.place(joint)];
    const child = character.joints.findIndex((j) => j.parent === joint);
    const end = child >= 0 ? skeleton.place(child) : b;
    const length = a.distanceTo(b);
    const name = free(doc.muscle.map((m) => m.name), `${from.name} to ${to.name}`);
    const side = sideOf(to.name);
    model.edit([
      {
        addmuscle: {
          name,
          side,
          origin: { bone: from.name, at: skeleton.within(origin, a.clone().lerp(b, 0.2)) },
          insertion: { bone: to.name, at: skeleton.within(joint, b.clone().lerp(end, 0.25)) },
          width: Number(Math.max(0.002, 0.06 * length).toFixed(4)),
        },
      },
    ]);
    model.select({ kind: "muscle", name, side });
  };
  viewport.refresh();
}

/** Asks for a place on the skin and puts a fat pad under it, on the selected joint or the nearest. */
export function newFat(model: Model, viewport: Viewport): void {
  const { character, document: doc } = model;
  if (!character || !doc) return;
  const radius = Number((0.025 * character.size).toFixed(4));
  viewport.wantPoint = (place, normal) => {
    viewport.wantPoint = null;
    const { skeleton } = viewport;
    if (!skeleton) return;
    const joint = model.selection.kind === "joint" ? model.selection.joint : skeleton.nearest(place);
    const bone = character.joints[joint]?.name ?? "";
    const name = free(doc.fat.map((f) => f.name), `${bone} fat`);
    const side = sideOf(bone);
    // Some of it out of the skin, which then lies over it.
    const at = skeleton.within(joint, place.clone().addScaledVector(normal, -0.5 * radius));
    model.edit([{ addfat: { name, side, bone, at, radii: [radius, radius, radius] } }]);
    model.show({ flesh: true, opacity: Math.min(model.display.opacity, 0.5) });
    model.select({ kind: "fat", name, side });
    viewport.hold("fat");
  };
  model.emit("notice", { level: "hint", text: "Click the skin where the fat should be." });
}
