"""Weights of classes: the perceptron on examples that are multiplied by the weight of their class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Perceptron, Steps, certify, follow_proof, load, mistake_bound, save
from novikoff.learn.history import Stopped
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.space import perceptron

POWERS = st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0])


def rows_of(seed, n=30, d=3, n_classes=2):
    generator = np.random.default_rng(seed)
    return generator.integers(-9, 10, (n, d)) / 4.0, np.arange(n) % n_classes


def multiplied(X, y, weights):
    """The folded examples, times the weights of their classes."""
    return np.column_stack([X, np.ones(len(X))]) * np.asarray(weights)[y][:, None]


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
@given(seed=st.integers(0, 9_999), weights=st.tuples(POWERS, POWERS), lead=st.sampled_from([0.0, 0.5]))
def test_two_weighted_classes_are_learned_as_multiplied_examples(readout, seed, weights, lead):
    """Powers of two multiply without rounding. Predictions are those of the weights, on examples as they are."""
    X, y = rows_of(seed)
    options = {"readout": readout, "lead": lead, "random_state": 0, "record_mistakes": True, "max_epochs": 4}
    model = Perceptron(class_weight=dict(enumerate(weights)), **options).fit(X, y)
    other = Perceptron(fit_intercept=False, **options).fit(multiplied(X, y, weights), y)
    assert model.mistake_rows_.tolist() == other.mistake_rows_.tolist()
    assert (model.model_.memory.weights[0] == other.model_.memory.weights[0, :-1]).all()
    folded = np.column_stack([X, np.ones(len(X))])
    assert (model.decision_function(X) == other.decision_function(folded)).all()
    names = ("mistakes", "narrow", "weights_length", "margin_at_most", "margin_at_least", "stopped")
    assert all(getattr(model.run_, name) == getattr(other.run_, name) for name in names)


@given(seed=st.integers(0, 9_999), lead=st.sampled_from([0.0, 1.0]), n_classes=st.sampled_from([2, 3]))
def test_updates_obey_the_bound_of_the_multiplied_examples_and_that_of_the_others(seed, lead, n_classes):
    X, y = rows_of(seed, n=12, d=12, n_classes=n_classes)
    weights = {0: 0.3, 1: 1.7, 2: 1.0} if n_classes == 3 else {0: 0.3, 1: 1.7}
    options = {"class_weight": weights, "lead": lead, "max_epochs": None, "readout": "last", "record_mistakes": True}
    certificate = certify(X, y)
    if certificate.mistake_bound is None:
        return
    model = Perceptron(random_state=0, **options).fit(X, y)
    run = model.run_
    assert run.stopped is Stopped.NO_MISTAKES
    c = 1.7 / 0.3 * (1 + 1e-9)
    R, gamma = certificate.radius, certificate.margin.lower
    assert run.updates <= mistake_bound(R * c, gamma, n_classes=n_classes, lead=lead)
    Z = multiplied(X, y, list(weights.values()))
    own = certify(Z, y, fit_intercept=False)
    assert run.updates <= own.update_bound(lead)
    assert run.margin_at_least <= own.margin.upper <= run.margin_at_most
    steps = Steps.of_rows(Z, y, model.mistake_rows_, model.mistake_guesses_, fit_intercept=False, lead=lead)
    assert follow_proof(steps, own.vector).holds


@given(seed=st.integers(0, 9_999), n_classes=st.sampled_from([2, 3]), lead=st.sampled_from([0.0, 0.5]))
def test_dense_and_sparse_rows_in_one_call_or_many_learn_the_same(seed, n_classes, lead):
    X, y = rows_of(seed, n_classes=n_classes)
    weights = {0: 0.3, 1: 1.7, 2: 0.9} if n_classes == 3 else {0: 0.3, 1: 1.7}
    options = {"class_weight": weights, "lead": lead}
    whole = Perceptron(**options).partial_fit(X, y, classes=list(range(n_classes)))
    parts = Perceptron(**options).partial_fit(X[:7], y[:7], classes=list(range(n_classes))).partial_fit(X[7:], y[7:])
    csr = Perceptron(**options).partial_fit(sparse.csr_array(X), y, classes=list(range(n_classes)))
    for other in (parts, csr):
        assert (other.coef_ == whole.coef_).all()
        assert (other.intercept_ == whole.intercept_).all()
        assert other.run_ == whole.run_


def test_balanced_weights_are_those_of_the_counts_and_survive_a_file(tmp_path):
    X, y = rows_of(1, n=40)
    y = np.where(np.arange(40) < 8, "rare", "usual")
    balanced = Perceptron(class_weight="balanced", readout="vote", random_state=0).fit(X, y)
    manual = Perceptron(class_weight={"rare": 40 / 16, "usual": 40 / 64}, readout="vote", random_state=0).fit(X, y)
    assert (balanced.decision_function(X) == manual.decision_function(X)).all()
    save(balanced, tmp_path / "model.novikoff")
    again = load(tmp_path / "model.novikoff")
    assert (again.decision_function(X) == balanced.decision_function(X)).all()
    assert again.run_ == balanced.run_
    assert again.partial_fit is not None
    parts = learn_from([(X[:20], y[:20]), (X[20:], y[20:])], class_weight="balanced", random_state=0)
    matrix = Perceptron(class_weight="balanced", random_state=0).fit(X, y)
    assert (parts.memory.weights == matrix.model_.memory.weights).all()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("equal", "is unknown"),
        ({2: 1.0}, "which is none of the classes"),
        ({0: -1.0}, "must be a positive number"),
        ({0: float("nan")}, "must be a positive number"),
    ],
)
def test_weights_that_make_no_sense_are_refused(asked, message):
    X, y = rows_of(0)
    with pytest.raises(ValueError, match=message):
        Perceptron(class_weight=asked).fit(X, y)


def test_weights_need_all_classes_and_cannot_change_on_the_way():
    X, y = rows_of(0)
    with pytest.raises(ValueError, match="counts all rows"):
        Perceptron(class_weight="balanced").partial_fit(X, y)
    learned = perceptron(X, 2 * y - 1, class_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match="cannot change"):
        perceptron(X, 2 * y - 1, class_weight=[1.0, 3.0], start=learned.memory)


def test_a_class_that_weighs_much_more_is_predicted_wherever_it_may_be():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(200, 2)), generator.integers(0, 2, 200)
    model = Perceptron(class_weight={0: 1000, 1: 0.0001}, random_state=0).fit(X[:100], y[:100])
    assert np.mean(model.predict(X[100:]) == 0) > 0.87
