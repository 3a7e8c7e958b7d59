/** The numbers over the viewport, the legend of a quantity, and the names of compared methods. */

import type { Busy, Frame, Look } from "../messages.ts";
import type { Model } from "../model.ts";
import { SCALES } from "../stage/flesh.ts";
import type { Viewport } from "../stage/viewport.ts";
import { h } from "./dom.ts";
import { patch } from "./patch.ts";
import { LOOKS } from "./toolbar.ts";

/** Milliseconds between two changes of the numbers while playing. */
const READABLE = 250;

/** Milliseconds after which waiting for a frame is told. */
const LATE = 300;

/** Frames over which the rate is averaged. */
const WINDOW = 20;

const duration = (ms: number): string => (ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(1)} s`);

const count = (n: number): string => n.toLocaleString("en-US").replaceAll(",", "\u202f");

function nameOf(look: Look): string {
  return LOOKS.find(([id]) => id === look)?.[1] ?? look;
}

export function readout(model: Model, viewport: Viewport): HTMLElement {
  const line = (id: string): HTMLElement => h("div", { id });
  const [engine, stream, counts, flesh, state] = [line("engine-time"), line("stream-time"), line("counts"), line("flesh"), line("state")];
  const labels = h("div", { class: "pane-labels" });
  const steps = h("div", { class: "steps", id: "steps" });
  steps.hidden = true;
  const times: number[] = [];

  let written = 0;
  let view = -1;
  let named = "";
  const name = (frame: Frame): void => {
    const names = model.display.compare === "single" || frame.looks.length < 2 ? [] : frame.looks.map((look) => nameOf(look.shown));
    if (named === names.join()) return;
    named = names.join();
    patch(labels, ...names.map((text, k) => h("span", { class: k === 0 ? "left" : "right", text })));
  };
  const bar = h("progress", { attributes: { max: "1" } });
  bar.hidden = true;
  /** When the engine was asked for something that is not on the screen yet. */
  let asked = 0;
  const tellState = (): void => {
    const { frame, busy } = model;
    const late = (frame?.view ?? 0) < model.viewId && performance.now() - asked > LATE;
    const waiting = late && busy === null ? `computing frame ${Math.round(model.moment())}…` : "";
    state.textContent = busyLine(frame, busy) || (frame && stateLine(frame)) || waiting || (frame?.flesh ?? problems[0] ?? "");
    bar.hidden = busy === null || busy.of === 0;
    if (busy !== null && busy.of > 0) bar.value = busy.done / busy.of;
  };
  model.on("busy", tellState);
  model.on("asked", () => {
    if ((model.frame?.view ?? 0) < model.viewId - 1) return;
    asked = performance.now();
    setTimeout(tellState, LATE + 10);
  });
  let problems: string[] = [];
  model.on("inside", (inside) => { problems = inside?.problems ?? []; });
  model.on("frame", (frame) => {
    times.push(performance.now());
    if (times.length > WINDOW) times.shift();
    name(frame);
    // Numbers that change with every frame cannot be read.
    if (frame.playing && frame.view === view && performance.now() - written < READABLE) return;
    written = performance.now();
    view = frame.view;
    const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
    const rate = frame.playing && span > 0 ? (1000 * (times.length - 1)) / span : 0;
    const spans = frame.looks.map((look) => duration(look.milliseconds)).join(" + ");
    engine.textContent = `${spans} a frame${rate > 0 ? `  ·  ${rate.toFixed(0)} fps` : ""}`;
    const { transfer, decoding, taking, drawing } = model.timing;
    stream.textContent = `${duration(frame.encoding + transfer + decoding + taking)} on the way  ·  ${duration(drawing)} to draw`;
    counts.textContent = countLine(model);
    flesh.textContent = fleshLine(model, frame);
    tellState();
    patch(steps, ...stepList(frame));
    steps.hidden = model.trace === null;
  });
  model.on("display", () => {
    if (model.frame) name(model.frame);
  });
  return h(
    "div",
    { class: "readout" },
    h("div", { class: "figures" }, engine, stream, counts, flesh, state, bar),
    labels,
    steps,
    h("div", { class: "legends" }, fieldLegend(model), fleshLegend(model, viewport), legend(model)),
    divider(model, viewport),
  );
}

function countLine({ character }: Model): string {
  return character ? `${count(character.vertices)} vertices  ·  ${count(character.triangles)} triangles` : "";
}

function fleshLine({ document: doc }: Model, frame: Frame): string {
  const parts = [];
  if (doc && doc.muscle.length > 0) parts.push(`${doc.muscle.reduce((sum, m) => sum + (m.mirror ? 2 : 1), 0)} muscles`);
  const contacts = frame.looks[0]?.contacts ?? 0;
  if (contacts > 0) parts.push(`${count(contacts)} in contact`);
  return parts.join("  ·  ");
}

/** What is being bound, and how far that is. */
function busyLine(frame: Frame | null, busy: Busy | null): string {
  if (busy === null || frame?.looks.every(({ look }) => look !== busy.look) === true) return "";
  const far = busy.of > 0 ? ` ${busy.done} of ${busy.of}` : "";
  return `preparing ${nameOf(busy.look)}: ${busy.stage === "" ? "reading" : busy.stage}${far}`;
}

function stateLine(frame: Frame): string {
  const waiting = frame.looks.filter((look) => look.look !== look.shown);
  if (waiting.length > 0) return `preparing ${waiting.map((look) => nameOf(look.look)).join(" and ")}…`;
  const problem = frame.looks.find((look) => look.problem !== null)?.problem;
  if (problem) return `shown as before: ${problem}`;
  if (frame.looks.some((look) => look.binding)) return "updating the body…";
  const lost = frame.looks.reduce((sum, look) => sum + look.fell_back, 0);
  return lost > 0 ? `${count(lost)} vertices fell back to plain skinning` : "";
}

/** What moved the followed vertex, and how far from where skinning took it. */
function stepList(frame: Frame): HTMLElement[] {
  const start = frame.path[0]?.[1];
  if (!start) return [h("div", { text: "following a vertex; its steps are told by the implicit methods" })];
  return frame.path.map(([what, at]) => {
    const distance = 1000 * Math.hypot(at[0] - start[0], at[1] - start[1], at[2] - start[2]);
    return h("div", {}, h("span", { text: what }), h("span", { text: `${distance.toFixed(2)} mm` }));
  });
}

/** The line of a wipe, to be dragged. */
function divider(model: Model, viewport: Viewport): HTMLElement {
  const line = h("div", { class: "divider", title: "Drag to wipe" });
  const place = (): void => {
    const { compare } = model.display;
    line.hidden = compare === "single";
    line.classList.toggle("fixed", compare === "side");
    line.style.left = `${100 * (compare === "side" ? 0.5 : viewport.wipe)}%`;
  };
  line.addEventListener("pointerdown", (event) => {
    if (model.display.compare !== "wipe") return;
    line.setPointerCapture(event.pointerId);
  });
  line.addEventListener("pointermove", (event) => {
    if (!line.hasPointerCapture(event.pointerId)) return;
    const bounds = viewport.stage.element.getBoundingClientRect();
    viewport.wipe = Math.max(0.03, Math.min(0.97, (event.clientX - bounds.left) / bounds.width));
    place();
    viewport.stage.invalidate();
  });
  model.on("display", place);
  place();
  return line;
}

/** What the muscles' colours mean. */
function fleshLegend(model: Model, viewport: Viewport): HTMLElement {
  const [low, middle, high, name] = [h("span"), h("span"), h("span"), h("span", { class: "name" })];
  const bar = h("div", { class: "bar" });
  const element = h("div", { class: "legend", id: "flesh-legend" }, name, bar, h("div", { class: "ends" }, low, middle, high));
  const draw = (): void => {
    const { flesh, paint } = model.display;
    const scale = SCALES[paint];
    element.hidden = !flesh || viewport.crowd.visible || (model.document?.muscle.length ?? 0) === 0;
    name.textContent = `muscles by ${paint}`;
    low.textContent = scale.low;
    middle.textContent = scale.middle ?? "";
    high.textContent = scale.high;
    bar.style.background = `linear-gradient(to right, ${scale.colours.map((colour) => `#${colour.getHexString()}`).join(", ")})`;
  };
  model.on("display", draw);
  model.on("document", draw);
  draw();
  return element;
}

/** A bar of the colours of a table. */
function colourBar(): { canvas: HTMLCanvasElement; paint: (table: Uint8Array) => void } {
  const canvas = h("canvas", { attributes: { width: "256", height: "10" } });
  const paint = (table: Uint8Array): void => {
    const context = canvas.getContext("2d");
    if (!context) return;
    const image = context.createImageData(256, 10);
    for (let k = 0; k < 256 * 10; k++) {
      const at = 3 * (k % 256);
      image.data.set([table[at] ?? 0, table[at + 1] ?? 0, table[at + 2] ?? 0, 255], 4 * k);
    }
    context.putImageData(image, 0, 0);
  };
  return { canvas, paint };
}

/** What a slice's colours and lines mean. */
function fieldLegend(model: Model): HTMLElement {
  const { canvas, paint } = colourBar();
  const ends = h("div", { class: "ends" }, h("span", { text: "0 far out" }), h("span", { text: "0.5 skin, bold" }), h("span", { text: "1 deep in" }));
  const element = h("div", { class: "legend", id: "field-legend" }, h("span", { class: "name", text: "field, a line at every tenth" }), canvas, ends);
  element.hidden = true;
  model.on("character", ({ sequential }) => { paint(sequential); });
  model.on("display", ({ slice }) => { element.hidden = slice === null; });
  return element;
}

function legend(model: Model): HTMLElement {
  const { canvas, paint } = colourBar();
  const [low, high, name] = [h("span"), h("span"), h("span", { class: "name" })];
  const element = h("div", { class: "legend", id: "legend" }, name, canvas, h("div", { class: "ends" }, low, high));
  element.hidden = true;
  let shown = "";
  model.on("frame", ({ quantity }) => {
    element.hidden = quantity === null;
    if (quantity === null || model.character === null) {
      shown = "";
      return;
    }
    const key = JSON.stringify(quantity);
    if (key === shown) return;
    shown = key;
    const unit = quantity.unit === "" ? "" : ` ${quantity.unit}`;
    name.textContent = quantity.name.replaceAll("-", " ");
    const digits = digitsOf(quantity.range);
    low.textContent = `${quantity.range[0].toFixed(digits)}${unit}`;
    high.textContent = `${quantity.range[1].toFixed(digits)}${unit}`;
    paint(model.character[quantity.map]);
  });
  return element;
}

/** Digits after the point that tell the ends of a range apart. */
function digitsOf([low, high]: [number, number]): number {
  if (Number.isInteger(low) && Number.isInteger(high)) return 0;
  return Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.max(high - low, 1e-9)))));
}
