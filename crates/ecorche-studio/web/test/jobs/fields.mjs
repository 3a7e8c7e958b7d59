/** Jobs: operator and controller of a joint, a slice, samples. */

import assert from "node:assert/strict";
import { dragFrom, findHandle, gizmoOnScreen, jointOnScreen } from "../gestures.mjs";
import { ARM, same, visit } from "../visit.mjs";
import { Hand } from "./hand.mjs";

/** The arm flexed until skin meets skin, where the fields decide. */
async function flexed(tab) {
  const hand = new Hand(tab);
  await hand.press("Space");
  await hand.press("4");
  await hand.scrub(34);
  await tab.settled("implicit");
  return hand;
}

export const fields = {
  async "job: operator, and controller by dragging the curve"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      const hand = await flexed(tab);
      await hand.find("leftLowerArm");
      const before = await tab.positions();
      await hand.timed("another operator", () => hand.choose("#operator", "bulge"), async () => {
        await hand.until(() => globalThis.ecorche.model.document.undo === 1);
        await tab.settled("implicit");
      });
      assert.ok(!same(before, await tab.positions()), "the skin follows the operator");
      await hand.until(() => document.querySelector(".curve")?.dataset.points);
      const points = () => tab.run(() => JSON.parse(document.querySelector(".curve").dataset.points));
      const box = await tab.page.locator(".curve").boundingBox();
      const seen = ([angle, opening]) => [box.x + ((28 + (angle / Math.PI) * 232) / 268) * box.width, box.y + ((8 + (1 - opening) * 102) / 130) * box.height];
      const [x, y] = seen((await points())[1]);
      await tab.page.mouse.move(x, y);
      await tab.page.mouse.down();
      const waits = [];
      for (let k = 1; k <= 6; k++) {
        const started = performance.now();
        const revision = await tab.run(() => globalThis.ecorche.model.document.revision);
        await tab.page.mouse.move(x + 4 * k, y + 5 * k);
        await hand.until((n) => globalThis.ecorche.model.document.revision > n, revision);
        waits.push(performance.now() - started);
      }
      await tab.page.mouse.up();
      console.log(`   a move of the curve answered: ${Math.max(...waits).toFixed(0)} ms at most`);
      const [px, py] = seen((await points())[1]);
      assert.ok(Math.hypot(px - x - 24, py - y - 30) < 3, `the point is where the pointer left it: ${px - x} ${py - y}`);
      await hand.undos(2);
      await tab.settled("implicit");
      await tab.screenshot("66-controller");
      await hand.press("Control+z");
      await hand.press("Control+z");
      await hand.undos(0);
      await tab.settled("implicit");
      assert.ok(same(before, await tab.positions()));
    });
  },

  async "job: slice"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      const hand = await flexed(tab);
      const there = () => hand.until(() => globalThis.ecorche.viewport.interior.last?.slice && globalThis.ecorche.model.frame.view === globalThis.ecorche.model.viewId);
      await hand.timed("a slice", () => hand.press("p"), there);
      assert.ok(await tab.page.isVisible("#field-legend"));
      const place = () => tab.run(() => [globalThis.ecorche.model.display.slice.at, globalThis.ecorche.viewport.interior.last.slice.middle[2]]);
      const [from] = await place();
      const { x, y } = await gizmoOnScreen(tab);
      await dragFrom(tab, await findHandle(tab, x, y), [x, y]);
      await tab.settled("implicit");
      await there();
      const [asked, drawn] = await place();
      assert.ok(Math.abs(asked - from) > 0.005 && Math.abs(asked - drawn) < 1e-4, `dragged from ${from} to ${asked}, drawn at ${drawn}`);
      await tab.screenshot("67-slice");
      // The field of one bone: none of it where the other end of the arm is.
      const values = () => tab.run(() => globalThis.ecorche.viewport.interior.last.sliceValues.filter((v) => v > 0.1).length);
      const whole = await values();
      await hand.find("leftLowerArm");
      await tab.tab("look");
      await hand.click(".row:has-text('Slice of') button:has-text('leftLowerArm')");
      await hand.until((n) => { const last = globalThis.ecorche.viewport.interior.last; return last?.slice && last.sliceValues.filter((v) => v > 0.1).length < n; }, whole);
      assert.ok((await values()) > 0);
      await hand.press("p");
      await hand.until(() => globalThis.ecorche.model.display.slice === null);
      assert.ok(!(await tab.page.isVisible("#field-legend")));
    });
  },

  async "job: samples"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      const hand = await flexed(tab);
      await hand.find("leftLowerArm");
      await tab.tab("field");
      const before = await tab.positions();
      await hand.timed("the samples", () => hand.press("h"), () => hand.until(() => globalThis.ecorche.viewport.interior.last?.samples[0] > 0));
      await tab.page.waitForTimeout(200);
      /** A sample of the bone away from all handles and other samples, on the screen. */
      const spot = () => tab.run(() => {
        const { interior, stage, gizmo } = globalThis.ecorche.viewport;
        const bounds = stage.element.getBoundingClientRect();
        const vector = gizmo.proxy.position.clone();
        const seen = (v) => { v.project(stage.camera); return [bounds.left + 0.5 * (v.x + 1) * bounds.width, bounds.top + 0.5 * (1 - v.y) * bounds.height]; };
        const middle = seen(vector.clone());
        const all = Array.from({ length: interior.last.samples[0] }, (_, k) => seen(vector.clone().fromArray(interior.last.samplePoints, 6 * k)));
        const far = ([x, y], [u, v]) => Math.hypot(x - u, y - v);
        const lonely = (at, k) => Math.min(...all.filter((_, j) => j !== k).map((other) => far(at, other)));
        const fit = all.map((at, k) => [at, lonely(at, k)]).filter(([at]) => far(at, middle) > 115);
        return fit.sort(([, a], [, b]) => b - a)[0]?.[0];
      });
      await hand.click(await spot());
      await hand.until(() => globalThis.ecorche.viewport.sample !== null);
      const { x, y } = await gizmoOnScreen(tab);
      await dragFrom(tab, await findHandle(tab, x, y), [x, y]);
      await hand.undos(1);
      await tab.settled("implicit");
      const moved = await tab.positions();
      assert.ok(!same(before, moved), "the field follows a sample that is moved");
      assert.match(await tab.page.textContent(".tab-body"), /1 added, 1 left out/);
      await tab.screenshot("68-samples");
      await hand.click("button:has-text('Delete point')");
      await hand.undos(2);
      assert.match(await tab.page.textContent(".tab-body"), /0 added, 1 left out/);
      await hand.click("button:has-text('Add on skin')");
      const arm = await jointOnScreen(tab, "leftLowerArm");
      await hand.click([arm.x, arm.y]);
      await hand.undos(3);
      assert.match(await tab.page.textContent(".tab-body"), /1 added, 1 left out/);
      await hand.click("button:has-text('All as found')");
      await hand.undos(4);
      await tab.settled("implicit");
      assert.ok(same(before, await tab.positions()), "as found again");
    });
  },
};
