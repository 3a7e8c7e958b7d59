/** What the model says, put on the stage; what the pointer does there, told to the model. */

import { Box3, Matrix4, Plane, Quaternion, Raycaster, Vector2, Vector3 } from "three";
import type { Attachment, Character, Frame, Inside } from "../messages.ts";
import type { Model, Rotation } from "../model.ts";
import { Gizmo } from "./gizmo.ts";
import { Interior } from "./interior.ts";
import { Skeleton } from "./skeleton.ts";
import { Skin } from "./skin.ts";
import { Stage, type Pane } from "./stage.ts";
import { Trail } from "./trail.ts";
import { sampleEdit, type ChosenSample } from "../panel/samples.ts";

const AXES = { x: new Vector3(1, 0, 0), y: new Vector3(0, 1, 0), z: new Vector3(0, 0, 1) };

/** What the handles hold. */
export type Grip = "pose" | "origin" | "insertion" | "slice" | "fat" | "sample";

export class Viewport {
  readonly stage: Stage;
  readonly gizmo: Gizmo;
  skins: [Skin, Skin] | null = null;
  skeleton: Skeleton | null = null;
  interior: Interior | null = null;
  /** Where the wipe is, from 0 to 1. */
  wipe = 0.5;
  grip: Grip = "pose";
  /** Asked for the next click on a joint instead of selecting it. */
  wantJoint: ((joint: number) => void) | null = null;
  /** Asked for the next click on the skin. */
  wantPoint: ((place: Vector3, normal: Vector3) => void) | null = null;
  /** The sample the handles hold. */
  sample: ChosenSample | null = null;
  readonly trail = new Trail();
  private readonly cut = new Plane();
  private framed = false;
  private lastClip: string | null = null;
  private inside: Inside | null = null;

  constructor(
    element: HTMLElement,
    private readonly model: Model,
  ) {
    this.stage = new Stage(element);
    this.gizmo = new Gizmo(this.stage);
    this.stage.scene.add(this.trail.group);
    this.stage.panes = () => this.panes();
    model.on("character", (character) => {
      this.begin(character);
    });
    model.on("frame", (frame) => {
      this.take(frame);
    });
    model.on("inside", (inside) => {
      this.inside = inside;
      this.interior?.take(inside, model.display.paint, model.selection);
      this.placeGizmo();
      this.stage.invalidate();
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
    this.listen(this.stage.renderer.domElement);
  }

  private begin(character: Character): void {
    this.skins?.forEach((skin) => {
      skin.dispose();
    });
    this.skeleton?.group.removeFromParent();
    this.interior?.group.removeFromParent();
    this.skins = [new Skin(character, false), new Skin(character, true)];
    this.skeleton = new Skeleton(character);
    this.interior = new Interior(character);
    this.stage.scene.add(this.skins[0].mesh, this.skins[1].mesh, this.skeleton.group, this.interior.group);
    this.restyle();
  }

  private take(frame: Frame): void {
    const started = performance.now();
    if (this.skins === null || this.skeleton === null || this.model.character === null) return;
    frame.skins.forEach(({ positions, normals }, k) => this.skins?.[k]?.take(positions, normals));
    this.skins[0].paint(frame.quantity, frame.values);
    this.skeleton.take(frame.joints);
    const [skin] = frame.skins;
    if (skin) this.trail.take(frame.at, skin.positions, frame.path);
    if (!this.framed) {
      this.framed = true;
      const box = this.skins[0].box();
      this.stage.frame(box, box.getSize(new Vector3()).length());
    }
    this.placeGizmo();
    this.model.timing.taking = performance.now() - started;
    this.stage.invalidate((drawing) => {
      this.model.timing.drawing = drawing;
      this.model.drawn(frame.frame);
    });
  }

  private panes(): Pane[] {
    const [first, second] = this.skins ?? [];
    const show = (one: boolean) => (): void => {
      if (first) first.mesh.visible = one;
      if (second) second.mesh.visible = !one;
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
    let plane: Plane | null = null;
    if (display.cut) {
      plane = this.cut.setComponents(...AXES[display.cut.axis].clone().negate().toArray(), display.cut.at);
    }
    this.skins?.forEach((skin) => {
      skin.look(display.opacity, display.wireframe, plane);
    });
    if (this.skeleton) {
      this.skeleton.group.visible = display.skeleton || selection.kind === "joint" || this.wantJoint !== null;
      this.skeleton.colour(selection.kind === "joint" ? selection.joint : null, new Set(pose.keys()));
    }
    this.interior?.repaint(display.paint, selection);
    this.placeGizmo();
    this.stage.invalidate();
  }

  /** Something about what can be clicked changed. */
  refresh(): void {
    this.restyle();
  }

  /** Chooses what the handles hold. */
  hold(grip: Grip): void {
    this.grip = grip;
    this.placeGizmo();
    this.stage.invalidate();
  }

  private placeGizmo(): void {
    const { gizmo, model, skeleton } = this;
    if (gizmo.dragging || skeleton === null) return;
    const { selection, display } = model;
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
    const muscle = this.model.muscle();
    if (muscle !== null && (this.grip === "origin" || this.grip === "insertion")) {
      const end = muscle[this.grip];
      return Array.isArray(end) ? null : end;
    }
    const fat = this.model.fat();
    return fat !== null && this.grip === "fat" ? { bone: fat.bone, at: fat.at } : null;
  }

  private attachJoint(joint: number): void {
    const { model, gizmo, skeleton } = this;
    let before = new Map<number, Rotation>();
    const parent = model.character?.joints[joint]?.parent ?? null;
    gizmo.attach("rotate", "xyz", {
      started: () => {
        before = new Map(model.pose);
        model.move({ playing: false });
      },
      moved: (_, turn) => {
        const above = new Quaternion();
        if (parent !== null) skeleton?.matrix(parent).decompose(new Vector3(), above, new Vector3());
        const local = above.invert().multiply(turn).normalize();
        model.turn(joint, [local.x, local.y, local.z, local.w]);
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
      },
      ended: () => undefined,
    });
  }

  /** Handles on a point of a bone. A joint's own scale does not count in an anatomy. */
  private attachPoint(point: Attachment): void {
    const { model, gizmo, skeleton } = this;
    const joint = model.character?.joints.findIndex((j) => j.name === point.bone) ?? -1;
    if (skeleton === null || joint < 0) {
      gizmo.detach();
      return;
    }
    const world = unscaled(skeleton.matrix(joint));
    const back = world.clone().invert();
    let drag: number | null = null;
    gizmo.attach("translate", "xyz", {
      started: () => {
        drag = model.newDrag();
      },
      moved: (place) => {
        const at = place.applyMatrix4(back).toArray();
        this.movePoint(at, drag);
      },
      ended: () => undefined,
    });
    gizmo.put(new Vector3(...point.at).applyMatrix4(world), new Quaternion());
  }

  private movePoint(at: [number, number, number], drag: number | null): void {
    const { model, grip } = this;
    const rounded = at.map((x) => Number(x.toFixed(5)));
    const muscle = model.muscle();
    const fat = model.fat();
    if (muscle !== null) {
      const target = { entry: ["muscle", muscle.name, muscle.side] as ["muscle", string, typeof muscle.side] };
      model.edit([{ set: { target, field: `${grip}.at`, value: rounded } }], drag);
    } else if (fat !== null) {
      const target = { entry: ["fat", fat.name, fat.side] as ["fat", string, typeof fat.side] };
      model.edit([{ set: { target, field: "at", value: rounded } }], drag);
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
      if (clicked) this.click(event.offsetX, event.offsetY, event.altKey);
    });
    canvas.addEventListener("dblclick", () => {
      this.frameSelection();
    });
  }

  private click(x: number, y: number, follow: boolean): void {
    const { model, skeleton, stage } = this;
    if (skeleton === null) return;
    const { clientWidth: width, clientHeight: height } = stage.element;
    const [pane, paneWidth, left] = this.paneAt(x, width);
    stage.camera.aspect = paneWidth / height;
    stage.camera.updateProjectionMatrix();
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * (x - left)) / paneWidth - 1, 1 - (2 * y) / height), stage.camera);
    const [skin] = this.skins ? ray.intersectObject(this.skins[pane].mesh) : [];
    if (this.wantPoint !== null && skin?.normal) {
      this.wantPoint(skin.point, skin.normal);
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
        else model.select({ kind: "joint", joint });
        return;
      }
    }
    const hit = this.interior?.pick(ray) ?? null;
    if (hit !== null) {
      model.select({ kind: hit.kind, name: hit.name, side: hit.side });
      return;
    }
    if (skin && this.wantJoint !== null) this.wantJoint(skeleton.nearest(skin.point));
    else if (skin && (model.display.skeleton || model.selection.kind === "joint")) {
      model.select({ kind: "joint", joint: skeleton.nearest(skin.point) });
    } else if (!skin) model.select({ kind: "none" });
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
    if (this.skeleton === null || character === null || selection.kind !== "joint") {
      this.frameAll();
      return;
    }
    const box = new Box3();
    const around = [selection.joint];
    character.joints.forEach((joint, k) => {
      if (joint.parent === selection.joint) around.push(k);
    });
    const parent = character.joints[selection.joint]?.parent ?? null;
    if (parent !== null) around.push(parent);
    for (const joint of around) box.expandByPoint(this.skeleton.place(joint));
    this.stage.lookAt(box.expandByScalar(0.03 * character.size));
  }
}

function selectedJoint({ selection }: Model): number | null {
  return selection.kind === "joint" ? selection.joint : null;
}

function unscaled(matrix: Matrix4): Matrix4 {
  const [place, turn] = [new Vector3(), new Quaternion()];
  matrix.decompose(place, turn, new Vector3());
  return new Matrix4().compose(place, turn, new Vector3(1, 1, 1));
}
