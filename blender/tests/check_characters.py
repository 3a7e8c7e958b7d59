"""Characters from files as people import them: are their rigs read as Blender has them, and can they be baked?

    python blender/tests/check_characters.py ecorche-blender-0.2.0.zip FILE...

FILE is .glb, .gltf or .fbx. Every mesh with an armature is checked and baked for three frames in the middle of its action, without and with Preserve
Volume. Printed are what Check Rig says, how far the engine's plain skinning is from Blender's, and how far the new skin is from it, in percent of the
mesh's size.
"""

import pathlib
import sys
import tempfile
import time

from scenes import install, leave

import bpy  # noqa: I001
import numpy as np

COUNT = 3


def load(path):
    """Rigged meshes of a file."""
    bpy.ops.wm.read_homefile(use_empty=True)
    importers = {".glb": bpy.ops.import_scene.gltf, ".gltf": bpy.ops.import_scene.gltf, ".fbx": bpy.ops.import_scene.fbx}
    importers[path.suffix](filepath=str(path))
    return [thing for thing in bpy.data.objects if any(m.type == "ARMATURE" and m.object for m in thing.modifiers)]


def shown(thing, frame):
    bpy.context.scene.frame_set(frame)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    mesh = thing.evaluated_get(depsgraph).to_mesh()
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def check(thing):
    """Whether it is skinned as Blender does it, and can be baked, or refused."""
    rig = sys.modules["bl_ext.user_default.ecorche.rig"]
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start)
    try:
        print(f"  {thing.name}: {'; '.join(rig.check(bpy.context, thing))}")
        arrays = rig.read(bpy.context, thing)
    except rig.RigError as error:
        print(f"  {thing.name}: refused: {error}")
        return True
    frames = range(scene.frame_start, scene.frame_end + 1)
    for frame in frames:
        scene.frame_set(frame)
        rig.add_pose(bpy.context, thing, arrays)
    return all([compare(thing, arrays, frames, volume) for volume in (False, True)])


def compare(thing, arrays, frames, volume):
    import ecorche

    rig = sys.modules["bl_ext.user_default.ecorche.rig"]
    rig.find_armature(thing)[1].use_deform_preserve_volume = volume
    alone = {frame: shown(thing, frame) for frame in frames}
    size = np.ptp(alone[frames[0]], axis=0).max()
    character = arrays.character(ecorche, 24.0)
    plain = thing.ecorche.options()["start"]
    skinned = [arrays.to_object(f.positions()) for f in character.bind(plain).play("shot")]
    off = max(np.abs(points - alone[frame]).max() for points, frame in zip(skinned, frames)) / size
    begun = time.monotonic()
    result = bpy.ops.ecorche.bake()
    took = time.monotonic() - begun
    away = np.concatenate([np.linalg.norm(shown(thing, frame) - alone[frame], axis=1) for frame in frames]) / size
    bpy.ops.ecorche.remove(delete_files=True)
    print(
        f"    {plain} off by {100 * off:.4f} %; new skin away by {100 * np.median(away):.3f} % in the median, {100 * away.max():.2f} % at "
        f"most; {took:.1f} s"
    )
    return off < 1e-3 and result == {"FINISHED"}


def main(archive, files):
    install(archive)
    failed = []
    for path in map(pathlib.Path, files):
        print(path.stem, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            things = load(path)
            bpy.ops.wm.save_as_mainfile(filepath=str(pathlib.Path(folder) / "character.blend"))
            ends = [action.frame_range[1] for action in bpy.data.actions]
            middle = int(max(ends, default=2) / 2)
            bpy.context.scene.frame_start, bpy.context.scene.frame_end = middle, middle + COUNT - 1
            for thing in things:
                bpy.ops.object.select_all(action="DESELECT")
                bpy.context.view_layer.objects.active = thing
                thing.select_set(True)
                if not check(thing):
                    failed.append(f"{path.name}: {thing.name}")
    print("failed: " + ", ".join(failed) if failed else "all as Blender has them")
    return len(failed)


if __name__ == "__main__":
    status = main(sys.argv[1], sys.argv[2:])
    leave(status)
