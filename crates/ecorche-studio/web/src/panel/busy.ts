/** What is being read, over the page, with a way to stop it. */

import type { Model } from "../model.ts";
import { button, h } from "./dom.ts";

export function opening(model: Model): HTMLElement {
  const name = h("span");
  const element = h("div", { class: "opening", id: "opening", attributes: { role: "status" } }, h("span", { class: "spinner" }), name, button("Cancel", "Give it up; what is open stays", () => { model.request("give_up_opening"); }));
  element.hidden = true;
  let since = 0;
  let timer = 0;
  const tell = (): void => {
    const what = model.desk?.opening ?? null;
    const seconds = Math.floor((performance.now() - since) / 1000);
    name.textContent = what === null ? "" : `reading ${what}…${seconds >= 2 ? ` ${seconds} s` : ""}`;
  };
  model.on("desk", (desk) => {
    const was = !element.hidden;
    element.hidden = desk.opening === null;
    if (desk.opening === null) clearInterval(timer);
    else if (!was) {
      since = performance.now();
      timer = window.setInterval(tell, 500);
    }
    tell();
  });
  return element;
}
