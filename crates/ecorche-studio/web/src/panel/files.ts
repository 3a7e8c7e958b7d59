/** A window that asks for a file: folders of the engine's machine, and a name that can be typed. */

import type { Folder } from "../messages.ts";
import type { Model } from "../model.ts";
import { dialog, pathField } from "./dialogs.ts";
import { button, empty, h } from "./dom.ts";
import { patch } from "./patch.ts";

export interface Wanted {
  title: string;
  /** What the button says. */
  verb: string;
  /** A word about what happens. */
  hint: string;
  /** The name or path to begin with. */
  value: string;
  /** The endings of files that are listed, without the dot. */
  endings: string[];
  done: (path: string) => void;
}

/** A size people read. */
function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The parts of a path with where each leads. */
function steps(path: string): [string, string][] {
  const separator = path.includes("\\") ? "\\" : "/";
  const parts = path.split(separator);
  return parts.map((part, k): [string, string] => [part === "" ? separator : part, parts.slice(0, k + 1).join(separator) + (k === 0 ? separator : "")])
    .filter(([name], k) => k === 0 || name !== separator);
}

export function askFile(model: Model, wanted: Wanted): void {
  const input = pathField(wanted.value, wanted.title);
  const crumbs = h("nav", { class: "crumbs" });
  const list = h("div", { class: "files", attributes: { role: "listbox", "aria-label": "Files" } });
  let folder: Folder | null = null;
  /** The folder that names without one are relative to. */
  let home: string | null = null;
  const go = (path: string | null): void => { model.request({ folder: { path, endings: wanted.endings } }); };
  const inFolder = (name: string): string => {
    if (folder === null) return name;
    const separator = folder.path.includes("\\") ? "\\" : "/";
    return folder.path.endsWith(separator) ? folder.path + name : folder.path + separator + name;
  };
  const finish = (): void => {
    const name = input.value.trim();
    const bare = !/[/\\]/.test(name);
    if (name === "") return;
    wanted.done(bare && folder !== null && folder.path !== home ? inFolder(name) : name);
    element.close();
  };
  const draw = (now: Folder): void => {
    folder = now;
    home ??= now.path;
    patch(crumbs, ...steps(now.path).map(([name, path]) => button(name, path, () => { go(path); }, "small-text")));
    const item = (name: string, note: string, style: string, click: () => void, twice: () => void): HTMLElement =>
      h("button", { class: `entry ${style}`, key: name, title: name, attributes: { role: "option" }, on: { click, dblclick: twice } }, h("span", { class: "name", text: name }), h("span", { class: "note", text: note }));
    patch(
      list,
      now.parent !== null && item("..", "up", "folder", () => { go(now.parent); }, () => undefined),
      ...now.entries.map(({ name, folder: isFolder, bytes }) =>
        isFolder
          ? item(name, "", "folder", () => { go(inFolder(name)); }, () => undefined)
          : item(name, sizeOf(bytes), "file", () => { input.value = name; }, finish),
      ),
      now.problem !== null ? h("p", { class: "hint bad", text: now.problem }) : null,
      now.entries.length === 0 && now.problem === null ? empty(`No folder and no ${wanted.endings.map((ending) => `.${ending}`).join(" ")} here.`) : null,
      now.more ? empty("There are more; type the name.") : null,
    );
  };
  const stop = model.on("folder", draw);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") list.querySelector<HTMLElement>(".entry")?.focus();
    if (event.key !== "Enter") return;
    // Else the same key presses the button that gets the focus back.
    event.preventDefault();
    finish();
  });
  list.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const entries = [...list.querySelectorAll<HTMLElement>(".entry")];
    const next = entries[entries.indexOf(document.activeElement as HTMLElement) + by];
    (next ?? input).focus();
  });
  const element: HTMLDialogElement = dialog(
    wanted.title,
    crumbs,
    list,
    input,
    h("p", { class: "hint", text: wanted.hint }),
    h("div", { class: "buttons end" }, button("Cancel", "Esc", () => { element.close(); }), button(wanted.verb, "Enter", finish, "primary")),
  );
  element.classList.add("wide");
  element.addEventListener("close", stop);
  input.select();
  // Where the file is that is open now.
  const there = wanted.value.replace(/[^/\\]*$/, "");
  go(there === "" ? null : there);
  if (there !== "") home = "";
}
