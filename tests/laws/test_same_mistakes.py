"""Dense or sparse, single or double, in one call or in many: the same examples make the same mistakes, exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Perceptron
from novikoff.learn.linear import Memory, learn_online, perceptron
from tests import lecture


def one_decimal(seed, n=60, d=17):
    """Few values of one decimal, few columns a row: many scores are 0 but for the rounding, which then decides."""
    generator = np.random.default_rng(seed)
    values = generator.choice([-0.3, -0.2, -0.1, 0.1, 0.2, 0.3], (n, d))
    return values * (generator.random((n, d)) < 0.7), generator.integers(0, 3, n)


def with_long_indices(X):
    X = sparse.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def unaligned(X):
    """The same numbers at addresses that are no multiple of 8."""
    buffer = np.empty(X.nbytes + 1, dtype=np.uint8)
    view = np.frombuffer(buffer.data, dtype=X.dtype, count=X.size, offset=1).reshape(X.shape)
    view[:] = X
    assert not view.flags.aligned
    return view


def unsorted_with_duplicates(X):
    """CSR with descending columns, and every entry split in two."""
    X = sparse.csr_matrix(X)
    data, indices, indptr = [], [], [0]
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        for value, column in zip(X.data[start:stop][::-1], X.indices[start:stop][::-1], strict=True):
            data += [value / 2, value / 2]
            indices += [column, column]
        indptr.append(len(data))
    return sparse.csr_matrix((data, indices, indptr), shape=X.shape)


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "every other row of a larger array": lambda X: np.repeat(X, 2, axis=0)[::2],
    "byte-swapped": lambda X: X.astype(X.dtype.newbyteorder()),
    "read-only": read_only,
    "unaligned": unaligned,
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "csr float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "csr int64": with_long_indices,
    "csr, unsorted, with duplicates": unsorted_with_duplicates,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_form_of_the_same_numbers_makes_the_same_mistakes(form, n_classes):
    for seed in range(15):
        X, y = one_decimal(seed)
        if "float32" in form:
            X = X.astype(np.float32).astype(np.float64)
        labels = np.where(y > 0, 1, -1) if n_classes == 2 else y
        options = {"n_classes": n_classes, "seed": seed, "keep_mistakes": True, "readout": "vote", "max_epochs": 4}
        plain, other = (perceptron(points, labels, **options) for points in (X, FORMS[form](X)))
        assert plain.mistakes.rows.tolist() == other.mistakes.rows.tolist()
        assert plain.run == other.run
        assert (plain.memory.weights == other.memory.weights).all()
        assert (plain.memory.drift == other.memory.drift).all()


def test_a_memory_mapped_file_makes_the_same_mistakes_and_is_not_copied(tmp_path):
    X, y = one_decimal(0)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    fits = [Perceptron(random_state=0, record_mistakes=True).fit(points, y) for points in (X, mapped)]
    assert fits[0].mistake_rows_.tolist() == fits[1].mistake_rows_.tolist()


@pytest.mark.parametrize("tie", ["mistake", "predict"])
@pytest.mark.parametrize("bias", [True, False])
@given(seed=st.integers(0, 9_999))
def test_the_mistakes_are_those_of_the_lecture_row_by_row(tie, bias, seed):
    X, y = one_decimal(seed, n=25, d=4)
    rows = [*range(25)] * 3
    options = {"fit_intercept": bias, "tie": tie, "shuffle": False, "max_epochs": 3, "keep_mistakes": True}
    labels = np.where(y > 0, 1, -1)
    binary = perceptron(X, labels, **options)
    assert binary.mistakes.rows.tolist() == lecture.mistakes(lecture.perceptron(X, labels, rows, bias=bias, tie=tie))
    multi = perceptron(X, y, n_classes=3, **options)
    *_, last = lecture.multiclass_perceptron(X, y, rows, 3, bias=bias, tie=tie)
    expected = lecture.mistakes(lecture.multiclass_perceptron(X, y, rows, 3, bias=bias, tie=tie))
    assert multi.mistakes.rows.tolist() == expected
    assert multi.memory.weights.tolist() == last.weights


@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_in_order_equals_as_many_passes_of_partial_fit(readout, n_classes):
    X, y = one_decimal(1)
    y = np.minimum(y, n_classes - 1)
    whole = Perceptron(readout=readout, shuffle=False, max_epochs=3, record_mistakes=True).fit(X, y)
    parts = Perceptron(readout=readout, record_mistakes=True)
    for _ in range(3):
        for start in range(0, len(y), 7):
            parts.partial_fit(X[start : start + 7], y[start : start + 7], classes=range(n_classes))
    assert whole.n_mistakes_ == parts.n_mistakes_
    assert whole.mistake_rows_.tolist() == (parts.mistake_rows_ % len(y)).tolist()
    assert (whole.decision_function(X) == parts.decision_function(X)).all()
    if readout != "vote":
        assert (whole.coef_ == parts.coef_).all()
        assert (whole.intercept_ == parts.intercept_).all()


def test_dense_and_sparse_batches_may_alternate():
    X, y = one_decimal(2)
    memories = [Memory.empty(X.shape[1], 3, vote=True) for _ in range(2)]
    for start in range(0, len(y), 10):
        part, labels = X[start : start + 10], y[start : start + 10]
        learn_online(memories[0], part, labels)
        learn_online(memories[1], sparse.csr_matrix(part) if start % 20 else part, labels)
    assert (memories[0].weights == memories[1].weights).all()
    assert (memories[0].drift == memories[1].drift).all()


@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_dense_and_sparse_rows_have_the_same_scores_bit_for_bit(readout, n_classes):
    X, y = one_decimal(3)
    model = Perceptron(readout=readout, random_state=0).fit(X, np.minimum(y, n_classes - 1))
    dense, csr = model.decision_function(X), model.decision_function(sparse.csr_matrix(X))
    assert (dense == csr).all()


def test_long_rows_of_one_decimal_make_the_mistakes_of_the_lecture():
    """The fastest order of a sum, which differs between layouts, must not decide what rounding makes of a tie."""
    for seed in range(30):
        X, y = one_decimal(seed, n=40, d=33)
        labels = np.where(y > 0, 1, -1)
        options = {"fit_intercept": False, "shuffle": False, "max_epochs": 2, "keep_mistakes": True}
        expected = lecture.mistakes(lecture.perceptron(X, labels, [*range(40)] * 2, bias=False))
        for points in (X, sparse.csr_matrix(X)):
            assert perceptron(points, labels, **options).mistakes.rows.tolist() == expected
