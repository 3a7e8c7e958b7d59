/** Windows over the page: names of files, the bake, the keys. */

import type { BakeProgress, Look, Request } from "../messages.ts";
import type { Model } from "../model.ts";
import { button, h, row, select } from "./dom.ts";
import { SHORTCUTS } from "../shortcuts.ts";
import { LOOKS } from "./toolbar.ts";

function dialog(title: string, ...children: (HTMLElement | null)[]): HTMLDialogElement {
  const element = h("dialog", {}, h("h1", { text: title }), ...children);
  element.addEventListener("close", () => { element.remove(); });
  element.addEventListener("click", (event) => { if (event.target === element) element.close(); });
  document.body.append(element);
  element.showModal();
  return element;
}

function pathField(value: string, label: string): HTMLInputElement {
  const input = h("input", { class: "path", attributes: { type: "text", spellcheck: "false", "aria-label": label } });
  input.value = value;
  return input;
}

function askPath(title: string, value: string, hint: string, verb: string, done: (path: string) => void): void {
  const input = pathField(value, title);
  const finish = (): void => { done(input.value.trim()); element.close(); };
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    // Else the same key presses the button that gets the focus back.
    event.preventDefault();
    finish();
  });
  const element: HTMLDialogElement = dialog(
    title,
    input,
    h("p", { class: "hint", text: hint }),
    h("div", { class: "buttons end" }, button("Cancel", "Esc", () => { element.close(); }), button(verb, "Enter", finish, "primary")),
  );
  input.select();
}

const WHERE = "A path on this machine, relative to the folder the studio was started in.";

export function saveAs(model: Model): void {
  askPath("Save the anatomy as", model.document?.path ?? `${model.character?.name ?? "anatomy"}.toml`, WHERE, "Save", (path) => {
    model.wire.send({ save: { path } });
  });
}

export function save(model: Model): void {
  if ((model.document?.path ?? null) === null) saveAs(model);
  else model.wire.send({ save: { path: null } });
}

export function load(model: Model): void {
  askPath("Open an anatomy file", model.document?.path ?? "", `${WHERE} Opening can be undone.`, "Open", (path) => {
    model.wire.send({ load: { path } });
  });
}

export function bake(model: Model): void {
  const { character, transport, display } = model;
  if (!character) return;
  const file = pathField(`${character.name}.pc2`, "Cache to write");
  const clips = select([["", "rest pose"], ...character.clips.map((clip): [string, string] => [clip.name, clip.name])], transport.clip ?? "", "Clip", () => undefined);
  const method = select(LOOKS.map(([id, label]) => [id, label]), display.looks[0], "Method", () => undefined);
  const fps = h("input", { class: "number", attributes: { type: "number", min: "1", placeholder: "clip’s", "aria-label": "Frames per second" } });
  const bar = h("progress", { attributes: { max: "1", value: "0" } });
  const outcome = h("p", { class: "hint", text: "Extensions: .abc .pc2 .mdd .obj .glb .usda" });
  outcome.id = "bake-outcome";
  let running = false;
  const start = button("Bake", "Start", () => {
    const rate = fps.valueAsNumber;
    model.wire.send({
      bake: {
        path: file.value.trim(),
        clip: clips.value === "" ? null : clips.value,
        method: method.value as Look,
        smooth: model.display.smooth,
        fps: Number.isNaN(rate) ? null : rate,
      },
    });
  }, "primary");
  start.id = "bake-start";
  const cancel = button("Close", "Esc", () => { if (running) model.wire.send("cancel_bake"); else element.close(); });
  cancel.id = "bake-cancel";
  file.id = "bake-path";
  clips.id = "bake-clip";
  method.id = "bake-method";
  fps.id = "bake-fps";
  const element: HTMLDialogElement = dialog(
    "Bake",
    row("File", WHERE, file),
    row("Clip", "What is baked", clips),
    row("Method", "How the skin is deformed", method),
    row("Rate, fps", "Frames per second; empty for the clip’s own", fps),
    bar,
    outcome,
    h("div", { class: "buttons end" }, cancel, start),
  );
  const draw = (progress: BakeProgress): void => {
    running = progress.running;
    start.disabled = running;
    cancel.textContent = running ? "Cancel" : "Close";
    bar.value = progress.frames > 0 ? progress.done / progress.frames : 0;
    outcome.textContent = running ? `frame ${progress.done} of ${progress.frames}` : progress.outcome;
    outcome.classList.toggle("bad", progress.failed);
  };
  // One that went on behind a closed window.
  if (model.bake?.running === true) draw(model.bake);
  element.addEventListener("close", model.on("bake", draw));
}

/** Tells of a bake that ended while its window was closed. */
export function tellBakes(model: Model): void {
  model.on("bake", ({ running, failed, outcome }) => {
    if (!running && document.querySelector("#bake-outcome") === null) {
      model.emit("notice", { level: failed ? "error" : "done", text: outcome });
    }
  });
}

/** Asks what the engine asks, and sends what the answer stands for. */
export function askQuestions(model: Model): void {
  model.on("notice", ({ text, yes, no }) => {
    if (yes === undefined) return;
    // A window that is only closed answers nothing.
    const reply = (answer: Request | null): void => { if (answer !== null) model.wire.send(answer); question.close(); };
    const question: HTMLDialogElement = dialog(
      "Question",
      h("p", { text }),
      h("div", { class: "buttons end" }, button("No", "No", () => { reply(no ?? null); }), button("Yes", "Yes", () => { reply(yes); }, "primary")),
    );
  });
}

export function help(): void {
  const cells = SHORTCUTS.flatMap(([keys, what]) => [
    h("span", {}, ...keys.split(" ").map((key) => h("kbd", { text: key }))),
    h("span", { text: what }),
  ]);
  const element = dialog(
    "Keys",
    h("div", { class: "keys" }, ...cells),
    h("p", { class: "hint", text: "Drag to orbit, right drag to pan, wheel to zoom, double click to frame. Alt click follows a vertex and draws its path." }),
  );
  element.classList.add("wide");
}
