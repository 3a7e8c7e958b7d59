/** The panel on the right: tabs with the numbers of what is selected, how things look, and the skin as a whole. */

import type { Events, Selection } from "../model.ts";
import type { Page, Tab } from "../page.ts";
import { empty, h } from "./dom.ts";
import { fatSection } from "./fat.ts";
import { JointSection } from "./joint.ts";
import { lookSection } from "./look.ts";
import { activationTab, motionSection, shapeSection } from "./muscle.ts";
import { patch } from "./patch.ts";
import { posesSection } from "./poses.ts";
import { samplesSection } from "./samples.ts";
import { skinSection } from "./skin.ts";

/** Milliseconds between two changes of what depends on the moment while playing. */
const READABLE = 250;

/** The tabs that are always there. */
function ownTabs({ model, viewport }: Page): Tab[] {
  const joint = new JointSection(model, viewport);
  const selected = (): number => (model.selection.kind === "joint" ? model.selection.joint : 0);
  return [
    { id: "pose", label: "Pose", title: "Angles of the selected joint, and the pose as a whole", of: "joint", on: ["document", "display", "pose", "poses", "transport", "character"], moving: true, draw: () => [joint.pose(selected()), posesSection(model)] },
    { id: "field", label: "Field", title: "How the fields of bones meet at this joint", of: "joint", on: ["document", "display", "pose", "character"], draw: () => [joint.field(selected()), samplesSection(model, viewport, selected())] },
    { id: "shape", label: "Shape", title: "Width, profile and ends of the selected muscle", of: "muscle", on: ["document", "character"], draw: () => [shapeSection(model, viewport)] },
    { id: "motion", label: "Motion", title: "How the selected muscle swings", of: "muscle", on: ["document"], draw: () => [motionSection(model)] },
    { id: "activation", label: "Activation", title: "When the selected muscle tenses, and its keys", of: "muscle", on: ["document", "transport"], moving: true, draw: () => [activationTab(model)] },
    { id: "fat", label: "Fat", title: "The selected pad", of: "fat", on: ["document"], draw: () => [fatSection(model, viewport)] },
    { id: "look", label: "Look", title: "What is seen of skin, joints, muscles and fields", of: "page", on: ["selection", "display", "character"], draw: () => [lookSection(model, viewport)] },
    { id: "skin", label: "Skin", title: "Settings of the implicit skin as a whole", of: "page", on: ["document", "character"], draw: () => [skinSection(model)] },
  ];
}

export function inspector(page: Page): HTMLElement {
  const { model } = page;
  const tabs = [...ownTabs(page), ...page.tabs];
  const bar = h("nav", { class: "tabs", attributes: { role: "tablist" } });
  const body = h("div", { class: "tab-body" });
  /** The tab shown last for each kind of selection. */
  const last = new Map<Selection["kind"], string>();
  let kind: Selection["kind"] = "none";

  const there = (): Tab[] => tabs.filter(({ of, fits }) => (of === "page" || of === model.selection.kind) && (fits?.() ?? true));
  const current = (): Tab | undefined => {
    const list = there();
    return list.find(({ id }) => id === last.get(model.selection.kind)) ?? list[0];
  };
  const drawBar = (): void => {
    const chosen = current();
    patch(
      bar,
      ...there().map(({ id, label, title }) => {
        const button = h("button", { class: id === chosen?.id ? "chosen" : "", key: id, title, text: label, attributes: { role: "tab", "aria-selected": String(id === chosen?.id) }, on: { click: () => { open(id); } } });
        button.dataset.tab = id;
        return button;
      }),
    );
  };
  const draw = (): void => {
    const tab = current();
    body.dataset.tab = tab?.id ?? "";
    const hint = model.selection.kind === "none" && tab?.id === "look";
    patch(body, hint && empty("Click a joint (J), a muscle (M) or a name in the list."), ...(tab?.draw() ?? []));
  };
  const open = (id: string): void => {
    last.set(model.selection.kind, id);
    drawBar();
    draw();
  };

  model.on("selection", ({ kind: now }) => {
    if (now !== kind) body.scrollTop = 0;
    kind = now;
    drawBar();
    draw();
  });
  const events = new Set<keyof Events>(tabs.flatMap(({ on }) => [...on]));
  events.delete("selection");
  for (const event of events) {
    model.on(event, () => {
      if (event === "character") drawBar();
      if (current()?.on.includes(event) === true) draw();
    });
  }
  let written = 0;
  model.on("frame", ({ playing }) => {
    if (current()?.moving !== true || (playing && performance.now() - written < READABLE)) return;
    written = performance.now();
    draw();
  });
  drawBar();
  return h("aside", { class: "right" }, bar, body);
}
