"""The page Shatter: every subset that is cut out has a shape that does it, and every other a reason."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import dichotomies
from novikoff.lab.shattering import ARRANGEMENTS, FAMILIES, answer_shattering
from novikoff.lab.state import StateError
from tests.draws import draws

PLACES = st.tuples(st.integers(-8, 8), st.integers(-8, 8))


def is_inside(point, polygon):
    """By even and odd crossings of a ray."""
    x, y = point
    crossings = 0
    for (x0, y0), (x1, y1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
            crossings += 1
    return crossings % 2 == 1


def is_near(point, polygon, distance):
    """Whether a point is that near to an edge: a circle is drawn as a polygon."""
    a, b = np.array(polygon), np.roll(polygon, -1, axis=0)
    along = np.clip(((point - a) * (b - a)).sum(axis=1) / np.maximum(((b - a) ** 2).sum(axis=1), 1e-300), 0, 1)
    return bool((np.linalg.norm(a + along[:, None] * (b - a) - point, axis=1) < distance).any())


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=draws(15))
@given(points=st.lists(PLACES, min_size=2, max_size=5, unique=True))
def test_every_shape_holds_its_subset_and_nothing_else(family, points):
    given_points = [[x / 4, y / 4] for x, y in points]
    shown = answer_shattering({"points": given_points, "family": family})
    _, known, sides = FAMILIES[family]
    cut_out = dichotomies(given_points, known, sides=sides)
    assert shown["count"] == len(cut_out)
    for subset in shown["subsets"]:
        assert subset["cut"] == (tuple(subset["rows"]) in cut_out)
        assert bool(subset["why"]) != subset["cut"]
        assert family != "triangle" or subset["cut"] or "lies in the convex hull of" in subset["why"]
        for row, point in enumerate(given_points if subset["cut"] else []):
            if family == "circle" and any(is_near(point, part, 0.02 * shown["view"][2]) for part in subset["shape"]):
                continue
            held = any(is_inside(point, polygon) for polygon in subset["shape"])
            assert held == (row in subset["rows"])


# The subsets that the third note lists, in its order.
LISTED = ["", "r", "p", "q", "s", "ps", "pq", "pr", "rq", "qs", "rpq", "prs", "psq", "sqr", "rpqs"]


def test_circles_cut_out_what_the_note_lists_and_r_s_is_missing():
    shown = answer_shattering({"points": ARRANGEMENTS["quadrangle"], "family": "circle"})
    cut = {frozenset(subset["name"]) & set("pqrs") for subset in shown["subsets"] if subset["cut"]}
    assert cut == {frozenset(letters) for letters in LISTED}
    missing = [subset for subset in shown["subsets"] if not subset["cut"]]
    assert [subset["name"] for subset in missing] == ["{r, s}"]
    assert "p + 3\N{MIDDLE DOT}q = 2\N{MIDDLE DOT}r + 2\N{MIDDLE DOT}s as points" in missing[0]["why"]


def test_every_missing_pair_of_a_square_has_a_reason_of_its_own():
    shown = answer_shattering({"points": ARRANGEMENTS["square"], "family": "circle"})
    missing = {subset["name"]: subset["why"] for subset in shown["subsets"] if not subset["cut"]}
    assert set(missing) == {"{p, q}", "{r, s}"}
    assert missing["{p, q}"].startswith("r + s = p + q")
    assert missing["{r, s}"].startswith("p + q = r + s")


def test_a_point_inside_a_triangle_is_held_by_every_circle_around_it():
    shown = answer_shattering({"points": ARRANGEMENTS["inside"], "family": "circle"})
    missing = [subset for subset in shown["subsets"] if not subset["cut"]]
    assert [subset["name"] for subset in missing] == ["{p, q, r}"]
    assert "convex" in missing[0]["why"]


@pytest.mark.parametrize(
    "asked", [None, {}, {"family": "circle"}, {"family": "star", "points": [[0, 0], [1, 1]]},
              {"family": "box", "points": [[0, 0]] * 3}, {"family": "box", "points": [[0, 0], [1]]},
              {"family": "box", "points": [[0, 0], [1, "x"]]}, {"family": "box", "points": [[i, 0] for i in range(9)]}],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(asked):
    with pytest.raises(StateError):
        answer_shattering(asked)
