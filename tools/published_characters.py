#!/usr/bin/env python3
"""Measures published characters and prints the table of docs/methods/implicit_skin.md.

    python3 tools/published_characters.py DATA [--ecorche PATH] [--only NAME] [--manifest FILE]

DATA is the folder with the characters; tools/published_characters.toml names the files in it and which set each belongs to.
Files that are not there are named on standard error and left out. Needs Python 3.11 or newer and the ecorche command.
"""

import argparse
import glob
import json
import subprocess
import sys
import tomllib
from pathlib import Path

METHODS = ["lbs", "dqs", "implicit"]
SETS = {
    "tune": "Characters that constants may be chosen on",
    "check": "Characters that are only measured",
}
HEAD = (
    "| character, clip | frames | pairs: lbs / dqs / implicit | worst frame | space lost, %: worst frame | mean | popping |\n"
    "|---|---|---|---|---|---|---|"
)


def find(data, pattern):
    """The one file below `data` that `pattern` names, or None."""
    found = sorted(glob.glob(str(data / pattern)))
    if len(found) > 1:
        sys.exit(f"{pattern}: names {len(found)} files; it must name one")
    return found[0] if found else None


def measure(ecorche, arguments):
    command = [ecorche, "measure", *arguments, "--methods", ",".join(METHODS), "--json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{run.stderr.strip()}")
    return json.loads(run.stdout)


def lost(frame):
    """Space that a frame has lost, per cent; 0 where it gained, None where it cannot be told."""
    return None if frame["filled"] is None else max(0.0, 100 * (1 - frame["filled"]))


def row(label, figures):
    """One clip as a line of the table, and what is added up over clips."""
    frames = {m: figures[m]["frames"] for m in METHODS}
    pairs = {m: sum(f["pairs"] for f in frames[m]) for m in METHODS}
    worst = {m: max(f["pairs"] for f in frames[m]) for m in METHODS}
    losses = {m: [x for f in frames[m] if (x := lost(f)) is not None] for m in METHODS}
    told = all(losses.values())
    loss_worst = {m: max(losses[m]) for m in METHODS} if told else None
    loss_mean = {m: sum(losses[m]) / len(losses[m]) for m in METHODS} if told else None
    popping = figures["implicit"]["popping_p99"]

    def three(of, form):
        return " / ".join(form.format(of[m]) for m in METHODS) if of else "not closed"

    cells = [
        label,
        str(len(frames["implicit"])),
        three(pairs, "{}"),
        three(worst, "{}"),
        three(loss_worst, "{:.1f}"),
        three(loss_mean, "{:.1f}"),
        "-" if popping is None else f"{popping:.2f}",
    ]
    return "| " + " | ".join(cells) + " |", pairs, loss_worst, loss_mean


def summary(total, rows):
    """What the table says, in a sentence or two."""
    text = f"The implicit skin leaves {100 * total['implicit'] / max(total['dqs'], 1):.1f} % of the crossings of dual quaternions."
    for what, place in (("the worst frame", 2), ("the mean", 3)):
        losses = [r[place] for r in rows if r[place]]
        more = [sum(loss["implicit"] > loss[m] + 1e-9 for loss in losses) for m in ("lbs", "dqs")]
        text += (
            f" In {what} it loses more space than linear blending in {more[0]} of {len(losses)} clips, and more than dual"
            f" quaternions in {more[1]}."
        )
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with the characters")
    parser.add_argument("--ecorche", default="ecorche", help="the command to run")
    parser.add_argument("--only", help="measure only characters whose name contains this")
    parser.add_argument("--manifest", type=Path, default=Path(__file__).with_suffix(".toml"))
    arguments = parser.parse_args()
    characters = tomllib.loads(arguments.manifest.read_text())["character"]
    for set_name, title in SETS.items():
        rows = []
        for entry in characters:
            if entry["set"] != set_name or (arguments.only and arguments.only not in entry["name"]):
                continue
            motion = entry.get("motion")
            path = find(arguments.data, entry["file"])
            clips_from = motion if motion in (None, "range") else find(arguments.data, motion)
            if path is None or (motion and clips_from is None):
                print(f"{entry['name']}: not found, left out", file=sys.stderr)
                continue
            for number, clip in enumerate(entry.get("clips", [None])):
                options = [path, "--fps", str(entry.get("fps", 10))]
                options += ["--motion", clips_from] if motion else []
                options += ["--clip", clip] if clip else []
                label = entry["labels"][number] if "labels" in entry else clip.lower()
                print(f"{entry['name']}, {label}", file=sys.stderr)
                (figures,) = measure(arguments.ecorche, options).values()
                rows.append(row(f"{entry['name']}, {label}", figures))
        if not rows:
            continue
        total = {m: sum(pairs[m] for _, pairs, _, _ in rows) for m in METHODS}
        print(f"### {title}\n{HEAD}")
        print("\n".join(line for line, *_ in rows))
        print(f"| all {len(rows)} | | {' / '.join(f'{total[m]:,}' for m in METHODS)} | | | | |\n")
        print(summary(total, rows) + "\n")


if __name__ == "__main__":
    main()
