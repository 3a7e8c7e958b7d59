# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel: numbered steps, each with what it still needs."""

import textwrap

import bpy

from . import cache, operators
from .rig import RigError


def say(layout, text, icon):
    """A message over as many lines as it needs."""
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(text, 44)):
        column.label(text=line, icon=icon if number == 0 else "BLANK1")


class ECORCHE_PT_steps(bpy.types.Panel):
    bl_idname = "ECORCHE_PT_steps"
    bl_label = "Écorché"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Écorché"

    def draw(self, context):
        layout = self.layout
        missing = operators.problem(context)
        layout.operator("ecorche.check", text="1. Check Rig", icon="ARMATURE_DATA")
        if missing:
            say(layout, missing, "ERROR")
            return
        thing = context.active_object
        settings = thing.ecorche
        saved = bool(bpy.data.filepath)
        if not saved:
            say(layout, "Save the .blend file first: caches are kept beside it", "ERROR")

        column = layout.column()
        column.enabled = saved
        column.operator("ecorche.place_muscles", text="2. Place Muscles", icon="OUTLINER_OB_CURVES")
        column.prop(settings, "anatomy")

        column = layout.column()
        column.enabled = saved
        column.prop(settings, "method")
        column.prop(settings, "smooth", slider=True)
        try:
            settings.options()
        except RigError as error:
            say(layout, str(error), "ERROR")
            column.enabled = False
        column.operator("ecorche.preview", text="3. Preview This Pose", icon="HIDE_OFF")
        scene = context.scene
        frames = f"{scene.frame_start}-{scene.frame_end}"
        column.operator("ecorche.bake", text=f"4. Bake Frames {frames}", icon="RENDER_ANIMATION")
        column.prop(settings, "threads")

        layout.operator("ecorche.remove", text="5. Remove", icon="X")
        for modifier in cache.shown(thing):
            say(layout, f"{modifier.name}: {modifier.filepath}", "MOD_MESHDEFORM")


CLASSES = (ECORCHE_PT_steps,)
