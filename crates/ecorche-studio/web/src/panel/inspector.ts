/** The panel on the right: how things look, and the numbers of what is selected. */

import type { Model } from "../model.ts";
import type { Viewport } from "../stage/viewport.ts";
import { busy, empty, h, section } from "./dom.ts";
import { fatSection } from "./fat.ts";
import { JointSection } from "./joint.ts";
import { lookSection } from "./look.ts";
import { muscleSections } from "./muscle.ts";
import { samplesSection } from "./samples.ts";
import { skinSection } from "./skin.ts";

export function inspector(model: Model, viewport: Viewport): HTMLElement {
  const chosen = h("div");
  const look = h("div");
  const skin = h("div");
  const joint = new JointSection(model, viewport);

  const drawChosen = (): void => {
    const { selection } = model;
    if (selection.kind === "joint") {
      const samples = model.display.samples ? [samplesSection(model, viewport, selection.joint)] : [];
      chosen.replaceChildren(joint.draw(selection.joint), ...samples);
    }
    else if (selection.kind === "muscle") chosen.replaceChildren(...muscleSections(model, viewport));
    else if (selection.kind === "fat") chosen.replaceChildren(fatSection(model, viewport));
    else chosen.replaceChildren(section("Nothing selected", empty("Click a joint (J), a muscle (M) or a name in the list.")));
  };
  const drawLook = (): void => { look.replaceChildren(lookSection(model, viewport)); };
  const drawSkin = (): void => { skin.replaceChildren(skinSection(model)); };

  model.on("selection", () => { drawChosen(); drawLook(); });
  model.on("document", () => {
    if (!busy(chosen)) drawChosen();
    if (!busy(skin)) drawSkin();
  });
  let samples = false;
  model.on("display", (display) => {
    if (!busy(look)) drawLook();
    if (display.samples !== samples) drawChosen();
    samples = display.samples;
  });
  model.on("pose", () => { if (!busy(chosen) && model.selection.kind === "joint") drawChosen(); });
  model.on("character", () => { drawChosen(); drawLook(); drawSkin(); });
  return h("aside", { class: "right" }, chosen, look, skin);
}
