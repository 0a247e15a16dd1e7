"""Dense or sparse, single or double, in one call or in many: the same examples make the same mistakes, exactly."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Perceptron
from novikoff.data.order import POOL
from novikoff.engine.jit import patience
from novikoff.engine.rows import as_rows
from novikoff.learn.linear.space import LinearMemory, learn_online, perceptron
from tests import lecture
from tests.draws import draws


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
    options = {"fit_intercept": bias, "tie": tie, "shuffle": False, "max_iter": 3, "record_mistakes": True}
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


def in_another_order(csr, seed=0):
    """The same matrix, with the entries of every row shuffled."""
    generator = np.random.default_rng(seed)
    places = np.concatenate([generator.permutation(np.arange(*ends)) for ends in pairwise(csr.indptr.tolist())])
    return sparse.csr_array((csr.data[places], csr.indices[places], csr.indptr), shape=csr.shape)


@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=st.integers(0, 9_999))
@settings(max_examples=draws(15))
def test_the_order_of_the_entries_in_a_row_changes_nothing(readout, n_classes, seed):
    X, y = one_decimal(seed, d=33)
    ordered, y = sparse.csr_array(X), np.minimum(y, n_classes - 1)
    shuffled = in_another_order(ordered, seed)
    models = [Perceptron(readout=readout, random_state=0, record_mistakes=True).fit(one, y) for one in (X, shuffled)]
    memories = [model.model_.memory for model in models]
    assert (memories[0].weights == memories[1].weights).all()
    assert (memories[0].drift == memories[1].drift).all()
    assert models[0].mistake_rows_.tolist() == models[1].mistake_rows_.tolist()
    assert models[0].run_ == models[1].run_
    for one in (ordered, shuffled):
        assert (models[1].predict(one) == models[0].predict(X)).all()
        assert (models[1].decision_function(one) == models[0].decision_function(X)).all()


def test_sparse_rows_are_learned_without_a_copy_in_whatever_order_they_are():
    X, y = one_decimal(1)
    shuffled = in_another_order(sparse.csr_array(X))
    before = shuffled.indices.copy()
    rows = as_rows(shuffled, any_order=True).without_repeats()
    assert np.shares_memory(rows.matrix.data, shuffled.data)
    assert np.shares_memory(rows.matrix.indices, shuffled.indices)
    Perceptron().fit(shuffled, y).predict(shuffled)
    assert (shuffled.indices == before).all()


@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
def test_repeated_entries_count_as_their_sum_in_whatever_order_they_are():
    X, y = one_decimal(5)
    once = sparse.coo_array(X)
    halves = [np.tile(part, 2) for part in (once.row, once.col)]
    order = np.random.default_rng(0).permutation(2 * once.nnz)
    order = order[np.argsort(halves[0][order], kind="stable")]
    parts = np.concatenate([once.data / 2, once.data / 2])[order]
    pointers = np.searchsorted(halves[0][order], np.arange(len(X) + 1))
    repeated = sparse.csr_array((parts, halves[1][order], pointers), shape=X.shape)
    models = [Perceptron(random_state=0, readout="last").fit(one, y) for one in (X, repeated)]
    assert (models[0].coef_ == models[1].coef_).all()
    assert (models[0].predict(X) == models[0].predict(repeated)).all()
    assert (models[0].decision_function(X) == models[0].decision_function(repeated)).all()


def test_rows_are_looked_at_once_to_be_predicted(monkeypatch):
    X, y = one_decimal(6)
    model = Perceptron(random_state=0).fit(X, y)
    monkeypatch.setattr("novikoff.learn.linear.memory.longest_square", None)
    monkeypatch.setattr("novikoff.learn.linear.memory.fill_scores", None)
    for rows in (X, sparse.csr_array(X)):
        model.predict(rows)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_what_is_not_finite_is_refused_when_it_is_to_be_predicted(bad, layout):
    X, y = one_decimal(7)
    model = Perceptron(random_state=0).fit(X, y)
    X[3, 2] = bad
    with pytest.raises(ValueError, match="row 3, column 2"):
        model.predict(layout(X))


def test_dense_and_sparse_batches_may_alternate():
    X, y = one_decimal(2)
    memories = [LinearMemory.empty(X.shape[1], 3, vote=True) for _ in range(2)]
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
        options = {"fit_intercept": False, "shuffle": False, "max_iter": 2, "record_mistakes": True}
        expected = lecture.mistakes(lecture.perceptron(X, labels, [*range(40)] * 2, bias=False))
        for points in (X, sparse.csr_matrix(X)):
            assert perceptron(points, labels, **options).mistakes.rows.tolist() == expected


@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shuffle", [True, False])
def test_more_rows_than_a_pool_are_learned_and_predicted_alike_in_both_layouts(n_classes, kind, shuffle):
    """Rows are shuffled pool by pool, and the last pool is smaller."""
    generator = np.random.default_rng(0)
    X = np.zeros((POOL + 7, 2_000), dtype=kind)
    for row in X:
        row[generator.permutation(2_000)[: generator.integers(80, 400)]] = generator.integers(-3, 4)
    y = generator.integers(0, n_classes, len(X))
    sparse_rows = sparse.csr_array(X)
    options = {"max_iter": 2, "shuffle": shuffle, "random_state": 0, "record_mistakes": True}
    models = [Perceptron(**options).fit(rows, y) for rows in (X, sparse_rows)]
    assert models[0].mistake_rows_.tolist() == models[1].mistake_rows_.tolist()
    assert models[0].run_ == models[1].run_
    assert (models[0].coef_ == models[1].coef_).all()
    assert (models[0].predict(X) == models[1].predict(sparse_rows)).all()
