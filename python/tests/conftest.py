import os
import pathlib

import numpy as np
import pytest

import ecorche

TUBE = "sample:cylinder?rings=24&segments=16"


@pytest.fixture(scope="session")
def tube():
    return ecorche.read(TUBE)


@pytest.fixture(scope="session")
def body(tube):
    """The bent tube with the implicit skin."""
    return tube.bind("implicit", cache=False)


@pytest.fixture(scope="session")
def program():
    """The Rust program of the same build, if it is told where it is."""
    path = os.environ.get("ECORCHE")
    if not path:
        pytest.skip("ECORCHE does not name the program to compare with")
    return pathlib.Path(path).resolve()


def read_pc2(path):
    """First frame and points (frames, V, 3) of a PC2 file."""
    data = pathlib.Path(path).read_bytes()
    assert data[:12] == b"POINTCACHE2\0"
    count = int(np.frombuffer(data, "<i4", 1, 16)[0])
    first = float(np.frombuffer(data, "<f4", 1, 20)[0])
    return first, np.frombuffer(data, "<f4", offset=32).reshape(-1, count, 3)


def finger():
    """Arrays of a square tube along Z with two joints, the second of which bends by 90 degrees in five frames."""
    sides, rings = 8, 17
    around = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    height = np.linspace(0, 1, rings)
    points = np.stack(
        [
            np.tile(0.1 * np.cos(around), rings),
            np.tile(0.1 * np.sin(around), rings),
            np.repeat(height, sides),
        ],
        axis=1,
    ).astype(np.float32)
    ring, side = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    a, b = ring * sides + side, ring * sides + (side + 1) % sides
    faces = np.stack([a, b, b + sides, a + sides], axis=-1).reshape(-1, 4)
    share = np.clip((points[:, 2] - 0.4) / 0.2, 0, 1)
    weights = np.stack([1 - share, share], axis=1).astype(np.float32)
    rest = np.stack([np.eye(4), np.eye(4)])
    rest[1, 2, 3] = 0.5
    clip = np.repeat(rest[None], 5, axis=0)
    for k, angle in enumerate(np.linspace(0, np.pi / 2, 5)):
        c, s = np.cos(angle), np.sin(angle)
        clip[k, 1, :3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    return {
        "points": points,
        "faces": faces,
        "joints": ["root", "tip"],
        "parents": np.array([-1, 0]),
        "rest": rest,
        "weights": weights,
        "clips": {"bend": clip},
        "up": "Z",
        "name": "finger",
    }
