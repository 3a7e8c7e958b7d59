/**
 * The studio in a real browser. Each step is what a person would do; screenshots are left in the folder given.
 *
 *     node test/studio.mjs --ecorche ../../../target/release/ecorche --out ../../../target/studio-screenshots
 *
 * `--short` opens and looks only; `--jobs` runs whole jobs as well, which take long. `--only WORDS` runs the steps whose names contain the words, and holds what is timed to its limit; `--minutes N` makes
 * the step about memory play that long; `--pictures FOLDER` makes the pictures of docs/studio.md instead of testing; `--page
 * FOLDER` takes the page from there, as `npm run build -- --outDir FOLDER` made it, so that a change of it needs no Rust.
 */

import { mkdirSync } from "node:fs";
import { costs } from "./costs.mjs";
import { crowds } from "./crowds.mjs";
import { editing } from "./editing.mjs";
import { openBrowser } from "./engine.mjs";
import { jobs } from "./jobs/index.mjs";
import { keeping } from "./keeping.mjs";
import { looking } from "./looking.mjs";
import { opening } from "./opening.mjs";
import { makePictures } from "./pictures.mjs";
import { serving } from "./serving.mjs";
import { options, out } from "./visit.mjs";

mkdirSync(out, { recursive: true });
const browser = await openBrowser();
if (options.pictures !== "") {
  await makePictures(browser, options.pictures);
  await browser.close();
  process.exit(0);
}
let failed = 0;
const long = options.jobs || options.only !== "" ? jobs : {};
const rest = options.short ? {} : { ...long, ...editing, ...crowds, ...keeping, ...serving, ...costs };
for (const [name, step] of Object.entries({ ...opening, ...looking, ...rest })) {
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
