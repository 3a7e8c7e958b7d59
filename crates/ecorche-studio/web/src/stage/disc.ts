/** A round dot with a dark rim, for points. */

import { CanvasTexture } from "three";

let made: CanvasTexture | null = null;

export function disc(): CanvasTexture {
  if (made !== null) return made;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const context = canvas.getContext("2d");
  if (context) {
    context.arc(16, 16, 13, 0, 2 * Math.PI);
    context.fillStyle = "#fff";
    context.fill();
    context.lineWidth = 5;
    context.strokeStyle = "#222a";
    context.stroke();
  }
  made = new CanvasTexture(canvas);
  return made;
}
