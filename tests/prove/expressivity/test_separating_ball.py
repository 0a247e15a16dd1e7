"""The circle that holds one class and keeps the other out."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from novikoff import Ball, NoBall, separating_ball
from tests import exact_lp
from tests.draws import draws

coordinate = st.integers(-4, 4)


@st.composite
def labelled_points(draw):
    d, n = draw(st.integers(1, 3)), draw(st.integers(2, 8))
    points = draw(st.lists(st.lists(coordinate, min_size=d, max_size=d), min_size=n, max_size=n))
    labels = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    scale = draw(st.sampled_from([1.0, 0.1, 1e-3, 2.0**-40]))
    return np.array(points) * scale, np.array(labels)


def lifted(X, held):
    """Signed lifted points in exact fractions, and the unit vector along the lift."""
    rows = []
    for x, inside in zip(X.tolist(), held, strict=True):
        exact = [Fraction(v) for v in x]
        row = [*exact, sum(v * v for v in exact), Fraction(1)]
        rows.append([-v for v in row] if inside else row)
    return [*rows, [Fraction(0)] * X.shape[1] + [Fraction(1), Fraction(0)]]


def exists(X, held):
    """By an exact linear program in the lifted space, with the coefficient of ||x||^2 positive."""
    return exact_lp.best_worst(lifted(X, held)).value > 0


@settings(max_examples=draws(60))
@given(labelled_points())
def test_a_ball_is_found_exactly_if_there_is_one(data):
    X, held = data
    assume(len(set(held.tolist())) == 2)
    found = separating_ball(X, held)
    assert bool(found) == exists(X, held)
    if found:
        assert found.contains(X).tolist() == held.tolist()
    else:
        *rows, unit = lifted(X, held)
        total = [sum(w * rows[i][j] for i, w in zip(found.rows, found.weights, strict=True)) for j in range(len(unit))]
        assert min(found.weights) > 0
        assert found.lift_weight >= 0
        assert total == [-found.lift_weight * u for u in unit]


def test_a_ring_around_a_centre_can_be_kept_out_but_not_held():
    angles = np.linspace(0, 2 * np.pi, 9)[:-1]
    X = np.vstack([3 * np.column_stack([np.cos(angles), np.sin(angles)]), [[0.1, 0.2], [-0.3, 0.1]]])
    y = ["ring"] * 8 + ["centre"] * 2
    assert isinstance(separating_ball(X, y, inside="centre"), Ball)
    nothing = separating_ball(X, y, inside="ring")
    assert isinstance(nothing, NoBall)
    assert "rule it out" in str(nothing)


def test_cocircular_points_of_both_classes_are_told_apart_if_they_do_not_alternate():
    square = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    assert separating_ball(square, [1, 1, 0, 0])
    assert not separating_ball(square, [1, 0, 1, 0])


def test_collinear_points_are_told_apart_by_an_interval():
    X = np.arange(6.0)[:, None]
    assert separating_ball(X, [0, 0, 1, 1, 0, 0])
    assert not separating_ball(X, [0, 1, 0, 1, 0, 0])


def test_a_point_of_both_classes_stands_in_every_way():
    X = [[1.0, 2.0], [1.0, 2.0], [5.0, 5.0]]
    assert separating_ball(X, [1, 0, 0]).rows == (0, 1)


def test_the_second_label_is_inside_unless_another_is_named():
    X = [[0.0], [10.0]]
    assert separating_ball(X, ["a", "b"]).inside == "b"
    assert separating_ball(X, ["a", "b"], inside="a").inside == "a"


def test_distances_that_floats_cannot_tell_apart_are_told_apart():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -(1.0 + 2.0**-52)]])
    ball = separating_ball(X, [1, 1, 1, 0])
    assert ball.contains(X).tolist() == [True, True, True, False]


def test_the_ball_of_a_cloud_is_close_to_the_true_one():
    generator = np.random.default_rng(0)
    X = generator.uniform(-2, 2, (2_000, 2))
    held = np.linalg.norm(X - [0.3, -0.2], axis=1) < 1
    ball = separating_ball(X, held)
    assert ball.center == pytest.approx([0.3, -0.2], abs=0.02)
    assert ball.radius == pytest.approx(1, abs=0.02)
    assert (ball.contains(X) == held).all()


@pytest.mark.parametrize(
    ("X", "y", "options", "words"),
    [
        ([[1.0], [2.0]], [0, 0], {}, "only one class"),
        ([[1.0], [math.nan]], [0, 1], {}, "row 1, column 0"),
        ([[1.0], [2.0]], [0], {}, "one label per row"),
        ([1.0, 2.0], [0, 1], {}, "dimension"),
        ([[1.0], [2.0]], [0, 1], {"inside": 7}, "inside=7"),
    ],
)
def test_bad_input_is_named(X, y, options, words):
    with pytest.raises(ValueError, match=words):
        separating_ball(X, y, **options)
