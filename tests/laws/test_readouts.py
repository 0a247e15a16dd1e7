"""Last, average and vote, against their definitions: the weights after every example, kept one by one."""

import numpy as np
import pytest

from novikoff import Perceptron


def small(seed, n=14, d=3, n_classes=2):
    generator = np.random.default_rng(seed)
    return generator.integers(-4, 5, (n, d)).astype(float) / generator.choice([1, 3]), generator.integers(
        0, n_classes, n
    )


def test_a_vote_in_small_blocks_is_the_same_vote(monkeypatch):
    X, y = small(5, n=200)
    model = Perceptron(readout="vote", random_state=0).fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr("novikoff.learn.linear.vote.PRODUCTS", 1)
    assert (model.decision_function(X) == whole).all()


def test_a_read_out_may_be_changed_without_learning_again():
    X, y = small(1, n=100)
    model = Perceptron(random_state=0, lead=0).fit(X, y)
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
        readout: Perceptron(readout=readout, random_state=0, max_iter=3)
        .fit(X[:2_000], y[:2_000])
        .score(X[2_000:], y[2_000:])
        for readout in ("average", "vote")
    }
    with pytest.warns(UserWarning, match="did not converge"):
        last = Perceptron(readout="last", random_state=0, max_iter=3).fit(X[:2_000], y[:2_000])
    assert min(scores.values()) > last.score(X[2_000:], y[2_000:]) + 0.02
