/** The axes in the corner of the view: they turn with it, and a click looks along one. */

import { Vector3 } from "three";
import { h } from "../panel/dom.ts";
import type { Stage } from "../stage/stage.ts";
import { lookFrom, type Side } from "./views.ts";

const SIZE = 84;
const REACH = 30;

const BALLS: { side: Side; way: Vector3; label: string; colour: string; about: string }[] = [
  { side: "left", way: new Vector3(1, 0, 0), label: "X", colour: "#ff6b6b", about: "From the character’s left" },
  { side: "top", way: new Vector3(0, 1, 0), label: "Y", colour: "#7bd88f", about: "From above" },
  { side: "front", way: new Vector3(0, 0, 1), label: "Z", colour: "#6aa9ff", about: "From the front" },
  { side: "right", way: new Vector3(-1, 0, 0), label: "", colour: "#7d4a4a", about: "From the character’s right" },
  { side: "bottom", way: new Vector3(0, -1, 0), label: "", colour: "#48704f", about: "From below" },
  { side: "back", way: new Vector3(0, 0, -1), label: "", colour: "#46607f", about: "From behind" },
];

export function axes(stage: Stage): HTMLElement {
  const lines = h("canvas", { attributes: { width: `${2 * SIZE}`, height: `${2 * SIZE}` } });
  const balls = BALLS.map(({ side, label, colour, about }) => {
    const ball = h("button", { class: "axis", key: side, title: about, text: label, on: { click: () => { lookFrom(stage, side); } } });
    ball.style.background = colour;
    return ball;
  });
  const element = h("div", { class: "axes", id: "axes" }, lines, ...balls);
  const place = new Vector3();
  const draw = (): void => {
    const context = lines.getContext("2d");
    if (context === null) return;
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.clearRect(0, 0, SIZE, SIZE);
    BALLS.forEach(({ way, colour, label }, k) => {
      const ball = balls[k];
      if (!ball) return;
      place.copy(way).applyQuaternion(stage.camera.quaternion.clone().invert());
      const [x, y] = [SIZE / 2 + REACH * place.x, SIZE / 2 - REACH * place.y];
      ball.style.left = `${x}px`;
      ball.style.top = `${y}px`;
      ball.style.zIndex = String(Math.round(10 + 5 * place.z));
      if (label === "") return;
      context.strokeStyle = colour;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(SIZE / 2, SIZE / 2);
      context.lineTo(x, y);
      context.stroke();
    });
  };
  stage.orbit.addEventListener("change", draw);
  draw();
  return element;
}
