"""Reading PC2 point caches: the plainest record of what a bake gave, used to check the others."""

import pathlib
import struct

import numpy


def read_pc2(path):
    """First frame, frames per sample and points (samples x vertices x 3) of a PC2 file."""
    data = pathlib.Path(path).read_bytes()
    magic, version, vertices, start, rate, samples = struct.unpack_from("<12siiffi", data)
    if magic != b"POINTCACHE2\0" or version != 1:
        raise SystemExit(f"{path}: not a PC2 file of version 1")
    points = numpy.frombuffer(data, dtype="<f4", offset=32)
    if points.size != samples * vertices * 3:
        raise SystemExit(f"{path}: {points.size} numbers for {samples} samples of {vertices} vertices")
    return start, rate, points.reshape(samples, vertices, 3)


def mesh_caches(path):
    """Mesh label -> PC2 file. A single mesh has `name.pc2`, several have `name.LABEL.pc2`."""
    path = pathlib.Path(path)
    if path.exists():
        return {None: path}
    found = sorted(path.parent.glob(f"{path.stem}.*{path.suffix}"))
    if not found:
        raise SystemExit(f"{path}: no such point cache; bake one with `ecorche bake FILE -o {path}`")
    return {file.name[len(path.stem) + 1 : -len(path.suffix)]: file for file in found}


def file_label(name):
    """The label a mesh's name becomes in file names."""
    return "".join(c if c.isalnum() or c in "-_ " else "_" for c in name)
