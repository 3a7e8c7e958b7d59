/**
 * What an anatomy file may hold: types, and what the panels show of each key. Made from the table of keys of the engine; do
 * not edit it by hand (`UPDATE=1 cargo test -p ecorche --test anatomy_reference` writes it again).
 */

/** The implicit skin: how the parts of the skin become fields, meet, and are tracked. */
export type Skin = {
  /** How the fields of two bones meet at a joint that names no operator. Absent: contact; with the tracking of 2012, blend. */
  operator: "union" | "ricci" | "clean-union" | "gradient-blend" | "blend" | "bulge" | "contact" | "detail" | "clean-open-union" | null;
  /** When the operator opens, by the angle between the gradients of the two fields: a name or a curve of your own. Absent: the one that suits the operator. */
  controller: "elbow" | "finger" | "bulge" | "contact" | "late-contact" | ControllerCurve | null;
  /** Fewest and most points that a part's field is fitted to. More follow the skin closer and take longer. */
  samples: [number, number];
  /** Cells along the longest side of the table of a part's field. */
  grid: number;
  /** How vertices find their place in the field: our scheme, or those of two papers. */
  tracking: "robust" | "2012" | "2014";
  /** What the papers' schemes do differently. */
  scheme: Scheme;
  /** The skinning that tracking starts from: linear blending, dual quaternions, or centres of rotation. */
  start: "lbs" | "dqs" | "cor";
  /** How far from a joint the caps that close a part may lie, in distances from the joint to the skin. */
  closure: number;
  /** Gap left between parts that touch, in radii of the limb. */
  gap: number;
  /** How far skin beside a contact may move from its skinned place, in inner radii of its part. */
  max_offset: number;
  /** How the skin lies over muscles that meet: rounded in grooves, or close to each, which shows every outline. */
  blend: "fillet" | "detail";
  /** What becomes of characters of several pieces: roles by what is measured, all pieces as one skin, or skinning alone. */
  layers: "auto" | "one" | "off";
  /** How much of the muscles' motion shows on the skin: 0 soft, 1 lean, 1.5 as in comics. */
  definition: number;
  /** How muscles are solved in time: all links of a fibre together, link by link, or as in the thesis, where stiffness depends on the step. */
  solver: "direct" | "xpbd" | "pbd";
  /** Joints with settings of their own, by name. */
  joint: Record<string, JointSettings>;
};

/** A controller's curve through three points. */
export type ControllerCurve = {
  /** Three points [angle, opening], angles rising. */
  points: [[number, number], [number, number], [number, number]];
  /** How fast the curve leaves the middle point, to either side. Below 1 is faster. */
  steepness: [number, number];
  /** Whether the points are given by the angle between the gradients, in radians, or by its cosine. */
  over: "angle" | "cosine";
  /** Whether openings are amounts from 0 to 1 or the operator's theta from 0 to pi/4, in radians. */
  opening: "theta" | "amount";
};

/** Settings of the papers' schemes of tracking, for comparisons. Without effect on the robust one. */
export type Scheme = {
  /** Largest turn of a joint in a substep of 2014. Absent: 0.1745, 10 degrees. */
  step: number | null;
  /** 2012: where the gradient turns by more, skin is in contact. 2014: fields whose gradients differ by less are neighbours, and do not press on each other. Absent: 0.96 for 2012, 1.484 for 2014. */
  contact_angle: number | null;
  /** 2012: steps towards the surface. 2014: relaxations that end a substep. Absent: 16 for 2012, 6 for 2014. */
  iterations: number | null;
  /** Whether skin around contacts is smoothed at the end. */
  smoothing: boolean;
  /** The papers' own numbers without what was added to them: in 2014 no smoothing, and no pass that keeps skin on its own side. */
  printed: boolean;
};

/** What one joint does differently. */
export type JointSettings = {
  /** How the fields of this bone and its parent meet. Absent: the skin's operator. */
  operator: "union" | "ricci" | "clean-union" | "gradient-blend" | "blend" | "bulge" | "contact" | "detail" | "clean-open-union" | null;
  /** When the operator opens. Absent: the skin's, or the one that suits the joint's own operator. */
  controller: "elbow" | "finger" | "bulge" | "contact" | "late-contact" | ControllerCurve | null;
  /** Changes of the points that the field of this bone goes through. */
  samples: SampleChanges;
};

/** Changes of the points that a bone's field goes through, along the axes of its joint. */
export type SampleChanges = {
  /** Further points: place and outward normal, [x, y, z, nx, ny, nz]. */
  add: [number, number, number, number, number, number][];
  /** Places whose nearest points are left out. */
  remove: [number, number, number][];
};

/** Creases of compressed skin. Where they lie and which way they run follows from what the skin goes through when joints bend, so the table may be empty. With it in the file, skin wrinkles. */
export type Wrinkles = {
  /** From crease to crease at rest; the mesh needs four edges for one. Absent: a share of the limb's radius at each joint. */
  wavelength: number | null;
  /** The wavelength in radii of the limb where none is given. */
  share: number;
  /** Scale of the heights; 1 gives back most of the length that compressed skin loses. */
  gain: number;
  /** Share of its length that skin may lose before it wrinkles. */
  onset: number;
  /** Share of its length over which wrinkles appear. Lower: sooner, and more suddenly. */
  ramp: number;
  /** How much narrower valleys are than ridges; 0 is a sine. */
  sharpness: number;
  /** What wrinkles are made of: stripes, as high as the skin loses length, or the thesis' ridges around curves. */
  system: "stripes" | "thesis";
  /** Settings of the thesis' ridges. */
  thesis: Thesis;
  /** Directions in which the same skin may wrinkle: as bending folds it, and as twist folds it to either side. */
  patterns: number;
  /** How much deeper than other wrinkles the crease is that a joint folds along; 0 places none. */
  creases: number;
  /** Clips of the character whose poses count beside the range of motion. */
  clips: string[];
  /** Creases drawn on the skin. */
  stroke: Stroke[];
  /** Places with a mask or a direction of their own; later ones lie over those before. */
  dab: Dab[];
  /** Joints whose skin wrinkles. Empty: all. */
  joints: string[];
  /** Joints with settings of their own, by name. */
  joint: Record<string, JointWrinkles>;
};

/** Ridges around curves of the skin, of the system thesis. */
export type Thesis = {
  /** Where curves come from: grown along gradients of the angle between two bones' fields, or the ridges of the stripes. */
  curves: "grown" | "stripes";
  /** Of a wrinkle; never less than 1.2 edges of the mesh. Absent: a share of the limb's. */
  radius: number | null;
  /** Radius of a wrinkle in radii of the limb. */
  share: number;
  /** Largest angle between gradients one after the other on a curve, degrees. */
  direction: number;
  /** Angle between the gradients of both bones from which a curve may begin, degrees. */
  seed_angle: number;
  /** Angle below which a curve ends, degrees. */
  least_angle: number;
  /** How much both bones must hold the skin of a curve. */
  field: number;
  /** Cosine between the skin's normal and the folding side from which skin wrinkles. */
  facing: number;
  /** Least distance between curves, in radii of a wrinkle. */
  seed_distance: number;
  /** How deep the axis of a wrinkle that shows fully lies below the skin, in its radii. Less is higher. */
  sunk: number;
  /** Bend of the joint at which wrinkles appear and from which they show fully, degrees. */
  ramp: [number, number];
  /** Curves hold to the direction of edges. */
  topology_bias: boolean;
};

/** A crease drawn on the skin, such as a line of the palm. */
export type Stroke = {
  /** The bone whose coordinates the points are in. Absent: those of bind space. */
  bone: string | null;
  /** On the skin at rest, one after the other along the crease. */
  points: [number, number, number][];
  /** How much deeper than other wrinkles the crease is. */
  depth: number;
  /** The least mask on the crease. */
  mask: number;
  /** How far from the crease the skin still folds across it. */
  width: number;
};

/** A ball in which the skin has a mask or a direction of its own. */
export type Dab = {
  /** The bone whose coordinates it is in. Absent: those of bind space. */
  bone: string | null;
  /** Its middle. */
  at: [number, number, number];
  /** It holds fully within half of this. */
  radius: number;
  /** How much the skin may wrinkle; 0 is not at all. Absent: as found. */
  mask: number | null;
  /** Along which the skin is compressed: creases run across. Absent: as found. */
  direction: [number, number, number] | null;
};

/** What the skin of one joint does differently. */
export type JointWrinkles = {
  /** From crease to crease at rest. Absent: as for all joints. */
  wavelength: number | null;
  /** Scale of the heights; 0 leaves the joint smooth. Absent: as for all joints. */
  gain: number | null;
};

/** Connected pieces of the surface (clothes, plates, hair) and what they are to the body. Those are meant that have all of mesh, material and index that are given. A later entry holds over an earlier one. */
export type Piece = {
  /** Name of the mesh that most of the piece is of. */
  mesh: string | null;
  /** Name of the material that most of the piece has. */
  material: string | null;
  /** Number of the piece in the list of pieces, from 0. */
  index: number | null;
  /** Skin is tracked; worn pieces follow the skin under them; rigid and loose ones move by skinning, as a whole with the skin they lie on. */
  role: "auto" | "skin" | "worn" | "rigid" | "loose";
  /** Meshes or materials whose skin alone a piece follows. Empty: all skin. */
  on: string[];
  /** Meshes or materials that a piece is separated from although they meet in the bind pose. */
  apart: string[];
};

/** A muscle. With one point at each end it is a spindle. With a list of points as origin or insertion it is a fan of fibres, edited as one. */
export type Muscle = {
  /** Name without the side. */
  name: string;
  /** Which side of the body. Name and side together are unique. */
  side: "left" | "right" | "middle";
  /** Whether this entry also stands for its mirror image on the other side. */
  mirror: boolean;
  /** Where it starts: a point, or a list of points. */
  origin: Attachment | Attachment[];
  /** Where it ends: a point, or a list of points. */
  insertion: Attachment | Attachment[];
  /** Points that its axis passes between origin and insertion. */
  via: Attachment[];
  /** Fibres between the curves at its ends; 1 for points. */
  fibres: number;
  /** Moving points of the axis, ends included. */
  particles: number;
  /** Mean radius in the bind pose. The volume follows from it and is kept. */
  width: number;
  /** Shape of the cross section. 0 is round, near 1 is flat. */
  eccentricity: number;
  /** Direction of the long side of the cross section in the bind pose, along the axes of the origin's joint. Absent: along the curve of a list of points, else flat on the nearest bone. */
  wide_axis: [number, number, number] | null;
  /** How thickness is spread along it, slack and tense. */
  profile: Profiles;
  /** When it tenses. */
  activation: Activation;
  /** Multiplies the width without regard for the volume. */
  gain: number;
  /** Tension of the slack muscle. More makes it swing faster and less far. */
  tone: number;
  /** Further tension when fully active. */
  strength: number;
  /** Share of the length that is tendon, at each end. */
  tendon: number;
  /** Axial stiffness of the tendons: force per unit of strain. */
  stiffness: number;
  /** Loss of speed. 8 swings, 25 hardly. */
  damping: number;
  /** Friction against bones and other muscles. 0 slides freely. */
  friction: number;
  /** What it cannot pass through. */
  collide: Collide;
  /** How much of its motion shows on the skin; multiplies the skin's own definition. */
  definition: number;
  /** Bones whose skin it deforms. Empty: those under whose skin it lies in the bind pose. */
  parts: string[];
};

/** A point fixed to a bone. */
export type Attachment = {
  /** Name of the joint the bone starts at. */
  bone: string;
  /** Where it is, along the axes of that joint. */
  at: [number, number, number];
};

/** How thickness is spread along a muscle: two powers [a, b], { peak = ... } or { sines = [...] }. Equal powers put the belly in the middle, a smaller first one towards the origin. Larger powers make it shorter and thicker. */
export type Profiles = {
  /** The profile when slack. */
  rest: [number, number] | CubicProfile | SineProfile;
  /** The profile when fully tense. */
  active: [number, number] | CubicProfile | SineProfile;
};

/** Two cubic slopes that meet where the muscle is thickest. */
export type CubicProfile = {
  /** Where the muscle is thickest, as a share of its length from the origin. */
  peak: number;
};

/** A sum of sines. */
export type SineProfile = {
  /** Weights of sin(pi s), sin(2 pi s), and so on. Their common scale does not matter. */
  sines: number[];
};

/** When a muscle tenses where no keys say it. */
export type Activation = {
  /** What tenses the muscle: how much it shortens, the angle of its joints, the larger of both (pose), or nothing (constant). */
  from: "pose" | "shortening" | "angle" | "constant";
  /** Multiplies the activation. 0 leaves the muscle slack, 2 tenses it twice as early. */
  gain: number;
  /** Activation in the bind pose. */
  base: number;
  /** Share of the bind length by which the muscle must shorten to be fully tense, before the gain. */
  full_shortening: number;
  /** Angle of its joints at which the muscle is fully tense, before the gain. */
  full_angle: number;
  /** Pairs of activation before and after, with straight lines between. Empty changes nothing. */
  curve: [number, number][];
};

/** What a muscle cannot pass through. */
export type Collide = {
  /** Stays out of bones. */
  bones: boolean;
  /** Stays out of other muscles; both move. */
  muscles: boolean;
  /** Stays inside the skin of the parts it lies under. */
  skin: boolean;
};

/** A muscle of two curves along a line between two bones, for the method parametric: cheap enough for crowds. */
export type Parametric = {
  /** Name without the side. */
  name: string;
  /** Which side of the body. Name and side together are unique. */
  side: "left" | "right" | "middle";
  /** Whether this entry also stands for its mirror image on the other side. */
  mirror: boolean;
  /** Where its line starts. */
  origin: Attachment;
  /** Where its line ends. */
  insertion: Attachment;
  /** Points that the whole muscle passes, tendons included, if the line is only its belly. The belly shortens about its centre as this path does. Empty: the line itself. */
  path: Attachment[];
  /** Where the skin moves when the muscle thickens, in the bind pose, along the axes of the origin's joint. At least 5 degrees from the line. */
  bulge: [number, number, number];
  /** Where the belly's centre is, as a share of the line from the origin. */
  centre: number;
  /** Half thickness across the bulge direction: at the origin, its handle, the handle before the centre, at the centre, the handle before the insertion, at the insertion. The volume follows from it and is kept. */
  thickness: [number, number, number, number, number, number];
  /** How far the sections lie beside the line at the same six points: across the bulge direction and along it. */
  sweep: [[number, number], [number, number], [number, number], [number, number], [number, number], [number, number]];
  /** Half thickness along the bulge direction over the one across it. Below 1 the muscle lies flat. */
  flatness: number;
  /** Which skin of its bones it moves: within the radius around the line, on the side it bulges to, or straight above it. */
  template: "radial" | "half-space" | "fitted";
  /** How far from the line skin moves with the radial template. */
  radius: number;
  /** How much of its motion that skin shows: all, for lean places, or in proportion to the thickness below, for fatty ones. */
  weights: "binary" | "spline";
  /** By how much it thickens along the bulge direction when fully active, as a share; it narrows as much across. */
  tension: number;
  /** When it tenses. */
  activation: Activation;
  /** Bones whose skin it moves. Empty: those of its ends and those between. */
  parts: string[];
};

/** A fat pad: an ellipsoid that hangs on a bone and jiggles. */
export type Fat = {
  /** Name without the side. */
  name: string;
  /** Which side of the body. Name and side together are unique. */
  side: "left" | "right" | "middle";
  /** Whether this entry also stands for its mirror image on the other side. */
  mirror: boolean;
  /** Name of the joint it hangs on. */
  bone: string;
  /** Its middle, along the axes of that joint. */
  at: [number, number, number];
  /** Half axes. */
  radii: [number, number, number];
  /** Directions of the first two half axes, made perpendicular. Absent: the axes of the joint. */
  axes: [[number, number, number], [number, number, number]] | null;
  /** Stiffness of its ties over its mass. It swings at sqrt(stiffness) / 2 pi; 500 is 3.6 Hz. */
  stiffness: number;
  /** Loss of speed. */
  damping: number;
  /** Bones whose skin it deforms. Empty: those under whose skin it lies in the bind pose. */
  parts: string[];
};

/** The solid part of a bone, which muscles cannot enter. A bone without entry is a capsule to each child. */
export type Bone = {
  /** Name of the joint the bone starts at. */
  bone: string;
  /** Radius of the capsule; 0 for nothing solid. Absent: 3.5 % of the bone's length. */
  radius: number | null;
  /** Ends of the capsule, along the axes of the joint. Absent: from the joint to each child. */
  ends: [[number, number, number], [number, number, number]] | null;
  /** A closed surface instead of the capsule: OBJ, PLY or VTP, relative to the anatomy file. */
  mesh: string | null;
  /** What to multiply the coordinates of the surface by to get metres. */
  mesh_scale: number;
  /** Whether the surface is in bind space and not along the axes of the joint. */
  mesh_in_bind_space: boolean;
};

/** A parameter of a muscle that changes over a clip. */
export type Keys = {
  /** Name of the clip. */
  clip: string;
  /** Name of the muscle. */
  muscle: string;
  /** Side of the muscle. */
  side: "left" | "right" | "middle";
  /** What changes. Stiffness multiplies tone, strength and stiffness; the others replace the muscle's. */
  parameter: "activation" | "gain" | "eccentricity" | "stiffness";
  /** Pairs of time in seconds and value, with straight lines between. The ends are held. */
  values: [number, number][];
};

/** What a panel shows of a key. A slider shows the file's number times `scale`, in `unit`. */
export interface KeyInfo {
  label: string;
  about: string;
  choices?: readonly string[];
  slider?: { min: number; max: number; step: number; scale: number; unit: string };
}

/** The keys of each table. */
export const KEYS = {
  Skin: {
    operator: { label: "Operator", about: "How the fields of two bones meet at a joint that names no operator. Absent: contact; with the tracking of 2012, blend.", choices: ["union", "ricci", "clean-union", "gradient-blend", "blend", "bulge", "contact", "detail", "clean-open-union"] },
    controller: { label: "Controller", about: "When the operator opens, by the angle between the gradients of the two fields: a name or a curve of your own. Absent: the one that suits the operator.", choices: ["elbow", "finger", "bulge", "contact", "late-contact"] },
    samples: { label: "Samples", about: "Fewest and most points that a part's field is fitted to. More follow the skin closer and take longer.", slider: { min: 50, max: 600, step: 10, scale: 1, unit: "" } },
    grid: { label: "Grid", about: "Cells along the longest side of the table of a part's field." },
    tracking: { label: "Tracking", about: "How vertices find their place in the field: our scheme, or those of two papers.", choices: ["robust", "2012", "2014"] },
    scheme: { label: "Scheme", about: "What the papers' schemes do differently." },
    start: { label: "Start", about: "The skinning that tracking starts from: linear blending, dual quaternions, or centres of rotation.", choices: ["lbs", "dqs", "cor"] },
    closure: { label: "Closure", about: "How far from a joint the caps that close a part may lie, in distances from the joint to the skin.", slider: { min: 0, max: 3, step: 0.05, scale: 1, unit: "×" } },
    gap: { label: "Gap", about: "Gap left between parts that touch, in radii of the limb.", slider: { min: 0, max: 0.5, step: 0.005, scale: 1, unit: "× r" } },
    max_offset: { label: "Max offset", about: "How far skin beside a contact may move from its skinned place, in inner radii of its part.", slider: { min: 0, max: 2, step: 0.01, scale: 1, unit: "× r" } },
    blend: { label: "Blend", about: "How the skin lies over muscles that meet: rounded in grooves, or close to each, which shows every outline.", choices: ["fillet", "detail"] },
    layers: { label: "Layers", about: "What becomes of characters of several pieces: roles by what is measured, all pieces as one skin, or skinning alone.", choices: ["auto", "one", "off"] },
    definition: { label: "Definition", about: "How much of the muscles' motion shows on the skin: 0 soft, 1 lean, 1.5 as in comics.", slider: { min: 0, max: 2, step: 0.05, scale: 1, unit: "×" } },
    solver: { label: "Solver", about: "How muscles are solved in time: all links of a fibre together, link by link, or as in the thesis, where stiffness depends on the step.", choices: ["direct", "xpbd", "pbd"] },
    joint: { label: "Joint", about: "Joints with settings of their own, by name." },
  },
  ControllerCurve: {
    points: { label: "Points", about: "Three points [angle, opening], angles rising." },
    steepness: { label: "Steepness", about: "How fast the curve leaves the middle point, to either side. Below 1 is faster." },
    over: { label: "Over", about: "Whether the points are given by the angle between the gradients, in radians, or by its cosine.", choices: ["angle", "cosine"] },
    opening: { label: "Opening", about: "Whether openings are amounts from 0 to 1 or the operator's theta from 0 to pi/4, in radians.", choices: ["theta", "amount"] },
  },
  Scheme: {
    step: { label: "Step", about: "Largest turn of a joint in a substep of 2014. Absent: 0.1745, 10 degrees." },
    contact_angle: { label: "Contact angle", about: "2012: where the gradient turns by more, skin is in contact. 2014: fields whose gradients differ by less are neighbours, and do not press on each other. Absent: 0.96 for 2012, 1.484 for 2014." },
    iterations: { label: "Iterations", about: "2012: steps towards the surface. 2014: relaxations that end a substep. Absent: 16 for 2012, 6 for 2014." },
    smoothing: { label: "Smoothing", about: "Whether skin around contacts is smoothed at the end." },
    printed: { label: "Printed", about: "The papers' own numbers without what was added to them: in 2014 no smoothing, and no pass that keeps skin on its own side." },
  },
  JointSettings: {
    operator: { label: "Operator", about: "How the fields of this bone and its parent meet. Absent: the skin's operator.", choices: ["union", "ricci", "clean-union", "gradient-blend", "blend", "bulge", "contact", "detail", "clean-open-union"] },
    controller: { label: "Controller", about: "When the operator opens. Absent: the skin's, or the one that suits the joint's own operator.", choices: ["elbow", "finger", "bulge", "contact", "late-contact"] },
    samples: { label: "Samples", about: "Changes of the points that the field of this bone goes through." },
  },
  SampleChanges: {
    add: { label: "Add", about: "Further points: place and outward normal, [x, y, z, nx, ny, nz]." },
    remove: { label: "Remove", about: "Places whose nearest points are left out." },
  },
  Wrinkles: {
    wavelength: { label: "Wavelength", about: "From crease to crease at rest; the mesh needs four edges for one. Absent: a share of the limb's radius at each joint.", slider: { min: 1, max: 60, step: 0.5, scale: 1000, unit: "mm" } },
    share: { label: "Share", about: "The wavelength in radii of the limb where none is given.", slider: { min: 0.1, max: 1.5, step: 0.05, scale: 1, unit: "× r" } },
    gain: { label: "Gain", about: "Scale of the heights; 1 gives back most of the length that compressed skin loses.", slider: { min: 0, max: 2, step: 0.05, scale: 1, unit: "×" } },
    onset: { label: "Onset", about: "Share of its length that skin may lose before it wrinkles.", slider: { min: 0, max: 0.2, step: 0.005, scale: 1, unit: "" } },
    ramp: { label: "Ramp", about: "Share of its length over which wrinkles appear. Lower: sooner, and more suddenly.", slider: { min: 0.01, max: 0.2, step: 0.005, scale: 1, unit: "" } },
    sharpness: { label: "Sharpness", about: "How much narrower valleys are than ridges; 0 is a sine.", slider: { min: 0, max: 0.25, step: 0.01, scale: 1, unit: "" } },
    system: { label: "System", about: "What wrinkles are made of: stripes, as high as the skin loses length, or the thesis' ridges around curves.", choices: ["stripes", "thesis"] },
    thesis: { label: "Thesis", about: "Settings of the thesis' ridges." },
    patterns: { label: "Patterns", about: "Directions in which the same skin may wrinkle: as bending folds it, and as twist folds it to either side." },
    creases: { label: "Creases", about: "How much deeper than other wrinkles the crease is that a joint folds along; 0 places none.", slider: { min: 0, max: 2, step: 0.05, scale: 1, unit: "" } },
    clips: { label: "Clips", about: "Clips of the character whose poses count beside the range of motion." },
    stroke: { label: "Stroke", about: "Creases drawn on the skin." },
    dab: { label: "Dab", about: "Places with a mask or a direction of their own; later ones lie over those before." },
    joints: { label: "Joints", about: "Joints whose skin wrinkles. Empty: all." },
    joint: { label: "Joint", about: "Joints with settings of their own, by name." },
  },
  Thesis: {
    curves: { label: "Curves", about: "Where curves come from: grown along gradients of the angle between two bones' fields, or the ridges of the stripes.", choices: ["grown", "stripes"] },
    radius: { label: "Radius", about: "Of a wrinkle; never less than 1.2 edges of the mesh. Absent: a share of the limb's.", slider: { min: 0.1, max: 20, step: 0.1, scale: 1000, unit: "mm" } },
    share: { label: "Share", about: "Radius of a wrinkle in radii of the limb.", slider: { min: 0.01, max: 0.3, step: 0.01, scale: 1, unit: "" } },
    direction: { label: "Direction", about: "Largest angle between gradients one after the other on a curve, degrees.", slider: { min: 0, max: 90, step: 1, scale: 1, unit: "" } },
    seed_angle: { label: "Seed angle", about: "Angle between the gradients of both bones from which a curve may begin, degrees.", slider: { min: 0, max: 90, step: 1, scale: 1, unit: "" } },
    least_angle: { label: "Least angle", about: "Angle below which a curve ends, degrees.", slider: { min: 0, max: 90, step: 1, scale: 1, unit: "" } },
    field: { label: "Field", about: "How much both bones must hold the skin of a curve.", slider: { min: 0, max: 1, step: 0.05, scale: 1, unit: "" } },
    facing: { label: "Facing", about: "Cosine between the skin's normal and the folding side from which skin wrinkles.", slider: { min: -1, max: 1, step: 0.05, scale: 1, unit: "" } },
    seed_distance: { label: "Seed distance", about: "Least distance between curves, in radii of a wrinkle.", slider: { min: 0, max: 10, step: 0.1, scale: 1, unit: "" } },
    sunk: { label: "Sunk", about: "How deep the axis of a wrinkle that shows fully lies below the skin, in its radii. Less is higher.", slider: { min: -0.5, max: 1, step: 0.05, scale: 1, unit: "" } },
    ramp: { label: "Ramp", about: "Bend of the joint at which wrinkles appear and from which they show fully, degrees." },
    topology_bias: { label: "Topology bias", about: "Curves hold to the direction of edges." },
  },
  Stroke: {
    bone: { label: "Bone", about: "The bone whose coordinates the points are in. Absent: those of bind space." },
    points: { label: "Points", about: "On the skin at rest, one after the other along the crease." },
    depth: { label: "Depth", about: "How much deeper than other wrinkles the crease is.", slider: { min: 0, max: 2, step: 0.05, scale: 1, unit: "" } },
    mask: { label: "Mask", about: "The least mask on the crease.", slider: { min: 0, max: 1, step: 0.05, scale: 1, unit: "" } },
    width: { label: "Width", about: "How far from the crease the skin still folds across it.", slider: { min: 1, max: 60, step: 0.5, scale: 1000, unit: "mm" } },
  },
  Dab: {
    bone: { label: "Bone", about: "The bone whose coordinates it is in. Absent: those of bind space." },
    at: { label: "At", about: "Its middle." },
    radius: { label: "Radius", about: "It holds fully within half of this.", slider: { min: 1, max: 200, step: 1, scale: 1000, unit: "mm" } },
    mask: { label: "Mask", about: "How much the skin may wrinkle; 0 is not at all. Absent: as found.", slider: { min: 0, max: 1, step: 0.05, scale: 1, unit: "" } },
    direction: { label: "Direction", about: "Along which the skin is compressed: creases run across. Absent: as found." },
  },
  JointWrinkles: {
    wavelength: { label: "Wavelength", about: "From crease to crease at rest. Absent: as for all joints.", slider: { min: 1, max: 60, step: 0.5, scale: 1000, unit: "mm" } },
    gain: { label: "Gain", about: "Scale of the heights; 0 leaves the joint smooth. Absent: as for all joints.", slider: { min: 0, max: 2, step: 0.05, scale: 1, unit: "×" } },
  },
  Piece: {
    mesh: { label: "Mesh", about: "Name of the mesh that most of the piece is of." },
    material: { label: "Material", about: "Name of the material that most of the piece has." },
    index: { label: "Index", about: "Number of the piece in the list of pieces, from 0." },
    role: { label: "Role", about: "Skin is tracked; worn pieces follow the skin under them; rigid and loose ones move by skinning, as a whole with the skin they lie on.", choices: ["auto", "skin", "worn", "rigid", "loose"] },
    on: { label: "On", about: "Meshes or materials whose skin alone a piece follows. Empty: all skin." },
    apart: { label: "Apart", about: "Meshes or materials that a piece is separated from although they meet in the bind pose." },
  },
  Muscle: {
    name: { label: "Name", about: "Name without the side." },
    side: { label: "Side", about: "Which side of the body. Name and side together are unique.", choices: ["left", "right", "middle"] },
    mirror: { label: "Mirror", about: "Whether this entry also stands for its mirror image on the other side." },
    origin: { label: "Origin", about: "Where it starts: a point, or a list of points." },
    insertion: { label: "Insertion", about: "Where it ends: a point, or a list of points." },
    via: { label: "Via", about: "Points that its axis passes between origin and insertion." },
    fibres: { label: "Fibres", about: "Fibres between the curves at its ends; 1 for points." },
    particles: { label: "Particles", about: "Moving points of the axis, ends included." },
    width: { label: "Width", about: "Mean radius in the bind pose. The volume follows from it and is kept.", slider: { min: 1, max: 80, step: 0.1, scale: 1000, unit: "mm" } },
    eccentricity: { label: "Eccentricity", about: "Shape of the cross section. 0 is round, near 1 is flat.", slider: { min: 0, max: 0.98, step: 0.01, scale: 1, unit: "" } },
    wide_axis: { label: "Wide axis", about: "Direction of the long side of the cross section in the bind pose, along the axes of the origin's joint. Absent: along the curve of a list of points, else flat on the nearest bone." },
    profile: { label: "Profile", about: "How thickness is spread along it, slack and tense." },
    activation: { label: "Activation", about: "When it tenses." },
    gain: { label: "Gain", about: "Multiplies the width without regard for the volume.", slider: { min: 0.2, max: 3, step: 0.01, scale: 1, unit: "×" } },
    tone: { label: "Tone", about: "Tension of the slack muscle. More makes it swing faster and less far.", slider: { min: 0.5, max: 40, step: 0.5, scale: 1, unit: "N" } },
    strength: { label: "Strength", about: "Further tension when fully active.", slider: { min: 0, max: 80, step: 0.5, scale: 1, unit: "N" } },
    tendon: { label: "Tendon", about: "Share of the length that is tendon, at each end.", slider: { min: 0, max: 45, step: 1, scale: 100, unit: "%" } },
    stiffness: { label: "Stiffness", about: "Axial stiffness of the tendons: force per unit of strain.", slider: { min: 20, max: 2000, step: 10, scale: 1, unit: "N" } },
    damping: { label: "Damping", about: "Loss of speed. 8 swings, 25 hardly.", slider: { min: 0, max: 40, step: 0.5, scale: 1, unit: "1/s" } },
    friction: { label: "Friction", about: "Friction against bones and other muscles. 0 slides freely.", slider: { min: 0, max: 1, step: 0.05, scale: 1, unit: "" } },
    collide: { label: "Collide", about: "What it cannot pass through." },
    definition: { label: "Definition", about: "How much of its motion shows on the skin; multiplies the skin's own definition.", slider: { min: 0, max: 2, step: 0.05, scale: 1, unit: "×" } },
    parts: { label: "Parts", about: "Bones whose skin it deforms. Empty: those under whose skin it lies in the bind pose." },
  },
  Attachment: {
    bone: { label: "Bone", about: "Name of the joint the bone starts at." },
    at: { label: "At", about: "Where it is, along the axes of that joint." },
  },
  Profiles: {
    rest: { label: "Rest", about: "The profile when slack." },
    active: { label: "Active", about: "The profile when fully tense." },
  },
  CubicProfile: {
    peak: { label: "Peak", about: "Where the muscle is thickest, as a share of its length from the origin." },
  },
  SineProfile: {
    sines: { label: "Sines", about: "Weights of sin(pi s), sin(2 pi s), and so on. Their common scale does not matter." },
  },
  Activation: {
    from: { label: "From", about: "What tenses the muscle: how much it shortens, the angle of its joints, the larger of both (pose), or nothing (constant).", choices: ["pose", "shortening", "angle", "constant"] },
    gain: { label: "Gain", about: "Multiplies the activation. 0 leaves the muscle slack, 2 tenses it twice as early.", slider: { min: 0, max: 4, step: 0.05, scale: 1, unit: "×" } },
    base: { label: "Base", about: "Activation in the bind pose.", slider: { min: 0, max: 1, step: 0.01, scale: 1, unit: "" } },
    full_shortening: { label: "Full shortening", about: "Share of the bind length by which the muscle must shorten to be fully tense, before the gain." },
    full_angle: { label: "Full angle", about: "Angle of its joints at which the muscle is fully tense, before the gain." },
    curve: { label: "Curve", about: "Pairs of activation before and after, with straight lines between. Empty changes nothing." },
  },
  Collide: {
    bones: { label: "Bones", about: "Stays out of bones." },
    muscles: { label: "Muscles", about: "Stays out of other muscles; both move." },
    skin: { label: "Skin", about: "Stays inside the skin of the parts it lies under." },
  },
  Parametric: {
    name: { label: "Name", about: "Name without the side." },
    side: { label: "Side", about: "Which side of the body. Name and side together are unique.", choices: ["left", "right", "middle"] },
    mirror: { label: "Mirror", about: "Whether this entry also stands for its mirror image on the other side." },
    origin: { label: "Origin", about: "Where its line starts." },
    insertion: { label: "Insertion", about: "Where its line ends." },
    path: { label: "Path", about: "Points that the whole muscle passes, tendons included, if the line is only its belly. The belly shortens about its centre as this path does. Empty: the line itself." },
    bulge: { label: "Bulge", about: "Where the skin moves when the muscle thickens, in the bind pose, along the axes of the origin's joint. At least 5 degrees from the line." },
    centre: { label: "Centre", about: "Where the belly's centre is, as a share of the line from the origin.", slider: { min: 0.05, max: 0.95, step: 0.01, scale: 1, unit: "" } },
    thickness: { label: "Thickness", about: "Half thickness across the bulge direction: at the origin, its handle, the handle before the centre, at the centre, the handle before the insertion, at the insertion. The volume follows from it and is kept." },
    sweep: { label: "Sweep", about: "How far the sections lie beside the line at the same six points: across the bulge direction and along it." },
    flatness: { label: "Flatness", about: "Half thickness along the bulge direction over the one across it. Below 1 the muscle lies flat.", slider: { min: 0.2, max: 2, step: 0.01, scale: 1, unit: "" } },
    template: { label: "Template", about: "Which skin of its bones it moves: within the radius around the line, on the side it bulges to, or straight above it.", choices: ["radial", "half-space", "fitted"] },
    radius: { label: "Radius", about: "How far from the line skin moves with the radial template.", slider: { min: 0, max: 200, step: 1, scale: 1000, unit: "mm" } },
    weights: { label: "Weights", about: "How much of its motion that skin shows: all, for lean places, or in proportion to the thickness below, for fatty ones.", choices: ["binary", "spline"] },
    tension: { label: "Tension", about: "By how much it thickens along the bulge direction when fully active, as a share; it narrows as much across.", slider: { min: 0, max: 1, step: 0.01, scale: 1, unit: "" } },
    activation: { label: "Activation", about: "When it tenses." },
    parts: { label: "Parts", about: "Bones whose skin it moves. Empty: those of its ends and those between." },
  },
  Fat: {
    name: { label: "Name", about: "Name without the side." },
    side: { label: "Side", about: "Which side of the body. Name and side together are unique.", choices: ["left", "right", "middle"] },
    mirror: { label: "Mirror", about: "Whether this entry also stands for its mirror image on the other side." },
    bone: { label: "Bone", about: "Name of the joint it hangs on." },
    at: { label: "At", about: "Its middle, along the axes of that joint." },
    radii: { label: "Radii", about: "Half axes.", slider: { min: 5, max: 300, step: 1, scale: 1000, unit: "mm" } },
    axes: { label: "Axes", about: "Directions of the first two half axes, made perpendicular. Absent: the axes of the joint." },
    stiffness: { label: "Stiffness", about: "Stiffness of its ties over its mass. It swings at sqrt(stiffness) / 2 pi; 500 is 3.6 Hz.", slider: { min: 20, max: 3000, step: 10, scale: 1, unit: "1/s²" } },
    damping: { label: "Damping", about: "Loss of speed.", slider: { min: 0, max: 40, step: 0.5, scale: 1, unit: "1/s" } },
    parts: { label: "Parts", about: "Bones whose skin it deforms. Empty: those under whose skin it lies in the bind pose." },
  },
  Bone: {
    bone: { label: "Bone", about: "Name of the joint the bone starts at." },
    radius: { label: "Radius", about: "Radius of the capsule; 0 for nothing solid. Absent: 3.5 % of the bone's length." },
    ends: { label: "Ends", about: "Ends of the capsule, along the axes of the joint. Absent: from the joint to each child." },
    mesh: { label: "Mesh", about: "A closed surface instead of the capsule: OBJ, PLY or VTP, relative to the anatomy file." },
    mesh_scale: { label: "Mesh scale", about: "What to multiply the coordinates of the surface by to get metres." },
    mesh_in_bind_space: { label: "Mesh in bind space", about: "Whether the surface is in bind space and not along the axes of the joint." },
  },
  Keys: {
    clip: { label: "Clip", about: "Name of the clip." },
    muscle: { label: "Muscle", about: "Name of the muscle." },
    side: { label: "Side", about: "Side of the muscle.", choices: ["left", "right", "middle"] },
    parameter: { label: "Parameter", about: "What changes. Stiffness multiplies tone, strength and stiffness; the others replace the muscle's.", choices: ["activation", "gain", "eccentricity", "stiffness"] },
    values: { label: "Values", about: "Pairs of time in seconds and value, with straight lines between. The ends are held." },
  },
} as const satisfies Record<string, Record<string, KeyInfo>>;
