/** Handles to turn a joint, to move an attachment, or to drag a plane. */

import { DoubleSide, Mesh, MeshBasicMaterial, Object3D, Quaternion, RingGeometry, Vector3 } from "three";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
import type { Stage } from "./stage.ts";

export interface Drag {
  started(): void;
  /** Returns how it is turned then, where that may be less than asked for. */
  moved(place: Vector3, turn: Quaternion): Quaternion | undefined;
  ended(): void;
}

/** What a ring turns by with Ctrl, radians. */
const SNAP = Math.PI / 36;

export type Handle = "rotate" | "translate";

export class Gizmo {
  readonly proxy = new Object3D();
  dragging = false;
  /** The axes of the rings: the joint's own, or the world's. */
  space: "local" | "world" = "local";
  private readonly controls: TransformControls;
  private drag: Drag | null = null;
  /** How far the ring was turned in this drag, and the words for it. */
  private readonly arc = new Mesh(new RingGeometry(), new MeshBasicMaterial({ color: 0xffd166, transparent: true, opacity: 0.45, side: DoubleSide, depthTest: false }));
  private readonly label = document.createElement("div");
  private readonly start = new Quaternion();
  private readonly pointer = { x: 0, y: 0 };

  constructor(private readonly stage: Stage) {
    this.controls = new TransformControls(stage.camera, stage.renderer.domElement);
    this.controls.setSize(0.7);
    this.controls.setColors(0xff6b6b, 0x7bd88f, 0x6aa9ff, 0xffd166);
    this.arc.visible = false;
    this.arc.renderOrder = 20;
    this.label.className = "turned";
    this.label.hidden = true;
    stage.element.append(this.label);
    stage.overlay.add(this.proxy, this.controls.getHelper(), this.arc);
    stage.element.addEventListener("pointermove", ({ offsetX: x, offsetY: y, ctrlKey }) => {
      Object.assign(this.pointer, { x, y });
      // Set before the handles see the move: the listener is on what holds their canvas, for its way down.
      this.controls.setRotationSnap(ctrlKey ? SNAP : null);
    }, true);
    this.controls.addEventListener("change", () => {
      stage.invalidate();
    });
    this.controls.addEventListener("dragging-changed", (event) => {
      this.dragging = event.value === true;
      stage.orbit.enabled = !this.dragging;
      this.start.copy(this.proxy.quaternion);
      this.arc.visible = false;
      this.label.hidden = true;
      if (this.dragging) this.drag?.started();
      else this.drag?.ended();
    });
    this.controls.addEventListener("objectChange", () => {
      if (!this.dragging) return;
      const turned = this.drag?.moved(this.proxy.position.clone(), this.proxy.quaternion.clone());
      if (this.controls.mode === "rotate") this.tellTurn(turned ?? this.proxy.quaternion);
    });
  }

  /** Draws how far the ring was turned, and says it beside the pointer. */
  private tellTurn(to: Quaternion): void {
    const axis = ({ X: new Vector3(1, 0, 0), Y: new Vector3(0, 1, 0), Z: new Vector3(0, 0, 1) } as Record<string, Vector3>)[this.controls.axis ?? ""];
    const turn = this.start.clone().invert().multiply(to);
    const way = axis ?? new Vector3(turn.x, turn.y, turn.z).normalize();
    const angle = 2 * Math.atan2(new Vector3(turn.x, turn.y, turn.z).dot(way), turn.w);
    const short = angle > Math.PI ? angle - 2 * Math.PI : angle < -Math.PI ? angle + 2 * Math.PI : angle;
    const size = 0.16 * this.stage.camera.position.distanceTo(this.proxy.position) * Math.tan((0.5 * this.stage.camera.fov * Math.PI) / 180);
    this.arc.geometry.dispose();
    this.arc.geometry = new RingGeometry(0.15 * size, size, 48, 1, Math.min(0, short), Math.abs(short));
    this.arc.position.copy(this.proxy.position);
    this.arc.quaternion.copy(this.start).multiply(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), way));
    this.arc.visible = true;
    this.label.textContent = `${((short * 180) / Math.PI).toFixed(1)}°`;
    this.label.style.left = `${this.pointer.x + 18}px`;
    this.label.style.top = `${this.pointer.y - 10}px`;
    this.label.hidden = false;
  }

  /** Shows handles where `place` and `turn` say; `axes` are those that can be dragged. */
  attach(handle: Handle, axes: string, drag: Drag): void {
    this.drag = drag;
    this.controls.setMode(handle);
    this.controls.setSpace(handle === "rotate" ? this.space : "world");
    this.controls.showX = axes.includes("x");
    this.controls.showY = axes.includes("y");
    this.controls.showZ = axes.includes("z");
    this.controls.attach(this.proxy);
  }

  put(place: Vector3, turn: Quaternion): void {
    if (this.dragging) return;
    this.proxy.position.copy(place);
    this.proxy.quaternion.copy(turn);
    this.proxy.updateMatrixWorld();
  }

  detach(): void {
    this.drag = null;
    this.controls.detach();
  }

  /** Whether the pointer is on a handle. */
  get hovered(): boolean {
    return this.controls.axis !== null;
  }
}
