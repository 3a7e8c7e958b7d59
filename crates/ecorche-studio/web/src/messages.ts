/** What page and engine say to each other; the engine's side is src/message.rs. */

import type { Fat, Keys, Muscle, Parametric, Skin, Wrinkles } from "./anatomy_keys.ts";

export type { Attachment, Fat, JointSettings, Muscle, Parametric, SampleChanges } from "./anatomy_keys.ts";

export const VERSION = 6;

export const Kind = { Character: 1, Document: 2, Frame: 3, Inside: 4, Notice: 5, Bake: 6, Graph: 7, Flesh: 8, Pieces: 9, Busy: 10, Desk: 11, Folder: 12, Verdict: 13, Poses: 14, Crowd: 15 } as const;

export type Look = "lbs" | "dqs" | "cor" | "implicit" | "muscles" | "parametric";
export type Side = Muscle["side"];
export type Controller = NonNullable<Skin["controller"]>;
export type Vector = [number, number, number];
export type Rotation = [number, number, number, number];

export interface Joint {
  name: string;
  parent: number | null;
  in_skin: boolean;
  /** Its rotation at rest. */
  rest: Rotation;
  /** Degrees that it turns from there by hand; null for any. */
  limit: number | null;
}

export interface Clip {
  name: string;
  fps: number;
  /** Its first moment, seconds. */
  start: number;
  last: number;
  /** Corners of where joints get, sideways seen from the first joint that branches. */
  reach: [Vector, Vector];
}

export interface Group {
  mesh: string;
  material: string;
  start: number;
  count: number;
  /** Red, green and blue as the file has them, linear. */
  colour: Vector | null;
  /** Number of its picture. */
  picture: number | null;
}

export interface CharacterHead {
  /** Grows with every character that is opened. */
  number: number;
  name: string;
  size: number;
  vertices: number;
  triangles: number;
  drawn: number;
  groups: Group[];
  joints: Joint[];
  clips: Clip[];
  quantities: [string, string][];
  /** What was repaired or made when it was read, in words. */
  notes: string[];
}

export interface Character extends CharacterHead {
  indices: Uint32Array;
  uvs: Float32Array;
  sequential: Uint8Array;
  diverging: Uint8Array;
}

/** A connected piece of the surface. */
export interface Piece {
  mesh: string;
  material: string;
  vertices: number;
  /** Its share of the surface's area. */
  area: number;
  role: "skin" | "worn" | "rigid" | "loose";
  /** Whether the anatomy gives it its role. */
  is_given: boolean;
  why: string;
}

export interface Document {
  revision: number;
  path: string | null;
  unsaved: boolean;
  undo: number;
  redo: number;
  text: string;
  skin: Skin;
  /** Absent where the skin stays smooth. */
  wrinkles: Wrinkles | null;
  muscle: Muscle[];
  fat: Fat[];
  parametric: Parametric[];
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
  cubes: Cube[];
  strand_cube: Cube | null;
  /** Why muscles and fat cannot be shown. */
  flesh: string | null;
  /** Milliseconds: to put it into numbers and bytes, of the message before from the engine into the socket, from the question to here. */
  encoding: number;
  handing: number;
  answering: number | null;
  sent: number;
  refused: number;
}

/** What rounded places are relative to. */
export interface Cube {
  corner: Vector;
  side: number;
}

/**
 * Places as computed, three numbers each, with normals folded onto an octahedron, two numbers each; or places rounded
 * within a cube, three numbers each, and after them the two of the normal in the halves of a fourth.
 */
export type Surface = { exact: Float32Array; normals: Int16Array } | { rounded: Uint16Array; cube: Cube };

/**
 * Eight numbers per ring: place, thickness, wide direction, half axis across it; or the same from 0 to 65535, places and
 * thickness relative to a cube, directions from -1 to 1.
 */
export type Strands = { exact: Float32Array } | { rounded: Uint16Array; cube: Cube };

export interface Frame extends FrameHead {
  joints: Float32Array;
  /** Of each vertex, from 1 (low end of the range) to 65535; 0 for none. */
  values: Uint16Array;
  strands: Strands;
  /** Activation, tension in newtons and length over that at bind of each strand. */
  states: Float32Array;
  /** World from the unit ball, sixteen numbers per pad. */
  pads: Float32Array;
  skins: Surface[];
}

export interface Owner {
  name: string;
  side: Side;
}

/** Whose the strands and pads of the frames are. */
export interface Owners {
  muscles: Owner[];
  fat: Owner[];
  rings: number;
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
  samples: [number, number];
  surface: { vertices: number; triangles: number } | null;
  slice: SliceHead | null;
  problems: string[];
}

export interface Inside extends InsideHead {
  samplePoints: Float32Array;
  sampleJoints: Uint32Array;
  surfaceVertices: Float32Array;
  surfaceIndices: Uint32Array;
  sliceValues: Float32Array;
}

export interface Notice {
  level: "error" | "done" | "hint" | "question";
  text: string;
  /** Of a question: what is sent for a yes, and for a no. */
  yes?: Request;
  no?: Request | null;
}

export interface BakeProgress {
  step: number;
  running: boolean;
  /** Whether its body is still being bound. */
  preparing: boolean;
  done: number;
  frames: number;
  outcome: string;
  failed: boolean;
  files: string[];
}

/** What is being bound: the stage, and how many of its things are done; `of` is 0 where they are not counted. */
export interface Busy {
  look: Look;
  stage: string;
  done: number;
  of: number;
}

/** A character that was opened before, and what was opened with it. */
export interface Recent {
  character: string;
  anatomy: string | null;
  motion: string | null;
}

/** What the user is used to, kept from run to run. */
export interface Habits {
  navigation?: "orbit" | "blender" | "maya";
  tour?: "seen";
}

/** What is open or being opened, and what could be. */
export interface Desk {
  /** The number of the character; null on the start page. */
  open: number | null;
  /** The name of what is being read. */
  opening: string | null;
  /** Why the last could not be opened. */
  problem: string | null;
  samples: { name: string; summary: string }[];
  recent: Recent[];
  habits: Habits | null;
}

export interface FolderEntry {
  name: string;
  folder: boolean;
  bytes: number;
}

/** What is in a folder of the engine's machine. */
export interface Folder {
  path: string;
  parent: string | null;
  entries: FolderEntry[];
  /** Whether there are more than are listed. */
  more: boolean;
  problem: string | null;
}

/** Where skin crosses, as far as the judge is. */
export interface Verdict {
  step: number;
  order: { look: Look; clip: string; smooth: Smooth | null } | null;
  revision: number;
  frames: number;
  /** Pairs of triangles that cross, of the frames from the first on. */
  crossings: number[];
  /** The deepest place in each, millimetres. */
  depths: number[];
  problem: string | null;
}

/** A pose of the anatomy's folder: rotations of joints by name, relative to their parents. */
export interface KeptPose {
  name: string;
  joints: Record<string, Rotation>;
}

export interface Graph {
  joint: string;
  operator: string;
  angles: number;
  square: number;
  curve: Float32Array;
  squares: Float32Array;
}

/** A clip for a crowd; see the engine's film.rs. */
export interface Film {
  clip: string;
  fps: number;
  frames: number;
  slots: number;
  muscles: number;
  vertices: number;
  /** Vertices of more joints than are kept. */
  dropped: number;
  places: Float32Array;
  normals: Int16Array;
  slotsOfVertex: Uint16Array;
  weights: Float32Array;
  entries: Float32Array;
  motions: Float32Array;
  muscleTexels: Float32Array;
}

export interface InsideRequest {
  flesh: boolean;
  samples: { bone: string | null } | null;
  surface: { bone: string | null; level: number } | null;
  slice: { axis: string; at: number; bone: string | null } | null;
}

/** Corrective smoothing: share of the way to the neighbours in an iteration, and how many there are. */
export interface Smooth {
  factor: number;
  iterations: number;
}

export interface View {
  id: number;
  clip: string | null;
  playing: boolean;
  at: number | null;
  speed: number;
  repeat: boolean;
  pose: [number, Rotation][];
  looks: Look[];
  smooth: Smooth | null;
  quantity: string | null;
  trace: number | null;
  inside: InsideRequest;
  /** Whether the clip is judged in the background. */
  judged: boolean;
}

/** A value of an anatomy file. */
export type Value = boolean | number | string | Value[] | { [key: string]: Value };

export type Target =
  | "skin"
  | "wrinkles"
  | { joint: string }
  | { entry: ["muscle" | "fat" | "parametric", string, Side] }
  | { keys: number };

export type Edit =
  | { set: { target: Target; field: string; value: Value } }
  | { clear: { target: Target; field: string } }
  | { addmuscle: Partial<Muscle> }
  | { addfat: Partial<Fat> }
  | { addparametric: Partial<Parametric> }
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
  | { save: { path: string | null; confirmed?: boolean } }
  | { load: { path: string } }
  | { restore: { text: string } }
  | "recover"
  | "give_up"
  | { bake: { path: string; clip: string | null; method: Look; smooth: Smooth | null; fps: number | null; confirmed?: boolean } }
  | "cancel_bake"
  | { graph: { joint: string } }
  | { ready: { character: number } }
  | { open: { character: string | null; anatomy: string | null; motion: string | null; batch: string | null } }
  | "give_up_opening"
  | { habits: { habits: Habits } }
  | { folder: { path: string | null; endings: string[] } }
  | { take: { name: string; text: string } }
  | { keep_pose: KeptPose }
  | { remove_pose: { name: string } };

export type Message =
  | { kind: "character"; character: Character }
  | { kind: "document"; document: Document }
  | { kind: "frame"; frame: Frame }
  | { kind: "inside"; inside: Inside }
  | { kind: "flesh"; owners: Owners }
  | { kind: "notice"; notice: Notice }
  | { kind: "bake"; bake: BakeProgress }
  | { kind: "graph"; graph: Graph }
  | { kind: "pieces"; pieces: Piece[] }
  | { kind: "busy"; busy: Busy | null }
  | { kind: "desk"; desk: Desk }
  | { kind: "folder"; folder: Folder }
  | { kind: "verdict"; verdict: Verdict }
  | { kind: "poses"; poses: KeptPose[] };

type Numbers = Float32Array | Uint32Array | Int16Array | Uint8Array | Uint16Array;

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
    else if (type === 5) arrays.push(new Uint16Array(buffer, at, bytes / 2));
    else arrays.push(new Uint8Array(buffer, at, bytes));
    at += padded(bytes);
  }
  return { kind: words.getUint16(6, true), head, arrays };
}

/** Reads the film of a crowd. */
export function decodeFilm(buffer: ArrayBuffer): Film {
  const { kind, head, arrays } = open(buffer);
  if (kind !== Kind.Crowd) throw new Error(`a message of kind ${kind} is no film of a crowd`);
  const [places, normals, slotsOfVertex, weights, entries, motions, muscleTexels] = arrays as [
    Float32Array, Int16Array, Uint16Array, Float32Array, Float32Array, Float32Array, Float32Array,
  ];
  return { ...(head as Film), places, normals, slotsOfVertex, weights, entries, motions, muscleTexels };
}

/** Arrays of a frame before those of its skins. */
const FIRST_SKIN = 5;

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
      const frame = head as FrameHead;
      const skins: Frame["skins"] = [];
      for (let k = FIRST_SKIN; k < arrays.length; k++) {
        const cube = frame.cubes[skins.length];
        if (cube === undefined) skins.push({ exact: f32(k), normals: arrays[++k] as Int16Array });
        else skins.push({ rounded: arrays[k] as Uint16Array, cube });
      }
      const cube = frame.strand_cube;
      const strands = cube === null ? { exact: f32(2) } : { rounded: arrays[2] as Uint16Array, cube };
      const lists = { joints: f32(0), values: arrays[1] as Uint16Array, strands, states: f32(3), pads: f32(4), skins };
      return { kind: "frame", frame: { ...frame, ...lists } };
    }
    case Kind.Flesh:
      return { kind: "flesh", owners: head as Owners };
    case Kind.Inside: {
      const lists = {
        samplePoints: f32(0),
        sampleJoints: u32(1),
        surfaceVertices: f32(2),
        surfaceIndices: u32(3),
        sliceValues: f32(4),
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
    case Kind.Busy:
      return { kind: "busy", busy: head as Busy | null };
    case Kind.Desk:
      return { kind: "desk", desk: head as Desk };
    case Kind.Folder:
      return { kind: "folder", folder: head as Folder };
    case Kind.Verdict:
      return { kind: "verdict", verdict: head as Verdict };
    case Kind.Poses:
      return { kind: "poses", poses: (head as { poses: KeptPose[] }).poses };
    case Kind.Pieces:
      return { kind: "pieces", pieces: head as Piece[] };
    default:
      throw new Error(`the engine sent a message of the unknown kind ${kind}`);
  }
}
