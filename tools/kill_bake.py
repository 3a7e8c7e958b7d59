#!/usr/bin/env python3
"""Kills bakes at random moments and looks at what is left.

    kill_bake.py ECORCHE [--times 20] [--seed 1]

Each of the six formats is baked and killed (SIGKILL) at random moments between start and end. After every kill no file
may stand under a final name that differs from that of a whole bake, and the next bake into the folder must leave
nothing but its own files. Exit code 1 if anything else is found.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time

FORMATS = ["abc", "pc2", "mdd", "obj", "glb", "usda"]


def bake(program, folder, ending):
    arguments = ["bake", "sample:cylinder", "--clip", "bend", "--fps", "200", "--method", "dqs"]
    command = [program, *arguments, "-o", str(folder / f"out.{ending}"), "--quiet", "--no-cache"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    problems = 0
    whole, length = {}, {}
    for ending in FORMATS:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            start = time.monotonic()
            if bake(options.program, folder, ending).wait() != 0:
                sys.exit(f"{ending}: the bake fails")
            length[ending] = time.monotonic() - start
            whole[ending] = contents(folder)
    for turn in range(options.times):
        ending = FORMATS[turn % len(FORMATS)]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            killed = bake(options.program, folder, ending)
            time.sleep(dice.uniform(0, length[ending]))
            killed.kill()
            killed.wait()
            left = {n: b for n, b in contents(folder).items() if not n.startswith(".ecorche-")}
            for file, found in left.items():
                if whole[ending].get(file) != found:
                    print(f"{ending}, turn {turn}: {file} is not that of a whole bake")
                    problems += 1
            if bake(options.program, folder, ending).wait() != 0:
                print(f"{ending}, turn {turn}: the next bake fails")
                problems += 1
            names = sorted(p.name for p in folder.iterdir())
            if names != sorted(whole[ending]) or contents(folder) != whole[ending]:
                print(f"{ending}, turn {turn}: the next bake leaves {names[:5]}")
                problems += 1
    print(f"{options.times} bakes killed, {problems} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
