/** The selected joint: its pose, and how the fields meet there. */

import { KEYS } from "../anatomy_keys.ts";
import type { Graph, Rotation, Vector } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Viewport } from "../stage/viewport.ts";
import { Curve, squares } from "./curve.ts";
import { button, check, h, row, section, select } from "./dom.ts";
import { degreesOf, rotationOf } from "../pose.ts";
import { below, mirrored, Turn } from "../tool/turn.ts";
import { choicesOf } from "./keyed.ts";
import { numberField } from "./number.ts";
import { patch, stay } from "./patch.ts";
import { skinOperator } from "./skin.ts";

export class JointSection {
  private graph: Graph | null = null;
  private readonly graphs = h("div", { class: "graphs" });
  private readonly curve: Curve;

  constructor(
    private readonly model: Model,
    private readonly viewport: Viewport,
  ) {
    this.curve = new Curve({
      newDrag: () => model.newDrag(),
      changed: (points, drag) => {
        const joint = model.selectedJointName();
        if (joint === null) return;
        const value = { points, over: "angle", opening: "amount" };
        model.edit([{ set: { target: { joint }, field: "controller", value } }], drag);
      },
    });
    const ask = (): void => {
      const joint = model.selectedJointName();
      if (joint !== null) model.wire.send({ graph: { joint } });
    };
    model.on("selection", ask);
    model.on("document", ask);
    model.on("graph", (graph) => {
      this.graph = graph;
      this.drawGraphs();
    });
  }

  /** The joint's angles, and what is done with the whole pose. */
  pose(joint: number): HTMLElement {
    const { model } = this;
    const { character } = model;
    if (!character) return h("div");
    const children = below(character.joints, joint);
    // A thumb closes about another axis than the fingers.
    const fingers = children.filter((k) => !/thumb/i.test(character.joints[k]?.name ?? ""));
    const limit = character.joints[joint]?.limit ?? null;
    return section(
      character.joints[joint]?.name ?? "",
      this.turns(joint),
      h(
        "div",
        { class: "buttons" },
        button("Reset joint", "Take back what was turned by hand (R)", () => { model.resetPose(joint); }),
        button("Frame", "Show this joint (F)", () => { this.viewport.frameSelection(); }),
        children.length > 0 && button("With children", "All joints below turn along with this one; Shift+click adds joints one by one", () => { model.select({ kind: "joint", joint }, children); }),
        fingers.length > 1 && button("Children", "All joints below turn together, this one and thumbs stay: a fist in one drag", () => { model.select({ kind: "joint", joint: fingers[0] ?? joint }, fingers.slice(1)); }),
      ),
      model.along.length > 0 ? h("p", { class: "hint", text: `${model.along.length} more turn along` }) : null,
      h(
        "div",
        { class: "buttons" },
        button("Copy pose", "Every joint turned by hand", () => { model.copied = new Map(model.pose); model.emit("pose", model.pose); }),
        model.copied !== null && button("Paste", "The copied pose in place of this one", () => { if (model.copied) model.putPose(model.copied); }),
        button("Mirror pose", "What the left does the right does, and the other way round", () => { model.putPose(mirrored(character.joints, model.pose)); }),
      ),
      h("div", { class: "checks" }, check("World axes", this.viewport.gizmo.space === "world", "The rings turn about the world's axes instead of the joint's own", (world) => {
        this.viewport.gizmo.space = world ? "world" : "local";
        this.viewport.hold("pose");
        model.emit("pose", model.pose);
      })),
      limit !== null
        ? h("div", { class: "checks" }, check(`Stop at ${Math.round(limit)}°`, model.display.limits, "Joints stop at their limits when they are turned by hand; without, skin may fold into itself", (limits) => { model.show({ limits }); }))
        : null,
    );
  }

  /** How the fields meet at the joint. */
  field(joint: number): HTMLElement {
    const { model } = this;
    const { character, document: doc } = model;
    const name = character?.joints[joint]?.name ?? "";
    if (!character || !doc) return h("div");
    const own = doc.skin.joint[name];
    const target = { joint: name };
    const { operator: operatorKey, controller: controllerKey } = KEYS.JointSettings;
    const current = own?.controller ?? null;
    const operator = select([["", `as the skin (${skinOperator(doc.skin)})`], ...choicesOf(operatorKey)], own?.operator ?? "", operatorKey.about, (value) => {
      model.edit([value === "" ? { clear: { target, field: "operator" } } : { set: { target, field: "operator", value } }]);
    });
    operator.id = "operator";
    const custom: [string, string][] = typeof current === "object" && current !== null ? [["custom", "own curve"]] : [];
    const controller = select([["", "the operator's own"], ...choicesOf(controllerKey), ...custom], typeof current === "string" ? current : custom.length > 0 ? "custom" : "", controllerKey.about, (value) => {
      if (value === "custom") return;
      model.edit([value === "" ? { clear: { target, field: "controller" } } : { set: { target, field: "controller", value } }]);
    });
    this.drawGraphs();
    return section(
      name,
      row(operatorKey.label, operatorKey.about, operator),
      row(controllerKey.label, controllerKey.about, controller),
      doc.skin.tracking === "robust"
        ? h("p", { class: "hint", text: "With robust tracking, in use now, operators that blend change the skin here. Contact it makes itself: operators that only separate (contact, and union) change the slice and the iso-surface alone." })
        : null,
      stay(this.graphs, "graphs"),
    );
  }

  /** Degrees about the joint's axes, from rest: how it stands now, to be typed or scrubbed. */
  private turns(joint: number): HTMLElement {
    const { model, viewport } = this;
    const rest = model.character?.joints[joint]?.rest ?? [0, 0, 0, 1];
    let turn: { drag: number; to: Turn } | null = null;
    const now = (): Rotation => model.pose.get(joint) ?? viewport.skeleton?.local(joint) ?? rest;
    const degrees = degreesOf(rest, now());
    const field = (axis: 0 | 1 | 2): HTMLElement => {
      const name = "XYZ".charAt(axis);
      return numberField({
        label: `Turn about ${name}`, title: `Degrees about the joint’s own ${name}, from rest`, value: degrees[axis],
        min: -360, max: 360, step: 0.1, unit: "°", newDrag: () => model.newDrag(),
        change: (value, drag) => {
          const next: Vector = [...degreesOf(rest, now())];
          next[axis] = value;
          if (viewport.skeleton === null) return;
          if (turn?.drag !== drag) turn = { drag, to: new Turn(model, viewport.skeleton, joint) };
          turn.to.to(rotationOf(rest, next), drag);
        },
      });
    };
    return row("Turn, °", "Degrees about the joint’s own x, y and z, from rest", h("div", { class: "triple" }, field(0), field(1), field(2)));
  }

  private drawGraphs(): void {
    const { model, graph } = this;
    const { character, document: doc } = model;
    const name = model.selectedJointName();
    if (!character || !doc || graph === null || name === null || graph.joint !== name) {
      patch(this.graphs);
      return;
    }
    this.curve.take(graph, doc.skin.joint[name]?.controller ?? null);
    patch(this.graphs, stay(this.curve.element, "curve"), squares(graph, character.sequential));
  }
}
