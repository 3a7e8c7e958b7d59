"""Skin deformation for animated characters.

    import ecorche

    hero = ecorche.read("hero.fbx")
    body = hero.bind("implicit")
    for frame in body.play("run", fps=24):
        points = frame.positions()          # (V, 3) float32, in the file's units and axes
    body.bake("run", "run.pc2")
"""

from ._engine import (
    Anatomy,
    Baked,
    Body,
    Character,
    Clip,
    Frame,
    Frames,
    Muscle,
    Placed,
    Stopped,
    __version__,
    read,
)

__all__ = [
    "Anatomy",
    "Baked",
    "Body",
    "Character",
    "Clip",
    "Frame",
    "Frames",
    "Muscle",
    "Placed",
    "Stopped",
    "__version__",
    "read",
]
