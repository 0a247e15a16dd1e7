"""Which subsets a family of shapes cuts out, against one exact linear program for each subset."""

import math
import random
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from novikoff.prove.expressivity.shapes import halfplanes, sides_of_hyperplanes
from novikoff.prove.expressivity.shattering import (
    cover_count,
    dichotomies,
    growth,
    is_shattered,
    most_points,
    sauer_bound,
    vc_dimension,
)
from tests import exact_lp
from tests.draws import draws

EVERY = [("halfspaces", None), ("balls", None), ("boxes", None), ("rectangles", None), ("polygons", 3), ("polygons", 4)]

DEGENERATE = {
    "one": [[3, 4]],
    "copies": [[1, 1], [1, 1], [0, 2], [0, 2], [0, 2]],
    "line": [[0, 0], [1, 1], [2, 2], [3, 3], [5, 5]],
    "two lines": [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]],
    "circle": [[5, 0], [3, 4], [-3, 4], [-5, 0], [0, -5], [4, -3]],
    "circle and centre": [[1, 0], [0, 1], [-1, 0], [0, -1], [0, 0]],
    "ring, centre twice": [[0, 0], [2, 0], [0, 2], [-2, 0], [0, -2], [0, 0]],
    "nearly a line": [[0, 0], [1, 1], [2, 2 + 2**-40], [3, 3]],
    "huge and tiny": [[1e300, 0], [0, 1e-300], [0, 0], [1e300, 1e-300]],
    "tenths": [[0.1, 0.3], [0.2, 0.6], [0.3, 0.9], [0.4, 1.2]],
}

small = st.integers(-2, 2) | st.sampled_from([0.1, 0.3, -0.7, 1.5])


def sets(dimension: int, most: int):
    return st.lists(st.lists(small, min_size=dimension, max_size=dimension), min_size=3, max_size=most)


def shattered_example(family, dim, sides=None):
    """As many points as the VC dimension says: a simplex, unit vectors and their negatives, or a regular polygon."""
    units = np.eye(dim)
    if family in ("halfspaces", "balls"):
        return np.vstack([np.zeros(dim), units])
    if family == "boxes":
        return np.vstack([units, 0.0 - units])
    size = vc_dimension(family, dim, sides)
    angles = 2 * np.pi * np.arange(size) / size
    return np.column_stack([np.cos(angles), np.sin(angles)])


# The oracle: is there a shape with S inside and T outside?


def holds(rows) -> bool:
    """Some vector has a positive product with every row."""
    return exact_lp.best_worst([[Fraction(v) for v in row] for row in rows]).value > 0


def by_halfspace(S, T):
    return not S or not T or exact_lp.verdict(S + T, [1] * len(S) + [-1] * len(T)) == "separable"


def by_ball(S, T):
    """c ||x||^2 + a x + b < 0 inside, > 0 outside, c > 0."""

    def lifted(x, sign):
        return [sign * v for v in [sum(Fraction(v) ** 2 for v in x), *map(Fraction, x), 1]]

    dimension = len((S + T)[0])
    return holds([[1] + [0] * (dimension + 1), *(lifted(x, -1) for x in S), *(lifted(x, 1) for x in T)])


def by_box(S, T):
    return not S or not any(all(min(c) <= v <= max(c) for v, c in zip(t, zip(*S, strict=True), strict=True)) for t in T)


def by_sides(S, T, sides, normal):
    """Give each point of T a side beyond which it lies: all ways are tried, and given up as soon as they fail.

    `normal(side, x)` is the product of a point with the normal of a side, as a row of coefficients.
    """

    def row(side, x, sign):
        x = [Fraction(v) for v in x]
        return [sign * v for v in normal(side, x)] + [-sign * (side == other) for other in range(sides)]

    inside = [row(side, s, -1) for side in range(sides) for s in S]

    def place(rest, outside):
        if not holds(inside + outside):
            return False
        return not rest or any(place(rest[1:], [*outside, row(side, rest[0], 1)]) for side in range(sides))

    return not S or place(T, [])


def by_rectangle(S, T):
    """Normals u, v, -u and -v where v is u after a quarter turn: all are linear in u = (a, b)."""

    def normal(side, x):
        first, second = x
        return [(first, second), (second, -first), (-first, -second), (-second, first)][side]

    return by_sides(S, T, 4, normal)


def by_polygon(S, T, sides):
    """The normals, each as long as its side, sum to 0: so the last one is minus the sum of the others."""

    def normal(side, x):
        if side == sides - 1:
            return [-v for v in x] * (sides - 1)
        return [v * (side == other) for other in range(sides - 1) for v in x]

    return by_sides(S, T, sides, normal)


ORACLES = {"halfspaces": by_halfspace, "balls": by_ball, "boxes": by_box, "rectangles": by_rectangle}


def brute_force(points, family, sides=None):
    """Every subset of the rows, asked one by one."""
    m = len(points)
    found = set()
    for subset in chain.from_iterable(combinations(range(m), size) for size in range(m + 1)):
        S = [list(points[i]) for i in subset]
        T = [list(points[i]) for i in range(m) if i not in subset]
        if by_polygon(S, T, sides) if family == "polygons" else ORACLES[family](S, T):
            found.add(subset)
    return found


def check_against_brute_force(points, family, sides=None):
    found = dichotomies(points, family, sides=sides)
    assert set(found) == brute_force(points, family, sides)
    assert list(found) == sorted(set(found), key=lambda subset: (len(subset), subset))
    assert growth(points, family, sides=sides) == len(found)
    assert is_shattered(points, family, sides=sides) == (len(found) == 2 ** len(points))


@given(st.integers(1, 3).flatmap(lambda dimension: sets(dimension, 6)))
@settings(max_examples=draws(25))
def test_half_spaces_cut_out_what_brute_force_finds(points):
    check_against_brute_force(points, "halfspaces")


@given(st.integers(1, 3).flatmap(lambda dimension: sets(dimension, 5)))
@settings(max_examples=draws(20))
def test_balls_cut_out_what_brute_force_finds(points):
    check_against_brute_force(points, "balls")


@given(st.integers(1, 3).flatmap(lambda dimension: sets(dimension, 7)))
@settings(max_examples=draws(25))
def test_boxes_cut_out_what_brute_force_finds(points):
    check_against_brute_force(points, "boxes")


@given(sets(2, 5))
@settings(max_examples=draws(15))
def test_rectangles_cut_out_what_brute_force_finds(points):
    check_against_brute_force(points, "rectangles")


@given(sets(2, 5), st.sampled_from([3, 4]))
@settings(max_examples=draws(15))
def test_polygons_cut_out_what_brute_force_finds(points, sides):
    check_against_brute_force(points, "polygons", sides)


@pytest.mark.parametrize(("family", "sides"), EVERY[:5])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_points_are_cut_out_as_brute_force_says(name, family, sides):
    check_against_brute_force(DEGENERATE[name], family, sides)


def around(degrees, radius=1000):
    """Whole points near a circle."""
    return [[round(radius * math.cos(math.radians(v))), round(radius * math.sin(math.radians(v)))] for v in degrees]


def scattered(m, dimension, seed):
    """Whole points in general position, as good as certainly."""
    numbers = random.Random(seed)
    return [[numbers.randint(-(10**6), 10**6) for _ in range(dimension)] for _ in range(m)]


def subsets(m):
    return set(chain.from_iterable(combinations(range(m), size) for size in range(m + 1)))


# The note's example


def test_circles_cut_out_fifteen_of_sixteen_subsets_and_a_diagonal_is_missing():
    corners = [[0, 0], [3, 0], [2, 2], [0, 3]]
    assert subsets(4) - set(dichotomies(corners, "balls")) == {(1, 3)}


def test_where_one_point_is_inside_the_triangle_of_the_others_the_triangle_is_missing():
    points = [[0, 0], [6, 0], [0, 6], [1, 2]]
    assert subsets(4) - set(dichotomies(points, "balls")) == {(0, 1, 2)}


@pytest.mark.parametrize("corners", [[[0, 0], [1, 0], [1, 1], [0, 1]], [[5, 0], [3, 4], [-3, 4], [0, -5]]])
def test_four_points_on_a_circle_lose_both_diagonals(corners):
    assert subsets(4) - set(dichotomies(corners, "balls")) == {(0, 2), (1, 3)}


@given(st.lists(st.lists(st.integers(-6, 6), min_size=2, max_size=2), min_size=4, max_size=4))
def test_no_four_points_have_more_than_fifteen_subsets_in_circles(points):
    assert growth(points, "balls") <= 15


# The counts


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_half_spaces_reach_covers_count_in_general_position(dimension):
    for m in range(1, 11):
        assert growth(scattered(m, dimension, seed=m), "halfspaces") == cover_count(m, dimension)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_balls_reach_sauers_bound_in_general_position(dimension):
    for m in range(1, 9):
        assert growth(scattered(m, dimension, seed=m), "balls") == sauer_bound(m, dimension + 1)


@given(sets(2, 8), st.sampled_from(EVERY))
def test_sauers_lemma_holds(points, which):
    family, sides = which
    assert growth(points, family, sides=sides) <= sauer_bound(len(points), vc_dimension(family, 2, sides))


@given(sets(3, 8), st.sampled_from(EVERY[:3]))
def test_sauers_lemma_holds_in_space(points, which):
    family, _ = which
    assert growth(points, family) <= sauer_bound(len(points), vc_dimension(family, 3))


@given(st.integers(0, 12), st.integers(0, 12))
def test_sauers_bound_counts_the_small_subsets(m, d):
    assert sauer_bound(m, d) == sum(1 for subset in subsets(m) if len(subset) <= d)
    assert sauer_bound(m, d) <= 2**m
    assert cover_count(m, d) <= sauer_bound(m, d + 1)


def test_sixteen_points_of_the_plane_are_counted():
    points, ring = scattered(16, 2, seed=16), around(22.5 * i for i in range(16))
    assert growth(points, "halfspaces") == cover_count(16, 2) == 242
    assert growth(points, "balls") == sauer_bound(16, 3) == 697
    assert growth(points, "boxes") <= growth(points, "rectangles") <= growth(points, "polygons", sides=4)
    assert growth(ring, "polygons", sides=8) == 2**16


# Shattered sets

LARGEST = [
    *[(family, dimension, None) for family in ("halfspaces", "balls", "boxes") for dimension in (1, 2, 3)],
    ("rectangles", 2, None),
    *[("polygons", 2, sides) for sides in (3, 4, 5)],
]


@pytest.mark.parametrize(("family", "dimension", "sides"), LARGEST)
def test_as_many_points_as_the_vc_dimension_are_shattered(family, dimension, sides):
    points = shattered_example(family, dimension, sides)
    assert points.shape == (vc_dimension(family, dimension, sides), dimension)
    assert is_shattered(points, family, sides=sides)
    assert growth(points, family, sides=sides) == 2 ** len(points)


@pytest.mark.parametrize(("family", "dimension", "sides"), LARGEST[:-1])
def test_one_point_more_is_never_shattered_among_many_tried(family, dimension, sides):
    m = vc_dimension(family, dimension, sides) + 1
    for seed in range(12):
        points = scattered(m, dimension, seed)
        if dimension == 2 and seed % 2:  # nearly regular polygons come closest
            points = np.array(points) + np.array(around(np.arange(m) * 360 / m, radius=10 ** (6 + seed % 4)))
        assert growth(points, family, sides=sides) < 2**m
        assert not is_shattered(points, family, sides=sides)


def test_many_points_are_not_shattered_even_if_they_are_too_many_to_enumerate():
    points = scattered(200, 2, seed=1)
    assert not any(is_shattered(points, family, sides=sides) for family, sides in EVERY)


def test_half_spaces_shatter_a_simplex_of_any_dimension():
    assert is_shattered(shattered_example("halfspaces", 60), "halfspaces")
    assert not is_shattered(np.vstack([shattered_example("halfspaces", 60), np.ones((1, 60))]), "halfspaces")


# What the families have to do with each other


@given(sets(2, 7))
def test_each_family_cuts_out_what_its_special_cases_do(points):
    halfspaces, balls, boxes, rectangles = (set(dichotomies(points, family)) for family, _ in EVERY[:4])
    triangles, quadrangles = (set(dichotomies(points, "polygons", sides=sides)) for sides in (3, 4))
    assert halfspaces <= balls
    assert halfspaces <= rectangles
    assert boxes <= rectangles <= quadrangles
    assert halfspaces <= triangles <= quadrangles


@given(sets(2, 7).map(lambda points: [[round(10 * v) for v in point] for point in points]), st.sampled_from(EVERY))
def test_moving_scaling_and_reordering_change_nothing(points, which):
    family, sides = which
    order = list(range(len(points)))[::-1]
    moved = [[3 * points[i][0] + 7, 3 * points[i][1] - 0.25] for i in order]
    found = dichotomies(moved, family, sides=sides)
    assert {tuple(sorted(order[i] for i in subset)) for subset in found} == set(
        dichotomies(points, family, sides=sides)
    )


def test_three_half_planes_that_leave_a_way_to_infinity_are_no_triangle():
    """The outer points need three half-planes that face the same way, so a polygon needs a fourth side."""
    points = around([-75, -25, 25, 75, -50, 0, 50])
    S = (0, 1, 2, 3)
    cut = set(dichotomies(points, "halfspaces"))
    assert {(0, 1, 2, 3, 5, 6), (0, 1, 2, 3, 4, 6), (0, 1, 2, 3, 4, 5)} <= cut
    assert S not in dichotomies(points, "polygons", sides=3)
    assert S in dichotomies(points, "polygons", sides=4)
    assert not by_polygon(points[:4], points[4:], 3)
    assert by_polygon(points[:4], points[4:], 4)


@given(sets(2, 9).map(lambda points: sorted({tuple(round(10 * v) for v in point) for point in points})))
def test_going_around_the_circle_and_adding_one_point_at_a_time_find_the_same_half_planes(points):
    vectors = [(*point, 1) for point in points]
    sides = sides_of_hyperplanes(vectors)
    for mask, normal in sides.items():
        products = [sum(u * v for u, v in zip(normal, vector, strict=True)) for vector in vectors]
        assert 0 not in products
        assert sum(1 << i for i, value in enumerate(products) if value > 0) == mask
    assert set(halfplanes(points)) == set(sides) | {2 ** len(points) - 1 - mask for mask in sides}


# Input


def test_floats_whole_numbers_fractions_and_sparse_rows_are_the_same_points():
    rows = [[0, 0], [1, 0.5], [2, 1], [0, 3]]
    forms = [
        rows,
        np.array(rows),
        np.array(rows, dtype=np.float32),
        sparse.csr_matrix(np.array(rows)),
        [[Fraction(v) for v in row] for row in rows],
        [[np.float32(v) for v in row] for row in rows],
    ]
    assert len({dichotomies(form, "balls") for form in forms}) == 1
    assert len(dichotomies(rows, "balls")) == 15 - 1


def test_a_number_that_float64_cannot_represent_is_refused():
    with pytest.raises(ValueError, match="row 1, column 0 of points is 1152921504606846977, which float64 cannot"):
        dichotomies([[2**60, 0.5], [2**60 + 1, 0.5]], "halfspaces")


def test_copies_are_inside_together_or_outside_together():
    assert dichotomies([[1.0], [0.0], [1.0]], "halfspaces") == ((), (1,), (0, 2), (0, 1, 2))
    assert not is_shattered([[1.0], [1.0]], "boxes")


@pytest.mark.parametrize(("family", "sides"), EVERY)
def test_no_points_have_one_subset(family, sides):
    assert dichotomies(np.empty((0, 2)), family, sides=sides) == ((),)
    assert growth(np.empty((0, 2)), family, sides=sides) == 1
    assert is_shattered(np.empty((0, 2)), family, sides=sides)


@pytest.mark.parametrize(
    ("points", "options", "says"),
    [
        ([[0, 0]], {"family": "circles"}, "family='circles' is unknown; it is one of halfspaces, balls"),
        (np.empty((0, 2)), {"family": "circles"}, "is unknown"),
        ([[0, 0, 0]], {"family": "rectangles"}, "rectangles are shapes in the plane, but the dimension is 3"),
        ([[0]], {"family": "polygons", "sides": 3}, "give points with two columns"),
        ([[0, 0]], {"family": "polygons"}, "sides=None: say how many sides"),
        ([[0, 0]], {"family": "polygons", "sides": 2}, "sides=2: say how many sides .* a whole number from three on"),
        ([[0, 0]], {"family": "polygons", "sides": 3.5}, "sides=3.5"),
        ([[0, 0]], {"family": "balls", "sides": 3}, "sides=3 belongs to polygons only"),
        ([0, 1], {"family": "balls"}, "must be the rows of a matrix"),
        ([[0, 1], [2]], {"family": "balls"}, "points is not an array of numbers"),
        ([[0, 1], [2, math.nan]], {"family": "balls"}, "nan in row 1, column 1"),
        ([[0, math.inf]], {"family": "boxes"}, "inf in row 0, column 1"),
    ],
)
@pytest.mark.parametrize("ask", [dichotomies, growth, is_shattered])
def test_bad_input_is_refused_with_a_reason(ask, points, options, says):
    with pytest.raises(ValueError, match=says):
        ask(points, **options)


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="row 0, column 1 is '1'; convert it to real numbers"):
        dichotomies([[0, "1"]], "balls")


@pytest.mark.parametrize(("family", "sides"), EVERY)
def test_more_points_than_can_be_enumerated_are_refused_and_the_limit_is_named(family, sides):
    most = most_points(family, 2, sides)
    assert most >= 16
    points = scattered(most + 1, 2, seed=0)
    with pytest.raises(ValueError, match=rf"too many to enumerate; take at most {most} different points"):
        dichotomies(points, family, sides=sides)
    assert dichotomies([points[0]] * (most + 1), family, sides=sides) == ((), tuple(range(most + 1)))


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="m=-1 must be a whole number"):
        sauer_bound(-1, 2)
    with pytest.raises(ValueError, match="dim=-2 must be a whole number"):
        cover_count(3, -2)
    with pytest.raises(ValueError, match="dim=0 is not positive"):
        vc_dimension("balls", 0)
