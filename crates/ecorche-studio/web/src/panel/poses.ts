/** Poses that are kept in the anatomy's folder: to be taken, written over, removed. */

import type { KeptPose, Rotation } from "../messages.ts";
import type { Model } from "../model.ts";
import { button, empty, h, section } from "./dom.ts";

/** What is turned by hand, by the joints' names. */
function named({ character, pose }: Model): KeptPose["joints"] {
  return Object.fromEntries([...pose].flatMap(([joint, rotation]): [string, Rotation][] => {
    const name = character?.joints[joint]?.name;
    return name === undefined ? [] : [[name, rotation]];
  }));
}

/** Puts a kept pose on the character, as one step; joints that it does not have are told. */
function take(model: Model, { name, joints }: KeptPose): void {
  const known = new Map(model.character?.joints.map((joint, k) => [joint.name, k]) ?? []);
  const found = Object.entries(joints).flatMap(([joint, rotation]): [number, Rotation][] => {
    const at = known.get(joint);
    return at === undefined ? [] : [[at, rotation]];
  });
  const missing = Object.keys(joints).length - found.length;
  if (missing > 0) model.emit("notice", { level: "hint", text: `${name}: ${missing} of its joints are not in this character.` });
  if (found.length > 0) model.putPose(new Map([...model.pose, ...found]));
}

export function posesSection(model: Model): HTMLElement {
  const input = h("input", { class: "path", id: "pose-name", attributes: { type: "text", placeholder: "name", "aria-label": "Name of the pose", spellcheck: "false" }, on: { keydown: ({ key }) => { if (key === "Enter") keep(); } } });
  const keep = (): void => {
    const field = document.querySelector<HTMLInputElement>("#pose-name");
    const name = field?.value.trim() ?? "";
    if (name === "" || model.pose.size === 0) {
      model.emit("notice", { level: "hint", text: name === "" ? "Type a name for the pose first." : "Turn some joints by hand first." });
      return;
    }
    model.request({ keep_pose: { name, joints: named(model) } });
    if (field) field.value = "";
  };
  return section(
    "Kept poses",
    model.poses.length === 0 ? empty("None yet. They are kept beside the anatomy, in poses.json.") : null,
    h(
      "div",
      { class: "poses" },
      ...model.poses.map((pose) =>
        h("div", { class: "entry", key: pose.name },
          h("button", { class: "name", title: `${Object.keys(pose.joints).length} joints; a click takes it`, text: pose.name, on: { click: () => { take(model, pose); } } }),
          button("×", "Remove it from the folder", () => { model.request({ remove_pose: { name: pose.name } }); }, "icon small")),
      ),
    ),
    h("div", { class: "with-button" }, input, button("Keep", "Keeps every joint turned by hand under this name; an old pose of the name goes", keep)),
  );
}
