// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A Flamenco 3 job type: simulates a shot of muscles, fascia, fat and skin, a task for each stage. Put this file into the folder
// `scripts` beside the Flamenco Manager and restart it. docs/farm.md explains the settings.

const JOB_TYPE = {
    label: "Ecorche hero shot",
    description: "Simulates muscles, fascia, fat and skin of a character's clip, one stage after the other",
    settings: [
        { key: "program", type: "string", default: "ecorche", description: "The program on the workers" },
        { key: "character", type: "string", required: true, description: "Character file, or sample:NAME" },
        { key: "anatomy", type: "string", required: true, description: "Anatomy file" },
        { key: "motion", type: "string", default: "", description: "File whose clips are used, if not the character's" },
        { key: "clip", type: "string", default: "", description: "Clip by name; the first if empty" },
        { key: "region", type: "string", default: "", description: "Joint whose flesh is simulated; all if empty" },
        { key: "frames", type: "string", required: true, default: "0-99",
          description: "Frames of the clip, counted from 0, such as 0-99" },
        { key: "fps", type: "float", default: 24.0, description: "Frames per second" },
        { key: "more_arguments", type: "string", default: "", description: "Further arguments of `ecorche hero`, separated by spaces" },
        { key: "results", type: "string", subtype: "dir_path", required: true, description: "Folder for the results; must exist" },
        { key: "name", type: "string", default: "hero.abc", description: "Name of the cache, whose ending chooses the format" },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const common = ["hero", settings.character];
    for (const option of ["motion", "anatomy", "clip", "region"]) {
        if (settings[option]) common.push(`--${option}`, settings[option]);
    }
    common.push("--fps", `${settings.fps}`, "--frames", settings.frames);
    common.push(...settings.more_arguments.split(" ").filter((word) => word.length > 0));
    common.push("-o", `${settings.results}/${settings.name}`);
    let before = null;
    for (const stage of ["muscles", "fascia", "fat", "skin"]) {
        const task = author.Task(stage, "misc");
        task.addCommand(author.Command("exec", { exe: settings.program, args: [...common, "--until", stage] }));
        if (before !== null) task.addDependency(before);
        job.addTask(task);
        before = task;
    }
}
