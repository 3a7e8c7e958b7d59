"""Frames: the same as the command's, without a copy, without the interpreter."""

import gc
import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import TUBE, read_pc2

import ecorche


@pytest.mark.parametrize(
    ("source", "words", "method", "options"),
    [
        (TUBE, ["--method", "implicit"], "implicit", {}),
        (TUBE, ["--method", "cor"], "cor", {}),
        ("sample:arm?resolution=2000", [], None, {}),
        (TUBE, ["--method", "implicit", "--wrinkles=0.25"], "implicit", {"wrinkles": 0.25}),
        ("sample:cylinder?rings=96&segments=64", ["--method", "dqs", "--wrinkles"], "dqs", {"wrinkles": True}),
    ],
)
def test_frames_are_those_of_the_command_to_the_bit(program, tmp_path, source, words, method, options):
    cache = tmp_path / "out.pc2"
    subprocess.run(
        [program, "bake", source, "-o", cache, "--frames", "0-12", "--no-cache", "--quiet", *words],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    _, expected = read_pc2(cache)
    body = ecorche.read(source).bind(method, cache=False, threads=2, **options)
    played = np.stack([frame.positions() for frame in body.play(frames=(0, 12))])
    assert played.tobytes() == expected.tobytes()
    body.bake(None, tmp_path / "own.pc2", frames=(0, 12))
    assert (tmp_path / "own.pc2").read_bytes() == cache.read_bytes()
    record = [(tmp_path / f"{name}.pc2.piece.json").read_text() for name in ("out", "own")]
    assert record[0] == record[1], "pieces of both can be joined"


def test_a_subdivided_character_is_that_of_the_command(program, tmp_path):
    cache = tmp_path / "out.pc2"
    options = ["--subdivide", "1", "--method", "dqs", "--wrinkles=0.15", "--frames", "0-6", "--quiet"]
    subprocess.run([program, "bake", TUBE, "-o", cache, *options], check=True, stdout=subprocess.DEVNULL)
    tube = ecorche.read(TUBE, subdivide=1)
    assert len(tube.triangles()) == 4 * len(ecorche.read(TUBE).triangles())
    played = [frame.positions() for frame in tube.bind("dqs", wrinkles=0.15).play(frames=(0, 6))]
    assert np.stack(played).tobytes() == read_pc2(cache)[1].tobytes()


def test_wrinkles_crease_the_bend_and_leave_the_rest_pose():
    tube = ecorche.read(TUBE, subdivide=1)
    bodies = [tube.bind("dqs", wrinkles=wrinkles) for wrinkles in (False, 0.15)]
    assert bodies[0].wrinkles is None and set(bodies[1].wrinkles.values()) == {0}
    smooth, wrinkled = (body.play("bend") for body in bodies)
    differences = [np.abs(a.positions() - b.positions()).max() for a, b in zip(smooth, wrinkled, strict=True)]
    assert differences[0] == 0.0 and max(differences) > 1e-3


def test_a_mesh_too_coarse_for_wrinkles_is_told(tube):
    with pytest.raises(ValueError, match="wrinkles: at .* subdivide it"):
        tube.bind("dqs", wrinkles=0.01)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--velocities"], {"velocities": True}),
        (["--meshes", "merged", "--centimetres", "--no-normals"], {"meshes": "merged", "centimetres": True, "normals": False}),
        (["--meshes", "files"], {"meshes": "files"}),
    ],
)
def test_alembic_is_that_of_the_command(program, tmp_path, words, options):
    """A character of several meshes, with what Alembic leaves open."""
    source, frames = "sample:mannequin", (0, 3)
    for name in ("theirs", "ours"):
        (tmp_path / name).mkdir()
    theirs = ["-o", tmp_path / "theirs" / "out.abc", "--method", "dqs", "--frames", "0-3", "--quiet"]
    subprocess.run([program, "bake", source, *theirs, *words], check=True, stdout=subprocess.DEVNULL)
    baked = ecorche.read(source).bind("dqs").bake(None, tmp_path / "ours" / "out.abc", frames=frames, **options)
    written = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("theirs", "ours")]
    assert written[0] == written[1]
    assert sorted(path.name for path in baked.paths) == sorted(written[1])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("out.abc", {"meshes": "one"}, 'meshes: "objects", "files" or "merged" expected, "one" given'),
        ("out.pc2", {"velocities": True}, "velocities is there for Alembic only; bake to .abc"),
        ("out.glb", {"normals": False}, "leaving out normals is there for Alembic only"),
        ("out.pc2", {"centimetres": True}, "a choice of units is there for Alembic only"),
    ],
)
def test_a_wrong_option_of_a_cache_is_named(body, tmp_path, name, options, message):
    with pytest.raises(ValueError, match=message):
        body.bake("bend", tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_view_is_no_copy_cannot_be_written_and_outlives_its_frame(body):
    frame = next(body.play("bend"))
    view, again = frame.positions(), frame.positions()
    assert view.ctypes.data == again.ctypes.data
    assert view.shape == (len(view), 3) and view.dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1
    before = view.copy()
    del frame, again
    gc.collect()
    junk = [np.full(view.shape, 7, np.float32) for _ in range(50)]
    assert np.array_equal(view, before) and junk


def test_an_unknown_mesh_is_told(body):
    with pytest.raises(IndexError, match="mesh: 3 given; the character has 1"):
        next(body.play()).positions(3)


def test_playing_a_part_gives_the_frames_of_the_whole(body):
    whole = [frame.positions() for frame in body.play("bend")]
    part = body.play("bend", frames=range(3, 6))
    assert len(part) == 3
    for frame in part:
        assert np.array_equal(frame.positions(), whole[frame.number])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clip": "nope"}, 'no clip called "nope"; it has bend, twist'),
        ({"frames": (5, 2)}, "frames 5-2 are not in clip"),
        ({"frames": "0-9"}, "frames: expected a pair"),
        ({"fps": 0}, "is not a rate"),
    ],
)
def test_wrong_moments_are_told(body, options, message):
    with pytest.raises(ValueError, match=message):
        body.play(**options)


def test_other_threads_run_while_a_body_works():
    """A thread that counts in Python gets on while another binds and plays."""
    steps, done = [], threading.Event()

    def count():
        while not done.is_set():
            steps.append(time.perf_counter())
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    start = time.perf_counter()
    body = ecorche.read("sample:cylinder").bind("implicit", cache=False)
    for _ in body.play("bend", frames=(0, 10)):
        pass
    end = time.perf_counter()
    done.set()
    counter.join()
    inside = [t for t in steps if start < t < end]
    longest = max(np.diff([start, *inside, end]))
    assert len(inside) > 5 and longest < 0.5 * (end - start)


def test_two_threads_play_one_body(body):
    found = {}

    def play(name):
        found[name] = [frame.positions() for frame in body.play("bend", frames=(0, 5))]

    threads = [threading.Thread(target=play, args=(name,)) for name in "ab"]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert np.array_equal(found["a"], found["b"])


def test_progress_counts_and_stops_without_a_file(body, tmp_path):
    seen = []

    def progress(done, of):
        seen.append((done, of))
        return done == 3

    with pytest.raises(ecorche.Stopped, match="stopped after 3 of 9"):
        body.bake("bend", tmp_path / "out.pc2", frames=(0, 8), progress=progress)
    assert seen == [(1, 9), (2, 9), (3, 9)]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ecorche.Stopped):
        body.measure("bend", frames=(0, 8), progress=lambda done, of: True)


def test_binding_tells_how_far_it_is_and_stops():
    athlete, told = ecorche.read("sample:athlete?resolution=5000"), []
    athlete.bind("implicit", cache=False, progress=lambda *now: told.append(now))
    assert len(told) > 1, "it takes a while"
    for stage, done, of in told:
        assert stage and 0 <= done <= of
    assert len(set(told)) == len(told), "nothing is told twice"
    with pytest.raises(ecorche.Stopped, match="stopped while "):
        athlete.bind("implicit", cache=False, progress=lambda *now: True)
    with pytest.raises(ZeroDivisionError):
        athlete.bind("implicit", cache=False, progress=lambda stage, done, of: 1 / 0)


def test_what_progress_raises_comes_through(body, tmp_path):
    def progress(done, of):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        body.bake("bend", tmp_path / "out.pc2", progress=progress)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_stops_a_bake_and_leaves_nothing(tmp_path):
    # A shell that runs the tests in the background makes its children ignore Ctrl+C.
    script = f"""
import ecorche, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
body = ecorche.read("sample:arm").bind("implicit", cache=False)
print("baking", flush=True)
body.bake("curl", {str(tmp_path / "out.pc2")!r}, fps=5000)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "baking\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors and process.returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_a_cache_never_replaces_what_it_is_made_from(tmp_path):
    path = tmp_path / "tube.glb"
    ecorche.read(TUBE).bind("lbs").bake("bend", path, frames=(0, 1))
    with pytest.raises(ValueError, match="would overwrite"):
        ecorche.read(path).bind("lbs").bake(None, path)


def test_a_folder_that_is_missing_is_not_found(body, tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot write .*check that the folder exists"):
        body.bake("bend", tmp_path / "no" / "out.pc2", frames=(0, 1))
    with pytest.raises(ValueError, match="no cache format for this extension"):
        body.bake("bend", tmp_path / "out.xyz")


@pytest.mark.parametrize(
    ("source", "clip", "method"), [(TUBE, "bend", "implicit"), ("sample:arm?resolution=2000", "curl", "muscles")]
)
def test_figures_are_those_of_the_command(program, tmp_path, source, clip, method):
    path = tmp_path / "figures.json"
    arguments = ["--clip", clip, "--frames", "0-6", "--methods", method, "--json", path, "--no-cache"]
    subprocess.run([program, "measure", source, *arguments], check=True, stdout=subprocess.DEVNULL)

    def without_times(figures):
        summary = [s for s in figures["summary"] if s["figure"] != "milliseconds"]
        frames = [{k: v for k, v in f.items() if k != "milliseconds"} for f in figures["frames"]]
        return {**figures, "summary": summary, "frames": frames}

    expected = json.loads(path.read_text())[clip][method]
    found = ecorche.read(source).bind(method, cache=False).measure(clip, frames=(0, 6))
    assert without_times(found) == without_times(expected)
    assert ("fibres" in found) == (method == "muscles")


def test_pictures_are_those_of_the_command(program, body, tmp_path):
    for name, options, arguments in [
        ("one.png", {"clip": "bend", "frame": 5, "size": (120, 160)}, ["--clip", "bend", "--frame", "5", "--size", "120x160"]),
        ("sheet.png", {"clip": "bend", "panels": 3, "size": (60, 80)}, ["--clip", "bend", "--panels", "3", "--size", "60x80"]),
    ]:
        written = body.render(tmp_path / name, **options)
        other = tmp_path / f"other-{name}"
        subprocess.run(
            [program, "render", TUBE, "-o", other, "--method", "implicit", "--no-cache", "--quiet", *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        assert written.read_bytes() == other.read_bytes()
    with pytest.raises(ValueError, match="view"):
        body.render(tmp_path / "no.png", view="below")
    with pytest.raises(ValueError, match="muscles: the body has none"):
        body.render(tmp_path / "no.png", muscles="tension")


def test_the_console_script_is_the_command(program):
    commands = [[sys.executable, "-m", "ecorche"], [program]]
    answers = [subprocess.run([*c, "info", "sample:arm"], capture_output=True, check=True) for c in commands]
    assert answers[0].stdout == answers[1].stdout != b""
    wrong = [subprocess.run([*c, "bake", "nowhere.fbx", "-o", "a.pc2"], capture_output=True) for c in commands]
    assert wrong[0].returncode == wrong[1].returncode == 2
    assert wrong[0].stderr == wrong[1].stderr
