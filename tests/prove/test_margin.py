"""Separators, margins, radius and the bound."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Separator, margins, mistake_bound, multiclass_margins, radius

POINTS = np.array([[3.0, 4.0], [0.0, 0.0], [-6.0, 8.0]])


def test_a_separator_knows_its_sides():
    line = Separator([0.0, 1.0], -4.0)
    assert line.score(POINTS).tolist() == [0.0, -4.0, 4.0]
    assert line.sign(POINTS).tolist() == [1, -1, 1]
    assert line.positive_side(POINTS).tolist() == [False, False, True]
    assert line.negative_side(POINTS).tolist() == [False, True, False]
    assert line.score(sparse.csr_matrix(POINTS)).tolist() == line.score(POINTS).tolist()


def test_margin_and_geometric_margin_differ_by_the_folded_bias():
    line = Separator([3.0, 4.0], 12.0)
    y = line.sign(POINTS)
    assert margins(POINTS, y, line).tolist() == pytest.approx((abs(line.score(POINTS)) / 13).tolist())
    assert (y * line.distance(POINTS)).tolist() == pytest.approx((abs(line.score(POINTS)) / 5).tolist())


def test_the_wrong_side_has_a_negative_margin():
    assert margins([[2.0, 0.0]], [-1], Separator([1.0, 0.0]), fit_intercept=False).tolist() == [-2.0]


def test_a_separator_is_the_same_for_any_length_of_its_weights():
    X, y = POINTS[[0, 2]], [-1, 1]
    for factor in (1e-200, 1.0, 1e200):
        line = Separator([0.0, factor], -6 * factor)
        assert margins(X, y, line).tolist() == pytest.approx([2 / math.sqrt(37)] * 2)
        assert line.distance(X).tolist() == pytest.approx([-2.0, 2.0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Separator([0.0, 0.0]), "no plane"),
        (lambda: Separator([math.nan]), "finite"),
        (lambda: Separator([0.0], 1.0).distance([[1.0]]), "only the bias"),
        (lambda: Separator([1.0]).score([[1.0, 2.0]]), "rows of 1 numbers"),
        (lambda: margins([[1.0]], [1], Separator([1.0], 1.0), fit_intercept=False), "must be 0"),
        (lambda: margins([[1.0]], [1, -1], Separator([1.0])), "2 labels, but X has 1 rows"),
        (lambda: multiclass_margins([[1.0]], ["a"], [[1.0], [2.0]]), "1 classes"),
        (lambda: radius(np.empty((0, 2))), "no rows"),
        (lambda: radius([[math.inf]]), "NaN or infinity"),
        (lambda: mistake_bound(1.0, 0.0), "not positive"),
        (lambda: mistake_bound(-1.0, 1.0), "negative"),
        (lambda: mistake_bound(math.nan, 1.0), "not a finite number"),
    ],
)
def test_what_makes_no_sense_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@given(st.integers(0, 9_999), st.integers(-300, 300), st.booleans())
def test_the_radius_is_never_understated_and_never_far_off(seed, exponent, fit_intercept):
    X = np.random.default_rng(seed).standard_normal((6, 4)) * 2.0**exponent
    exact = max(sum(Fraction(v) ** 2 for v in row) for row in X.tolist()) + int(fit_intercept)
    for form in (np.asarray, sparse.csr_matrix):
        found = Fraction(radius(form(X), fit_intercept)) ** 2
        assert exact <= found <= exact * Fraction(1 + 1e-13)


def test_the_radius_of_whole_numbers_is_exact():
    assert radius([[3, 4], [1, 1]], False) == 5.0
    assert radius([[2, 2]], True) == 3.0
    assert radius([[0.0, 0.0]], False) == 0.0
    assert radius([[1e-320]], False) >= 1e-320


def test_the_bound_is_computed_exactly():
    assert mistake_bound(3.0, 1.0) == 9
    assert mistake_bound(Fraction(10), Fraction(3)) == 11
    assert mistake_bound(1.0, 2.0**-40) == 2**80
    assert mistake_bound(3.0, 1.0, n_classes=3) == 18


def test_the_multiclass_margin_is_the_lead_over_the_best_other_class():
    W, b = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([0.0, 0.5, 0.0])
    X, y = np.array([[2.0, 1.0], [0.0, 3.0], [-4.0, -1.0]]), [0, 1, 2]
    scores = X @ W.T + b
    norm = math.sqrt((W**2).sum() + (b**2).sum())
    expected = [(row[c] - max(row[:c].tolist() + row[c + 1 :].tolist())) / norm for c, row in enumerate(scores)]
    assert multiclass_margins(X, y, W, b).tolist() == pytest.approx(expected)
