"""Exact solutions by floats and whole numbers, and elimination modulo a prime."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from novikoff.engine.clock import Clock
from novikoff.prove.exact.algebra import rank
from novikoff.prove.exact.modular import PRIME, eliminated
from novikoff.prove.exact.refined import MOST_DENSE, Regular, WholeMatrix
from novikoff.prove.separable import proofs
from novikoff.prove.separable.points import Points
from tests.draws import draws

SEEDS = st.integers(0, 2**32 - 1)


def whole_matrix(rows):
    sparse = csr_array(np.array(rows, dtype=np.int64))
    return WholeMatrix.of(sparse.data.tolist(), sparse.indices, sparse.indptr, sparse.shape[1])


@settings(max_examples=draws(30))
@given(
    SEEDS,
    st.integers(1, 12),
    st.sampled_from([1, 5, 10**6]),
    st.sampled_from([0, 40, 300]),
    st.booleans(),
    st.sampled_from([0, 10**6]),
)
def test_solutions_are_exact_whatever_the_size_of_numbers(seed, size, largest, bits, transpose, core):
    random = np.random.default_rng(seed)
    rows = random.integers(-largest, largest + 1, (size, size))
    right = [int(value) << bits for value in random.integers(-9, 10, size)]
    regular = Regular.of(whole_matrix(rows), Clock(None), core)
    found = None if regular is None else regular.solve(right, Clock(None), transpose)
    if found is None:
        assert rank(rows.tolist()) < size or np.linalg.cond(rows) > 1e8
        return
    given_rows = rows.T.tolist() if transpose else rows.tolist()
    sums = [sum(a * n for a, n in zip(row, found.numerators, strict=True)) for row in given_rows]
    assert sums == [value * found.denominator for value in right]


def test_factors_that_would_take_longer_than_is_left_are_not_begun():
    assert Regular.of(whole_matrix(np.eye(400)), Clock(0.001), core=400) is None


def test_a_solution_without_time_is_none():
    assert Regular(whole_matrix([[2, 1], [1, 3]])).solve([1, 1], Clock(-1)) is None


@settings(max_examples=draws(30))
@given(SEEDS, st.integers(1, 90), st.integers(1, 90), st.integers(1, 20))
def test_elimination_finds_as_many_rows_as_are_independent(seed, n_rows, n_columns, most):
    random = np.random.default_rng(seed)
    matrix = random.integers(-2, 3, (n_rows, most)) @ random.integers(-2, 3, (most, n_columns))
    found = eliminated(matrix.astype(float))
    assert len(found.rows) == len(found.columns) == rank(matrix.tolist())
    assert rank(matrix[np.ix_(found.rows, found.columns)].tolist()) == len(found.rows) or not found.rows
    products = matrix.astype(object) @ found.normals().astype(np.int64).astype(object)
    assert all(int(value) % PRIME == 0 for value in products.ravel())


@pytest.mark.parametrize("full", [0, 300])
@settings(max_examples=draws(30))
@given(SEEDS, st.booleans(), st.booleans())
def test_spanning_points_span_all_and_nothing_else(full, seed, is_sparse, is_scaled):
    random = np.random.default_rng(seed)
    rows = random.integers(0, 2, (40, 12)) * (random.random((40, 12)) < 0.3).astype(float)
    scales = np.ldexp(1.0, random.integers(-40, 40, 12)) if is_scaled else np.ones(12)
    given_rows = rows * scales
    points = Points(csr_array(given_rows) if is_sparse else given_rows, np.ones(40, dtype=np.int8), 0.0)
    which = np.sort(random.permutation(40)[:20])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proofs, "FULL", full)
        found = proofs.spanning(points, which, Clock(None))
    whole = rows.astype(int).tolist()
    chosen = [whole[row] for row in found.rows]
    assert set(found.rows.tolist()) <= set(which.tolist())
    assert rank(chosen) == len(found.rows) == rank([whole[row] for row in which])
    expected = [rank([*chosen, row]) > len(chosen) for row in whole]
    assert found.are_outside(points).tolist() == expected


@pytest.mark.parametrize("transpose", [False, True])
def test_how_rows_and_columns_are_scaled_does_not_matter_to_floats(transpose):
    """Of so many equations none is eliminated without floats."""
    random = np.random.default_rng(0)
    size = MOST_DENSE + 20
    rows = (np.eye(size, dtype=np.int64) * 3 + np.eye(size, k=1, dtype=np.int64)).astype(object)
    rows = rows << random.integers(0, 70, (size, 1)).astype(object) << random.integers(0, 70, size).astype(object)
    sparse = csr_array(rows.astype(float))
    numbers = rows[np.repeat(np.arange(size), np.diff(sparse.indptr)), sparse.indices]
    matrix = WholeMatrix.of(numbers, sparse.indices, sparse.indptr, size)
    right = [int(value) for value in random.integers(-9, 10, size)]
    found = Regular(matrix).solve(right, Clock(None), transpose)
    products = (matrix.transposed() if transpose else matrix).times(found.numerators).tolist()
    assert products == [value * found.denominator for value in right]
