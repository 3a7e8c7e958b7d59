/** The character alone: panels away, a turntable, pictures to be kept. */

import type { Model } from "../model.ts";
import { button, h } from "../panel/dom.ts";
import type { Viewport } from "../stage/viewport.ts";
import { animate } from "./apng.ts";

/** Seconds of a whole turn. */
const TURN = 12;

/** Pictures of an animated one, and milliseconds each is shown. */
const FRAMES = 36;
const SHOWN = 60;

/** Longest side of an animated picture, pixels. */
const LONGEST = 640;

function keep(name: string, bytes: Blob): void {
  const link = h("a", { attributes: { href: URL.createObjectURL(bytes), download: name } });
  link.click();
  setTimeout(() => { URL.revokeObjectURL(link.href); }, 10_000);
}

/** What the view shows as a PNG, on the view's background; at most `longest` pixels wide and high. */
async function picture(viewport: Viewport, longest: number): Promise<Blob> {
  const { stage } = viewport;
  stage.drawNow();
  const { width, height } = stage.renderer.domElement;
  const share = Math.min(1, longest / Math.max(width, height));
  const canvas = h("canvas", { attributes: { width: `${Math.round(width * share)}`, height: `${Math.round(height * share)}` } });
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("the browser gives no room for a picture");
  const ground = context.createRadialGradient(canvas.width / 2, 0.38 * canvas.height, 0, canvas.width / 2, 0.38 * canvas.height, 0.72 * Math.hypot(canvas.width, canvas.height));
  ground.addColorStop(0, "#3b4148");
  ground.addColorStop(0.58, "#24282d");
  ground.addColorStop(1, "#191c20");
  context.fillStyle = ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(stage.renderer.domElement, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => { canvas.toBlob((blob) => { if (blob) resolve(blob); else reject(new Error("the browser made no picture")); }, "image/png"); });
}

export class Presentation {
  readonly bar: HTMLElement;
  private spinning = false;
  private last = 0;

  constructor(
    private readonly model: Model,
    private readonly viewport: Viewport,
  ) {
    const guarded = (work: () => Promise<void>) => (): void => {
      work().catch((error: unknown) => { model.emit("notice", { level: "error", text: error instanceof Error ? error.message : String(error) }); });
    };
    const turn = button("Turntable", "Turns around the character", () => { this.spin(!this.spinning); turn.classList.toggle("chosen", this.spinning); });
    this.bar = h(
      "div",
      { class: "presenting-bar", id: "presenting-bar" },
      turn,
      button("PNG", "Keeps what is seen as a picture", guarded(() => this.still())),
      button("Animated PNG", "Keeps the clip as it plays on the turntable: a whole turn", guarded(() => this.moving())),
      button("Back", "Panels again (O, Esc)", () => { this.show(false); turn.classList.remove("chosen"); }),
    );
    this.bar.hidden = true;
  }

  get shown(): boolean {
    return document.body.classList.contains("presenting");
  }

  show(on: boolean): void {
    document.body.classList.toggle("presenting", on);
    this.bar.hidden = !on;
    if (!on) this.spin(false);
    if (on) this.model.show({ skeleton: false });
    if (on) this.model.select({ kind: "none" });
    this.viewport.stage.invalidate();
  }

  private name(): string {
    return (this.model.character?.name ?? "character").replaceAll(/[^\p{L}\p{N}_-]+/gu, "_");
  }

  private async still(): Promise<void> {
    keep(`${this.name()}.png`, await picture(this.viewport, Infinity));
  }

  /** A whole turn while the clip goes on: each picture waits for its frame. */
  private async moving(): Promise<void> {
    const { model, viewport } = this;
    const wasPlaying = model.transport.playing;
    this.spin(false);
    const last = model.frame?.last ?? 0;
    const from = model.moment();
    const pictures: Uint8Array[] = [];
    for (let k = 0; k < FRAMES; k++) {
      if (last > 0) {
        const at = Math.round(from + (k * SHOWN * (model.frame?.fps ?? 30)) / 1000) % (last + 1);
        model.scrub(at);
        await new Promise<void>((resolve) => { const stop = model.on("frame", (frame) => { if (frame.at === at) { stop(); resolve(); } }); });
      }
      pictures.push(new Uint8Array(await (await picture(viewport, LONGEST)).arrayBuffer()));
      viewport.stage.turn((2 * Math.PI) / FRAMES);
      model.emit("notice", { level: "hint", text: `picture ${k + 1} of ${FRAMES}` });
      if (!this.shown) return;
    }
    keep(`${this.name()}_turn.png`, new Blob([animate(pictures, SHOWN)], { type: "image/png" }));
    if (wasPlaying) model.move({ playing: true });
  }

  private spin(on: boolean): void {
    if (on === this.spinning) return;
    this.spinning = on;
    this.last = performance.now();
    if (on) requestAnimationFrame(() => { this.step(); });
  }

  private step(): void {
    if (!this.spinning) return;
    const now = performance.now();
    this.viewport.stage.turn((2 * Math.PI * (now - this.last)) / 1000 / TURN);
    this.last = now;
    requestAnimationFrame(() => { this.step(); });
  }
}
