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

/** The region of a muscle by the bones it is fixed to: that of what it moves where that is far from the trunk, else its origin's. */
export function regionBetween(origin: string, insertion: string): string {
  const [from, to] = [regionOf(origin), regionOf(insertion)];
  if (to === "Legs" || to === "Head and neck") return to;
  if (to === "Feet") return from === "Feet" ? from : "Legs";
  if (to === "Hands") return from === "Hands" ? from : "Arms";
  return from;
}

/** Regions in the order in which people look at a body. */
export const ORDER = ["Head and neck", "Trunk", "Arms", "Hands", "Legs", "Feet", "Other"];
