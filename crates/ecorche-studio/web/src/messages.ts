/** What page and engine say to each other: the engine's types, what the page makes of them, and the reading of messages. */

import type { Fat, Keys, Muscle, Parametric, Skin } from "./anatomy_keys.ts";
import { Kind, VERSION, type BakeProgress, type Busy, type CharacterHead, type Cube, type DeskHead, type DocumentHead, type FilmHead, type Folder, type FrameHead, type GraphHead, type InsideHead, type KeptPose, type Notice as NoticeHead, type Owners, type Request, type Verdict } from "./engine_types.ts";

export type { Attachment, Fat, JointSettings, Muscle, Parametric, SampleChanges } from "./anatomy_keys.ts";
export type { BakeProgress, Busy, Cube, DocumentHead as Document, Folder, Group, InsideHead, JudgeOrder, KeptPose, Look, LookHead, Owner, Owners, QuantityHead as Quantity, RecentFile as Recent, Request, Joint, SliceHead, Verdict, View } from "./engine_types.ts";
export { VERSION } from "./engine_types.ts";

export type Side = Muscle["side"];
export type Controller = NonNullable<Skin["controller"]>;
export type Vector = [number, number, number];
export type Rotation = [number, number, number, number];

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

export interface Inside extends InsideHead {
  samplePoints: Float32Array;
  sampleJoints: Uint32Array;
  surfaceVertices: Float32Array;
  surfaceIndices: Uint32Array;
  sliceValues: Float32Array;
}

/** A notice; of a question, the requests that answers send. */
export type Notice = Omit<NoticeHead, "yes" | "no"> & { yes?: Request; no?: Request | null };

/** What the user is used to, kept from run to run. */
export interface Habits {
  navigation?: "orbit" | "blender" | "maya";
  tour?: "seen";
}

export type Desk = Omit<DeskHead, "habits"> & { habits: Habits | null };

export interface Graph extends GraphHead {
  curve: Float32Array;
  squares: Float32Array;
}

/** A clip for a crowd. */
export interface Film extends FilmHead {
  places: Float32Array;
  normals: Int16Array;
  slotsOfVertex: Uint16Array;
  weights: Float32Array;
  entries: Float32Array;
  motions: Float32Array;
  muscleTexels: Float32Array;
}

/** Corrective smoothing: share of the way to the neighbours in an iteration, and how many there are. */
export interface Smooth {
  factor: number;
  iterations: number;
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

export type Message =
  | { kind: "character"; character: Character }
  | { kind: "document"; document: DocumentHead }
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
  return { ...(head as FilmHead), places, normals, slotsOfVertex, weights, entries, motions, muscleTexels };
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
      return { kind: "document", document: head as DocumentHead };
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
      return { kind: "graph", graph: { ...(head as GraphHead), ...lists } };
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
