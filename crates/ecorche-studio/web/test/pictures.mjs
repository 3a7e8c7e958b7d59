/** The pictures of the user's page. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Engine, Tab } from "./engine.mjs";
import { Hand } from "./jobs/hand.mjs";
import { program } from "./visit.mjs";

const SIZE = { width: 1120, height: 680 };

/** Opens a character as a user has it, with antialiasing and large shadows, and takes its pictures. */
async function session(browser, folder, character, work) {
  const own = mkdtempSync(path.join(tmpdir(), "studio-"));
  const engine = new Engine(program, own, character);
  try {
    const tab = await Tab.open(browser, await engine.url, path.resolve(folder), SIZE, "");
    const skip = tab.page.locator("#tour button:has-text('Skip')");
    if (character.length > 0 && character[0].startsWith("sample")) await skip.click({ timeout: 5000 }).catch(() => undefined);
    await work(tab, new Hand(tab));
    await tab.page.close();
  } finally {
    await engine.kill();
    rmSync(own, { recursive: true, force: true });
  }
}

/** Waits for the light and the last frame, and keeps the picture. */
async function keep(tab, name) {
  await tab.page.mouse.move(0, 0);
  await tab.page.waitForTimeout(1500);
  await tab.screenshot(name);
  console.log(`   ${name}.png`);
}

export async function makePictures(browser, folder) {
  await session(browser, folder, ["--no-cache"], async (tab) => {
    await tab.page.waitForFunction(() => document.querySelectorAll("#start img").length > 0 && [...document.querySelectorAll("#start img")].every((image) => image.complete && image.naturalWidth > 0), null, { timeout: 400_000 });
    await keep(tab, "studio_start");
  });
  await session(browser, folder, ["sample:athlete"], async (tab, hand) => {
    await tab.run(() => { globalThis.ecorche.model.show({ judged: false }); });
    await hand.choose("#clip", "squat");
    await hand.press("5");
    await tab.run(() => { globalThis.ecorche.model.show({ compare: "wipe", looks: ["muscles", "lbs"] }); });
    await tab.stand("muscles", 24);
    await hand.press("a");
    await keep(tab, "studio_wipe");
    await tab.run(() => { globalThis.ecorche.model.show({ compare: "single" }); });
    await hand.choose("#clip", "curl");
    await tab.stand("muscles", 24);
    await hand.find("biceps");
    await hand.press("a");
    await tab.page.waitForFunction(() => globalThis.ecorche.model.frame.strands.exact?.length > 0);
    await keep(tab, "studio_muscles");
  });
}
