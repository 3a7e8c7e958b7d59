/** The path of a vertex: through the clip, in every frame that was shown, and through the steps that placed it in this one. */

import { BufferAttribute, BufferGeometry, Group, Line, LineBasicMaterial, Points, PointsMaterial, Vector3 } from "three";
import type { Skin } from "./skin.ts";

export class Trail {
  readonly group = new Group();
  vertex: number | null = null;
  /** Place by tenth of a frame. */
  private readonly places = new Map<number, Vector3>();
  private readonly line: Line<BufferGeometry, LineBasicMaterial>;
  private readonly steps: Line<BufferGeometry, LineBasicMaterial>;
  private readonly dot: Points<BufferGeometry, PointsMaterial>;

  constructor() {
    const over = { depthTest: false, transparent: true };
    this.line = new Line(new BufferGeometry(), new LineBasicMaterial({ color: 0x7fd1ff, ...over }));
    this.steps = new Line(new BufferGeometry(), new LineBasicMaterial({ color: 0xffd166, ...over }));
    this.dot = new Points(new BufferGeometry(), new PointsMaterial({ color: 0xffffff, size: 8, sizeAttenuation: false, ...over }));
    for (const object of [this.line, this.steps, this.dot]) {
      object.frustumCulled = false;
      object.renderOrder = 9;
      this.group.add(object);
    }
    this.group.visible = false;
  }

  follow(vertex: number | null): void {
    this.vertex = vertex;
    this.forget();
    this.group.visible = vertex !== null;
  }

  /** What was seen belongs to another clip, pose or body. */
  forget(): void {
    this.places.clear();
  }

  take(at: number, skin: Skin, steps: [string, [number, number, number]][]): void {
    if (this.vertex === null) return;
    const place = skin.at(this.vertex);
    this.places.set(Math.round(10 * at), place);
    const path = [...this.places].sort((a, b) => a[0] - b[0]).flatMap(([, p]) => p.toArray());
    this.put(this.line, path);
    this.put(this.steps, steps.flatMap(([, step]) => step));
    this.put(this.dot, place.toArray());
  }

  private put(object: Line | Points, numbers: number[]): void {
    object.geometry.dispose();
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(numbers), 3));
    object.geometry = geometry;
  }

  /** Metres along the path. */
  length(): number {
    const path = [...this.places].sort((a, b) => a[0] - b[0]).map(([, place]) => place);
    return path.reduce((sum, place, k) => sum + (k > 0 ? place.distanceTo(path[k - 1] ?? place) : 0), 0);
  }
}
