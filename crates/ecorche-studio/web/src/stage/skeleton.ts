/** Joints as dots and bones as lines, over everything else, to be clicked. */

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  Group,
  Line3,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Points,
  PointsMaterial,
  Quaternion,
  type PerspectiveCamera,
  Vector3,
} from "three";
import type { Character, Rotation, Vector } from "../messages.ts";
import { disc } from "./disc.ts";

const PLAIN = new Color(0xe8edf4);
const TURNED = new Color(0xf2b35d);
const CHOSEN = new Color(0xff7a59);
const ALONG = new Color(0xffb59e);

/** How close to a dot a click must be, pixels. */
const REACH = 14;

/** Hundredths of a millimetre are enough for a file people read. */
export function rounded(v: Vector3): Vector {
  return [v.x, v.y, v.z].map((x) => Number(x.toFixed(5))) as Vector;
}

export class Skeleton {
  readonly group = new Group();
  /** World from joint, sixteen numbers each. */
  private matrices = new Float32Array();
  private readonly shown: number[];
  private readonly bones: [number, number][];
  private readonly middle: number;
  private readonly dots: Points<BufferGeometry, PointsMaterial>;
  private readonly lines: LineSegments<BufferGeometry, LineBasicMaterial>;

  constructor(readonly character: Character) {
    const { joints } = character;
    this.shown = joints.flatMap((joint, k) => (joint.in_skin ? [k] : []));
    this.bones = this.shown.flatMap((k): [number, number][] => {
      const parent = joints[k]?.parent ?? null;
      return parent !== null && joints[parent]?.in_skin === true ? [[parent, k]] : [];
    });
    const branches = (joint: number): boolean => joints.filter(({ parent }) => parent === joint).length > 1;
    this.middle = this.shown.find(branches) ?? 0;
    const dots = new BufferGeometry();
    dots.setAttribute("position", new BufferAttribute(new Float32Array(3 * this.shown.length), 3));
    dots.setAttribute("color", new BufferAttribute(new Float32Array(3 * this.shown.length), 3));
    const over = { depthTest: false, depthWrite: false, transparent: true };
    this.dots = new Points(dots, new PointsMaterial({ size: 9, sizeAttenuation: false, vertexColors: true, map: disc(), alphaTest: 0.3, ...over }));
    const lines = new BufferGeometry();
    lines.setAttribute("position", new BufferAttribute(new Float32Array(6 * this.bones.length), 3));
    this.lines = new LineSegments(lines, new LineBasicMaterial({ color: 0xaebccc, opacity: 0.7, ...over }));
    for (const object of [this.lines, this.dots]) {
      object.frustumCulled = false;
      object.renderOrder = 10;
      this.group.add(object);
    }
    this.group.visible = false;
  }

  take(matrices: Float32Array): void {
    this.matrices = new Float32Array(matrices);
    const dots = this.dots.geometry.getAttribute("position") as BufferAttribute;
    this.shown.forEach((joint, k) => {
      dots.setXYZ(k, ...this.place(joint).toArray());
    });
    dots.needsUpdate = true;
    const lines = this.lines.geometry.getAttribute("position") as BufferAttribute;
    this.bones.forEach(([from, to], k) => {
      lines.setXYZ(2 * k, ...this.place(from).toArray());
      lines.setXYZ(2 * k + 1, ...this.place(to).toArray());
    });
    lines.needsUpdate = true;
  }

  colour(chosen: readonly number[], turned: ReadonlySet<number>): void {
    const colours = this.dots.geometry.getAttribute("color") as BufferAttribute;
    this.shown.forEach((joint, k) => {
      const colour = joint === chosen[0] ? CHOSEN : chosen.includes(joint) ? ALONG : turned.has(joint) ? TURNED : PLAIN;
      colours.setXYZ(k, colour.r, colour.g, colour.b);
    });
    colours.needsUpdate = true;
  }

  place(joint: number): Vector3 {
    return new Vector3().fromArray(this.matrices, 16 * joint + 12);
  }

  /** Where the first joint of the skin is that branches: the hips of most. */
  hub(): Vector3 {
    return this.place(this.middle);
  }

  /** World from joint; the identity before the first frame. */
  matrix(joint: number): Matrix4 {
    const matrix = new Matrix4();
    if (this.matrices.length >= 16 * joint + 16) matrix.fromArray(this.matrices, 16 * joint);
    return matrix;
  }

  /** The joint's rotation relative to its parent. */
  local(joint: number): Rotation {
    const parent = this.character.joints[joint]?.parent ?? null;
    const turn = (of: number): Quaternion => {
      const quaternion = new Quaternion();
      this.matrix(of).decompose(new Vector3(), quaternion, new Vector3());
      return quaternion;
    };
    const above = parent === null ? new Quaternion() : turn(parent).invert();
    return above.multiply(turn(joint)).normalize().toArray();
  }

  /** World from joint without the joint's own scale, which does not count in an anatomy. */
  frame(joint: number): Matrix4 {
    const [place, turn] = [new Vector3(), new Quaternion()];
    this.matrix(joint).decompose(place, turn, new Vector3());
    return new Matrix4().compose(place, turn, new Vector3(1, 1, 1));
  }

  /** A point of the world in an anatomy's coordinates of a joint, to a hundredth of a millimetre. */
  within(joint: number, point: Vector3): Vector {
    return rounded(point.clone().applyMatrix4(this.frame(joint).invert()));
  }

  /** The point of a joint's bone that is nearest to another. */
  onBone(joint: number, point: Vector3): Vector3 {
    const from = this.place(joint);
    const ends = this.character.joints.flatMap((other, k) => (other.parent === joint ? [this.place(k)] : []));
    const nearest = ends.map((end) => new Line3(from, end).closestPointToPoint(point, true, new Vector3()));
    return nearest.sort((a, b) => a.distanceTo(point) - b.distanceTo(point))[0] ?? from;
  }

  /** The joint under a pixel of the viewport; the nearest to the camera of those close enough. */
  pick(x: number, y: number, camera: PerspectiveCamera, width: number, height: number): number | null {
    let best: { joint: number; distance: number } | null = null;
    for (const joint of this.shown) {
      const seen = this.place(joint).project(camera);
      if (seen.z > 1) continue;
      const distance = Math.hypot(0.5 * (seen.x + 1) * width - x, 0.5 * (1 - seen.y) * height - y);
      if (distance < REACH && (best === null || distance < best.distance)) best = { joint, distance };
    }
    return best?.joint ?? null;
  }

  /** The joints in a box of pixels, parents first. */
  within2d(box: { left: number; top: number; width: number; height: number }, camera: PerspectiveCamera, width: number, height: number): number[] {
    return this.shown.filter((joint) => {
      const seen = this.place(joint).project(camera);
      const [x, y] = [0.5 * (seen.x + 1) * width - box.left, 0.5 * (1 - seen.y) * height - box.top];
      return seen.z < 1 && x >= 0 && y >= 0 && x <= box.width && y <= box.height;
    });
  }

  /** The joint nearest to a place. */
  nearest(place: Vector3): number {
    const distance = (joint: number): number => this.place(joint).distanceTo(place);
    return this.shown.reduce((best, joint) => (distance(joint) < distance(best) ? joint : best), this.shown[0] ?? 0);
  }
}
