"""A drop-in for sklearn-crfsuite's `CRF(algorithm="ap")`: change the import to `from novikoff.crfsuite import CRF`.

The learner is `SequencePerceptron` on the attributes of tokens, with its record and its bound, and with the names and
types of sklearn-crfsuite. Only one of the five algorithms is supported, the averaged perceptron; others are refused.
"""

import os
import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from novikoff.estimators.sequence_perceptron import SequencePerceptron
from novikoff.estimators.shell import Absent, verbose_watch
from novikoff.keep.layout import FileParts, dumped
from novikoff.keep.models import load, parts_of, save
from novikoff.learn.chain.space import SequenceRun
from novikoff.learn.chain.tagger import Tagger

MAX_ITERATIONS = 100  # CRFsuite's own default
NO_MARGINALS = (
    "a perceptron has scores, not probabilities; SequencePerceptron, which takes the same tokens, has "
    "margins (predict_with_scores), and proves which label sequences can be accepted (review; docs/how-to/review.md)"
)
# The parameters of other algorithms, which CRFsuite refuses for this one, too.
OF_OTHERS = (
    *("c1", "c2", "num_memories", "period", "delta", "linesearch", "max_linesearch", "calibration_eta"),
    *("calibration_rate", "calibration_samples", "calibration_candidates", "calibration_max_trials", "pa_type", "c"),
    *("error_sensitive", "averaging", "variance", "gamma", "trainer_cls"),
)


@dataclass(frozen=True)
class CRFTagger:
    """The trained tagger under the names of python-crfsuite; `tagger` is our own."""

    tagger: Tagger

    def labels(self) -> list[Hashable]:
        """All labels."""
        return list(self.tagger.labels)

    def tag(self, xseq: Any) -> list[Hashable]:
        """The labels of one sequence."""
        return self.tagger.label([xseq])[0]


def _after_fit(get: Callable[[SequencePerceptron], Any]) -> property:
    """An attribute of the fitted model, None before `fit`."""

    def look(crf: "CRF") -> Any:
        model = crf._held()
        return None if model is None else get(model)

    return property(look)


def _bytes_of(parts: FileParts) -> int:
    return len(dumped(parts.header)) + sum(array.nbytes for array in parts.arrays.values())


class CRF(BaseEstimator):
    """The averaged perceptron on label sequences, called as sklearn-crfsuite's `CRF`.

    Parameters
    ----------
    algorithm : {"ap"}
        The averaged perceptron. Others are refused by `fit`.
    min_freq : float or None
        Attributes that occur less often are omitted.
    all_possible_states, all_possible_transitions : bool or None
        Ignored: an attribute and a label, or two labels, have a weight as soon as a mistake needs one.
    max_iterations : int or None
        The most epochs; None is 100, as in CRFsuite.
    epsilon : float or None
        Ignored: learning stops at an epoch without a mistake.
    verbose : bool
        Whether to print a line after every epoch.
    model_filename : str or None
        Where `fit` saves the model; an existing model can be used without `fit`.
    keep_tempfiles : bool
        Ignored: there are no temporary files.
    c1, c2, period, delta, linesearch, ... : None
        Parameters of other algorithms, refused unless None.

    Attributes
    ----------
    run_ : SequenceRun
        The record of the run, which sklearn-crfsuite does not have: mistakes by epoch, margins ruled out.
    dev_score_ : float
        The fraction of right labels on `X_dev`, if `fit` was given some.
    tagger_, classes_, size_, attributes_, num_attributes_, state_features_, transition_features_
        As of sklearn-crfsuite: the tagger, the labels, the bytes of the file, and what has weights; None before `fit`.

    Examples
    --------
    >>> X = [[{"word": "Paris", "title": True}, {"word": "sleeps", "title": False}]]
    >>> crf = CRF(algorithm="ap", max_iterations=10, all_possible_transitions=True).fit(X, [["PLACE", "O"]])
    >>> crf.predict_single(X[0]), crf.classes_
    (['PLACE', 'O'], ['O', 'PLACE'])
    """

    algorithm: str
    min_freq: float | None
    max_iterations: int | None
    verbose: bool
    model_filename: str | None

    predict_marginals = Absent(NO_MARGINALS)
    predict_marginals_single = Absent(NO_MARGINALS)

    # fmt: off
    def __init__(
        self, algorithm: str = "ap", min_freq: float | None = None,
        all_possible_states: bool | None = None, all_possible_transitions: bool | None = None,
        c1: None = None, c2: None = None, max_iterations: int | None = None, num_memories: None = None,
        epsilon: float | None = None, period: None = None, delta: None = None, linesearch: None = None,
        max_linesearch: None = None, calibration_eta: None = None, calibration_rate: None = None,
        calibration_samples: None = None, calibration_candidates: None = None, calibration_max_trials: None = None,
        pa_type: None = None, c: None = None, error_sensitive: None = None, averaging: None = None,
        variance: None = None, gamma: None = None, verbose: bool = False, model_filename: str | None = None,
        keep_tempfiles: bool = False, trainer_cls: None = None,
    ) -> None:
        self.__dict__.update({name: value for name, value in locals().items() if name != "self"})
        self._model: SequencePerceptron | None = None
    # fmt: on

    def fit(self, X: Any, y: Sequence[Sequence[Hashable]], X_dev: Any = None, y_dev: Any = None) -> Self:
        """Learn from sequences of tokens, which are mappings, lists of strings or strings.

        With `X_dev` and `y_dev`, these are labelled at the end, and `dev_score_` has the fraction of right labels.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("pass both X_dev and y_dev, or none of them")
        self._check()
        most = MAX_ITERATIONS if self.max_iterations is None else self.max_iterations
        if most < 1:
            raise ValueError(f"max_iterations={most!r} must be a whole number of at least 1, or None for 100")
        model = SequencePerceptron(max_iter=most, min_count=max(1, int(np.ceil(self.min_freq or 0))), random_state=0)
        self._model = model.fit(X, y, watch=verbose_watch(None, self.verbose))
        if X_dev is not None:
            self.dev_score_ = self.score(X_dev, y_dev)
            if self.verbose:
                sys.stdout.write(f"{self.dev_score_:.2%} of the labels of X_dev are right\n")
        if self.model_filename is not None:
            save(model, self.model_filename)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels of every sequence, as an array of objects."""
        return np.array(self._fitted().predict(X), dtype=object)

    def predict_single(self, xseq: Any) -> list[Hashable]:
        """The labels of one sequence."""
        return self._fitted().predict_single(xseq)

    def score(self, X: Any, y: Sequence[Sequence[Hashable]]) -> float:
        """The fraction of tokens with the right label."""
        return self._fitted().score(X, y)

    @property
    def run_(self) -> SequenceRun:
        """The record of the run."""
        return self._fitted().run_

    tagger_ = _after_fit(lambda model: CRFTagger(model.tagger_))
    classes_ = _after_fit(lambda model: model.classes_)
    size_ = _after_fit(lambda model: _bytes_of(parts_of(model)))
    attributes_ = _after_fit(lambda model: model.tagger_.features.index.names())
    num_attributes_ = _after_fit(lambda model: model.tagger_.features.index.n_columns)
    state_features_ = _after_fit(lambda model: model.state_features_)
    # CRFsuite has no weights of first and last labels.
    transition_features_ = _after_fit(
        lambda model: {pair: weight for pair, weight in model.transition_features_.items() if None not in pair}
    )

    def _check(self) -> None:
        """Refuse parameters of other algorithms."""
        if self.algorithm != "ap":
            raise ValueError(
                f"algorithm={self.algorithm!r} is not supported: novikoff learns by the perceptron; pass "
                'algorithm="ap", the averaged perceptron, and leave out the parameters of other algorithms'
            )
        for name in OF_OTHERS:
            if getattr(self, name) is not None:
                raise ValueError(f'{name} is not a parameter of algorithm="ap", the averaged perceptron; leave it out')

    def _held(self) -> SequencePerceptron | None:
        if self._model is None and self.model_filename is not None and os.path.exists(self.model_filename):
            self._model = load(self.model_filename)
        return self._model

    def _fitted(self) -> SequencePerceptron:
        model = self._held()
        if model is None:
            raise NotFittedError("this CRF is not fitted yet; call fit first, or name a model file by model_filename")
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return self._held() is not None
