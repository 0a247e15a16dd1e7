"""The exact facts under a certificate: algebra, signs, nearest points, spans, fingerprints."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from novikoff.engine.clock import Clock
from novikoff.prove.exact.algebra import as_whole, null_vectors, rank
from novikoff.prove.separable import products
from novikoff.prove.separable.conclude import InMemory
from novikoff.prove.separable.kesler import kesler_points, point_numbers, rows_and_rivals
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import signs_of_products, smallest_product
from novikoff.prove.separable.proofs import spans_all, upper_square, vanishes
from novikoff.prove.separable.search.gordan import Contradiction, decide, reduce_faces
from novikoff.prove.separable.search.wolfe import nearest_point_exactly
from tests import exact_lp
from tests.prove.separable.cone import weakly_separates
from tests.tables import tables

whole = st.integers(-5, 5)
matrices = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(whole, min_size=d, max_size=d), min_size=1, max_size=5)
)


def dot(a, b):
    return sum(Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True))


@given(matrices)
def test_null_vectors_are_orthogonal_independent_and_as_many_as_the_rank_leaves(rows):
    dimension = len(rows[0])
    normals = null_vectors(rows, dimension)
    assert all(dot(row, normal) == 0 for row in rows for normal in normals)
    assert len(normals) == dimension - rank(rows)
    assert rank(normals) == len(normals)
    assert rank(rows) == np.linalg.matrix_rank(np.array(rows, dtype=float))


@given(st.lists(st.fractions(max_denominator=50), min_size=1, max_size=5).filter(any))
def test_whole_numbers_keep_the_proportions(numbers):
    scaled = as_whole(numbers)
    assert math.gcd(*scaled) == 1
    ratio = next(Fraction(n) / s for n, s in zip(numbers, scaled, strict=True) if s)
    assert ratio > 0
    assert [ratio * s for s in scaled] == numbers


@given(tables(), st.booleans(), st.data())
def test_signs_and_minimum_of_products_are_exact_at_every_magnitude(table, fit_intercept, data):
    X, y = table
    points = Points.of(X, y, fit_intercept)
    w = data.draw(
        st.lists(st.integers(-(10**40), 10**40) | whole, min_size=points.dimension, max_size=points.dimension)
    )
    exact = [label * (dot(row, w[:-1]) + int(fit_intercept) * w[-1]) for row, label in zip(X.tolist(), y, strict=True)]
    for form in (points, Points.of(sparse.csr_matrix(X), y, fit_intercept)):
        assert signs_of_products(form, w).tolist() == [(v > 0) - (v < 0) for v in exact]
        smallest, row = smallest_product(form, w)
        assert smallest == min(exact) == exact[row]


@given(matrices.filter(lambda rows: len(rows) > 1))
def test_the_exact_nearest_point_is_the_nearest(rows):
    found = nearest_point_exactly(rows, Clock(None))
    total = sum(found.weights)
    point = [
        Fraction(sum(w * rows[i][j] for i, w in zip(found.rows, found.weights, strict=True)), total)
        for j in range(len(rows[0]))
    ]
    assert [total * v for v in point] == found.direction
    assert min(found.weights) > 0
    assert all(dot(row, point) >= dot(point, point) for row in rows)


def test_the_exact_nearest_point_gives_up_when_time_is_over():
    assert nearest_point_exactly([[3, 1], [1, 3], [4, 0]], Clock(-1)) is None


def test_an_upper_bound_takes_whole_numbers_of_any_size():
    points = Points.of([[2.0**200, 1.0], [-(2.0**200), 1.0 + 2.0**-50]], [1, 1], fit_intercept=False)
    exact = upper_square(points, np.array([0, 1]), [3**200, 3**200])
    assert exact == (1 + Fraction(1, 2**51)) ** 2
    assert upper_square(points, np.array([0, 1]), [3**200, 3**200 + 1]) > 1
    assert upper_square(points, np.array([0, 1]), [0.5, 0.5]) == exact


@given(tables().filter(lambda table: len(set(table[1].tolist())) == 2))
def test_facial_reduction_ends_with_a_weak_separator_or_a_spanning_obstruction(table):
    X, y = table
    points = Points.of(X, y)
    answer = decide(points, Clock(None))
    assume(answer.obstruction is not None)
    beyond = reduce_faces(points, answer.obstruction, Clock(None))
    assert beyond.settled
    assert vanishes(points, beyond.obstruction.rows, beyond.obstruction.weights)
    if beyond.weak_separator is None:
        assert spans_all(points, beyond.obstruction.rows)
        assert exact_lp.verdict(X, y) == "overlapping"
    else:
        assert weakly_separates(points, beyond.weak_separator)
        assert not spans_all(points, beyond.obstruction.rows)
        assert exact_lp.verdict(X, y) == "quasi-separable"


def test_facial_reduction_takes_as_many_rounds_as_it_needs():
    """Pairs of opposite points on each axis: every round finds one axis, if it is given only one to begin with."""
    X = np.repeat(np.eye(3), 2, axis=0)
    points = Points.of(X, [1, -1] * 3, fit_intercept=False)
    beyond = reduce_faces(points, Contradiction(np.array([0, 1]), [1, 1]), Clock(None))
    assert beyond.settled
    assert beyond.weak_separator is None
    assert sorted(beyond.obstruction.rows.tolist()) == list(range(6))


def test_zeros_that_a_matrix_stores_are_left_where_they_are():
    X = sparse.csr_array((np.array([1.0, 0.0, 2.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    points = Points.of(X, [1, -1], fit_intercept=False)
    points.signed().eliminate_zeros()
    products.whole_matrix(points, np.arange(2))
    assert (X.indices.tolist(), X.indptr.tolist()) == ([0, 1, 1], [0, 2, 3])


def test_what_vanishes_must_be_positive_and_not_empty():
    points = Points.of([[1.0], [1.0]], [1, -1], fit_intercept=False)
    assert vanishes(points, np.array([0, 1]), [2, 2])
    assert not vanishes(points, np.array([0, 1]), [1, 2])
    assert not vanishes(points, np.array([0, 1]), [-1, -1])
    assert not vanishes(points, np.array([], dtype=np.int64), [])


def fingerprint(X, y):
    return InMemory.of(X, y, fit_intercept=True).subject.data_hash


def test_the_fingerprint_depends_on_the_numbers_alone():
    X = np.array([[0.0, 1.5, -0.0], [2.0, 0.0, 0.25]])
    y = ["a", "b"]
    same = {
        fingerprint(form, y)
        for form in (
            X,
            X.astype(np.float32),
            np.asfortranarray(X),
            sparse.csr_matrix(X),
            sparse.coo_matrix(X),
            X.tolist(),
        )
    }
    assert len(same) == 1
    others = [
        (X[::-1], y),
        (X[:, ::-1], y),
        (X, ["b", "a"]),
        (X[[0, 1, 1]], [*y, "b"]),
        (X, [0, 1]),
        (X, [0.0, 1.0]),
        (X, [False, True]),
        (2 * X, y),
        (np.hstack([X, X[:, :1] * 0]), y),
    ]
    assert len({fingerprint(*other) for other in others} | same) == len(others) + 1


def test_the_points_of_keslers_construction_are_right_against_rival():
    X, y = np.array([[1.0, 2.0], [0.0, 3.0]]), ["b", "a"]
    points = kesler_points(X, y)
    assert points.take(np.arange(2)).tolist() == [[-1, -2, -1, 1, 2, 1, 0], [0, 3, 1, 0, -3, -1, 0]]
    labels = np.array(["b", "a", "c", "b"])
    numbers = np.arange(8)
    rows, rivals = rows_and_rivals(labels, numbers)
    assert rivals == ("a", "c", "b", "c", "a", "b", "a", "c")
    assert point_numbers(labels, rows, rivals).tolist() == numbers.tolist()
    with pytest.raises(ValueError, match="only one class"):
        kesler_points(X, ["a", "a"])


@given(st.integers(0, 99_999))
def test_a_sum_in_blocks_is_the_sum(seed):
    random = np.random.default_rng(seed)
    n, d = random.integers(1, 30), random.integers(1, 6)
    scales = 2.0 ** random.integers(-20, 20, (n, d))
    X = np.where(random.random((n, d)) < 0.5, 0.0, random.standard_normal((n, d)) * scales)
    points = Points(sparse.csr_array(X), random.choice([-1, 1], n).astype(np.int8), float(random.integers(0, 2)))
    weights = [int(v) * 3 ** int(k) for v, k in zip(random.integers(1, 9, n), random.integers(0, 90, n), strict=True)]
    rows = [[Fraction(v) for v in row] for row in points.take(np.arange(n)).tolist()]
    exact = [sum(w * v for w, v in zip(weights, column, strict=True)) for column in zip(*rows, strict=True)]
    for block in (1, 1_000_000):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(products, "BLOCK", block)
            total, exponent = products.exact_sum(points, np.arange(n), weights)
        assert [value * Fraction(2) ** exponent for value in total] == exact
