"""Characters: read from files, made of arrays."""

import numpy as np
import pytest
from conftest import finger

import ecorche


def test_a_sample_tells_what_it_has(tube):
    assert [clip.name for clip in tube.clips] == ["bend", "twist"]
    assert tube.parents[0] == -1 and len(tube.joints) == len(tube.parents)
    assert tube.repairs == []
    rest = tube.rest().positions()
    assert rest.shape[1] == 3 and rest.dtype == np.float32
    assert tube.triangles().max() < len(rest)
    sizes, corners = tube.faces()
    assert sizes.sum() == len(corners)


def test_a_missing_file_is_not_found_and_names_itself():
    with pytest.raises(FileNotFoundError, match="nowhere.fbx.*check the path"):
        ecorche.read("nowhere.fbx")


def test_an_unknown_extension_is_a_value_error_with_the_librarys_text(tmp_path):
    path = tmp_path / "hero.xyz"
    path.write_text("nothing")
    with pytest.raises(ValueError, match="no reader for this extension; known: .glb"):
        ecorche.read(path)


def test_an_unknown_sample_lists_those_there_are():
    with pytest.raises(ValueError, match="athlete"):
        ecorche.read("sample:nobody")


def test_a_mesh_that_would_become_too_fine_is_refused():
    with pytest.raises(ValueError, match="4 times at most, not 9"):
        ecorche.read("sample:cylinder", subdivide=9)


def test_motion_of_every_joint():
    assert [c.name for c in ecorche.read("sample:cylinder", motion="range").clips] == ["range"]


def test_arrays_make_the_same_character_as_a_hand_computes():
    hero = ecorche.Character.from_arrays(**finger())
    assert hero.up == "Z" and hero.joints[:2] == ["root", "tip"]
    assert np.array_equal(hero.rest().positions(), finger()["points"])
    frame = list(hero.bind("lbs").play("bend"))[-1].positions()
    given = finger()
    rigid = given["weights"][:, 1] == 1
    turn = given["clips"]["bend"][-1, 1] @ np.linalg.inv(given["rest"][1])
    expected = given["points"][rigid] @ turn[:3, :3].T + turn[:3, 3]
    assert np.abs(frame[rigid] - expected).max() < 1e-6


def test_sparse_weights_polygons_and_single_precision_are_the_same():
    given = finger()
    vertices, joints = np.nonzero(given["weights"])
    faces = given["faces"]
    other = {
        **given,
        "weights": (vertices, joints, given["weights"][vertices, joints]),
        "faces": (np.full(len(faces), 4), faces.ravel()),
        "rest": given["rest"].astype(np.float32),
    }
    frames = [
        [frame.positions() for frame in ecorche.Character.from_arrays(**g).bind("dqs").play("bend")]
        for g in (given, other)
    ]
    assert np.array_equal(*frames)


def test_what_a_character_tells_makes_it_again(tube):
    again = ecorche.Character.from_arrays(
        tube.rest().positions(),
        tube.faces(),
        tube.joints,
        np.array(tube.parents),
        tube.rest_joints(),
        tube.weights(),
        clips={"bend": tube.poses("bend")},
        fps=tube.clips[0].fps,
    )
    for a, b in zip(tube.bind("lbs").play("bend"), again.bind("lbs").play("bend"), strict=True):
        assert np.abs(a.positions() - b.positions()).max() < 1e-6


def test_weights_are_made_where_none_are_given():
    hero = ecorche.Character.from_arrays(**{**finger(), "weights": None})
    assert any("heat diffusion" in text for text in hero.repairs)
    last = list(hero.bind("lbs").play("bend"))[-1].positions()
    assert last[-1, 0] > 0.2, "the tip is bent to the side"


def test_morphs_move_with_their_weights():
    given = finger()
    wide = np.zeros_like(given["points"])
    wide[:, :2] = given["points"][:, :2]
    weights = np.linspace(0, 1, 5, dtype=np.float32)
    hero = ecorche.Character.from_arrays(
        **given, morphs={"wide": wide}, morph_weights={"bend": {"wide": weights}}
    )
    first, *_, last = (frame.positions() for frame in hero.bind("lbs").play("bend"))
    radius = [np.hypot(p[:8, 0], p[:8, 1]) for p in (first, last)]
    assert np.allclose(radius[0], 0.1) and np.allclose(radius[1], 0.2)


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("points", finger()["points"].astype(np.float64), "points: float32 expected, float64 given"),
        ("points", finger()["points"][:, :2], r"points: shape \(N, 3\) expected, \(136, 2\) given"),
        ("points", [[0, 0, 0]], "points: a NumPy array expected, list given"),
        ("points", np.full((136, 3), np.nan, np.float32), "points: vertex 0 is not finite"),
        ("faces", finger()["faces"].astype(np.float32), "faces: an array of whole numbers expected, float32"),
        ("faces", finger()["faces"] + 9, "faces: vertex .* named, but points has 136"),
        ("faces", finger()["faces"] - 1, "faces: -1 is not an index"),
        ("faces", (np.array([3]), np.array([0, 1])), "faces: the sizes add up to 3 corners, 2 given"),
        ("parents", np.array([-1, 7]), "parents: joint 1 has parent 7"),
        ("rest", np.zeros((2, 4, 4)), "rest: the matrix of joint 0 is singular"),
        ("rest", np.eye(4), r"rest: shape \(2, 4, 4\) expected, \(4, 4\) given"),
        ("weights", finger()["weights"][:-1], r"weights: shape \(136, 2\) expected, \(135, 2\) given"),
        ("weights", finger()["weights"].astype(np.float64), "weights: float32 expected, float64 given"),
        ("clips", {"bend": np.zeros((5, 1, 4, 4))}, r'clips\["bend"\]: shape \(N, 2, 4, 4\) expected'),
        ("morphs", {"wide": np.zeros((3, 3), np.float32)}, r'morphs\["wide"\]: shape \(136, 3\) expected'),
        ("morph_weights", {"no": {}}, 'morph_weights: "no" is not in clips'),
        ("fps", 0.0, "fps: a number above 0 expected"),
        ("up", "W", "up: .*given"),
        ("joints", [], "joints: empty"),
    ],
)
def test_a_wrong_array_is_named(argument, value, message):
    with pytest.raises(ValueError, match=message):
        ecorche.Character.from_arrays(**{**finger(), argument: value})


def test_init_places_muscles_and_keeps_what_exists(tmp_path):
    hero = ecorche.read("sample:athlete?resolution=5000")
    path = tmp_path / "hero.toml"
    placed = hero.init(path)
    assert placed.muscles > 50 and path.read_text() == placed.text
    with pytest.raises(FileExistsError, match="force=True"):
        hero.init(path)
    assert hero.init(skin_only=True).muscles == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method: .*muscles"),
        ({"threads": 0}, "threads: 0 given"),
        ({"muscles": "none"}, "muscles: .*dynamic"),
        ({"smooth": (2.0, 5)}, "smooth: "),
        ({"wrinkles": -0.01}, "wrinkles: .*wavelength"),
        ({"wrinkles": "deep"}, "wrinkles: expected True, False, or from crease to crease"),
        ({"method": "lbs", "tracking": "2014"}, "tracking: .*does not track"),
        ({"method": "muscles", "muscles": "off"}, "muscles: .*contradicts"),
        ({"anatomy_text": "[[muscle]]\nname = 3"}, "unsaved anatomy"),
    ],
)
def test_a_wrong_option_is_named(tube, options, message):
    with pytest.raises(ValueError, match=message):
        tube.bind(**options)


def test_a_missing_anatomy_is_not_found(tube):
    with pytest.raises(FileNotFoundError, match="nowhere.toml"):
        tube.bind(anatomy="nowhere.toml")
