from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

_Path = str | PathLike[str]
_Floats = NDArray[np.float32]
_Matrices = NDArray[np.float32] | NDArray[np.float64]
_Whole = NDArray[np.integer[Any]]
_Frames = tuple[int, int] | range
_Progress = Callable[[int, int], object]
_Point = tuple[str, list[float]]
_Places = Sequence[Sequence[float]] | _Floats
_Method = Literal["muscles", "implicit", "lbs", "dqs", "cor", "parametric"]

__version__: str
__all__ = [
    "__version__",
    "Stopped",
    "Anatomy",
    "Muscle",
    "Baked",
    "Body",
    "Character",
    "Clip",
    "Placed",
    "Frame",
    "Frames",
    "read",
    "command",
]

class Stopped(Exception): ...

def read(
    source: _Path,
    *,
    motion: _Path | None = None,
    weights: Literal["file", "heat"] | None = None,
    subdivide: int = 0,
) -> Character: ...
def command(arguments: Sequence[str], /) -> int: ...
@final
class Character:
    @staticmethod
    def from_arrays(
        points: _Floats,
        faces: _Whole | tuple[_Whole, _Whole],
        joints: Sequence[str],
        parents: _Whole,
        rest: _Matrices,
        weights: _Floats | tuple[_Whole, _Whole, _Floats] | None = None,
        *,
        clips: Mapping[str, _Matrices] | None = None,
        fps: float = 24.0,
        morphs: Mapping[str, _Floats] | None = None,
        morph_weights: Mapping[str, Mapping[str, _Floats]] | None = None,
        name: str = "character",
        metres_per_unit: float = 1.0,
        up: Literal["X", "Y", "Z"] = "Y",
        subdivide: int = 0,
    ) -> Character: ...
    def bind(
        self,
        method: _Method | None = None,
        *,
        anatomy: _Path | None = None,
        anatomy_text: str | None = None,
        tracking: Literal["robust", "2012", "2014"] | None = None,
        start: Literal["lbs", "dqs", "cor"] | None = None,
        coherent: bool = False,
        muscles: Literal["dynamic", "still", "off"] = "dynamic",
        smooth: tuple[float, int] | None = None,
        wrinkles: bool | float | None = None,
        cache: bool = True,
        threads: int | None = None,
        progress: Callable[[str, int, int], object] | None = None,
    ) -> Body: ...
    def init(self, path: _Path | None = None, *, force: bool = False, skin_only: bool = False) -> Placed: ...
    def anatomy(self, path: _Path | None = None, *, text: str | None = None) -> Anatomy: ...
    def rest(self) -> Frame: ...
    def rest_joints(self) -> _Floats: ...
    def poses(
        self, clip: str | None = None, *, fps: float | None = None, frames: _Frames | None = None
    ) -> _Floats: ...
    def weights(self, mesh: int = 0) -> tuple[NDArray[np.uint32], NDArray[np.uint32], _Floats]: ...
    def triangles(self, mesh: int = 0) -> NDArray[np.uint32]: ...
    def faces(self, mesh: int = 0) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
    @property
    def name(self) -> str: ...
    @property
    def meshes(self) -> list[str]: ...
    @property
    def joints(self) -> list[str]: ...
    @property
    def parents(self) -> list[int]: ...
    @property
    def clips(self) -> list[Clip]: ...
    @property
    def repairs(self) -> list[str]: ...
    @property
    def metres_per_unit(self) -> float: ...
    @property
    def up(self) -> str: ...

@final
class Body:
    def play(
        self, clip: str | None = None, *, fps: float | None = None, frames: _Frames | None = None
    ) -> Frames: ...
    def bake(
        self,
        clip: str | None,
        path: _Path,
        *,
        fps: float | None = None,
        frames: _Frames | None = None,
        mesh: bool = True,
        meshes: Literal["objects", "files", "merged"] = "objects",
        velocities: bool = False,
        normals: bool = True,
        centimetres: bool = False,
        progress: _Progress | None = None,
    ) -> Baked: ...
    def measure(
        self,
        clip: str | None = None,
        *,
        fps: float | None = None,
        frames: _Frames | None = None,
        against: _Path | None = None,
        progress: _Progress | None = None,
    ) -> dict[str, Any]: ...
    def render(
        self,
        path: _Path,
        clip: str | None = None,
        *,
        frame: int | None = None,
        fps: float | None = None,
        frames: _Frames | None = None,
        view: Literal["auto", "front", "side", "back", "3/4"] = "auto",
        size: tuple[int, int] | None = None,
        panels: int = ...,
        animate: bool = False,
        focus: str | None = None,
        wire: bool = False,
        show: str | None = None,
        muscles: Literal["activation", "tension"] | None = None,
        skin: float = 0.22,
    ) -> Path: ...
    @property
    def method(self) -> str: ...
    @property
    def has_muscles(self) -> bool: ...
    @property
    def wrinkles(self) -> dict[str, int] | None: ...

@final
class Anatomy:
    @property
    def text(self) -> str: ...
    def muscles(self) -> list[Muscle]: ...
    def move_muscle(
        self,
        name: str,
        side: Literal["left", "right", "middle"] = "middle",
        *,
        origin: _Places | None = None,
        via: _Places | None = None,
        insertion: _Places | None = None,
        width: float | None = None,
    ) -> None: ...
    def set_definition(self, definition: float) -> None: ...
    def write(self, path: _Path) -> None: ...

@final
class Muscle:
    @property
    def name(self) -> str: ...
    @property
    def side(self) -> Literal["left", "right", "middle"]: ...
    @property
    def mirrored(self) -> bool: ...
    @property
    def width(self) -> float: ...
    @property
    def origin(self) -> list[_Point]: ...
    @property
    def via(self) -> list[_Point]: ...
    @property
    def insertion(self) -> list[_Point]: ...

@final
class Clip:
    @property
    def name(self) -> str: ...
    @property
    def start(self) -> float: ...
    @property
    def end(self) -> float: ...
    @property
    def fps(self) -> float | None: ...

@final
class Placed:
    @property
    def text(self) -> str: ...
    @property
    def muscles(self) -> int: ...
    @property
    def fat(self) -> int: ...
    @property
    def skipped(self) -> list[str]: ...

@final
class Baked:
    @property
    def paths(self) -> list[Path]: ...
    @property
    def frames(self) -> int: ...
    @property
    def fell_back(self) -> int: ...

@final
class Frame:
    @property
    def number(self) -> int: ...
    @property
    def time(self) -> float: ...
    @property
    def fell_back(self) -> int: ...
    @property
    def mesh_count(self) -> int: ...
    def positions(self, mesh: int = 0) -> _Floats: ...

@final
class Frames(Iterator[Frame]):
    def __iter__(self) -> Frames: ...
    def __next__(self) -> Frame: ...
    def __len__(self) -> int: ...
