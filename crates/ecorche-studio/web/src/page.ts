/**
 * What the page is put together from. A part that is added later (a panel of its own, something on the stage, a key) asks
 * for its place here and is listed in extensions.ts; no other file needs to know it.
 */

import type { Frame } from "./messages.ts";
import type { Events, Model } from "./model.ts";
import type { Child } from "./panel/patch.ts";
import type { Viewport } from "./stage/viewport.ts";
import type { Object3D } from "three";

/** A tab of the panel on the right. */
export interface Tab {
  id: string;
  label: string;
  title: string;
  /** What it belongs to: the selected thing of that kind, or the page. */
  of: "joint" | "muscle" | "parametric" | "fat" | "page";
  /** When it is drawn anew; those of a selection also when that changes. */
  on: readonly (keyof Events)[];
  /** Whether it shows what depends on the moment. */
  moving?: boolean;
  /** Whether it is there now; always without. */
  fits?: () => boolean;
  draw: () => Child[];
}

/** Something on the stage that comes and goes with frames. */
export interface Layer {
  object: Object3D;
  /** A frame has come. */
  take?: (frame: Frame) => void;
  /** What is shown, selected or posed changed. */
  restyle?: () => void;
}

/** A key, what it does in words, and what it does. */
export interface Shortcut {
  key: string;
  about: string;
  press: () => void;
}

export class Page {
  readonly tabs: Tab[] = [];
  readonly shortcuts: Shortcut[] = [];

  constructor(
    readonly model: Model,
    readonly viewport: Viewport,
  ) {}

  addTab(tab: Tab): void {
    this.tabs.push(tab);
  }

  addLayer(layer: Layer): void {
    this.viewport.addLayer(layer);
  }

  addShortcut(shortcut: Shortcut): void {
    this.shortcuts.push(shortcut);
  }
}
