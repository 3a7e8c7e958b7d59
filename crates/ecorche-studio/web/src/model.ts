/** Everything the page knows and wants; whoever shows a part of it listens for its changes. */

import type {
  Attachment,
  BakeProgress,
  Busy,
  Character,
  Desk,
  Document,
  Edit,
  Fat,
  Folder,
  Frame,
  Graph,
  Habits,
  Inside,
  KeptPose,
  Look,
  Message,
  Muscle,
  Notice,
  Owners,
  Parametric,
  Piece,
  Request,
  Rotation,
  Side,
  Smooth,
  Target,
  Value,
  Verdict,
  View,
} from "./messages.ts";
import { within } from "./limits.ts";
import { Waiting } from "./waiting.ts";
import { Wire } from "./wire.ts";

export type Selection =
  | { kind: "none" }
  | { kind: "joint"; joint: number }
  | { kind: "muscle" | "fat" | "parametric"; name: string; side: Side };

/** A muscle or a fat pad. */
export type Thing = Extract<Selection, { name: string }>;

/** What is done with a thing in the list beside choosing it. */
export type Mark = "hidden" | "ghost" | "locked";

/** What marks are kept under: both sides of a name together. */
export function markKey(selection: Selection): string {
  return selection.kind === "muscle" || selection.kind === "fat" ? `${selection.kind} ${selection.name}` : "";
}

export type Compare = "single" | "side" | "wipe";
export type Paint = "activation" | "tension" | "length";

/** What is shown and how; the page's own affair, except for what the view is made of. */
export interface Display {
  looks: [Look, Look];
  compare: Compare;
  /** Corrective smoothing of what is shown and baked. */
  smooth: Smooth | null;
  quantity: string | null;
  opacity: number;
  wireframe: boolean;
  /** Whether the camera follows the character. */
  follow: boolean;
  /** The file's own pictures and colours instead of clay. */
  pictures: boolean;
  cut: { axis: "x" | "y" | "z"; at: number } | null;
  skeleton: boolean;
  /** Whether joints stop at their limits when they are turned by hand. */
  limits: boolean;
  flesh: boolean;
  paint: Paint;
  samples: boolean;
  surface: { whole: boolean; level: number } | null;
  slice: { axis: "x" | "y" | "z"; at: number; whole: boolean } | null;
  /** Whether the clip is judged in the background. */
  judged: boolean;
}

export interface Events {
  character: Character;
  document: Document;
  frame: Frame;
  inside: Inside | null;
  owners: Owners;
  graph: Graph;
  pieces: readonly Piece[];
  notice: Notice;
  desk: Desk;
  /** The tour is asked for. */
  tour: null;
  folder: Folder;
  verdict: Verdict | null;
  poses: readonly KeptPose[];
  bake: BakeProgress;
  busy: Busy | null;
  display: Display;
  selection: Selection;
  /** Something was hidden, ghosted, locked, or the other way round. */
  marks: null;
  transport: Transport;
  connection: boolean;
  /** How many orders wait for the engine. */
  waiting: number;
  /** A view was asked for; its number. */
  asked: number;
  pose: ReadonlyMap<number, Rotation>;
}

export interface Transport {
  clip: string | null;
  playing: boolean;
  speed: number;
  repeat: boolean;
}

/** Drawn by a processor: what is made for the eye alone, and work in the background, is left out. */
export const PLAIN = new URLSearchParams(location.search).has("plain");

type Step = { kind: "document" } | { kind: "pose"; before: Map<number, Rotation>; after: Map<number, Rotation> };

export class Model {
  character: Character | null = null;
  document: Document | null = null;
  frame: Frame | null = null;
  /** The pieces of the surface; empty until a skin with fields is bound. */
  pieces: readonly Piece[] = [];
  /** What is open, and what could be. */
  desk: Desk | null = null;
  /** Where skin crosses, as far as that is known. */
  verdict: Verdict | null = null;
  /** The poses of the anatomy's folder. */
  poses: readonly KeptPose[] = [];
  /** What the engine binds. */
  busy: Busy | null = null;
  /** The bake that runs or was the last. */
  bake: BakeProgress | null = null;
  connected = false;
  selection: Selection = { kind: "none" };
  transport: Transport = { clip: null, playing: true, speed: 1, repeat: true };
  display: Display = {
    looks: ["implicit", "lbs"],
    compare: "single",
    smooth: null,
    quantity: null,
    opacity: 1,
    wireframe: false,
    follow: true,
    pictures: true,
    cut: null,
    skeleton: false,
    limits: true,
    flesh: false,
    paint: "activation",
    samples: false,
    surface: null,
    slice: null,
    judged: !PLAIN,
  };
  /** The vertex whose way is followed. */
  trace: number | null = null;
  /** Joints that turn along with the selected one. */
  along: number[] = [];
  /** Muscles or pads that are changed along with the selected one. */
  also: Thing[] = [];
  private readonly marks: Record<Mark, Set<string>> = { hidden: new Set(), ghost: new Set(), locked: new Set() };
  /** A pose that was copied. */
  copied: ReadonlyMap<number, Rotation> | null = null;
  /** Joints turned by hand. */
  pose = new Map<number, Rotation>();
  /** Milliseconds of the last frame: from the engine to this page, reading it, putting it on the stage, drawing it. */
  readonly timing = { transfer: 0, decoding: 0, taking: 0, drawing: 0 };
  /** When it came, by the page's clock. */
  received = 0;

  /** The newest view asked for; frames tell which one they show. */
  viewId = 0;
  readonly wire: Wire;
  private readonly listeners = new Map<keyof Events, Set<(value: never) => void>>();
  private seek: number | null = null;
  /** The last moment asked for, and the view that asked for it. */
  private sought = { view: 0, at: 0 };
  private readonly waiting = new Waiting();
  /** Whether the engine has told what it knows since it was there last: orders go to it. */
  private settled = false;
  /** Whether this connection has had its character: the next one is another. */
  private greeted = false;
  private asked = false;
  private drags = 0;
  private done: Step[] = [];
  private undone: Step[] = [];
  private unsavedText: string | null = null;
  private restored = false;

  constructor() {
    this.wire = new Wire({
      opened: () => {
        this.connected = true;
        this.greeted = false;
        this.emit("connection", true);
        // Where it was before the connection broke.
        this.seek = this.frame?.at ?? 0;
        this.ask();
      },
      closed: () => {
        this.connected = false;
        this.settled = false;
        this.emit("connection", false);
      },
      received: (message, decoding) => {
        this.receive(message, decoding);
      },
      failed: (text) => {
        this.emit("notice", { level: "error", text });
      },
    });
  }

  /** Listens; what it returns stops listening. */
  on<K extends keyof Events>(event: K, listener: (value: Events[K]) => void): () => void {
    const known = this.listeners.get(event) ?? new Set();
    known.add(listener);
    this.listeners.set(event, known);
    return () => { known.delete(listener); };
  }

  emit<K extends keyof Events>(event: K, value: Events[K]): void {
    for (const listener of this.listeners.get(event) ?? []) (listener as (value: Events[K]) => void)(value);
  }

  private receive(message: Message, decoding: number): void {
    switch (message.kind) {
      case "character": {
        const another = this.character !== null && (this.greeted || nameOf(this.character) !== nameOf(message.character));
        if (another) this.leave();
        const first = this.character === null;
        this.greeted = true;
        this.wire.send({ ready: { character: message.character.number } });
        this.character = message.character;
        this.pieces = [];
        const clips = message.character.clips;
        if (first) this.transport.clip = clips[0]?.name ?? null;
        if (first) this.transport.playing = clips.length > 0;
        this.emit("character", message.character);
        if (first) this.emit("transport", this.transport);
        this.ask();
        break;
      }
      case "document": {
        const lost = this.unsavedText;
        const restarted = this.document !== null && message.document.revision < this.document.revision;
        const first = this.document === null;
        this.document = message.document;
        // The best there is for this anatomy.
        const fleshy = message.document.muscle.length + message.document.fat.length > 0;
        if (first && fleshy && !this.recalled) this.show({ looks: ["muscles", "lbs"] });
        this.unsavedText = message.document.unsaved ? message.document.text : null;
        this.emit("document", message.document);
        // An engine that was started anew does not know what was edited; the page does.
        if (restarted && lost !== null && lost !== message.document.text) {
          this.restored = true;
          this.wire.send({ restore: { text: lost } });
          this.emit("notice", { level: "hint", text: "The engine was restarted; unsaved changes were restored." });
        }
        this.settled = true;
        for (const order of this.waiting.take()) this.order(order);
        this.emit("waiting", 0);
        break;
      }
      case "frame":
        this.frame = message.frame;
        this.timing.decoding = decoding;
        this.received = performance.now() - decoding;
        this.timing.transfer = performance.timeOrigin + this.received - message.frame.sent;
        this.emit("frame", message.frame);
        break;
      case "inside":
        this.emit("inside", this.wanted(message.inside));
        break;
      case "flesh":
        this.emit("owners", message.owners);
        break;
      case "notice":
        // The page has put its own changes back; what the engine kept are the same or older ones.
        if (this.restored && message.notice.yes === "recover") break;
        this.emit("notice", message.notice);
        break;
      case "bake":
        this.bake = message.bake;
        this.emit("bake", message.bake);
        break;
      case "busy":
        this.busy = message.busy;
        this.emit("busy", message.busy);
        break;
      case "desk": {
        const before = this.desk?.problem ?? null;
        this.desk = message.desk;
        this.emit("desk", message.desk);
        if (message.desk.problem !== null && message.desk.problem !== before) this.emit("notice", { level: "error", text: message.desk.problem });
        break;
      }
      case "folder":
        this.emit("folder", message.folder);
        break;
      case "verdict":
        this.verdict = message.verdict;
        this.emit("verdict", message.verdict);
        break;
      case "poses":
        this.poses = message.poses;
        this.emit("poses", message.poses);
        break;
      case "graph":
        this.emit("graph", message.graph);
        break;
      case "pieces":
        this.pieces = message.pieces;
        this.emit("pieces", message.pieces);
        break;
    }
  }

  /** Another character is opened: nothing of the one before is kept but how things look. */
  private leave(): void {
    this.character = null;
    this.document = null;
    this.frame = null;
    this.verdict = null;
    this.pieces = [];
    this.busy = null;
    this.settled = false;
    this.unsavedText = null;
    this.recalled = false;
    this.waiting.take();
    this.emit("waiting", 0);
    this.pose.clear();
    this.copied = null;
    this.done = [];
    this.undone = [];
    this.trace = null;
    this.seek = 0;
    this.sought = { view: 0, at: 0 };
    Object.assign(this.transport, { clip: null, speed: 1 });
    Object.assign(this.display, { looks: ["implicit", "lbs"], quantity: null, cut: null, samples: false, surface: null, slice: null, opacity: 1, flesh: false });
    this.selection = { kind: "none" };
    this.along = [];
    this.also = [];
    for (const set of Object.values(this.marks)) set.clear();
    this.emit("marks", null);
    this.emit("selection", this.selection);
    this.emit("inside", null);
    this.emit("verdict", null);
    this.emit("display", this.display);
    this.emit("pose", this.pose);
  }

  /** What is still asked for of a message that may be older than the last click. */
  private wanted(inside: Inside): Inside | null {
    const { samples, surface, slice } = this.display;
    if (!samples && !surface && !slice) return null;
    return {
      ...inside,
      samples: samples ? inside.samples : [0, 0],
      surface: surface ? inside.surface : null,
      slice: slice ? inside.slice : null,
    };
  }

  /** The frame is on the screen. */
  drawn(frame: number): void {
    this.wire.send({ drawn: { frame } });
  }

  /** Tells the engine what to show, once per turn of the event loop. */
  ask(): void {
    if (this.asked) return;
    this.asked = true;
    queueMicrotask(() => {
      this.asked = false;
      if (this.connected && this.character !== null) this.wire.send({ view: this.view() });
      this.emit("asked", this.viewId);
    });
  }

  private view(): View {
    const { display, transport } = this;
    const bone = this.selectedJointName();
    const at = this.seek;
    this.seek = null;
    this.viewId++;
    if (at !== null) this.sought = { view: this.viewId, at };
    return {
      id: this.viewId,
      clip: transport.clip,
      playing: transport.playing,
      at,
      speed: transport.speed,
      repeat: transport.repeat,
      pose: [...this.pose],
      looks: display.compare === "single" ? [display.looks[0]] : [...display.looks],
      smooth: display.smooth,
      quantity: display.quantity,
      trace: this.trace,
      inside: {
        flesh: display.flesh,
        samples: display.samples ? { bone } : null,
        surface: display.surface && { bone: display.surface.whole ? null : bone, level: display.surface.level },
        slice: display.slice && {
          axis: display.slice.axis,
          at: display.slice.at,
          bone: display.slice.whole ? null : bone,
        },
      },
      judged: display.judged,
    };
  }

  /** Shows what this tab showed before it was loaded again. */
  recall(view: { transport: Transport; at: number; display: Display; pose: Map<number, Rotation> }): void {
    this.recalled = true;
    this.transport = { ...view.transport };
    this.seek = view.at;
    this.pose = view.pose;
    this.emit("transport", this.transport);
    this.emit("pose", this.pose);
    this.show({ ...view.display });
  }
  private recalled = false;

  show(change: Partial<Display>): void {
    Object.assign(this.display, change);
    const { samples, surface, slice } = this.display;
    if (!samples && !surface && !slice) this.emit("inside", null);
    this.emit("display", this.display);
    this.ask();
  }

  /** Selects; `along`: joints that turn with the selected one. */
  select(selection: Selection, along: number[] = []): void {
    this.selection = selection;
    this.along = selection.kind === "joint" ? along.filter((joint) => joint !== selection.joint) : [];
    this.also = [];
    this.emit("selection", selection);
    this.ask();
  }

  /** Adds a joint to those that turn together, or takes it out. */
  toggleAlong(joint: number): void {
    const { selection, along } = this;
    if (selection.kind !== "joint") this.select({ kind: "joint", joint });
    else if (joint === selection.joint) this.select(along[0] === undefined ? { kind: "none" } : { kind: "joint", joint: along[0] }, along.slice(1));
    else this.select(selection, along.includes(joint) ? along.filter((other) => other !== joint) : [...along, joint]);
  }

  /** Adds a muscle or a pad to those that are changed together, or takes it out. */
  toggleAlso(thing: Thing): void {
    const { selection, also } = this;
    const same = (other: Thing): boolean => other.kind === thing.kind && other.name === thing.name && other.side === thing.side;
    if (selection.kind !== thing.kind) {
      this.select(thing);
      return;
    }
    if (same(selection)) {
      this.select(also[0] ?? { kind: "none" });
      this.also = also.slice(1);
    } else this.also = also.some(same) ? also.filter((other) => !same(other)) : [...also, thing];
    this.emit("selection", this.selection);
  }

  marked(key: string, mark: Mark): boolean {
    return this.marks[mark].has(key);
  }

  mark(key: string, mark: Mark): void {
    if (!this.marks[mark].delete(key)) this.marks[mark].add(key);
    this.emit("marks", null);
  }

  /** Shows one of several alone; a second time all of them. */
  solo(key: string, all: readonly string[]): void {
    const { hidden } = this.marks;
    const others = all.filter((other) => other !== key);
    const alone = !hidden.has(key) && others.every((other) => hidden.has(other));
    hidden.delete(key);
    for (const other of others) {
      if (alone) hidden.delete(other);
      else hidden.add(other);
    }
    this.emit("marks", null);
  }

  selectedJointName(): string | null {
    if (this.selection.kind !== "joint") return null;
    return this.character?.joints[this.selection.joint]?.name ?? null;
  }

  move(change: Partial<Transport>): void {
    if (change.clip !== undefined && change.clip !== this.transport.clip) this.seek = 0;
    Object.assign(this.transport, change);
    this.emit("transport", this.transport);
    this.ask();
  }

  /** Frames from the clip's start to what is shown, or will be as soon as the engine has drawn it. */
  moment(): number {
    const { frame, sought } = this;
    if (this.seek !== null) return this.seek;
    return frame === null || frame.view < sought.view ? sought.at : frame.at;
  }

  /** The same moment as the clip's keys have it. */
  seconds(): number {
    const clip = this.character?.clips.find(({ name }) => name === this.transport.clip);
    return clip ? clip.start + this.moment() / clip.fps : 0;
  }

  /** Goes to a frame and stands there. */
  scrub(at: number): void {
    this.seek = at;
    this.move({ playing: false });
  }

  /** A number that marks the edits of one drag as one step. */
  newDrag(): number {
    return ++this.drags;
  }

  /** Sends what changes the anatomy; while the engine is away it waits. */
  private order(order: Request): void {
    if (this.settled && this.wire.send(order)) return;
    this.waiting.add(order);
    this.emit("waiting", this.waiting.count);
  }

  /** Keeps what the user is used to for the next run. */
  keepHabits(change: Habits): void {
    const habits = { ...this.desk?.habits, ...change };
    if (this.desk) this.desk.habits = habits;
    this.wire.send({ habits: { habits } });
    if (this.desk) this.emit("desk", this.desk);
  }

  /** Asks for something that makes sense now or not at all. */
  request(request: Request): void {
    if (this.wire.send(request)) return;
    this.emit("notice", { level: "error", text: "The engine is not answering, so this was not done. Try again when it is back." });
  }

  edit(edits: Edit[], drag: number | null = null): void {
    const last = this.done.at(-1);
    const same = drag !== null && last?.kind === "document" && this.lastDrag === drag;
    if (!same) this.done.push({ kind: "document" });
    this.lastDrag = drag;
    this.undone = [];
    this.order({ edit: { edits, drag } });
  }
  private lastDrag: number | null = null;

  /** Puts an end of the selected muscle, or one point of it where it is a fan, somewhere else. */
  attach(end: "origin" | "insertion", strand: number, to: Attachment, drag: number | null = null): void {
    const muscle = this.muscle() ?? this.parametric();
    if (muscle === null) return;
    const kind = this.selection.kind === "parametric" ? "parametric" : "muscle";
    const target: Target = { entry: [kind, muscle.name, muscle.side] };
    const now = muscle[end];
    const point: Value = { bone: to.bone, at: to.at };
    const value = Array.isArray(now) ? now.map((old, k): Value => (k === strand ? point : { bone: old.bone, at: old.at })) : point;
    this.edit([{ set: { target, field: end, value } }], drag);
  }

  /** Turns a joint by hand. Turns of one drag are one step of undo; without a drag, `posed` ends it. */
  turn(joint: number, rotation: Rotation, drag: number | null = null): void {
    const last = this.done.at(-1);
    const same = drag !== null && this.lastDrag === drag && last?.kind === "pose";
    if (drag !== null && !same) this.done.push({ kind: "pose", before: new Map(this.pose), after: new Map() });
    if (drag !== null) {
      this.lastDrag = drag;
      this.undone = [];
      this.move({ playing: false });
    }
    const limited = this.display.limits ? this.character?.joints[joint] : undefined;
    this.pose.set(joint, limited ? within(limited, rotation) : rotation);
    const step = this.done.at(-1);
    if (drag !== null && step?.kind === "pose") step.after = new Map(this.pose);
    this.emit("pose", this.pose);
    this.ask();
  }

  /** Remembers a change of the pose that began at `before`. */
  posed(before: Map<number, Rotation>): void {
    this.done.push({ kind: "pose", before, after: new Map(this.pose) });
    this.undone = [];
    this.emit("pose", this.pose);
  }

  resetPose(joint: number | null): void {
    const before = new Map(this.pose);
    if (joint === null) this.pose.clear();
    else this.pose.delete(joint);
    if (before.size === this.pose.size) return;
    this.posed(before);
    this.ask();
  }

  /** Another pose by hand in place of this one, as one step of undo. */
  putPose(pose: ReadonlyMap<number, Rotation>): void {
    const before = new Map(this.pose);
    this.pose = new Map(pose);
    this.posed(before);
    this.ask();
  }

  private takePose(pose: Map<number, Rotation>): void {
    this.pose = new Map(pose);
    this.emit("pose", this.pose);
    this.ask();
  }

  undo(): void {
    const step = this.done.pop();
    this.lastDrag = null;
    // Steps of another tab are not in the list of this one.
    if (step !== undefined) this.undone.push(step);
    if (step === undefined || step.kind === "document") this.order("undo");
    else this.takePose(step.before);
  }

  redo(): void {
    const step = this.undone.pop();
    if (step !== undefined) this.done.push(step);
    if (step === undefined || step.kind === "document") this.order("redo");
    else this.takePose(step.after);
  }

  canUndo(): boolean {
    return this.done.at(-1)?.kind === "pose" || (this.document?.undo ?? 0) > 0;
  }

  canRedo(): boolean {
    return this.undone.at(-1)?.kind === "pose" || (this.document?.redo ?? 0) > 0;
  }

  /** The selected muscle as the file has it. */
  muscle(): Muscle | null {
    const { selection } = this;
    return selection.kind === "muscle" ? this.muscleOf(selection.name, selection.side) : null;
  }

  /** A muscle of that side as the file has it. */
  muscleOf(name: string, side: Side): Muscle | null {
    return this.document?.muscle.find((m) => m.name === name && covers(m, side)) ?? null;
  }

  /** The selected parametric muscle as the file has it. */
  parametric(): Parametric | null {
    const { selection } = this;
    if (selection.kind !== "parametric") return null;
    return this.document?.parametric.find((m) => m.name === selection.name && covers(m, selection.side)) ?? null;
  }

  fat(): Fat | null {
    const { selection } = this;
    if (selection.kind !== "fat") return null;
    return this.document?.fat.find((f) => f.name === selection.name && covers(f, selection.side)) ?? null;
  }
}

/** The character, as far as what a page keeps of it depends on it. */
export function nameOf({ name, joints, vertices }: Character): string {
  return `${name} ${joints.length} ${vertices}`;
}

const OPPOSITE: Record<Side, Side> = { left: "right", right: "left", middle: "middle" };

/** Whether an entry is the one of that side, or its mirror image is. */
function covers(entry: Muscle | Fat | Parametric, side: Side): boolean {
  return entry.side === side || (entry.mirror && OPPOSITE[entry.side] === side);
}
