"""Weights of classes: the perceptron on examples that are multiplied by the weight of their class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score

from novikoff import KernelPerceptron, Perceptron, Steps, certify, follow_proof, load, mistake_bound, save
from novikoff.learn.fit import Trial
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.space import perceptron
from novikoff.learn.run import Stopped

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
    options = {"readout": readout, "lead": lead, "random_state": 0, "record_mistakes": True, "max_iter": 4}
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
    options = {"class_weight": weights, "lead": lead, "max_iter": None, "readout": "last", "record_mistakes": True}
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
        ({2: 1.0}, "which is not among the classes"),
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


@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@pytest.mark.filterwarnings("ignore:.*did not converge")
@given(seed=st.integers(0, 9_999), weights=st.tuples(POWERS, POWERS), lead=st.sampled_from([0.0, 0.5]))
def test_the_linear_kernel_learns_weighted_classes_as_the_perceptron_does(readout, seed, weights, lead):
    """Every number is a multiple of a power of two, and no sum is rounded."""
    X, y = rows_of(seed)
    options = {"readout": readout, "lead": lead, "random_state": 0, "record_mistakes": True, "max_iter": 4}
    options["class_weight"] = dict(enumerate(weights))
    model = KernelPerceptron(kernel="linear", **options).fit(X, y)
    other = Perceptron(fit_intercept=False, **options).fit(X, y)
    assert model.mistake_rows_.tolist() == other.mistake_rows_.tolist()
    assert (model.predict(X) == other.predict(X)).all()
    assert model.run_.weighted
    assert model.run_.narrow == other.run_.narrow
    for name in ("radius", "weights_length", "margin_at_most", "margin_at_least"):
        assert getattr(model.run_, name) == pytest.approx(getattr(other.run_, name), rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*did not converge")
@given(seed=st.integers(0, 9_999), lead=st.sampled_from([0.0, 0.7]), n_classes=st.sampled_from([2, 3]))
def test_every_class_against_the_rest_is_the_loop_on_multiplied_kernel_values(seed, lead, n_classes):
    """With c the weight of the row's own class, its score counts c times and so does the row."""
    X, y = rows_of(seed, n_classes=n_classes)
    c = np.array([0.5, 4.0, 1.0])[y]
    K = (X @ X.T + 1.0) ** 2
    kernel = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
    weights = {label: float(c[y == label][0]) for label in range(n_classes)}
    options = {"shuffle": False, "max_iter": 3, "readout": "last", "record_mistakes": True, "lead": lead}
    model = KernelPerceptron(class_weight=weights, **kernel, **options).fit(X, y)
    longest, found = 0.0, []
    a = np.zeros((n_classes, len(X)))
    for _ in range(model.n_iter_):
        for i in range(len(X)):
            longest = max(longest, c[i] ** 2 * K[i, i])
            for label in range(n_classes) if n_classes > 2 else [1]:
                sign = 1.0 if y[i] == label else -1.0
                if sign * c[i] * (a[label] @ K[:, i]) <= lead * longest:
                    a[label, i] += sign * c[i]
                    found.append(i)
    assert model.mistake_rows_.tolist() == found
    assert model.run_.radius == pytest.approx(np.sqrt(longest))


@given(seed=st.integers(0, 9_999), lead=st.sampled_from([0.0, 1.0]))
def test_updates_in_the_space_of_a_kernel_obey_the_bound_of_multiplied_examples(seed, lead):
    X, y = rows_of(seed, n=14)
    X, where = np.unique(X, axis=0, return_index=True)
    y = y[where]
    options = {"lead": lead, "max_iter": None, "readout": "last", "record_mistakes": True, "random_state": 0}
    model = KernelPerceptron(gamma=1.0, class_weight={0: 0.5, 1: 2.0}, **options).fit(X, y)
    certificate = certify(X, y, kernel="rbf", gamma=1.0, fit_intercept=False)
    run = model.run_
    assert run.stopped is Stopped.NO_MISTAKES
    assert run.updates <= 16 * certificate.update_bound(lead)
    c = np.array([0.5, 2.0])[y]
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)) * np.outer(c, c)
    steps = Steps.of_kernel((K + K.T) / 2, y, model.mistake_rows_, lead=lead)
    assert steps.lengths[-1] == pytest.approx(run.weights_length)
    assert run.margin_at_least <= run.margin_at_most


def test_balanced_weights_of_a_kernel_survive_a_file_and_go_on_in_parts(tmp_path):
    X, y = rows_of(2, n=40)
    y = np.where(np.arange(40) < 8, "rare", "usual")
    balanced = KernelPerceptron(class_weight="balanced", readout="vote", random_state=0).fit(X, y)
    manual = {"rare": 40 / 16, "usual": 40 / 64}
    again = KernelPerceptron(class_weight=manual, readout="vote", random_state=0).fit(X, y)
    assert (balanced.decision_function(X) == again.decision_function(X)).all()
    save(balanced, tmp_path / "model.novikoff")
    loaded = load(tmp_path / "model.novikoff")
    assert (loaded.decision_function(X) == balanced.decision_function(X)).all()
    assert loaded.run_ == balanced.run_
    options = {"class_weight": manual, "gamma": 1.0}
    whole = KernelPerceptron(**options).partial_fit(X, y)
    parts = (
        KernelPerceptron(**options).partial_fit(X[:20], y[:20], classes=["rare", "usual"]).partial_fit(X[20:], y[20:])
    )
    assert (whole.dual_coef_ == parts.dual_coef_).all()
    for model in (KernelPerceptron(class_weight="balanced"), Perceptron(class_weight="balanced")):
        with pytest.raises(ValueError, match="counts all rows"):
            model.partial_fit(X, y)
    assert len(KernelPerceptron(class_weight="balanced", budget=5).fit(X, y).support_) <= 5


@pytest.mark.parametrize("kind", [Perceptron, KernelPerceptron])
def test_errors_on_a_heavy_class_count_by_its_weight_when_a_lead_is_chosen(kind):
    """On these rows a lead gives the rare class up, which saves errors, but not weighted ones."""
    generator, n = np.random.default_rng(4), 400 if kind is KernelPerceptron else 800
    y = (generator.random(n) < 0.1).astype(int)
    X = generator.normal(size=(n, 10)) + 0.6 * y[:, None]
    model = kind(class_weight="balanced", lead="auto", random_state=0).fit(X, y)
    leads = Trial.within(30).leads
    by_hand = {lead: kind(class_weight="balanced", lead=lead, random_state=0).fit(X, y) for lead in leads}
    weighted = {lead: balanced_accuracy_score(y, one.predict(X)) for lead, one in by_hand.items()}
    assert weighted[model.lead_] >= max(weighted.values()) - 0.03


def test_a_class_that_weighs_much_more_is_predicted_wherever_it_may_be():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(200, 2)), generator.integers(0, 2, 200)
    model = Perceptron(class_weight={0: 1000, 1: 0.0001}, random_state=0).fit(X[:100], y[:100])
    assert np.mean(model.predict(X[100:]) == 0) > 0.87
