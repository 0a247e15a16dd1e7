"""What is drawn lies where the score says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.lab.shapes import clipped, grid_shape, hull, plane_shape
from novikoff.lab.state import View, lifted

VIEW = View(0.5, -0.25, 3.0)
WEIGHT = st.integers(-8, 8)


def is_inside(polygons, x, y):
    """Even and odd: how often a ray to the right meets an edge."""
    crossings = 0
    for polygon in polygons:
        for (x0, y0), (x1, y1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
            if (y0 > y) != (y1 > y) and x0 + (y - y0) / (y1 - y0) * (x1 - x0) > x:
                crossings += 1
    return crossings % 2 == 1


def places(count, seed):
    generator = np.random.default_rng(seed)
    return generator.uniform(-1, 1, (count, 2)) * (VIEW.aspect * VIEW.half, VIEW.half) * 0.99 + (VIEW.x, VIEW.y)


@given(WEIGHT, WEIGHT, WEIGHT, st.integers(0, 99))
def test_a_half_plane_is_where_the_score_is_positive(a, b, bias, seed):
    shape = plane_shape([a, b, bias], VIEW)
    for x, y in places(20, seed).tolist():
        score = a * x + b * y + bias
        if abs(score) > 1e-9:
            assert is_inside(shape.positive, x, y) == (score > 0)
    for curve in shape.curves:
        assert all(abs(a * x + b * y + bias) < 1e-9 for x, y in curve)


@given(WEIGHT, WEIGHT, WEIGHT.filter(bool), WEIGHT, st.integers(0, 99))
def test_a_lifted_plane_cuts_out_a_circle(a, b, c, bias, seed):
    shape = plane_shape([a, b, c, bias], VIEW)
    for x, y in places(20, seed).tolist():
        score = a * x + b * y + c * (x * x + y * y) + bias
        if abs(score) > 0.02 * (abs(a) + abs(b) + 12 * abs(c)):  # a circle is drawn as a polygon
            assert is_inside(shape.positive, x, y) == (score > 0)


@pytest.mark.parametrize("c", [1e-3, -1e-3, 1e-6])
def test_an_almost_flat_circle_is_drawn_as_its_arc(c):
    shape = plane_shape([1.0, 0.5, c, 0.25], VIEW)
    for x, y in places(50, 0).tolist():
        score = x + 0.5 * y + c * (x * x + y * y) + 0.25
        if abs(score) > 0.01:
            assert is_inside(shape.positive, x, y) == (score > 0)


@given(st.integers(0, 99))
def test_on_a_grid_the_same_half_plane_is_found(seed):
    weights = np.random.default_rng(seed).standard_normal(3)
    shape = grid_shape(lambda plane: plane @ weights[:2] + weights[2], VIEW)
    for x, y in places(20, seed).tolist():
        score = float(np.dot(weights, (x, y, 1.0)))
        if abs(score) > 0.01:
            assert is_inside(shape.positive, x, y) == (score > 0)
    for curve in shape.curves:
        assert all(abs(float(np.dot(weights, (x, y, 1.0)))) < 0.01 for x, y in curve)


def test_on_a_grid_a_vote_changes_where_its_sign_does():
    shape = grid_shape(lambda plane: np.where(plane @ [3.0, 1.0] > 0.1, 0.9, -0.1), VIEW, jumps=True)
    for curve in shape.curves:
        assert max(abs(3 * x + y - 0.1) for x, y in curve) < 0.01
    assert is_inside(shape.positive, 1.0, 1.0)
    assert not is_inside(shape.positive, -1.0, 1.0)


def test_on_a_grid_a_checkerboard_has_both_diagonals():
    shape = grid_shape(lambda plane: plane[:, 0] * plane[:, 1], VIEW)
    assert is_inside(shape.positive, 1.0, 1.0)
    assert is_inside(shape.positive, -1.0, -1.0)
    assert not is_inside(shape.positive, 1.0, -1.0)


@given(st.lists(st.tuples(WEIGHT, WEIGHT), min_size=1, max_size=12))
def test_a_hull_holds_every_point_and_has_only_given_corners(points):
    corners = hull(points)
    assert set(corners) <= set(points)
    if len(corners) > 2:
        for x, y in points:
            edges = zip(corners, [*corners[1:], corners[0]], strict=True)
            assert all((q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) >= 0 for p, q in edges)


def test_what_is_cut_away_completely_is_empty():
    assert clipped([(0, 0), (1, 0), (1, 1)], 1, 0, -5) == []


def test_a_point_is_lifted_to_its_squared_length():
    assert lifted(np.array([[1.0, 2.0]])).tolist() == [[1.0, 2.0, 5.0]]
