/** Jobs: an elbow at 145 degrees, by number and by ring; a fist. */

import assert from "node:assert/strict";
import { jointOnScreen, turnRing } from "../gestures.mjs";
import { ARM, SMALL, visit } from "../visit.mjs";
import { Hand } from "./hand.mjs";

/** The angle between two bones, degrees; 0 where they are straight. */
const bend = (tab, names) => tab.run((list) => {
  const { model, viewport } = globalThis.ecorche;
  const [a, b, c] = list.map((name) => viewport.skeleton.place(model.character.joints.findIndex((j) => j.name === name)));
  return (180 / Math.PI) * b.clone().sub(a).angleTo(c.clone().sub(b));
}, names);

const ELBOW = ["leftUpperArm", "leftLowerArm", "leftHand"];

export const posing = {
  async "job: the elbow at 145 degrees, by number and by ring"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      const hand = new Hand(tab);
      await hand.press("2");
      await hand.choose("#clip", "");
      await hand.press("j");
      await tab.settled("dqs");
      await tab.page.waitForTimeout(200);
      const { x, y, joint } = await jointOnScreen(tab, "leftLowerArm");
      await hand.click([x, y]);
      await hand.until((j) => globalThis.ecorche.model.selection.joint === j, joint);
      const straight = await bend(tab, ELBOW);
      // A joint stops at its limit, and the ring and the field tell what it does; then past it.
      await hand.put("Turn about Z", "175");
      await tab.settled("dqs");
      assert.ok((await bend(tab, ELBOW)) < 151, `an elbow stops before 150 degrees: ${await bend(tab, ELBOW)}`);
      await hand.click(".check:has-text('Stop at')");
      await hand.press("r");
      await tab.settled("dqs");
      await hand.timed("145 typed", () => hand.put("Turn about Z", "145"), () => hand.until(() => globalThis.ecorche.model.pose.size === 1 && globalThis.ecorche.model.frame.view === globalThis.ecorche.model.viewId));
      await tab.settled("dqs");
      const byNumber = await tab.positions();
      assert.ok(Math.abs((await bend(tab, ELBOW)) - 145) < straight, `by number: ${await bend(tab, ELBOW)}`);
      await hand.press("r");
      await tab.settled("dqs");
      assert.ok(Math.abs((await bend(tab, ELBOW)) - straight) < 1e-3, "R takes the turn back");
      await tab.run(() => { new globalThis.MutationObserver(() => { globalThis.ringTold = document.querySelector(".turned").textContent; }).observe(document.querySelector(".turned"), { childList: true, characterData: true, subtree: true }); });
      // By the ring with Ctrl, in steps of five degrees: what the page tells beside it is the number of the field.
      await tab.page.keyboard.down("Control");
      const turned = async () => Number(await tab.page.getAttribute('.number[aria-label="Turn about Z"]', "data-value"));
      await turnRing(tab, "Z", async () => Math.abs((await turned()) - 145) < 0.1 || Math.abs((await turned()) - 145));
      assert.equal(await tab.page.evaluate(() => globalThis.ringTold), "145.0°");
      await tab.page.keyboard.up("Control");
      await tab.settled("dqs");
      const byRing = await tab.positions();
      assert.ok(byNumber.every((x, k) => Math.abs(x - byRing[k]) < 2e-4), "the same skin as by number");
      await tab.screenshot("61-elbow");
    });
  },

  async "job: a fist in under ten actions, kept and mirrored"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      const hand = new Hand(tab);
      await hand.press("2");
      await hand.choose("#clip", "");
      await tab.settled("dqs");
      // How far the fingertips are from the wrist.
      const reach = (side) => tab.run((wanted) => {
        const { model, viewport } = globalThis.ecorche;
        const { joints } = model.character;
        const wrist = joints.findIndex((j) => j.name === `${wanted}Hand`);
        const tips = joints.flatMap((j, k) => (new RegExp(`^${wanted}.*(Index|Middle|Ring|Little).*Distal`, "i").test(j.name) ? [k] : []));
        return tips.map((k) => viewport.skeleton.place(k).distanceTo(viewport.skeleton.place(wrist)));
      }, side);
      const open = await reach("left");
      assert.equal(open.length, 4, "four fingers");
      hand.actions = 0;
      await hand.find("leftHand");
      await hand.click("button:text-is('Children')");
      const field = await tab.page.locator('.number[aria-label="Turn about Z"]').boundingBox();
      await hand.drag([field.x + 20, field.y + 10], [field.x - 680, field.y + 10]);
      await tab.settled("dqs");
      const { actions } = hand;
      const closed = await reach("left");
      console.log(`   a fist in ${actions} actions; fingertips ${open.map((d) => (100 * d).toFixed(0)).join(" ")} cm from the wrist, then ${closed.map((d) => (100 * d).toFixed(0)).join(" ")} cm`);
      assert.ok(actions < 10, `${actions} actions`);
      closed.forEach((distance, k) => { assert.ok(distance < 0.7 * open[k], `finger ${k} closes: ${open[k]} to ${distance}`); });
      await hand.press("f");
      await tab.settled("dqs");
      await tab.screenshot("62-fist");
      // Kept under a name, taken back, taken again, mirrored: the right hand is a fist too.
      await hand.click("#pose-name");
      await hand.type("fist");
      await hand.press("Enter");
      await hand.until(() => globalThis.ecorche.model.poses.length === 1);
      await tab.page.locator("#pose-name").blur();
      await hand.press("Shift+R");
      await tab.settled("dqs");
      assert.ok((await reach("left"))[0] > 0.99 * open[0], "the pose is taken back");
      await hand.click(".poses .entry:has-text('fist') .name");
      await tab.settled("dqs");
      assert.ok(Math.abs((await reach("left"))[0] - closed[0]) < 1e-4, "and taken again");
      await hand.click("button:has-text('Mirror pose')");
      await tab.settled("dqs");
      const right = await reach("right");
      right.forEach((distance, k) => { assert.ok(Math.abs(distance - closed[k]) < 2e-3, `finger ${k} of the right: ${distance}, of the left ${closed[k]}`); });
    });
  },
};
