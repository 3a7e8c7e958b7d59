# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the panel as operators. `execute` waits for the result, as scripts expect; from the panel the bake runs beside
Blender, and Esc stops it."""

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import BoolProperty, EnumProperty

from . import cache, muscles, rig
from .bake import Bake
from .rig import RigError
from .work import Job, Task


# How much of the muscles' motion presets show on the skin; the file's own default is 1.
DEFINITION = {"SOFT": 0.5, "COMIC": 1.5}


def engine():
    try:
        import ecorche
    except ImportError as error:
        raise RigError(
            f"The engine is missing ({error}): install the add-on again from its .zip, not by copying files"
        ) from error
    return ecorche


def active(context):
    """The active object; for a drawn muscle the mesh it belongs to."""
    thing = context.view_layer.objects.active
    return muscles.owner(thing) or thing


def chosen(context):
    """Meshes to work on: the selected ones, else the active one. Whatever else is selected is left alone."""
    found = [thing for thing in context.view_layer.objects.selected if thing.type == "MESH"]
    return found or [active(context)]


def problem(things):
    """What keeps one of the objects from being baked; None if nothing does."""
    try:
        for thing in things:
            rig.find_armature(thing)
    except RigError as error:
        return str(error)
    return None


class Step:
    """An operator on the selected rigged meshes."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        missing = cls.missing(context)
        if missing:
            cls.poll_message_set(missing)
        return missing is None

    @classmethod
    def missing(cls, context):
        return problem(chosen(context))

    def execute(self, context):
        try:
            return self.run(context, chosen(context))
        except (RigError, ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}


class MuscleStep(Step):
    """An operator on the muscles of the active mesh."""

    @classmethod
    def missing(cls, context):
        return problem([active(context)])

    def execute(self, context):
        try:
            return self.run(context, active(context))
        except (RigError, ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}


class ECORCHE_OT_check(Step, bpy.types.Operator):
    """Tell whether the rig can be baked, and what is missing"""

    bl_idname = "ecorche.check"
    bl_label = "Check Rig"

    def run(self, context, things):
        for thing in things:
            self.report({"INFO"}, f"{thing.name}: {'; '.join(rig.check(context, thing))}")
        return {"FINISHED"}


class ECORCHE_OT_place_muscles(MuscleStep, bpy.types.Operator):
    """Place muscles and fat in this body and keep them in an anatomy file beside the .blend file"""

    bl_idname = "ecorche.place_muscles"
    bl_label = "Place Muscles"

    preset: EnumProperty(
        name="Preset",
        items=[
            ("LEAN", "Lean", "A hundred muscles and some fat of a humanoid; the skin shows them as they are"),
            ("SOFT", "Soft", "The same, of which the skin shows half"),
            ("COMIC", "Comic", "The same, exaggerated by half"),
            ("SKIN", "Skin only", "No muscles: settings of the skin, to be edited"),
        ],
        default="LEAN",
    )
    overwrite: BoolProperty(name="Overwrite", description="Replace an anatomy file that exists", default=False)

    def run(self, context, thing):
        if not bpy.data.filepath:
            raise RigError("Save the .blend file first: the anatomy is kept beside it")
        character = rig.read(context, thing).character(engine(), 24.0)
        path = f"//{bpy.path.clean_name(thing.name)}.anatomy.toml"
        target = Path(bpy.path.abspath(path))
        if target.exists() and not self.overwrite:
            raise RigError(f"{target}: exists; it is used as it is, or choose Overwrite")
        placed = character.init(skin_only=self.preset == "SKIN")
        if self.preset != "SKIN" and placed.muscles == 0:
            reason = f": {placed.skipped[0]}" if placed.skipped else ""
            raise RigError(f'No muscle could be placed in "{thing.name}"{reason}; are its bones named as a humanoid\'s?')
        anatomy = character.anatomy(text=placed.text)
        if self.preset in DEFINITION:
            anatomy.set_definition(DEFINITION[self.preset])
        anatomy.write(target)
        thing.ecorche.anatomy = path
        thing.ecorche.method = "implicit" if self.preset == "SKIN" else "muscles"
        muscles.erase(thing)
        self.report({"INFO"}, f"{placed.muscles} muscles, {placed.fat} fat pads; {len(placed.skipped)} not placed")
        return {"FINISHED"}


class ECORCHE_OT_draw_muscles(MuscleStep, bpy.types.Operator):
    """Draw the muscles of the anatomy file as curves. Move their points in Edit Mode, then save"""

    bl_idname = "ecorche.draw_muscles"
    bl_label = "Draw Muscles"

    def run(self, context, thing):
        leave_edit_mode(context)
        count = muscles.draw(context, thing, engine())
        self.report({"INFO"}, f"{count} muscles; move their points in Edit Mode, then save")
        return {"FINISHED"}


class ECORCHE_OT_save_muscles(MuscleStep, bpy.types.Operator):
    """Write the points that were moved to the anatomy file; all else in it stays as it is"""

    bl_idname = "ecorche.save_muscles"
    bl_label = "Save Muscles"

    def run(self, context, thing):
        moved = muscles.save(context, thing, engine())
        self.report({"INFO"}, f"Saved: {'; '.join(moved)}" if moved else "No muscle was moved")
        return {"FINISHED"}


class ECORCHE_OT_erase_muscles(MuscleStep, bpy.types.Operator):
    """Take the drawn muscles out of the scene; the anatomy file stays"""

    bl_idname = "ecorche.erase_muscles"
    bl_label = "Hide Muscles"

    def run(self, context, thing):
        leave_edit_mode(context)
        muscles.erase(thing)
        return {"FINISHED"}


def leave_edit_mode(context):
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


class ECORCHE_OT_preview(Step, bpy.types.Operator):
    """Show the pose of this frame with its new skin; muscles at rest in it, without swing"""

    bl_idname = "ecorche.preview"
    bl_label = "Preview This Pose"

    def run(self, context, things):
        paths = [cache.relative_path(thing, cache.PREVIEW) for thing in things]
        tasks = []
        for thing, path in zip(things, paths):
            rig.check_posed(thing)
            task = Task(rig.read(context, thing), thing.ecorche.options(), bpy.path.abspath(path))
            rig.add_pose(context, thing, task.rig)
            tasks.append(task)
        Job(engine(), tasks, 24.0).run()
        for thing, path in zip(things, paths):
            cache.show(thing, cache.PREVIEW, path, context.scene.frame_current)
        return {"FINISHED"}


class ECORCHE_OT_bake(Step, bpy.types.Operator):
    """Bake the scene's frame range to a cache and show it after the armature. Esc stops"""

    bl_idname = "ecorche.bake"
    bl_label = "Bake"

    def run(self, context, things):
        bake = Bake(context, things, engine())
        bake.run(context)
        return self.finish(bake)

    def finish(self, bake):
        bake.show()
        for note in bake.unseen + bake.job.notes:
            self.report({"WARNING"}, note)
        self.report({"INFO"}, f"{bake.count()} frames in {', '.join(bake.paths)}")
        return {"FINISHED"}

    # The same beside Blender.

    def invoke(self, context, event):
        try:
            self.bake = Bake(context, chosen(context), engine())
        except (RigError, ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        manager = context.window_manager
        self.timer = manager.event_timer_add(0.05, window=context.window)
        manager.progress_begin(0, self.bake.steps())
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC":
            return self.abandon(context)
        if event.type != "TIMER":
            # While poses are sampled the scene belongs to the bake.
            return {"PASS_THROUGH"} if self.bake.job else {"RUNNING_MODAL"}
        try:
            return self.tick(context)
        except (RigError, ValueError, OSError, ReferenceError) as error:
            self.report({"ERROR"}, str(error))
            return self.abandon(context)

    def tick(self, context):
        bake = self.bake
        finished = bake.tick(context)
        self.tell(context, f"Écorché: {bake.told()}; Esc stops")
        context.window_manager.progress_update(bake.done())
        if not finished:
            return {"RUNNING_MODAL"}
        self.clear(context)
        return self.finish(bake)

    def abandon(self, context):
        self.bake.abandon(context)
        self.clear(context)
        self.report({"INFO"}, "Bake stopped; nothing was changed")
        return {"CANCELLED"}

    def cancel(self, context):
        self.abandon(context)

    def clear(self, context):
        context.window_manager.event_timer_remove(self.timer)
        context.window_manager.progress_end()
        self.tell(context, None)

    @staticmethod
    def tell(context, text):
        if context.workspace:
            context.workspace.status_text_set(text)


class ECORCHE_OT_remove(Step, bpy.types.Operator):
    """Take the cache off: the object is as before. Cache files stay unless chosen otherwise, so that undo finds them"""

    bl_idname = "ecorche.remove"
    bl_label = "Remove"

    delete_files: BoolProperty(name="Delete files", description="Delete the cache files, too", default=False)

    @classmethod
    def missing(cls, context):
        return None if baked(context) else "Nothing is baked on the selected objects"

    def run(self, context, things):
        paths = []
        for thing in baked(context):
            paths += cache.hide(thing, cache.PREVIEW) + cache.hide(thing, cache.BAKED)
        for path in paths if self.delete_files else []:
            Path(bpy.path.abspath(path)).unlink(missing_ok=True)
        self.report({"INFO"}, "Removed" if self.delete_files else f"Removed; still on disk: {', '.join(paths)}")
        return {"FINISHED"}


def baked(context):
    """Chosen objects that show a cache of ours."""
    return [thing for thing in chosen(context) if thing and cache.shown(thing)]


class ECORCHE_OT_add_preset(AddPresetBase, bpy.types.Operator):
    """Keep the settings of the active object under a name, for other objects and files"""

    bl_idname = "ecorche.add_preset"
    bl_label = "Add Écorché Preset"
    preset_menu = "ECORCHE_MT_presets"
    preset_subdir = "ecorche"
    preset_defines = ["settings = bpy.context.object.ecorche"]
    preset_values = [
        f"settings.{name}" for name in ("method", "smooth", "wrinkles", "wavelength", "threads")
    ]


CLASSES = (
    ECORCHE_OT_check,
    ECORCHE_OT_place_muscles,
    ECORCHE_OT_draw_muscles,
    ECORCHE_OT_save_muscles,
    ECORCHE_OT_erase_muscles,
    ECORCHE_OT_preview,
    ECORCHE_OT_bake,
    ECORCHE_OT_remove,
    ECORCHE_OT_add_preset,
)
