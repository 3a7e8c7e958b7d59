"""Loads an Alembic bake with the format's own library and compares every point of every frame.

    check_alembic.py BAKE.abc REFERENCE.pc2 [--scale S] [--merged] [--velocities]

REFERENCE is the PC2 bake of the same shot (NAME.pc2, or NAME.MESH.pc2 for several meshes). Points must be equal to the bit
where nothing is scaled. Also checked: times, faces that use vertices that exist and wind clockwise around the normals,
UVs, normals and face sets, and that the library refuses the file when its end is missing or it is not marked as complete.
Needs the Python packages alembic3d and numpy.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy
from alembic3d import Abc, AbcGeom

from point_cache import file_label, mesh_caches, read_pc2


def array(sample):
    """A list of the library as numbers: of points, of coordinates or of integers."""
    rows = [tuple(value) if hasattr(value, "x") or hasattr(value, "dimensions") else value for value in sample]
    return numpy.array(rows)


class Check:
    """Counts what holds."""

    def __init__(self):
        self.passed, self.failures, self.worst = 0, [], 0.0

    def that(self, condition, what):
        if condition:
            self.passed += 1
        else:
            self.failures.append(what)
        return bool(condition)


def meshes_of(archive):
    """Name of the transform -> mesh, in the file's order."""
    found = {}
    for xform in archive.getTop().children:
        for child in xform.children:
            if AbcGeom.IPolyMesh.matches(child.getHeader()):
                found[xform.getName()] = AbcGeom.IPolyMesh(xform, child.getName())
    return found


def selector(time):
    """The sample at a time in seconds; the binding takes whole numbers for seconds, too."""
    return Abc.ISampleSelector(float(time))


def expected_of(reference, name, merged):
    """First frame and points of the mesh `name`: those of all meshes where they are merged."""
    caches = mesh_caches(reference)
    if merged:
        # The mesh beside the caches lists objects in the character's order.
        rest = pathlib.Path(reference).with_suffix(".rest.obj")
        names = [line[2:].strip() for line in rest.read_text().splitlines() if line.startswith("o ")]
        parts = [read_pc2(caches[file_label(name)] if None not in caches else caches[None]) for name in names]
        return parts[0][0], numpy.concatenate([points for _, _, points in parts], axis=1)
    file = caches.get(file_label(name), caches.get(None))
    if file is None:
        raise SystemExit(f"{reference}: no cache for the mesh {name}")
    start, _, points = read_pc2(file)
    return start, points


def corner_table(sizes):
    """First corner of every face and one past the last."""
    return numpy.concatenate([[0], numpy.cumsum(sizes)])


def check_faces(check, name, points, corners, sizes, normals):
    """Faces use what exists, and turn clockwise when seen from the side their normals point to."""
    check.that(sizes.sum() == corners.size, f"{name}: face sizes add up to the corners")
    check.that(corners.min() >= 0 and corners.max() < len(points), f"{name}: faces use vertices that exist")
    if normals is None:
        return
    starts = corner_table(sizes)[:-1]
    a, b, c = (points[corners[starts + i]].astype(numpy.float64) for i in range(3))
    across = numpy.cross(b - a, c - a)
    length = numpy.linalg.norm(across, axis=1)
    # Slivers and sharp edges turn either way; most faces must agree.
    agree = numpy.einsum("ij,ij->i", across, normals[starts]) < 0
    share = agree[length > 0].mean() if (length > 0).any() else 1.0
    check.that(share > 0.95, f"{name}: {share:.0%} of the faces wind clockwise around their normals")


def check_sets(check, name, schema, faces):
    """Face sets hold each face at most once."""
    seen = numpy.zeros(faces, dtype=int)
    for label in schema.getFaceSetNames():
        members = array(schema.getFaceSet(label).getSchema().getValue().getFaces())
        check.that(members.size > 0 and members.min() >= 0 and members.max() < faces, f"{name}: set {label} has faces")
        seen[members] += 1
    check.that(seen.max(initial=0) <= 1, f"{name}: no face is in two sets")
    return int((seen > 0).sum())


def check_mesh(check, name, mesh, reference, options):
    schema = mesh.getSchema()
    start, frames = expected_of(reference, name, options.merged)
    sampling = schema.getTimeSampling()
    check.that(schema.getNumSamples() == len(frames), f"{name}: {schema.getNumSamples()} frames, not {len(frames)}")
    check.that(schema.isConstant() == (len(frames) == 1), f"{name}: moves if it has frames")
    times = [sampling.getSampleTime(i) for i in range(len(frames))]
    if len(frames) > 1:
        fps = 1.0 / (times[1] - times[0])
        right = all(abs(time - (start + i) / fps) < 1e-6 for i, time in enumerate(times))
        check.that(right, f"{name}: frame n is at n / fps seconds")
    first = schema.getValue(selector(times[0]))
    corners, sizes = array(first.getFaceIndices()), array(first.getFaceCounts())
    normals = None
    if schema.getNormalsParam().valid():
        normals = array(schema.getNormalsParam().getExpandedValue(selector(times[0])).getVals())
        check.that(len(normals) == corners.size, f"{name}: a normal for every corner")
        check.that(numpy.allclose(numpy.linalg.norm(normals, axis=1), 1, atol=1e-4), f"{name}: normals of length 1")
    check.that((normals is None) == options.no_normals, f"{name}: normals as asked for")
    if schema.getUVsParam().valid():
        uvs = array(schema.getUVsParam().getExpandedValue(selector(times[0])).getVals())
        check.that(len(uvs) == corners.size and numpy.isfinite(uvs).all(), f"{name}: a UV for every corner")
    check_faces(check, name, array(first.getPositions()), corners, sizes, normals)
    in_sets = check_sets(check, name, schema, len(sizes))
    before = None
    for i, expected in enumerate(frames):
        sample = schema.getValue(selector(times[i]))
        read = array(sample.getPositions())
        if not check.that(read.shape == expected.shape, f"{name} at {i}: {len(read)} points, not {len(expected)}"):
            continue
        wanted = expected * options.scale
        difference = float(numpy.abs(read - wanted).max()) if len(read) else 0.0
        size = max(float(numpy.ptp(wanted, axis=0).max()), 1e-12)
        check.worst = max(check.worst, difference / size)
        limit = 0.0 if options.scale == 1.0 else 1e-6 * size
        check.that(difference <= limit, f"{name} at {i}: differs by {difference:.2e}")
        bounds = sample.getSelfBounds()
        low, high = (numpy.array(tuple(corner)) for corner in (bounds.min(), bounds.max()))
        check.that((low == read.min(axis=0)).all() and (high == read.max(axis=0)).all(), f"{name} at {i}: bounds")
        if options.velocities and 0 < i < len(frames) - 1:
            velocities = array(sample.getVelocities())
            central = (frames[i + 1] - frames[i - 1]).astype(numpy.float64) * options.scale * fps / 2
            check.that(numpy.abs(velocities - central).max() < 1e-3 * size * fps, f"{name} at {i}: velocities")
        before = read
    moved = before is None or len(frames) == 1 or (before != array(first.getPositions())).any()
    check.that(moved or (frames[0] == frames[-1]).all(), f"{name}: last frame differs from the first")
    return f"{name}: {len(frames[0])} points, {len(sizes)} faces ({numpy.unique(sizes).tolist()} corners), {in_sets} in sets"


def check_refusal(check, path):
    """A file without its end, or not marked as complete, is refused."""
    data = pathlib.Path(path).read_bytes()
    unmarked = bytearray(data)
    unmarked[5] = 0
    for what, content in {"cut": data[: len(data) // 2], "unmarked": bytes(unmarked)}.items():
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "damaged.abc"
            file.write_bytes(content)
            try:
                list(Abc.IArchive(str(file)).getTop().children)
                refused = False
            except Exception:
                refused = True
            check.that(refused, f"a file that is {what} is refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bake", help=".abc file to check")
    parser.add_argument("reference", help=".pc2 bake of the same shot")
    parser.add_argument("--scale", type=float, default=1.0, help="length of the reference's unit in the bake's")
    parser.add_argument("--merged", action="store_true", help="all meshes are one")
    parser.add_argument("--velocities", action="store_true", help="the bake has velocities")
    parser.add_argument("--no-normals", action="store_true", help="the bake has no normals")
    options = parser.parse_args()
    check = Check()
    archive = Abc.IArchive(options.bake)
    meshes = meshes_of(archive)
    check.that(meshes, "the file has a mesh")
    for name, mesh in meshes.items():
        print(check_mesh(check, name, mesh, options.reference, options))
    check_refusal(check, options.bake)
    for failure in check.failures[:20]:
        print("failed:", failure, file=sys.stderr)
    print(f"{check.passed} passed, {len(check.failures)} failed (largest relative difference {check.worst:.1e})")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
