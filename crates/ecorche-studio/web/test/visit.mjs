/** The characters that tests open, and how they open them. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Engine, Tab } from "./engine.mjs";
import { options } from "./options.mjs";

export { options };
export const program = path.resolve(options.ecorche);
export const out = path.resolve(options.out);
export const SMALL = "sample:athlete?resolution=5000";
export const ARM = "sample:arm?resolution=2000";

/** Whether two lists hold the same bits. */
export const same = (a, b) => a.length === b.length && a.every((x, k) => Object.is(x, b[k]));

/** Opens a character, runs the work in a tab, and sees to it that nothing is left. */
export async function visit(browser, arguments_, work) {
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
