/** What page and engine say to each other; the engine's side is src/message.rs. */

export const VERSION = 1;

export const Kind = { Character: 1, Document: 2, Frame: 3, Inside: 4, Notice: 5, Bake: 6, Graph: 7 } as const;

export type Look = "lbs" | "dqs" | "cor" | "implicit" | "muscles";
export type Side = "left" | "right" | "middle";
export type Vector = [number, number, number];

export interface Joint {
  name: string;
  parent: number | null;
  in_skin: boolean;
}

export interface Clip {
  name: string;
  fps: number;
  last: number;
}

export interface Group {
  mesh: string;
  material: string;
  start: number;
  count: number;
}

export interface CharacterHead {
  name: string;
  size: number;
  vertices: number;
  triangles: number;
  drawn: number;
  groups: Group[];
  joints: Joint[];
  clips: Clip[];
  quantities: [string, string][];
  operators: string[];
  controllers: string[];
  repairs: number;
}

export interface Character extends CharacterHead {
  indices: Uint32Array;
  uvs: Float32Array;
  sequential: Uint8Array;
  diverging: Uint8Array;
}

export type Controller =
  | string
  | { points: [number, number][]; steepness: [number, number]; over: "angle" | "cosine"; opening: "theta" | "amount" };

/** Changes of the points a bone's field goes through: place and normal, and places left out. */
export interface SampleChanges {
  add: [number, number, number, number, number, number][];
  remove: Vector[];
}

export interface JointSettings {
  operator: string | null;
  controller: Controller | null;
  samples: SampleChanges;
}

export interface Skin {
  operator: string;
  controller: Controller | null;
  samples: [number, number];
  grid: number;
  tracking: string;
  closure: number;
  gap: number;
  leash: number;
  joint: Record<string, JointSettings>;
}

export interface Attachment {
  bone: string;
  at: Vector;
}

export type Profile = [number, number] | { peak: number } | { sines: number[] };

export interface Muscle {
  name: string;
  side: Side;
  mirror?: boolean;
  origin: Attachment | Attachment[];
  insertion: Attachment | Attachment[];
  width: number;
  eccentricity: number;
  profile: { rest: Profile; active: Profile };
  activation: { from: string; gain: number; base: number };
  gain?: number;
  tone: number;
  strength: number;
  tendon: number;
  stiffness: number;
  damping: number;
  friction: number;
  collide: { bones: boolean; muscles: boolean; skin: boolean };
}

export interface Fat {
  name: string;
  side: Side;
  mirror?: boolean;
  bone: string;
  at: Vector;
  radii: Vector;
  stiffness: number;
  damping: number;
}

export interface Keys {
  clip: string;
  muscle: string;
  side: Side;
  parameter: string;
  values: [number, number][];
}

export interface Document {
  revision: number;
  path: string | null;
  unsaved: boolean;
  undo: number;
  redo: number;
  text: string;
  skin: Skin;
  muscle: Muscle[];
  fat: Fat[];
  keys: Keys[];
}

export interface LookHead {
  look: Look;
  shown: Look;
  binding: boolean;
  milliseconds: number;
  fell_back: number;
  contacts: number;
  problem: string | null;
}

export interface Quantity {
  name: string;
  unit: string;
  range: [number, number];
  map: "sequential" | "diverging";
}

export interface FrameHead {
  frame: number;
  view: number;
  at: number;
  last: number;
  fps: number;
  playing: boolean;
  revision: number;
  looks: LookHead[];
  quantity: Quantity | null;
  /** The way of the traced vertex: what moved it, and where to. */
  path: [string, Vector][];
  encoding: number;
  sent: number;
  refused: number;
}

export interface Frame extends FrameHead {
  joints: Float32Array;
  values: Float32Array;
  skins: { positions: Float32Array; normals: Int16Array }[];
}

export interface Tube {
  name: string;
  side: Side;
  rings: number;
  activation: number;
  tension: number;
  stretch: number;
}

export interface Ball {
  name: string;
  side: Side;
  matrix: number[];
}

export interface SliceHead {
  axis: string;
  middle: Vector;
  right: Vector;
  up: Vector;
  half: [number, number];
  columns: number;
  rows: number;
}

export interface InsideHead {
  frame: number;
  sent: number;
  tubes: Tube[];
  sides: number;
  balls: Ball[];
  samples: [number, number];
  surface: { vertices: number; triangles: number } | null;
  slice: SliceHead | null;
  problems: string[];
}

export interface Inside extends InsideHead {
  tubeVertices: Float32Array;
  samplePoints: Float32Array;
  sampleJoints: Uint32Array;
  surfaceVertices: Float32Array;
  surfaceIndices: Uint32Array;
  sliceValues: Float32Array;
}

export interface Notice {
  level: "error" | "done" | "hint";
  text: string;
}

export interface BakeProgress {
  step: number;
  running: boolean;
  done: number;
  frames: number;
  outcome: string;
  failed: boolean;
  files: string[];
}

export interface Graph {
  joint: string;
  operator: string;
  angles: number;
  square: number;
  curve: Float32Array;
  squares: Float32Array;
}

export interface InsideRequest {
  flesh: boolean;
  samples: { bone: string | null } | null;
  surface: { bone: string | null; level: number } | null;
  slice: { axis: string; at: number; bone: string | null } | null;
}

export interface View {
  id: number;
  clip: string | null;
  playing: boolean;
  at: number | null;
  speed: number;
  repeat: boolean;
  pose: [number, [number, number, number, number]][];
  looks: Look[];
  quantity: string | null;
  trace: number | null;
  inside: InsideRequest;
}

/** A value of an anatomy file. */
export type Value = boolean | number | string | Value[] | { [key: string]: Value };

export type Target =
  | "skin"
  | { joint: string }
  | { entry: ["muscle" | "fat", string, Side] }
  | { keys: number };

export type Edit =
  | { set: { target: Target; field: string; value: Value } }
  | { clear: { target: Target; field: string } }
  | { addmuscle: Partial<Muscle> }
  | { addfat: Partial<Fat> }
  | { addkeys: Keys }
  | { remove: Target }
  | { duplicate: { target: Target; name: string } }
  | { mirror: { target: Target; linked: boolean } };

export type Request =
  | { view: View }
  | { drawn: { frame: number } }
  | { edit: { edits: Edit[]; drag: number | null } }
  | "undo"
  | "redo"
  | { save: { path: string | null } }
  | { load: { path: string } }
  | { restore: { text: string } }
  | { bake: { path: string; clip: string | null; method: Look; fps: number | null } }
  | "cancel_bake"
  | { graph: { joint: string } };

export type Message =
  | { kind: "character"; character: Character }
  | { kind: "document"; document: Document }
  | { kind: "frame"; frame: Frame }
  | { kind: "inside"; inside: Inside }
  | { kind: "notice"; notice: Notice }
  | { kind: "bake"; bake: BakeProgress }
  | { kind: "graph"; graph: Graph };

type Numbers = Float32Array | Uint32Array | Int16Array | Uint8Array;

const padded = (length: number): number => (length + 3) & ~3;

/** The head and the arrays of a binary message; the arrays look into `buffer`. */
function open(buffer: ArrayBuffer): { kind: number; head: unknown; arrays: Numbers[] } {
  const words = new DataView(buffer);
  const magic = String.fromCharCode(...new Uint8Array(buffer, 0, 4));
  const version = words.getUint16(4, true);
  if (magic !== "ECRC" || version !== VERSION) {
    throw new Error(`the engine speaks version ${version}, this page ${VERSION}: reload the page`);
  }
  const length = words.getUint32(8, true);
  const count = words.getUint32(12, true);
  let at = 16 + 8 * count;
  const head: unknown = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, length)));
  at += padded(length);
  const arrays: Numbers[] = [];
  for (let k = 0; k < count; k++) {
    const type = words.getUint32(16 + 8 * k, true);
    const bytes = words.getUint32(20 + 8 * k, true);
    if (type === 1) arrays.push(new Float32Array(buffer, at, bytes / 4));
    else if (type === 2) arrays.push(new Uint32Array(buffer, at, bytes / 4));
    else if (type === 3) arrays.push(new Int16Array(buffer, at, bytes / 2));
    else arrays.push(new Uint8Array(buffer, at, bytes));
    at += padded(bytes);
  }
  return { kind: words.getUint16(6, true), head, arrays };
}

/** Reads a message of the engine. */
export function decode(buffer: ArrayBuffer): Message {
  const { kind, head, arrays } = open(buffer);
  const f32 = (k: number): Float32Array => arrays[k] as Float32Array;
  const u32 = (k: number): Uint32Array => arrays[k] as Uint32Array;
  switch (kind) {
    case Kind.Character: {
      const [sequential, diverging] = [arrays[2] as Uint8Array, arrays[3] as Uint8Array];
      const lists = { indices: u32(0), uvs: f32(1), sequential, diverging };
      return { kind: "character", character: { ...(head as CharacterHead), ...lists } };
    }
    case Kind.Document:
      return { kind: "document", document: head as Document };
    case Kind.Frame: {
      const skins = [];
      for (let k = 2; k + 1 < arrays.length; k += 2) {
        skins.push({ positions: f32(k), normals: arrays[k + 1] as Int16Array });
      }
      return { kind: "frame", frame: { ...(head as FrameHead), joints: f32(0), values: f32(1), skins } };
    }
    case Kind.Inside: {
      const lists = {
        tubeVertices: f32(0),
        samplePoints: f32(1),
        sampleJoints: u32(2),
        surfaceVertices: f32(3),
        surfaceIndices: u32(4),
        sliceValues: f32(5),
      };
      return { kind: "inside", inside: { ...(head as InsideHead), ...lists } };
    }
    case Kind.Notice:
      return { kind: "notice", notice: head as Notice };
    case Kind.Bake:
      return { kind: "bake", bake: head as BakeProgress };
    case Kind.Graph: {
      const lists = { curve: f32(0), squares: f32(1) };
      return { kind: "graph", graph: { ...(head as Omit<Graph, "curve" | "squares">), ...lists } };
    }
    default:
      throw new Error(`the engine sent a message of the unknown kind ${kind}`);
  }
}
