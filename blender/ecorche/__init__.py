# SPDX-License-Identifier: GPL-3.0-or-later
"""Écorché in Blender: the selected rigged mesh, with its action, gets skin that touches skin, or skin over muscles, as a
point cache on a Mesh Cache modifier. The mesh itself, its weights and its shape keys are never changed."""

import bpy

from . import operators, panel, settings

CLASSES = (*settings.CLASSES, *operators.CLASSES, *panel.CLASSES)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.ecorche = bpy.props.PointerProperty(
        type=settings.EcorcheSettings, override={"LIBRARY_OVERRIDABLE"}
    )


def unregister():
    del bpy.types.Object.ecorche
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
