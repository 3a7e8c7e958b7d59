/** Jobs: the way of a piece of work to a file; every size, the keyboard alone. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { ARM, same, visit } from "../visit.mjs";
import { Hand } from "./hand.mjs";

export const whole = {
  async "job: save, reload, bake, cancel"(browser) {
    await visit(browser, [ARM], async ({ tab, folder }) => {
      const hand = new Hand(tab);
      await hand.press("Space");
      await hand.press("4");
      await hand.scrub(20);
      await hand.put("Gap", "0.01+0.02");
      await hand.undos(1);
      await tab.settled("implicit");
      const before = await tab.positions();
      await hand.press("Control+s");
      await tab.page.fill("dialog .path", "mine.toml");
      await hand.timed("saved", () => hand.press("Enter"), () => hand.until(() => globalThis.ecorche.model.document.path === "mine.toml" && !globalThis.ecorche.model.document.unsaved));
      assert.match(readFileSync(path.join(folder, "mine.toml"), "utf8"), /gap = 0\.03/);
      await hand.timed("loaded again", () => tab.page.reload(), async () => {
        await hand.until(() => globalThis.ecorche?.model.frame);
        await tab.settled("implicit");
      });
      assert.ok(same(before, await tab.positions()), "it shows the same skin again");
      await hand.press("b");
      await tab.page.fill("#bake-path", "mine.pc2");
      await hand.timed("baked", () => hand.click("#bake-start"), () => hand.until(() => document.querySelector("#bake-outcome").textContent.endsWith("written to mine.pc2")));
      assert.ok(readFileSync(path.join(folder, "mine.pc2")).length > 1000);
      await tab.page.fill("#bake-path", "never.pc2");
      await tab.page.fill("#bake-fps", "100*50");
      await hand.click("#bake-start");
      await hand.until(() => globalThis.ecorche.model.bake?.running && globalThis.ecorche.model.bake.done > 0);
      await hand.timed("cancelled", () => hand.click("#bake-cancel"), () => hand.until(() => /cancelled/.test(document.querySelector("#bake-outcome").textContent)));
      assert.ok(!existsSync(path.join(folder, "never.pc2")), "nothing is left of it");
      await hand.press("Escape");
      await hand.until(() => document.querySelector("dialog") === null);
    });
  },

  async "job: every size, nothing cut off, panels away"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      const hand = new Hand(tab);
      await hand.press("2");
      await hand.press("Space");
      // Large pictures are drawn by the processor here.
      await tab.run(() => { globalThis.ecorche.viewport.stage.key.castShadow = false; });
      for (const [width, height] of [[1000, 700], [1600, 900], [2560, 1440]]) {
        await tab.page.setViewportSize({ width, height });
        // The widest set of tabs at every size, all of them at the narrowest.
        for (const name of width === 1000 ? ["leftLowerArm", "", "biceps"] : ["biceps"]) {
          if (name !== "") await hand.find(name);
          else await hand.press("Escape");
          for (const button of await tab.page.locator(".tabs button").all()) {
            await button.click();
            const cut = await tab.run(() =>
              [...document.querySelectorAll(".toolbar > *, .toolbar .methods > *, .timeline > *, .tabs button, .right section *")]
                .filter((e) => !e.matches("[popover], option") && e.getClientRects().length > 0)
                .filter((e) => e.getBoundingClientRect().right > (e.closest("section, aside, body")).getBoundingClientRect().right + 0.5 || (e.matches("button, .unit, .label") && e.scrollWidth > e.clientWidth + 1))
                .map((e) => e.textContent));
            assert.deepEqual(cut, [], `${await button.textContent()} with ${name} at ${width} pixels`);
            assert.equal(await tab.run(() => document.querySelector(".tab-body").scrollLeft + document.querySelector(".right").scrollLeft), 0, "nothing is scrolled sideways");
          }
        }
        const view = await tab.page.locator(".view").boundingBox();
        assert.ok(view.width > 0.42 * width && view.height > 0.75 * height, `the character has ${view.width} x ${view.height} of ${width} x ${height}`);
        await tab.screenshot(`70-at-${width}`);
      }
      // Panels are widened by their edge and folded by a double click on it.
      const wide = async () => (await tab.page.locator(".view").boundingBox()).width;
      const edge = async (side) => { const box = await tab.page.locator(`.${side}-edge`).boundingBox(); return [box.x + box.width / 2, box.y + 300]; };
      const before = await wide();
      const [x, y] = await edge("right");
      await hand.drag([x, y], [x - 60, y]);
      assert.ok(Math.abs((await wide()) - before + 60) < 3, `${before} became ${await wide()}`);
      for (const [folds, share] of [[true, 1], [false, 0]]) {
        await tab.page.mouse.dblclick(...(await edge("left")));
        assert.equal(await tab.page.isVisible("aside.left"), !folds);
        assert.ok(share === 0 || (await wide()) > before + 100, "the character has its room");
      }
    });
  },

  async "job: the keyboard alone"(browser) {
    await visit(browser, [ARM], async ({ tab, folder }) => {
      const hand = new Hand(tab);
      const focus = (selector) => hand.until((s) => document.activeElement?.matches(s), selector);
      await hand.press("Space");
      await hand.press("2");
      await hand.press("Home");
      await tab.settled("dqs");
      // A joint by its name, the next one by an arrow.
      await hand.press("/");
      await focus("#search");
      await hand.type("leftLowerArm");
      await hand.press("Enter");
      const chosen = () => tab.run(() => globalThis.ecorche.model.selectedJointName());
      assert.equal(await chosen(), "leftLowerArm");
      await hand.press("ArrowDown");
      await focus(".entry .name");
      // On with Tab to the angles; every stop on the way shows that it has the focus.
      for (let k = 0; k < 60 && !(await tab.run(() => document.activeElement.matches('[aria-label="Turn about X"]'))); k++) {
        await tab.page.keyboard.press("Tab");
        const seen = await tab.run(() => { const e = document.activeElement; return e === document.body || e.matches("canvas") || globalThis.getComputedStyle(e).outlineStyle !== "none"; });
        assert.ok(seen, await tab.run(() => document.activeElement.outerHTML.slice(0, 120)));
      }
      await focus('[aria-label="Turn about X"]');
      await tab.page.keyboard.press("Tab");
      await tab.page.keyboard.press("Tab");
      await focus('[aria-label="Turn about Z"]');
      const before = await tab.positions();
      await hand.type("60");
      await hand.press("Enter");
      await tab.settled("dqs");
      assert.ok(!same(before, await tab.positions()), "the joint turns");
      await hand.press("Control+z");
      await tab.settled("dqs");
      assert.ok(same(before, await tab.positions()));
      // The list of keys opens and closes; a bake from first key to file.
      await hand.press("?");
      await tab.page.waitForSelector("dialog:has-text('Keys')");
      await hand.press("Escape");
      await hand.until(() => document.querySelector("dialog[open]") === null);
      await hand.press("b");
      await tab.page.waitForSelector("#bake");
      for (let k = 0; k < 12 && !(await tab.run(() => document.activeElement.id === "bake-path")); k++) await tab.page.keyboard.press("Tab");
      await focus("#bake-path");
      await tab.page.keyboard.press("Control+a");
      await hand.type("keys.pc2");
      for (let k = 0; k < 12 && !(await tab.run(() => document.activeElement.id === "bake-start")); k++) await tab.page.keyboard.press("Tab");
      await focus("#bake-start");
      await hand.press("Enter");
      await hand.until(() => document.querySelector("#bake-outcome").textContent.endsWith("written to keys.pc2"));
      assert.ok(existsSync(path.join(folder, "keys.pc2")));
    });
  },
};
