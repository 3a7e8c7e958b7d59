/** A crowd of the character: how many, and how fast the machine draws them. */

import type { Model } from "../model.ts";
import type { Page } from "../page.ts";
import type { Viewport } from "../stage/viewport.ts";
import { button, empty, h, section } from "./dom.ts";
import { slider } from "./number.ts";

/** Gives the page its tab for crowds. */
export function addCrowd(page: Page): void {
  const { model, viewport } = page;
  page.addTab({ id: "crowd", label: "Crowd", title: "Many of the character at once", of: "page", on: ["display", "character"], draw: () => [crowdSection(model, viewport)] });
}

function crowdSection(model: Model, viewport: Viewport): HTMLElement {
  const { crowd } = viewport;
  const { count, interval, growing, problem } = crowd.state;
  const put = (next: number): void => {
    crowd.state.growing = false;
    void crowd.show(next);
  };
  const { film } = crowd;
  const speed = interval > 0 ? `${interval.toFixed(1)} ms a picture, ${(1000 / interval).toFixed(0)} a second` : "…";
  const vertices = film === null ? 0 : count * film.vertices;
  return section(
    "Crowd",
    slider({
      label: "Characters", title: "How many are drawn, with parametric muscles; 0 shows the one alone", value: count,
      min: 0, max: 400, step: 1, unit: "", change: put, newDrag: () => model.newDrag(),
    }),
    h(
      "div",
      { class: "buttons" },
      button("25", "Five rows of five", () => { put(25); }),
      button("As many as it draws", "Twice as many, until pictures take longer than 40 ms", () => { crowd.grow(); }),
      button("One", "The character alone", () => { put(0); }),
    ),
    problem !== null && empty(problem),
    count > 0 &&
      h("p", { class: "hint", id: "crowd-count", text: `${count} characters, ${vertices.toLocaleString("en")} vertices, ${film?.muscles ?? 0} muscles each: ${speed}${growing ? ", trying more" : ""}` }),
    film !== null && film.dropped > 0 && empty(`${film.dropped} vertices of each have more than four joints; here the four strongest count.`),
  );
}
