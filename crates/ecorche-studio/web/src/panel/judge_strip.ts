/** Under the timeline: red where skin crosses, grey where the judge has been; ways to the next such frame. */

import type { Verdict } from "../messages.ts";
import type { Model } from "../model.ts";
import { button, h } from "./dom.ts";

/** Crossing pairs that are painted fully red. */
const FULL = 60;

/** The verdict on what is shown; null while there is none. */
function current({ verdict, transport, display }: Model): Verdict | null {
  const of = verdict?.order ?? null;
  return verdict !== null && of !== null && of.clip === transport.clip && of.look === display.looks[0] ? verdict : null;
}

function say(model: Model, text: string): void {
  model.emit("notice", { level: "hint", text });
}

/** What stands in the way of an answer, in words; empty if nothing does. */
function notYet(model: Model): string {
  if (model.transport.clip === null) return "The rest pose crosses nothing by definition; choose a clip.";
  if (!model.display.judged) return "The judge is off; the button beside the timeline switches it on.";
  const verdict = current(model);
  if (verdict === null || verdict.frames === 0) return "The judge has not begun yet; wait a moment.";
  return verdict.problem ?? "";
}

/** Goes to the next frame in which skin crosses, or back to the one before; past the end it begins anew. */
export function nextCrossing(model: Model, way: 1 | -1): void {
  const [verdict, why] = [current(model), notYet(model)];
  if (verdict === null || why !== "") {
    say(model, why);
    return;
  }
  const found = verdict.crossings.flatMap((count, frame) => (count > 0 ? [frame] : []));
  const here = Math.round(model.moment());
  const beyond = found.filter((frame) => way * (frame - here) > 0);
  const frame = way > 0 ? (beyond[0] ?? found[0]) : (beyond.at(-1) ?? found.at(-1));
  if (frame === undefined) say(model, verdict.crossings.length < verdict.frames ? `No crossing in the first ${verdict.crossings.length} of ${verdict.frames} frames; the judge goes on.` : "Nothing crosses in this clip.");
  else model.scrub(frame);
}

/** Goes to the worst frame, then to the next worst, each the worst of its surroundings. */
export function nextWorst(model: Model): void {
  const [verdict, why] = [current(model), notYet(model)];
  if (verdict === null || why !== "") {
    say(model, why);
    return;
  }
  const { crossings } = verdict;
  const at = (frame: number): number => crossings[frame] ?? 0;
  const peaks = crossings.flatMap((count, frame) => (count > 0 && count >= at(frame - 1) && count > at(frame + 1) ? [frame] : []));
  peaks.sort((a, b) => at(b) - at(a) || a - b);
  const frame = peaks[(peaks.indexOf(Math.round(model.moment())) + 1) % Math.max(peaks.length, 1)];
  if (frame === undefined) {
    say(model, "Nothing crosses in the frames that were judged.");
    return;
  }
  model.scrub(frame);
  say(model, `Frame ${frame}: ${at(frame)} pairs of triangles cross, ${(verdict.depths[frame] ?? 0).toFixed(1)} mm deep.`);
}

export function judgeStrip(model: Model): { strip: HTMLElement; buttons: HTMLElement[] } {
  const strip = h("canvas", { class: "judge-strip", id: "judge-strip", attributes: { width: "1", height: "1" } });
  const worst = button("⚑", "Next worst frame (U)", () => { nextWorst(model); }, "icon");
  const next = button("⇥", "Next frame in which skin crosses (K, back with Shift K)", () => { nextCrossing(model, 1); }, "icon");
  worst.id = "next-worst";
  next.id = "next-crossing";
  const toggle = button("⚖", "", () => { model.show({ judged: !model.display.judged }); }, "icon");
  toggle.id = "judge";
  const draw = (): void => {
    const verdict = current(model);
    const frames = verdict?.frames ?? 0;
    const judged = verdict?.crossings.length ?? 0;
    const crossing = verdict?.crossings.filter((count) => count > 0).length ?? 0;
    const far = verdict === null || frames === 0 ? "" : judged < frames ? `: ${judged} of ${frames} frames judged` : `: ${frames} frames judged`;
    toggle.title = `Judge in the background where skin crosses${far}${judged > 0 ? `, ${crossing} cross` : ""}`;
    toggle.classList.toggle("chosen", model.display.judged);
    strip.title = toggle.title;
    strip.hidden = !model.display.judged || frames === 0;
    if (strip.hidden) return;
    strip.width = Math.max(frames, 1);
    strip.dataset.judged = String(judged);
    strip.dataset.crossing = String(crossing);
    const context = strip.getContext("2d");
    verdict?.crossings.forEach((count, frame) => {
      if (context === null) return;
      const share = Math.min(1, Math.sqrt(count / FULL));
      context.fillStyle = count === 0 ? "#4f6b58" : `rgb(${Math.round(150 + 105 * share)} ${Math.round(90 - 50 * share)} 60)`;
      context.fillRect(frame, 0, 1, 1);
    });
  };
  for (const event of ["verdict", "transport", "display", "character"] as const) model.on(event, draw);
  return { strip, buttons: [toggle, next, worst] };
}
