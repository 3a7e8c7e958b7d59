/** The bar at the bottom: clips and time. */

import type { Model } from "../model.ts";
import { button, empty, h, select } from "./dom.ts";
import { judgeStrip } from "./judge_strip.ts";
import { keyCurve } from "./key_curve.ts";
import { keyStrip } from "./key_strip.ts";
import { patch } from "./patch.ts";

const SPEEDS: [string, string][] = [["0.1", "0.1×"], ["0.25", "0.25×"], ["0.5", "0.5×"], ["1", "1×"], ["2", "2×"]];

export function timeline(model: Model): HTMLElement {
  const play = button("▶", "Play or pause (Space)", () => { togglePlay(model); }, "icon play");
  play.id = "play";
  const range = h("input", { id: "scrub", title: "Drag to a frame (← →)", attributes: { type: "range", min: "0", max: "0", step: "1", "aria-label": "Frame" } });
  const place = h("span", { class: "place" });
  const repeat = button("⟳", "Start again at the end (L)", () => { model.move({ repeat: !model.transport.repeat }); }, "icon");
  const settle = button("◦", "Let muscles come to rest here (0)", () => { rest(model); }, "icon");
  settle.id = "rest";
  const clips = h("span", { class: "clips" });
  const speed = select(SPEEDS, "1", "Speed", (value) => { model.move({ speed: Number(value) }); });
  let held = false;
  range.addEventListener("pointerdown", () => { held = true; });
  addEventListener("pointerup", () => { held = false; });
  range.addEventListener("input", () => { model.scrub(range.valueAsNumber); });

  model.on("character", ({ clips: list }) => {
    if (list.length === 0) {
      patch(clips, empty("no clips: rest pose"));
      return;
    }
    const choices: [string, string][] = list.map((clip) => [clip.name, clip.name]);
    const chooser = select([["", "rest pose"], ...choices], model.transport.clip ?? "", "Clip ([ and ])", (value) => {
      model.move({ clip: value === "" ? null : value });
    });
    chooser.id = "clip";
    patch(clips, chooser);
  });
  model.on("transport", ({ playing, repeat: again, clip }) => {
    play.textContent = playing ? "❚❚" : "▶";
    repeat.classList.toggle("chosen", again);
    const chooser = clips.querySelector("select");
    if (chooser) chooser.value = clip ?? "";
  });
  model.on("frame", (frame) => {
    range.max = String(frame.last);
    if (!held) range.value = String(Math.round(frame.at));
    const seconds = frame.at / frame.fps;
    place.textContent = `${String(Math.floor(frame.at + 1e-6)).padStart(3, "\u2007")} / ${frame.last}   ${seconds.toFixed(2)} s   ${Math.round(frame.fps)} fps`;
  });
  const judge = judgeStrip(model);
  const curve = keyCurve(model);
  return h(
    "footer",
    { class: "bottom" },
    curve.element,
    h("div", { class: "timeline" }, play, repeat, settle, clips, speed, curve.toggle, h("div", { class: "track" }, range, judge.strip, keyStrip(model)), ...judge.buttons, place),
  );
}

export function togglePlay(model: Model): void {
  const { transport, frame } = model;
  const ended = frame !== null && frame.at >= frame.last - 1e-6;
  if (!transport.playing && ended && !transport.repeat) model.scrub(0);
  model.move({ playing: !transport.playing });
}

/** Stops here and lets muscles come to rest; a pause alone holds them in their swing. */
export function rest(model: Model): void {
  if (model.frame !== null) model.scrub(model.frame.at);
}

/** Goes some frames forward or back. */
export function step(model: Model, frames: number): void {
  const { frame } = model;
  if (frame === null) return;
  const at = frames > 0 ? Math.floor(frame.at + 1e-6) + frames : Math.ceil(frame.at - 1e-6) + frames;
  model.scrub(Math.max(0, Math.min(frame.last, at)));
}
