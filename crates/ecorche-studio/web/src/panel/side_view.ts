/** A parametric muscle from the side: its outline over its line, with handles for thickness and centre. */

import type { Parametric } from "../messages.ts";
import { h } from "./dom.ts";

const WIDTH = 268;
const HEIGHT = 120;
const MARGIN = 14;
/** Pixels within which a handle is taken. */
const REACH = 14;
const inner = WIDTH - 2 * MARGIN;

export interface SideSettings {
  changed: (thickness: number[], centre: number, drag: number) => void;
  newDrag: () => number;
}

/** Where the six free numbers of a curve stand along the line. */
export function places(centre: number): number[] {
  return [0, centre / 3, (2 * centre) / 3, centre, centre + (2 * (1 - centre)) / 3, 1];
}

/** The curve of six free numbers at a share of the line; see the engine's curve.rs. */
export function curve(centre: number, numbers: readonly number[], t: number): number {
  const [o0 = 0, o1 = 0, o2 = 0, c = 0, i2 = 0, i3 = 0] = numbers;
  const after = c + ((c - o2) * (1 - centre)) / centre;
  const [points, x] = t <= centre ? [[o0, o1, o2, c], t / centre] : [[c, after, i2, i3], (t - centre) / (1 - centre)];
  const y = 1 - x;
  const basis = [y * y * y, 3 * x * y * y, 3 * x * x * y, x * x * x];
  return basis.reduce((sum, b, k) => sum + b * (points[k] ?? 0), 0);
}

export class SideView {
  readonly element: HTMLCanvasElement;
  private muscle: Parametric | null = null;
  private settings: SideSettings | null = null;
  private thickness: number[] = [];
  private centre = 0.5;
  private held = -1;
  private drag = 0;
  /** Metres that half the height stands for; kept while a handle is held. */
  private scale = 0.01;

  constructor() {
    this.element = h("canvas", {
      class: "curve side-view",
      title: "The muscle from the side, origin left. Drag a point up or down for the thickness there, the middle one sideways for the belly's centre",
      attributes: { width: `${2 * WIDTH}`, height: `${2 * HEIGHT}` },
      on: {
        pointerdown: (event) => { this.press(event); },
        pointermove: (event) => { this.move(event); },
        pointerup: () => { this.held = -1; },
        pointercancel: () => { this.held = -1; },
      },
    });
    this.element.style.height = `${HEIGHT}px`;
    this.element.getContext("2d")?.scale(2, 2);
  }

  take(muscle: Parametric, settings: SideSettings): void {
    this.settings = settings;
    this.muscle = muscle;
    if (this.held < 0) {
      this.thickness = [...muscle.thickness];
      this.centre = muscle.centre;
      const samples = Array.from({ length: 33 }, (_, k) => k / 32);
      const most = (numbers: readonly number[]): number => Math.max(...samples.map((t) => Math.abs(curve(this.centre, numbers, t))), 0);
      this.scale = 1.15 * Math.max(muscle.flatness * Math.max(most(this.thickness), ...this.thickness) + most(muscle.sweep.map((s) => s[1])), 1e-4);
    }
    this.paint();
  }

  private x(t: number): number {
    return MARGIN + t * inner;
  }

  /** The middle of the section and half its height along the bulge direction, pixels. */
  private section(t: number): [number, number] {
    const { muscle, centre, thickness, scale } = this;
    const pixels = (0.5 * HEIGHT) / scale;
    const aside = curve(centre, muscle?.sweep.map((s) => s[1]) ?? [], t);
    return [0.5 * HEIGHT - aside * pixels, (muscle?.flatness ?? 1) * curve(centre, thickness, t) * pixels];
  }

  private handle(k: number): [number, number] {
    const t = places(this.centre)[k] ?? 0;
    const pixels = (0.5 * HEIGHT) / this.scale;
    return [this.x(t), this.section(t)[0] - (this.muscle?.flatness ?? 1) * (this.thickness[k] ?? 0) * pixels];
  }

  private paint(): void {
    const context = this.element.getContext("2d");
    if (!context) return;
    const style = getComputedStyle(document.documentElement);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    context.strokeStyle = style.getPropertyValue("--line");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(this.x(0), 0.5 * HEIGHT);
    context.lineTo(this.x(1), 0.5 * HEIGHT);
    context.stroke();
    context.beginPath();
    for (const side of [-1, 1]) {
      for (let k = 0; k <= 64; k++) {
        const t = side < 0 ? k / 64 : 1 - k / 64;
        const [middle, half] = this.section(t);
        context.lineTo(this.x(t), middle + side * half);
      }
    }
    context.closePath();
    context.fillStyle = style.getPropertyValue("--accent-dim");
    context.fill();
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 2;
    context.stroke();
    for (let k = 0; k < 6; k++) {
      const [x, y] = this.handle(k);
      context.beginPath();
      context.arc(x, y, k === 3 ? 6 : 4, 0, 2 * Math.PI);
      context.fillStyle = style.getPropertyValue("--panel");
      context.fill();
      context.stroke();
    }
    this.element.dataset.handles = JSON.stringify(this.thickness.map((_, k) => this.handle(k)));
  }

  private place(event: PointerEvent): [number, number] {
    const bounds = this.element.getBoundingClientRect();
    return [((event.clientX - bounds.left) * WIDTH) / bounds.width, ((event.clientY - bounds.top) * HEIGHT) / bounds.height];
  }

  private press(event: PointerEvent): void {
    const [x, y] = this.place(event);
    const away = (k: number): number => Math.hypot(this.handle(k)[0] - x, this.handle(k)[1] - y);
    const nearest = [0, 1, 2, 3, 4, 5].sort((a, b) => away(a) - away(b))[0] ?? 0;
    this.held = away(nearest) < REACH ? nearest : -1;
    if (this.held < 0 || this.settings === null) return;
    this.drag = this.settings.newDrag();
    this.element.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    const { held, muscle, settings } = this;
    if (held < 0 || muscle === null || settings === null) return;
    const [x, y] = this.place(event);
    const metres = this.scale / (0.5 * HEIGHT) / muscle.flatness;
    const middle = this.section(places(this.centre)[held] ?? 0)[0];
    this.thickness[held] = Number(Math.max(0, (middle - y) * metres).toFixed(5));
    if (held === 3) this.centre = Number(Math.max(0.05, Math.min(0.95, (x - MARGIN) / inner)).toFixed(3));
    this.paint();
    settings.changed([...this.thickness], this.centre, this.drag);
  }
}
