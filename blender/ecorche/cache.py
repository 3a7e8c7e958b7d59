# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache on disk and the modifier that shows it."""

import os
import re
import struct
import uuid
from pathlib import Path

import bpy

from .rig import RigError, find_armature

BAKED, PREVIEW = "Écorché", "Écorché preview"
FOLDER = "//cache_ecorche/"


def relative_path(thing, kind):
    """Path of an object's cache, relative to the .blend file; an error if that has no place yet."""
    if not bpy.data.filepath:
        raise RigError("Save the .blend file first: caches are kept beside it")
    label = re.sub(r"[^A-Za-z0-9_-]+", "_", thing.name)
    ending = ".preview.pc2" if kind == PREVIEW else ".pc2"
    return f"{FOLDER}{label}-{identity(thing)}{ending}"


def identity(thing):
    """What tells an object from others under any name; a copy of an object gets its own."""
    taken = {other.ecorche.identity for other in bpy.data.objects if other != thing}
    if not thing.ecorche.identity or thing.ecorche.identity in taken:
        thing.ecorche.identity = uuid.uuid4().hex[:8]
    return thing.ecorche.identity


class Writer:
    """A PC2 file that appears under its name when all is well in the end, and not at all when it is not."""

    def __init__(self, path, points, samples):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        self.file = open(self.part, "wb")
        # Start 0 and one frame a sample: the modifier carries the offset.
        self.file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, points, 0.0, 1.0, samples))

    def __enter__(self):
        return self

    def write(self, points):
        self.file.write(points.tobytes())

    def close(self):
        """All frames are there; the file waits for its name."""
        self.file.close()

    def __exit__(self, kind, error, trace):
        try:
            self.file.close()
            if kind is None:
                self.part.replace(self.path)
        finally:
            self.part.unlink(missing_ok=True)


def show(thing, kind, path, first_frame):
    """Puts the cache on the object, right after its armature."""
    hide(thing, PREVIEW)
    if kind == BAKED:
        hide(thing, BAKED)
    modifier = thing.modifiers.new(kind, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = path
    modifier.frame_start = first_frame
    modifier.interpolation = "LINEAR"
    modifier.deform_mode = "OVERWRITE"
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    index, _ = find_armature(thing)
    # A preview lies over a bake.
    place = index + 1 + (kind == PREVIEW and any(m.name == BAKED for m in thing.modifiers))
    thing.modifiers.move(len(thing.modifiers) - 1, place)


def shown(thing):
    """Our modifiers on an object."""
    return [m for m in thing.modifiers if m.type == "MESH_CACHE" and m.name in (BAKED, PREVIEW)]


def hide(thing, kind):
    """Takes our modifier off; returns the path of its cache, if there was one."""
    paths = []
    for modifier in [m for m in shown(thing) if m.name == kind]:
        paths.append(modifier.filepath)
        thing.modifiers.remove(modifier)
    return paths
