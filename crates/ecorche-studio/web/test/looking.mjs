/** Steps: what is seen. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { dragFrom, findHandle, gizmoOnScreen, jointOnScreen, turnRing } from "./gestures.mjs";
import { texturedQuad } from "./quad.mjs";
import { ARM, SMALL, program, same, visit } from "./visit.mjs";

/** Frame `number` of a PC2 cache as places of three numbers. */
function cachedFrame(file, number) {
  const bytes = readFileSync(file);
  const count = bytes.readUInt32LE(16);
  const places = [];
  for (let v = 0; v < count; v++) {
    const at = 32 + 12 * (number * count + v);
    places.push([0, 4, 8].map((k) => bytes.readFloatLE(at + k)).join());
  }
  return places;
}

export const looking = {
  async "the page opens and the athlete runs"(browser) {
    await visit(browser, ["sample:athlete"], async ({ tab }) => {
      const clips = await tab.run(() => globalThis.ecorche.model.transport);
      assert.deepEqual([clips.clip, clips.playing], ["run", true]);
      await tab.page.keyboard.press("2");
      const first = await tab.run(() => globalThis.ecorche.model.frame.frame);
      const one = await tab.picture();
      await tab.page.waitForFunction((n) => globalThis.ecorche.model.frame.frame > n, first + 10, { timeout: 30_000 });
      assert.ok(!one.equals(await tab.picture()), "the picture changes while playing");
      const counts = await tab.page.textContent("#counts");
      assert.match(counts, /19.500 vertices/);
      assert.match(await tab.page.textContent("#engine-time"), /ms a frame/);
      await tab.screenshot("01-running");
      await tab.page.keyboard.press("?");
      await tab.screenshot("02-keys");
    });
  },

  async "methods, comparison, scrubbing"(browser) {
    await visit(browser, [SMALL], async ({ tab, folder }) => {
      await tab.stand("lbs", 7);
      const [linear, linearPicture] = [await tab.positions(), await tab.picture()];
      await tab.page.click('#look [data-value="implicit"]');
      await tab.settled("implicit");
      const [implicit, implicitPicture] = [await tab.positions(), await tab.picture()];
      assert.ok(!same(linear, implicit) && !linearPicture.equals(implicitPicture), "the method is seen");
      await tab.page.keyboard.press("c");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.frame.skins.length === 2);
      await tab.screenshot("03-side-by-side");
      await tab.page.keyboard.press("c");
      await tab.screenshot("04-wipe");
      const half = await tab.picture();
      const line = await tab.page.locator(".divider").boundingBox();
      await tab.page.mouse.move(line.x + 5, line.y + 300);
      await tab.page.mouse.down();
      await tab.page.mouse.move(line.x - 120, line.y + 300, { steps: 4 });
      await tab.page.mouse.up();
      assert.ok(!half.equals(await tab.picture()), "the line of the wipe is dragged");
      await tab.page.keyboard.press("c");
      // The frame scrubbed to is the frame a bake has, to the bit.
      execFileSync(program, ["bake", SMALL, "--clip", "run", "--method", "implicit", "-o", "cli.pc2", "--quiet"], { cwd: folder });
      for (const frame of [3, 12]) {
        await tab.page.locator("#scrub").fill(String(frame));
        await tab.settled("implicit");
        const places = new Set(cachedFrame(path.join(folder, "cli.pc2"), frame));
        const positions = await tab.positions();
        for (let v = 0; v < positions.length; v += 3) {
          assert.ok(places.has(positions.slice(v, v + 3).join()), `vertex ${v / 3} of frame ${frame}`);
        }
      }
      // A clip that does not loop stays at its end.
      await tab.page.keyboard.press("l");
      await tab.page.keyboard.press("2");
      await tab.page.keyboard.press("Space");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.frame.at === globalThis.ecorche.model.frame.last, null, { timeout: 20_000 });
      await tab.page.waitForTimeout(300);
      assert.ok(await tab.run(() => globalThis.ecorche.model.frame.at === globalThis.ecorche.model.frame.last), "it does not start again");
    });
  },

  async "posing by hand"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      await tab.stand("dqs", 0);
      const before = await tab.positions();
      await tab.page.keyboard.press("j");
      await tab.page.waitForTimeout(300);
      const { x, y, joint } = await jointOnScreen(tab, "leftLowerArm");
      await tab.page.mouse.click(x, y);
      assert.equal(await tab.run(() => globalThis.ecorche.model.selection.joint), joint);
      await tab.page.waitForTimeout(300);
      await dragFrom(tab, await findHandle(tab, x, y), null);
      await tab.settled("dqs");
      const turned = await tab.positions();
      assert.equal(await tab.run(() => globalThis.ecorche.model.pose.size), 1);
      assert.ok(!same(before, turned), "the joint moves the skin");
      await tab.screenshot("05-posed");
      await tab.page.keyboard.press("Control+z");
      await tab.settled("dqs");
      assert.ok(same(before, await tab.positions()), "undo brings the same bits back");
      await tab.page.keyboard.press("Control+Shift+z");
      await tab.settled("dqs");
      assert.ok(same(turned, await tab.positions()), "redo too");
      await tab.page.keyboard.press("Shift+R");
      await tab.settled("dqs");
      assert.ok(same(before, await tab.positions()));
    });
  },

  async "contact while a hand bends the elbow"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("implicit", 8);
      await tab.choose("#quantity", "crossing");
      await tab.page.click(".entry:has-text('leftLowerArm')");
      await tab.page.keyboard.press("a");
      await tab.settled("implicit");
      // How far the elbow is closed, degrees; how many vertices have gone through the skin.
      await tab.run(() => {
        const { model } = globalThis.ecorche;
        const place = (frame, name) => {
          const joint = model.character.joints.findIndex((j) => j.name === name);
          return [12, 13, 14].map((k) => frame.joints[16 * joint + k]);
        };
        globalThis.elbow = (frame = model.frame) => {
          const [a, b, c] = ["leftUpperArm", "leftLowerArm", "leftHand"].map((name) => place(frame, name));
          const [u, v] = [a, c].map((end) => end.map((x, k) => x - b[k]));
          const dot = (p, q) => p.reduce((sum, x, k) => sum + x * q[k], 0);
          return (180 / Math.PI) * Math.acos(dot(u, v) / Math.sqrt(dot(u, u) * dot(v, v)));
        };
        globalThis.through = (frame = model.frame) => frame.values.reduce((sum, value) => sum + (value > 1), 0);
        globalThis.live = [];
        model.on("frame", (frame) => {
          const [{ shown, contacts }] = frame.looks;
          if (shown === "implicit") globalThis.live.push({ angle: globalThis.elbow(frame), contacts, through: globalThis.through(frame) });
        });
      });
      // The axis about which the clip bends it.
      const axis = await tab.run(async () => {
        const { model, viewport } = globalThis.ecorche;
        const { joint } = model.selection;
        const turn = () => viewport.gizmo.proxy.quaternion.clone().setFromRotationMatrix(viewport.skeleton.matrix(model.character.joints[joint].parent).clone().invert().multiply(viewport.skeleton.matrix(joint)));
        const one = turn();
        model.scrub(20);
        await new Promise((resolve) => { const stop = model.on("frame", (frame) => { if (frame.at === 20) { stop(); resolve(); } }); });
        const { x, y, z } = one.invert().multiply(turn());
        const sizes = [x, y, z].map(Math.abs);
        return ["X", "Y", "Z"][sizes.indexOf(Math.max(...sizes))];
      });
      await tab.settled("implicit");
      await tab.page.waitForTimeout(300);
      await turnRing(tab, axis, () => tab.run(() => globalThis.elbow() < 42 || globalThis.elbow()));
      await tab.settled("implicit");
      const { angle, live, kept } = await tab.run(() => ({ angle: globalThis.elbow(), live: globalThis.live, kept: globalThis.through() }));
      assert.match(await tab.page.textContent("#flesh"), /in contact/);
      await tab.choose("#quantity", "");
      await tab.settled("implicit");
      await tab.screenshot("15-contact");
      await tab.choose("#quantity", "crossing");
      const pose = await tab.run(() => globalThis.ecorche.model.pose.size);
      assert.equal(pose, 1);
      await tab.page.keyboard.press("2");
      await tab.settled("dqs");
      const plain = await tab.run(() => globalThis.through());
      const worst = Math.max(...live.map(({ through }) => through));
      console.log(`   elbow closed to ${angle.toFixed(0)}° in ${live.length} live frames: ${worst} vertices through the skin at most, ${kept} at the end; dual quaternions there: ${plain}`);
      assert.ok(angle < 45, "a deep bend");
      assert.ok(live.length >= 5 && live.some(({ contacts }) => contacts > 0), "contact is seen while dragging");
      assert.ok(plain > 50 && worst <= 0.1 * plain, `${worst} against ${plain}`);
      await tab.screenshot("16-contact-dqs");
    });
  },

  async "looking inside"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      await tab.stand("implicit", 7);
      const plain = await tab.picture();
      const shown = async (name, press, back) => {
        await press();
        await tab.settled("implicit");
        await tab.page.waitForTimeout(900);
        const picture = await tab.picture();
        assert.ok(!plain.equals(picture), `${name} is seen`);
        await tab.screenshot(name);
        await back();
      };
      const key = (k) => () => tab.page.keyboard.press(k);
      const muscles = new Set();
      for (const paint of ["activation", "tension", "length"]) {
        const by = async () => {
          if (paint === "activation") await tab.page.keyboard.press("m");
          await tab.tab("look");
          await tab.page.locator(".row", { hasText: "Painted by" }).locator("select").selectOption(paint);
        };
        await shown(`06-muscles-${paint}`, by, async () => { muscles.add((await tab.picture()).toString("hex")); });
        assert.equal(await tab.page.textContent("#flesh-legend .name"), `muscles by ${paint}`);
      }
      assert.equal(muscles.size, 3, "the three colourings are told apart");
      await tab.page.keyboard.press("m");
      await tab.run(() => globalThis.ecorche.model.show({ opacity: 0.3 }));
      await shown("07-samples", key("h"), key("h"));
      await shown("08-iso-surface", key("i"), key("i"));
      await shown("09-slice", key("p"), key("p"));
      await tab.run(() => globalThis.ecorche.model.show({ opacity: 1 }));
      await shown("10-cut", key("x"), key("x"));
      for (const quantity of ["stretch", "vertex-state", "beta", "gradient-angle", "iso-error"]) {
        await tab.choose("#quantity", quantity);
        await tab.page.waitForFunction((q) => globalThis.ecorche.model.frame.quantity?.name === q, quantity);
        assert.ok(await tab.page.isVisible("#legend"));
      }
      await tab.choose("#quantity", "stretch");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.frame.quantity?.name === "stretch");
      await tab.screenshot("11-stretch");
      await tab.choose("#quantity", "");
      await tab.page.fill("#search", "leftLowerArm");
      await tab.page.click(".entry:has-text('leftLowerArm')");
      await tab.reach(".curve");
      await tab.page.keyboard.press("f");
      await tab.screenshot("12-joint");
    });
  },

  async "fields looked at closely"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("implicit", 20);
      await tab.page.click(".entry:has-text('leftLowerArm')");
      // The surface of one bone is smaller than the whole.
      await tab.page.keyboard.press("i");
      const triangles = (whole) => tab.page.waitForFunction(
        (w) => globalThis.ecorche.model.display.surface.whole === w && globalThis.ecorche.viewport.interior.last?.surface?.triangles,
        whole,
      ).then((handle) => handle.jsonValue());
      const whole = await triangles(true);
      await tab.tab("look");
      await tab.page.click("button[data-value=bone]");
      await tab.settled("implicit");
      await tab.page.waitForFunction((n) => globalThis.ecorche.viewport.interior.last?.surface?.triangles !== n, whole);
      await tab.screenshot("25-surface-of-a-bone");
      await tab.page.keyboard.press("i");
      // The plane follows its arrow.
      await tab.page.keyboard.press("p");
      await tab.settled("implicit");
      await tab.page.waitForFunction(() => globalThis.ecorche.viewport.interior.last?.slice);
      const at = () => tab.run(() => globalThis.ecorche.model.display.slice.at);
      const place = await at();
      const { x, y } = await gizmoOnScreen(tab);
      await dragFrom(tab, await findHandle(tab, x, y), [x, y]);
      await tab.settled("implicit");
      assert.ok((await at()) !== place, "the plane is dragged");
      await tab.screenshot("26-slice-dragged");
      await tab.page.keyboard.press("p");
      // Every number of a vertex, each with its legend.
      for (const [name] of await tab.run(() => globalThis.ecorche.model.character.quantities)) {
        if (name === "pierce" || name.startsWith("muscle-weight")) continue; // of muscles, which this method has none of
        const quantity = name === "weight:JOINT" ? "weight:leftLowerArm" : name;
        await tab.choose("#quantity", quantity);
        await tab.page.waitForFunction((q) => globalThis.ecorche.model.frame.quantity?.name === q, quantity, { timeout: 20_000 });
        assert.ok(await tab.page.isVisible("#legend"), quantity);
      }
      await tab.choose("#quantity", "");
      // A vertex is followed through the clip and through the steps of a frame.
      await tab.page.keyboard.press("Escape");
      const arm = await jointOnScreen(tab, "leftLowerArm");
      await tab.page.keyboard.down("Alt");
      await tab.page.mouse.click(arm.x, arm.y);
      await tab.page.keyboard.up("Alt");
      for (const frame of [5, 15, 25, 34]) await tab.stand("implicit", frame);
      assert.ok((await tab.run(() => globalThis.ecorche.viewport.trail.length())) > 0.001, "its path has a length");
      assert.ok((await tab.page.locator("#steps > div").count()) >= 2, "its steps are told");
      await tab.screenshot("27-path");
      await tab.page.keyboard.press("Escape");
      // A point of the field is added on the skin, and moved.
      const before = await tab.positions();
      await tab.page.click(".entry:has-text('leftLowerArm')");
      await tab.page.keyboard.press("h");
      await tab.tab("field");
      await tab.page.click("button:has-text('Add on skin')");
      await tab.page.mouse.click(arm.x, arm.y);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("implicit");
      assert.ok(!same(before, await tab.positions()), "the field with the point is another");
      await tab.run(() => {
        const { model, viewport } = globalThis.ecorche;
        const joint = model.selection.joint;
        const [x, y, z, u, v, w] = model.document.skin.joint.leftLowerArm.samples.add[0];
        const world = viewport.skeleton.frame(joint);
        const vector = viewport.skeleton.place(joint);
        viewport.chooseSample({ joint, place: vector.clone().set(x, y, z).applyMatrix4(world), normal: vector.clone().set(u, v, w).transformDirection(world) });
      });
      await tab.page.waitForTimeout(300);
      const point = await gizmoOnScreen(tab);
      await dragFrom(tab, await findHandle(tab, point.x, point.y), [point.x, point.y]);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 2);
      const samples = await tab.run(() => globalThis.ecorche.model.document.skin.joint.leftLowerArm.samples);
      assert.deepEqual([samples.add.length, samples.remove.length], [1, 0], "the added point moved");
      await tab.screenshot("28-sample-moved");
    });
  },

  async "a file with a picture"(browser) {
    const folder = mkdtempSync(path.join(tmpdir(), "studio-"));
    const file = path.join(folder, "quad.gltf");
    writeFileSync(file, texturedQuad());
    await visit(browser, [file], async ({ tab }) => {
      await tab.stand("dqs", 0);
      await tab.page.waitForTimeout(800);
      await tab.screenshot("29-picture");
      // The strongest difference between red, green and blue of two places on the square.
      const contrast = () => tab.run(() => {
        const { renderer, scene, camera } = globalThis.ecorche.viewport.stage;
        renderer.render(scene, camera);
        const gl = renderer.getContext();
        const [one, two] = [0.35, 0.65].map((x) => {
          const pixel = new Uint8Array(4);
          gl.readPixels(x * gl.drawingBufferWidth, 0.65 * gl.drawingBufferHeight, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
          return pixel;
        });
        return Math.max(...[0, 1, 2].map((c) => Math.abs(one[c] - two[c])));
      });
      assert.ok((await contrast()) > 60, "the picture is seen");
      await tab.page.keyboard.press("g");
      assert.ok((await contrast()) < 30, "clay has one colour");
      await tab.page.keyboard.press("g");
      assert.ok((await contrast()) > 60, "the picture is seen again");
    });
    rmSync(folder, { recursive: true, force: true });
  },

  async "a narrow window"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      const choices = [{ kind: "none" }, { kind: "joint", joint: 3 }, { kind: "muscle", name: "latissimus dorsi", side: "left" }];
      for (const [width, height, compare] of [[1280, 720, "single"], [1000, 700, "single"], [1000, 700, "wipe"]]) {
        await tab.page.setViewportSize({ width, height });
        for (const selection of choices) {
          await tab.run(([mode, chosen]) => { globalThis.ecorche.model.show({ compare: mode }); globalThis.ecorche.model.select(chosen); }, [compare, selection]);
          const cut = await tab.run(() =>
            [...document.querySelectorAll(".toolbar > *, .toolbar .methods > *, .timeline > *, .right section *")]
              .filter((e) => !e.matches("[popover], option") && e.getClientRects().length > 0)
              .filter((e) => e.getBoundingClientRect().right > (e.closest("section, body")).getBoundingClientRect().right + 0.5 || (e.matches("button, .unit, .label") && e.scrollWidth > e.clientWidth + 1))
              .map((e) => e.textContent),
          );
          assert.deepEqual(cut, [], `everything fits in ${width} pixels`);
        }
        if (width === 1280) await tab.screenshot("31-fan");
      }
      await tab.run(() => globalThis.ecorche.model.select({ kind: "none" }));
      await tab.page.click("#file-more");
      assert.ok(await tab.page.isVisible(".menu .entry:has-text('Save anatomy as')"));
      await tab.screenshot("30-narrow");
    });
  },
};
