"""Many classes: what two of them prove about all."""

import contextlib
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from novikoff import certify
from novikoff.prove.separable.kesler import kesler_points
from novikoff.prove.separable.question import Verdict
from novikoff.prove.separable.search import cutting_planes, gordan, minimum_norm


@st.composite
def tables(draw):
    """Few rows of small whole numbers, of three or four classes, each of which has a row."""
    n_classes = draw(st.integers(3, 4))
    n_rows, n_columns = draw(st.integers(n_classes, 10)), draw(st.integers(1, 3))
    X = draw(arrays(np.float64, (n_rows, n_columns), elements=st.integers(-2, 2).map(float)))
    others = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows - n_classes, max_size=n_rows - n_classes))
    return X, np.array([*range(n_classes), *others])


@contextlib.contextmanager
def as_if_large(few=3):
    """Every question of many classes is met as one of too many dimensions; one of a few is solved by cutting planes."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (cutting_planes, minimum_norm):
            patch.setattr(module, "MOST_FOR_CUTTING", few)
        patch.setattr(gordan, "LARGEST_COMPLEMENT", 1)
        yield patch


@given(tables(), st.booleans())
def test_the_points_of_two_classes_are_those_of_a_plane_between_them(table, fit_intercept):
    X, y = table
    points = kesler_points(X, y, fit_intercept)
    for first, second in points.pairs():
        some, numbers = points.between(first, second)
        written = points.take(numbers)[:, :-1].reshape(len(numbers), points.n_classes, points.width)
        np.testing.assert_array_equal(written[:, first], some.take(np.arange(some.n_points)))
        np.testing.assert_array_equal(written[:, second], -written[:, first])
        rest = np.delete(written, [first, second], axis=1)
        assert not rest.any()
    assert sorted(points.pairs()) == list(itertools.combinations(range(points.n_classes), 2))


@given(tables(), st.booleans())
def test_what_is_decided_by_two_classes_is_what_is_decided_by_all(table, fit_intercept):
    X, y = table
    expected = certify(X, y, fit_intercept=fit_intercept).verdict
    with as_if_large():
        found = certify(X, y, fit_intercept=fit_intercept, time_limit=10)
    found.check(X, y)
    if found.verdict is Verdict.NOT_SEPARABLE:
        assert expected in (Verdict.QUASI_SEPARABLE, Verdict.OVERLAPPING)
    else:
        assert found.verdict is expected


def test_two_classes_that_overlap_decide_for_all_before_anything_else_is_tried():
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 40)
    X = 4.0 * np.eye(5)[y] + random.integers(-1, 2, (200, 5))
    X[y == 3] = random.permutation(X[y == 2])  # the same numbers, so that no plane tells 2 and 3 apart
    with as_if_large(few=6) as patch:
        patch.setattr(minimum_norm, "descent_on", lambda points: pytest.fail("there is nothing left to look for"))
        found = certify(X, y)
    assert found.verdict is Verdict.NOT_SEPARABLE
    assert {y[row] for row in found.obstruction.rows} == set(found.obstruction.rivals) == {2, 3}
    found.check(X, y)
