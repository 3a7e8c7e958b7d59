/** The bake: a window beside the character, which stays in use; bakes that wait for the one that runs. */

import type { BakeProgress, Look, Request } from "../messages.ts";
import type { Model } from "../model.ts";
import { pathField, WHERE } from "./dialogs.ts";
import { button, h, row, select } from "./dom.ts";
import { evaluate } from "./expression.ts";
import { LOOKS } from "./toolbar.ts";

type Order = Extract<Request, { bake: unknown }>;

/** Bakes that wait for the one that runs; a page that is closed takes them with it. */
const queue: Order[] = [];

/** When the first frame of the running bake was written, and how many were then. */
let pace: { since: number; done: number } | null = null;

/** Whether the clip played when the bake began. */
let played = false;

/** How long the rest takes, in words; empty while nobody knows. */
function timeLeft({ done, frames }: BakeProgress): string {
  if (pace === null || done <= pace.done) return "";
  const seconds = Math.ceil(((performance.now() - pace.since) / 1000 / (done - pace.done)) * (frames - done));
  return seconds < 60 ? `  ·  ${seconds} s left` : `  ·  ${Math.ceil(seconds / 60)} min left`;
}

function words(progress: BakeProgress): string {
  const waiting = queue.length > 0 ? `  ·  ${queue.length} more wait` : "";
  if (progress.preparing) return `preparing the body…${waiting}`;
  if (progress.running) return `frame ${progress.done} of ${progress.frames}${timeLeft(progress)}${waiting}`;
  return progress.outcome;
}

/** Opens the window, or brings it back. */
export function bake(model: Model): void {
  const { character, transport, display } = model;
  const open = document.querySelector<HTMLDialogElement>("#bake");
  if (!character || open !== null) {
    open?.querySelector("input")?.focus();
    return;
  }
  const file = pathField(`${character.name}.pc2`, "Cache to write");
  const clips = select([["", "rest pose"], ...character.clips.map((clip): [string, string] => [clip.name, clip.name])], transport.clip ?? "", "Clip", () => undefined);
  const method = select(LOOKS.map(([id, label]) => [id, label]), display.looks[0], "Method", () => undefined);
  const fps = h("input", { class: "number", attributes: { type: "text", inputmode: "decimal", placeholder: "clip’s", "aria-label": "Frames per second" } });
  const bar = h("progress", { attributes: { max: "1", value: "0" } });
  const outcome = h("p", { class: "hint", text: "Extensions: .abc .pc2 .mdd .obj .glb .usda" });
  outcome.id = "bake-outcome";
  let running = false;
  const start = button("Bake", "Start; while another bake runs, this one waits for it", () => {
    const order: Order = {
      bake: {
        path: file.value.trim(),
        clip: clips.value === "" ? null : clips.value,
        method: method.value as Look,
        smooth: model.display.smooth,
        fps: evaluate(fps.value, ""),
      },
    };
    if (running) {
      queue.push(order);
      if (model.bake) draw(model.bake);
    } else model.request(order);
  }, "primary");
  start.id = "bake-start";
  const cancel = button("Close", "Esc", () => {
    if (!running) element.close();
    queue.length = 0;
    if (running) model.request("cancel_bake");
  });
  cancel.id = "bake-cancel";
  file.id = "bake-path";
  clips.id = "bake-clip";
  method.id = "bake-method";
  fps.id = "bake-fps";
  const element = h(
    "dialog",
    { id: "bake", class: "aside" },
    h("h1", { text: "Bake" }),
    row("File", WHERE, file),
    row("Clip", "What is baked", clips),
    row("Method", "How the skin is deformed", method),
    row("Rate, fps", "Frames per second; empty for the clip’s own", fps),
    bar,
    outcome,
    h("div", { class: "buttons end" }, cancel, start),
  );
  element.addEventListener("close", () => { element.remove(); });
  document.body.append(element);
  element.show();
  const draw = (progress: BakeProgress): void => {
    running = progress.running;
    start.textContent = running ? "Queue" : "Bake";
    cancel.textContent = running ? "Cancel" : "Close";
    bar.value = progress.frames > 0 ? progress.done / progress.frames : 0;
    outcome.textContent = words(progress);
    outcome.classList.toggle("bad", progress.failed);
  };
  // One that went on behind a closed window.
  if (model.bake?.running === true) draw(model.bake);
  element.addEventListener("close", model.on("bake", draw));
}

/** Follows bakes whether or not their window is open: pauses playing, starts the next, tells how they ended. */
export function tellBakes(model: Model): void {
  model.on("bake", (progress) => {
    const { running, preparing, failed, outcome, done } = progress;
    if (preparing && pace === null && model.transport.playing) {
      played = true;
      model.move({ playing: false });
    }
    if (running && done > 0) pace ??= { since: performance.now(), done };
    if (running) return;
    pace = null;
    const next = failed ? undefined : queue.shift();
    if (failed) queue.length = 0;
    if (next !== undefined) model.request(next);
    else if (played) {
      played = false;
      model.move({ playing: true });
    }
    if (document.querySelector("#bake-outcome") === null || next !== undefined) {
      model.emit("notice", { level: failed ? "error" : "done", text: outcome });
    }
  });
}
