"""Scenes that the checks of the extension look at. Import this before bpy."""

import math
import os
import pathlib
import sys
import tempfile

# Extensions and settings of this run only; before bpy reads them.
HOME = tempfile.TemporaryDirectory()
os.environ["BLENDER_USER_RESOURCES"] = HOME.name

import bpy  # noqa: E402
import numpy as np  # noqa: E402

SIDES, RINGS, FRAMES = 16, 33, 12


def install(archive):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.extensions.package_install_files(
        repo="user_default", filepath=str(pathlib.Path(archive).resolve()), enable_on_install=True
    )
    assert "bl_ext.user_default.ecorche" in bpy.context.preferences.addons, "the add-on is not enabled"


def tube(name="Tube", scale=(1.0, 1.0, 1.0), at=(0.0, 0.0, 0.0)):
    """A tube on two bones, with a shape key, that bends by 100 degrees; subdivided after the armature."""
    around = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    points = [
        (0.12 * math.cos(a) / scale[0], 0.12 * math.sin(a) / scale[1], z / scale[2])
        for z in np.linspace(0, 1, RINGS)
        for a in around
    ]
    faces = [
        (r * SIDES + s, r * SIDES + (s + 1) % SIDES, (r + 1) * SIDES + (s + 1) % SIDES, (r + 1) * SIDES + s)
        for r in range(RINGS - 1)
        for s in range(SIDES)
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    thing = bpy.data.objects.new(name, mesh)
    thing.scale, thing.location = scale, at
    bpy.context.scene.collection.objects.link(thing)
    armature = bpy.data.objects.new(f"{name} rig", bpy.data.armatures.new(f"{name} rig"))
    armature.location = at
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    lower = armature.data.edit_bones.new("lower")
    lower.head, lower.tail = (0, 0, 0), (0, 0, 0.5)
    upper = armature.data.edit_bones.new("upper")
    upper.head, upper.tail, upper.parent = (0, 0, 0.5), (0, 0, 1), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    for group, sign in (("lower", -1), ("upper", 1)):
        vertex_group = thing.vertex_groups.new(name=group)
        for v, point in enumerate(points):
            weight = min(max(0.5 + sign * (point[2] * scale[2] - 0.5) / 0.3, 0.0), 1.0)
            vertex_group.add([v], weight, "REPLACE")
    thing.shape_key_add(name="Basis")
    wide = thing.shape_key_add(name="wide")
    for point in wide.data:
        point.co.x *= 1.3
    modifier = thing.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    thing.modifiers.new("Subdivision", "SUBSURF").levels = 1
    bone = armature.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    for frame, angle in ((1, 0.0), (FRAMES, math.radians(100))):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.objects.active = thing
    scene.frame_set(1)
    return thing, armature


def base(thing):
    """Everything about the object that a bake must not change."""
    flat = np.empty(3 * len(thing.data.vertices), np.float32)
    thing.data.vertices.foreach_get("co", flat)
    keys = [np.array([p.co[:] for p in key.data]).tobytes() for key in thing.data.shape_keys.key_blocks]
    weights = [[(g.group, g.weight) for g in v.groups] for v in thing.data.vertices]
    return flat.tobytes(), keys, weights, thing.scale[:], thing.location[:], [m.name for m in thing.modifiers]


def evaluated(thing, frame, subframe=0.0, plain=True):
    """Points in the object's space; `plain` without the subdivision."""
    subdivision = thing.modifiers["Subdivision"]
    subdivision.show_viewport = not plain
    bpy.context.scene.frame_set(frame, subframe=subframe)
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    flat = np.empty(3 * len(shown.vertices), np.float32)
    shown.vertices.foreach_get("co", flat)
    subdivision.show_viewport = True
    return flat.reshape(-1, 3)


def refused(operator, words):
    """The operator fails and says why."""
    try:
        result = operator()
    except RuntimeError as error:
        assert words in str(error), f"expected {words!r} in: {error}"
    else:
        raise AssertionError(f"{result}, but {words!r} was expected")


def start(folder):
    bpy.ops.wm.read_homefile(use_empty=True)
    thing, armature = tube()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    return thing, armature


def caches(folder):
    return sorted(path.name for path in folder.rglob("*") if "pc2" in path.name)


def athlete(source="sample:athlete?resolution=5000"):
    """The built-in athlete as a Blender user has it: a mesh on an armature, squatting."""
    import ecorche

    read = ecorche.read(source)
    turn = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # Y up to Z up
    sizes, corners = read.faces()
    mesh = bpy.data.meshes.new("Athlete")
    mesh.from_pydata((read.rest().positions() @ turn.T).tolist(), [], np.split(corners, np.cumsum(sizes)[:-1]))
    thing = bpy.data.objects.new("Athlete", mesh)
    armature = bpy.data.objects.new("Armature", bpy.data.armatures.new("Armature"))
    for new in (thing, armature):
        bpy.context.scene.collection.objects.link(new)
    vertices, joints, weights = read.weights()
    used = set(joints.tolist())
    heads = read.rest_joints()[:, :3, 3] @ turn.T
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bones = {}
    for joint, (name, parent) in enumerate(zip(read.joints, read.parents)):
        if joint not in used:
            continue
        bone = bones[joint] = armature.data.edit_bones.new(name)
        children = [c for c, p in enumerate(read.parents) if p == joint and c in used]
        bone.head = heads[joint]
        away = heads[children[0]] - heads[joint] if children else heads[joint] - heads[parent]
        bone.tail = heads[joint] + away * (1.0 if children else 0.5)
        bone.parent = bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    groups = {joint: thing.vertex_groups.new(name=read.joints[joint]) for joint in sorted(used)}
    for vertex, joint, weight in zip(vertices.tolist(), joints.tolist(), weights.tolist()):
        groups[joint].add([vertex], weight, "REPLACE")
    thing.modifiers.new("Armature", "ARMATURE").object = armature
    bpy.context.view_layer.objects.active = thing
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 4
    return thing, armature


def leave(status=0):
    """Ends the process: Blender as a module sometimes waits for its own threads for ever when the interpreter ends."""
    sys.stdout.flush()
    HOME.cleanup()
    os._exit(min(status, 1))
