/** How far a joint turns by hand. */

import { Quaternion } from "three";
import type { Joint, Rotation } from "./messages.ts";

/** The rotation, or the last one on the way to it that the joint's limit allows. */
export function within({ rest, limit }: Joint, rotation: Rotation): Rotation {
  if (limit === null) return rotation;
  const [from, to] = [new Quaternion(...rest), new Quaternion(...rotation)];
  const angle = (from.angleTo(to) * 180) / Math.PI;
  if (angle <= limit) return rotation;
  const { x, y, z, w } = from.slerp(to, limit / angle);
  return [x, y, z, w];
}
