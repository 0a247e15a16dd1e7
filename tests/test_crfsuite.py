"""The drop-in for sklearn-crfsuite: what it takes, and what it refuses; its own tests are run by a gate."""

import numpy as np
import pytest
from sklearn.base import clone

from novikoff import SequencePerceptron
from novikoff.crfsuite import CRF

X = [[{"word": "Paris", "title": True}, {"word": "sleeps"}], [["word:He"], ["word:sleeps"]]]
Y = [["PLACE", "O"], ["O", "O"]]


def test_it_learns_what_the_sequence_perceptron_learns():
    crf = CRF("ap", max_iterations=3, all_possible_transitions=True).fit(X, Y)
    same = SequencePerceptron(max_iter=3, random_state=0).fit(X, Y)
    assert crf.predict(X).tolist() == same.predict(X)
    assert crf.predict(X).dtype == object
    assert crf.state_features_ == same.state_features_
    assert crf.tagger_.tag(X[0]) == crf.predict_single(X[0]) == same.predict_single(X[0])
    assert crf.tagger_.labels() == crf.classes_ == ["O", "PLACE"]
    assert crf.run_.mistakes == same.run_.mistakes
    assert None not in {label for pair in crf.transition_features_ for label in pair}


def test_rare_attributes_are_left_out_as_crfsuite_leaves_them_out():
    assert "word:Paris" not in CRF(min_freq=2).fit(X, Y).attributes_
    assert "word:Paris" in CRF(min_freq=1).fit(X, Y).attributes_


def test_sequences_to_develop_on_are_scored(capsys):
    crf = CRF(verbose=True).fit(X, Y, X, Y)
    assert crf.dev_score_ == crf.score(X, Y)
    assert "of the labels of X_dev are right" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"algorithm": "lbfgs"}, "algorithm='lbfgs' is not supported: novikoff learns by the perceptron"),
        ({"algorithm": "ap", "c1": 0.1}, 'c1 is not a parameter of algorithm="ap"'),
        ({"algorithm": "ap", "max_iterations": 0}, "max_iterations=0 must be a whole number of at least 1"),
    ],
)
def test_what_belongs_to_other_algorithms_is_refused(options, what):
    with pytest.raises(ValueError, match=what):
        clone(CRF(**options)).fit(X, Y)


def test_there_are_no_probabilities():
    crf = CRF().fit(X, Y)
    for name in ("predict_marginals", "predict_marginals_single"):
        with pytest.raises(AttributeError, match=r"has scores, not probabilities.*SequencePerceptron, which takes"):
            getattr(crf, name)(X)


def test_a_file_is_a_model_at_once(tmp_path):
    path = str(tmp_path / "model")
    assert CRF(model_filename=path).classes_ is None
    crf = CRF(model_filename=path).fit(X, Y)
    assert np.array_equal(CRF(model_filename=path).predict(X), crf.predict(X))
