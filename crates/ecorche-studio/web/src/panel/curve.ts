/** A controller's curve, opening over angle, with handles to drag; and an operator's squares. */

import type { Controller, Graph } from "../messages.ts";
import { h } from "./dom.ts";

const WIDTH = 268;
const HEIGHT = 130;
const MARGIN = { left: 28, right: 8, top: 8, bottom: 20 };

/** Least angle from one handle to the next, radians. */
const APART = 0.001;

type Points = [number, number][];

export interface CurveSettings {
  changed: (points: Points, drag: number) => void;
  newDrag: () => number;
}

const inner = { width: WIDTH - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
const xOf = (angle: number): number => MARGIN.left + (angle / Math.PI) * inner.width;
const yOf = (opening: number): number => MARGIN.top + (1 - opening) * inner.height;

/** Three handles on a curve that has none: where it starts to change, the middle, where it ends. */
function handlesOf(graph: Graph): Points {
  const at = (k: number): number => graph.curve[Math.max(0, Math.min(graph.angles - 1, k))] ?? 0;
  const angle = (k: number): number => Number(((Math.PI * k) / (graph.angles - 1)).toFixed(3));
  let [first, last] = [0, graph.angles - 1];
  while (first + 1 < graph.angles && Math.abs(at(first + 1) - at(0)) < 1e-3) first++;
  while (last > first && Math.abs(at(last - 1) - at(graph.angles - 1)) < 1e-3) last--;
  const middle = Math.round(0.5 * (first + last));
  return [first, middle, last].map((k) => [angle(k), Number(Math.min(1, at(k)).toFixed(3))]);
}

/** The curve of one joint after the other. While a handle is held, what the engine answers does not move it. */
export class Curve {
  readonly element: HTMLCanvasElement;
  private graph: Graph | null = null;
  private points: Points = [];
  private editable = false;
  private held = -1;
  private drag = 0;

  constructor(private readonly settings: CurveSettings) {
    this.element = h("canvas", {
      class: "curve",
      title: "Opening over the angle between the gradients; drag the points",
      attributes: { width: `${2 * WIDTH}`, height: `${2 * HEIGHT}` },
      on: {
        pointerdown: (event) => { this.press(event); },
        pointermove: (event) => { this.move(event); },
        pointerup: () => { this.release(); },
        pointercancel: () => { this.release(); },
      },
    });
    this.element.getContext("2d")?.scale(2, 2);
  }

  /** Shows a graph; a preset has handles as soon as it is dragged. */
  take(graph: Graph, controller: Controller | null): void {
    if (this.graph?.joint !== graph.joint) this.held = -1;
    this.graph = graph;
    const own = controller !== null && typeof controller !== "string" ? controller : null;
    this.editable = own === null || (own.over === "angle" && own.opening === "amount");
    if (this.held < 0) {
      this.points = own !== null && this.editable ? own.points.map(([a, o]) => [a, o]) : handlesOf(graph);
    }
    this.paint();
  }

  private paint(): void {
    const { graph } = this;
    const context = this.element.getContext("2d");
    if (!context || !graph) return;
    const style = getComputedStyle(document.documentElement);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    context.strokeStyle = style.getPropertyValue("--line");
    context.fillStyle = style.getPropertyValue("--dim");
    context.font = "10px system-ui";
    context.lineWidth = 1;
    for (const degrees of [0, 45, 90, 135, 180]) {
      const x = xOf((degrees * Math.PI) / 180);
      context.beginPath();
      context.moveTo(x, MARGIN.top);
      context.lineTo(x, HEIGHT - MARGIN.bottom);
      context.stroke();
      context.textAlign = degrees === 180 ? "right" : "center";
      context.fillText(`${degrees}°`, degrees === 180 ? WIDTH - 2 : x, HEIGHT - 6);
    }
    for (const opening of [0, 0.5, 1]) {
      context.beginPath();
      context.moveTo(MARGIN.left, yOf(opening));
      context.lineTo(WIDTH - MARGIN.right, yOf(opening));
      context.stroke();
      context.textAlign = "left";
      context.fillText(opening.toFixed(1), 6, yOf(opening) + 3);
    }
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 2;
    context.beginPath();
    graph.curve.forEach((opening, k) => { context.lineTo(xOf((Math.PI * k) / (graph.angles - 1)), yOf(opening)); });
    context.stroke();
    this.element.dataset.points = JSON.stringify(this.points);
    if (!this.editable) return;
    for (const [angle, opening] of this.points) {
      context.beginPath();
      context.arc(xOf(angle), yOf(opening), 5, 0, 2 * Math.PI);
      context.fillStyle = style.getPropertyValue("--panel");
      context.fill();
      context.stroke();
    }
  }

  private place(event: PointerEvent): [number, number] {
    const bounds = this.element.getBoundingClientRect();
    const angle = (((event.clientX - bounds.left) * WIDTH) / bounds.width - MARGIN.left) / inner.width;
    const opening = 1 - (((event.clientY - bounds.top) * HEIGHT) / bounds.height - MARGIN.top) / inner.height;
    const within = (x: number, high: number): number => Number(Math.max(0, Math.min(high, x)).toFixed(3));
    return [within(angle * Math.PI, 3.141), within(opening, 1)];
  }

  private press(event: PointerEvent): void {
    if (!this.editable) return;
    const [angle, opening] = this.place(event);
    const distance = ([a, o]: [number, number]): number => Math.hypot(xOf(a) - xOf(angle), yOf(o) - yOf(opening));
    this.held = this.points.findIndex((point) => distance(point) < 14);
    if (this.held < 0) return;
    this.drag = this.settings.newDrag();
    this.element.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    const point = this.points[this.held];
    if (!point) return;
    const [angle, opening] = this.place(event);
    const [before, after] = [this.points[this.held - 1]?.[0] ?? -APART, this.points[this.held + 1]?.[0] ?? Math.PI];
    point[0] = Number(Math.max(before + APART, Math.min(after - APART, angle)).toFixed(3));
    point[1] = opening;
    this.paint();
    this.settings.changed(this.points.map(([a, o]) => [a, o]), this.drag);
  }

  private release(): void {
    this.held = -1;
  }
}

/** The composed value over the two fields, for three openings. */
export function squares(graph: Graph, table: Uint8Array): HTMLElement {
  const names = ["closed", "half open", "open"];
  const side = graph.square;
  const list = names.map((name, k) => {
    const canvas = h("canvas", { attributes: { width: `${side}`, height: `${side}` } });
    const context = canvas.getContext("2d");
    if (context) {
      const image = context.createImageData(side, side);
      for (let y = 0; y < side; y++) {
        for (let x = 0; x < side; x++) {
          const value = graph.squares[k * side * side + (side - 1 - y) * side + x] ?? 0;
          const line = Math.abs(value - 0.5) < 0.012;
          const at = 3 * Math.round(255 * Math.max(0, Math.min(1, value)));
          const colour = line ? [255, 255, 255] : [table[at] ?? 0, table[at + 1] ?? 0, table[at + 2] ?? 0];
          image.data.set([...colour, 255], 4 * (y * side + x));
        }
      }
      context.putImageData(image, 0, 0);
    }
    return h("figure", {}, canvas, h("figcaption", { text: name }));
  });
  return h("div", { class: "squares", title: "The joined value over the first field (right) and the second (up); white: the surface" }, ...list);
}
