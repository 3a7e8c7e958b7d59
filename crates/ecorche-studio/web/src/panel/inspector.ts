/** The panel on the right: how things look, and the numbers of what is selected. */

import type { Model } from "../model.ts";
import type { Viewport } from "../stage/viewport.ts";
import { crowdSection } from "./crowd.ts";
import { empty, h, section } from "./dom.ts";
import { fatSection } from "./fat.ts";
import { JointSection } from "./joint.ts";
import { lookSection } from "./look.ts";
import { muscleSections } from "./muscle.ts";
import { parametricSections } from "./parametric.ts";
import { patch } from "./patch.ts";
import { samplesSection } from "./samples.ts";
import { skinSection } from "./skin.ts";

/** Milliseconds between two changes of what depends on the moment while playing. */
const READABLE = 250;

export function inspector(model: Model, viewport: Viewport): HTMLElement {
  const chosen = h("div");
  const look = h("div");
  const skin = h("div");
  const joint = new JointSection(model, viewport);

  const drawChosen = (): void => {
    const { selection } = model;
    if (selection.kind === "joint") {
      patch(chosen, joint.draw(selection.joint), model.display.samples && samplesSection(model, viewport, selection.joint));
    } else if (selection.kind === "muscle") patch(chosen, ...muscleSections(model, viewport));
    else if (selection.kind === "parametric") patch(chosen, ...parametricSections(model, viewport));
    else if (selection.kind === "fat") patch(chosen, fatSection(model, viewport));
    else patch(chosen, section("Nothing selected", empty("Click a joint (J), a muscle (M) or a name in the list.")));
  };
  const drawLook = (): void => { patch(look, lookSection(model, viewport), crowdSection(model, viewport)); };

  for (const event of ["selection", "document", "display", "pose", "transport", "character"] as const) model.on(event, drawChosen);
  for (const event of ["selection", "display", "character"] as const) model.on(event, drawLook);
  for (const event of ["document", "character"] as const) model.on(event, () => { patch(skin, skinSection(model)); });
  let written = 0;
  model.on("frame", ({ playing }) => {
    // A muscle's activation and a joint's angles depend on the moment.
    if (!["muscle", "parametric", "joint"].includes(model.selection.kind) || (playing && performance.now() - written < READABLE)) return;
    written = performance.now();
    drawChosen();
  });
  return h("aside", { class: "right" }, chosen, look, skin);
}
