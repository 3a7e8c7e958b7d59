"""Rigs as people have them: scaled and turned by importers, mirrored, partly unweighted; and what of a rig is not seen."""

import math
import sys

from scenes import FRAMES, RINGS, SIDES, caches, evaluated, refused, start, tube

import bpy  # noqa: I001
import numpy as np

FAR = slice(0, 6 * SIDES)


def lines(thing):
    """What Check Rig says."""
    return " | ".join(sys.modules["bl_ext.user_default.ecorche.rig"].check(bpy.context, thing))


def baked_beside_armature(folder, thing):
    """Points of the last frame under the armature alone, and with the bake."""
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "rig.blend"))
    alone = evaluated(thing, FRAMES)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.ecorche.bake() == {"FINISHED"}
    return alone, evaluated(thing, FRAMES)


def volume_of(points):
    """Volume of the tube, with open ends closed to their middles."""
    rings = points[: SIDES * RINGS].astype(np.float64).reshape(RINGS, SIDES, 3)
    total = 0.0
    for r in range(RINGS - 1):
        for s in range(SIDES):
            a, b, c, d = rings[r, s], rings[r, s - 1], rings[r + 1, s - 1], rings[r + 1, s]
            total += np.linalg.det([a, c, b]) + np.linalg.det([a, d, c])
    for ring, sign in ((rings[0], 1), (rings[-1], -1)):
        middle = ring.mean(axis=0)
        total += sign * sum(np.linalg.det([middle, ring[s - 1], ring[s]]) for s in range(SIDES))
    return abs(total) / 6.0


def check_imported_scale(folder):
    """An armature in centimetres lying on its back, as FBX files of games come in: the same bake as in metres."""
    found = []
    for scale in (1.0, 0.01):
        bpy.ops.wm.read_homefile(use_empty=True)
        thing, armature = tube()
        if scale != 1.0:
            turn = math.pi / 2
            bpy.context.view_layer.objects.active = armature
            bpy.ops.object.mode_set(mode="EDIT")
            for bone in armature.data.edit_bones:
                # What the object's turn and scale bring back to the place it had.
                head, tail = ((v.x / scale, v.z / scale, -v.y / scale) for v in (bone.head.copy(), bone.tail.copy()))
                bone.head, bone.tail = head, tail
            bpy.ops.object.mode_set(mode="OBJECT")
            armature.rotation_euler.x, armature.scale = turn, (scale,) * 3
            bpy.context.view_layer.update()
            thing.parent, thing.matrix_parent_inverse = armature, armature.matrix_world.inverted()
            bpy.context.view_layer.objects.active = thing
            assert "scaled" not in lines(thing), lines(thing)
        alone, baked = baked_beside_armature(folder, thing)
        assert np.abs(baked[FAR] - alone[FAR]).max() < 1e-4
        assert np.abs(baked - alone).max() > 0.005
        found.append(volume_of(baked))
    assert abs(found[1] / found[0] - 1.0) < 0.01, found


def check_mirrored_object(folder):
    """An object scaled by -1 is a body with its faces outside, as in Blender."""
    volumes = []
    for side in (1.0, -1.0):
        bpy.ops.wm.read_homefile(use_empty=True)
        thing, _ = tube(scale=(side, 1.0, 1.0))
        if side < 0.0:
            # The points are where they were, so that their mirror image is inside out.
            thing.data.flip_normals()
        alone, baked = baked_beside_armature(folder, thing)
        assert np.abs(baked[FAR] - alone[FAR]).max() < 1e-4
        volumes.append(volume_of(baked))
    assert abs(volumes[1] / volumes[0] - 1.0) < 0.005, volumes


def check_uneven_scale_is_told(folder):
    bpy.ops.wm.read_homefile(use_empty=True)
    thing, armature = tube()
    armature.scale = (1.0, 1.0, 1.5)
    bpy.context.view_layer.update()
    assert '"Tube rig" is scaled unevenly (1, 1, 1.5)' in lines(thing) and "Ctrl+A" in lines(thing), lines(thing)


def check_what_is_not_seen_is_told(folder):
    thing, armature = start(folder)
    assert "Not seen" not in lines(thing), lines(thing)
    armature.data.bones["upper"].bbone_segments = 8
    thing.modifiers["Armature"].use_bone_envelopes = True
    thing.modifiers["Armature"].vertex_group = "upper"
    wave = thing.modifiers.new("Wave", "WAVE")
    thing.modifiers.move(len(thing.modifiers) - 1, 0)
    told = lines(thing)
    for what in ("the segments of 1 bones (upper)", "the bone envelopes", "the vertex group", f"{wave.name}, before"):
        assert f"Not seen by the bake: {what}" in told, told
    part = sys.modules["bl_ext.user_default.ecorche.bake"]
    bake = part.Bake(bpy.context, [thing], None)
    bake.restore(bpy.context)
    assert any("not seen by the bake: the segments" in note for note in bake.unseen), "the bake says it, too"


def check_rest_position(folder):
    """Nothing moves in the rest position, where muscles are edited: baking there is a slip."""
    thing, armature = start(folder)
    armature.data.pose_position = "REST"
    assert bpy.ops.ecorche.check() == {"FINISHED"}
    for operator in (bpy.ops.ecorche.bake, bpy.ops.ecorche.preview):
        refused(operator, "is in Rest Position")
    assert caches(folder) == [] and "Écorché" not in thing.modifiers


def check_vertices_without_weight(folder):
    """They stay where Blender leaves them, while the root moves."""
    thing, armature = start(folder)
    for group in thing.vertex_groups:
        group.remove(list(range(SIDES)))
    root = armature.pose.bones["lower"]
    for frame, height in ((1, 0.0), (FRAMES, 0.4)):
        root.location.y = height
        root.keyframe_insert("location", frame=frame)
    assert f"{SIDES} vertices have no weight" in lines(thing)
    alone, baked = baked_beside_armature(folder, thing)
    assert np.abs(baked[:SIDES] - alone[:SIDES]).max() < 1e-5
    assert np.abs(alone[SIDES : 2 * SIDES, 2] - alone[:SIDES, 2]).min() > 0.3, "the rest is carried up"


def check_start(folder):
    """The new skin starts from what the Armature modifier does: Preserve Volume off or on."""
    thing, armature = start(folder)
    upper = armature.pose.bones["upper"]
    upper.rotation_euler = (0.0, math.radians(120), 0.0)
    upper.keyframe_insert("rotation_euler", frame=FRAMES)
    alone, baked = {}, {}
    for volume in (False, True):
        thing.modifiers["Armature"].use_deform_preserve_volume = volume
        alone[volume] = evaluated(thing, FRAMES)
        assert bpy.ops.ecorche.bake() == {"FINISHED"}
        baked[volume] = evaluated(thing, FRAMES)
        bpy.ops.ecorche.remove(delete_files=True)
    off = {(a, b): np.abs(alone[a] - baked[b]).mean() for a in alone for b in baked}
    print(f"  mean distance from the armature: {1000 * off[False, False]:.2f} and {1000 * off[True, True]:.2f} mm")
    for volume in (False, True):
        assert off[volume, volume] < off[volume, not volume], off


def check_wrinkles(folder):
    thing, _ = start(folder)
    settings = thing.ecorche
    shown = {}
    for wrinkles, wavelength in (("off", 0.0), ("on", 0.25)):
        settings.wrinkles, settings.wavelength = wrinkles, wavelength
        assert bpy.ops.ecorche.bake() == {"FINISHED"}
        shown[wrinkles] = evaluated(thing, 1), evaluated(thing, FRAMES)
    assert np.array_equal(shown["on"][0], shown["off"][0]), "none at rest"
    height = np.abs(shown["on"][1] - shown["off"][1]).max()
    print(f"  creases of {1000 * height:.1f} mm")
    assert 0.001 < height < 0.05
    # A scene in centimetres.
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert math.isclose(settings.options()["wrinkles"], 0.25 * 0.01, rel_tol=1e-6)


def check_a_mesh_too_coarse_for_wrinkles_is_told(folder):
    thing, _ = start(folder)
    thing.ecorche.wrinkles, thing.ecorche.wavelength = "on", 0.01
    refused(bpy.ops.ecorche.bake, "subdivide it")
    assert caches(folder) == [] and "Écorché" not in thing.modifiers


def check_stopped_while_binding(folder):
    """A bind that is stopped ends soon, and leaves nothing."""
    thing, _ = start(folder)
    import ecorche

    bake = sys.modules["bl_ext.user_default.ecorche.bake"].Bake(bpy.context, [thing], ecorche)
    while bake.job is None:
        bake.sample(bpy.context)
    job = bake.job
    assert bake.told() == f"skin, {FRAMES} of {2 * FRAMES}"
    assert not job._prepare("fitting parts", 1, 3) and bake.told() == "fitting parts, 1 of 3"
    job.stop.set()
    assert job._prepare("fitting parts", 2, 3), "it asks to stop"
    job.thread.start()
    job.thread.join()
    assert type(job.error).__name__ == "Stopped" and caches(folder) == []
