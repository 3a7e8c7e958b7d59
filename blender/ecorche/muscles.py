# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles of the anatomy file as curves in the scene: drawn where the skin was bound, carried by the bones, moved with Blender's
own tools, written back to the file.

A muscle is one curve object. Its first spline is the axis: origin, points on the way, insertion. A muscle that starts or ends
along a line has a spline for that line, too; the axis then ends in the middle of it, and only the line counts.
"""

import hashlib
import math

import bpy
import numpy as np

from . import rig
from .rig import RigError

NAME, SIDE, MIRRORED, TEXT = "ecorche_name", "ecorche_side", "ecorche_mirrored", "ecorche_text"
# Half the width of a line at the end of a muscle, in the muscle's mean radius.
LINE = 0.2
# Metres below which a point counts as not moved: above the rounding of coordinates, below what a hand can do.
STILL = 2e-5


def owner(thing):
    """The mesh whose muscle an object is; None for any other object."""
    if thing is None or NAME not in thing:
        return None
    for mesh in bpy.data.objects:
        drawn = mesh.ecorche.drawn
        if drawn and thing.name in drawn.objects:
            return mesh
    return None


def read(context, thing, engine):
    """The anatomy of the object's file, and the map from its armature to the world in which its points are."""
    path = thing.ecorche.anatomy_path()
    if path is None:
        raise RigError("No anatomy yet: place muscles (step 2), or choose an anatomy file")
    character = rig.read(context, thing).character(engine, 24.0)
    _, modifier = rig.find_armature(thing)
    armature = modifier.object.evaluated_get(context.evaluated_depsgraph_get())
    return character.anatomy(path), path, rig.matrix(armature.matrix_world)


def draw(context, thing, engine):
    """Draws the muscles as the file has them; the number of curves."""
    anatomy, _, world_from_armature = read(context, thing, engine)
    muscles = anatomy.muscles()
    if not muscles:
        raise RigError(f"{thing.ecorche.anatomy}: has no muscles; place some (step 2)")
    erase(thing)
    collection = bpy.data.collections.new(f"Muscles of {thing.name}")
    context.scene.collection.children.link(collection)
    thing.ecorche.drawn = collection
    collection[TEXT] = fingerprint(anatomy.text)
    _, modifier = rig.find_armature(thing)
    taper, material = belly(collection), flesh()
    for muscle in muscles:
        drawn = new_curve(muscle, taper, material)
        collection.objects.link(drawn)
        drawn.parent = modifier.object
        fill(drawn, muscle, world_from_armature)
        hook(drawn, muscle, modifier.object)
    return len(muscles)


def save(context, thing, engine):
    """Writes the points that were moved to the file, and moves mirror images after them; names of the muscles moved."""
    collection = thing.ecorche.drawn
    if collection is None:
        raise RigError("No muscles are drawn: draw them first")
    anatomy, path, world_from_armature = read(context, thing, engine)
    if collection.get(TEXT) != fingerprint(anatomy.text):
        raise RigError(f"{path}: changed since its muscles were drawn; draw them again")
    metres = context.scene.unit_settings.scale_length if context.scene.unit_settings.system != "NONE" else 1.0
    drawn = {(thing[NAME], thing[SIDE]): thing for thing in collection.objects if NAME in thing}
    moved = []
    for muscle in anatomy.muscles():
        curve = drawn.get((muscle.name, muscle.side))
        if muscle.mirrored or curve is None:
            continue
        changes = differences(curve, muscle, world_from_armature, STILL / metres)
        if changes:
            anatomy.move_muscle(muscle.name, muscle.side, **changes)
            moved.append(f"{muscle.name}, {muscle.side}")
    if moved:
        anatomy.write(path)
        collection[TEXT] = fingerprint(anatomy.text)
        for muscle in anatomy.muscles():
            curve = drawn.get((muscle.name, muscle.side))
            if curve is not None and muscle.mirrored:
                fill(curve, muscle, world_from_armature)
    return moved


def erase(thing):
    """Takes the drawn muscles out of the scene; the file stays."""
    collection = thing.ecorche.drawn
    if collection is None:
        return
    for drawn in list(collection.objects):
        data = drawn.data
        bpy.data.objects.remove(drawn)
        bpy.data.curves.remove(data)
    bpy.data.collections.remove(collection)


def fingerprint(text):
    return hashlib.sha256(text.encode()).hexdigest()


def splines(muscle):
    """Points of each spline, with bones: the axis, then the lines that the muscle starts and ends along."""
    def middle(points):
        place = np.mean([place for _, place in points], axis=0)
        return points[len(points) // 2][0], place

    axis = [middle(muscle.origin), *muscle.via, middle(muscle.insertion)]
    return [axis, *(line for line in (muscle.origin, muscle.insertion) if len(line) > 1)]


def new_curve(muscle, taper, material):
    curve = bpy.data.curves.new(f"{muscle.name}, {muscle.side}", "CURVE")
    curve.dimensions = "3D"
    curve.bevel_resolution, curve.use_fill_caps = 3, True
    curve.taper_object = taper
    curve.materials.append(material)
    for number, points in enumerate(splines(muscle)):
        # Order 2: straight from point to point, but cut into pieces so that the taper shows.
        spline = curve.splines.new("NURBS")
        spline.points.add(len(points) - 1)
        spline.order_u, spline.use_endpoint_u, spline.resolution_u = 2, True, 12
        for point in spline.points:
            point.radius = 1.0 if number == 0 else LINE
    drawn = bpy.data.objects.new(curve.name, curve)
    drawn[NAME], drawn[SIDE], drawn[MIRRORED] = muscle.name, muscle.side, muscle.mirrored
    drawn.show_in_front, drawn.hide_render = True, True
    # Bones carry the points, so that moving the object would show nothing: points are moved, in Edit Mode.
    drawn.lock_location = drawn.lock_rotation = drawn.lock_scale = (True, True, True)
    drawn.hide_select = muscle.mirrored
    return drawn


def fill(drawn, muscle, world_from_armature):
    """Puts a curve's points where the muscle's are."""
    armature_from_world = np.linalg.inv(world_from_armature)
    for spline, points in zip(drawn.data.splines, splines(muscle)):
        for point, (_, place) in zip(spline.points, points):
            local = armature_from_world[:3, :3] @ place + armature_from_world[:3, 3]
            point.co = (*local, 1.0)
    drawn.data.bevel_depth = muscle.width / scale(world_from_armature)


def scale(world_from_armature):
    return abs(np.linalg.det(world_from_armature[:3, :3])) ** (1 / 3)


def hook(drawn, muscle, armature):
    """Lets bones carry the points: Blender's own Hook modifiers, so that nothing of ours runs when frames change."""
    bones = [bone for points in splines(muscle) for bone, _ in points]
    for bone in dict.fromkeys(bones):
        modifier = drawn.modifiers.new(bone, "HOOK")
        modifier.object, modifier.subtarget = armature, bone
        modifier.vertex_indices_set([index for index, other in enumerate(bones) if other == bone])
        modifier.matrix_inverse = armature.data.bones[bone].matrix_local.inverted()


def differences(drawn, muscle, world_from_armature, still):
    """Arguments of `Anatomy.move_muscle` for what was moved."""
    drawn.update_from_editmode()
    expected = splines(muscle)
    found = drawn.data.splines
    if [len(s.points) for s in found] != [len(points) for points in expected]:
        raise RigError(f'"{drawn.name}": points were added or removed; undo that, or draw the muscles again')
    world_from_curve = world_from_armature @ rig.matrix(drawn.matrix_basis)

    def places(spline):
        local = np.array([point.co[:3] for point in spline.points])
        return local @ world_from_curve[:3, :3].T + world_from_curve[:3, 3]

    axis, lines = places(found[0]), [places(spline) for spline in found[1:]]
    origin = lines.pop(0) if len(muscle.origin) > 1 else axis[:1]
    insertion = lines.pop(0) if len(muscle.insertion) > 1 else axis[-1:]
    changes = {}
    for key, new, old in (
        ("origin", origin, muscle.origin),
        ("via", axis[1:-1], muscle.via),
        ("insertion", insertion, muscle.insertion),
    ):
        if len(new) and np.abs(new - np.array([place for _, place in old])).max() > still:
            changes[key] = new.tolist()
    width = drawn.data.bevel_depth * scale(world_from_armature)
    if abs(width - muscle.width) > still:
        changes["width"] = width
    return changes


def belly(collection):
    """The outline that all muscles share: thin at the ends."""
    curve = bpy.data.curves.new("Écorché belly", "CURVE")
    spline = curve.splines.new("POLY")
    spline.points.add(16)
    for index, point in enumerate(spline.points):
        at = index / 16
        point.co = (at, 0.15 + 1.35 * math.sin(math.pi * at), 0.0, 1.0)
    outline = bpy.data.objects.new(curve.name, curve)
    collection.objects.link(outline)
    outline.hide_viewport = outline.hide_render = True
    return outline


def flesh():
    name = "Écorché muscle"
    material = bpy.data.materials.get(name)
    if material is None:
        material = bpy.data.materials.new(name)
        material.diffuse_color = (0.55, 0.08, 0.06, 1.0)
    return material
