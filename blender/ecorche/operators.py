# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the panel as operators. `execute` waits for the result, as scripts expect; from the panel the bake runs beside
Blender, and Esc stops it."""

import time
from pathlib import Path

import bpy
from bpy.props import BoolProperty

from . import cache, rig
from .rig import RigError
from .work import Job

# Blender stays responsive while poses are sampled: about a frame of a monitor between looks at the keyboard.
SLICE = 0.03


def engine():
    try:
        import ecorche
    except ImportError as error:
        raise RigError(
            f"The engine is missing ({error}): install the add-on again from its .zip, not by copying files"
        ) from error
    return ecorche


def problem(context):
    """What keeps the active object from being baked; None if nothing does."""
    try:
        rig.find_armature(context.active_object)
    except RigError as error:
        return str(error)
    return None


class Step:
    """An operator on the active rigged mesh."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        missing = problem(context)
        if missing:
            cls.poll_message_set(missing)
        return missing is None

    def execute(self, context):
        try:
            return self.run(context, context.active_object)
        except (RigError, ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}


class ECORCHE_OT_check(Step, bpy.types.Operator):
    """Tell whether the rig can be baked, and what is missing"""

    bl_idname = "ecorche.check"
    bl_label = "Check Rig"

    def run(self, context, thing):
        lines = rig.check(context, thing)
        self.report({"INFO"}, "; ".join(lines))
        return {"FINISHED"}


class ECORCHE_OT_place_muscles(Step, bpy.types.Operator):
    """Place a hundred muscles and some fat in this body and keep them in an anatomy file beside the .blend file"""

    bl_idname = "ecorche.place_muscles"
    bl_label = "Place Muscles"

    overwrite: BoolProperty(name="Overwrite", description="Replace an anatomy file that exists", default=False)

    def run(self, context, thing):
        if not bpy.data.filepath:
            raise RigError("Save the .blend file first: the anatomy is kept beside it")
        character = rig.read(context, thing).character(engine(), 24.0)
        path = f"//{bpy.path.clean_name(thing.name)}.anatomy.toml"
        target = Path(bpy.path.abspath(path))
        if target.exists() and not self.overwrite:
            raise RigError(f"{target}: exists; it is used as it is, or choose Overwrite")
        placed = character.init()
        if placed.muscles == 0:
            reason = f": {placed.skipped[0]}" if placed.skipped else ""
            raise RigError(f'No muscle could be placed in "{thing.name}"{reason}; are its bones named as a humanoid\'s?')
        target.write_text(placed.text, encoding="utf-8")
        thing.ecorche.anatomy = path
        thing.ecorche.method = "muscles"
        self.report({"INFO"}, f"{placed.muscles} muscles, {placed.fat} fat pads; {len(placed.skipped)} not placed")
        return {"FINISHED"}


class ECORCHE_OT_preview(Step, bpy.types.Operator):
    """Show the pose of this frame with its new skin; muscles at rest in it, without swing"""

    bl_idname = "ecorche.preview"
    bl_label = "Preview This Pose"

    def run(self, context, thing):
        path = cache.relative_path(thing, cache.PREVIEW)
        options = thing.ecorche.options()
        sampled = rig.read(context, thing)
        rig.add_pose(context, thing, sampled)
        job = Job(engine(), sampled, options, bpy.path.abspath(path), 24.0)
        job.run()
        cache.show(thing, cache.PREVIEW, path, context.scene.frame_current)
        return {"FINISHED"}


class Bake:
    """A bake of the scene's frame range: poses are sampled one by one, then a job makes the frames."""

    def __init__(self, context, thing):
        scene = context.scene
        self.thing = thing
        self.path = cache.relative_path(thing, cache.BAKED)
        self.options = thing.ecorche.options()
        self.engine = engine()
        self.frame_before = scene.frame_current
        self.first, self.last = scene.frame_start, scene.frame_end
        self.fps = scene.render.fps / scene.render.fps_base
        rig.check(context, thing)
        scene.frame_set(self.first)
        self.rig = rig.read(context, thing)
        self.job = None

    def count(self):
        return self.last - self.first + 1

    def sample(self, context):
        """Samples the next pose. After the last one the scene is where it was, and the job is ready."""
        context.scene.frame_set(self.first + len(self.rig.poses))
        rig.add_pose(context, self.thing, self.rig)
        if len(self.rig.poses) == self.count():
            self.restore(context)
            self.job = Job(self.engine, self.rig, self.options, bpy.path.abspath(self.path), self.fps)

    def restore(self, context):
        context.scene.frame_set(self.frame_before)

    def tick(self, context):
        """Goes on for a moment, for a caller that must not wait; whether the cache is complete."""
        end = time.monotonic() + SLICE
        while self.job is None and time.monotonic() < end:
            self.sample(context)
            if self.job:
                self.job.thread.start()
        if self.job is None or self.job.thread.is_alive():
            return False
        if self.job.error:
            raise self.job.error
        return True

    def done(self):
        """Poses and frames so far, of twice the count."""
        return len(self.rig.poses) + (self.job.done if self.job else 0)

    def abandon(self, context):
        """Stops at the next frame and leaves nothing."""
        if self.job:
            self.job.stop.set()
            self.job.thread.join()
        else:
            self.restore(context)

    def show(self):
        cache.show(self.thing, cache.BAKED, self.path, self.first)


class ECORCHE_OT_bake(Step, bpy.types.Operator):
    """Bake the scene's frame range to a cache and show it after the armature. Esc stops"""

    bl_idname = "ecorche.bake"
    bl_label = "Bake"

    def run(self, context, thing):
        bake = Bake(context, thing)
        try:
            while bake.job is None:
                bake.sample(context)
        finally:
            bake.restore(context)
        bake.job.run()
        return self.finish(bake)

    def finish(self, bake):
        bake.show()
        for note in bake.job.notes:
            self.report({"WARNING"}, note)
        self.report({"INFO"}, f"{bake.job.done} frames in {bake.path}")
        return {"FINISHED"}

    # The same beside Blender.

    def invoke(self, context, event):
        try:
            self.bake = Bake(context, context.active_object)
        except (RigError, ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        manager = context.window_manager
        self.timer = manager.event_timer_add(0.05, window=context.window)
        manager.progress_begin(0, 2 * self.bake.count())
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
        what = "skin" if bake.job else "poses"
        self.tell(context, f"Écorché: {what}, {bake.done()} of {2 * bake.count()}; Esc stops")
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
    def poll(cls, context):
        thing = context.active_object
        if thing is None or not cache.shown(thing):
            cls.poll_message_set("Nothing is baked on the active object")
            return False
        return True

    def run(self, context, thing):
        paths = cache.hide(thing, cache.PREVIEW) + cache.hide(thing, cache.BAKED)
        for path in paths if self.delete_files else []:
            Path(bpy.path.abspath(path)).unlink(missing_ok=True)
        self.report({"INFO"}, "Removed" if self.delete_files else f"Removed; still on disk: {', '.join(paths)}")
        return {"FINISHED"}


CLASSES = (
    ECORCHE_OT_check,
    ECORCHE_OT_place_muscles,
    ECORCHE_OT_preview,
    ECORCHE_OT_bake,
    ECORCHE_OT_remove,
)
