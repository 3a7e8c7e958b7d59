# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept with an object."""

from pathlib import Path

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from .rig import RigError

# In a library override the settings are the overriding file's own.
OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


class EcorcheSettings(bpy.types.PropertyGroup):
    """How an object is baked."""

    identity: StringProperty(options={"HIDDEN"}, override=OVERRIDABLE)
    drawn: PointerProperty(type=bpy.types.Collection, options={"HIDDEN"}, override=OVERRIDABLE)
    method: EnumProperty(
        name="Method",
        items=[
            ("implicit", "Skin", "Skin that touches skin and keeps its volume"),
            ("muscles", "Skin over muscles", "Muscles and fat of the anatomy file bulge and swing under the skin"),
        ],
        default="implicit",
        override=OVERRIDABLE,
    )
    anatomy: StringProperty(
        name="Anatomy",
        description="Muscles, fat and settings of the skin",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=OVERRIDABLE,
    )
    smooth: FloatProperty(
        name="Smooth",
        description="Corrective smoothing afterwards; 0 is none",
        default=0.0,
        min=0.0,
        max=1.0,
        override=OVERRIDABLE,
    )
    threads: IntProperty(
        name="Threads", description="0 uses all cores", default=0, min=0, max=1024, override=OVERRIDABLE
    )

    def anatomy_path(self):
        """The anatomy file; None if none is chosen. One that came with a linked character lies beside its library."""
        if not self.anatomy:
            return None
        path = Path(bpy.path.abspath(self.anatomy))
        override = self.id_data.override_library
        if not path.is_file() and override:
            beside = Path(bpy.path.abspath(self.anatomy, library=override.reference.library))
            path = beside if beside.is_file() else path
        if not path.is_file():
            raise RigError(f"{path}: no such anatomy file; place muscles again (step 2), or choose another")
        return path

    def options(self):
        """Arguments of `Character.bind`; an error that says what is missing."""
        options = {"method": self.method}
        path = self.anatomy_path()
        if path:
            options["anatomy"] = str(path)
        elif self.method == "muscles":
            raise RigError("No anatomy yet: place muscles (step 2), or choose an anatomy file")
        if self.smooth > 0.0:
            options["smooth"] = (self.smooth, 5)
        if self.threads:
            options["threads"] = self.threads
        return options


CLASSES = (EcorcheSettings,)
