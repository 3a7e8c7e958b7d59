/** Five steps for somebody who is here for the first time; can be skipped at any. */

import { PLAIN, type Model } from "../model.ts";
import { button, h } from "./dom.ts";
import { patch } from "./patch.ts";

interface Step {
  /** What it points at. */
  at: string;
  title: string;
  text: string;
}

const STEPS: Step[] = [
  { at: "#look", title: "One animation, several skins", text: "These are the ways to deform the skin. Keys 1 to 6 switch; Split and Wipe show two at once." },
  { at: ".timeline", title: "Play, and find what is wrong", text: "Space plays. While it rests, a judge goes through the clip: red marks are frames in which skin crosses, K jumps to the next." },
  { at: ".view", title: "Turn joints by hand", text: "J shows the joints. Click one and turn its rings, or type degrees on the right; Shift+click turns several." },
  { at: ".left", title: "What lies under the skin", text: "Choose a muscle to see and change it. The skin follows while you drag; Ctrl+Z takes back." },
  { at: "#bake-open", title: "Take it with you", text: "Bake writes what you see to Alembic, USD, glTF, PC2 or MDD. ? lists the keys." },
];

export function tour(model: Model): HTMLElement {
  const element = h("div", { class: "tour", id: "tour", attributes: { role: "dialog", "aria-label": "Tour" } });
  element.hidden = true;
  let step = 0;
  const end = (): void => {
    element.hidden = true;
    document.querySelector(".pointed-at")?.classList.remove("pointed-at");
    model.keepHabits({ tour: "seen" });
  };
  const draw = (): void => {
    const now = STEPS[step];
    document.querySelector(".pointed-at")?.classList.remove("pointed-at");
    if (!now) {
      end();
      return;
    }
    const target = document.querySelector<HTMLElement>(now.at);
    target?.classList.add("pointed-at");
    patch(
      element,
      h("h2", { text: now.title }),
      h("p", { text: now.text }),
      h("div", { class: "buttons" },
        h("span", { class: "note", text: `${step + 1} of ${STEPS.length}` }),
        button("Skip", "Ends the tour; ? brings it back", end),
        button(step + 1 < STEPS.length ? "Next" : "Done", "Goes on", () => { step++; draw(); }, "primary")),
    );
    element.hidden = false;
    const bounds = target?.getBoundingClientRect();
    if (!bounds) return;
    const { offsetWidth: width, offsetHeight: height } = element;
    const below = bounds.bottom + height + 16 < innerHeight;
    const wide = bounds.width > 0.4 * innerWidth;
    const left = wide ? bounds.left + 0.5 * (bounds.width - width) : bounds.right + width + 16 < innerWidth && bounds.height > 100 ? bounds.right + 12 : bounds.left + 0.5 * (bounds.width - width);
    const top = bounds.height > 100 ? bounds.top + 0.4 * (bounds.height - height) : below ? bounds.bottom + 12 : bounds.top - height - 12;
    element.style.left = `${Math.max(12, Math.min(innerWidth - width - 12, left))}px`;
    element.style.top = `${Math.max(12, Math.min(innerHeight - height - 12, top))}px`;
  };
  const start = (): void => { step = 0; draw(); };
  model.on("tour", start);
  let offered = false;
  model.on("frame", () => {
    if (offered || model.desk === null) return;
    offered = true;
    if (model.desk.habits?.tour !== "seen" && !PLAIN) start();
  });
  return element;
}
