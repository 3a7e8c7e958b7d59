# SPDX-License-Identifier: GPL-3.0-or-later
"""A rigged mesh of Blender as arrays. Everything here runs in the main thread and changes nothing."""

from dataclasses import dataclass, field

import bpy
import numpy as np

# Modifiers that keep the number of vertices; others before the armature are evaluated to find out.
KEEP_COUNT = {
    "ARMATURE", "CAST", "CLOTH", "CORRECTIVE_SMOOTH", "CURVE", "DATA_TRANSFER", "DISPLACE", "HOOK", "LAPLACIANDEFORM",
    "LAPLACIANSMOOTH", "LATTICE", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE", "NORMAL_EDIT", "SHRINKWRAP",
    "SIMPLE_DEFORM", "SMOOTH", "SOFT_BODY", "SURFACE_DEFORM", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT",
    "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WARP", "WAVE", "WEIGHTED_NORMAL",
}  # fmt: skip


class RigError(Exception):
    """What keeps an object from being baked, with the remedy."""


def find_armature(thing):
    """Index and armature modifier of a mesh object that shows in the viewport; an error that says what is missing."""
    if thing is None or thing.type != "MESH":
        raise RigError("Select a mesh that is bound to an armature")
    if thing.library:
        raise RigError(
            f'"{thing.name}" is linked from {thing.library.filepath}: '
            "make it yours (Object > Library Override > Make), then select its mesh"
        )
    if not thing.data.polygons:
        raise RigError(f'"{thing.name}" has no faces')
    found = [
        (index, modifier)
        for index, modifier in enumerate(thing.modifiers)
        if modifier.type == "ARMATURE" and modifier.object and modifier.show_viewport
    ]
    if not found:
        raise RigError(f'"{thing.name}" has no Armature modifier with an armature: parent it to one (Ctrl+P)')
    if len(found) > 1:
        raise RigError(f'"{thing.name}" has {len(found)} Armature modifiers; keep one, or apply the others')
    index, modifier = found[0]
    if not modifier.use_vertex_groups:
        raise RigError(f'Modifier "{modifier.name}" does not use vertex groups: switch on Bind To: Vertex Groups')
    return index, modifier


def check(context, thing):
    """Facts about a rig that can be baked, as lines; an error that says what is missing."""
    index, modifier = find_armature(thing)
    bones = deforming_bones(modifier.object)
    groups = {group.name for group in thing.vertex_groups}
    held = [bone for bone in bones if bone.use_deform and bone.name in groups]
    if not held:
        raise RigError(
            f'No vertex group of "{thing.name}" has the name of a deforming bone of "{modifier.object.name}": '
            "parent with automatic weights, or paint some"
        )
    keys = thing.data.shape_keys
    if keys and not keys.use_relative:
        raise RigError(f'The shape keys of "{thing.name}" are absolute; make them relative')
    check_vertex_count(context, thing, index)
    lines = [f"{len(thing.data.vertices)} vertices, {len(held)} deforming bones"]
    if keys:
        lines.append(f"{len(keys.key_blocks) - 1} shape keys")
    loose = len(thing.data.vertices) - len(np.unique(influences(thing, bones)[0]))
    if loose:
        lines.append(f"{loose} vertices have no weight: bones do not move them")
    scale = matrix(modifier.object.matrix_world.to_scale())
    if np.abs(scale).max() > 1.001 * np.abs(scale).min():
        sizes = ", ".join(f"{side:.3g}" for side in scale)
        lines.append(
            f'"{modifier.object.name}" is scaled unevenly ({sizes}), which shears bones that turn; '
            "apply its scale (Ctrl+A > Scale)"
        )
    return lines + [f"Not seen by the bake: {what}" for what in unseen(thing)]


def unseen(thing):
    """What moves the mesh in Blender and is left out of a bake."""
    armature_index, modifier = find_armature(thing)
    bones = [bone for bone in modifier.object.data.bones if bone.use_deform and bone.name in thing.vertex_groups]
    before = [m.name for m in thing.modifiers[:armature_index] if m.show_viewport]
    if before:
        yield f"{', '.join(before)}, before the armature"
    curved = [bone.name for bone in bones if bone.bbone_segments > 1]
    if curved:
        more = ", ..." if len(curved) > 3 else ""
        yield f"the segments of {len(curved)} bones ({', '.join(curved[:3])}{more}), which bend as a whole"
    if modifier.use_bone_envelopes:
        yield f'the bone envelopes of "{modifier.name}"'
    if modifier.vertex_group:
        yield f'the vertex group of "{modifier.name}", which limits the armature'


def check_posed(thing):
    """Refuses an armature that shows its rest pose, in which nothing moves."""
    armature = find_armature(thing)[1].object
    if armature.data.pose_position == "REST":
        raise RigError(f'"{armature.name}" is in Rest Position: switch it to Pose Position (Armature properties > Pose)')


def check_vertex_count(context, thing, armature_index):
    """Refuses modifiers before the armature that change the number of vertices."""
    before = [m for m in thing.modifiers[:armature_index] if m.show_viewport and m.type not in KEEP_COUNT]
    if not before:
        return
    copy = thing.copy()
    context.scene.collection.objects.link(copy)
    try:
        while len(copy.modifiers) > armature_index:
            copy.modifiers.remove(copy.modifiers[-1])
        evaluated = copy.evaluated_get(context.evaluated_depsgraph_get())
        count = len(evaluated.data.vertices)
    finally:
        bpy.data.objects.remove(copy)
    own = len(thing.data.vertices)
    if count != own:
        names = ", ".join(f'"{m.name}"' for m in before)
        raise RigError(
            f"Modifier {names} before the armature changes the vertex count from {own} to {count}: "
            "move it below the armature, or apply it"
        )


def deforming_bones(armature):
    """Bones that deform and their ancestors, parents first: control bones beside them are left out."""
    wanted = set()
    for bone in armature.data.bones:
        if bone.use_deform:
            wanted.add(bone.name)
            wanted.update(parent.name for parent in bone.parent_recursive)
    bones = [bone for bone in armature.data.bones if bone.name in wanted]
    return sorted(bones, key=lambda bone: len(bone.parent_recursive))


@dataclass
class Rig:
    """A mesh and its armature in world space, as `ecorche.Character.from_arrays` takes them."""

    name: str
    points: np.ndarray
    faces: tuple
    joints: list
    bones: int
    parents: np.ndarray
    rest: np.ndarray
    weights: tuple
    morphs: dict
    metres_per_unit: float
    world_from_object: np.ndarray
    rest_in_armature: np.ndarray
    poses: list = field(default_factory=list)
    morph_weights: list = field(default_factory=list)

    def character(self, engine, fps):
        """The character with its clip, called "shot"."""
        names = list(self.morphs)
        weights = np.array(self.morph_weights, np.float32).reshape(len(self.poses), len(names))
        return engine.Character.from_arrays(
            self.points,
            self.faces,
            self.joints,
            self.parents,
            self.rest,
            self.weights,
            clips={"shot": np.stack(self.poses)} if self.poses else None,
            fps=fps,
            morphs=self.morphs,
            morph_weights={"shot": {n: weights[:, k].copy() for k, n in enumerate(names)}} if self.poses else None,
            name=self.name,
            metres_per_unit=self.metres_per_unit,
            up="Z",
        )

    def to_object(self, points):
        """World positions of a frame as the object's own, float32."""
        object_from_world = np.linalg.inv(self.world_from_object)
        moved = points.astype(np.float64) @ object_from_world[:3, :3].T + object_from_world[:3, 3]
        return moved.astype("<f4")


def matrix(of):
    return np.array(of, dtype=np.float64)


def metres_per_unit(scene):
    units = scene.unit_settings
    return units.scale_length if units.system != "NONE" else 1.0


def read(context, thing):
    """The rig at the current frame, without poses."""
    check(context, thing)
    _, modifier = find_armature(thing)
    armature, mesh = modifier.object, thing.data
    depsgraph = context.evaluated_depsgraph_get()
    world_from_object = matrix(thing.evaluated_get(depsgraph).matrix_world)
    world_from_armature = matrix(armature.evaluated_get(depsgraph).matrix_world)
    if abs(np.linalg.det(world_from_object[:3, :3])) < 1e-12:
        raise RigError(f'"{thing.name}" is scaled to nothing: reset its scale (Alt+S)')
    if abs(np.linalg.det(world_from_armature[:3, :3])) < 1e-12:
        raise RigError(f'"{armature.name}" is scaled to nothing: reset its scale (Alt+S)')
    bones = deforming_bones(armature)
    number = {bone.name: index for index, bone in enumerate(bones)}
    rest_in_armature = np.stack([matrix(bone.matrix_local) for bone in bones])
    points, morphs = shapes(thing)
    sizes = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    weights = influences(thing, bones)
    joints = [bone.name for bone in bones]
    parents = [number[bone.parent.name] if bone.parent else -1 for bone in bones]
    loose = np.setdiff1d(np.arange(len(mesh.vertices), dtype=np.int32), weights[0])
    if len(loose):
        # As Blender has it: what no bone holds stays where the object is.
        still = np.full(len(loose), len(joints), np.int32)
        weights = tuple(map(np.append, weights, (loose, still, np.ones(len(loose), np.float32))))
        joints.append(f"{thing.name} itself")
        parents.append(-1)
        rest_in_armature = np.append(rest_in_armature, np.eye(4)[None], axis=0)
    if np.linalg.det(world_from_object[:3, :3]) < 0.0:
        # A mirror image turns every face over.
        corners = turned_over(sizes, corners)
    return Rig(
        name=thing.name,
        points=(points @ world_from_object[:3, :3].T + world_from_object[:3, 3]).astype(np.float32),
        faces=(sizes, corners),
        joints=joints,
        bones=len(bones),
        parents=np.array(parents),
        rest=world_from_armature @ rest_in_armature,
        weights=weights,
        morphs={name: (offsets @ world_from_object[:3, :3].T).astype(np.float32) for name, offsets in morphs.items()},
        metres_per_unit=metres_per_unit(context.scene),
        world_from_object=world_from_object,
        rest_in_armature=rest_in_armature,
    )


def turned_over(sizes, corners):
    """Corners of the same polygons, each in the opposite order."""
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return corners[2 * starts + np.repeat(sizes, sizes) - 1 - np.arange(len(corners))]


def shapes(thing):
    """Points of the basis, and the offsets of each shape key that is not muted, in the object's space."""
    mesh = thing.data
    count = len(mesh.vertices)

    def coordinates(collection):
        flat = np.empty(3 * count, np.float32)
        collection.foreach_get("co", flat)
        return flat.reshape(-1, 3).astype(np.float64)

    keys = mesh.shape_keys
    if not keys:
        return coordinates(mesh.vertices), {}
    groups = {group.name: group.index for group in thing.vertex_groups}
    morphs = {}
    for key in keys.key_blocks:
        if key == keys.reference_key or key.mute:
            continue
        offsets = coordinates(key.data) - coordinates(key.relative_key.data)
        if key.vertex_group in groups:
            index = groups[key.vertex_group]
            mask = [next((g.weight for g in v.groups if g.group == index), 0.0) for v in mesh.vertices]
            offsets *= np.array(mask)[:, None]
        morphs[key.name] = offsets
    return coordinates(keys.reference_key.data), morphs


def influences(thing, bones):
    """Vertex, joint and weight of every influence of a deforming bone."""
    joint_of_group = {}
    groups = {group.name: group.index for group in thing.vertex_groups}
    for joint, bone in enumerate(bones):
        if bone.use_deform and bone.name in groups:
            joint_of_group[groups[bone.name]] = joint
    found = [
        (vertex.index, joint_of_group[entry.group], entry.weight)
        for vertex in thing.data.vertices
        for entry in vertex.groups
        if entry.group in joint_of_group and entry.weight > 0.0
    ]
    vertices, joints, weights = zip(*found) if found else ((), (), ())
    return np.array(vertices, np.int32), np.array(joints, np.int32), np.array(weights, np.float32)


def add_pose(context, thing, rig):
    """Appends the pose that the scene shows now."""
    _, modifier = find_armature(thing)
    depsgraph = context.evaluated_depsgraph_get()
    armature = modifier.object.evaluated_get(depsgraph)
    world_from_object = matrix(thing.evaluated_get(depsgraph).matrix_world)
    world_from_armature = matrix(armature.matrix_world)
    posed = rig.rest_in_armature.copy()
    for joint, name in enumerate(rig.joints[: rig.bones]):
        posed[joint] = matrix(armature.pose.bones[name].matrix)
    # What the armature does to a point of the object, carried to where the object was when the rig was read.
    moved = posed @ np.linalg.inv(rig.rest_in_armature)
    in_object = np.linalg.inv(world_from_object) @ world_from_armature @ moved
    in_object = in_object @ np.linalg.inv(world_from_armature) @ world_from_object
    skinning = rig.world_from_object @ in_object @ np.linalg.inv(rig.world_from_object)
    rig.poses.append(skinning @ rig.rest)
    keys = thing.data.shape_keys
    rig.morph_weights.append([keys.key_blocks[name].value for name in rig.morphs] if keys else [])
