/** Steps: what it costs in time and memory. */

import assert from "node:assert/strict";
import { hands } from "./processor.mjs";
import { ARM, SMALL, options, visit } from "./visit.mjs";

/** Frames the memory is watched over. */
const FRAMES = 450;

const quantile = (list, share) => [...list].sort((a, b) => a - b)[Math.floor(share * (list.length - 1))];

/** What everybody worked between two moments, for one of `count`. */
const spent = (before, after, count) => Object.fromEntries(Object.entries(after).map(([hand, ms]) => [hand, (ms - before[hand]) / count]));

/** Times the cost of streaming is measured where it is above its limit: others may use the machine. */
const ROUNDS = options.only === "" ? 1 : 3;

const list = (numbers) => Object.entries(numbers).map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(", ");

/**
 * Frames that stream in, then as many drawings at the same pace of one that is there, with the same numbers on the page: the
 * difference is streaming.
 */
async function stream(tab, engine) {
  await tab.run(async () => {
    const { model } = globalThis.ecorche;
    model.move({ playing: true });
    await new Promise((resolve) => globalThis.setTimeout(resolve, 1000));
    globalThis.walls = [];
    globalThis.streamed = { frames: 0, bytes: -model.wire.count.bytes, until: performance.now() + 12_000 };
    globalThis.unlisten = model.on("frame", (frame) => {
      const { transfer, decoding, taking } = model.timing;
      globalThis.walls.push({ encoding: frame.encoding, "to the page": transfer, reading: decoding, "onto the stage": taking });
      globalThis.streamed.frames++;
    });
  });
  const began = performance.now();
  let before = hands(engine);
  await tab.page.waitForFunction(() => globalThis.streamed.frames >= 100 || performance.now() > globalThis.streamed.until, null, { timeout: 60_000, polling: 200 });
  const { frames, bytes, walls } = await tab.run(() => {
    const { model } = globalThis.ecorche;
    globalThis.unlisten();
    return { ...globalThis.streamed, bytes: globalThis.streamed.bytes + model.wire.count.bytes, walls: globalThis.walls };
  });
  const playing = spent(before, hands(engine), frames);
  const pace = (performance.now() - began) / frames;

  await tab.stand("dqs", 0);
  before = hands(engine);
  await tab.run(([count, wait]) => {
    const { model, viewport } = globalThis.ecorche;
    const { frame } = model;
    globalThis.streamed = { frames: 0 };
    viewport.take = () => undefined;
    const timer = globalThis.setInterval(() => {
      if (globalThis.streamed.frames === count) {
        delete viewport.take;
        globalThis.clearInterval(timer);
        return;
      }
      model.emit("frame", { ...frame, at: (globalThis.streamed.frames++ / 2) % frame.last, playing: true });
      viewport.stage.invalidate();
    }, wait);
  }, [frames, pace]);
  await tab.page.waitForFunction((count) => globalThis.streamed.frames >= count, frames, { timeout: 60_000, polling: 200 });
  return { frames, pace, bytes, playing, still: spent(before, hands(engine), frames), walls };
}

export const costs = {
  async "nothing to do costs nothing"(browser) {
    await visit(browser, [SMALL], async ({ tab, engine }) => {
      await tab.stand("muscles", 3);
      await tab.page.waitForTimeout(1000);
      const before = engine.processor();
      await tab.page.waitForTimeout(3000);
      const share = (engine.processor() - before) / 3;
      console.log(`   paused, the engine takes ${(100 * share).toFixed(1)} % of a core`);
      assert.ok(share < 0.02, `${share} of a core`);
    });
  },

  async "what streaming costs"(browser) {
    await visit(browser, ["sample:athlete?resolution=20000"], async ({ tab, engine }) => {
      // A small window without shadows: what the processor draws here is not what is measured.
      await tab.page.setViewportSize({ width: 760, height: 360 });
      await tab.run(() => { globalThis.ecorche.viewport.stage.key.castShadow = false; });
      await tab.stand("dqs", 0);
      const [vertices, muscles] = await tab.run(() => {
        const { model } = globalThis.ecorche;
        return [model.character.vertices, model.document.muscle.reduce((sum, m) => sum + (m.mirror ? 2 : 1), 0)];
      });
      assert.ok(vertices > 19_000 && muscles >= 50, `${vertices} vertices, ${muscles} muscles`);
      await tab.run(() => globalThis.ecorche.model.show({ flesh: true }));
      await tab.page.waitForFunction(() => globalThis.ecorche.model.frame.strands.exact?.length > 0);
      await tab.page.waitForTimeout(500);

      const quickest = [];
      for (let round = 0; round < ROUNDS; round++) {
        const { frames, pace, bytes, playing, still, walls } = await stream(tab, engine);
        const median = (key) => quantile(walls.map((wall) => wall[key]), 0.5);
        const work = { encoding: median("encoding") };
        for (const [hand, ms] of Object.entries(playing)) work[hand] = Math.max(ms - still[hand], 0);
        const total = Object.values(work).reduce((sum, ms) => sum + ms, 0);
        console.log(`   ${vertices} vertices, ${muscles} muscles: ${frames} frames played, one every ${pace.toFixed(0)} ms, ${(bytes / frames / 1000).toFixed(0)} kB each`);
        console.log(`   processor time of a drawing without streaming, ms: ${list(still)}`);
        console.log(`   and with: ${list(playing)}`);
        console.log(`   streaming, ms a frame: ${list(work)}; together ${total.toFixed(2)}`);
        console.log(`   by the clock, waiting included, medians in ms: ${list(Object.fromEntries(Object.keys(walls[0]).map((key) => [key, median(key)])))}`);
        quickest.push(total);
        if (total < 4) break;
      }
      // Held to its limit where the step is run alone; processor time grows too where others push its data out of the caches.
      const limit = options.only === "" ? 10 : 4;
      assert.ok(Math.min(...quickest) < limit, `streaming costs ${Math.min(...quickest).toFixed(2)} ms a frame`);
    });
  },

  async "memory stays flat while playing"(browser) {
    await visit(browser, [ARM], async ({ tab, engine }) => {
      // Everything is bound before it is measured; skin over muscles, with the muscles seen, in a small window.
      await tab.page.setViewportSize({ width: 760, height: 360 });
      await tab.stand("muscles", 0);
      await tab.page.keyboard.press("m");
      await tab.run(() => globalThis.ecorche.model.move({ playing: true }));
      const frame = () => tab.run(() => globalThis.ecorche.model.frame.frame);
      // Not before the first frames have made what they all share.
      await tab.page.waitForFunction((n) => globalThis.ecorche.model.frame.frame > n, (await frame()) + 30, { timeout: 60_000 });
      const [first, started] = [await frame(), Date.now()];
      const samples = [];
      const enough = () => (options.minutes === "" ? samples.at(-1).frame >= first + FRAMES : Date.now() - started > 60_000 * Number(options.minutes));
      do {
        await tab.page.waitForTimeout(options.minutes === "" ? 500 : 2000);
        await tab.run(() => globalThis.gc());
        samples.push({ frame: await frame(), engine: engine.memory(), page: (await tab.run(() => performance.memory.usedJSHeapSize)) / 2 ** 20 });
        assert.ok(Date.now() - started < 60_000 * Number(options.minutes || 5) + 10_000, "the frames come too slowly to tell");
      } while (!enough());
      const [last, seconds] = [samples.at(-1).frame, (Date.now() - started) / 1000];
      const third = (from, to) => samples.filter((s) => s.frame >= first + (from * (last - first)) / 3 && s.frame <= first + (to * (last - first)) / 3);
      const mean = (list, key) => list.reduce((sum, s) => sum + s[key], 0) / list.length;
      console.log(`   ${last - first} frames in ${seconds.toFixed(0)} s`);
      for (const key of ["engine", "page"]) {
        const [one, two] = [mean(third(0, 1), key), mean(third(2, 3), key)];
        console.log(`   ${key}: ${one.toFixed(2)} MB in the first third, ${two.toFixed(2)} MB in the last`);
        // A frame's numbers are 50 kB: were each kept, the last third would hold 15 MB more.
        assert.ok(two < one + 2, `${key} grows by ${(two - one).toFixed(2)} MB`);
      }
    });
  },
};
