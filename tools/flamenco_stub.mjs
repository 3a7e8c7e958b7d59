// Compiles a job with a Flamenco job type, as the Flamenco Manager would, and prints its tasks as JSON.
//
//     node flamenco_stub.mjs JOB_TYPE.js SETTINGS.json
//
// The stub has what job types of ours use: author.Task, author.Command and frameChunker over one range.

import { readFileSync } from "node:fs";
import vm from "node:vm";

const [script, settingsFile] = process.argv.slice(2);
const given = JSON.parse(readFileSync(settingsFile, "utf8"));
const tasks = [];

const author = {
  Task: (name, type) => ({
    name,
    type,
    commands: [],
    dependencies: [],
    addCommand(command) { this.commands.push(command); },
    addDependency(task) { this.dependencies.push(task.name); },
  }),
  Command: (name, parameters) => ({ name, parameters }),
};

function frameChunker(frames, size) {
  const [first, last = first] = frames.split("-").map(Number);
  const chunks = [];
  for (let from = first; from <= last; from += size) {
    const to = Math.min(from + size - 1, last);
    chunks.push(from === to ? `${from}` : `${from}-${to}`);
  }
  return chunks;
}

const context = vm.createContext({ author, frameChunker });
vm.runInContext(`${readFileSync(script, "utf8")}\nglobalThis.compiled = { JOB_TYPE, compileJob };`, context);
const { JOB_TYPE, compileJob } = context.compiled;

const settings = {};
for (const setting of JOB_TYPE.settings) {
  if (!["string", "int32", "float", "bool"].includes(setting.type)) throw new Error(`${setting.key}: no type ${setting.type}`);
  settings[setting.key] = given[setting.key] ?? setting.default;
  if (setting.required && settings[setting.key] === undefined) throw new Error(`${setting.key} is missing`);
}
compileJob({ settings, addTask: (task) => tasks.push(task) });
const names = new Set(tasks.map((task) => task.name));
if (names.size !== tasks.length) throw new Error("two tasks have one name");
console.log(JSON.stringify(tasks, null, 1));
