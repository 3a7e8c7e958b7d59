/**
 * What page and engine say to each other. Made from the engine's own types; do not edit it by hand
 * (`UPDATE=1 cargo test -p ecorche-studio typed` writes it again).
 */

import type { Fat, Keys, Muscle, Parametric, Skin, Wrinkles } from "./anatomy_keys.ts";
import type { Edit, Side, Smooth, Vector } from "./messages.ts";

export const VERSION = 6;

/** What a message of the engine is about. */
export const Kind = {
  Character: 1,
  Document: 2,
  Frame: 3,
  Inside: 4,
  Notice: 5,
  Bake: 6,
  Graph: 7,
  Flesh: 8,
  Pieces: 9,
  Busy: 10,
  Desk: 11,
  Folder: 12,
  Verdict: 13,
  Poses: 14,
  Crowd: 15,
} as const;

/** How the skin is deformed. */
export type Look =
  /** Linear blending. */
  | "lbs"
  /** Dual quaternions. */
  | "dqs"
  /** Centres of rotation. */
  | "cor"
  /** Dual quaternions, displaced by parametric muscles. */
  | "parametric"
  /** Tracking of the field. */
  | "implicit"
  /** The same over muscles and fat. */
  | "muscles";

/** A joint of the skeleton. */
export interface Joint {
  name: string;
  parent: number | null;
  in_skin: boolean;
  /** Its rotation at rest (x, y, z, w), relative to its parent. */
  rest: [number, number, number, number];
  /** Degrees that it turns from there by hand; none for any. */
  limit: number | null;
}

/** An animation. */
export interface Clip {
  name: string;
  fps: number;
  /** Its first moment, seconds. */
  start: number;
  /** Frames after the first. */
  last: number;
  /** Corners of where joints get, sideways seen from the first joint that branches. */
  reach: [Vector, Vector];
}

/** Triangles of one material. */
export interface Group {
  mesh: string;
  material: string;
  start: number;
  count: number;
  /** Red, green and blue as the file has them, linear. */
  colour: [number, number, number] | null;
  /** Number of its picture. */
  picture: number | null;
}

/** The opened character. */
export interface CharacterHead {
  /** Grows with every character that is opened. */
  number: number;
  name: string;
  /** Metres. */
  size: number;
  vertices: number;
  triangles: number;
  /** Vertices that are drawn: seams count on both sides. */
  drawn: number;
  groups: Group[];
  joints: Joint[];
  clips: Clip[];
  /** Numbers of vertices that can be shown as colours, with what they are. */
  quantities: [string, string][];
  /** What was repaired or made when it was read, in words. */
  notes: string[];
}

/** The anatomy, and what can be undone. */
export interface DocumentHead {
  /** Grows with every change. */
  revision: number;
  /** Its file; none before it was saved. */
  path: string | null;
  unsaved: boolean;
  /** Steps that can be taken back. */
  undo: number;
  /** Steps that can be made again. */
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

/** What rounded places are relative to. */
export interface Cube {
  /** Where all three are 0. */
  corner: Vector;
  /** Metres from 0 to 65535. */
  side: number;
}

/** What a frame says about one look. */
export interface LookHead {
  look: Look;
  /** Differs from `look` while that is being bound. */
  shown: Look;
  /** Whether an anatomy newer than this body's is being bound. */
  binding: boolean;
  milliseconds: number;
  fell_back: number;
  contacts: number;
  /** Why the anatomy could not be bound; the body before is shown then. */
  problem: string | null;
}

/** The table of colours that a quantity is shown by; the character has both. */
export type ColourTable =
  | "sequential"
  | "diverging";

/**  */
export interface QuantityHead {
  name: string;
  unit: string;
  range: [number, number];
  map: ColourTable;
}

/**  */
export interface FrameHead {
  frame: number;
  /** The view it shows. */
  view: number;
  at: number;
  last: number;
  fps: number;
  playing: boolean;
  revision: number;
  looks: LookHead[];
  quantity: QuantityHead | null;
  /** The path of the traced vertex: what moved it, and where to. */
  path: [string, [number, number, number]][];
  /** The cubes of rounded places, one per look; empty where the places are exact. */
  cubes: Cube[];
  /** The cube of rounded strands; none where they are exact. */
  strand_cube: Cube | null;
  /** Why muscles and fat cannot be shown. */
  flesh: string | null;
  /** Milliseconds this frame took to be put into numbers, and the one before to be put into bytes. */
  encoding: number;
  /** Milliseconds the message before this one took from the engine into the socket. */
  handing: number;
  /** Milliseconds from the view's arrival to here; none for a frame nobody asked for. */
  answering: number | null;
  /** Milliseconds since 1970, to measure the transfer. */
  sent: number;
  refused: number;
}

/** The muscle or fat pad that a strand or an ellipsoid belongs to. */
export interface Owner {
  /** The name in the anatomy. */
  name: string;
  /** The side. */
  side: Side;
}

/** The owners of strands and pads, in the order of their numbers. */
export interface Owners {
  /** Of the strands. */
  muscles: Owner[];
  /** Of the pads. */
  fat: Owner[];
  /** Rings of every strand. */
  rings: number;
}

/**  */
export interface SurfaceHead {
  vertices: number;
  triangles: number;
}

/**  */
export interface SliceHead {
  axis: string;
  middle: Vector;
  right: Vector;
  up: Vector;
  half: [number, number];
  columns: number;
  rows: number;
}

/**  */
export interface InsideHead {
  frame: number;
  /** Milliseconds since 1970, to measure the transfer. */
  sent: number;
  /** Samples and, after them, closures. */
  samples: [number, number];
  surface: SurfaceHead | null;
  slice: SliceHead | null;
  /** What could not be shown, in plain words. */
  problems: string[];
}

/** Operator and controller of a joint. */
export interface GraphHead {
  joint: string;
  operator: string;
  /** Places on the curve, from 0 to 180 degrees. */
  angles: number;
  /** Values along a side of each square; openings 0, a half and 1 follow each other. */
  square: number;
}

/** How a notice is meant. */
export type Level =
  | "error"
  | "done"
  | "hint"
  | "question";

/** Something to say. */
export interface Notice {
  level: Level;
  text: string;
  /** Of a question: the request that a yes sends, and the one that a no sends. */
  yes: unknown;
  no: unknown;
}

/** What is being bound. */
export interface Busy {
  look: Look;
  /** What of it. */
  stage: string;
  /** How many of the stage's things are done. */
  done: number;
  /** Of how many; 0 where they are not counted. */
  of: number;
}

/** How far a bake is. */
export interface BakeProgress {
  /** Grows with every change, so that a page gets each once. */
  step: number;
  /** Whether one runs. */
  running: boolean;
  /** Whether its body is still being bound; nothing is written then. */
  preparing: boolean;
  /** Frames written. */
  done: number;
  /** Of how many. */
  frames: number;
  /** The result in words; empty while it runs. */
  outcome: string;
  /** Whether it failed or was stopped. */
  failed: boolean;
  /** Files written. */
  files: string[];
}

/** What is judged. */
export interface JudgeOrder {
  /** The method. */
  look: Look;
  /** The clip, by name. */
  clip: string;
  /** Corrective smoothing over the method. */
  smooth: Smooth | null;
}

/** What was found so far. */
export interface Verdict {
  /** Grows with every change, so that a page gets each once. */
  step: number;
  /** What it is of. */
  order: JudgeOrder | null;
  /** The document's revision it is of. */
  revision: number;
  /** Frames of the clip. */
  frames: number;
  /** Pairs of triangles that cross and did not at rest, of the frames from the first on. */
  crossings: number[];
  /** The deepest place in each, millimetres. */
  depths: number[];
  /** Why it stopped before the last frame. */
  problem: string | null;
}

/** A clip for a crowd. */
export interface FilmHead {
  clip: string;
  fps: number;
  frames: number;
  /** Joints' slots of all meshes. */
  slots: number;
  muscles: number;
  vertices: number;
  /** Vertices of more joints than are kept. */
  dropped: number;
}

/** A character and what was opened with it; paths from the root. */
export interface RecentFile {
  /** Its file. */
  character: string;
  /** The anatomy file, if one was named. */
  anatomy?: string | null;
  /** The file of its motion, if it was another. */
  motion?: string | null;
}

/** A sample that can be opened. */
export interface SampleCard {
  name: string;
  summary: string;
}

/** What is open or being opened, and what could be. */
export interface DeskHead {
  /** The number of the character; none on the start page. */
  open: number | null;
  /** The name of what is being read. */
  opening: string | null;
  /** Why the last could not be opened. */
  problem: string | null;
  samples: SampleCard[];
  recent: RecentFile[];
  /** What the user is used to. */
  habits: unknown;
}

/**  */
export interface FolderEntry {
  name: string;
  folder: boolean;
  bytes: number;
}

/**  */
export interface Folder {
  /** From the root. */
  path: string;
  parent: string | null;
  entries: FolderEntry[];
  /** Whether there are more than are listed. */
  more: boolean;
  /** Why nothing is listed. */
  problem: string | null;
}

/** Rotations of joints relative to their parents (x, y, z, w), by the joints' names; others are at rest. */
export interface KeptPose {
  /** What it is called; each name once. */
  name: string;
  /** The joints that are turned. */
  joints: Record<string, [number, number, number, number]>;
}

/** One bone, or all. */
export interface Bone {
  /** By the name of its joint; `None` for the whole body. */
  bone: string | null;
}

/** A surface of the field. */
export interface SurfaceLook {
  /** By the name of its joint; `None` for the whole body. */
  bone: string | null;
  /** Value, from 0 to 1. */
  level: number;
}

/** A plane through the field. */
export interface SliceLook {
  /** `x`, `y` or `z`. */
  axis: string;
  /** Metres along it. */
  at: number;
  /** By the name of its joint; `None` for the whole body. */
  bone: string | null;
}

/** What to show under the skin. */
export interface InsideRequest {
  /** Muscles and fat. */
  flesh: boolean;
  /** Points the fields go through. */
  samples: Bone | null;
  /** The surface of one value. */
  surface: SurfaceLook | null;
  /** A plane through the field. */
  slice: SliceLook | null;
}

/** What a page shows. */
export interface View {
  /** Comes back with the frames that show it. */
  id: number;
  /** Clip by name; the rest pose without. */
  clip: string | null;
  /** Whether the clip plays. */
  playing: boolean;
  /** Where in the clip, frames from its start; `None` lets the clock go on. */
  at: number | null;
  /** 1 is the clip's own speed. */
  speed: number;
  /** Start again at the end. */
  repeat: boolean;
  /** Joints turned by hand: number and rotation relative to the parent (x, y, z, w). */
  pose: [number, [number, number, number, number]][];
  /** One, or two to compare. */
  looks: Look[];
  /** Corrective smoothing over each of them. */
  smooth?: Smooth | null;
  /** A quantity of `ecorche::inspect` to colour the first by. */
  quantity: string | null;
  /** A drawn vertex whose path through the frame is sent. */
  trace: number | null;
  /** What to show under the skin. */
  inside: InsideRequest;
  /** Whether the clip is judged in the background. */
  judged?: boolean;
}

/** What to open. */
export interface OpenOrder {
  /** A file or `sample:NAME`; `None` for the character that is open, with another motion. */
  character: string | null;
  /** The anatomy file. */
  anatomy?: string | null;
  /** The file of the motion. */
  motion?: string | null;
  /** The batch of dropped files that these are in; `None` for files of this machine. */
  batch?: string | null;
}

/** What to bake. */
export interface BakeOrder {
  /** Cache to write; its extension chooses the format. */
  path: string;
  /** Clip by name; the rest pose without. */
  clip: string | null;
  /** The method. */
  method: Look;
  /** Corrective smoothing over it. */
  smooth?: Smooth | null;
  /** Frames per second; the clip's own without. */
  fps: number | null;
  /** Whether the user said yes to an existing file or another folder. */
  confirmed?: boolean;
}

/** What the page asks for. */
export type Request =
  /** What to show from now on. Only the newest counts. */
  | { view: View }
  /** This frame is on the screen; the engine runs at most one frame ahead of it. */
  | { drawn: { frame: number } }
  /** Changes of the anatomy that are one step of undo. */
  | { edit: { edits: Edit[]; drag?: number | null } }
  /** Takes the last step back. */
  | "undo"
  /** Makes it again. */
  | "redo"
  /** Writes the anatomy file. */
  | { save: { path: string | null; confirmed?: boolean } }
  /** Reads another anatomy file in place of this one; can be undone. */
  | { load: { path: string } }
  /** Puts a text in place of the anatomy: a page that kept its changes while the engine was restarted. */
  | { restore: { text: string } }
  /** Takes up the edits that an earlier run did not save. */
  | "recover"
  /** Gives them up. */
  | "give_up"
  /** Writes a cache. */
  | { bake: BakeOrder }
  /** Stops the bake. */
  | "cancel_bake"
  /** Asks for operator and controller of a joint. */
  | { graph: { joint: string } }
  /** The page has the character of that number, and talks of it from now on. */
  | { ready: { character: number } }
  /** Opens a character in place of this one. */
  | { open: OpenOrder }
  /** Gives up what is being opened. */
  | "give_up_opening"
  /** Keeps what the user is used to (which buttons turn the view, whether the tour was seen) for the next run. */
  | { habits: { habits: unknown } }
  /** Asks what is in a folder. */
  | { folder: { path: string | null; endings: string[] } }
  /** Puts the text of a file that was dropped in place of the anatomy; can be undone. */
  | { take: { name: string; text: string } }
  /** Keeps a pose in the anatomy's folder. */
  | { keep_pose: KeptPose }
  /** Takes a pose out of it. */
  | { remove_pose: { name: string } };
