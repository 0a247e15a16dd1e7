"""Products in floats that overflow or underflow are decided in whole numbers: every approximate product, on numbers
from the smallest to the largest float64, against fractions."""

import math
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from novikoff import CertificateError, certify, existence, freund_schapire_bound
from novikoff.engine.sums import exact_sum
from novikoff.prove.exact.floats import longest_square
from novikoff.prove.inequalities.check import margin_square
from novikoff.prove.separable.certificate import Bracket, Support, Witnesses
from novikoff.prove.separable.conclude import InMemory, conclude
from novikoff.prove.separable.in_blocks import InBlocks, exactly
from novikoff.prove.separable.kesler import kesler_points
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import signs_of_products, smallest_product
from novikoff.prove.separable.search.working_set import Claims, Direction, look_at
from tests.draws import draws
from tests.exact_lp import verdict

HUGE = [0.46e308] * 4 + [-0.77e308] * 4
BOTH = np.array([HUGE, HUGE, [-1.0] + [0.0] * 7])  # one point has both labels

MAX = 1.7976931348623157e308
EXTREMES = st.sampled_from([0.0, 1.0, MAX, -MAX, 0.6e308, -0.4e308, 1e300, 3e-230, 1e-308, 5e-324, -5e-324, 2.0**-1000])
NUMBERS = EXTREMES | st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-3, 3) | st.integers(-(2**70), 2**70)


def tables(width):
    return st.integers(1, 4).flatmap(lambda n: arrays(np.float64, (n, width), elements=NUMBERS))


def product(row, w):
    return sum((Fraction(a) * b for a, b in zip(row.tolist(), w, strict=True)), Fraction(0))


def sign(value):
    return (value > 0) - (value < 0)


def in_both_forms(X):
    return X, csr_array(X)


@given(tables(8), st.lists(WHOLE, min_size=8, max_size=8), WHOLE)
@example(BOTH, [1] * 8, 0)
@example(np.tile([MAX, MAX, -MAX, -MAX, 5e-324, 1.0, -1.0, 0.0], (2, 1)), [1, 1, 1, 1, 1, 1, 1, 1], 0)
@settings(max_examples=draws(60))
def test_signs_and_the_smallest_product_are_those_of_fractions(X, w, bias):
    y = np.where(np.arange(len(X)) % 2, -1, 1)
    exact = [int(label) * (product(row, w) + bias) for row, label in zip(X, y, strict=True)]
    for rows in in_both_forms(X):
        points = Points(rows, y.astype(np.int8), 1.0)
        assert signs_of_products(points, [*w, bias]).tolist() == [sign(value) for value in exact]
        smallest, place = smallest_product(points, [*w, bias])
        assert (smallest, exact[place]) == (min(exact), min(exact))


@given(arrays(np.float64, (3, 2), elements=NUMBERS), st.lists(WHOLE, min_size=6, max_size=6))
@example(np.full((3, 2), MAX), [1, 1, 1, -1, 0, 0])
def test_signs_of_many_classes_are_those_of_fractions(X, w):
    exact = []
    for own, row in enumerate(X):
        scores = [product(row, w[2 * k : 2 * k + 2]) for k in range(3)]
        exact += [sign(scores[own] - score) for k, score in enumerate(scores) if k != own]
    folded = [v for k in range(3) for v in (*w[2 * k : 2 * k + 2], 0)]
    for rows in in_both_forms(X):
        points = kesler_points(rows, [0, 1, 2], fit_intercept=False)
        assert signs_of_products(points, [*folded, 0]).tolist() == exact


def test_a_sum_of_many_columns_that_overflows_on_its_way_has_the_right_sign():
    X = np.tile(np.repeat([MAX / 200, -MAX / 200, -MAX / 300], [256, 200, 56]), (2, 1))
    exact = sign(product(X[0], [1] * 512))
    assert exact == 1
    for order in (slice(None), slice(None, None, -1)):
        for rows in in_both_forms(np.ascontiguousarray(X[:, order])):
            points = Points(rows, np.array([1, -1], dtype=np.int8), 0.0)
            assert signs_of_products(points, [1] * 512 + [0]).tolist() == [1, -1]


@pytest.mark.parametrize("form", in_both_forms(BOTH), ids=["dense", "CSR"])
def test_a_point_with_both_labels_is_never_separable(form):
    y = [1, -1, -1]
    separates = Witnesses(vector=(1,) * 8 + (0,), support=Support((2,), (1.0,)))
    with pytest.raises(CertificateError):
        conclude(InMemory.of(form, y, False), separates)
    found = certify(form, y, fit_intercept=False)
    assert found.verdict.value in ("quasi-separable", "overlapping")
    forged = replace(found, verdict=type(found.verdict).SEPARABLE, margin=Bracket(0.3, 1.0))
    with pytest.raises(CertificateError):
        forged.check(form, y)


@given(tables(4), st.lists(WHOLE, min_size=4, max_size=4).filter(any))
@example(BOTH[:, [0, 1, 4, 5]], [1, 1, 1, 1])
@settings(max_examples=draws(30))
def test_a_pass_over_blocks_sees_every_row_that_contradicts_a_plane(X, w):
    X, y = np.vstack([X, np.eye(4)[:1], -np.eye(4)[:1]]), [*np.arange(len(X)) % 2, 1, 0]
    exact = [(1 if label else -1) * product(row, w) for row, label in zip(X, y, strict=True)]
    for rows in in_both_forms(X):
        with exactly([(rows, y)]) as examples:
            data = InBlocks(examples, fit_intercept=False)
            claims = Claims(math.sqrt(2) * MAX, Direction([*w, 0]), 0.0)
            _, square = look_at(data, claims, np.zeros(0, dtype=np.int64), set(), 100)
            assert data.lower_square([*w, 0]) == square
            if min(exact) <= 0:
                assert square is None
            else:
                assert square == min(exact) ** 2 / sum(v * v for v in w)


@given(tables(3), st.lists(WHOLE, min_size=3, max_size=3))
@settings(max_examples=draws(40))
def test_margins_of_inequalities_are_those_of_fractions(rows, x):
    exact = [product(row, x) for row in rows]
    found = margin_square(rows, x)
    if min(exact) <= 0:
        assert found is None
    else:
        squares = [p * p / sum(Fraction(v) ** 2 for v in row.tolist()) for p, row in zip(exact, rows, strict=True)]
        assert found == min(squares) / sum(v * v for v in x)


@given(tables(3))
def test_the_longest_row_is_that_of_fractions(X):
    exact = max(sum(Fraction(v) ** 2 for v in row.tolist()) for row in X)
    for rows in in_both_forms(X):
        assert longest_square(rows) == exact


@given(arrays(np.float64, 4, elements=NUMBERS), arrays(np.float64, 4, elements=NUMBERS))
@example(np.array([MAX, MAX, -MAX, 1.0]), np.array([1.0, 1.0, 1.0, 1e-300]))
@example(np.array([1e-300, 1e308, 0.0, 0.0]), np.array([1e-30, 5e-324, 0.0, 0.0]))
def test_a_sum_that_is_rounded_once_is_the_nearest_float(values, coefficients):
    exact = product(values, map(Fraction, coefficients.tolist()))
    try:
        nearest = float(exact)
    except OverflowError:
        nearest = math.copysign(math.inf, sign(exact))
    assert exact_sum(values, coefficients) == nearest


@pytest.mark.parametrize("size", [1.0, 1.7e308, 1e-322])
def test_a_bound_for_inseparable_data_does_not_know_the_size_of_the_numbers(size):
    X, y = np.array([[1.0, 1.0], [1.0, 0.5], [-1.0, -1.0], [-0.5, -1.0]]), [1, 1, -1, -1]
    found = freund_schapire_bound(X * size, y, fit_intercept=False)
    assert found.value == pytest.approx(freund_schapire_bound(X, y, fit_intercept=False).value, rel=0.1)
    assert found.lower <= found.value <= 1.01 * found.lower


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "CSR"])
@given(st.data(), st.booleans())
@settings(max_examples=draws(40))
@example(None, True)
def test_finite_numbers_of_any_size_are_decided(form, data, fit_intercept):
    X, y = np.array([[0.0], [3e-230], [0.0]]), [0, 1, 1]
    if data is not None:
        n, d = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 3))
        X = data.draw(arrays(np.float64, (n, d), elements=EXTREMES))
        y = [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    expected = verdict(X, [2 * label - 1 for label in y], fit_intercept)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the bounds of the margin")
        found = certify(form(X), y, fit_intercept=fit_intercept)
    assert found.verdict.value == expected
    found.check(form(X), y)
    assert existence(form(X), y, fit_intercept=fit_intercept).exists is (expected == "overlapping")


def test_three_classes_of_which_two_cannot_be_told_apart_are_decided():
    assert certify([[0.0], [3e-230], [0.0]], [0, 1, 2]).verdict.value == "quasi-separable"
    huge = [[-MAX, 1e-320, -MAX], [6e307, -MAX, 6e307], [-5e-324, 1e-320, -MAX], [6e307, -MAX, -MAX]]
    certify(huge, [0, 0, 1, 2], fit_intercept=False).check(huge, [0, 0, 1, 2])
