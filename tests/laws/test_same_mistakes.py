"""Dense or sparse, single or double, in one call or in many: the same examples make the same mistakes, exactly."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Perceptron
from novikoff.engine.jit import patience
from novikoff.learn.linear.space import Memory, learn_online, perceptron
from tests import lecture


def one_decimal(seed, n=60, d=17):
    """Few values of one decimal, few columns a row: many scores are 0 but for the rounding, which then decides."""
    generator = np.random.default_rng(seed)
    values = generator.choice([-0.3, -0.2, -0.1, 0.1, 0.2, 0.3], (n, d))
    return values * (generator.random((n, d)) < 0.7), generator.integers(0, 3, n)


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
    options = {"fit_intercept": bias, "tie": tie, "shuffle": False, "max_epochs": 3, "record_mistakes": True}
    labels = np.where(y > 0, 1, -1)
    binary = perceptron(X, labels, **options)
    assert binary.mistakes.rows.tolist() == lecture.mistakes(lecture.perceptron(X, labels, rows, bias=bias, tie=tie))
    multi = perceptron(X, y, n_classes=3, **options)
    *_, last = lecture.multiclass_perceptron(X, y, rows, 3, bias=bias, tie=tie)
    expected = lecture.mistakes(lecture.multiclass_perceptron(X, y, rows, 3, bias=bias, tie=tie))
    assert multi.mistakes.rows.tolist() == expected
    assert multi.memory.weights.tolist() == last.weights


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_interpreted_loops_make_the_mistakes_of_compiled_ones_and_keep_the_same_memory(kind, n_classes, layout):
    X, y = one_decimal(4)
    X, y = layout(X.astype(kind)), np.minimum(y, n_classes - 1)
    labels = 2 * y - 1 if n_classes == 2 else y
    options = {"n_classes": n_classes, "random_state": 0, "record_mistakes": True}
    runs = []
    for numbers in (0, math.inf):
        with patience(numbers):
            runs.append(perceptron(X, labels, **options))
    compiled, interpreted = runs
    assert (compiled.mistakes.rows == interpreted.mistakes.rows).all()
    assert (compiled.memory.weights == interpreted.memory.weights).all()
    assert (compiled.memory.drift == interpreted.memory.drift).all()
    assert compiled.run == interpreted.run


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
        options = {"fit_intercept": False, "shuffle": False, "max_epochs": 2, "record_mistakes": True}
        expected = lecture.mistakes(lecture.perceptron(X, labels, [*range(40)] * 2, bias=False))
        for points in (X, sparse.csr_matrix(X)):
            assert perceptron(points, labels, **options).mistakes.rows.tolist() == expected
