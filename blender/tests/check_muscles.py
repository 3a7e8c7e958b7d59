"""Muscles: placed, drawn, moved in the viewport, saved to the anatomy file."""

import math

from scenes import athlete, caches, refused, start

import bpy  # noqa: I001
import numpy as np


def check_muscles(folder):
    """Muscles of an anatomy file, and what is said without one."""
    thing, _ = start(folder)
    thing.ecorche.method = "muscles"
    refused(bpy.ops.ecorche.bake, "No anatomy yet")
    refused(bpy.ops.ecorche.place_muscles, "No muscle could be placed")
    thing.ecorche.anatomy = "//gone.toml"
    refused(bpy.ops.ecorche.bake, "gone.toml: no such anatomy file")
    (folder / "bad.toml").write_text("[skin]\nno_such_key = 1\n")
    thing.ecorche.anatomy = "//bad.toml"
    refused(bpy.ops.ecorche.bake, "no_such_key")
    assert caches(folder) == [] and "Écorché" not in thing.modifiers


def check_muscles_in_a_body(folder):
    """Muscles placed in a humanoid bulge under its skin when an elbow bends."""
    bpy.ops.wm.read_homefile(use_empty=True)
    thing, armature = athlete()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "athlete.blend"))
    assert bpy.ops.ecorche.place_muscles() == {"FINISHED"}
    anatomy = folder / "Athlete.anatomy.toml"
    assert anatomy.read_text().count("[[muscle]]") > 20
    assert thing.ecorche.method == "muscles" and thing.ecorche.anatomy == "//Athlete.anatomy.toml"
    refused(bpy.ops.ecorche.place_muscles, "exists")
    elbow = armature.pose.bones["leftLowerArm"]
    elbow.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (4, math.radians(80))):
        elbow.rotation_euler.x = angle
        elbow.keyframe_insert("rotation_euler", frame=frame)
    found = {}
    for method in ("implicit", "muscles"):
        thing.ecorche.method = method
        assert bpy.ops.ecorche.bake() == {"FINISHED"}
        bpy.context.scene.frame_set(4)
        shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        found[method] = np.array([v.co[:] for v in shown.vertices])
    lift = np.linalg.norm(found["muscles"] - found["implicit"], axis=1).max()
    print(f"  muscles lift the skin by up to {1000 * lift:.1f} mm")
    assert 0.0005 < lift < 0.05


def points(drawn):
    """World positions of a drawn muscle's points as the bones carry them now: corners of its evaluated curve."""
    shown = drawn.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    found = np.array([(shown.matrix_world @ vertex.co)[:] for vertex in mesh.vertices])
    shown.to_mesh_clear()
    return found


def body(folder):
    """The athlete with muscles placed."""
    bpy.ops.wm.read_homefile(use_empty=True)
    thing, armature = athlete()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "athlete.blend"))
    assert bpy.ops.ecorche.place_muscles(preset="COMIC") == {"FINISHED"}
    return thing, armature, folder / "Athlete.anatomy.toml"


def check_muscles_in_the_viewport(folder):
    """Drawn, carried by the bones, moved, saved: only what was moved changes in the file."""
    thing, armature, anatomy = body(folder)
    before = anatomy.read_text()
    assert "definition = 1.5" in before, "the preset's"
    assert bpy.ops.ecorche.draw_muscles() == {"FINISHED"}
    drawn = {o.name: o for o in thing.ecorche.drawn.objects}
    left = next(o for o in drawn.values() if o.name.startswith("biceps") and o["ecorche_side"] == "left")
    right = next(o for o in drawn.values() if o.get("ecorche_name") == left["ecorche_name"] and o["ecorche_side"] == "right")
    assert right.hide_select and not left.hide_select, "mirror images are not to be moved"
    inside = np.array([v.co[:] for v in thing.data.vertices])
    assert (points(left).min(0) > inside.min(0)).all() and (points(left).max(0) < inside.max(0)).all()
    assert bpy.ops.ecorche.save_muscles() == {"FINISHED"}
    assert anatomy.read_text() == before, "nothing moved, nothing changes"

    # A bone carries its points.
    rest = points(left)
    arm = armature.pose.bones["leftLowerArm"]
    arm.rotation_mode, arm.rotation_euler.x = "XYZ", 1.2
    bpy.context.view_layer.update()
    assert np.abs(points(left) - rest).max() > 0.01
    arm.rotation_euler.x = 0.0

    # Moved in Edit Mode, while the muscle is the active object.
    place = np.array(left.data.splines[0].points[0].co[:3])
    bpy.context.view_layer.objects.active = left
    bpy.ops.object.mode_set(mode="EDIT")
    left.data.splines[0].points[0].co.z += 0.01
    assert bpy.ops.ecorche.save_muscles() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    old, new = before.splitlines(), anatomy.read_text().splitlines()
    changed = [(a, b) for a, b in zip(old, new) if a != b]
    assert len(old) == len(new) and len(changed) == 1 and changed[0][1].startswith("origin"), changed
    mirrored = np.array(right.data.splines[0].points[0].co[:3])
    assert abs(mirrored[2] - (place[2] + 0.01)) < 1e-3, "its mirror image follows"

    # Drawn again it is where it was put; also on an armature that is scaled and elsewhere.
    bpy.context.view_layer.objects.active = thing
    assert bpy.ops.ecorche.draw_muscles() == {"FINISHED"}
    left = next(o for o in thing.ecorche.drawn.objects if o.name.startswith("biceps") and o["ecorche_side"] == "left")
    again = np.array(left.data.splines[0].points[0].co[:3])
    assert np.abs(again - place - [0, 0, 0.01]).max() < 2e-5, again - place
    text = anatomy.read_text()
    for moved in (thing, armature):
        moved.location, moved.rotation_euler = (3.0, -1.0, 0.5), (0.0, 0.0, 0.7)
    bpy.context.view_layer.update()
    assert bpy.ops.ecorche.save_muscles() == {"FINISHED"}
    assert anatomy.read_text() == text, "moving the whole character moves no muscle"
    left.data.bevel_depth *= 1.5
    assert bpy.ops.ecorche.save_muscles() == {"FINISHED"}
    changed = [(a, b) for a, b in zip(text.splitlines(), anatomy.read_text().splitlines()) if a != b]
    assert len(changed) == 1 and changed[0][1].startswith("width"), changed

    # What cannot be saved.
    left.data.splines[0].points.add(1)
    refused(bpy.ops.ecorche.save_muscles, "points were added or removed")
    anatomy.write_text("# by hand\n" + anatomy.read_text())
    refused(bpy.ops.ecorche.save_muscles, "changed since its muscles were drawn")
    count = len(bpy.data.curves)
    assert bpy.ops.ecorche.draw_muscles() == {"FINISHED"} and len(bpy.data.curves) == count, "none is left over"
    assert bpy.ops.ecorche.erase_muscles() == {"FINISHED"} and len(bpy.data.curves) == 0
    refused(bpy.ops.ecorche.save_muscles, "draw them first")
    thing.ecorche.anatomy = ""
    refused(bpy.ops.ecorche.draw_muscles, "No anatomy yet")


def check_lines_of_a_fan(folder):
    """A muscle that starts along a line: the line's points are moved, and its file keeps a list."""
    thing, armature, anatomy = body(folder)
    bpy.ops.ecorche.draw_muscles()
    fan = next(o for o in thing.ecorche.drawn.objects if "ecorche_name" in o and len(o.data.splines) > 1 and not o.hide_select)
    before = anatomy.read_text()
    fan.data.splines[1].points[1].co.x += 0.005
    assert bpy.ops.ecorche.save_muscles() == {"FINISHED"}
    bpy.ops.ecorche.draw_muscles()
    after = anatomy.read_text()
    assert before != after and before.count("[[muscle]]") == after.count("[[muscle]]")
    assert bpy.ops.ecorche.save_muscles() == {"FINISHED"} and anatomy.read_text() == after
    refused(bpy.ops.ecorche.place_muscles, "exists")
    assert bpy.ops.ecorche.place_muscles(preset="SKIN", overwrite=True) == {"FINISHED"}
    assert "\n[[muscle]]" not in anatomy.read_text() and thing.ecorche.method == "implicit"
