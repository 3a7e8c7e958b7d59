/** Steps: characters are opened, from the start page, from folders, by dropping files. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { dragSlider } from "./gestures.mjs";
import { texturedQuad } from "./quad.mjs";
import { visit } from "./visit.mjs";

/** Drops files on the page, as a hand does that brings them from a folder. */
async function dropFiles(tab, files) {
  const list = files.map(({ name, bytes }) => ({ name, text: Buffer.from(bytes).toString("base64") }));
  const transfer = await tab.page.evaluateHandle((given) => {
    const data = new globalThis.DataTransfer();
    for (const { name, text } of given) data.items.add(new globalThis.File([Uint8Array.from(globalThis.atob(text), (c) => c.charCodeAt(0))], name));
    return data;
  }, list);
  await tab.page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
  await tab.page.waitForSelector("#drop:not([hidden])");
  await tab.page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

const named = (tab, name) => tab.page.waitForFunction((n) => globalThis.ecorche.model.character?.name === n && globalThis.ecorche.model.frame !== null, name, { timeout: 60_000 });

export const opening = {
  async "open and understand: the start page, a sample, a file, what is dropped"(browser) {
    await visit(browser, ["--no-cache"], async ({ tab, folder }) => {
      const gap = (wanted) => tab.page.waitForFunction((g) => Math.abs((globalThis.ecorche.model.document?.skin.gap ?? 0) - g) < 1e-6, wanted);
      await tab.page.waitForSelector("#start .card");
      await tab.page.keyboard.press("Tab");
      assert.equal(await tab.page.locator("#start .card").count(), 7);
      await tab.page.waitForFunction(() => [...document.querySelectorAll("#start img")].every((image) => image.complete && image.naturalWidth > 0), null, { timeout: 60_000 });
      await tab.screenshot("50-start");
      let started = performance.now();
      await tab.page.click("#start .card:has-text('arm')");
      await named(tab, "arm");
      console.log(`   a sample is on the screen ${(performance.now() - started).toFixed(0)} ms after the click`);
      assert.ok(!(await tab.page.isVisible("#start")));
      assert.equal(await tab.run(() => globalThis.ecorche.model.transport.playing), true);
      // A file of a folder, by its name in the list; its repairs are told.
      mkdirSync(path.join(folder, "hero"));
      writeFileSync(path.join(folder, "hero", "quad.gltf"), texturedQuad());
      await tab.page.click("#character");
      await tab.page.click("dialog button:has-text('Open a file')");
      await tab.page.click(".files .entry:has-text('hero')");
      await tab.page.waitForSelector(".files .entry:has-text('quad.gltf')");
      await tab.screenshot("51-files");
      await tab.page.dblclick(".files .entry:has-text('quad.gltf')");
      await named(tab, "quad");
      assert.equal(await tab.run(() => globalThis.ecorche.model.transport.playing), false, "it has no clip");
      await tab.page.click("#character");
      assert.equal(await tab.page.locator("dialog .recent .entry").count(), 1, "it can be opened again");
      await tab.page.keyboard.press("Escape");
      // What cannot be read leaves what is open as it is.
      await dropFiles(tab, [{ name: "broken.glb", bytes: "glTF, but not really" }]);
      await tab.page.waitForSelector(".toast.error:has-text('broken.glb')");
      await tab.page.click(".toast.error");
      assert.equal(await tab.run(() => globalThis.ecorche.model.character.name), "quad");
      await dropFiles(tab, [{ name: "notes.txt", bytes: "hello" }]);
      await tab.page.waitForSelector(".toast.error:has-text('not a character')");
      await tab.page.click(".toast.error");
      // A character with its anatomy, dropped together.
      const before = readdirSync(folder).sort();
      started = performance.now();
      await dropFiles(tab, [{ name: "dropped.gltf", bytes: texturedQuad() }, { name: "thick.toml", bytes: "version = 1\n[skin]\ngap = 0.07\n" }]);
      await named(tab, "dropped");
      console.log(`   a file that is dropped is on the screen after ${(performance.now() - started).toFixed(0)} ms`);
      await gap(0.07);
      assert.equal(await tab.run(() => globalThis.ecorche.model.document.path), null, "it is nowhere saved yet");
      await tab.screenshot("52-dropped");
      assert.deepEqual(readdirSync(folder).sort(), before, "nothing is written");
      // An anatomy alone is for the character that is open, and can be undone.
      await dropFiles(tab, [{ name: "thin.toml", bytes: "version = 1\n[skin]\ngap = 0.02\n" }]);
      await gap(0.02);
      await tab.page.keyboard.press("Control+z");
      await gap(0.07);
      // Edits that are not saved are not left without a word.
      await dragSlider(tab, "Closure", 0.8);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.document.unsaved);
      await tab.page.click("#character");
      await tab.page.click("dialog .card:has-text('cylinder')");
      await tab.page.waitForSelector("dialog:has-text('not saved')");
      await tab.page.click("dialog button:has-text('Stay')");
      assert.equal(await tab.run(() => globalThis.ecorche.model.character.name), "dropped");
      await tab.page.click("#character");
      await tab.page.click("dialog .card:has-text('arm')");
      await tab.page.click("dialog .primary:has-text('Open'):not(:has-text('file'))");
      await named(tab, "arm");
      assert.ok(existsSync(path.join(folder, "dropped.toml.unsaved")), "and kept");
      // A motion alone moves the character that is open.
      const joint = (name, inner) => `${name}\n{\nOFFSET 0 0.5 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n${inner}\n}\n`;
      const end = "End Site\n{\nOFFSET 0 0.5 0\n}";
      const motion = `MOTION\nFrames: 2\nFrame Time: 0.5\n${"0 ".repeat(9)}\n${"0 ".repeat(6)}40 0 0\n`;
      const names = await tab.run(() => globalThis.ecorche.model.character.joints.filter(({ in_skin }) => in_skin).map(({ name }) => name));
      await dropFiles(tab, [{ name: "nod.bvh", bytes: `HIERARCHY\n${joint(`ROOT ${names[0]}`, joint(`JOINT ${names[1]}`, joint(`JOINT ${names[2]}`, end)))}${motion}` }]);
      await tab.page.waitForFunction(() => globalThis.ecorche.model.character?.clips.length === 1, null, { timeout: 30_000 });
      await named(tab, "arm");
    });
  },
};
