/** Steps: nothing is lost, nothing is replaced under the hand, and what is said can be read. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { dragFrom, dragSlider, findHandle, jointOnScreen } from "./gestures.mjs";
import { ARM, SMALL, visit } from "./visit.mjs";

const entry = (name) => `.entry:has-text('${name}') .name`;
/** Waits until that many steps can be undone, and the last of a drag's moves has arrived. */
const undos = async (tab, count) => {
  await tab.page.waitForFunction((n) => globalThis.ecorche.model.document.undo === n, count, { timeout: 20_000 });
  for (let before = -1, now = 0; now !== before; ) {
    before = now;
    await tab.page.waitForTimeout(250);
    now = await tab.run(() => globalThis.ecorche.model.document.revision);
  }
  assert.equal(await tab.run(() => globalThis.ecorche.model.document.undo), count);
};
/** Opens the tab with a number and takes hold of its field. */
const reach = (tab, label) => tab.reach(`.number[aria-label="${label}"]`);
const field = (tab, label) => tab.page.locator(`.number[aria-label="${label}"]`);

export const keeping = {
  async "keys at several moments, in the clip that is chosen"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("dqs", 5);
      await tab.page.click(entry("biceps"));
      await dragSlider(tab, "Key here", 0.9);
      await undos(tab, 1);
      await tab.page.locator("#scrub").fill("20");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.frame.at === 20);
      await dragSlider(tab, "Key here", 0.2);
      await undos(tab, 2);
      const keys = () => tab.run(() => globalThis.ecorche.model.document.keys[0]?.values ?? []);
      const fps = await tab.run(() => globalThis.ecorche.model.frame.fps);
      const [first, second] = await keys();
      assert.deepEqual((await keys()).length, 2, "the second key leaves the first");
      assert.ok(Math.abs(first[0] - 5 / fps) < 2e-3 && Math.abs(second[0] - 20 / fps) < 2e-3, `${first} ${second}`);
      assert.ok(first[1] > 0.8 && second[1] < 0.3, `${first} ${second}`);
      assert.equal(await tab.page.locator(".keyframe").count(), 2);
      // A drag during play keys the moment it began at.
      await tab.page.keyboard.press("Space");
      await dragSlider(tab, "Key here", 0.6);
      await tab.page.keyboard.press("Space");
      await undos(tab, 3);
      assert.equal((await keys()).length, 3, "one drag is one key");
      // Diamonds over the timeline: a drag moves one, a drag with Ctrl copies it, Delete takes it away.
      const diamond = (k) => tab.page.locator(".diamond").nth(k);
      assert.equal(await tab.page.locator(".diamond").count(), 3);
      const slide = async (k, by) => {
        const box = await diamond(k).boundingBox();
        await tab.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
        await tab.page.mouse.down();
        for (let step = 1; step <= 5; step++) await tab.page.mouse.move(box.x + box.width / 2 + (by * step) / 5, box.y + box.height / 2);
        await tab.page.mouse.up();
      };
      const before = await keys();
      await slide(0, 25);
      await undos(tab, 4);
      const after = await keys();
      assert.ok(after.length === 3 && after[0][0] > before[0][0] && after[0][1] === before[0][1], `${before} became ${after}`);
      await tab.page.keyboard.down("Control");
      await slide(0, 20);
      await tab.page.keyboard.up("Control");
      await undos(tab, 5);
      assert.equal((await keys()).length, 4, "a drag with Ctrl copies");
      await tab.screenshot("41-keys");
      await diamond(1).focus();
      await tab.page.keyboard.press("Delete");
      await undos(tab, 6);
      assert.deepEqual([(await keys()).length, await tab.run(() => globalThis.ecorche.model.muscle()?.name)], [3, "biceps brachii"], "the key goes, the muscle stays");
      const [clip] = await tab.run(() => globalThis.ecorche.model.character.clips.map(({ name }) => name));
      await tab.page.selectOption("#clip", "");
      await tab.page.waitForSelector("text=Choose a clip");
      assert.equal(await tab.page.locator(".keyframe").count(), 0);
      await tab.page.selectOption("#clip", clip);
      await tab.page.waitForSelector(".keyframe");
      assert.equal(await tab.page.locator("text=Choose a clip").count(), 0);
    });
  },

  async "what is under the pointer stays"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("implicit", 10);
      await tab.page.click(entry("leftLowerArm"));
      await tab.choose("#operator", "bulge");
      await undos(tab, 1);
      await tab.page.waitForFunction(() => document.querySelector(".curve")?.dataset.points);
      const points = () => tab.run(() => JSON.parse(document.querySelector(".curve").dataset.points));
      await tab.run(() => { document.querySelector(".curve").mine = true; });
      const box = await tab.page.locator(".curve").boundingBox();
      const at = ([angle, opening]) => [box.x + ((28 + (angle / Math.PI) * 232) / 268) * box.width, box.y + ((8 + (1 - opening) * 102) / 130) * box.height];
      const [, middle] = await points();
      const [x, y] = at(middle);
      await tab.page.mouse.move(x, y);
      await tab.page.mouse.down();
      let replies = 0;
      for (let k = 1; k <= 5; k++) {
        const before = await tab.run(() => globalThis.ecorche.model.document.revision);
        await tab.page.mouse.move(x + 5 * k, y + 5 * k);
        // The engine answers every move while the button is down.
        await tab.page.waitForFunction((n) => globalThis.ecorche.model.document.revision > n, before).then(() => replies++);
      }
      await tab.page.mouse.up();
      const [, moved] = await points();
      const [px, py] = at(moved);
      assert.ok(Math.hypot(px - x - 25, py - y - 25) < 3, `the handle is where the pointer left it: ${px - x} ${py - y}`);
      assert.equal(replies, 5);
      assert.ok(await tab.run(() => document.querySelector(".curve").mine), "it is the same curve");
      await undos(tab, 2);
      await tab.page.keyboard.press("Control+z");
      await undos(tab, 1);
      // Sliders and what is typed, too.
      await tab.page.click(entry("biceps"));
      const range = tab.page.locator('.slider[data-field="Width"] input[type=range]');
      await range.evaluate((e) => { e.mine = true; });
      await dragSlider(tab, "Width", 0.6);
      await undos(tab, 2);
      assert.ok(await range.evaluate((e) => e.mine), "it is the same slider");
      await reach(tab, "Tone");
      await field(tab, "Tone").click();
      await tab.page.keyboard.type("12");
      await tab.run(() => globalThis.ecorche.model.edit([{ set: { target: "skin", field: "gap", value: 0.03 } }]));
      await undos(tab, 3);
      await tab.page.keyboard.type(".5");
      await tab.page.keyboard.press("Enter");
      await undos(tab, 4);
      assert.equal(await tab.run(() => globalThis.ecorche.model.muscle().tone), 12.5, "typing goes on while the panel changes");
    });
  },

  async "numbers as expressions, keys of controls"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("dqs", 10);
      await tab.page.click(entry("biceps"));
      const width = () => tab.run(() => globalThis.ecorche.model.muscle().width);
      const type = async (text, undo) => {
        await reach(tab, "Width");
        await field(tab, "Width").click();
        await tab.page.keyboard.type(text);
        await tab.page.keyboard.press("Enter");
        await undos(tab, undo);
      };
      await type("2*18", 1);
      assert.ok(Math.abs((await width()) - 0.036) < 1e-6);
      await type("(1 + 0.5) * 1cm", 2);
      assert.ok(Math.abs((await width()) - 0.015) < 1e-6);
      await field(tab, "Width").click();
      await tab.page.keyboard.type("wide");
      await tab.page.keyboard.press("Enter");
      assert.equal(await field(tab, "Width").inputValue(), "15.0", "nonsense brings the number back");
      // Dragging the number itself.
      const box = await field(tab, "Width").boundingBox();
      await tab.page.mouse.move(box.x + 20, box.y + 10);
      await tab.page.mouse.down();
      for (let k = 1; k <= 10; k++) await tab.page.mouse.move(box.x + 20 + 5 * k, box.y + 10);
      await tab.page.mouse.up();
      await undos(tab, 3);
      assert.ok(Math.abs((await width()) - 0.02) < 1e-5, `scrubbed to ${await width()}`);
      // Escape leaves the field, and a second one the muscle.
      await field(tab, "Width").click();
      await tab.page.keyboard.type("99");
      await tab.page.keyboard.press("Escape");
      assert.equal(await tab.run(() => globalThis.ecorche.model.selection.kind), "muscle");
      assert.equal(await field(tab, "Width").inputValue(), "20.0");
      // Letters in a list and arrows on a slider are theirs.
      await tab.page.focus("#clip");
      await tab.page.keyboard.press("b");
      assert.equal(await tab.page.locator("dialog").count(), 0, "b in a list does not open the bake");
      await tab.page.locator('.slider[data-field="Width"] input[type=range]').focus();
      await tab.page.keyboard.press("ArrowRight");
      await undos(tab, 4);
      assert.equal(await tab.run(() => globalThis.ecorche.model.frame.at), 10, "the timeline stays");
      await tab.page.keyboard.press("Escape");
      assert.equal(await tab.run(() => globalThis.ecorche.model.selection.kind), "none");
    });
  },

  async "degrees, limits, undo of a pose"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("dqs", 0);
      await tab.page.selectOption("#clip", "");
      await tab.page.keyboard.press("j");
      // From the side the elbow is under another pixel, and says its name.
      const looks = () => tab.run(() => {
        const { camera, orbit } = globalThis.ecorche.viewport.stage;
        return camera.position.clone().sub(orbit.target).normalize().toArray().map((v) => Math.round(v));
      });
      await tab.page.keyboard.press("Control+Numpad1");
      assert.deepEqual(await looks(), [0, 0, -1]);
      await tab.page.keyboard.press("Numpad7");
      assert.deepEqual(await looks(), [0, 1, 0]);
      await tab.page.keyboard.press("Numpad0");
      await tab.settled("dqs");
      await tab.page.waitForTimeout(200);
      const { x, y, joint } = await jointOnScreen(tab, "leftLowerArm");
      await tab.page.mouse.move(x, y);
      await tab.page.waitForSelector(".under-pointer:has-text('leftLowerArm')");
      await tab.page.mouse.click(x, y);
      await tab.page.waitForFunction((j) => globalThis.ecorche.model.selection.joint === j, joint);
      await tab.page.waitForTimeout(200);
      await dragFrom(tab, await findHandle(tab, x, y), null);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.pose.size === 1);
      assert.ok(await tab.page.isDisabled("#redo"));
      await tab.page.click("#undo");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.pose.size === 0);
      assert.ok(await tab.page.isEnabled("#redo"), "an undone pose can be made again");
      await tab.page.click("#redo");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.pose.size === 1);
      await tab.page.click("#undo");
      // The angle between upper and lower arm, 0 where straight.
      const bend = () => tab.run(() => {
        const { model, viewport } = globalThis.ecorche;
        const [a, b, c] = ["leftUpperArm", "leftLowerArm", "leftHand"].map((name) => viewport.skeleton.place(model.character.joints.findIndex((j) => j.name === name)));
        return (180 / Math.PI) * b.clone().sub(a).angleTo(c.clone().sub(b));
      });
      const straight = await bend();
      const turn = async (text) => {
        for (const axis of ["X", "Z"]) {
          await field(tab, `Turn about ${axis}`).click();
          await tab.page.keyboard.type(axis === "Z" ? text : "0");
          await tab.page.keyboard.press("Enter");
        }
        await tab.settled("dqs");
      };
      await turn("145");
      const elbow = await bend();
      assert.ok(Math.abs(elbow - 145) < straight + 1, `145 was typed, the elbow is at ${elbow}`);
      await turn("175");
      assert.ok((await bend()) <= 150.5, `an elbow stops at 150 degrees, not at ${await bend()}`);
      await tab.screenshot("40-limit");
      await tab.page.click(".check:has-text('Stop at')");
      await turn("175");
      assert.ok((await bend()) > 165, `past its limit: ${await bend()}`);
    });
  },

  async "a page that is loaded again"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("cor", 12);
      await tab.page.click(entry("leftLowerArm"));
      await field(tab, "Turn about Y").click();
      await tab.page.keyboard.type("20");
      await tab.page.keyboard.press("Enter");
      await tab.page.keyboard.press("c");
      const box = await tab.page.locator(".view > canvas").boundingBox();
      await tab.page.mouse.move(box.x + 60, box.y + 300);
      await tab.page.mouse.down();
      await tab.page.mouse.move(box.x + 160, box.y + 340, { steps: 4 });
      await tab.page.mouse.up();
      await tab.settled("cor");
      const shown = () => tab.run(() => {
        const { model, viewport } = globalThis.ecorche;
        const { clip, playing } = model.transport;
        const place = (v) => v.toArray().map((x) => Math.round(1e4 * x));
        const { looks, compare, opacity } = model.display;
        return { clip, playing, looks, compare, opacity, selection: model.selection, pose: [...model.pose], at: model.frame.at, camera: place(viewport.stage.camera.position), target: place(viewport.stage.orbit.target) };
      });
      const before = await shown();
      await tab.page.reload();
      await tab.page.waitForFunction(() => globalThis.ecorche?.model.frame, null, { timeout: 30_000 });
      await tab.settled("cor");
      assert.deepEqual(await shown(), before);
    });
  },

  async "what is being prepared, and how far"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      await tab.stand("implicit", 3);
      await tab.run(() => {
        globalThis.told = [];
        globalThis.ecorche.model.on("busy", (busy) => globalThis.told.push([busy, document.querySelector("#state").textContent]));
      });
      // A number that no earlier run has left in the cache.
      const started = performance.now();
      await reach(tab, "Closure");
      await field(tab, "Closure").click();
      await tab.page.keyboard.type((1 + 0.5 * Math.random()).toFixed(5));
      await tab.page.keyboard.press("Enter");
      await undos(tab, 1);
      await tab.settled("implicit");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.busy === null, null, { timeout: 60_000 });
      const told = await tab.run(() => globalThis.told);
      const counted = told.filter(([busy]) => busy?.stage === "fitting parts");
      assert.ok(counted.length > 0, JSON.stringify(told));
      for (const [{ done, of }, text] of counted) assert.equal(text, `preparing Implicit: fitting parts ${done} of ${of}`);
      assert.ok(counted.at(-1)[0].done > 0 && counted.every(([{ done, of }]) => done <= of));
      assert.equal(told.at(-1)[0], null, "it says when it is done");
      console.log(`   bound again in ${((performance.now() - started) / 1000).toFixed(1)} s, told ${told.length} times on the way`);
    });
  },

  async "several joints turn together, poses are mirrored"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      await tab.stand("dqs", 0);
      await tab.page.selectOption("#clip", "");
      const joint = (name) => tab.run((n) => globalThis.ecorche.model.character.joints.findIndex((j) => j.name === n), name);
      const arm = await joint("leftLowerArm");
      await tab.page.fill("#search", "leftLowerArm");
      await tab.page.keyboard.press("Enter");
      assert.equal(await tab.run(() => globalThis.ecorche.model.selection.joint), arm, "Enter takes the first that is found");
      await tab.page.fill("#search", "");
      await field(tab, "Turn about Y").click();
      await tab.page.keyboard.type("90");
      await tab.page.keyboard.press("Enter");
      await tab.page.click("button:has-text('Mirror pose')");
      await tab.settled("dqs");
      // Left and right hand are each other's image where the pose was mirrored.
      const hands = (names) => tab.run((list) => {
        const { model, viewport } = globalThis.ecorche;
        return list.map((name) => viewport.skeleton.place(model.character.joints.findIndex((j) => j.name === name)).toArray());
      }, names);
      const [, mirrored] = await hands(["leftHand", "rightHand"]);
      await tab.page.keyboard.press("Control+z");
      await tab.settled("dqs");
      const [was] = await hands(["leftHand", "rightHand"]);
      assert.ok(Math.hypot(was[0] + mirrored[0], was[1] - mirrored[1], was[2] - mirrored[2]) < 1e-3, `${was} and ${mirrored}`);
      await tab.page.keyboard.press("Shift+R");
      // All joints below turn in one drag, which is one step of undo.
      await tab.page.fill("#search", "leftHand");
      await tab.page.keyboard.press("Enter");
      await tab.page.keyboard.press("Escape");
      await tab.page.click("button:text-is('Children')");
      const below = 1 + (await tab.run(() => globalThis.ecorche.model.along.length));
      assert.ok(below >= 12, `${below} joints of the fingers`);
      const range = await field(tab, "Turn about Z").boundingBox();
      await tab.page.mouse.move(range.x + 10, range.y + 10);
      await tab.page.mouse.down();
      for (let k = 1; k <= 8; k++) await tab.page.mouse.move(range.x + 10 - 80 * k, range.y + 10);
      await tab.page.mouse.up();
      await tab.settled("dqs");
      await tab.page.keyboard.press("f");
      await tab.screenshot("43-fist");
      assert.equal(await tab.run(() => globalThis.ecorche.model.pose.size), below, "all of them turn");
      await tab.page.keyboard.press("Control+z");
      assert.equal(await tab.run(() => globalThis.ecorche.model.pose.size), 0, "one step takes all back");
    });
  },

  async "overwriting is asked about, errors are short"(browser) {
    await visit(browser, [ARM], async ({ tab, folder }) => {
      const [other, before] = [path.join(folder, "other.toml"), "# somebody else's\n"];
      writeFileSync(other, before);
      const saveAs = async (name) => {
        await tab.page.click("#file-more");
        await tab.page.click(".menu .entry:has-text('Save anatomy as')");
        await tab.page.fill("dialog .path", name);
        await tab.page.keyboard.press("Enter");
      };
      for (const answer of ["No", "Yes"]) {
        await saveAs("other.toml");
        await tab.page.waitForSelector("dialog:has-text('exists. Overwrite it?')");
        assert.equal(readFileSync(other, "utf8"), before, "nothing is written before a yes");
        await tab.page.click(`dialog button:has-text('${answer}')`);
      }
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.path === "other.toml");
      assert.notEqual(readFileSync(other, "utf8"), before);
      const told = async () => {
        await tab.page.waitForSelector(".toast.error");
        const text = await tab.page.textContent(".toast.error");
        await tab.page.click(".toast.error");
        return text;
      };
      await saveAs("nowhere/mine.toml");
      const refused = await told();
      assert.equal(refused.match(/nowhere/g).length, 1, refused);
      assert.ok(!refused.includes(".ecorche-") && !refused.includes(".part"), refused);
      const fat = (k) => `[[fat]]\nname = "pad ${k}"\nside = "middle"\nbone = "Bip01 ${k}"\nat = [0, 0, 0]\nradii = [0.01, 0.01, 0.01]\n`;
      writeFileSync(path.join(folder, "dog.toml"), `version = 1\n${Array.from({ length: 40 }, (_, k) => fat(k)).join("")}`);
      await tab.page.click("#file-more");
      await tab.page.click(".menu .entry:has-text('Open anatomy')");
      await tab.page.fill("dialog .path", "dog.toml");
      await tab.page.keyboard.press("Enter");
      const foreign = await told();
      assert.equal(foreign.split("\n").length, 1, foreign);
      assert.match(foreign, /another character: 0 of the 40 joints/);
      console.log(`   told: ${refused}\n   told: ${foreign}`);
    });
  },
};
