"""Bakes a clip of a character file to a point cache: the shortest way from a file to a better skin.

    python bake_a_file.py hero.fbx run run.pc2

Without arguments a built-in character is baked to a temporary folder.
"""

import sys
import tempfile
from pathlib import Path

import ecorche


def main(source: str, clip: str, target: Path) -> ecorche.Baked:
    character = ecorche.read(source)
    for repair in character.repairs:
        print(repair)
    body = character.bind()
    baked = body.bake(clip, target, progress=lambda done, of: print(f"\r{done}/{of}", end=""))
    print(f"\r{baked.frames} frames, {body.method}: {', '.join(map(str, baked.paths))}")
    return baked


if __name__ == "__main__":
    if len(sys.argv) == 4:
        main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main("sample:cylinder?rings=24&segments=16", "bend", Path(folder) / "bend.pc2")
