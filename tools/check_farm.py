"""Runs jobs for render farms on this machine and compares what comes out with a single bake.

    check_farm.py ECORCHE

`ecorche job` writes an Open Job Description of one, two and seven chunks; `openjd` checks and runs it; the joined caches
must be those of a single bake, to the bit. A chunk that is missing fails the join and is baked again alone; a chunk of
another recipe is refused. `ecorche hero --job` writes one of a step for each stage, whose cache must be that of a single run; a stage
that was cut short goes on. The Flamenco job types are compiled by Node with a stub of the Manager and their tasks are run.
Needs the Python package openjd-cli beside this Python; without Node the part of Flamenco is left out, and says so.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

OPENJD = pathlib.Path(sys.executable).with_name("openjd")
HERE = pathlib.Path(__file__).resolve().parent
# Muscles that swing: a frame depends on all before it.
ARM = ["sample:arm", "--clip", "shake", "--fps", "12", "--method", "muscles"]
# Several meshes, and nothing that remembers.
DRESSED = ["sample:mannequin", "--fps", "4", "--method", "dqs"]
# A shot of simulated flesh, as small as one can be.
HERO = ["sample:arm?resolution=2000", "--clip", "curl", "--frames", "0-1", "--fps", "8", "--region", "leftLowerArm", "--tetrahedra", "1500"]


class Farm:
    def __init__(self, program, folder):
        self.program, self.folder, self.passed = program, folder, 0

    def run(self, *words, fails=False):
        result = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        said = result.stdout + result.stderr
        if (result.returncode != 0) != fails:
            sys.exit(f"{' '.join(map(str, words))}\nended with {result.returncode}:\n{said}")
        self.passed += 1
        return said

    def ecorche(self, *words, **options):
        return self.run(self.program, *words, **options)

    def openjd(self, job, *words, **options):
        parameters = ["-p", f"file://{job / 'parameters.json'}", "-p", f"Ecorche={self.program}"]
        return self.run(OPENJD, "run", job / "template.json", *parameters, *words, **options)

    def that(self, condition, what):
        if not condition:
            sys.exit(f"failed: {what}")
        self.passed += 1

    def same(self, single, results, name):
        """Every cache of the single bake is there with the same bytes."""
        caches = sorted(single.glob("*.pc2"))
        self.that(caches, f"{single}: a single bake")
        for cache in caches:
            joined = results / (name + cache.name[cache.name.index("."):])
            self.that(joined.exists() and joined.read_bytes() == cache.read_bytes(), f"{joined} is {cache}")


def job(farm, arguments, chunks, single):
    """A job of so many chunks, run by openjd."""
    folder = farm.folder / f"{single.name}-{chunks}"
    farm.ecorche("job", *arguments, "--chunks", chunks, "--name", "joined", "-o", folder, "-q")
    farm.run(OPENJD, "check", folder / "template.json")
    farm.openjd(folder)
    farm.same(single, folder / "results", "joined")
    return folder


def repair(farm, folder, arguments, single):
    """One chunk fails, and is run again alone; one comes from elsewhere, and is refused."""
    template = json.loads((folder / "template.json").read_text())
    space = next(step for step in template["steps"] if step["name"] == "Bake")["parameterSpace"]
    first, last = (definition["range"][3] for definition in space["taskParameterDefinitions"])
    part = folder / "results" / "parts" / f"{first}.pc2"
    task = ["--step", "Bake", "-tp", f"First={first}", "-tp", f"Last={last}", "--no-run-dependencies"]
    join = ["--step", "Join", "--no-run-dependencies"]
    joined = folder / "results" / "joined.pc2"
    part.unlink()
    joined.unlink()
    farm.that(part.name in farm.openjd(folder, *join, fails=True), "the join names the missing chunk")
    farm.that(not joined.exists(), "no cache without all chunks")
    farm.openjd(folder, *task)
    farm.openjd(folder, *join)
    farm.same(single, folder / "results", "joined")
    other = [*arguments, "--still-muscles"]
    farm.ecorche("bake", *other, "--frames", f"{first}-{last}", "--no-mesh", "-o", part, "-q")
    farm.that("changed in between" in farm.openjd(folder, *join, fails=True), "a chunk of another recipe is refused")
    state = folder / "results" / "states" / f"before-{first}.state"
    refused = ["bake", *other, "--frames", f"{first}-{last}", "--resume", state, "-o", farm.folder / "no.pc2", "-q"]
    farm.that("another recipe" in farm.ecorche(*refused, fails=True), "a state of another recipe is refused")


def hero(farm):
    """A simulated shot by stages; one of them is cut short, and goes on when it is run again."""
    folder, results = farm.folder / "hero-job", farm.folder / "hero-results"
    anatomy = farm.folder / "arm.toml"
    farm.ecorche("init", HERO[0], "-o", anatomy, "-q")
    shot = ["hero", *HERO, "--anatomy", anatomy]
    single = farm.folder / "hero.pc2"
    farm.ecorche(*shot, "-o", single, "-q")
    results.mkdir()
    cache = results / "hero.pc2"
    farm.ecorche(*shot, "-o", cache, "--job", folder, "-q")
    farm.that(list(results.iterdir()) == [], "nothing is simulated when the job is written")
    farm.run(OPENJD, "check", folder / "template.json")
    farm.openjd(folder)
    farm.that(cache.read_bytes() == single.read_bytes(), "the shot by stages is the shot in one go")
    fat = results / "hero.hero" / "fat.stage"
    whole = fat.read_bytes()
    fat.write_bytes(whole[: len(whole) * 2 // 3])
    cache.unlink()
    alone = "--no-run-dependencies"
    farm.openjd(folder, "--step", "Fat", alone)
    # Records hold how long they took: those that are the same were not computed again.
    kept = len(whole) // 2
    again = fat.read_bytes()
    farm.that(again[:kept] == whole[:kept] and len(again) > kept + kept // 2, "a stage that was cut short goes on")
    farm.that(not cache.exists(), "only the last step writes the cache")
    farm.openjd(folder, "--step", "Skin", alone)
    farm.that(cache.read_bytes() == single.read_bytes(), "the last step writes the cache again")
    _, clip, _, frames, _, fps, _, region, *more = HERO[1:]
    results = farm.folder / "hero-flamenco"
    results.mkdir()
    values = {"character": HERO[0], "anatomy": str(anatomy), "clip": clip, "frames": frames, "fps": float(fps), "region": region,
              "more_arguments": " ".join(more), "results": str(results), "name": "hero.pc2"}
    if flamenco(farm, folder / "ecorche-hero.js", values):
        farm.that((results / "hero.pc2").read_bytes() == single.read_bytes(), "Flamenco's shot is the same")


def flamenco(farm, script, values):
    """The tasks of a Flamenco job type, one after the other; whether they could be run."""
    node = shutil.which("node")
    if node is None:
        print(f"skipped: Node is not installed, so {script.name} is not compiled")
        return False
    settings = farm.folder / "settings.json"
    settings.write_text(json.dumps({"program": str(farm.program), **values}))
    done = set()
    for task in json.loads(farm.run(node, HERE / "flamenco_stub.mjs", script, settings)):
        farm.that(done.issuperset(task["dependencies"]), f"{task['name']} comes after what it depends on")
        for command in task["commands"]:
            farm.that(command["name"] == "exec", "Flamenco's command exec")
            farm.run(command["parameters"]["exe"], *command["parameters"]["args"])
        done.add(task["name"])
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: pathlib.Path(path).resolve())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        farm = Farm(options.program, pathlib.Path(name))
        arm, dressed = farm.folder / "arm", farm.folder / "dressed"
        for folder, arguments in ((arm, ARM), (dressed, DRESSED)):
            folder.mkdir()
            farm.ecorche("bake", *arguments, "-o", folder / "single.pc2", "--no-mesh", "-q")
        for chunks in (1, 2, 7):
            last = job(farm, ARM, chunks, arm)
        frames = int.from_bytes((arm / "single.pc2").read_bytes()[28:32], "little")
        results = farm.folder / "flamenco"
        values = {"character": ARM[0], "clip": "shake", "fps": 12, "method": "muscles", "frames": f"0-{frames - 1}", "chunk_size": 5,
                  "results": str(results), "name": "joined"}
        if flamenco(farm, last / "ecorche-bake.js", values):
            farm.same(arm, results, "joined")
        hero(farm)
        repair(farm, last, ARM, arm)
        job(farm, DRESSED, 2, dressed)
        print(f"{farm.passed} passed, 0 failed ({frames} frames of the arm in 1, 2 and 7 chunks)")


if __name__ == "__main__":
    main()
