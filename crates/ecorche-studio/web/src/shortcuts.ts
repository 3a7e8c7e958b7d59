/** Keys. */

import type { Model } from "./model.ts";
import type { Page } from "./page.ts";
import { newMuscle } from "./panel/create.ts";
import { bake } from "./panel/bake.ts";
import { help, save } from "./panel/dialogs.ts";
import { surfaceChange } from "./panel/look.ts";
import { sampleEdit } from "./panel/samples.ts";
import { nextCrossing, nextWorst } from "./panel/judge_strip.ts";
import { rest, step, togglePlay } from "./panel/timeline.ts";
import { LOOKS } from "./panel/toolbar.ts";
import type { Viewport } from "./stage/viewport.ts";
import { lookFrom, viewOf } from "./tool/views.ts";

export const SHORTCUTS: [string, string][] = [
  ["Space", "play or pause, muscles held in their swing"],
  ["0", "stop and let muscles come to rest"],
  ["← →", "a frame back, a frame on"],
  ["Home End", "first and last frame"],
  ["[ ]", "clip before, clip after"],
  ["K", "next frame in which skin crosses; Shift K the one before"],
  ["U", "worst frame, then the next worst"],
  ["1 … 6", "method"],
  ["C", "compare: one, side by side, wipe"],
  ["J", "joints"],
  ["M", "muscles and fat"],
  ["T", "solid or transparent skin"],
  ["H", "samples of the fields"],
  ["I", "iso-surface"],
  ["P", "slice"],
  ["X", "cut"],
  ["W", "wireframe"],
  ["G", "textures or clay"],
  ["V", "camera goes along or stays"],
  ["Num 1 3 7", "from the front, the side, above; with Ctrl from the other side"],
  ["Num 0", "three quarters"],
  ["F", "frame the selection"],
  ["A", "frame everything"],
  ["R", "reset the selected joint"],
  ["Shift R", "reset the whole pose"],
  ["N", "new muscle between two bones"],
  ["Delete", "delete the selected muscle or fat"],
  ["Ctrl D", "duplicate it"],
  ["Ctrl Z", "undo"],
  ["Ctrl Shift Z", "redo"],
  ["Ctrl S", "save the anatomy"],
  ["B", "bake"],
  ["/", "find"],
  ["Shift click", "another joint that turns along"],
  ["Alt click", "follow a vertex"],
  ["Esc", "let go"],
  ["?", "these keys"],
];

/** Whether a control that has the focus is one for words. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && ["text", "search", "number"].includes(target.type);
}

/** Whether a key is for the control that has the focus. */
function isTaken(target: EventTarget | null, key: string): boolean {
  if (target instanceof HTMLSelectElement || isTyping(target)) return true;
  if (target instanceof HTMLInputElement && target.type === "range") return /^(Arrow|Page|Home|End)/.test(key);
  // What was clicked has the focus, too; then the keys are the page's.
  const reached = target instanceof HTMLElement && target.matches(":focus-visible");
  return reached && (target instanceof HTMLInputElement || target instanceof HTMLButtonElement) && [" ", "Enter"].includes(key);
}

export function shortcuts(page: Page): void {
  const { model, viewport } = page;
  let pointed = false;
  addEventListener("pointerdown", () => { pointed = true; }, true);
  addEventListener("keydown", () => { pointed = false; }, true);
  // A list that was chosen from with the pointer does not keep the keys.
  addEventListener("change", ({ target }) => { if (pointed && target instanceof HTMLSelectElement) target.blur(); });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const taken = isTaken(event.target, event.key);
      if (event.target instanceof HTMLElement) event.target.blur();
      if (taken) return;
      if (document.body.classList.contains("presenting")) {
        page.shortcuts.find(({ key }) => key === "o")?.press();
        return;
      }
      const beside = document.querySelector<HTMLDialogElement>("dialog.aside");
      if (beside !== null && document.querySelector("dialog:modal") === null) {
        beside.close();
        return;
      }
      viewport.wantJoint = null;
      viewport.wantPoint = null;
      viewport.follow(null);
      if (document.querySelector("dialog:modal") === null) model.select({ kind: "none" });
      return;
    }
    if (isTyping(event.target) || document.querySelector("dialog:modal") !== null || event.altKey) return;
    const view = viewOf(event);
    if (view !== null) {
      event.preventDefault();
      lookFrom(viewport.stage, view);
      return;
    }
    const commanded = event.ctrlKey || event.metaKey;
    if (!commanded && isTaken(event.target, event.key)) return;
    const added = commanded ? undefined : page.shortcuts.find(({ key }) => key === event.key);
    added?.press();
    const done = added !== undefined || (commanded ? command(event, model) : plain(event, page));
    if (done) event.preventDefault();
  });
}

function command(event: KeyboardEvent, model: Model): boolean {
  switch (event.key.toLowerCase()) {
    case "z":
      if (event.shiftKey) model.redo();
      else model.undo();
      return true;
    case "y":
      model.redo();
      return true;
    case "s":
      save(model);
      return true;
    case "d":
      duplicate(model);
      return true;
    default:
      return false;
  }
}

function plain(event: KeyboardEvent, page: Page): boolean {
  const { model, viewport } = page;
  const { display, selection } = model;
  const look = LOOKS[Number(event.key) - 1];
  if (look) {
    model.show({ looks: [look[0], display.looks[1]] });
    return true;
  }
  const middle = viewport.skins?.[0].middle();
  switch (event.key) {
    case " ": togglePlay(model); break;
    case "0": rest(model); break;
    case "ArrowLeft": step(model, -1); break;
    case "ArrowRight": step(model, 1); break;
    case "Home": model.scrub(0); break;
    case "End": model.scrub(model.frame?.last ?? 0); break;
    case "[": nextClip(model, -1); break;
    case "]": nextClip(model, 1); break;
    case "l": model.move({ repeat: !model.transport.repeat }); break;
    case "c": model.show({ compare: ({ single: "side", side: "wipe", wipe: "single" } as const)[display.compare] }); break;
    case "j": model.show({ skeleton: !display.skeleton }); break;
    case "m": model.show({ flesh: !display.flesh, ...(!display.flesh && display.opacity > 0.6 ? { opacity: 0.35 } : {}) }); break;
    case "t": model.show({ opacity: display.opacity > 0.9 ? 0.35 : 1 }); break;
    case "h": model.show({ samples: !display.samples }); break;
    case "i": model.show(surfaceChange(model, display.surface === null)); break;
    case "p":
      model.show({ slice: display.slice ? null : { axis: "z", at: middle?.z ?? 0, whole: true } });
      viewport.hold(display.slice ? "slice" : "pose");
      break;
    case "x": model.show({ cut: display.cut ? null : { axis: "z", at: middle?.z ?? 0 } }); break;
    case "g": model.show({ pictures: !display.pictures }); break;
    case "w": model.show({ wireframe: !display.wireframe }); break;
    case "v": model.show({ follow: !display.follow }); break;
    case "f": viewport.frameSelection(); break;
    case "a": viewport.frameAll(); break;
    case "r": if (selection.kind === "joint") model.resetPose(selection.joint); break;
    case "R": model.resetPose(null); break;
    case "n": newMuscle(model, viewport); break;
    case "k": nextCrossing(model, 1); break;
    case "K": nextCrossing(model, -1); break;
    case "u": nextWorst(model); break;
    case "b": bake(model); break;
    case "/": document.querySelector<HTMLInputElement>("#search")?.focus(); break;
    case "?": help(page); break;
    case "Delete":
    case "Backspace": remove(model, viewport); break;
    default: return false;
  }
  return true;
}

function nextClip(model: Model, by: number): void {
  const names = model.character?.clips.map((clip) => clip.name) ?? [];
  if (names.length === 0) return;
  const at = names.indexOf(model.transport.clip ?? "");
  model.move({ clip: names[(at + by + names.length) % names.length] ?? null });
}

function remove(model: Model, viewport: Viewport): void {
  const { selection } = model;
  if (selection.kind === "joint" && viewport.sample !== null) {
    model.edit(sampleEdit(model, viewport, selection.joint, viewport.sample, null));
    viewport.chooseSample(null);
  }
  if (selection.kind === "none" || selection.kind === "joint") return;
  model.edit([{ remove: { entry: [selection.kind, selection.name, selection.side] } }]);
  model.select({ kind: "none" });
}

function duplicate(model: Model): void {
  const { selection } = model;
  if (selection.kind === "none" || selection.kind === "joint") return;
  const name = `${selection.name} copy`;
  model.edit([{ duplicate: { target: { entry: [selection.kind, selection.name, selection.side] }, name } }]);
  model.select({ ...selection, name });
}
