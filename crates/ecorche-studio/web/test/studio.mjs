/**
 * The studio in a real browser. Each step is what a person would do; screenshots are left in the folder given.
 *
 *     node test/studio.mjs --ecorche ../../../target/release/ecorche --out ../../../target/studio-screenshots
 *
 * `--only WORDS` runs the steps whose names contain the words, and holds what is timed to its limit; `--minutes N` makes
 * the step about memory play that long; `--pictures FOLDER` makes the pictures of docs/studio.md instead of testing.
 */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { deflateSync } from "node:zlib";
import { Engine, openBrowser, Tab } from "./engine.mjs";

const { values: options } = parseArgs({
  options: {
    ecorche: { type: "string", default: "../../../target/release/ecorche" },
    out: { type: "string", default: "../../../target/studio-screenshots" },
    only: { type: "string", default: "" },
    minutes: { type: "string", default: "0.5" },
    pictures: { type: "string", default: "" },
  },
});
const program = path.resolve(options.ecorche);
const out = path.resolve(options.out);
const SMALL = "sample:athlete?resolution=5000";
const ARM = "sample:arm?resolution=2000";

const same = (a, b) => a.length === b.length && a.every((x, k) => Object.is(x, b[k]));

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

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Opens a character, runs the work in a tab, and sees to it that nothing is left. */
async function visit(browser, arguments_, work) {
  const folder = mkdtempSync(path.join(tmpdir(), "studio-"));
  const engine = new Engine(program, folder, arguments_);
  let tab = null;
  try {
    tab = await Tab.open(browser, await engine.url, out);
    await work({ tab, engine, folder, url: await engine.url });
    assert.deepEqual(tab.problems, [], "the page complained");
  } catch (error) {
    await tab?.page.screenshot({ path: `${out}/failed.png` }).catch(() => undefined);
    throw error;
  } finally {
    await tab?.page.close();
    await engine.kill().catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Drags a slider of the panel by its thumb. */
async function dragSlider(tab, label, share) {
  const range = tab.page.locator(`.slider[data-field="${label}"] input[type=range]`).first();
  await range.scrollIntoViewIfNeeded();
  const box = await range.boundingBox();
  const { value, min, max } = await range.evaluate((e) => ({ value: e.valueAsNumber, min: Number(e.min), max: Number(e.max) }));
  const y = box.y + box.height / 2;
  const from = box.x + 7 + ((value - min) / (max - min)) * (box.width - 14);
  const to = box.x + 7 + share * (box.width - 14);
  await tab.page.mouse.move(from, y);
  await tab.page.mouse.down();
  for (let k = 1; k <= 6; k++) {
    await tab.page.mouse.move(from + ((to - from) * k) / 6, y);
    await tab.page.waitForTimeout(40);
  }
  await tab.page.mouse.up();
}

/** A pixel near a place at which the handles can be grabbed. */
async function findHandle(tab, x, y) {
  for (let radius = 16; radius < 110; radius += 3) {
    for (const angle of [0.3, 1.2, 2.4, 3.9, 5.3]) {
      const [px, py] = [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
      await tab.page.mouse.move(px, py);
      if (await tab.run(() => globalThis.ecorche.viewport.gizmo.hovered)) return [px, py, angle];
    }
  }
  throw new Error("there is no handle to grab");
}

/** Drags a handle around the middle of the rings, or along its arrow. */
async function dragFrom(tab, [px, py, angle], middle) {
  await tab.page.mouse.down();
  for (let k = 1; k <= 8; k++) {
    const along = middle === null ? [-Math.sin(angle), Math.cos(angle)] : [Math.cos(angle), Math.sin(angle)];
    await tab.page.mouse.move(px + 6 * k * along[0], py + 6 * k * along[1]);
    await tab.page.waitForTimeout(30);
  }
  await tab.page.mouse.up();
}

/** Where the handles are on the screen. */
function gizmoOnScreen(tab) {
  return tab.run(() => {
    const { gizmo, stage } = globalThis.ecorche.viewport;
    const seen = gizmo.proxy.position.clone().project(stage.camera);
    const bounds = stage.element.getBoundingClientRect();
    return { x: bounds.left + 0.5 * (seen.x + 1) * bounds.width, y: bounds.top + 0.5 * (1 - seen.y) * bounds.height };
  });
}

/** A glTF file of a square on one joint, with a picture of four colours. */
function texturedQuad() {
  const crc = (bytes) => {
    let sum = ~0;
    for (const byte of bytes) {
      sum ^= byte;
      for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return ~sum >>> 0;
  };
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc(body));
    return Buffer.concat([length, body, check]);
  };
  const rows = Buffer.from([0, 220, 40, 40, 40, 200, 60, 0, 50, 80, 220, 240, 220, 40]);
  const png = Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0])),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  const floats = (list) => Buffer.from(new Float32Array(list).buffer);
  const parts = [
    [floats([-0.5, 0, 0, 0.5, 0, 0, 0.5, 1, 0, -0.5, 1, 0]), { type: "VEC3", componentType: 5126, count: 4, min: [-0.5, 0, 0], max: [0.5, 1, 0] }],
    [floats([0, 1, 1, 1, 1, 0, 0, 0]), { type: "VEC2", componentType: 5126, count: 4 }],
    [Buffer.alloc(16), { type: "VEC4", componentType: 5121, count: 4 }],
    [floats([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), { type: "VEC4", componentType: 5126, count: 4 }],
    [Buffer.from(new Uint32Array([0, 1, 2, 0, 2, 3]).buffer), { type: "SCALAR", componentType: 5125, count: 6 }],
  ];
  const bytes = Buffer.concat(parts.map(([part]) => part));
  const data = (type, content) => `data:${type};base64,${content.toString("base64")}`;
  let at = 0;
  const bufferViews = parts.map(([part]) => ({ buffer: 0, byteOffset: (at += part.length) - part.length, byteLength: part.length }));
  return JSON.stringify({
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0, 1] }],
    nodes: [{ name: "root" }, { name: "quad", mesh: 0, skin: 0 }],
    skins: [{ joints: [0] }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0, TEXCOORD_0: 1, JOINTS_0: 2, WEIGHTS_0: 3 }, indices: 4, material: 0 }] }],
    materials: [{ name: "cloth", pbrMetallicRoughness: { baseColorTexture: { index: 0 } } }],
    textures: [{ source: 0 }],
    images: [{ uri: data("image/png", png) }],
    accessors: parts.map(([, accessor], bufferView) => ({ bufferView, ...accessor })),
    bufferViews,
    buffers: [{ byteLength: bytes.length, uri: data("application/octet-stream", bytes) }],
  });
}

/** Where a joint is on the screen. */
function jointOnScreen(tab, name) {
  return tab.run((wanted) => {
    const { model, viewport } = globalThis.ecorche;
    const joint = model.character.joints.findIndex((j) => j.name === wanted);
    const seen = viewport.skeleton.place(joint).project(viewport.stage.camera);
    const bounds = viewport.stage.element.getBoundingClientRect();
    return { joint, x: bounds.left + 0.5 * (seen.x + 1) * bounds.width, y: bounds.top + 0.5 * (1 - seen.y) * bounds.height };
  }, name);
}

const steps = {
  async "the page opens and the athlete runs"(browser) {
    await visit(browser, [], async ({ tab }) => {
      const clips = await tab.run(() => globalThis.ecorche.model.transport);
      assert.deepEqual([clips.clip, clips.playing], ["run", true]);
      await tab.page.keyboard.press("2");
      const first = await tab.run(() => globalThis.ecorche.model.frame.frame);
      const one = await tab.picture();
      await tab.page.waitForTimeout(1500);
      const two = await tab.picture();
      assert.ok(!one.equals(two), "the picture changes while playing");
      const last = await tab.run(() => globalThis.ecorche.model.frame.frame);
      assert.ok(last > first + 10, `frames stream: ${first} to ${last}`);
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
      await shown("06-muscles", key("m"), key("m"));
      await tab.run(() => globalThis.ecorche.model.show({ opacity: 0.3 }));
      await shown("07-samples", key("h"), key("h"));
      await shown("08-iso-surface", key("i"), key("i"));
      await shown("09-slice", key("p"), key("p"));
      await tab.run(() => globalThis.ecorche.model.show({ opacity: 1 }));
      await shown("10-cut", key("x"), key("x"));
      for (const quantity of ["stretch", "vertex-state", "beta", "gradient-angle", "iso-error"]) {
        await tab.page.selectOption("#quantity", quantity);
        await tab.page.waitForFunction((q) => globalThis.ecorche.model.frame.quantity?.name === q, quantity);
        assert.ok(await tab.page.isVisible("#legend"));
      }
      await tab.page.selectOption("#quantity", "stretch");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.frame.quantity?.name === "stretch");
      await tab.screenshot("11-stretch");
      await tab.page.selectOption("#quantity", "");
      await tab.page.fill("#search", "leftLowerArm");
      await tab.page.click(".entry:has-text('leftLowerArm')");
      await tab.page.waitForSelector(".curve");
      await tab.page.keyboard.press("f");
      await tab.screenshot("12-joint");
    });
  },

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
      await dragSlider(tab, "Width", 0.5);
      await changed("dragging the width");
      await tab.screenshot("20-muscle-width");
      await undone("the width");
      // Numbers that matter while moving are edits like the others.
      await dragSlider(tab, "Damping", 0.7);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await undone("the damping");
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
      await step("what it passes through", () => tab.page.locator(".check:has-text('Out of bones') input").click(), false);
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
      assert.ok(!same(before, thin), "fat changes the skin");
      await dragSlider(tab, "Across", 0.4);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 2);
      await tab.settled("muscles");
      assert.ok(!same(thin, await tab.positions()), "more fat changes it more");
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
    await visit(browser, [SMALL], async ({ tab }) => {
      await tab.stand("muscles", 7);
      await tab.page.click(".entry:has-text('brachialis')");
      const count = () => tab.page.locator(".entry:has-text('brachialis')").count();
      assert.equal(await count(), 2);
      const before = await tab.positions();
      await tab.page.click("button:has-text('Unlink mirror')");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("muscles");
      const alone = [await count(), await tab.positions()];
      await tab.page.keyboard.press("Control+z");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 0);
      await tab.settled("muscles");
      assert.equal(await count(), 2);
      assert.ok(same(before, await tab.positions()), "undo brings the same bits back");
      assert.ok(alone[0] === 1 ? !same(before, alone[1]) : same(before, alone[1]), "the other side goes, or stays as a muscle of its own");
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
        const quantity = name === "weight:JOINT" ? "weight:leftLowerArm" : name;
        await tab.page.selectOption("#quantity", quantity);
        await tab.page.waitForFunction((q) => globalThis.ecorche.model.frame.quantity?.name === q, quantity, { timeout: 20_000 });
        assert.ok(await tab.page.isVisible("#legend"), quantity);
      }
      await tab.page.selectOption("#quantity", "");
      // A vertex is followed through the clip and through the steps of a frame.
      await tab.page.keyboard.press("Escape");
      const arm = await jointOnScreen(tab, "leftLowerArm");
      await tab.page.keyboard.down("Alt");
      await tab.page.mouse.click(arm.x, arm.y);
      await tab.page.keyboard.up("Alt");
      for (const frame of [5, 10, 15, 20]) await tab.stand("implicit", frame);
      assert.ok((await tab.run(() => globalThis.ecorche.viewport.trail.length())) > 0.001, "its path has a length");
      assert.ok((await tab.page.locator("#steps > div").count()) >= 2, "its steps are told");
      await tab.screenshot("27-path");
      await tab.page.keyboard.press("Escape");
      // A point of the field is added on the skin, and moved.
      const before = await tab.positions();
      await tab.page.click(".entry:has-text('leftLowerArm')");
      await tab.page.keyboard.press("h");
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

  async "nothing to do costs nothing"(browser) {
    await visit(browser, [SMALL], async ({ tab, engine }) => {
      await tab.stand("muscles", 3);
      await tab.page.waitForTimeout(1000);
      const before = engine.processor();
      await tab.page.waitForTimeout(3000);
      const share = (engine.processor() - before) / 3;
      console.log(`   paused, the engine takes ${(100 * share).toFixed(1)} % of a core`);
      assert.ok(share < 0.02, `${share} of a core`);
    });
  },

  async "a narrow window"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      await tab.page.setViewportSize({ width: 1000, height: 700 });
      for (const compare of ["single", "wipe"]) {
        await tab.run((mode) => globalThis.ecorche.model.show({ compare: mode }), compare);
        const cut = await tab.run(() =>
          [...document.querySelectorAll(".toolbar > *, .toolbar .methods > *, .timeline > *")]
            .filter((e) => !e.matches("[popover]"))
            .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5 || (e.matches("button") && e.scrollWidth > e.clientWidth + 1))
            .map((e) => e.textContent),
        );
        assert.deepEqual(cut, [], "everything fits");
      }
      await tab.page.click("#file-more");
      assert.ok(await tab.page.isVisible(".menu .entry:has-text('Save as')"));
      await tab.screenshot("30-narrow");
    });
  },

  async "editing joints and samples"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.stand("implicit", 20);
      const before = await tab.positions();
      await tab.page.click(".entry:has-text('leftLowerArm')");
      await tab.page.selectOption("#operator", "bulge");
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

  async "a bake from the page is the command line's"(browser) {
    const sample = ARM;
    await visit(browser, [sample], async ({ tab, folder }) => {
      await tab.page.keyboard.press("Control+s");
      await tab.page.fill("dialog .path", "arm.toml");
      await tab.page.keyboard.press("Enter");
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.path !== null);
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
    const address = ["--port", String(await freePort()), "--token", "0123456789abcdef0123"];
    const sample = ARM;
    await visit(browser, [sample, ...address], async ({ tab, engine, folder }) => {
      await tab.stand("implicit", 5);
      await dragSlider(tab, "Gap", 0.9);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1);
      await tab.settled("implicit");
      const before = await tab.positions();
      await engine.kill();
      await tab.page.waitForSelector(".offline:not([hidden])");
      await tab.screenshot("14-offline");
      const second = new Engine(program, folder, [sample, ...address]);
      try {
        await second.url;
        await tab.page.waitForFunction(() => globalThis.ecorche.model.connected, null, { timeout: 30_000 });
        await tab.page.waitForFunction(() => globalThis.ecorche.model.document.undo === 1, null, { timeout: 30_000 });
        await tab.settled("implicit");
        assert.ok(same(before, await tab.positions()), "the page shows what it showed, edits included");
      } finally {
        await second.kill();
      }
    });
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
          const socket = new WebSocket(`${to.replace("http", "ws")}engine/v2`);
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

  async "what streaming costs"(browser) {
    await visit(browser, ["sample:athlete?resolution=20000"], async ({ tab }) => {
      // A small window: what the processor draws here is not what is measured.
      await tab.page.setViewportSize({ width: 760, height: 360 });
      await tab.stand("dqs", 0);
      const [vertices, muscles] = await tab.run(() => {
        const { model } = globalThis.ecorche;
        return [model.character.vertices, model.document.muscle.reduce((sum, m) => sum + (m.mirror ? 2 : 1), 0)];
      });
      assert.ok(vertices > 19_000 && muscles >= 50, `${vertices} vertices, ${muscles} muscles`);
      await tab.run(() => {
        // The time WebGL takes to receive the numbers, apart from drawing them.
        globalThis.uploading = 0;
        for (const name of ["bufferSubData", "bufferData", "texSubImage2D", "texImage2D"]) {
          const original = WebGL2RenderingContext.prototype[name];
          WebGL2RenderingContext.prototype[name] = function (...list) {
            const started = performance.now();
            original.apply(this, list);
            globalThis.uploading += performance.now() - started;
          };
        }
        const { model } = globalThis.ecorche;
        model.show({ flesh: true });
        const { drawn } = model;
        model.drawn = function (frame) {
          drawn.call(model, frame);
          globalThis.shown?.();
        };
      });
      await tab.page.waitForFunction(() => globalThis.ecorche.model.frame.strands.length > 0);
      // One frame after the other, with nothing else to do for anybody while it is on its way.
      const standing = await tab.run(async () => {
        const { model } = globalThis.ecorche;
        const costs = [];
        globalThis.returns = [];
        for (let k = 0; k < 80; k++) {
          // The last drawing is done, by the processor too.
          globalThis.ecorche.viewport.stage.renderer.getContext().readPixels(0, 0, 1, 1, 6408, 5121, new Uint8Array(4));
          await new Promise((resolve) => globalThis.setTimeout(resolve, 60));
          globalThis.uploading = 0;
          const asked = performance.now();
          const shown = new Promise((resolve) => (globalThis.shown = resolve));
          model.scrub(k % (model.frame.last + 1));
          await shown;
          const { frame, received, timing } = model;
          const { transfer, decoding, taking } = timing;
          // There and back by the page's clock alone, less what the engine worked: no less than the way here.
          globalThis.returns.push(received - asked - frame.answering);
          costs.push({ encoding: frame.encoding, way: transfer, decoding, taking, uploading: globalThis.uploading });
        }
        return costs.slice(5);
      });
      const bytes = await tab.run(async () => {
        const { model } = globalThis.ecorche;
        globalThis.costs = [];
        model.on("frame", (frame) => {
          const { transfer, decoding, taking } = model.timing;
          globalThis.costs.push({ encoding: frame.encoding, way: transfer, decoding, taking, uploading: globalThis.uploading });
          globalThis.uploading = 0;
        });
        const size = ({ skins, strands, states, pads, joints }) =>
          [strands, states, pads, joints, ...skins.flatMap(({ places, normals }) => [places.exact ?? places.rounded, normals])].reduce((sum, { byteLength }) => sum + byteLength, 0);
        const exact = size(model.frame);
        model.move({ playing: true });
        await new Promise((resolve) => globalThis.setTimeout(resolve, 1000));
        return [exact, size(model.frame)];
      });
      await tab.page.waitForFunction(() => globalThis.costs.length > 80, null, { timeout: 90_000 });
      const playing = (await tab.run(() => globalThis.costs)).slice(10);
      const quantile = (list, share) => [...list].sort((a, b) => a - b)[Math.floor(share * (list.length - 1))];
      const together = (cost) => Object.values(cost).reduce((sum, ms) => sum + ms, 0);
      const tell = (name, costs, size) => {
        const parts = Object.keys(costs[0]).map((key) => `${key} ${quantile(costs.map((c) => c[key]), 0.5).toFixed(2)}`);
        const totals = costs.map(together);
        const [low, median] = [quantile(totals, 0.1), quantile(totals, 0.5)];
        console.log(`   ${name}: ${(size / 1000).toFixed(0)} kB a frame; medians in ms: ${parts.join(", ")}; together ${median.toFixed(2)}, a tenth below ${low.toFixed(2)}`);
        return low;
      };
      console.log(`   ${vertices} vertices, ${muscles} muscles`);
      const low = tell("one at a time", standing, bytes[0]);
      console.log(`   there and back: median ${quantile(await tab.run(() => globalThis.returns), 0.5).toFixed(2)} ms`);
      tell("playing, engine and page on the same cores", playing, bytes[1]);
      // Told in every run; held to it where nothing else runs.
      if (options.only !== "") assert.ok(low < 4, `streaming costs ${low.toFixed(2)} ms a frame`);
    });
  },

  async "memory stays flat while playing"(browser) {
    await visit(browser, [SMALL], async ({ tab, engine }) => {
      // Everything is bound before it is measured; skin over muscles, with the muscles seen.
      await tab.page.setViewportSize({ width: 800, height: 400 });
      await tab.stand("muscles", 0);
      await tab.page.keyboard.press("m");
      await tab.run(() => globalThis.ecorche.model.move({ playing: true }));
      await tab.page.waitForTimeout(3000);
      const samples = [];
      const end = Date.now() + 60_000 * Number(options.minutes);
      do {
        await tab.page.waitForTimeout(2000);
        await tab.run(() => globalThis.gc());
        samples.push({ engine: engine.memory(), page: (await tab.run(() => performance.memory.usedJSHeapSize)) / 2 ** 20 });
      } while (Date.now() < end);
      const third = Math.max(1, Math.floor(samples.length / 3));
      const mean = (list, key) => list.reduce((sum, s) => sum + s[key], 0) / list.length;
      const frames = await tab.run(() => globalThis.ecorche.model.frame.frame);
      for (const key of ["engine", "page"]) {
        const [first, last] = [mean(samples.slice(0, third), key), mean(samples.slice(-third), key)];
        console.log(`   ${key}: ${first.toFixed(1)} MB in the first third, ${last.toFixed(1)} MB in the last, ${frames} frames`);
        assert.ok(last < 1.05 * first + 4, `${key} grows`);
      }
    });
  },
};

/** The pictures of the user's page. */
async function makePictures(browser, folder) {
  const engine = new Engine(program, folder, []);
  try {
    const tab = await Tab.open(browser, await engine.url, path.resolve(folder), { width: 1120, height: 680 }, "");
    await tab.run(() => {
      const { model } = globalThis.ecorche;
      model.show({ compare: "wipe", looks: ["muscles", "lbs"] });
      model.move({ clip: "squat" });
    });
    await tab.stand("muscles", 24);
    await tab.run(() => globalThis.ecorche.viewport.frameAll());
    await tab.page.waitForTimeout(3000);
    await tab.screenshot("studio_wipe");
    await tab.run(() => {
      const { model } = globalThis.ecorche;
      model.show({ compare: "single", flesh: true, opacity: 0.3 });
      model.move({ clip: "curl" });
    });
    await tab.stand("muscles", 24);
    await tab.run(() => globalThis.ecorche.model.select({ kind: "muscle", name: globalThis.ecorche.model.document.muscle[0].name, side: "left" }));
    await tab.run(() => globalThis.ecorche.viewport.frameAll());
    await tab.page.waitForTimeout(4000);
    await tab.screenshot("studio_muscles");
  } finally {
    await engine.kill();
  }
}

mkdirSync(out, { recursive: true });
const browser = await openBrowser();
if (options.pictures !== "") {
  await makePictures(browser, options.pictures);
  await browser.close();
  process.exit(0);
}
let failed = 0;
for (const [name, step] of Object.entries(steps)) {
  if (!name.includes(options.only)) continue;
  const started = performance.now();
  try {
    await step(browser);
    console.log(`ok   ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n     ${error.stack ?? error}`);
  }
}
await browser.close();
process.exit(failed === 0 ? 0 : 1);
