#!/usr/bin/env python3
"""Binds a skin of about a million vertices with heat weights, and fails beyond 120 seconds of one processor or 4 GB.

    tools/large_mesh.py target/release/ecorche [--vertices 1000000]

The skin is the athlete sample at rest, every triangle cut into four until there are enough vertices.
"""

import argparse
import os
import pathlib
import subprocess
import tempfile

MOST_SECONDS = 120
MOST_MEGABYTES = 4000


def read(path):
    points, triangles = [], []
    for line in open(path):
        kind, *values = line.split() or [""]
        if kind == "v":
            points.append(tuple(map(float, values[:3])))
        elif kind == "f":
            corners = [int(value.split("/")[0]) - 1 for value in values]
            triangles += [(corners[0], b, c) for b, c in zip(corners[1:], corners[2:])]
    return points, triangles


def subdivide(points, triangles):
    middles = {}

    def middle(a, b):
        edge = (min(a, b), max(a, b))
        if edge not in middles:
            middles[edge] = len(points)
            points.append(tuple((x + y) / 2 for x, y in zip(points[a], points[b])))
        return middles[edge]

    finer = []
    for a, b, c in triangles:
        ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
        finer += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return finer


def write(path, points, triangles):
    with open(path, "w") as file:
        file.writelines("v %.6f %.6f %.6f\n" % p for p in points)
        file.writelines("f %d %d %d\n" % (a + 1, b + 1, c + 1) for a, b, c in triangles)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ecorche", type=pathlib.Path)
    parser.add_argument("--vertices", type=int, default=1_000_000)
    options = parser.parse_args()
    program = str(options.ecorche.resolve())
    with tempfile.TemporaryDirectory() as folder:
        sample = "sample:athlete?resolution=%d" % (options.vertices // 16)
        rest = [program, "bake", sample, "-o", "rest.pc2", "--method", "lbs", "--frames", "0-0", "-q"]
        subprocess.run(rest, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        points, triangles = read(pathlib.Path(folder, "rest.rest.obj"))
        for _ in range(2):
            triangles = subdivide(points, triangles)
        write(pathlib.Path(folder, "large.obj"), points, triangles)
        bake = [program, "bake", "large.obj", "--motion", "sample:athlete", "--clip", "squat", "--frames", "0-0",
                "--method", "implicit", "-o", "large.pc2", "--no-mesh", "--no-cache", "-q"]
        child = subprocess.Popen(bake, cwd=folder, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        print("%d vertices: %.0f seconds of one processor, %.0f MB" % (len(points), seconds, megabytes))
        if status != 0:
            raise SystemExit("the bake failed")
        if options.vertices <= 1_000_000 and (seconds > MOST_SECONDS or megabytes > MOST_MEGABYTES):
            raise SystemExit("more than %d seconds or %d MB" % (MOST_SECONDS, MOST_MEGABYTES))


if __name__ == "__main__":
    main()
