"""KernelPerceptron among scikit-learn's things."""

import math
import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from novikoff import Stopped
from novikoff.estimators.kernel_perceptron import KernelPerceptron

ESTIMATORS = [
    KernelPerceptron(),
    KernelPerceptron(kernel="poly", readout="vote", tie="predict"),
    KernelPerceptron(budget=50),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def moons(seed=0, n=300, noise=0.25):
    X, y = make_moons(n, noise=noise, random_state=seed)
    return X, np.where(y == 1, "yes", "no")


def test_two_moons_are_told_apart():
    X, y = moons(n=400)
    for readout in ("average", "vote"):
        model = KernelPerceptron(gamma=2.0, readout=readout, random_state=0).fit(X[:200], y[:200])
        assert model.score(X[200:], y[200:]) > 0.9


def test_it_works_in_pipelines_and_searches():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), KernelPerceptron(random_state=0))
    assert cross_val_score(model, X, y).mean() > 0.9
    search = GridSearchCV(model, {"kernelperceptron__kernel": ["rbf", "poly"]}).fit(X, y)
    assert search.best_score_ > 0.9


def test_a_precomputed_kernel_is_split_by_rows_and_columns_in_cross_validation():
    X, y = moons()
    K = rbf_kernel(X, gamma=2.0)
    given = cross_val_score(KernelPerceptron(kernel="precomputed", random_state=0), K, y)
    assert given.tolist() == cross_val_score(KernelPerceptron(gamma=2.0, random_state=0), X, y).tolist()


PEERS = {
    "poly": (polynomial_kernel, {"gamma": 0.5, "degree": 4, "coef0": 2.0}),
    "rbf": (rbf_kernel, {"gamma": 0.5}),
    "laplacian": (laplacian_kernel, {"gamma": 0.5}),
    "sigmoid": (sigmoid_kernel, {"gamma": 0.5, "coef0": 2.0}),
}


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_named_kernels_are_those_of_scikit_learn(name, form):
    X, y = moons(n=120)
    function, numbers = PEERS[name]
    options = {"random_state": 0, "record_mistakes": True, "max_iter": 3}
    named = KernelPerceptron(kernel=name, **numbers, **options).fit(form(X), y)
    called = KernelPerceptron(kernel=function, kernel_params=numbers, **options).fit(form(X), y)
    whole = KernelPerceptron(kernel="precomputed", **options).fit(function(X, **numbers), y)
    assert named.mistake_rows_.tolist() == called.mistake_rows_.tolist() == whole.mistake_rows_.tolist()
    scores = named.decision_function(X)
    assert called.decision_function(form(X)) == pytest.approx(scores)
    assert whole.decision_function(function(X, **numbers)) == pytest.approx(scores)
    assert function(X, X[named.support_], **numbers) @ named.dual_coef_[0] == pytest.approx(scores)


def shared_pairs(a, b):
    pairs = [{word[i : i + 2] for i in range(len(word) - 1)} for word in (a, b)]
    return len(pairs[0] & pairs[1])


@pytest.mark.parametrize("container", [list, np.array, lambda words: np.array(words, dtype=object)])
@pytest.mark.parametrize("readout", ["last", "average", "vote"])
def test_strings_need_only_a_kernel_function(container, readout):
    words = ["nation", "station", "ration", "running", "jumping", "swimming"]
    y = ["noun", "noun", "noun", "verb", "verb", "verb"]
    model = KernelPerceptron(kernel=shared_pairs, readout=readout, random_state=0).fit(container(words), y)
    assert model.predict(container(words)).tolist() == y
    assert model.predict(container(["vacation", "singing"])).tolist() == ["noun", "verb"]
    assert set(model.support_vectors_) <= set(words)
    again = pickle.loads(pickle.dumps(model))
    assert (again.decision_function(words) == model.decision_function(words)).all()


def test_kernel_functions_take_named_arguments_and_lists_of_several_lengths():
    def common(a, b, weight):
        return weight * len(set(a) & set(b))

    X, y = [[1, 2, 3], [2, 3], [7], [7, 8, 9]], [0, 0, 1, 1]
    model = KernelPerceptron(kernel=common, kernel_params={"weight": 2.0}).fit(X, y)
    assert model.predict([[3], [9]]).tolist() == [0, 1]
    assert model.partial_fit([[10, 11]], [0]).predict([[11]]).tolist() == [0]


def test_a_clone_has_the_parameters_and_nothing_learned():
    model = KernelPerceptron(kernel="poly", budget=9, random_state=3).fit(*moons())
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict([[1.0, 2.0]])
    for name in ("run_", "support_", "dual_coef_", "n_mistakes_"):
        assert not hasattr(copy, name)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("options", [{"readout": "vote"}, {"budget": 20}])
def test_pickling_changes_nothing(form, options):
    X, y = moons()
    model = KernelPerceptron(random_state=0, **options).fit(form(X[:200]), y[:200])
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.decision_function(form(X)) == model.decision_function(form(X))).all()
    assert copy.run_ == model.run_
    for each in (copy, model):
        each.partial_fit(form(X[200:]), y[200:])
    assert (copy.decision_function(form(X)) == model.decision_function(form(X))).all()


def test_the_usual_attributes_have_the_usual_shapes():
    X, y = moons()
    two = KernelPerceptron(random_state=0, record_mistakes=True).fit(X, y)
    n_support = len(two.support_)
    assert two.dual_coef_.shape == (1, n_support)
    assert (two.support_vectors_ == X[two.support_]).all()
    assert two.decision_function(X).shape == (300,)
    assert two.classes_.tolist() == ["no", "yes"]
    assert two.n_mistakes_ == two.run_.mistakes == len(two.mistake_rows_) == sum(two.run_.mistakes_per_epoch)
    assert set(two.support_) == set(two.mistake_rows_)
    assert two.n_features_in_ == 2
    three = KernelPerceptron(random_state=0).fit(X, np.digitize(X[:, 0], [0.0, 1.0]))
    assert three.dual_coef_.shape == (3, len(three.support_))
    assert three.decision_function(X).shape == (300, 3)
    with pytest.raises(AttributeError, match="no coefficients of its own"):
        _ = KernelPerceptron(readout="vote").fit(X, y).dual_coef_
    assert sparse.issparse(KernelPerceptron().fit(sparse.csr_matrix(X), y).support_vectors_)


def test_memory_holds_the_mistakes_and_not_the_rows():
    X, y = moons(n=3_000, noise=0.05)
    model = KernelPerceptron(gamma=5.0, random_state=0).fit(X, y)
    assert len(model.support_) < 100
    assert len(pickle.dumps(model)) < 20_000


# -- online -----------------------------------------------------------------------------------------------------------


def test_the_first_partial_fit_fixes_the_labels():
    model = KernelPerceptron()
    with pytest.raises(ValueError, match=r"only one class is known, \['a'\].*name all of them by classes="):
        model.partial_fit([[1.0]], ["a"])
    model.partial_fit([[1.0]], ["a"], classes=["a", "b"])
    with pytest.raises(ValueError, match="label 'c' in row 0 was not in classes"):
        model.partial_fit([[1.0]], ["c"])
    with pytest.raises(ValueError, match="differ from the classes known already"):
        model.partial_fit([[1.0]], ["a"], classes=["a", "c"])


@pytest.mark.parametrize("options", [{}, {"budget": 30}])
def test_a_call_that_fails_leaves_the_model_as_it_was(options):
    def kernel(A, B):
        K = rbf_kernel(A, B)
        K[np.ix_(A[:, 0] > 50, B[:, 0] > 50)] = math.nan
        return K

    X, y = moons()
    model = KernelPerceptron(kernel=kernel, **options).partial_fit(X, y)
    before = model.decision_function(X), model.run_, model.support_
    bad = np.vstack([np.random.default_rng(0).permutation(X), np.full((1, 2), 99.0)])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad, [*y, "yes"])
    assert (model.decision_function(X) == before[0]).all()
    assert model.run_ == before[1]
    assert (model.support_ == before[2]).all()


# -- convergence ------------------------------------------------------------------------------------------------------


def test_whoever_asked_for_convergence_is_told_when_there_is_none():
    X, y = moons()
    with pytest.warns(ConvergenceWarning, match=r"still made .* mistakes; .* Raise max_iter"):
        KernelPerceptron(readout="last", gamma=0.1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="no separator has the margin min_margin=0.5"):
        model = KernelPerceptron(min_margin=0.5, random_state=0).fit(X, y)
    assert model.run_.stopped is Stopped.MARGIN_RULED_OUT
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPerceptron(readout="last", gamma=50.0, max_iter=None).fit(X, y)


def test_after_an_interrupt_the_model_holds_what_it_learned():
    X, y = moons()
    KernelPerceptron(max_iter=1).fit(X, y)
    model = KernelPerceptron(max_iter=None, kernel="linear")
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.run_.stopped is Stopped.INTERRUPTED
    assert model.score(X, y) > 0.7


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "cubic"}, "kernel='cubic' is unknown"),
        ({"readout": "loudest"}, "readout='loudest'"),
        ({"budget": 0}, "budget=0"),
        ({"budget": 5, "readout": "vote"}, "budget=5 forgets some"),
        ({"budget": 5, "min_margin": 0.1}, "budget=5 forgets some"),
        ({"kernel": "sigmoid", "min_margin": 0.1}, "not positive definite"),
        ({"kernel": "precomputed"}, "as many columns as rows"),
    ],
)
def test_bad_parameters_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        KernelPerceptron(**options).fit(*moons())


def test_predicting_with_a_precomputed_kernel_needs_a_column_for_every_learned_example():
    X, y = moons()
    model = KernelPerceptron(kernel="precomputed").fit(rbf_kernel(X), y)
    with pytest.raises(ValueError, match="300 features"):
        model.predict(rbf_kernel(X, X[:10]))


def test_a_vote_needs_the_mistakes_from_the_start():
    model = KernelPerceptron().fit(*moons())
    with pytest.raises(ValueError, match="a vote needs the mistakes"):
        model.set_params(readout="vote").predict([[0.0, 0.0]])
