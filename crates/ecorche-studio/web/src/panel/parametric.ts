/** The selected parametric muscle: a side view with handles, its skin as colours, and its numbers. */

import { Vector3 } from "three";
import { KEYS } from "../anatomy_keys.ts";
import type { Parametric, Target, Value } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Page } from "../page.ts";
import type { Viewport } from "../stage/viewport.ts";
import { activationSection } from "./activation.ts";
import { button, empty, h, row, section, select } from "./dom.ts";
import { keyChoice, keySlider } from "./keyed.ts";
import { stay } from "./patch.ts";
import { SideView } from "./side_view.ts";

/** The view of one muscle after the other; it stays, so that a handle that is held is not lost. */
let view: SideView | null = null;

/** Gives the page its tab for parametric muscles. */
export function addParametric(page: Page): void {
  const { model, viewport } = page;
  page.addTab({ id: "parametric", label: "Muscle", title: "The selected parametric muscle", of: "parametric", on: ["document", "display", "transport", "character"], moving: true, draw: () => parametricSections(model, viewport) });
}

function parametricSections(model: Model, viewport: Viewport): HTMLElement[] {
  const muscle = model.parametric();
  const { selection } = model;
  if (muscle === null || selection.kind !== "parametric") return [section("Parametric muscle", empty("It is no longer there."))];
  const target: Target = { entry: ["parametric", muscle.name, muscle.side] };
  const set = (field: string, value: Value, drag: number | null = null): void => {
    model.edit([{ set: { target, field, value } }], drag);
  };
  const number = (field: "centre" | "flatness" | "radius" | "tension"): HTMLElement =>
    keySlider(model, KEYS.Parametric[field], muscle[field], (value, drag) => { set(field, value, drag); });
  const title = selection.side === "middle" ? muscle.name : `${muscle.name}, ${selection.side}`;
  view ??= new SideView();
  view.take(muscle, {
    newDrag: () => model.newDrag(),
    changed: (thickness, centre, drag) => {
      const edits = [{ set: { target, field: "thickness", value: thickness } }, { set: { target, field: "centre", value: centre } }];
      model.edit(edits, drag);
    },
  });
  const quantity = `muscle-weight:${title}`;
  const copy = `${muscle.name} copy`;
  return [
    section(
      title,
      muscle.mirror ? h("p", { class: "hint", text: `Both sides share these numbers; the ${muscle.side} one is written in the file.` }) : null,
      stay(view.element, "side-view"),
      number("centre"),
      number("flatness"),
      number("tension"),
      keyChoice(KEYS.Parametric.template, muscle.template, (value) => { set("template", value); }),
      muscle.template === "radial" && number("radius"),
      keyChoice(KEYS.Parametric.weights, muscle.weights, (value) => { set("weights", value); }),
      ...(["origin", "insertion"] as const).map((end) => attachment(model, viewport, muscle, end, set)),
      h(
        "div",
        { class: "buttons" },
        button("Skin it moves", "Its template as colours: bright where the skin shows all of its motion, grey where none", () => {
          model.show({ quantity: model.display.quantity === quantity ? null : quantity, looks: ["parametric", model.display.looks[1]], opacity: 1 });
        }),
        button("Bulge to me", "The skin over it moves to where you look from", () => {
          const bulge = towardsCamera(model, viewport, muscle);
          if (bulge === null) model.emit("notice", { level: "hint", text: "You look along the muscle: look at it from the side where it should bulge." });
          else set("bulge", bulge);
        }),
      ),
      h(
        "div",
        { class: "buttons" },
        muscle.side !== "middle" &&
          button(muscle.mirror ? "Unlink mirror" : "Mirror", muscle.mirror ? "The other side goes away" : "The other side becomes this one's mirror image", () => {
            model.edit([{ mirror: { target, linked: !muscle.mirror } }]);
          }),
        button("Duplicate", "A copy under another name (Ctrl+D)", () => {
          model.edit([{ duplicate: { target, name: copy } }]);
          model.select({ kind: "parametric", name: copy, side: muscle.side });
        }),
        button("Delete", "Take it out of the anatomy (Delete)", () => {
          model.edit([{ remove: target }]);
          model.select({ kind: "none" });
        }, "danger"),
      ),
    ),
    activationSection(model, title, muscle, set),
  ];
}

/** On which bone an end is, and ways to put it elsewhere. */
function attachment(model: Model, viewport: Viewport, muscle: Parametric, end: "origin" | "insertion", set: (field: string, value: Value) => void): HTMLElement {
  const { character } = model;
  const { skeleton } = viewport;
  const point = muscle[end];
  const names = character?.joints.flatMap(({ name, in_skin }): [string, string][] => (in_skin || name === point.bone ? [[name, name]] : [])) ?? [];
  const jointOf = (name: string): number => character?.joints.findIndex((j) => j.name === name) ?? -1;
  const bone = select(names, point.bone, "The bone it moves with; it stays where it is", (name) => {
    if (skeleton === null) return;
    const place = new Vector3(...point.at).applyMatrix4(skeleton.frame(jointOf(point.bone)));
    set(end, { bone: name, at: skeleton.within(jointOf(name), place) });
  });
  return row(end === "origin" ? "Origin" : "Insertion", "The bone it is fixed to", bone, button("Move", `Drag the ${end} by arrows`, () => { viewport.hold(end); }, `move-${end}`));
}

/** From the muscle to the camera, across its line, along the axes of the origin's joint; null when seen along the line. */
function towardsCamera(model: Model, viewport: Viewport, muscle: Parametric): Value | null {
  const { skeleton, stage } = viewport;
  if (skeleton === null || model.character === null) return null;
  const place = ({ bone, at }: Parametric["origin"]): Vector3 => {
    const joint = model.character?.joints.findIndex((j) => j.name === bone) ?? -1;
    return new Vector3(...at).applyMatrix4(skeleton.frame(joint));
  };
  const [origin, insertion] = [place(muscle.origin), place(muscle.insertion)];
  const line = insertion.clone().sub(origin).normalize();
  const way = stage.camera.position.clone().sub(origin.clone().lerp(insertion, 0.5)).normalize();
  const across = way.clone().addScaledVector(line, -way.dot(line));
  if (across.length() < 0.1) return null;
  const joint = model.character.joints.findIndex((j) => j.name === muscle.origin.bone);
  const local = across.normalize().transformDirection(skeleton.frame(joint).invert());
  return local.toArray().map((x) => Number(x.toFixed(4)));
}

/** Asks for two joints and puts a muscle on the line between places of their bones, bulging to the camera. */
export function newParametric(model: Model, viewport: Viewport): void {
  const { character, document: doc } = model;
  if (!character || !doc) return;
  const say = (text: string): void => { model.emit("notice", { level: "hint", text }); };
  model.show({ skeleton: true, opacity: Math.min(model.display.opacity, 0.5) });
  say("Click the joint of the bone the muscle starts on.");
  let first: number | null = null;
  viewport.wantJoint = (joint) => {
    if (first === null) {
      first = joint;
      say("Now click the joint of the bone it ends on.");
      return;
    }
    viewport.wantJoint = null;
    const { skeleton } = viewport;
    const [from, to] = [character.joints[first], character.joints[joint]];
    if (joint === first || !skeleton || !from || !to) {
      say("A muscle spans two bones; nothing was made.");
      return;
    }
    const [a, b] = [skeleton.place(first), skeleton.place(joint)];
    const child = character.joints.findIndex((j) => j.parent === joint);
    const end = child >= 0 ? skeleton.place(child) : b;
    const size = Number(Math.max(0.002, 0.1 * a.distanceTo(b)).toFixed(4));
    const thickness = [0.2, 0.6, 1, 1, 0.6, 0.2].map((share) => Number((share * size).toFixed(5))) as Parametric["thickness"];
    let name = `${from.name} to ${to.name}`;
    for (let k = 2; doc.parametric.some((m) => m.name === name); k++) name = `${from.name} to ${to.name} ${k}`;
    const side = /left|(^|[^a-z])l([^a-z]|$)/i.test(to.name) ? "left" : /right|(^|[^a-z])r([^a-z]|$)/i.test(to.name) ? "right" : "middle";
    const made: Partial<Parametric> & Pick<Parametric, "origin" | "insertion"> = {
      name,
      side,
      origin: { bone: from.name, at: skeleton.within(first, a.clone().lerp(b, 0.2)) },
      insertion: { bone: to.name, at: skeleton.within(joint, b.clone().lerp(end, 0.15)) },
      thickness,
    };
    const bulge = towardsCamera(model, viewport, made as Parametric);
    if (bulge === null) {
      say("You look along that line: look at it from the side where the muscle should bulge, and try again.");
      return;
    }
    model.edit([{ addparametric: { ...made, bulge: bulge as Parametric["bulge"] } }]);
    model.show({ looks: ["parametric", model.display.looks[1]] });
    model.select({ kind: "parametric", name, side });
  };
  viewport.refresh();
}
