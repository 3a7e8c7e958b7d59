/** Job: play the clip and compare methods. */

import assert from "node:assert/strict";
import { SMALL, same, visit } from "../visit.mjs";
import { Hand } from "./hand.mjs";

export const compare = {
  async "job: play and compare"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      const hand = new Hand(tab);
      const playing = (wanted) => hand.until((on) => globalThis.ecorche.model.frame.playing === on, wanted);
      await playing(true);
      await hand.timed("a pause", () => hand.press("Space"), () => playing(false));
      await hand.press("2");
      await hand.scrub(7);
      await tab.settled("dqs");
      const quaternions = await tab.positions();
      await hand.timed("the implicit skin, bound for the first time", () => hand.click('#look [data-value="implicit"]'), () => tab.settled("implicit"));
      await hand.click("#compare button:has-text('Split')");
      await hand.choose("#second-look", "dqs");
      await hand.until(() => globalThis.ecorche.model.frame.looks.map(({ shown }) => shown).join() === "implicit,dqs");
      const second = await tab.run(() => [...globalThis.ecorche.model.frame.skins[1].exact]);
      assert.ok(same(quaternions, second), "the second skin is the one seen before");
      assert.deepEqual(await tab.page.locator(".pane-labels span").allTextContents(), ["Implicit", "DQS"]);
      await tab.screenshot("60-split");
      // The line of a wipe is where the pointer leaves it.
      await hand.press("c");
      const line = await tab.page.locator(".divider").boundingBox();
      await hand.drag([line.x + 5, line.y + 300], [line.x - 145, line.y + 300]);
      const moved = await tab.page.locator(".divider").boundingBox();
      assert.ok(Math.abs(moved.x - line.x + 150) < 4, `the line moved by ${moved.x - line.x}`);
      // Both play.
      await hand.press("Space");
      const first = await tab.run(() => globalThis.ecorche.model.frame.frame);
      await hand.until((n) => globalThis.ecorche.model.frame.frame > n + 4 && globalThis.ecorche.model.frame.looks.length === 2, first);
      await hand.press("Space");
      await playing(false);
      // A frame back, the first, the clip after.
      const at = await tab.run(() => globalThis.ecorche.model.frame.at);
      await hand.timed("a frame back", () => hand.press("ArrowLeft"), () => hand.until((from) => globalThis.ecorche.model.frame.at < from && globalThis.ecorche.model.frame.at >= from - 1, at));
      const clip = await tab.run(() => globalThis.ecorche.model.transport.clip);
      await hand.timed("another clip", () => hand.press("]"), () => hand.until((old) => globalThis.ecorche.model.transport.clip !== old && globalThis.ecorche.model.frame.view === globalThis.ecorche.model.viewId, clip));
    });
  },
};
