"""Loads bakes of one shot in Blender and compares every vertex of every frame with the PC2 file.

    check_blender.py NAME

NAME.pc2 (or NAME.MESH.pc2 for several meshes) is the reference. Checked, where they exist:
the PC2 and MDD files through a Mesh Cache modifier on the rest mesh NAME.rest.obj, the Alembic file NAME.abc, the USD file
NAME.usda and the glTF file NAME.glb, each imported as a user would.

Needs the Python package bpy (some 370 MB, so this runs by hand and not with the tests) and numpy.
"""

import argparse
import pathlib
import sys

import bpy
import numpy

from point_cache import file_label, mesh_caches, read_pc2


def clear():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def evaluated_points(thing):
    """World-space vertices of an object with its modifiers, keys and transforms applied."""
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    flat = numpy.empty(len(mesh.vertices) * 3, dtype=numpy.float32)
    mesh.vertices.foreach_get("co", flat)
    evaluated.to_mesh_clear()
    world = numpy.array(evaluated.matrix_world, dtype=numpy.float64)
    return flat.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]


def set_frame(frame):
    whole = int(numpy.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=float(frame - whole))


def mesh_objects():
    return [thing for thing in bpy.data.objects if thing.type == "MESH"]


class Comparison:
    """Counts what agrees; positions are compared up to the axes and unit Blender imports with."""

    def __init__(self, tolerance):
        self.tolerance, self.passed, self.failures, self.worst = tolerance, 0, [], 0.0

    def points(self, what, read, expected):
        if read.shape != expected.shape:
            self.failures.append(f"{what}: {len(read)} vertices, not {len(expected)}")
            return
        size = max(float(numpy.ptp(expected, axis=0).max()), 1e-12)
        difference = float(numpy.abs(read - expected).max()) / size
        self.worst = max(self.worst, difference)
        if difference <= self.tolerance:
            self.passed += 1
        else:
            self.failures.append(f"{what}: differs by {difference:.2e} of the size")


def check_modifier(comparison, obj, cache, reference, cache_format):
    """The rest mesh moved by a Mesh Cache modifier. The cache is in file axes: nothing is turned."""
    clear()
    bpy.ops.wm.obj_import(filepath=str(obj), forward_axis="Y", up_axis="Z")
    start, rate, frames = reference
    candidates = [thing for thing in mesh_objects() if len(thing.data.vertices) == frames.shape[1]]
    if not candidates:
        comparison.failures.append(f"{cache.name}: no object of {obj.name} has {frames.shape[1]} vertices")
        return
    label = cache.name.split(".")[1] if cache.name.count(".") > 1 else None
    named = [thing for thing in candidates if file_label(thing.name) == label]
    thing = (named or candidates)[0]
    modifier = thing.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format, modifier.filepath = cache_format, str(cache.resolve())
    modifier.play_mode, modifier.time_mode, modifier.interpolation = "SCENE", "FRAME", "NONE"
    modifier.frame_start = 0.0
    for i, expected in enumerate(frames):
        set_frame(i)
        comparison.points(f"{cache.name} frame {i}", evaluated_points(thing), expected)


# Blender turns files with Y up by 90 degrees about X.
Z_UP_FROM_Y_UP = numpy.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def best_axes(read, expected):
    """File-from-Blender axes and scale, decided on one frame and then held."""
    sizes = [float(numpy.linalg.norm(numpy.ptp(p, axis=0))) for p in (read, expected)]
    scale = sizes[0] / max(sizes[1], 1e-12)
    # Units: Blender works in metres.
    candidates = [(axes, s) for axes in (numpy.eye(3), Z_UP_FROM_Y_UP) for s in (1.0, 0.01, 0.0254, 100.0, scale)]
    error = lambda candidate: numpy.abs(expected @ candidate[0].T * candidate[1] - read).max()
    return min(candidates, key=error)


def check_import(comparison, file, references, importer, start_frame):
    clear()
    importer(str(file))
    objects = {file_label(thing.name): thing for thing in mesh_objects()}
    for label, reference in references.items():
        _, _, frames = reference
        same_size = [thing for thing in objects.values() if len(thing.data.vertices) == frames.shape[1]]
        thing = objects.get(label) or (same_size[0] if same_size else None)
        if thing is None:
            comparison.failures.append(f"{file.name}: no object with {frames.shape[1]} vertices")
            continue
        held = None
        for i, expected in enumerate(frames):
            set_frame(start_frame + i)
            read = evaluated_points(thing)
            if held is None and read.shape == expected.shape:
                held = best_axes(read, expected)
            axes, scale = held or (numpy.eye(3), 1.0)
            comparison.points(f"{file.name} {thing.name} frame {i}", read, expected @ axes.T * scale)


def import_usd(path):
    bpy.ops.wm.usd_import(filepath=path, set_frame_range=True, merge_parent_xform=False)


def import_alembic_at(fps):
    """Alembic's times are in seconds, too."""

    def import_alembic(path):
        bpy.context.scene.render.fps = round(fps)
        bpy.ops.wm.alembic_import(filepath=path, set_frame_range=True)

    return import_alembic


def import_gltf_at(fps):
    """glTF keys are in seconds: the scene's rate decides which frame shows them."""

    def import_gltf(path):
        bpy.context.scene.render.fps = round(fps)
        bpy.ops.import_scene.gltf(filepath=path, merge_vertices=False)

    return import_gltf


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="path of the bakes without ending")
    parser.add_argument("--fps", type=float, default=30.0, help="rate of the bake, for Alembic and glTF")
    parser.add_argument("--tolerance", type=float, default=2e-6, help="largest difference, relative to the size")
    arguments = parser.parse_args()
    name = pathlib.Path(arguments.name)
    beside = lambda ending: name.with_name(name.name + ending)
    caches = mesh_caches(beside(".pc2"))
    references = {label: read_pc2(file) for label, file in caches.items()}
    comparison = Comparison(arguments.tolerance)
    tried = []
    obj = beside(".rest.obj")
    for label, cache in caches.items():
        for file, cache_format in ((cache, "PC2"), (cache.with_suffix(".mdd"), "MDD")):
            if obj.exists() and file.exists():
                check_modifier(comparison, obj, file, references[label], cache_format)
                tried.append(file.name)
    if beside(".abc").exists():
        first = int(next(iter(references.values()))[0])
        check_import(comparison, beside(".abc"), references, import_alembic_at(arguments.fps), first)
        tried.append(beside(".abc").name)
    if beside(".usda").exists():
        check_import(comparison, beside(".usda"), references, import_usd, int(first_frame(beside(".usda"))))
        tried.append(beside(".usda").name)
    if beside(".glb").exists():
        check_import(comparison, beside(".glb"), references, import_gltf_at(arguments.fps), 0)
        tried.append(beside(".glb").name)
    for failure in comparison.failures[:20]:
        print("failed:", failure, file=sys.stderr)
    print("Blender", bpy.app.version_string, "read", ", ".join(tried) or "nothing")
    result = f"{comparison.passed} passed, {len(comparison.failures)} failed"
    print(f"{result} (largest relative difference {comparison.worst:.1e})")
    return 1 if comparison.failures or not tried else 0


def first_frame(usda):
    """`startTimeCode` of a .usda file of ours."""
    with open(usda, encoding="utf-8") as file:
        for line in file:
            if "startTimeCode" in line:
                return float(line.split("=")[1])
    return 0.0


if __name__ == "__main__":
    sys.exit(main())
