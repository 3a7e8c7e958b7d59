/** The selected joint: its pose, and how the fields meet there. */

import { KEYS } from "../anatomy_keys.ts";
import type { Graph } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Viewport } from "../stage/viewport.ts";
import { curve, squares } from "./curve.ts";
import { button, h, row, section, select } from "./dom.ts";
import { choicesOf } from "./keyed.ts";
import { skinOperator } from "./skin.ts";

export class JointSection {
  private graph: Graph | null = null;
  private readonly graphs = h("div", { class: "graphs" });

  constructor(
    private readonly model: Model,
    private readonly viewport: Viewport,
  ) {
    const ask = (): void => {
      const joint = model.selectedJointName();
      if (joint !== null) model.wire.send({ graph: { joint } });
    };
    model.on("selection", ask);
    model.on("document", ask);
    model.on("graph", (graph) => {
      this.graph = graph;
      if (!this.graphs.matches(":active") && this.graphs.querySelector(":active") === null) this.drawGraphs();
    });
  }

  draw(joint: number): HTMLElement {
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
      h(
        "div",
        { class: "buttons" },
        button("Reset joint", "Take back what was turned by hand (R)", () => { model.resetPose(joint); }),
        button("Frame", "Show this joint (F)", () => { this.viewport.frameSelection(); }),
      ),
      row(operatorKey.label, operatorKey.about, operator),
      row(controllerKey.label, controllerKey.about, controller),
      doc.skin.tracking === "robust"
        ? h("p", { class: "hint", text: "With robust tracking, in use now, operators that blend change the skin here. Contact it makes itself: operators that only separate (contact, and union) change the slice and the iso-surface alone." })
        : null,
      this.graphs,
    );
  }

  private drawGraphs(): void {
    const { model, graph } = this;
    const { character, document: doc } = model;
    const name = model.selectedJointName();
    if (!character || !doc || graph === null || name === null || graph.joint !== name) {
      this.graphs.replaceChildren();
      return;
    }
    const controller = doc.skin.joint[name]?.controller ?? null;
    this.graphs.replaceChildren(
      curve({
        graph,
        controller,
        newDrag: () => model.newDrag(),
        changed: (points, drag) => {
          const value = { points, over: "angle", opening: "amount" };
          model.edit([{ set: { target: { joint: name }, field: "controller", value } }], drag);
        },
      }),
      squares(graph, character.sequential),
    );
  }
}
