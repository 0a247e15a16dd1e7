"""Separators, margins, radius and the bound."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Separator, margins, mistake_bound, multiclass_margins, radius
from novikoff.prove.separable.margin import radius_square

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
        (lambda: Separator([0.0, 0.0]), "not a hyperplane"),
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
        (lambda: mistake_bound(1.0, 2.0), "impossible with radius=1.0"),
        (lambda: mistake_bound(1.0, 1.5, n_classes=3), "impossible with radius=1.0"),
        (lambda: mistake_bound(math.nan, 1.0), "not a finite number"),
    ],
)
def test_what_makes_no_sense_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def squared_length_of_the_longest(rows, fit_intercept):
    return max(sum(Fraction(v) ** 2 for v in row) for row in rows) + int(fit_intercept)


def is_the_smallest_float_not_below_the_root(found, square):
    return Fraction(found) ** 2 >= square and (found == 0 or Fraction(math.nextafter(found, 0)) ** 2 < square)


NUMBERS = {
    "of every size": st.floats(allow_nan=False, allow_infinity=False),
    "subnormal": st.integers(-50, 50).map(lambda n: n * 5e-324),
    "barely normal": st.floats(-1e-307, 1e-307),
    "huge": st.floats(1e307, 1e308),
    "whole": st.integers(-300, 300).map(float),
    "of one size": st.floats(0.5, 1.0),
    "zero or not": st.sampled_from([0.0, -0.0, 1.0, 0.1, -0.1, 2.0**-600, 2.0**600]),
}


@given(st.data(), st.sampled_from(sorted(NUMBERS)), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_the_radius_is_the_smallest_float_that_is_not_too_small(data, kind, dtype, fit_intercept):
    n_columns = data.draw(st.integers(1, 4))
    rows = st.lists(st.lists(NUMBERS[kind], min_size=n_columns, max_size=n_columns), min_size=1, max_size=6)
    with np.errstate(over="ignore"):
        X = np.nan_to_num(np.array(data.draw(rows), dtype=dtype))
    square = squared_length_of_the_longest(X.tolist(), fit_intercept)
    for form in (np.asarray, np.asfortranarray, sparse.csr_matrix, sparse.csc_array):
        assert radius_square(form(X), fit_intercept) == square
        found = radius(form(X), fit_intercept)
        if square > Fraction(sys.float_info.max) ** 2:
            assert found == math.inf
        else:
            assert is_the_smallest_float_not_below_the_root(found, square)


@given(st.integers(0, 9_999), st.integers(0, 2))
def test_the_longest_of_many_rows_of_nearly_equal_length_is_found(seed, digits):
    random = np.random.default_rng(seed)
    X = random.standard_normal((300, 5)).round(1 + digits)
    X[0] = 1.0
    X /= np.linalg.norm(X, axis=1)[:, None]
    square = squared_length_of_the_longest(X.tolist(), False)
    assert radius_square(X, False) == radius_square(sparse.csr_matrix(X), False) == square


def test_the_longest_row_is_found_among_thousands_that_are_as_long():
    X = np.where(np.random.default_rng(0).random((40_000, 6)) < 0.5, 0.1, -0.1)
    X[33_333, 2] = np.nextafter(0.1, 1)
    square = 5 * Fraction(0.1) ** 2 + Fraction(X[33_333, 2]) ** 2
    assert radius_square(X, False) == radius_square(sparse.csr_matrix(X), False) == square


def test_whole_numbers_that_no_float_is_are_taken_as_they_are():
    for dtype in (np.int64, np.uint64, object):
        X = np.array([[2**53, 1], [2**53 + 1, 0]], dtype=dtype)
        assert radius_square(X, False) == (2**53 + 1) ** 2
    assert radius_square(np.array([[-(2**63)]]), False) == 2**126
    assert radius_square(np.array([[10**400]], dtype=object), False) == 10**800


def test_the_radius_of_whole_numbers_is_exact():
    assert radius([[3, 4], [1, 1]], False) == 5.0
    assert radius([[2, 2]], True) == 3.0
    assert radius([[0.0, 0.0]], False) == 0.0
    assert radius([[1e-320]], False) == 1e-320
    assert radius([[True, False]], False) == 1.0
    assert radius(np.zeros((3, 0)), True) == 1.0


def test_the_bound_is_computed_exactly():
    assert mistake_bound(3.0, 1.0) == 9
    assert mistake_bound(1.0, 1.0) == 1
    assert mistake_bound(1.0, 1.25, n_classes=3) == 1
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
