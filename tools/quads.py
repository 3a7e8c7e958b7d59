"""Writes a prism of quads with six-sided ends, two materials and texture coordinates as OBJ: faces that other samples lack.

    quads.py OUT.obj
"""

import math
import pathlib
import sys

SIDES = 6


def main():
    lines = ["o prism"]
    for height in (0.0, 1.0, 2.0):
        for side in range(SIDES):
            angle = 2 * math.pi * side / SIDES
            lines.append(f"v {math.cos(angle):.6f} {height} {-math.sin(angle):.6f}")
            lines.append(f"vt {side / SIDES:.6f} {height / 2}")
    # The last quad around ends where the texture does, not where it begins: a seam.
    lines += [f"vt 1 {height / 2}" for height in (0.0, 1.0, 2.0)]
    for ring in range(2):
        lines.append(f"usemtl {'wood' if ring == 0 else 'stone'}")
        for side in range(SIDES):
            following = (side + 1) % SIDES
            low, high = ring * SIDES + 1, (ring + 1) * SIDES + 1
            end = [low + following, high + following] if following else [3 * SIDES + 1 + ring, 3 * SIDES + 2 + ring]
            corners = [(low + side, low + side), (low + following, end[0]), (high + following, end[1]), (high + side, high + side)]
            lines.append("f " + " ".join(f"{v}/{t}" for v, t in corners))
    lines.append("f " + " ".join(f"{1 + v}/{1 + v}" for v in reversed(range(SIDES))))
    lines.append("f " + " ".join(f"{1 + 2 * SIDES + v}/{1 + 2 * SIDES + v}" for v in range(SIDES)))
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
