/** Regions of the body, by the names of bones. */

const REGIONS: [string, RegExp][] = [
  ["Head and neck", /head|neck|jaw|eye|skull/i],
  ["Hands", /hand|wrist|finger|thumb|index|middle|ring|pinky|little|palm/i],
  ["Arms", /arm|elbow|shoulder|clavicle|biceps/i],
  ["Feet", /foot|toe|ankle|heel/i],
  ["Legs", /leg|thigh|knee|calf|shin|femur|tibia/i],
  ["Trunk", /spine|chest|hip|pelvis|torso|waist|rib|back|root/i],
];

/** The region a bone is in. */
export function regionOf(bone: string): string {
  return REGIONS.find(([, name]) => name.test(bone))?.[0] ?? "Other";
}

/** Regions in the order in which people look at a body. */
export const ORDER = ["Head and neck", "Trunk", "Arms", "Hands", "Legs", "Feet", "Other"];
