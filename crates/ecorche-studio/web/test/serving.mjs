/** Steps: bakes, engines that go away, strangers, several pages. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { Engine, Tab } from "./engine.mjs";
import { dragSlider } from "./gestures.mjs";
import { ARM, out, program, same, visit } from "./visit.mjs";

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export const serving = {
  async "a bake from the page is the command line's"(browser) {
    const sample = ARM;
    await visit(browser, [sample], async ({ tab, folder }) => {
      await tab.page.keyboard.press("Control+s");
      await tab.page.fill("dialog .path", "arm.toml");
      await tab.page.keyboard.press("Enter");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.path !== null);
      // A key pressed before the dialog is gone is the dialog's.
      await tab.page.waitForFunction(() => document.querySelector("dialog[open]") === null);
      await tab.page.keyboard.press("b");
      for (const method of ["implicit", "muscles"]) {
        await tab.page.fill("#bake-path", `${method}.pc2`);
        await tab.page.selectOption("#bake-clip", "curl");
        await tab.page.selectOption("#bake-method", method);
        await tab.page.click("#bake-start");
        await tab.page.waitForFunction((m) => document.querySelector("#bake-outcome").textContent.endsWith(`written to ${m}.pc2`), method, { timeout: 120_000 });
        execFileSync(program, ["bake", sample, "--anatomy", "arm.toml", "--clip", "curl", "--method", method, "-o", "cli.pc2", "--quiet"], { cwd: folder });
        for (const ending of ["pc2", "rest.obj"]) {
          const [page, cli] = [`${method}.${ending}`, `cli.${ending}`].map((name) => readFileSync(path.join(folder, name)));
          assert.ok(page.equals(cli), `${method}: the ${ending} is the command line's`);
        }
      }
      await tab.screenshot("13-bake");
      // One after the other, beside a character that stays in use.
      const told = (pattern) => tab.page.waitForFunction((p) => new RegExp(p).test(document.querySelector("#bake-outcome").textContent), pattern, { timeout: 60_000 });
      await tab.page.fill("#bake-path", "first.pc2");
      await tab.page.fill("#bake-fps", "2*60");
      await tab.page.click("#bake-start");
      await tab.page.waitForFunction(() => document.querySelector("#bake-start").textContent === "Queue");
      assert.ok(await tab.run(() => !globalThis.ecorche.model.transport.playing), "playing waits for the bake");
      await tab.page.fill("#bake-path", "second.pc2");
      await tab.page.fill("#bake-fps", "10");
      await tab.page.click("#bake-start");
      await told("1 more wait");
      await told(" s left");
      await tab.page.click(".entry:has-text('leftHand')");
      assert.equal(await tab.run(() => globalThis.ecorche.model.selection.kind), "joint", "the page stays in use");
      await tab.screenshot("42-baking");
      await told("written to second.pc2");
      for (const name of ["first", "second"]) assert.ok(readFileSync(path.join(folder, `${name}.pc2`)).length > 1000);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.transport.playing);
      // One that is cancelled leaves nothing.
      await tab.page.fill("#bake-path", "never.pc2");
      await tab.page.fill("#bake-fps", "5000");
      await tab.page.click("#bake-start");
      await tab.page.waitForFunction(() => document.querySelector("#bake-cancel").textContent === "Cancel");
      await tab.page.click("#bake-cancel");
      await tab.page.waitForFunction(() => /cancelled/.test(document.querySelector("#bake-outcome").textContent), null, { timeout: 60_000 });
      assert.throws(() => readFileSync(path.join(folder, "never.pc2")));
    });
  },

  async "an engine that is killed and started again"(browser) {
    const address = ["--port", String(await freePort())];
    process.env.ECORCHE_STUDIO_TOKEN = "0123456789abcdef0123";
    const sample = ARM;
    await visit(browser, [sample, ...address], async ({ tab, engine, folder }) => {
      await tab.stand("implicit", 5);
      await dragSlider(tab, "Gap", 0.9);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("implicit");
      const before = await tab.positions();
      await engine.kill();
      await tab.page.waitForSelector(".offline:not([hidden])");
      // What is changed meanwhile waits.
      await dragSlider(tab, "Closure", 0.8);
      assert.match(await tab.page.textContent(".offline"), /1 change waits/);
      await tab.page.keyboard.press("Control+s");
      await tab.page.fill("dialog .path", "mine.toml");
      await tab.page.keyboard.press("Enter");
      await tab.page.waitForSelector(".toast.error:has-text('was not done')");
      await tab.screenshot("14-offline");
      const second = new Engine(program, folder, [sample, ...address]);
      try {
        await second.url;
        await tab.page.waitForFunction(() => globalThis.ecorche.model.connected, null, { timeout: 30_000 });
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 2, null, { timeout: 30_000 });
        assert.ok(Math.abs((await tab.run(() => globalThis.ecorche.model.document.skin.closure)) - 2.4) < 0.1, "the change that waited is made");
        await tab.page.keyboard.press("Control+z");
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1, null, { timeout: 30_000 });
        await tab.settled("implicit");
        assert.ok(same(before, await tab.positions()), "the page shows what it showed, edits included");
      } finally {
        await second.kill();
      }
    }).finally(() => { delete process.env.ECORCHE_STUDIO_TOKEN; });
  },

  async "hostile messages and strangers"(browser) {
    await visit(browser, [ARM], async ({ tab, url }) => {
      await tab.stand("dqs", 3);
      const [before, text] = [await tab.positions(), await tab.run(() => globalThis.ecorche.model.document.text)];
      await tab.run(() => {
        const { wire } = globalThis.ecorche.model;
        for (const raw of ["{", "[[[[", '"quit"', '{"save":{"path":7}}', "x".repeat(2 ** 20 + 1), '{"edit":{"edits":[{"splice":{"start":-1}}]}}']) wire.sendRaw(raw);
        wire.sendRaw(new ArrayBuffer(512));
      });
      await tab.page.waitForFunction(() => globalThis.ecorche.model.frame.refused >= 7, null, { timeout: 20_000 });
      await tab.stand("lbs", 4);
      await tab.stand("dqs", 3);
      assert.ok(same(before, await tab.positions()));
      assert.equal(await tab.run(() => globalThis.ecorche.model.document.text), text);
      // A page from elsewhere cannot open the engine.
      const foreign = await browser.newPage();
      await foreign.goto("data:text/html,<p>elsewhere</p>");
      const answer = await foreign.evaluate(
        (to) => new Promise((resolve) => {
          const socket = new WebSocket(`${to.replace("http", "ws")}engine/v3`);
          socket.onopen = () => resolve("open");
          socket.onclose = () => resolve("closed");
        }),
        url,
      );
      await foreign.close();
      assert.equal(answer, "closed");
    });
  },

  async "two tabs"(browser) {
    await visit(browser, [ARM], async ({ tab, url }) => {
      const other = await Tab.open(browser, url, out);
      await tab.stand("dqs", 4);
      await other.stand("implicit", 9);
      const here = await tab.positions();
      await dragSlider(other, "Gap", 0.7);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("dqs");
      assert.ok(same(here, await tab.positions()), "what a tab looks at is its own");
      await tab.page.click("#undo");
      await other.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 0);
      assert.deepEqual(other.problems, []);
      await other.page.close();
      await tab.stand("dqs", 6);
    });
  },
};
