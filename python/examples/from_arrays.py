"""A character made of NumPy arrays: how another program hands over its mesh, rig and animation.

A tube of two bones is bent by 90 degrees; the implicit skin keeps more of its volume in the bend than linear blending does.
"""

import numpy as np

import ecorche


def tube(sides: int = 24, rings: int = 41) -> ecorche.Character:
    around = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    x, y = np.tile(0.15 * np.cos(around), rings), np.tile(0.15 * np.sin(around), rings)
    points = np.stack([x, y, np.repeat(np.linspace(0, 1, rings), sides)], axis=1).astype(np.float32)
    ring, side = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    a, b = ring * sides + side, ring * sides + (side + 1) % sides
    faces = np.stack([a, b, b + sides, a + sides], axis=-1).reshape(-1, 4)
    second = np.clip((points[:, 2] - 0.35) / 0.3, 0, 1)
    # World from joint when the skin was bound, and in every frame.
    rest = np.stack([np.eye(4), np.eye(4)])
    rest[1, 2, 3] = 0.5
    frames = np.repeat(rest[None], 13, axis=0)
    for frame, angle in zip(frames, np.linspace(0, np.pi / 2, 13)):
        c, s = np.cos(angle), np.sin(angle)
        frame[1, :3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    return ecorche.Character.from_arrays(
        points,
        faces,
        ["lower", "upper"],
        np.array([-1, 0]),
        rest,
        np.stack([1 - second, second], axis=1).astype(np.float32),
        clips={"bend": frames},
        up="Z",
    )


def volume_loss(character: ecorche.Character, method: str) -> float:
    figures = character.bind(method).measure("bend")  # type: ignore[arg-type]
    return float(next(s["worst"] for s in figures["summary"] if s["figure"] == "volume_loss"))


if __name__ == "__main__":
    character = tube()
    for method in ("lbs", "implicit"):
        print(f"{method:10} loses {100 * volume_loss(character, method):.1f} % of its volume")
