/** Processor time of threads, as the system counts it: waiting is not part of it, however busy the machine is. */

import { readdirSync, readFileSync } from "node:fs";

/** What `read` finds, or nothing where the process is gone. */
function attempt(read) {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Milliseconds each thread of a process worked, by name; threads of a name together. The first one is called "main". */
function threads(pid) {
  const worked = {};
  for (const thread of attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []) {
    attempt(() => {
      const name = thread === String(pid) ? "main" : readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim();
      const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
      worked[name] = (worked[name] ?? 0) + Number(nanoseconds) / 1e6;
    });
  }
  return worked;
}

/** The browser's processes: children of this one, and theirs, by what they are for. */
function browserProcesses() {
  const parents = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
    if (stat) parents.set(Number(pid), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
  }
  const ours = (pid) => pid === process.pid || (parents.has(pid) && ours(parents.get(pid)));
  const found = { network: [], page: [], graphics: [] };
  for (const pid of parents.keys()) {
    if (!ours(pid)) continue;
    const words = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "";
    if (words.includes("network.mojom.NetworkService")) found.network.push(pid);
    else if (words.includes("--type=renderer")) found.page.push(pid);
    else if (words.includes("--type=gpu-process")) found.graphics.push(pid);
  }
  return found;
}

/** Milliseconds worked so far by whoever has a frame in hand on its way from the engine to the graphics card. */
export function hands(engine) {
  const { network, page, graphics } = browserProcesses();
  const sum = (pids, ...names) =>
    pids.flatMap((pid) => Object.entries(threads(pid)))
      .filter(([name]) => names.length === 0 || names.includes(name))
      .reduce((total, [, ms]) => total + ms, 0);
  return {
    "sending": sum([engine.process.pid], "server"),
    "browser's network": sum(network),
    "page": sum(page, "main", "Chrome_ChildIOT"),
    "to the graphics card": sum(graphics, "main", "Chrome_ChildIOT"),
  };
}
