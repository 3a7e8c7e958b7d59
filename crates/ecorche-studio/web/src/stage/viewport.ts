/** What the model says, put on the stage; what the pointer does there, told to the model. */

import { Box3, Group, Plane, Quaternion, Raycaster, RepeatWrapping, SRGBColorSpace, type Texture, TextureLoader, Vector2, Vector3 } from "three";
import type { Attachment, Character, Frame, Inside, Rotation, Vector } from "../messages.ts";
import { markKey, type Model } from "../model.ts";
import type { Layer } from "../page.ts";
import { Crowd } from "./crowd.ts";
import { Flesh } from "./flesh.ts";
import { Gizmo } from "./gizmo.ts";
import { Interior } from "./interior.ts";
import { Skeleton } from "./skeleton.ts";
import { Skin, type Pictures } from "./skin.ts";
import { Stage, type Pane } from "./stage.ts";
import { Trail } from "./trail.ts";
import { Turn } from "../tool/turn.ts";
import { sampleEdit, type ChosenSample } from "../panel/samples.ts";

const AXES = { x: new Vector3(1, 0, 0), y: new Vector3(0, 1, 0), z: new Vector3(0, 0, 1) };

/** What the handles hold. */
export type Grip = "pose" | "origin" | "insertion" | "slice" | "fat" | "sample";

type JointTaker = (joint: number) => void;
type PointTaker = (place: Vector3, normal: Vector3) => void;

export class Viewport {
  readonly stage: Stage;
  readonly gizmo: Gizmo;
  skins: [Skin, Skin] | null = null;
  skeleton: Skeleton | null = null;
  interior: Interior | null = null;
  readonly flesh = new Flesh();
  /** Where the wipe is, from 0 to 1. */
  wipe = 0.5;
  grip: Grip = "pose";
  private strand = 0;
  private asked: { joint: JointTaker | null; point: PointTaker | null } = { joint: null, point: null };
  /** The sample the handles hold. */
  sample: ChosenSample | null = null;
  readonly trail = new Trail();
  readonly crowd: Crowd;
  /** What is drawn with one character and not with a crowd. */
  private readonly insides = new Group();
  private readonly cut = new Plane();
  /** Called when the camera was placed for the first time, with the place of the hips. */
  onceFramed: ((hub: Vector3) => void) | null = null;
  private framed = false;
  private lastClip: string | null = null;
  private inside: Inside | null = null;
  private readonly layers: Layer[] = [];

  constructor(
    element: HTMLElement,
    private readonly model: Model,
  ) {
    this.stage = new Stage(element);
    this.gizmo = new Gizmo(this.stage);
    this.crowd = new Crowd(model, this.stage, () => this.skins?.[0].box(), () => { model.emit("display", model.display); });
    this.insides.add(this.trail.group, this.flesh.group);
    this.stage.scene.add(this.insides);
    this.stage.panes = () => this.panes();
    model.on("character", (character) => {
      this.begin(character);
    });
    model.on("frame", (frame) => {
      this.take(frame);
    });
    model.on("inside", (inside) => {
      this.inside = inside;
      this.interior?.take(inside);
      this.placeGizmo();
      this.stage.invalidate();
    });
    model.on("owners", (owners) => {
      this.flesh.begin(owners);
    });
    model.on("display", () => {
      this.restyle();
    });
    model.on("transport", ({ clip }) => {
      if (clip !== this.lastClip) this.trail.forget();
      this.lastClip = clip;
    });
    model.on("selection", () => {
      this.sample = null;
      if (this.grip !== "slice" || model.display.slice === null) this.grip = "pose";
      this.restyle();
    });
    model.on("pose", () => {
      this.restyle();
    });
    model.on("marks", () => {
      this.restyle();
    });
    this.flesh.tendonOf = ({ name, side }) => model.muscleOf(name, side)?.tendon ?? 0;
    this.flesh.marked = ({ kind, name, side }, mark) => model.marked(markKey({ kind, name, side }), mark);
    this.listen(this.stage.renderer.domElement);
  }

  /** Puts something on the stage that comes and goes with frames. */
  addLayer(layer: Layer): void {
    this.layers.push(layer);
    this.stage.scene.add(layer.object);
    this.stage.invalidate();
  }

  /** Asked for the next click on a joint instead of selecting it. */
  get wantJoint(): JointTaker | null {
    return this.asked.joint;
  }

  set wantJoint(taker: JointTaker | null) {
    this.ask({ joint: taker, point: this.asked.point });
  }

  /** Asked for the next click on the skin. */
  get wantPoint(): PointTaker | null {
    return this.asked.point;
  }

  set wantPoint(taker: PointTaker | null) {
    this.ask({ joint: this.asked.joint, point: taker });
  }

  /** While a click is waited for, no handles are in its way. */
  private ask(asked: typeof this.asked): void {
    this.asked = asked;
    this.stage.element.classList.toggle("asking", asked.joint !== null || asked.point !== null);
    this.restyle();
  }

  private begin(character: Character): void {
    this.skins?.forEach((skin) => {
      skin.dispose();
    });
    this.framed = false;
    this.grip = "pose";
    this.sample = null;
    this.asked = { joint: null, point: null };
    this.trail.follow(null);
    this.flesh.begin({ muscles: [], fat: [], rings: 0 });
    this.flesh.size = character.size;
    this.skeleton?.group.removeFromParent();
    this.interior?.group.removeFromParent();
    const pictures = new Map<number, Texture>();
    for (const { picture } of character.groups) {
      if (picture === null || pictures.has(picture)) continue;
      const texture = new TextureLoader().load(`picture/${picture}`, () => { this.stage.invalidate(); });
      texture.colorSpace = SRGBColorSpace;
      texture.wrapS = texture.wrapT = RepeatWrapping;
      texture.anisotropy = 4;
      pictures.set(picture, texture);
    }
    const pictureOf: Pictures = ({ picture }) => (picture === null ? null : (pictures.get(picture) ?? null));
    this.skins = [new Skin(character, false, pictureOf), new Skin(character, true, pictureOf)];
    this.skeleton = new Skeleton(character);
    this.interior = new Interior(character);
    this.stage.scene.add(this.skins[0].mesh, this.skins[1].mesh);
    this.insides.add(this.skeleton.group, this.interior.group);
    this.restyle();
  }

  private take(frame: Frame): void {
    const started = performance.now();
    if (this.skins === null || this.skeleton === null || this.model.character === null) return;
    const { display, selection } = this.model;
    frame.skins.forEach((surface, k) => this.skins?.[k]?.take(surface));
    this.skins[0].paint(frame.quantity, frame.values);
    if (display.flesh) this.flesh.take(frame, display.paint, selection);
    this.skeleton.take(frame.joints);
    this.stage.follow(this.skeleton.hub(), display.follow && !this.gizmo.dragging);
    this.trail.take(frame.at, this.skins[0], frame.path);
    for (const layer of this.layers) layer.take?.(frame);
    if (!this.framed) {
      this.framed = true;
      const box = this.skins[0].box();
      const size = box.getSize(new Vector3()).length();
      this.stage.frame(box, size);
      this.stage.lookAt(box.union(this.reach(size)));
      this.onceFramed?.(this.skeleton.hub());
    }
    this.placeGizmo();
    this.model.timing.taking = performance.now() - started;
    this.stage.invalidate((drawing) => {
      this.model.timing.drawing = drawing;
      this.model.drawn(frame.frame);
    });
  }

  /** Around where the clip takes the joints, wherever the character is now. */
  private reach(size: number): Box3 {
    const { character, transport } = this.model;
    const clip = character?.clips.find(({ name }) => name === transport.clip);
    const box = new Box3();
    if (!clip || !this.skeleton) return box;
    for (const corner of clip.reach) box.expandByPoint(new Vector3(...corner));
    return box.expandByScalar(0.05 * size).translate(this.skeleton.hub().setY(0));
  }

  private panes(): Pane[] {
    const [first, second] = this.skins ?? [];
    const show = (one: boolean) => (): void => {
      const alone = !this.crowd.visible;
      if (first) first.mesh.visible = one && alone;
      if (second) second.mesh.visible = !one && alone;
    };
    const both = (this.model.frame?.looks.length ?? 1) > 1;
    const { compare } = this.model.display;
    if (compare === "single" || !both) return [{ from: 0, to: 1, own: false, prepare: show(true) }];
    const middle = compare === "side" ? 0.5 : this.wipe;
    const own = compare === "side";
    return [
      { from: 0, to: middle, own, prepare: show(true) },
      { from: middle, to: 1, own, prepare: show(false) },
    ];
  }

  private restyle(): void {
    const { display, selection, pose } = this.model;
    // Joints, muscles and fields are of one character: a crowd is skin alone.
    const alone = !this.crowd.visible;
    let plane: Plane | null = null;
    if (display.cut) {
      plane = this.cut.setComponents(...AXES[display.cut.axis].clone().negate().toArray(), display.cut.at);
    }
    this.skins?.forEach((skin) => {
      skin.look(display.opacity, display.wireframe, plane);
      skin.dress(display.pictures);
      skin.mark(({ mesh, material }) => (this.model.marked(`piece ${mesh} ${material}`, "hidden") ? 0 : this.model.marked(`piece ${mesh} ${material}`, "ghost") ? 0.3 : 1));
    });
    if (this.skeleton) {
      this.skeleton.group.visible = alone && (display.skeleton || selection.kind === "joint" || this.wantJoint !== null);
      this.skeleton.colour(selection.kind === "joint" ? [selection.joint, ...this.model.along] : [], new Set(pose.keys()));
    }
    this.flesh.group.visible = display.flesh;
    this.insides.visible = alone;
    this.flesh.also = this.model.also;
    this.flesh.repaint(display.paint, selection);
    for (const layer of this.layers) layer.restyle?.();
    this.placeGizmo();
    this.stage.invalidate();
  }

  /** Something about what can be clicked changed. */
  refresh(): void {
    this.restyle();
  }

  /** Chooses what the handles hold; of an end that is a fan, which point. */
  hold(grip: Grip, strand = 0): void {
    this.grip = grip;
    this.strand = strand;
    this.placeGizmo();
    this.stage.invalidate();
  }

  private placeGizmo(): void {
    const { gizmo, model, skeleton } = this;
    if (gizmo.dragging || skeleton === null) return;
    const { selection, display } = model;
    if (this.crowd.visible || this.asked.joint !== null || this.asked.point !== null) {
      gizmo.detach();
      return;
    }
    if (this.grip === "slice" && display.slice !== null) {
      const slice = this.inside?.slice;
      const place = slice ? new Vector3(...slice.middle) : this.skins?.[0].middle();
      if (!place) return;
      this.attachSlice(display.slice.axis);
      gizmo.put(place, new Quaternion());
      return;
    }
    if (this.sample !== null && this.grip === "sample") {
      this.attachSample(this.sample);
      gizmo.put(this.sample.place, new Quaternion());
      return;
    }
    if (selection.kind === "joint" && this.grip === "pose") {
      this.attachJoint(selection.joint);
      const turn = new Quaternion();
      skeleton.matrix(selection.joint).decompose(new Vector3(), turn, new Vector3());
      gizmo.put(skeleton.place(selection.joint), turn);
      return;
    }
    const point = this.heldPoint();
    if (point !== null) {
      this.attachPoint(point);
      return;
    }
    gizmo.detach();
  }

  /** The attachment or fat pad the handles would move. */
  private heldPoint(): Attachment | null {
    const muscle = this.model.muscle() ?? this.model.parametric();
    if (muscle !== null && (this.grip === "origin" || this.grip === "insertion")) {
      return [muscle[this.grip]].flat()[this.strand] ?? null;
    }
    const fat = this.model.fat();
    return fat !== null && this.grip === "fat" ? { bone: fat.bone, at: fat.at } : null;
  }

  private attachJoint(joint: number): void {
    const { model, gizmo, skeleton } = this;
    let before = new Map<number, Rotation>();
    let turn: Turn | null = null;
    const parent = model.character?.joints[joint]?.parent ?? null;
    gizmo.attach("rotate", "xyz", {
      started: () => {
        before = new Map(model.pose);
        turn = skeleton === null ? null : new Turn(model, skeleton, joint);
        model.move({ playing: false });
      },
      moved: (_, to) => {
        const above = new Quaternion();
        if (parent !== null) skeleton?.matrix(parent).decompose(new Vector3(), above, new Vector3());
        const local = above.clone().invert().multiply(to).normalize();
        turn?.to([local.x, local.y, local.z, local.w]);
        // Less than asked for where the joint stops at its limit.
        const turned = model.pose.get(joint);
        return turned === undefined ? to : above.multiply(new Quaternion(...turned));
      },
      ended: () => {
        model.posed(before);
      },
    });
  }

  private attachSlice(axis: "x" | "y" | "z"): void {
    const { model } = this;
    this.gizmo.attach("translate", axis, {
      started: () => undefined,
      moved: (place) => {
        if (model.display.slice) model.show({ slice: { ...model.display.slice, at: place.dot(AXES[axis]) } });
        return undefined;
      },
      ended: () => undefined,
    });
  }

  /** Takes hold of a sample of the selected bone, or lets go. */
  chooseSample(sample: ChosenSample | null): void {
    this.sample = sample;
    this.hold(sample === null ? "pose" : "sample");
    this.model.emit("pose", this.model.pose);
  }

  private attachSample(sample: ChosenSample): void {
    const { model } = this;
    const { place: from, normal } = sample;
    // Edits of a drag replace each other, so each says where the sample was before the first.
    const before: ChosenSample = { joint: sample.joint, place: from.clone(), normal };
    let [drag, edits] = [0, (place: Vector3) => sampleEdit(model, this, before.joint, before, { place, normal })];
    this.gizmo.attach("translate", "xyz", {
      started: () => {
        drag = model.newDrag();
        const known = structuredClone(model.document?.skin.joint ?? {});
        edits = (place) => sampleEdit(model, this, before.joint, before, { place, normal }, known);
      },
      moved: (place) => {
        sample.place = place;
        model.edit(edits(place), drag);
        return undefined;
      },
      ended: () => undefined,
    });
  }

  /** Handles on a point of a bone. */
  private attachPoint(point: Attachment): void {
    const { model, gizmo, skeleton } = this;
    const joint = model.character?.joints.findIndex((j) => j.name === point.bone) ?? -1;
    if (skeleton === null || joint < 0) {
      gizmo.detach();
      return;
    }
    const world = skeleton.frame(joint);
    let drag: number | null = null;
    gizmo.attach("translate", "xyz", {
      started: () => {
        drag = model.newDrag();
      },
      moved: (place) => {
        this.movePoint(skeleton.within(joint, place), drag);
        return undefined;
      },
      ended: () => undefined,
    });
    gizmo.put(new Vector3(...point.at).applyMatrix4(world), new Quaternion());
  }

  private movePoint(at: Vector, drag: number | null): void {
    const { model, grip } = this;
    const fat = model.fat();
    if (grip === "origin" || grip === "insertion") {
      const end = this.heldPoint();
      if (end !== null) model.attach(grip, this.strand, { bone: end.bone, at }, drag);
    } else if (fat !== null) {
      model.edit([{ set: { target: { entry: ["fat", fat.name, fat.side] }, field: "at", value: at } }], drag);
    }
  }

  private listen(canvas: HTMLCanvasElement): void {
    let pressed: Vector2 | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      pressed = event.button === 0 && !this.gizmo.hovered ? new Vector2(event.offsetX, event.offsetY) : null;
    });
    canvas.addEventListener("pointerup", (event) => {
      const clicked = pressed !== null && pressed.distanceTo(new Vector2(event.offsetX, event.offsetY)) < 4;
      pressed = null;
      if (clicked) this.click(event.offsetX, event.offsetY, event.altKey, event.shiftKey);
    });
    canvas.addEventListener("dblclick", () => {
      this.frameSelection();
    });
  }

  private click(x: number, y: number, follow: boolean, more: boolean): void {
    const { model, skeleton, stage } = this;
    if (skeleton === null || this.crowd.visible) return;
    const { pane, paneWidth, left, height, ray } = this.rayAt(x, y);
    const [skin] = this.skins ? ray.intersectObject(this.skins[pane].mesh) : [];
    if (this.wantPoint !== null && skin?.face) {
      this.wantPoint(skin.point, skin.face.normal);
      return;
    }
    if (follow) {
      this.follow(skin?.face?.a ?? null);
      return;
    }
    const sample = this.interior?.pickSample(x - left, y, stage.camera, paneWidth, height) ?? null;
    if (sample !== null && selectedJoint(model) === sample.joint) {
      this.chooseSample(sample);
      return;
    }
    if (skeleton.group.visible) {
      const joint = skeleton.pick(x - left, y, stage.camera, paneWidth, height);
      if (joint !== null) {
        if (this.wantJoint !== null) this.wantJoint(joint);
        else if (more) model.toggleAlong(joint);
        else model.select({ kind: "joint", joint });
        return;
      }
    }
    const hit = this.flesh.pick(ray);
    if (hit !== null) {
      model.select({ kind: hit.kind, name: hit.name, side: hit.side });
      return;
    }
    if (skin && this.wantJoint !== null) this.wantJoint(skeleton.nearest(skin.point));
    else if (skin && (model.display.skeleton || model.selection.kind === "joint")) {
      model.select({ kind: "joint", joint: skeleton.nearest(skin.point) });
    } else if (!skin) model.select({ kind: "none" });
  }

  /** The ray through a pixel, and the part of the picture that is in. */
  private rayAt(x: number, y: number): { pane: 0 | 1; paneWidth: number; left: number; height: number; ray: Raycaster } {
    const { camera, element } = this.stage;
    const { clientWidth: width, clientHeight: height } = element;
    const [pane, paneWidth, left] = this.paneAt(x, width);
    camera.aspect = paneWidth / height;
    camera.updateProjectionMatrix();
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * (x - left)) / paneWidth - 1, 1 - (2 * y) / height), camera);
    return { pane, paneWidth, left, height, ray };
  }

  /** What the joint, muscle or fat pad at a pixel is called; null where there is none to be clicked. */
  nameAt(x: number, y: number): string | null {
    const { skeleton, stage, model } = this;
    if (skeleton === null || this.gizmo.dragging || this.crowd.visible) return null;
    const { paneWidth, left, height, ray } = this.rayAt(x, y);
    const joint = skeleton.group.visible ? skeleton.pick(x - left, y, stage.camera, paneWidth, height) : null;
    if (joint !== null) return model.character?.joints[joint]?.name ?? null;
    const hit = this.flesh.group.visible ? this.flesh.pick(ray) : null;
    return hit === null ? null : hit.side === "middle" ? hit.name : `${hit.name}, ${hit.side}`;
  }

  /** The joints in a box of pixels. */
  jointsIn(left: number, top: number, width: number, height: number): number[] {
    const { skeleton, stage } = this;
    if (skeleton === null) return [];
    const { paneWidth, left: start, height: tall } = this.rayAt(left, top);
    return skeleton.within2d({ left: left - start, top, width, height }, stage.camera, paneWidth, tall);
  }

  /** Follows a vertex, or none. */
  follow(vertex: number | null): void {
    this.trail.follow(vertex);
    this.model.trace = vertex;
    this.model.ask();
    this.stage.invalidate();
  }

  /** Which skin is under a column of pixels, how wide its picture is, and where it begins. */
  private paneAt(x: number, width: number): [0 | 1, number, number] {
    const { compare } = this.model.display;
    const both = (this.model.frame?.looks.length ?? 1) > 1;
    if (compare === "single" || !both) return [0, width, 0];
    if (compare === "wipe") return [x < this.wipe * width ? 0 : 1, width, 0];
    return x < 0.5 * width ? [0, 0.5 * width, 0] : [1, 0.5 * width, 0.5 * width];
  }

  /** Fills the view with the whole character. */
  frameAll(): void {
    const box = this.skins?.[0].box();
    if (box) this.stage.lookAt(box);
  }

  /** Fills the view with what is selected, or with everything. */
  frameSelection(): void {
    const { selection, character } = this.model;
    const box = new Box3();
    if (selection.kind === "muscle" || selection.kind === "fat") {
      const place = this.flesh.place(selection.kind, selection.name, selection.side);
      if (place !== null) this.stage.lookAt(box.expandByPoint(place).expandByScalar(0.09 * (character?.size ?? 1)));
      return;
    }
    if (this.skeleton === null || character === null || selection.kind !== "joint") {
      this.frameAll();
      return;
    }
    const around = [selection.joint];
    character.joints.forEach((joint, k) => {
      if (joint.parent === selection.joint) around.push(k);
    });
    const parent = character.joints[selection.joint]?.parent ?? null;
    if (parent !== null) around.push(parent);
    for (const joint of around) box.expandByPoint(this.skeleton.place(joint));
    this.stage.lookAt(box.expandByScalar(0.06 * character.size));
  }
}

function selectedJoint({ selection }: Model): number | null {
  return selection.kind === "joint" ? selection.joint : null;
}
