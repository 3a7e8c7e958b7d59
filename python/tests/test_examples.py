"""The examples run and show what they promise."""

import pathlib
import runpy

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


def load(name):
    return runpy.run_path(str(EXAMPLES / name))


def test_a_file_is_baked(tmp_path):
    baked = load("bake_a_file.py")["main"]("sample:cylinder?rings=24&segments=16", "bend", tmp_path / "bend.pc2")
    assert (tmp_path / "bend.pc2").exists() and baked.frames > 10


def test_the_implicit_skin_keeps_more_volume_than_linear_blending():
    worst = load("compare_methods.py")["main"]()
    assert worst["implicit"]["volume_loss"] < worst["lbs"]["volume_loss"]


def test_arrays_are_as_good_as_a_file():
    example = load("from_arrays.py")
    loss = {method: example["volume_loss"](example["tube"](), method) for method in ("lbs", "implicit")}
    assert loss["implicit"] < loss["lbs"]
