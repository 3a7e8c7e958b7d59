#!/usr/bin/env python3
"""Compares what two versions of the program bake, byte by byte.

    python3 tools/same_bytes.py BEFORE AFTER [DATA] [--characters NAMES] [--save FILE]

BEFORE and AFTER are programs, or files of hashes that an earlier run saved with `--save` (it keeps those of AFTER). Every sample is
baked with all its clips by every method, at 5 frames a second and without the disk cache; with DATA, a folder of published
characters, also the first frames of those that tools/published_characters.toml names, with the muscles of `ecorche init` where
they are humans. Prints a table and exits with 1 if anything differs. Needs Python 3.11 or newer.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

METHODS = ["lbs", "dqs", "cor", "implicit", "muscles"]
CHARACTERS = "CesiumMan,Fox,mh_base,Knight,Rocketbox man 01"
RATE = ["--fps", "5"]
# Frames of a published character, some of which have a minute of motion.
FIRST = ["--frames", "0-4"]


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr.strip()


def samples(program):
    """The names of the built-in characters."""
    _, text, _ = run(program, "samples", "--quiet")
    return [line.strip() for line in text.splitlines() if line.startswith("sample:")]


def published(data, wanted):
    """Name and arguments of the published characters, each once."""
    manifest = tomllib.loads(Path(__file__).with_name("published_characters.toml").read_text())
    known = {}
    for entry in manifest["character"]:
        files = sorted(data.glob(entry["file"]))
        motion = entry.get("motion")
        if motion not in (None, "range"):
            motion = next(map(str, sorted(data.glob(motion))), None)
        if entry["name"] in wanted and files:
            arguments = [str(files[0]), *(["--motion", motion] if motion else [])]
            known.setdefault(entry["name"], arguments)
    for name in set(wanted) - set(known):
        print(f"{name}: no such character below {data}", file=sys.stderr)
    return known


def hashes(program, data, wanted):
    """Of every character and method, the hash of the files that a bake writes, or what the program said instead."""
    cases = {name: ([name, "--clip", "all"], []) for name in samples(program)}
    if data:
        for name, arguments in published(data, wanted).items():
            cases[name] = (arguments, FIRST)
    found = {}
    for name, (character, frames) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            anatomy = folder / "anatomy.toml"
            own = frames and run(program, "init", character[0], "--output", str(anatomy), "--quiet")[0] == 0
            for method in METHODS:
                out = folder / method
                out.mkdir()
                more = ["--anatomy", str(anatomy)] if own and method == "muscles" else []
                command = ["bake", *character, *frames, *RATE, *more, "--method", method, "--no-cache", "--quiet"]
                code, _, said = run(program, *command, "--output", str(out / "out.pc2"))
                digest = hashlib.sha256(said.replace(str(folder), "").encode() if code else b"")
                for file in sorted(out.iterdir()):
                    if file.suffix in {".pc2", ".obj"}:
                        digest.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
                found[f"{name} {method}"] = digest.hexdigest()[:16] + (" refused" if code else "")
                print(f"{name} {method}: {found[f'{name} {method}']}", file=sys.stderr, flush=True)
    return found


def known(source, data, wanted):
    return json.loads(Path(source).read_text()) if source.endswith(".json") else hashes(source, data, wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--characters", default=CHARACTERS)
    parser.add_argument("--save", type=Path)
    arguments = parser.parse_args()
    wanted = arguments.characters.split(",")
    after = known(arguments.after, arguments.data, wanted)
    if arguments.save:
        arguments.save.write_text(json.dumps(after, indent=1))
    before = after if arguments.before == arguments.after else known(arguments.before, arguments.data, wanted)
    names = list(dict.fromkeys(case.rsplit(" ", 1)[0] for case in {**before, **after}))
    print(f"| character | {' | '.join(METHODS)} |\n|---|{'---|' * len(METHODS)}")
    same = 0
    for name in names:
        row = []
        for method in METHODS:
            pair = [side.get(f"{name} {method}") for side in (before, after)]
            same += pair[0] == pair[1]
            row.append("same" if pair[0] == pair[1] else "differs")
        print(f"| {name.removeprefix('sample:')} | {' | '.join(row)} |")
    total = len(names) * len(METHODS)
    print(f"\n{same} of {total} the same")
    sys.exit(0 if same == total else 1)


if __name__ == "__main__":
    main()
