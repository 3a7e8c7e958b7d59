/** Turning joints: by the rings, one or several at once, and the mirror image of a pose. */

import { Quaternion } from "three";
import type { Joint, Rotation } from "../messages.ts";
import type { Model } from "../model.ts";
import type { Skeleton } from "../stage/skeleton.ts";

const quaternion = (rotation: Rotation): Quaternion => new Quaternion(...rotation);

/** Rotations of joints at rest, relative to the world. */
export function restInWorld(joints: readonly Joint[]): Quaternion[] {
  const world: Quaternion[] = [];
  for (const { rest, parent } of joints) {
    const above = parent === null ? undefined : world[parent];
    world.push((above?.clone() ?? new Quaternion()).multiply(quaternion(rest)));
  }
  return world;
}

/** Where the joints of a turn were when it began. */
export class Turn {
  private readonly from: Map<number, Quaternion>;
  private readonly world: Quaternion[];

  constructor(
    private readonly model: Model,
    skeleton: Skeleton,
    private readonly joint: number,
  ) {
    const joints = [joint, ...model.along];
    this.from = new Map(joints.map((k) => [k, quaternion(model.pose.get(k) ?? skeleton.local(k))]));
    this.world = restInWorld(model.character?.joints ?? []);
  }

  /** Turns the joint to a rotation relative to its parent, and those along with it about the same direction of the rest pose. */
  to(rotation: Rotation, drag: number | null = null): void {
    const { model, joint, world } = this;
    const own = (this.from.get(joint) ?? new Quaternion()).clone().invert().multiply(quaternion(rotation));
    const frame = world[joint] ?? new Quaternion();
    const turned = frame.clone().multiply(own).multiply(frame.clone().invert());
    for (const [other, from] of this.from) {
      const there = world[other] ?? new Quaternion();
      const along = there.clone().invert().multiply(turned).multiply(there);
      const { x, y, z, w } = other === joint ? quaternion(rotation) : from.clone().multiply(along).normalize();
      model.turn(other, [x, y, z, w], drag);
    }
  }
}

/** The joint on the other side by its name; itself where there is none. */
export function twinOf(joints: readonly Joint[], joint: number): number {
  const name = joints[joint]?.name ?? "";
  const swaps: [RegExp, string, string][] = [
    [/left|right/i, "left", "right"],
    [/(?<![a-z])[lr](?![a-z])/i, "l", "r"],
  ];
  for (const [side, one, other] of swaps) {
    const twin = name.replace(side, (found) => {
      const to = found.toLowerCase() === one ? other : one;
      if (found === found.toUpperCase()) return to.toUpperCase();
      return found.charAt(0) === found.charAt(0).toUpperCase() ? to.charAt(0).toUpperCase() + to.slice(1) : to;
    });
    const at = twin === name ? -1 : joints.findIndex((other) => other.name === twin);
    if (at >= 0) return at;
  }
  return joint;
}

/** The pose as a mirror has it: what the left did the right does. Sideways is x, and the rest pose is symmetric. */
export function mirrored(joints: readonly Joint[], pose: ReadonlyMap<number, Rotation>): Map<number, Rotation> {
  const world = restInWorld(joints);
  const image = new Map<number, Rotation>();
  for (const [joint, rotation] of pose) {
    const twin = twinOf(joints, joint);
    const [here, there, rest] = [world[joint], world[twin], joints[joint]?.rest];
    const restThere = joints[twin]?.rest;
    if (!here || !there || !rest || !restThere) continue;
    const turn = quaternion(rest).invert().multiply(quaternion(rotation));
    const { x, y, z, w } = here.clone().multiply(turn).multiply(here.clone().invert());
    const seen = new Quaternion(x, -y, -z, w);
    const q = quaternion(restThere).multiply(there.clone().invert().multiply(seen).multiply(there)).normalize();
    image.set(twin, [q.x, q.y, q.z, q.w]);
  }
  return image;
}

/** All joints of the skin below one, nearest first. */
export function below(joints: readonly Joint[], joint: number): number[] {
  const found: number[] = [];
  joints.forEach(({ parent, in_skin }, k) => {
    if (in_skin && parent !== null && (parent === joint || found.includes(parent))) found.push(k);
  });
  return found;
}
