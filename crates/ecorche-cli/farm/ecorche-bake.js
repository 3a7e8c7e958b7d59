// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A Flamenco 3 job type: bakes a clip in chunks and joins them. Put this file into the folder `scripts` beside the
// Flamenco Manager and restart it. docs/farm.md explains the settings.

const JOB_TYPE = {
    label: "Ecorche bake",
    description: "Deforms the skin of a character's clip in chunks and joins them to PC2 caches",
    settings: [
        { key: "program", type: "string", default: "ecorche", description: "The program on the workers" },
        { key: "character", type: "string", required: true, description: "Character file, or sample:NAME" },
        { key: "anatomy", type: "string", default: "", description: "Anatomy file, if any" },
        { key: "motion", type: "string", default: "", description: "File whose clips are used, if not the character's" },
        { key: "clip", type: "string", default: "", description: "Clip by name; the first if empty" },
        { key: "method", type: "string", default: "implicit", choices: ["muscles", "implicit", "dqs", "cor", "lbs"],
          propargs: {}, description: "How the skin is deformed" },
        { key: "frames", type: "string", required: true, default: "0-99",
          description: "Frames of the clip, counted from 0, such as 0-99" },
        { key: "fps", type: "float", default: 24.0, description: "Frames per second" },
        { key: "chunk_size", type: "int32", default: 50, description: "Frames of one task" },
        { key: "more_arguments", type: "string", default: "", description: "Further arguments of `ecorche bake`, separated by spaces" },
        { key: "results", type: "string", subtype: "dir_path", required: true, description: "Folder for the results" },
        { key: "name", type: "string", default: "bake", description: "Name of the joined cache, without ending" },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const common = commonArguments(settings);
    // Chunks are consecutive: frames are one range.
    const chunks = frameChunker(settings.frames, settings.chunk_size).map((chunk) => {
        const ends = chunk.split("-");
        return { first: ends[0], last: ends[ends.length - 1] };
    });
    const first = chunks[0].first;
    const last = chunks[chunks.length - 1].last;
    const remembers = settings.method === "muscles" || settings.more_arguments.includes("--coherent");

    let states = null;
    if (remembers) {
        states = task(settings, "states", ["states", ...common, "--frames", `${first}-${last}`,
            "--before", chunks.map((chunk) => chunk.first).join(","), "-o", `${settings.results}/states`]);
        job.addTask(states);
    }
    const bakes = chunks.map((chunk) => {
        const resume = remembers ? ["--resume", `${settings.results}/states/before-${chunk.first}.state`] : [];
        const bake = task(settings, `bake ${chunk.first}-${chunk.last}`, ["bake", ...common,
            "--frames", `${chunk.first}-${chunk.last}`, ...resume, "--no-mesh", "--make-folder",
            "-o", `${settings.results}/parts/${chunk.first}.pc2`]);
        if (states !== null) bake.addDependency(states);
        job.addTask(bake);
        return bake;
    });
    const join = task(settings, "join", ["join", ...chunks.map((chunk) => `${settings.results}/parts/${chunk.first}.pc2`),
        "-o", `${settings.results}/${settings.name}.pc2`]);
    bakes.forEach((bake) => join.addDependency(bake));
    job.addTask(join);
}

function commonArguments(settings) {
    const list = [settings.character];
    for (const option of ["motion", "anatomy", "clip", "method"]) {
        if (settings[option]) list.push(`--${option}`, settings[option]);
    }
    list.push("--fps", `${settings.fps}`);
    return list.concat(settings.more_arguments.split(" ").filter((word) => word.length > 0));
}

function task(settings, name, args) {
    const made = author.Task(name, "misc");
    made.addCommand(author.Command("exec", { exe: settings.program, args: args }));
    return made;
}
