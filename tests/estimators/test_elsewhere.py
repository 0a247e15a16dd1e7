"""Whoever brings the parameters of another library is told what they are called here, or why there are none."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Perceptron as PeerPerceptron

from novikoff import KernelPerceptron, Perceptron, SequencePerceptron, StructuredPerceptron
from novikoff.estimators.given import ELSEWHERE

ESTIMATORS = [Perceptron, KernelPerceptron, SequencePerceptron, StructuredPerceptron]


@pytest.mark.parametrize("name", [*inspect.signature(PeerPerceptron).parameters])
def test_every_parameter_of_scikit_learns_perceptron_is_taken_or_answered(name):
    if name in Perceptron().get_params():
        Perceptron(**{name: None})
        return
    with pytest.raises(TypeError, match=f"Perceptron has no parameter {name}: "):
        Perceptron(**{name: None})


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_own_parameter_is_never_taken_for_one_from_elsewhere(estimator):
    assert not {"max_iter", "readout", "random_state"} & ELSEWHERE.keys()
    own = inspect.signature(estimator).parameters
    functions = {name: len for name in own if own[name].default is inspect.Parameter.empty}
    assert isinstance(estimator(**functions, max_iter=3), estimator)


def test_a_name_that_nobody_has_is_refused_as_ever():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        Perceptron(colour="red")


def test_estimators_are_cloned_and_pickled_as_ever():
    model = clone(Perceptron(max_iter=3))
    assert pickle.loads(pickle.dumps(model)).max_iter == 3


def test_probabilities_of_labels_are_answered_by_what_there_is():
    assert not hasattr(SequencePerceptron(), "predict_marginals")
    with pytest.raises(AttributeError, match="predict_with_scores has the margin"):
        SequencePerceptron().predict_marginals([])
    with pytest.raises(AttributeError, match=r"has no attribute 'colour'$"):
        _ = SequencePerceptron().colour


@pytest.mark.parametrize("estimator", [Perceptron, KernelPerceptron])
def test_a_label_that_was_never_learned_counts_as_wrong(estimator):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    model = estimator(random_state=0).fit(X, ["a", "b", "b", "a"])
    assert model.score(X, ["a", "b", "never", "a"]) == 0.75
