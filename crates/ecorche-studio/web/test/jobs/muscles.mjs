/** Jobs: a muscle from nothing; ends, profile and width of one that is there. */

import assert from "node:assert/strict";
import { dragFrom, dragSlider, findHandle, gizmoOnScreen } from "../gestures.mjs";
import { ARM, SMALL, same, visit } from "../visit.mjs";
import { Hand } from "./hand.mjs";

export const muscles = {
  async "job: create, shape, mirror, key at two times, undo five and redo"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      const hand = new Hand(tab);
      await hand.press("Space");
      await hand.press("2");
      await hand.scrub(5);
      await hand.press("n");
      await hand.click(".entry:has-text('leftUpperArm') .name");
      await hand.timed("a muscle made", () => hand.click(".entry:has-text('leftLowerArm') .name"), () => hand.undos(1));
      const own = () => tab.run(() => globalThis.ecorche.model.muscle());
      const { name, width } = await own();
      await dragSlider(tab, "Width", 0.5);
      await hand.undos(2);
      assert.notEqual((await own()).width, width);
      await hand.put("Eccentricity", "0.5+0.2");
      await hand.undos(3);
      assert.ok(Math.abs((await own()).eccentricity - 0.7) < 1e-6);
      await hand.click("button:text-is('Mirror')");
      await hand.undos(4);
      assert.equal(await tab.page.locator(`.entry:has-text('${name}') .side`).count(), 2, "left and right of it are in the list");
      // Keys of the right one, at two moments.
      await hand.click(`.entry:has-text('${name}') .side:text-is('R')`);
      await dragSlider(tab, "Key here", 0.9);
      await hand.undos(5);
      await hand.scrub(15);
      await dragSlider(tab, "Key here", 0.2);
      await hand.undos(6);
      const keys = () => tab.run(() => globalThis.ecorche.model.document.keys.at(-1));
      const { muscle, side, values } = await keys();
      const fps = await tab.run(() => globalThis.ecorche.model.frame.fps);
      assert.deepEqual([muscle, side, values.map(([time]) => Math.round(time * fps))], [name, "right", [5, 15]]);
      assert.equal(await tab.page.locator(".diamond").count(), 2);
      await tab.screenshot("64-keys");
      // Five steps back, five on: the file is what it was.
      const text = () => tab.run(() => globalThis.ecorche.model.document.text);
      const done = await text();
      for (let k = 0; k < 5; k++) await hand.press("Control+z");
      await hand.undos(1);
      assert.equal((await tab.run((n) => globalThis.ecorche.model.document.muscle.find((m) => m.name === n), name)).width, width);
      await hand.timed("five steps made again", async () => { for (let k = 0; k < 5; k++) await hand.press("Control+Shift+z"); }, () => hand.undos(6));
      assert.equal(await text(), done);
    });
  },

  async "job: attachment, profile and width"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      const hand = new Hand(tab);
      await hand.press("Space");
      await hand.press("5");
      await hand.press("m");
      await hand.scrub(20);
      await tab.settled("muscles");
      // The muscle is clicked where it is seen, and says its name before.
      await tab.page.waitForTimeout(300);
      const [x, y] = await tab.run(() => {
        const { viewport: { flesh, stage }, model } = globalThis.ecorche;
        const { name, side } = model.document.muscle.find((m) => /triceps/.test(m.name));
        const seen = flesh.place("muscle", name, side).project(stage.camera);
        const bounds = stage.element.getBoundingClientRect();
        return [bounds.left + 0.5 * (seen.x + 1) * bounds.width, bounds.top + 0.5 * (1 - seen.y) * bounds.height];
      });
      await tab.page.mouse.move(x, y);
      await tab.page.waitForSelector(".under-pointer:has-text('triceps')");
      await hand.click([x, y]);
      await hand.until(() => /triceps/.test(globalThis.ecorche.model.selection.name));
      const before = await tab.positions();
      const step = async (what, undo, act) => {
        const old = await tab.positions();
        await hand.timed(what, act, async () => {
          await hand.until((n) => globalThis.ecorche.model.document.undo === n, undo);
          await tab.settled("muscles");
        });
        await hand.undos(undo);
        await tab.settled("muscles");
        assert.ok(!same(old, await tab.positions()), `${what}: the skin follows`);
      };
      await step("an end dragged by its arrow, to the last skin", 1, async () => {
        await hand.click(".move-insertion");
        await tab.page.waitForTimeout(200);
        const middle = await gizmoOnScreen(tab);
        await dragFrom(tab, await findHandle(tab, middle.x, middle.y), [middle.x, middle.y]);
      });
      await step("another profile", 2, () => tab.page.locator(".row", { hasText: "Slack profile" }).locator("select").first().selectOption("2"));
      await step("a width typed", 3, () => hand.put("Width", "2*18"));
      assert.ok(Math.abs((await tab.run(() => globalThis.ecorche.model.muscle().width)) - 0.036) < 1e-6);
      await tab.screenshot("65-muscle");
      for (let k = 0; k < 3; k++) await hand.press("Control+z");
      await hand.undos(0);
      await tab.settled("muscles");
      assert.ok(same(before, await tab.positions()), "undo brings the same bits back");
    });
  },
};
