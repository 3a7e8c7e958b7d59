/** Rotations by hand as people read them: degrees about a joint's own axes, from where it is at rest. */

import { Euler, MathUtils, Quaternion } from "three";
import type { Rotation, Vector } from "./messages.ts";

/** Radians within which two rotations are the same. */
const SAME = 1e-4;

/** What was typed last: other angles may stand for the same rotation. */
let typed: { degrees: Vector; turn: Quaternion } | null = null;

/** Degrees about x, then y, then z, from the rotation at rest to another. */
export function degreesOf(rest: Rotation, rotation: Rotation): Vector {
  const turn = new Quaternion(...rest).invert().multiply(new Quaternion(...rotation)).normalize();
  if (typed !== null && typed.turn.angleTo(turn) < SAME) return typed.degrees;
  const { x, y, z } = new Euler().setFromQuaternion(turn, "XYZ");
  return [x, y, z].map((angle) => MathUtils.radToDeg(angle)) as Vector;
}

/** The rotation that many degrees from the one at rest. */
export function rotationOf(rest: Rotation, degrees: Vector): Rotation {
  const [x, y, z] = degrees.map((angle) => MathUtils.degToRad(angle)) as Vector;
  const turn = new Quaternion().setFromEuler(new Euler(x, y, z, "XYZ"));
  typed = { degrees, turn };
  return new Quaternion(...rest).multiply(turn).normalize().toArray();
}
