/** Steps: crowds, and parametric muscles by hand. */

import assert from "node:assert/strict";
import { ARM, SMALL, visit } from "./visit.mjs";

/** Waits until a crowd of that many is drawn, and returns what the panel says. */
async function drawn(tab, count) {
  await tab.page.waitForFunction(
    (wanted) => {
      const { crowd } = globalThis.ecorche.viewport;
      return crowd.visible && crowd.state.count === wanted && crowd.state.interval > 0;
    },
    count,
    { timeout: 120_000 },
  );
  return tab.page.textContent("#crowd-count");
}

/** Share of the pixels that show something in one of two pictures of the stage and nothing in the other, of those that show something. */
async function silhouettes(tab, change) {
  return tab.run(async (work) => {
    const { viewport } = globalThis.ecorche;
    const { stage } = viewport;
    const covered = () => {
      stage.ground.visible = false;
      stage.draw();
      const gl = stage.renderer.getContext();
      const pixels = new Uint8Array(4 * gl.drawingBufferWidth * gl.drawingBufferHeight);
      gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      return Array.from({ length: pixels.length / 4 }, (_, k) => pixels[4 * k] + pixels[4 * k + 1] + pixels[4 * k + 2] > 0);
    };
    const before = covered();
    const camera = [stage.camera.position.clone(), stage.orbit.target.clone()];
    await viewport.crowd.show(work);
    stage.camera.position.copy(camera[0]);
    stage.orbit.target.copy(camera[1]);
    stage.orbit.update();
    for (let k = 0; k < 3; k++) await new Promise((done) => globalThis.requestAnimationFrame(done));
    const after = covered();
    const differ = before.filter((on, k) => on !== after[k]).length;
    return { differ: differ / before.filter(Boolean).length, covered: before.filter(Boolean).length };
  }, change);
}

export const crowds = {
  async "a crowd of one is where the engine has the character"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      // The clip's first frame would not show much.
      await tab.stand("parametric", 7);
      const { differ, covered } = await silhouettes(tab, 1);
      assert.ok(covered > 5000, `${covered} pixels show the character`);
      // Skinned alone it would differ by the muscles: the outline's own pixels are all that may.
      assert.ok(differ < 0.004, `${(100 * differ).toFixed(2)} % of the pixels differ`);
    });
  },

  async "a crowd is drawn with its number and its time"(browser) {
    await visit(browser, [SMALL], async ({ tab }) => {
      await tab.page.getByRole("button", { name: "25", exact: true }).click();
      const said = await drawn(tab, 25);
      assert.match(said, /^25 characters, [\d,]+ vertices, \d+ muscles each: [\d.]+ ms a picture/);
      const one = await tab.picture();
      await tab.page.waitForTimeout(500);
      assert.ok(!one.equals(await tab.picture()), "it moves");
      await tab.screenshot("20-crowd");
      assert.ok(!(await tab.run(() => globalThis.ecorche.viewport.skins[0].mesh.visible)), "the one alone is hidden");
      await tab.page.getByRole("button", { name: "One", exact: true }).click();
      await tab.page.waitForFunction(() => globalThis.ecorche.viewport.skins[0].mesh.visible);
    });
  },

  async "a crowd grows until the machine is slow"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      await tab.page.getByRole("button", { name: "As many as it draws" }).click();
      await tab.page.waitForFunction(
        () => {
          const { state } = globalThis.ecorche.viewport.crowd;
          return !state.growing && state.interval > 0;
        },
        null,
        { timeout: 180_000 },
      );
      const { count } = await tab.run(() => ({ ...globalThis.ecorche.viewport.crowd.state }));
      assert.ok(count >= 25, `${count} characters`);
    });
  },

  async "a parametric muscle by hand"(browser) {
    await visit(browser, [ARM], async ({ tab }) => {
      const { page } = tab;
      await tab.stand("parametric", 0);
      // Two joints make a muscle.
      await tab.run(() => {
        const { model, viewport } = globalThis.ecorche;
        viewport.stage.camera.position.set(0.4, 0.2, 2);
        viewport.stage.orbit.update();
        const joint = (name) => model.character.joints.findIndex((j) => j.name === name);
        globalThis.document.querySelector('[data-key="Parametric"] button.icon').click();
        viewport.wantJoint(joint("leftUpperArm"));
        viewport.wantJoint(joint("leftLowerArm"));
      });
      await page.waitForFunction(() => globalThis.ecorche.model.parametric() !== null);
      await tab.settled("parametric");
      const before = await tab.run(() => globalThis.ecorche.model.parametric().thickness);
      // The belly's handle goes up.
      const view = page.locator(".side-view");
      await view.scrollIntoViewIfNeeded();
      const [x, y] = JSON.parse(await view.getAttribute("data-handles"))[3];
      const bounds = await view.boundingBox();
      const [left, top] = [bounds.x + (x * bounds.width) / 268, bounds.y + (y * bounds.height) / 120];
      await page.mouse.move(left, top);
      await page.mouse.down();
      await page.mouse.move(left, top - 12, { steps: 3 });
      await page.mouse.up();
      await page.waitForFunction((old) => globalThis.ecorche.model.parametric().thickness[3] > 1.05 * old, before[3]);
      // Its skin as colours.
      await page.getByRole("button", { name: "Skin it moves" }).click();
      await page.waitForFunction(() => globalThis.ecorche.model.frame.quantity?.name.startsWith("muscle-weight:"));
      const painted = await tab.run(() => globalThis.ecorche.model.frame.values.filter((v) => v > 0).length);
      const all = await tab.run(() => globalThis.ecorche.model.character.drawn);
      assert.ok(painted > 20 && painted < 0.7 * all, `${painted} of ${all} vertices are its skin`);
      await tab.screenshot("21-parametric-muscle");
      // Tension is keyed at this moment.
      await page.locator('[data-field="Key here"] .number').fill("0.7");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => globalThis.ecorche.model.document.keys.some((k) => k.parameter === "activation"));
      const undone = await tab.run(() => globalThis.ecorche.model.document.undo);
      assert.ok(undone >= 3, "made, thickened, keyed: each is a step of undo");
    });
  },
};
