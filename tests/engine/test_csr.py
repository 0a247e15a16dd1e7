"""Sparse matrices that name an entry several times: its value is the correctly rounded sum, in every way in."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import KernelPerceptron, Perceptron, SequencePerceptron
from novikoff.engine.csr import as_csr, without_repeats
from novikoff.engine.rows import as_rows
from novikoff.features.tokens import stacked
from novikoff.learn.linear.files import learn_from

TRICKY = [
    ([1.0, 2.0**-60], 1.0),
    ([1e16, 1.0, -1e16], 1.0),
    ([1e16, -1e16, 1.0], 1.0),
    ([1.0, 2.0**-53, 2.0**-53], 1.0 + 2.0**-52),
    ([1e308, 1e308, -1e308], 1e308),
    ([0.1] * 10, 1.0),
    ([5e-324, 5e-324], 1e-323),
]
KINDS = (np.int32, np.int64)


def repeated(parts, kind=np.int32, form=sparse.csr_array, dtype=np.float64):
    """Two rows: the first names column 1 once for every part, the second is plain."""
    n = len(parts)
    data, indices = np.array([*parts, 3.0], dtype=dtype), np.array([*[1] * n, 0], dtype=kind)
    return form(sparse.csr_array((data, indices, np.array([0, n, n + 1], dtype=kind)), shape=(2, 3)))


@pytest.mark.parametrize(("parts", "total"), TRICKY)
@pytest.mark.parametrize("kind", KINDS)
def test_a_repeated_entry_is_the_correctly_rounded_sum(parts, total, kind):
    given_matrix = repeated(parts, kind)
    X = without_repeats(given_matrix)
    assert X.toarray().tolist() == [[0.0, total, 0.0], [3.0, 0.0, 0.0]]
    assert X.has_canonical_format
    assert X.indices.dtype == kind
    assert given_matrix.nnz == len(parts) + 1
    assert as_rows(given_matrix).as_array().tolist() == X.toarray().tolist()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6), st.randoms())
def test_no_order_of_the_parts_matters(parts, chance):
    shuffled = parts[:]
    chance.shuffle(shuffled)
    try:
        exact = float(sum(map(Fraction, parts)))
    except OverflowError:
        with pytest.raises(
            ValueError, match=r"has .* duplicate entries in row 0, column 1, and their sum is beyond the range"
        ):
            without_repeats(repeated(shuffled))
        return
    assert without_repeats(repeated(shuffled)).toarray()[0, 1] == exact


def test_a_matrix_without_repeats_is_not_copied():
    X = sparse.csr_array(np.arange(6.0).reshape(2, 3))
    assert without_repeats(X) is X


def test_columns_out_of_order_are_sorted_and_the_given_matrix_stays_as_it_was():
    X = sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    assert without_repeats(X).indices.tolist() == [0, 2]
    assert without_repeats(X).toarray().tolist() == [[2.0, 0.0, 5.0]]
    assert X.indices.tolist() == [2, 0, 2]
    unsorted = sparse.csr_matrix((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    assert without_repeats(unsorted).data.tolist() == [2.0, 1.0]


def test_sums_do_not_depend_on_the_precision_of_the_parts():
    parts = [1.0, 2.0**-30, 2.0**-40]
    for dtype in (np.float32, np.float64):
        assert without_repeats(repeated(parts, dtype=dtype)).toarray()[0, 1] == 1.0 + 2.0**-30 + 2.0**-40


def test_whole_numbers_do_not_wrap_around():
    assert without_repeats(repeated([100, 100], dtype=np.int8)).toarray()[0, 1] == 200
    assert without_repeats(repeated([2**62, 2**62, 2**62], dtype=np.int64)).toarray()[0, 1] == 3 * 2.0**62


def test_what_is_not_finite_stays_so_and_is_named():
    for parts in ([np.inf, 1.0], [np.inf, -np.inf], [np.nan, 1.0, 2.0]):
        with pytest.raises(ValueError, match=r"X contains (infinity|NaN) in row 0, column 1"):
            Perceptron().fit(repeated(parts), [0, 1])


PARTS = np.array([1e16, 1.0, -1e16, 2.0])
COO = (PARTS, (np.array([0, 0, 0, 1]), np.array([1, 1, 1, 0])))
CSC = (PARTS[[3, 0, 1, 2]], np.array([1, 0, 0, 0], dtype=np.int32), np.array([0, 1, 4, 4], dtype=np.int32))
FORMS = {
    "csr": lambda: as_csr(sparse.coo_array(COO, shape=(2, 3))),
    "coo": lambda: sparse.coo_array(COO, shape=(2, 3)),
    "coo_matrix": lambda: sparse.coo_matrix(COO, shape=(2, 3)),
    "csc": lambda: sparse.csc_array(CSC, shape=(2, 3)),
}
SUMMED = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])


@pytest.mark.parametrize("form", FORMS)
def test_every_learner_sees_the_rounded_sums(form):
    X, y = FORMS[form](), [1, 0]

    def learned(rows):
        linear = Perceptron(shuffle=False, max_iter=2)
        parts = [linear.fit(rows, y).coef_, linear.decision_function(rows)]
        parts += [Perceptron().partial_fit(rows, y).coef_]
        parts += [learn_from([(rows, y)], shuffle=False, max_iter=2).memory.weights]
        parts += [KernelPerceptron(kernel="linear", shuffle=False).fit(rows, y).decision_function(rows)]
        parts += [stacked([rows, rows]).rows.as_array()]
        return [part.tolist() for part in parts]

    assert learned(X) == learned(SUMMED)
    assert SequencePerceptron(shuffle=False).fit([X, X], [[0, 1], [0, 1]]).predict([X]) == [[0, 1]]


def test_a_precomputed_matrix_with_repeated_entries_is_added_up_too():
    K = sparse.csr_array((np.array([1e16, 1.0, -1e16, 1.0]), np.array([0, 0, 0, 1]), np.array([0, 3, 4])), shape=(2, 2))
    model = KernelPerceptron(kernel="precomputed", shuffle=False).fit(K, [0, 1])
    assert model.decision_function(K).tolist() == model.decision_function(np.eye(2)).tolist()


@pytest.mark.parametrize(
    ("indices", "indptr", "words"),
    [([0, 7], [0, 1, 2], "outside its 3 columns"), ([0, -1], [0, 1, 2], "outside its 3 columns"),
     ([0, 1], [0, 9, 2], "does not ascend"), ([0, 1], [0, 1, 9], "does not ascend")],
)  # fmt: skip
def test_a_broken_matrix_is_refused_before_it_is_walked_along(indices, indptr, words):
    X = sparse.csr_array((2, 3))
    X.data, X.indices, X.indptr = np.ones(2), np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32)
    with pytest.raises(ValueError, match=words):
        without_repeats(X)
