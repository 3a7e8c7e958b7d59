"""Anatomy files: where muscles are, and moving them."""

import numpy as np
import pytest

import ecorche


@pytest.fixture(scope="module")
def athlete():
    return ecorche.read("sample:athlete?resolution=5000")


@pytest.fixture(scope="module")
def placed(athlete):
    return athlete.init()


@pytest.fixture
def anatomy(athlete, placed):
    return athlete.anatomy(text=placed.text)


def one(anatomy, name, side="left"):
    return next(m for m in anatomy.muscles() if m.name == name and m.side == side)


def test_muscles_lie_in_the_body_and_both_sides_are_listed(athlete, placed, anatomy):
    points = athlete.rest().positions()
    low, high = points.min(axis=0), points.max(axis=0)
    muscles = anatomy.muscles()
    assert len(muscles) == placed.muscles
    for muscle in muscles:
        for bone, place in muscle.origin + muscle.via + muscle.insertion:
            assert bone in athlete.joints
            assert (np.array(place) > low).all() and (np.array(place) < high).all()
    left = one(anatomy, muscles[0].name, "left")
    right = one(anatomy, muscles[0].name, "right")
    assert [left.mirrored, right.mirrored] == [False, True]
    assert left.origin[0][1][0] == pytest.approx(-right.origin[0][1][0], abs=1e-3)


def test_a_moved_point_is_where_it_was_put_and_nothing_else_changes(anatomy):
    before = anatomy.text
    muscle = next(m for m in anatomy.muscles() if len(m.origin) == 1 and not m.mirrored)
    place = np.array(muscle.origin[0][1]) + [0.0, 0.01, 0.0]
    anatomy.move_muscle(muscle.name, muscle.side, origin=[place])
    moved = one(anatomy, muscle.name, muscle.side)
    assert moved.origin[0][1] == pytest.approx(place, abs=2e-5)
    assert moved.insertion == muscle.insertion
    changed = [b for a, b in zip(before.splitlines(), anatomy.text.splitlines()) if a != b]
    assert len(changed) == 1 and changed[0].startswith("origin")


def test_points_of_a_fan_and_its_width(anatomy):
    fan = next(m for m in anatomy.muscles() if len(m.origin) > 1 and not m.mirrored)
    places = np.array([place for _, place in fan.origin]) + [0.0, 0.005, 0.0]
    anatomy.move_muscle(fan.name, fan.side, origin=places, width=fan.width * 0.9)
    moved = one(anatomy, fan.name, fan.side)
    assert np.array([place for _, place in moved.origin]) == pytest.approx(places, abs=2e-5)
    assert [bone for bone, _ in moved.origin] == [bone for bone, _ in fan.origin]
    assert moved.width == pytest.approx(fan.width * 0.9, abs=2e-5)


def test_what_cannot_be_moved_is_said_and_changes_nothing(anatomy):
    before, muscle = anatomy.text, anatomy.muscles()[0]
    with pytest.raises(ValueError, match='no muscle "nobody" of side left'):
        anatomy.move_muscle("nobody", "left", width=0.1)
    with pytest.raises(ValueError, match="side: left, right or middle expected"):
        anatomy.move_muscle(muscle.name, "up")
    with pytest.raises(ValueError, match="is written"):
        anatomy.move_muscle(muscle.name, "right", width=0.1)
    with pytest.raises(ValueError, match="insertion: 1 places expected, 0 given"):
        anatomy.move_muscle(muscle.name, muscle.side, insertion=[])
    with pytest.raises(ValueError, match="width"):
        anatomy.move_muscle(muscle.name, muscle.side, origin=[[0.0, 1.0, 0.0]] * len(muscle.origin), width=-1.0)
    assert anatomy.text == before


def test_written_and_read_again(athlete, anatomy, tmp_path):
    anatomy.set_definition(1.5)
    anatomy.write(tmp_path / "hero.toml")
    assert athlete.anatomy(tmp_path / "hero.toml").text == anatomy.text
    assert "definition = 1.5" in anatomy.text
    with pytest.raises(FileNotFoundError, match="gone.toml"):
        athlete.anatomy(tmp_path / "gone.toml")
    with pytest.raises(ValueError, match="either a path or a text"):
        athlete.anatomy()
    with pytest.raises(ValueError, match="no_such_key"):
        athlete.anatomy(text="version = 1\n[skin]\nno_such_key = 1\n")
