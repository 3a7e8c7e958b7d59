# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept with an object."""

from pathlib import Path

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from .rig import RigError, find_armature, metres_per_unit

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
    wrinkles: EnumProperty(
        name="Wrinkles",
        items=[
            ("anatomy", "As the anatomy says", "Wrinkles if the anatomy file has them"),
            ("on", "On", "Skin that is compressed creases; needs a mesh with several edges from crease to crease"),
            ("off", "Off", "None, even if the anatomy file has them"),
        ],
        default="anatomy",
        override=OVERRIDABLE,
    )
    wavelength: FloatProperty(
        name="Wavelength",
        description="From crease to crease; 0 takes a share of the limb's radius, or what the anatomy file says",
        subtype="DISTANCE",
        default=0.0,
        min=0.0,
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
        _, modifier = find_armature(self.id_data)
        # The new skin starts from the one that is there.
        options = {"method": self.method, "start": "dqs" if modifier.use_deform_preserve_volume else "lbs"}
        path = self.anatomy_path()
        if path:
            options["anatomy"] = str(path)
        elif self.method == "muscles":
            raise RigError("No anatomy yet: place muscles (step 2), or choose an anatomy file")
        if self.smooth > 0.0:
            options["smooth"] = (self.smooth, 5)
        if self.wrinkles != "anatomy":
            options["wrinkles"] = self.wrinkles == "on"
        if self.wrinkles == "on" and self.wavelength > 0.0:
            options["wrinkles"] = self.wavelength * metres_per_unit(bpy.context.scene)
        if self.threads:
            options["threads"] = self.threads
        return options


CLASSES = (EcorcheSettings,)
