# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept with an object."""

from pathlib import Path

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty

from .rig import RigError


class EcorcheSettings(bpy.types.PropertyGroup):
    """How an object is baked."""

    identity: StringProperty(options={"HIDDEN"})
    method: EnumProperty(
        name="Method",
        items=[
            ("implicit", "Skin", "Skin that touches skin and keeps its volume"),
            ("muscles", "Skin over muscles", "Muscles and fat of the anatomy file bulge and swing under the skin"),
        ],
        default="implicit",
    )
    anatomy: StringProperty(
        name="Anatomy",
        description="Muscles, fat and settings of the skin",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    smooth: FloatProperty(
        name="Smooth", description="Corrective smoothing afterwards; 0 is none", default=0.0, min=0.0, max=1.0
    )
    threads: IntProperty(name="Threads", description="0 uses all cores", default=0, min=0, max=1024)

    def options(self):
        """Arguments of `Character.bind`; an error that says what is missing."""
        options = {"method": self.method}
        if self.anatomy:
            path = Path(bpy.path.abspath(self.anatomy))
            if not path.is_file():
                raise RigError(f"{path}: no such anatomy file; place muscles again (step 2), or choose another")
            options["anatomy"] = str(path)
        elif self.method == "muscles":
            raise RigError("No anatomy yet: place muscles (step 2), or choose an anatomy file")
        if self.smooth > 0.0:
            options["smooth"] = (self.smooth, 5)
        if self.threads:
            options["threads"] = self.threads
        return options


CLASSES = (EcorcheSettings,)
