/** Files dropped anywhere on the page: their bytes go to the engine, which keeps a temporary copy. */

import type { Model } from "../model.ts";
import { h } from "../panel/dom.ts";
import { CHARACTERS, open } from "../panel/start.ts";

/** A number for files that are dropped together; no other page has the same. */
function newBatch(): string {
  return `${Date.now()}-${Math.random().toString(36).slice(2, 10)}`;
}

const endingOf = (name: string): string => name.split(".").pop()?.toLowerCase() ?? "";

/** Sends a file; what goes wrong is thrown in words. */
async function send(batch: string, file: File): Promise<void> {
  const answer = await fetch(`drop/${batch}/${encodeURIComponent(file.name)}`, { method: "POST", body: file });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Opens what was dropped: a character with what belongs to it, or a motion or an anatomy for the one that is open. */
async function take(model: Model, files: readonly File[], tell: (text: string) => void): Promise<void> {
  const first = (...endings: string[]): File | undefined => files.find(({ name }) => endings.includes(endingOf(name)));
  const [character, motion, anatomy] = [first(...CHARACTERS), first("bvh"), first("toml")];
  if (!character && !motion && !anatomy) {
    throw new Error(`${files.map(({ name }) => name).join(", ")}: not a character (${CHARACTERS.map((ending) => `.${ending}`).join(" ")}), a motion (.bvh) or an anatomy (.toml)`);
  }
  if (!character && model.character === null) throw new Error("Drop a character first; a motion or an anatomy is for one that is open.");
  if (anatomy && !character) model.request({ take: { name: anatomy.name, text: await anatomy.text() } });
  if (!character && !motion) return;
  const batch = newBatch();
  for (const file of files) {
    tell(`copying ${file.name}…`);
    await send(batch, file);
  }
  const withCharacter = character ? (anatomy?.name ?? null) : null;
  open(model, { character: character?.name ?? null, motion: motion?.name ?? null, anatomy: withCharacter, batch });
}

export function drop(model: Model): HTMLElement {
  const curtain = h("div", { class: "drop", id: "drop", text: "Drop a character (.glb .fbx …), a motion (.bvh) or an anatomy (.toml)" });
  curtain.hidden = true;
  const show = (text: string | null): void => {
    curtain.hidden = text === null;
    if (text !== null) curtain.textContent = text;
  };
  const words = curtain.textContent;
  let inside = 0;
  const holdsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") === true;
  addEventListener("dragenter", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    inside++;
    show(words);
  });
  addEventListener("dragleave", () => {
    inside = Math.max(0, inside - 1);
    if (inside === 0) show(null);
  });
  addEventListener("dragover", (event) => { if (holdsFiles(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    inside = 0;
    const files = [...(event.dataTransfer?.files ?? [])];
    take(model, files, show)
      .catch((error: unknown) => { model.emit("notice", { level: "error", text: error instanceof Error ? error.message : String(error) }); })
      .finally(() => { show(null); });
  });
  return curtain;
}
