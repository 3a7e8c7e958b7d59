import path from "node:path";
import { Engine, Tab } from "./engine.mjs";
import { program } from "./visit.mjs";

/** The pictures of the user's page. */
export async function makePictures(browser, folder) {
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
