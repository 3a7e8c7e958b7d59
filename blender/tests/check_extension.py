"""Installs the extension's .zip in Blender without a window and checks what it promises, as a user would meet it.

    python blender/tests/check_extension.py ecorche-blender-0.2.0.zip

Needs the Python package bpy of the Blender to be tested.
"""

import math
import pathlib
import sys
import tempfile
import time

from scenes import FRAMES, SIDES, base, caches, evaluated, install, leave, refused, start, tube

import bpy  # noqa: I001
import check_muscles
import check_panel
import check_rigs
import numpy as np


def check_bake(folder):
    thing, armature = start(folder)
    before = base(thing)
    armature_alone = [evaluated(thing, frame) for frame in range(1, FRAMES + 1)]
    bpy.context.scene.frame_set(5)
    assert bpy.ops.ecorche.check() == {"FINISHED"}
    assert bpy.ops.ecorche.bake() == {"FINISHED"}
    assert bpy.context.scene.frame_current == 5, "the frame is where it was"
    names = [m.name for m in thing.modifiers]
    assert names == ["Armature", "Écorché", "Subdivision"], names
    modifier = thing.modifiers["Écorché"]
    assert modifier.filepath.startswith("//cache_ecorche/"), modifier.filepath

    import ecorche

    rig = sys.modules["bl_ext.user_default.ecorche.rig"]
    bpy.context.scene.frame_set(1)
    arrays = rig.read(bpy.context, thing)
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        rig.add_pose(bpy.context, thing, arrays)
    character = arrays.character(ecorche, 24.0)
    expected = [f.positions() for f in character.bind(**thing.ecorche.options()).play("shot")]
    linear = [f.positions() for f in character.bind("lbs").play("shot")]
    for frame in range(1, FRAMES + 1):
        points = evaluated(thing, frame)
        assert np.abs(points - expected[frame - 1]).max() < 1e-6, f"frame {frame} is not the engine's"
        off = np.abs(armature_alone[frame - 1] - linear[frame - 1]).max()
        assert off < 1e-5, f"frame {frame}: poses are not read as Blender has them, {off}"
    assert np.abs(evaluated(thing, FRAMES) - armature_alone[-1]).max() > 0.005, "the bend looks as before"
    mean = 0.5 * (evaluated(thing, 5) + evaluated(thing, 6))
    assert np.abs(evaluated(thing, 5, 0.5) - mean).max() < 1e-6, "sub-frames are interpolated"
    assert len(evaluated(thing, 5, plain=False)) > len(mean), "the subdivision still works"

    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "shot.blend"))
    thing = bpy.data.objects["Tube"]
    bpy.context.view_layer.objects.active = thing
    assert np.abs(evaluated(thing, FRAMES) - expected[-1]).max() < 1e-6, "a reopened file finds its cache"
    bpy.context.scene.frame_set(5)
    assert bpy.ops.ecorche.remove(delete_files=True) == {"FINISHED"}
    assert base(thing) == before, "removed, everything is as before"
    assert caches(folder) == []
    assert np.array_equal(evaluated(thing, FRAMES), armature_alone[-1])


def check_shape_keys_scale_and_motion(folder):
    """A mesh with its own scale and place, whose object and shape key are animated, too."""
    bpy.ops.wm.read_homefile(use_empty=True)
    thing, armature = tube(scale=(0.5, 2.0, 1.0), at=(3.0, -1.0, 0.5))
    key = thing.data.shape_keys.key_blocks["wide"]
    for frame, value in ((1, 0.0), (FRAMES, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
        for moved in (thing, armature):
            moved.location.y = -1.0 + value
            moved.keyframe_insert("location", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scaled.blend"))
    before = base(thing)
    alone = [evaluated(thing, frame) for frame in range(1, FRAMES + 1)]
    bpy.context.scene.frame_set(1)
    assert bpy.ops.ecorche.bake() == {"FINISHED"}
    far = slice(0, 4 * SIDES)
    for frame in range(1, FRAMES + 1):
        # Far from the bend the implicit skin is what the armature and the shape key make.
        off = np.abs(evaluated(thing, frame)[far] - alone[frame - 1][far]).max()
        assert off < 2e-3, f"frame {frame}: {off}"
    assert np.abs(alone[-1][far, 0] / alone[0][far, 0] - 1.3).max() < 1e-4, "the key is seen"
    assert thing.scale[:] == (0.5, 2.0, 1.0)
    bpy.ops.ecorche.remove()
    bpy.context.scene.frame_set(1)
    thing.data.shape_keys.key_blocks["wide"].value = 0.0
    assert base(thing)[1:3] == before[1:3]


def check_preview(folder):
    thing, _ = start(folder)
    bpy.context.scene.frame_set(FRAMES)
    plain = evaluated(thing, FRAMES)
    assert bpy.ops.ecorche.preview() == {"FINISHED"}
    previewed = evaluated(thing, FRAMES)
    assert np.abs(previewed - plain).max() > 0.005
    assert bpy.ops.ecorche.bake() == {"FINISHED"}
    assert [m.name for m in thing.modifiers] == ["Armature", "Écorché", "Subdivision"], "the bake replaces it"
    assert np.abs(evaluated(thing, FRAMES) - previewed).max() < 1e-4, "a pose looks the same in preview and bake"
    bpy.ops.ecorche.remove(delete_files=True)


def check_bad_input(folder):
    bpy.ops.wm.read_homefile(use_empty=True)
    thing, armature = tube()
    refused(bpy.ops.ecorche.bake, "Save the .blend file first")
    refused(bpy.ops.ecorche.place_muscles, "Save the .blend file first")
    thing, armature = start(folder)
    scene = bpy.context.scene
    subdivision = thing.modifiers["Subdivision"]
    thing.modifiers.move(1, 0)
    refused(bpy.ops.ecorche.bake, '"Subdivision" before the armature changes the vertex count')
    assert len(bpy.data.objects) == 2, "no helper object is left"
    subdivision.show_viewport = False
    assert bpy.ops.ecorche.check() == {"FINISHED"}
    thing.modifiers.remove(subdivision)
    scene.frame_start, scene.frame_end = 1, 2
    for group in list(thing.vertex_groups):
        group.name = f"no {group.name}"
    refused(bpy.ops.ecorche.bake, "parent with automatic weights")
    thing.modifiers["Armature"].object = None
    refused(bpy.ops.ecorche.bake, "has no Armature modifier")
    bpy.context.view_layer.objects.active = armature
    refused(bpy.ops.ecorche.bake, "Select a mesh")
    assert caches(folder) == []


def check_stopped(folder):
    """A bake stopped or failing half-way leaves no file and no modifier; one before it stays."""
    thing, _ = start(folder)
    work = sys.modules["bl_ext.user_default.ecorche.work"]
    cache = sys.modules["bl_ext.user_default.ecorche.cache"]
    rig = sys.modules["bl_ext.user_default.ecorche.rig"]

    import ecorche

    arrays = rig.read(bpy.context, thing)
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        rig.add_pose(bpy.context, thing, arrays)
    path = folder / "cache_ecorche" / "stopped.pc2"
    job = work.Job(ecorche, [work.Task(arrays, {"method": "lbs"}, path)], 24.0)
    to_object = arrays.to_object

    def stop_at_three(points):
        if job.done == 3:
            job.stop.set()
        return to_object(points)

    arrays.to_object = stop_at_three
    job.thread.start()
    job.thread.join()
    assert isinstance(job.error, work.Stopped) and job.done == 4, (job.error, job.done)
    assert list(path.parent.iterdir()) == []

    write = cache.Writer.write

    def full(self, points):
        raise OSError("no space left on device")

    cache.Writer.write = full
    refused(bpy.ops.ecorche.bake, "no space left")
    cache.Writer.write = write
    assert caches(folder) == [] and "Écorché" not in thing.modifiers
    assert bpy.ops.ecorche.bake() == {"FINISHED"}
    good = caches(folder)
    cache.Writer.write = full
    refused(bpy.ops.ecorche.bake, "no space left")
    cache.Writer.write = write
    assert caches(folder) == good and "Écorché" in thing.modifiers


def check_beside_blender(folder):
    """The bake that the panel runs: short ticks, then a thread; stopped at any moment it leaves nothing."""
    thing, _ = start(folder)
    bpy.context.scene.frame_set(5)
    import ecorche

    baking = sys.modules["bl_ext.user_default.ecorche.bake"]
    for ticks in (1, 3):
        bake = baking.Bake(bpy.context, [thing], ecorche)
        for _ in range(ticks):
            bake.tick(bpy.context)
        bake.abandon(bpy.context)
        assert caches(folder) == [] and "Écorché" not in thing.modifiers
        assert bpy.context.scene.frame_current == 5
    bake = baking.Bake(bpy.context, [thing], ecorche)
    longest, seen = 0.0, []
    while True:
        begun = time.monotonic()
        finished = bake.tick(bpy.context)
        longest = max(longest, time.monotonic() - begun)
        seen.append(bake.done())
        if finished:
            break
        time.sleep(0.01)
    assert seen == sorted(seen) and seen[-1] == 2 * FRAMES and longest < 1.0, (seen, longest)
    assert bpy.context.scene.frame_current == 5
    bake.show()
    assert [m.name for m in thing.modifiers] == ["Armature", "Écorché", "Subdivision"]


def check_undo(folder):
    """Undo takes a bake off and brings a removed one back; its file is still there."""
    start(folder)

    def names():
        return [m.name for m in bpy.data.objects["Tube"].modifiers]

    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ecorche.bake("EXEC_DEFAULT", True)
    bpy.ops.ed.undo()
    assert names() == ["Armature", "Subdivision"], names()
    bpy.ops.ed.redo()
    assert names() == ["Armature", "Écorché", "Subdivision"], names()
    thing = bpy.data.objects["Tube"]
    bpy.context.view_layer.objects.active = thing
    baked = evaluated(thing, FRAMES)
    bpy.ops.ecorche.remove("EXEC_DEFAULT", True)
    assert names() == ["Armature", "Subdivision"], names()
    bpy.ops.ed.undo()
    assert names() == ["Armature", "Écorché", "Subdivision"], names()
    assert np.array_equal(evaluated(bpy.data.objects["Tube"], FRAMES), baked)


def check_copies(folder):
    """A copy of a baked object gets a cache of its own."""
    thing, _ = start(folder)
    bpy.ops.ecorche.bake()
    copy = thing.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.objects.active = copy
    bpy.ops.ecorche.bake()
    assert copy.modifiers["Écorché"].filepath != thing.modifiers["Écorché"].filepath
    assert len(caches(folder)) == 2


def check_blur(folder):
    """Cycles blurs the baked motion."""
    thing, _ = start(folder)
    bpy.ops.ecorche.bake()
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.device = 8, "CPU"
    scene.cycles.use_denoising = False
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 96, 48, 100
    scene.world = bpy.data.worlds.new("dark")
    material = bpy.data.materials.new("bright")
    material.use_nodes = True
    nodes = material.node_tree
    nodes.nodes.clear()
    light = nodes.nodes.new("ShaderNodeEmission")
    end = nodes.nodes.new("ShaderNodeOutputMaterial")
    nodes.links.new(light.outputs[0], end.inputs[0])
    thing.data.materials.append(material)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location, camera.rotation_euler = (3.0, 0.0, 0.6), (math.pi / 2, 0.0, math.pi / 2)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.view_settings.view_transform = "Raw"
    soft = {}
    for blur in (False, True):
        scene.render.use_motion_blur = blur
        scene.render.motion_blur_shutter = 1.0
        scene.frame_set(6)
        scene.render.filepath = str(folder / f"blur-{blur}.png")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        pixels = np.array(image.pixels[:]).reshape(-1, 4)[:, 0]
        soft[blur] = int(((pixels > 0.1) & (pixels < 0.9)).sum())
    print(f"  soft pixels: {soft[False]} still, {soft[True]} blurred")
    assert soft[True] > 1.3 * soft[False]


def main(archive):
    install(archive)
    named = {**globals(), **vars(check_muscles), **vars(check_panel), **vars(check_rigs)}
    checks = [check for name, check in named.items() if name.startswith("check_") and callable(check)]
    for check in checks:
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))
        print(f"{check.__name__}: passed", flush=True)
    print(f"Blender {bpy.app.version_string}: {len(checks)} checks passed")


if __name__ == "__main__":
    main(sys.argv[1])
    leave()
