/** Steps: the anatomy is changed, and changed back. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { dragFrom, dragSlider, findHandle, gizmoOnScreen, jointOnScreen } from "./gestures.mjs";
import { ARM, SMALL, same, visit } from "./visit.mjs";

export const editing = {
  async "editing muscles while the skin follows"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("muscles", 20);
      const before = await tab.positions();
      const text = await tab.run(() => globalThis.ecorche.model.document.text);
      const undone = async (what) => {
        await tab.page.keyboard.press("Control+z");
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 0);
        await tab.settled("muscles");
        assert.ok(same(before, await tab.positions()), `undo of ${what} brings the same bits back`);
        assert.equal(await tab.run(() => globalThis.ecorche.model.document.text), text);
      };
      const changed = async (what) => {
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1, null, { timeout: 20_000 });
        await tab.settled("muscles");
        assert.ok(!same(before, await tab.positions()), `${what} changes the skin`);
      };
      await tab.page.click(".entry:has-text('biceps')");
      await tab.page.waitForSelector('.slider[data-field="Width"]');
      await dragSlider(tab, "Width", 0.3);
      await changed("dragging the width");
      await tab.screenshot("20-muscle-width");
      await undone("the width");
      // Numbers that matter while moving are edits like the others.
      for (const label of ["Tone", "Strength", "Tendon", "Stiffness", "Damping", "Friction", "Gain", "Base"]) {
        await dragSlider(tab, label, 0.8);
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
        assert.notEqual(await tab.run(() => globalThis.ecorche.model.document.text), text, label);
        await tab.page.keyboard.press("Control+z");
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 0);
      }
      await tab.settled("muscles");
      assert.ok(same(before, await tab.positions()), "undo of all of them brings the same bits back");
      await tab.tab("shape");
      await tab.page.click(".move-insertion");
      await tab.page.waitForTimeout(300);
      const { x, y } = await gizmoOnScreen(tab);
      const grip = await findHandle(tab, x, y);
      await dragFrom(tab, grip, [x, y]);
      await changed("moving an attachment");
      await undone("moving an attachment");
      await tab.page.keyboard.press("Delete");
      await changed("deleting a muscle");
      await undone("deleting a muscle");
      // A new muscle between two bones.
      await tab.page.keyboard.press("Escape");
      await tab.page.keyboard.press("n");
      const count = await tab.run(() => globalThis.ecorche.model.document.muscle.length);
      await tab.page.click(".entry:has-text('leftUpperArm')");
      await tab.page.click(".entry:has-text('leftLowerArm')");
      await tab.page.waitForFunction((n) => globalThis.ecorche.model.document.muscle.length === n + 1, count);
      await changed("a new muscle");
      await tab.screenshot("21-new-muscle");
      await undone("a new muscle");
      // Keys of its activation.
      await tab.page.click(".entry:has-text('biceps')");
      await dragSlider(tab, "Key here", 0.9);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.keys.length === 1);
      await undone("a key");
    });
  },

  async "ends, profiles, fat, copies"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("muscles", 20);
      const [before, text] = [await tab.positions(), await tab.run(() => globalThis.ecorche.model.document.text)];
      /** Does something that is one step, sees the skin change if it shall, and takes it back. */
      const step = async (what, work, seen = true) => {
        await work();
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1, null, { timeout: 20_000 });
        await tab.settled("muscles");
        assert.equal(!same(before, await tab.positions()), seen, `${what}: whether the skin changes`);
        await tab.page.click("#undo");
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 0);
        await tab.settled("muscles");
        assert.ok(same(before, await tab.positions()), `undo of ${what} brings the same bits back`);
        assert.equal(await tab.run(() => globalThis.ecorche.model.document.text), text, what);
      };
      const choose = () => tab.page.click(".entry:has-text('biceps')");
      const row = (label) => tab.page.locator(".row", { has: tab.page.locator(".label", { hasText: new RegExp(`^${label}$`) }) });
      await choose();
      await step("another bone", () => row("Insertion").locator("select").selectOption("leftHand"));
      await step("an end on the bone", () => tab.page.locator("button:has-text('To bone')").first().click());
      await step("an end on the skin", async () => {
        await tab.page.locator("button:has-text('To skin')").first().click();
        const { x, y } = await jointOnScreen(tab, "leftLowerArm");
        await tab.page.mouse.click(x, y);
      });
      await step("a tense profile", () => row("Tense profile").locator("select").first().selectOption("2"));
      await step("a slack profile", () => row("Slack profile").locator("select").last().selectOption("7"));
      await step("eccentricity", () => dragSlider(tab, "Eccentricity", 0.9));
      await step("what it passes through", () => tab.tab("motion").then(() => tab.page.click(".check:has-text('Out of bones') input")), false);
      await step("a copy", () => tab.page.keyboard.press("Control+d"));
      await choose();
      await step("a key of its activation", () => dragSlider(tab, "Key here", 0.1));
      // Fat on a joint.
      await tab.page.click(".entry:has-text('leftUpperArm')");
      await tab.page.locator("h2:has-text('Fat') button").click();
      const arm = await jointOnScreen(tab, "leftLowerArm");
      await tab.page.mouse.click(arm.x, arm.y - 80);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.fat.length === 1);
      await tab.settled("muscles");
      const thin = await tab.positions();
      assert.ok(same(before, thin), "fat in its place leaves the skin where it is");
      await dragSlider(tab, "Across", 0.4);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 2);
      await tab.settled("muscles");
      assert.ok(same(thin, await tab.positions()), "however much of it there is");
      await tab.screenshot("24-fat");
      for (const steps of [1, 0]) {
        await tab.page.keyboard.press("Control+z");
        await tab.page.waitForFunction((n) => globalThis.ecorche.model.document.undo === n, steps);
      }
      await tab.settled("muscles");
      assert.ok(same(before, await tab.positions()));
    });
  },

  async "mirror images"(browser) {
    await visit(browser, [SMALL], async ({ tab, folder }) => {
      await tab.stand("muscles", 7);
      await tab.page.click(".entry:has-text('brachialis')");
      const count = () => tab.page.locator(".entry:has-text('brachialis') .side").count();
      assert.equal(await count(), 2);
      const title = () => tab.page.locator(".tab-body h2").first().textContent();
      for (const [letter, side] of [["R", "right"], ["L", "left"]]) {
        await tab.page.locator(".entry:has-text('brachialis') .side", { hasText: letter }).click();
        assert.equal(await title(), `brachialis, ${side}`);
      }
      // A bake that is cancelled while its body is bound ends at once.
      await tab.page.keyboard.press("b");
      await tab.page.fill("#bake-path", "never.pc2");
      await tab.page.click("#bake-start");
      await tab.page.waitForSelector("#bake-outcome:has-text('preparing')");
      const pressed = performance.now();
      await tab.page.click("#bake-cancel");
      await tab.page.waitForSelector("#bake-outcome:has-text('cancelled')", { timeout: 3000 });
      console.log(`   a bake in preparation is cancelled in ${(performance.now() - pressed).toFixed(0)} ms`);
      assert.ok(!existsSync(path.join(folder, "never.pc2")));
      await tab.page.keyboard.press("Escape");
      await tab.page.waitForFunction(() => document.querySelector("dialog[open]") === null);
      const before = await tab.positions();
      await tab.page.click("button:has-text('Unlink mirror')");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("muscles");
      assert.equal(await count(), 1, "the other side goes");
      assert.ok(!same(before, await tab.positions()), "the skin misses it");
      // A mirror image is made of the side that is left.
      await tab.page.click("button:has-text('Mirror')");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 2);
      await tab.settled("muscles");
      assert.equal(await count(), 2);
      assert.ok(same(before, await tab.positions()), "the image is what was there");
      await tab.screenshot("32-mirrored");
      for (const steps of [1, 0]) {
        await tab.page.keyboard.press("Control+z");
        await tab.page.waitForFunction((n) => globalThis.ecorche.model.document.undo === n, steps);
      }
      await tab.settled("muscles");
      assert.ok(same(before, await tab.positions()), "undo brings the same bits back");
    });
  },

  async "a muscle that is a fan"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("muscles", 20);
      await tab.page.click(".entry:has-text('triceps')");
      const point = () => tab.run(() => globalThis.ecorche.model.muscle().origin);
      const { bone, at } = await point();
      await tab.run(([name, [x, y, z]]) => {
        const { model } = globalThis.ecorche;
        const { name: muscle, side } = model.muscle();
        const value = [{ bone: name, at: [x, y, z] }, { bone: name, at: [x + 0.02, y, z] }];
        model.edit([{ set: { target: { entry: ["muscle", muscle, side] }, field: "origin", value } }]);
      }, [bone, at]);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("muscles");
      const [before, [first, second]] = [await tab.positions(), await point()];
      assert.equal(await tab.page.locator(".move-origin").count(), 2, "both its points can be taken hold of");
      await tab.page.locator(".move-origin").nth(1).click();
      await tab.page.waitForTimeout(300);
      const { x, y } = await gizmoOnScreen(tab);
      await dragFrom(tab, await findHandle(tab, x, y), [x, y]);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 2);
      await tab.settled("muscles");
      const [stayed, moved] = await point();
      assert.deepEqual(stayed, first, "the other point stays");
      assert.notDeepEqual(moved.at, second.at, "the point moves");
      assert.ok(!same(before, await tab.positions()), "the skin follows");
      await tab.screenshot("33-fan-moved");
      await tab.page.keyboard.press("Control+z");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("muscles");
      assert.ok(same(before, await tab.positions()), "undo brings the same bits back");
      // This character has one arm: a mirror image is refused in plain words.
      const { text } = await tab.run(() => globalThis.ecorche.model.document);
      await tab.page.click("button:has-text('Mirror')");
      await tab.page.waitForSelector(".toast.error");
      console.log(`   told: ${await tab.page.textContent(".toast.error")}`);
      assert.equal(await tab.run(() => globalThis.ecorche.model.document.text), text);
    });
  },

  async "editing joints and samples"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      // Flexed until skin meets skin: there the fields decide.
      await tab.stand("implicit", 34);
      const before = await tab.positions();
      await tab.page.click(".entry:has-text('leftLowerArm')");
      await tab.choose("#operator", "bulge");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.skin.joint.leftLowerArm?.operator === "bulge");
      await tab.page.waitForFunction(() => document.querySelector(".curve")?.dataset.points);
      await tab.page.waitForTimeout(300);
      const curve = await tab.page.locator(".curve").boundingBox();
      const [angle, opening] = await tab.run(() => JSON.parse(document.querySelector(".curve").dataset.points)[1]);
      const [px, py] = [curve.x + ((28 + (angle / Math.PI) * 232) / 268) * curve.width, curve.y + ((8 + (1 - opening) * 102) / 130) * curve.height];
      await tab.page.mouse.move(px, py);
      await tab.page.mouse.down();
      await tab.page.mouse.move(px + 12, py - 10, { steps: 4 });
      await tab.page.mouse.up();
      await tab.page.waitForFunction(() => typeof globalThis.ecorche.model.document.skin.joint.leftLowerArm?.controller === "object" && globalThis.ecorche.model.document.skin.joint.leftLowerArm.controller !== null);
      await tab.screenshot("22-controller");
      await tab.page.keyboard.press("Control+z");
      await tab.page.keyboard.press("Control+z");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 0);
      for (const label of ["Samples", "Closure", "Max offset"]) {
        await dragSlider(tab, label, label === "Samples" ? 0.05 : 0.8);
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
        await tab.settled("implicit");
        if (label !== "Max offset") assert.ok(!same(before, await tab.positions()), `${label}: the field is another`);
        await tab.page.keyboard.press("Control+z");
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 0);
      }
      // A point of the field taken away.
      await tab.page.keyboard.press("h");
      await tab.settled("implicit");
      await tab.page.waitForFunction(() => globalThis.ecorche.viewport.interior.last?.samples[0] > 0);
      await tab.run(() => {
        const { interior } = globalThis.ecorche.viewport;
        const { viewport, model } = globalThis.ecorche;
        const joint = model.selection.joint;
        const at = [...interior.last.sampleJoints].indexOf(joint);
        const place = viewport.skeleton.place(joint).clone().fromArray(interior.last.samplePoints, 6 * at);
        const normal = place.clone().fromArray(interior.last.samplePoints, 6 * at + 3);
        viewport.chooseSample({ joint, place, normal });
      });
      await tab.tab("field");
      await tab.page.click("button:has-text('Delete point')");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("implicit");
      assert.ok(!same(before, await tab.positions()), "the field without the point is another");
      await tab.screenshot("23-sample-deleted");
      await tab.page.keyboard.press("Control+z");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 0);
      await tab.settled("implicit");
      assert.ok(same(before, await tab.positions()), "undo brings the same bits back");
    });
  },

  async "saving, loading, undo"(browser) {
    await visit(browser, [ARM], async ({ tab, folder }) => {
      await tab.stand("muscles", 20);
      const [before, text] = [await tab.positions(), await tab.run(() => globalThis.ecorche.model.document.text)];
      await tab.page.click(".entry:has-text('biceps')");
      await dragSlider(tab, "Width", 0.5);
      await tab.page.keyboard.press("Escape");
      await tab.run(() => globalThis.ecorche.model.show({ flesh: false, opacity: 1 }));
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("muscles");
      await tab.fixCamera();
      const [after, picture] = [await tab.positions(), await tab.picture()];
      assert.ok(!same(before, after), "the width is seen");
      await tab.page.click("#save");
      await tab.page.fill("dialog .path", "mine.sh");
      await tab.page.keyboard.press("Enter");
      assert.match(await tab.page.textContent(".toast.error"), /ends in .toml/);
      await tab.page.click("#save");
      await tab.page.fill("dialog .path", "mine.toml");
      await tab.page.keyboard.press("Enter");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.unsaved === false);
      await tab.page.click("#undo");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 0);
      await tab.settled("muscles");
      assert.ok(same(before, await tab.positions()), "undo brings the same bits back");
      assert.equal(await tab.run(() => globalThis.ecorche.model.document.text), text);
      await visit(browser, [ARM, "--anatomy", path.join(folder, "mine.toml")], async ({ tab: other }) => {
        await other.stand("muscles", 20);
        await other.fixCamera();
        assert.ok(same(after, await other.positions()), "what was saved loads");
        assert.ok(picture.equals(await other.picture()), "and gives the same picture");
      });
    });
  },
};
