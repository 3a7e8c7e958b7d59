/** Handles to turn a joint, to move an attachment, or to drag a plane. */

import { Object3D, Quaternion, Vector3 } from "three";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";
import type { Stage } from "./stage.ts";

export interface Drag {
  started(): void;
  moved(place: Vector3, turn: Quaternion): void;
  ended(): void;
}

export type Handle = "rotate" | "translate";

export class Gizmo {
  readonly proxy = new Object3D();
  dragging = false;
  private readonly controls: TransformControls;
  private drag: Drag | null = null;

  constructor(stage: Stage) {
    this.controls = new TransformControls(stage.camera, stage.renderer.domElement);
    this.controls.setSize(0.7);
    this.controls.setColors(0xff6b6b, 0x7bd88f, 0x6aa9ff, 0xffd166);
    stage.overlay.add(this.proxy, this.controls.getHelper());
    this.controls.addEventListener("change", () => {
      stage.invalidate();
    });
    this.controls.addEventListener("dragging-changed", (event) => {
      this.dragging = event.value === true;
      stage.orbit.enabled = !this.dragging;
      if (this.dragging) this.drag?.started();
      else this.drag?.ended();
    });
    this.controls.addEventListener("objectChange", () => {
      if (this.dragging) this.drag?.moved(this.proxy.position.clone(), this.proxy.quaternion.clone());
    });
  }

  /** Shows handles where `place` and `turn` say; `axes` are those that can be dragged. */
  attach(handle: Handle, axes: string, drag: Drag): void {
    this.drag = drag;
    this.controls.setMode(handle);
    this.controls.setSpace(handle === "rotate" ? "local" : "world");
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
