"""Loads a .usda bake with Pixar's USD library and compares every point of every frame.

    check_usd.py BAKE.usda REFERENCE

REFERENCE is the PC2 bake of the same shot (NAME.pc2, or NAME.MESH.pc2 for several meshes), or
another USD file whose meshes have the same names, such as the baked baseline of a USD test.
Points are compared in world space. Every validator that the library has must be content with the file, and a
conversion to .usdc must have the same points. Needs the Python packages usd-core and numpy.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy
from pxr import Sdf, Usd, UsdGeom, UsdValidation

from point_cache import file_label, mesh_caches, read_pc2


def meshes_of(stage):
    """Name as the user knows it -> mesh, in the file's order."""
    prims = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    return {prim.GetDisplayName() or prim.GetName(): UsdGeom.Mesh(prim) for prim in prims}


def world_points(mesh, time):
    """Points of a mesh in the space of its file."""
    points = mesh.GetPointsAttr().Get(time)
    if points is None:
        return numpy.zeros((0, 3))
    world = numpy.array(UsdGeom.XformCache(time).GetLocalToWorldTransform(mesh.GetPrim()))
    return numpy.array(points, dtype=numpy.float64).reshape(-1, 3) @ world[:3, :3] + world[3, :3]


def reference_frames(reference, name, baked):
    """(time code, points) of the mesh `name` in the reference; none if it is not there."""
    if pathlib.Path(reference).suffix == ".pc2":
        caches = mesh_caches(reference)
        file = caches.get(file_label(name), caches.get(None))
        if file is None:
            return []
        start, rate, points = read_pc2(file)
        first = baked.GetStartTimeCode() if len(points) > 1 else 0.0
        return [(first + i * rate, frame) for i, frame in enumerate(points)]
    stage = Usd.Stage.Open(str(reference))
    mesh = meshes_of(stage).get(name)
    if mesh is None:
        return []
    frames = int(stage.GetEndTimeCode() - stage.GetStartTimeCode()) + 1
    # Our frames count from 0 or wherever --frames began; the other file's from its own start.
    first = baked.GetStartTimeCode()
    return [(first + i, world_points(mesh, stage.GetStartTimeCode() + i)) for i in range(frames)]


def check(condition, what, failures):
    if not condition:
        failures.append(what)
    return bool(condition)


def validate(stage, failures):
    """Runs all validators; UsdSkel's, the geometry's and the packages' are among them."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    for error in errors:
        failures.append(f"validator {error.GetName()}: {error.GetMessage()}")
    return check(len(validators) >= 30, f"only {len(validators)} validators were found", failures) and not errors


def convert(path, failures):
    """As the guide says: the same points in a binary file."""
    with tempfile.TemporaryDirectory() as folder:
        binary = str(pathlib.Path(folder) / "converted.usdc")
        Sdf.Layer.FindOrOpen(path).Export(binary)
        text, stage = Usd.Stage.Open(path), Usd.Stage.Open(binary)
        ends = [text.GetStartTimeCode(), text.GetEndTimeCode()]
        pairs = zip(meshes_of(text).values(), meshes_of(stage).values())
        same = all((world_points(a, t) == world_points(b, t)).all() for a, b in pairs for t in ends)
        return check(same, "the .usdc has other points", failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bake", help=".usda file to check")
    parser.add_argument("reference", help=".pc2 bake of the same shot, or a .usd file")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="largest difference, relative to the size")
    arguments = parser.parse_args()

    stage = Usd.Stage.Open(arguments.bake)
    passed, failures, worst = 0, [], 0.0
    passed += check(stage.GetDefaultPrim(), "the file has a default prim", failures)
    meshes = meshes_of(stage)
    passed += check(meshes, "the file has a mesh", failures)
    passed += validate(stage, failures)
    passed += convert(arguments.bake, failures)
    compared = 0
    for name, mesh in meshes.items():
        counts = numpy.array(mesh.GetFaceVertexCountsAttr().Get() or [])
        indices = numpy.array(mesh.GetFaceVertexIndicesAttr().Get() or [])
        frames = reference_frames(arguments.reference, name, stage)
        if not frames and pathlib.Path(arguments.reference).suffix != ".pc2":
            continue
        compared += 1
        passed += check(frames, f"{name}: the reference has it", failures)
        vertices = len(frames[0][1]) if frames else 0
        sound = counts.sum() == indices.size and (indices.size == 0 or 0 <= indices.min() <= indices.max() < vertices)
        passed += check(sound, f"{name}: faces use vertices that exist", failures)
        normals = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("normals")
        per_corner = bool(normals) and normals.HasValue()
        expected = indices.size if per_corner else vertices
        for time, points in frames:
            read = world_points(mesh, time)
            same_shape = read.shape == points.shape
            passed += check(same_shape, f"{name} at {time}: {len(read)} points, not {len(points)}", failures)
            if not same_shape:
                continue
            size = max(float(numpy.ptp(points, axis=0).max()), 1e-12) if len(points) else 1.0
            difference = float(numpy.abs(read - points).max()) / size if len(points) else 0.0
            worst = max(worst, difference)
            passed += check(difference <= arguments.tolerance, f"{name} at {time}: differs by {difference:.2e}", failures)
            values = normals.ComputeFlattened(time) if per_corner else mesh.GetNormalsAttr().Get(time)
            count = 0 if values is None else len(values)
            passed += check(count == expected, f"{name} at {time}: {count} normals, not {expected}", failures)
    passed += check(compared, "some mesh is in both files", failures)
    for failure in failures[:20]:
        print("failed:", failure, file=sys.stderr)
    print(f"{passed} passed, {len(failures)} failed (largest relative difference {worst:.1e})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
