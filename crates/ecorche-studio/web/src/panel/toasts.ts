/** Messages that come and go: errors stay until clicked, the rest leaves by itself. */

import type { Notice } from "../messages.ts";
import type { Model } from "../model.ts";
import { h } from "./dom.ts";

const LASTS = 4000;

export function toasts(model: Model): HTMLElement {
  const list = h("div", { class: "toasts", attributes: { role: "status" } });
  const say = ({ level, text }: Notice): void => {
    if (level === "question") return;
    if ([...list.children].some((toast) => toast.textContent === text)) return;
    const toast = h("div", { class: `toast ${level}`, text, title: "Click to dismiss", on: { click: () => { toast.remove(); } } });
    // A new hint is the next step of what the last one began.
    if (level === "hint") for (const old of list.querySelectorAll(".hint")) old.remove();
    list.append(toast);
    while (list.children.length > 4) list.firstElementChild?.remove();
    if (level !== "error") setTimeout(() => { toast.remove(); }, LASTS);
  };
  model.on("notice", say);
  const offline = h("div", { class: "offline" });
  offline.hidden = true;
  model.on("connection", (connected) => { offline.hidden = connected; });
  const told = (waiting: number): void => {
    const kept = waiting === 0 ? "" : waiting === 1 ? "\n1 change waits for it." : `\n${waiting} changes wait for it.`;
    offline.textContent = `The engine is not answering. Trying again…${kept}`;
  };
  told(0);
  model.on("waiting", told);
  return h("div", { class: "messages" }, offline, list);
}
