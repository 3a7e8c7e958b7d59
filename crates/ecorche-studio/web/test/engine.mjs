/** An engine of its own for a test, and a browser to visit it. */

import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import { options } from "./options.mjs";

const FLAGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Drawn by the processor: there is no graphics card where tests run.
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--enable-precise-memory-info",
  "--js-flags=--expose-gc",
];

/** Starts `ecorche studio`; the promise holds its address. */
export class Engine {
  constructor(program, folder, options) {
    this.process = spawn(program, ["studio", ...options, "--no-open"], { cwd: folder });
    this.gone = new Promise((resolve) => this.process.on("exit", resolve));
    let said = "";
    this.process.stderr.on("data", (data) => (said += String(data)));
    this.url = new Promise((resolve, reject) => {
      this.process.stdout.on("data", (data) => {
        const found = /http:\S+/.exec(String(data));
        if (found) resolve(found[0]);
      });
      this.process.on("exit", () => reject(new Error(`the engine ended: ${said}`)));
    });
    this.url.catch(() => undefined);
  }

  /** Megabytes of memory it holds. */
  memory() {
    const status = readFileSync(`/proc/${this.process.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
  }

  /** Seconds it worked, all threads together. */
  processor() {
    const fields = readFileSync(`/proc/${this.process.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async kill() {
    this.process.kill("SIGKILL");
    await this.gone;
  }
}

export async function openBrowser() {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: FLAGS });
}

/** A page of the studio, with what tests ask of it. */
export class Tab {
  constructor(page, out) {
    this.page = page;
    this.out = out;
    this.problems = [];
    page.on("pageerror", (error) => this.problems.push(error.message));
    page.on("console", (message) => {
      // A socket that is refused while the engine is away is what reconnecting is about.
      if (message.type() === "error" && !/WebSocket|ERR_/.test(message.text())) this.problems.push(message.text());
    });
  }

  static async open(browser, url, out, size = { width: 1280, height: 800 }, query = "?plain") {
    const page = await browser.newPage({ viewport: size });
    if (options.page !== "") {
      await page.route(/studio\.(js|css)$/, (route) => route.fulfill({ path: path.join(options.page, path.basename(route.request().url())) }));
    }
    const tab = new Tab(page, out);
    // Neither antialiasing nor large shadows: the processor draws.
    await page.goto(`${url}${query}`);
    await page.waitForFunction(() => globalThis.ecorche?.model.frame || globalThis.ecorche?.model.desk?.open === null, null, { timeout: 60_000 });
    return tab;
  }

  run(work, argument) {
    return this.page.evaluate(work, argument);
  }

  /** Opens a tab of the panel on the right. */
  async tab(id) {
    await this.page.click(`.tabs [data-tab=${id}]`);
  }

  /** Opens the tab in which something is, if it is not in the one that is open. */
  async reach(selector) {
    if ((await this.page.locator(selector).count()) > 0) return;
    for (const button of await this.page.locator(".tabs button").all()) {
      await button.click();
      if ((await this.page.locator(selector).count()) > 0) return;
    }
    throw new Error(`no tab holds ${selector}`);
  }

  /** Chooses from a list, in whichever tab it is. */
  async choose(selector, value) {
    await this.reach(selector);
    await this.page.selectOption(selector, value);
  }

  /** Waits until what was asked for last is on the screen. */
  async settled(look) {
    await this.page.waitForFunction(
      (wanted) => {
        const { model } = globalThis.ecorche;
        const { frame, viewId } = model;
        const newest = frame.view === viewId && frame.revision === model.document?.revision;
        const [head] = frame.looks;
        return newest && !frame.playing && head.shown === wanted && head.look === wanted && !head.binding;
      },
      look,
      { timeout: 120_000, polling: 30 },
    );
  }

  /** Stands at a frame with one method. */
  async stand(look, at) {
    await this.run(
      ([name, frame]) => {
        const { model } = globalThis.ecorche;
        model.show({ looks: [name, model.display.looks[1]] });
        model.scrub(frame);
      },
      [look, at],
    );
    await this.settled(look);
    const shown = await this.run(() => globalThis.ecorche.model.frame.at);
    if (shown !== at) throw new Error(`frame ${at} was asked for, ${shown} is shown`);
  }

  /** The positions as streamed, in hexadecimal of their bytes' hash and as numbers. */
  positions() {
    return this.run(() => [...globalThis.ecorche.model.frame.skins[0].exact]);
  }

  /** Camera, light and ground where they are for every tab. */
  async fixCamera() {
    await this.run(() => {
      const { stage, skins } = globalThis.ecorche.viewport;
      stage.frame(skins[0].box(), 2);
      stage.camera.position.set(1.5, 1.4, 3.5);
      stage.orbit.target.set(0, 0.9, 0);
      stage.orbit.update();
    });
    await this.page.waitForTimeout(300);
  }

  async screenshot(name) {
    await this.page.waitForTimeout(150);
    return this.page.screenshot({ path: `${this.out}/${name}.png` });
  }

  /** What is drawn in the viewport, as a hash of its pixels: a screenshot has the browser's own dithering around them. */
  async picture() {
    await this.page.waitForTimeout(150);
    const hash = await this.run(async () => {
      const { stage } = globalThis.ecorche.viewport;
      const gl = stage.renderer.getContext();
      stage.draw();
      const pixels = new Uint8Array(4 * gl.drawingBufferWidth * gl.drawingBufferHeight);
      gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      return [...new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", pixels))];
    });
    return Buffer.from(hash);
  }
}
