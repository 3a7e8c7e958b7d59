"""Counts the instructions of the kernels with valgrind and compares them with the last ones written down.

    instructions.py            compares; exit code 1 if a kernel got slower by more than the tolerance
    instructions.py --write    writes the counts down

Counts do not depend on what else the machine does, which times do. They depend on the compiler and on what the
processor can do: the file says which they were, and under others differences are told but are no failure. Needs
valgrind and target/release/examples/kernels (cargo build --release --workspace --examples).
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "examples" / "kernels"
WRITTEN = ROOT / "crates" / "ecorche" / "benches" / "instructions.json"
# Layout and inlining move counts by about 1 % from one change to the next that does not concern them.
TOLERANCE = 0.03


def compiler():
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def processor():
    """Model and features, by which kernels choose their lanes."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    found = [line.split(":", 1)[1].strip() for key in ("model name", "flags") for line in lines if line.startswith(key)]
    features = hashlib.sha256(found[-1].encode()).hexdigest()[:12] if found else ""
    return f"{found[0]} {features}" if found else "unknown"


def count(name):
    """Instructions inside of `counted`, for one run of the kernel."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*counted*"]
        command += [f"--callgrind-out-file={folder}/out", str(PROGRAM), name]
        done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode or not found or int(found[1]) == 0:
        sys.exit(f"{name}: valgrind gave no count\n{done.stderr}")
    return int(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the counts down")
    arguments = parser.parse_args()
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is missing; cargo build --release --workspace --examples")
    names = subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.split()
    counts = {name: count(name) for name in names}
    here = {"compiler": compiler(), "processor": processor()}
    if arguments.write:
        WRITTEN.write_text(json.dumps({**here, "instructions": counts}, indent=2) + "\n")
        print(WRITTEN.relative_to(ROOT))
        return
    if not WRITTEN.exists():
        print(f"nothing to compare with: {WRITTEN.relative_to(ROOT)} is missing; --write makes it")
        return
    written = json.loads(WRITTEN.read_text())
    then_there = {key: written.get(key, "unknown") for key in here}
    slower = []
    for name, now in counts.items():
        then = written["instructions"].get(name)
        change = None if then is None else now / then - 1.0
        word = "new" if change is None else f"{100 * change:+.1f} %"
        print(f"{name:16} {now:>12} instructions  {word}")
        if change is None or change > TOLERANCE:
            slower.append(name)
        elif change < -TOLERANCE:
            print(f"{'':16} fewer: write it down with --write")
    if then_there != here:
        print(f"counted with {here}, written down with {then_there}: differences are no failure")
    elif slower:
        sys.exit(f"more instructions than written down, or new: {', '.join(slower)}; if meant, --write and say why")


if __name__ == "__main__":
    main()
