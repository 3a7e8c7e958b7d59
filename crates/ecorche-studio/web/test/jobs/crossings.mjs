/** Job: find where skin crosses. */

import assert from "node:assert/strict";
import { SMALL, visit } from "../visit.mjs";
import { Hand } from "./hand.mjs";

export const crossings = {
  async "job: find crossings"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      const hand = new Hand(tab);
      await hand.press("Space");
      await hand.press("2");
      await tab.settled("dqs");
      await hand.timed("the whole clip judged", () => hand.click("#judge"), () => hand.until(() => {
        const { verdict } = globalThis.ecorche.model;
        return verdict?.order?.look === "dqs" && verdict.frames > 0 && verdict.crossings.length === verdict.frames;
      }));
      const counts = await tab.run(() => globalThis.ecorche.model.verdict.crossings);
      assert.equal(await tab.page.getAttribute("#judge-strip", "data-crossing"), String(counts.filter((n) => n > 0).length));
      await hand.press("Home");
      await hand.until(() => globalThis.ecorche.model.frame.at === 0);
      // The key, the button and the key back agree with the counts.
      const at = () => tab.run(() => globalThis.ecorche.model.moment());
      const found = counts.flatMap((n, frame) => (n > 0 ? [frame] : []));
      const after = (frame) => found.find((f) => f > frame) ?? found[0];
      await hand.timed("the next crossing", () => hand.press("k"), () => hand.until((f) => globalThis.ecorche.model.frame.at === f, after(0)));
      const first = await at();
      await hand.click("#next-crossing");
      assert.equal(await at(), after(first));
      await hand.press("Shift+K");
      assert.equal(await at(), found.filter((f) => f < after(first)).at(-1));
      await hand.press("u");
      await tab.settled("dqs");
      const worst = await at();
      assert.equal(counts[worst], Math.max(...counts), "the worst frame first");
      assert.match(await tab.page.textContent(".toasts"), new RegExp(`Frame ${worst}: ${counts[worst]} pairs`));
      // The skin there, coloured by crossing, has what the judge counted.
      await hand.choose("#quantity", "crossing");
      await hand.until(() => globalThis.ecorche.model.frame.quantity?.name === "crossing");
      const crossing = await tab.run(() => globalThis.ecorche.model.frame.values.filter((v) => v > 1).length);
      assert.ok(crossing > 0, "vertices cross in the worst frame");
      console.log(`   ${found.length} of ${counts.length} frames cross, ${counts[worst]} pairs in the worst, ${crossing} vertices coloured there`);
      await tab.screenshot("63-crossings");
    });
  },
};
