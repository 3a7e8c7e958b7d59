/** The studio's page: one model, a viewport, and panels around it. */

import "./style.css";
import { Model } from "./model.ts";
import { EXTENSIONS } from "./extensions.ts";
import { Page } from "./page.ts";
import { bake, tellBakes } from "./panel/bake.ts";
import { askQuestions, help, load, notes, save, saveAs } from "./panel/dialogs.ts";
import { h } from "./panel/dom.ts";
import { inspector } from "./panel/inspector.ts";
import { opening } from "./panel/busy.ts";
import { openOther, startPage } from "./panel/start.ts";
import { outliner } from "./panel/outliner.ts";
import { readout } from "./panel/readout.ts";
import { edges } from "./panel/resize.ts";
import { timeline } from "./panel/timeline.ts";
import { toasts } from "./panel/toasts.ts";
import { toolbar } from "./panel/toolbar.ts";
import { remember } from "./remember.ts";
import { shortcuts } from "./shortcuts.ts";
import { Viewport } from "./stage/viewport.ts";
import { box } from "./tool/box.ts";
import { drop } from "./tool/drop.ts";
import { axes } from "./tool/axes.ts";
import { navigation } from "./tool/navigation.ts";
import { Presentation } from "./tool/present.ts";
import { tour } from "./panel/tour.ts";
import { names } from "./tool/names.ts";

const model = new Model();
const view = h("main", { class: "view" });
const viewport = new Viewport(view, model);
const actions = {
  save: () => { save(model); },
  saveAs: () => { saveAs(model); },
  load: () => { load(model); },
  open: () => { openOther(model); },
  notes: () => { notes(model); },
  bake: () => { bake(model); },
  help: () => { help(page); },
  present: () => { presentation.show(true); },
};
const page = new Page(model, viewport);
for (const extend of EXTENSIONS) extend(page);
const presentation = new Presentation(model, viewport);
page.addShortcut({ key: "o", about: "the character alone, for pictures", press: () => { presentation.show(!presentation.shown); } });
navigation(model, viewport.stage);
view.append(readout(model, viewport), toasts(model), names(viewport), box(model, viewport), axes(viewport.stage), presentation.bar);
document.body.append(toolbar(model, actions), outliner(model, viewport), view, inspector(page), timeline(model), ...edges(), startPage(model), opening(model), drop(model), tour(model));
shortcuts(page);
remember(model, viewport);
tellBakes(model);
askQuestions(model);
model.on("character", (character) => { document.title = `${character.name} – Écorché studio`; });

declare global {
  interface Window {
    /** For tests and the curious. */
    ecorche: { model: Model; viewport: Viewport };
  }
}
window.ecorche = { model, viewport };
