"""On one core or on many: the same weights, scores, predictions, records and proofs, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from novikoff import Perceptron, certify
from novikoff.engine import slack, threads
from novikoff.engine.rows import as_rows, folded_squares, longest_square
from novikoff.engine.threads import on_cores, thread_count
from novikoff.learn.linear.memory import rough_scores, scores
from tests.draws import draws
from tests.laws.test_same_mistakes import one_decimal

JOBS = (1, 2, 3)


@pytest.fixture(autouse=True)
def threads_always_pay(monkeypatch):
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(slack, "FEWEST_ROWS", 1)
    monkeypatch.setattr(slack, "RARE", 1)


def backwards(X):
    """Sparse rows whose entries are stored from the last column to the first."""
    X = sparse.csr_matrix(X)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[start:stop] = X.indices[start:stop][::-1].copy()
        X.data[start:stop] = X.data[start:stop][::-1].copy()
    X.has_sorted_indices = False
    return X


LAYOUTS = [np.asarray, sparse.csr_array, backwards]


@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=draws(12))
@given(seed=st.integers(0, 9_999), readout=st.sampled_from(["average", "last", "vote"]))
def test_a_fit_and_its_predictions_are_the_same_on_any_number_of_threads(layout, n_classes, seed, readout):
    X, y = one_decimal(seed, n=80, d=6)
    X, y = layout(X), np.minimum(y, n_classes - 1)
    y[:n_classes] = range(n_classes)
    base = Perceptron(readout=readout, random_state=seed, held_out=0.2, record_mistakes=True)
    fits = [clone(base).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in JOBS]
    for fit in fits[1:]:
        assert fit.run_ == fits[0].run_
        assert fit.mistake_rows_.tolist() == fits[0].mistake_rows_.tolist()
        for name in ("weights", "drift"):
            assert getattr(fit.model_.memory, name).tolist() == getattr(fits[0].model_.memory, name).tolist()
        assert fit.decision_function(X).tolist() == fits[0].decision_function(X).tolist()
        assert fit.predict(X).tolist() == fits[0].predict(X).tolist()
        assert fit.score(X, y) == fits[0].score(X, y)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(seed=st.integers(0, 9_999), n_classes=st.integers(1, 5), n_rows=st.integers(1, 12))
def test_scores_are_sums_in_column_order_whatever_the_layout_and_the_threads(layout, seed, n_classes, n_rows):
    X, _ = one_decimal(seed, n=n_rows, d=300 if seed % 2 else 7)
    weights = np.random.default_rng(seed).standard_normal((n_classes, X.shape[1] + 1))
    expected = []
    for x in X.tolist():
        line = []
        for w in weights.tolist():
            total = 0.0
            for a, b in zip(x, w[:-1], strict=True):
                total += a * b
            line.append(total + w[-1])
        expected.append(line)
    rows = as_rows(layout(X), any_order=True)
    for n_jobs in JOBS:
        with on_cores(n_jobs):
            found, rough = scores(rows, weights, 1.0), rough_scores(rows, weights, 1.0)
        assert found.reshape(n_rows, n_classes).tolist() == expected
        assert np.allclose(rough.reshape(n_rows, n_classes), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(seed=st.integers(0, 9_999))
def test_lengths_are_the_same_in_every_layout_and_on_any_number_of_threads(layout, seed):
    X, _ = one_decimal(seed, n=20, d=9)
    X = X / np.maximum(np.sqrt((X * X).sum(axis=1)), 0.1)[:, None]  # many rows may be the longest
    expected = folded_squares(as_rows(X), 1.0).tolist()
    for n_jobs in JOBS:
        with on_cores(n_jobs):
            rows = as_rows(layout(X), any_order=True)
            assert folded_squares(rows, 1.0).tolist() == expected
            assert longest_square(rows, 1.0) == max(expected)


@pytest.mark.parametrize("n_jobs", JOBS)
@pytest.mark.parametrize("layout", LAYOUTS[:2])
def test_the_first_bad_number_is_named_on_any_number_of_threads(n_jobs, layout):
    X, y = one_decimal(0)
    model = Perceptron(n_jobs=n_jobs, random_state=0).fit(X, y)
    X[[7, 30, 50], 3] = np.nan
    for call in (model.predict, model.decision_function, lambda rows: model.fit(rows, y)):
        with pytest.raises(ValueError, match="row 7, column 3"):
            call(layout(X))


@pytest.mark.parametrize("layout", LAYOUTS[:2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_certificate_is_the_same_on_any_number_of_threads(layout, n_classes):
    X, y = one_decimal(1, n=40, d=5)
    separable = layout(X), (X @ [1.0, 2.0, -1.0, 0.5, 1.0] > 0.1) + 0
    mixed = layout(X), np.minimum(y, n_classes - 1)
    for data in (separable, mixed):
        found = []
        for n_jobs in JOBS:
            with on_cores(n_jobs):
                found.append(certify(*data).to_json())
        assert found == found[:1] * 3


def test_a_number_of_threads_that_means_nothing_is_refused():
    with pytest.raises(ValueError, match="n_jobs=0"):
        Perceptron(n_jobs=0).fit([[0.0], [1.0]], [0, 1])


def test_a_search_on_threads_of_joblib_uses_no_others(monkeypatch):
    from joblib import parallel_config

    counts = []
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    monkeypatch.setattr("novikoff.engine.threads.thread_count", lambda: counts.append(thread_count()) or counts[-1])
    X, y = one_decimal(2)
    with parallel_config("threading"):
        GridSearchCV(Perceptron(random_state=0), {"max_iter": [1, 2]}, cv=2, n_jobs=2, refit=False).fit(X, y)
    assert counts
    assert set(counts) == {1}


def test_a_model_says_how_many_threads_it_was_asked_to_use_and_predicts_the_same_with_others():
    X, y = one_decimal(3)
    model = Perceptron(n_jobs=2, random_state=0).fit(X, y)
    assert model.to_model().parameters["n_jobs"] == 2
    one = replace(model.to_model(), parameters={})
    assert one.predict(as_rows(X)).tolist() == model.predict(X).tolist()
