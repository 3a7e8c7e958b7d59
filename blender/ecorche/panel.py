# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel: numbered steps, each with what it still needs."""

import textwrap

import bpy

from . import cache, operators, rig
from .rig import RigError


def say(layout, text, icon):
    """A message over as many lines as it needs."""
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(text, 44)):
        column.label(text=line, icon=icon if number == 0 else "BLANK1")


class ECORCHE_MT_presets(bpy.types.Menu):
    bl_label = "Presets"
    preset_subdir = "ecorche"
    preset_operator = "script.execute_preset"
    draw = bpy.types.Menu.draw_preset


class ECORCHE_PT_steps(bpy.types.Panel):
    bl_idname = "ECORCHE_PT_steps"
    bl_label = "Écorché"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Écorché"

    def draw(self, context):
        layout = self.layout
        things = operators.chosen(context)
        missing = operators.problem(things)
        count = f" ({len(things)} objects)" if len(things) > 1 else ""
        layout.operator("ecorche.check", text=f"1. Check Rig{count}", icon="ARMATURE_DATA")
        if missing:
            say(layout, missing, "ERROR")
            return
        saved = bool(bpy.data.filepath)
        if not saved:
            say(layout, "Save the .blend file first: caches are kept beside it", "ERROR")
        draw_muscles(layout, operators.active(context), saved)
        draw_bake(layout, context, things, saved)
        layout.operator("ecorche.remove", text="5. Remove", icon="X")
        for thing in things:
            for modifier in cache.shown(thing):
                say(layout, f"{modifier.name}: {modifier.filepath}", "MOD_MESHDEFORM")


def draw_muscles(layout, thing, saved):
    """Step 2, of the active object."""
    if operators.problem([thing]):
        return
    settings = thing.ecorche
    column = layout.column()
    column.enabled = saved
    column.operator_menu_enum("ecorche.place_muscles", "preset", text="2. Place Muscles", icon="OUTLINER_OB_CURVES")
    column.prop(settings, "anatomy")
    if not settings.anatomy:
        return
    if settings.drawn is None:
        column.operator("ecorche.draw_muscles", icon="HIDE_OFF")
        return
    say(column, "Select a muscle, Tab, move its points: best in the rest position", "INFO")
    column.prop(rig.find_armature(thing)[1].object.data, "pose_position", expand=True)
    row = column.row(align=True)
    row.operator("ecorche.save_muscles", icon="FILE_TICK")
    row.operator("ecorche.draw_muscles", text="Draw Again", icon="FILE_REFRESH")
    row.operator("ecorche.erase_muscles", text="", icon="X")


def draw_bake(layout, context, things, saved):
    """Steps 3 and 4; settings are the active object's."""
    active = operators.active(context)
    settings = (active if active in things else things[0]).ecorche
    row = layout.row(align=True)
    row.menu("ECORCHE_MT_presets")
    row.operator("ecorche.add_preset", text="", icon="ADD")
    row.operator("ecorche.add_preset", text="", icon="REMOVE").remove_active = True
    column = layout.column()
    column.enabled = saved
    column.prop(settings, "method")
    column.prop(settings, "smooth", slider=True)
    column.prop(settings, "wrinkles")
    if settings.wrinkles == "on":
        column.prop(settings, "wavelength")
    try:
        for thing in things:
            thing.ecorche.options()
    except RigError as error:
        say(layout, str(error), "ERROR")
        column.enabled = False
    column.operator("ecorche.preview", text="3. Preview This Pose", icon="HIDE_OFF")
    scene = context.scene
    frames = f"{scene.frame_start}-{scene.frame_end}"
    column.operator("ecorche.bake", text=f"4. Bake Frames {frames}", icon="RENDER_ANIMATION")
    column.prop(settings, "threads")


CLASSES = (ECORCHE_MT_presets, ECORCHE_PT_steps)
