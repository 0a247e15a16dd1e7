"""Last, average and vote, against their definitions: the weights after every example, kept one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Perceptron
from novikoff.learn.linear import perceptron
from tests import lecture


def small(seed, n=14, d=3, n_classes=2):
    generator = np.random.default_rng(seed)
    return generator.integers(-4, 5, (n, d)).astype(float) / generator.choice([1, 3]), generator.integers(
        0, n_classes, n
    )


@given(st.integers(0, 9_999), st.sampled_from(["mistake", "predict"]))
def test_the_average_is_the_mean_of_the_weights_after_each_example(seed, tie):
    X, y = small(seed)
    labels = 2 * y - 1
    learned = perceptron(X, labels, shuffle=False, max_epochs=3, tie=tie)
    rows = [*range(len(y))] * learned.run.epochs
    history = [seen.weights for seen in lecture.perceptron(X, labels, rows, bias=True, tie=tie)]
    assert learned.memory.average()[0] == pytest.approx(lecture.average(history), rel=1e-12, abs=1e-12)
    assert learned.memory.weights[0].tolist() == history[-1]


@given(st.integers(0, 9_999))
def test_the_multiclass_average_is_the_mean_too(seed):
    X, y = small(seed, n_classes=4)
    learned = perceptron(X, y, n_classes=4, shuffle=False, max_epochs=3)
    rows = [*range(len(y))] * learned.run.epochs
    history = [seen.weights for seen in lecture.multiclass_perceptron(X, y, rows, 4, bias=True)]
    assert learned.memory.average() == pytest.approx(np.mean(history, axis=0), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@given(seed=st.integers(0, 9_999), tie=st.sampled_from(["mistake", "predict"]))
def test_a_vote_counts_every_weight_vector_as_long_as_it_lived(form, seed, tie):
    X, y = small(seed)
    if len(set(y)) < 2:
        return
    model = Perceptron(readout="vote", shuffle=False, max_epochs=3, tie=tie).fit(form(X), y)
    rows = [*range(len(y))] * model.n_iter_
    history = [seen.weights for seen in lecture.perceptron(X, 2 * y - 1, rows, bias=True, tie=tie)]
    strangers = np.vstack([X, small(seed + 1)[0], np.zeros((1, 3))])
    expected = [lecture.vote(history, [*x, 1.0]) / len(history) for x in strangers.tolist()]
    assert model.decision_function(form(strangers)).tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@given(seed=st.integers(0, 9_999))
def test_a_multiclass_vote_goes_to_the_argmax_of_every_weight_vector(form, seed):
    X, y = small(seed, n_classes=3)
    if len(set(y)) < 3:
        return
    model = Perceptron(readout="vote", shuffle=False, max_epochs=3).fit(form(X), y)
    rows = [*range(len(y))] * model.n_iter_
    ballots = np.zeros((len(X), 3))
    for seen in lecture.multiclass_perceptron(X, y, rows, 3, bias=True):
        for i, x in enumerate(X.tolist()):
            scores = [lecture.dot([*x, 1.0], w) for w in seen.weights]
            ballots[i, max(range(3), key=lambda c: (scores[c], -c))] += 1
    assert model.decision_function(form(X)) == pytest.approx(ballots / len(rows), abs=1e-12)


def test_a_vote_in_small_blocks_is_the_same_vote(monkeypatch):
    X, y = small(5, n=200)
    model = Perceptron(readout="vote", random_state=0).fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr("novikoff.learn.vote.PRODUCTS", 1)
    assert (model.decision_function(X) == whole).all()


def test_a_read_out_may_be_changed_without_learning_again():
    X, y = small(1, n=100)
    model = Perceptron(random_state=0).fit(X, y)
    average = model.coef_
    last = model.set_params(readout="last").coef_
    assert average.tolist() != last.tolist()
    with pytest.warns(UserWarning, match="did not converge"):
        assert last.tolist() == Perceptron(readout="last", random_state=0).fit(X, y).coef_.tolist()
    with pytest.raises(ValueError, match="a vote needs the mistakes"):
        model.set_params(readout="vote").predict(X)


def test_a_vote_has_no_weights_of_its_own():
    X, y = small(1)
    model = Perceptron(readout="vote").fit(X, y)
    with pytest.raises(AttributeError, match="no weights of its own"):
        _ = model.coef_
    assert not hasattr(model, "intercept_")


def test_on_noisy_data_average_and_vote_beat_the_last_weights():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((4_000, 20))
    y = np.where(X @ generator.standard_normal(20) + 3 * generator.standard_normal(4_000) > 0, "yes", "no")
    scores = {
        readout: Perceptron(readout=readout, random_state=0, max_epochs=3)
        .fit(X[:2_000], y[:2_000])
        .score(X[2_000:], y[2_000:])
        for readout in ("average", "vote")
    }
    with pytest.warns(UserWarning, match="did not converge"):
        last = Perceptron(readout="last", random_state=0, max_epochs=3).fit(X[:2_000], y[:2_000])
    assert min(scores.values()) > last.score(X[2_000:], y[2_000:]) + 0.02
