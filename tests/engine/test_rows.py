"""The one door to the kernels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff.engine.jit import patience
from novikoff.engine.rows import as_rows, folded_squares, longest_square


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_that_fit_are_not_copied(dtype):
    X = np.ones((5, 3), dtype=dtype)
    assert np.shares_memory(as_rows(X).matrix, X)
    csr = sparse.csr_matrix(X)
    csr.indices.flags.writeable = False
    rows = as_rows(csr)
    assert all(
        np.shares_memory(ours, theirs)
        for ours, theirs in zip(rows.matrix, (csr.data, csr.indices, csr.indptr), strict=True)
    )


def test_kernels_see_few_types():
    X = np.eye(3)
    forms = [X, np.asfortranarray(X), X[::-1], X.astype(np.int64), X.astype(">f8"), np.array(X.tolist())]
    kinds = {
        (rows.matrix.dtype.str, rows.matrix.flags.c_contiguous, rows.matrix.flags.writeable)
        for rows in map(as_rows, forms)
    }
    assert kinds == {("<f8", True, False)}
    sparse_kinds = {
        tuple(part.dtype.str for part in as_rows(form(X)).matrix) for form in (sparse.csr_matrix, sparse.coo_matrix)
    }
    assert sparse_kinds == {("<f8", "<u4", "<u4")}


def test_small_integers_become_float32_which_holds_them_exactly():
    X = np.array([[255, 0], [17, 3]], dtype=np.uint8)
    assert as_rows(X).matrix.dtype == np.float32
    assert (as_rows(X).matrix == X).all()
    assert as_rows(X.astype(np.int32)).matrix.dtype == np.float64


def test_the_users_own_array_stays_writeable_and_unchanged():
    X = np.ones((4, 2))
    csr = sparse.csr_matrix((np.ones(4), [1, 0, 1, 1], [0, 2, 4]), shape=(2, 2))
    as_rows(X)
    as_rows(csr)
    X[0, 0] = 2
    assert csr.indices.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones(3), "reshape"),
        (np.ones((2, 2), dtype=complex), "Complex data not supported"),
        (np.array([["1", "2"]]), "strings"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "dates"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused_with_a_hint(X, words):
    with pytest.raises(ValueError, match=words):
        as_rows(X)


def test_broken_csr_matrices_are_refused_before_a_kernel_reads_outside():
    for indices, indptr in (([0, 7], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 1], [0, 2, 1]), ([0, 1], [1, 1, 2])):
        X = sparse.csr_matrix(np.eye(2))
        X.indices, X.indptr = np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32)
        X.has_canonical_format = True
        with pytest.raises(ValueError, match="broken CSR"):
            as_rows(X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity"), (1e200, "overflows float64")]
)
def test_a_number_that_is_not_finite_is_named_with_its_row_and_column(form, value, words):
    X = np.ones((50, 7))
    X[31, 4] = value
    with pytest.raises(ValueError, match=rf"{words}.* in row 31, column 4"):
        longest_square(as_rows(form(X)), 1.0)


def test_rows_too_long_or_too_short_for_float64_are_refused():
    with pytest.raises(ValueError, match=r"length 1.7.*e\+152.*divide X"):
        longest_square(as_rows(np.full((2, 3), 1e152)), 1.0)
    with pytest.raises(ValueError, match="multiply X"):
        longest_square(as_rows(np.full((2, 3), 1e-160)), 0.0)
    assert longest_square(as_rows(np.full((2, 3), 1e-160)), 1.0) >= 1.0
    assert longest_square(as_rows(np.zeros((2, 3))), 0.0) == 0.0


@given(
    rows=st.lists(
        st.sampled_from([[3, 4], [5, 0], [0, 5], [4.8, 1.4], [1.4, 4.8], [3 + 1e-15, 4], [1, 2]]), max_size=9
    ),
    constant=st.sampled_from([0.0, 1.0]),
    compiled=st.booleans(),
)
def test_the_longest_of_rows_that_are_equally_long_but_for_rounding_is_the_largest_of_their_squares(
    rows, constant, compiled
):
    """Whole numbers are added up exactly, others are rounded up: which came first must not matter."""
    X = np.array([[1, 0], *rows])
    with patience(0 if compiled else math.inf):
        for form in (np.asarray, sparse.csr_array):
            found = longest_square(as_rows(form(X)), constant)
            assert found == folded_squares(as_rows(form(X)), constant).max()


def test_the_longest_row_is_never_understated():
    from fractions import Fraction

    generator = np.random.default_rng(0)
    for _ in range(50):
        X = generator.standard_normal((20, 30)) * 10.0 ** generator.integers(-5, 6)
        exact = max(sum(Fraction(v) ** 2 for v in row) for row in X.tolist())
        for rows in (as_rows(X), as_rows(sparse.csr_matrix(X))):
            assert exact <= Fraction(longest_square(rows, 0.0)) <= exact * Fraction(1 + 1e-14)


def test_taking_and_parting_rows_keeps_their_numbers():
    X = np.random.default_rng(0).integers(0, 3, (9, 5)).astype(float)
    for rows in (as_rows(X), as_rows(sparse.csr_matrix(X))):
        chosen = np.array([3, 3, 0, 8])
        assert (rows.take(chosen).as_array() == X[chosen]).all()
        assert (rows.part(2, 6).as_array() == X[2:6]).all()
        assert rows.is_whole()
    X[4, 1] = 0.5
    assert not as_rows(X).is_whole()


def test_columns_beyond_31_bits_survive_the_way_to_scipy():
    from novikoff.engine.rows import csr_rows

    rows = csr_rows(np.ones(1), np.array([3_000_000_000], dtype=np.uint32), np.array([0, 1], dtype=np.uint32), 2**32)
    assert rows.as_scipy().indices.tolist() == [3_000_000_000]
