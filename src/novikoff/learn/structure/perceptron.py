"""The structured perceptron as it is used: fit, partial_fit and predict, around a `StructuredModel`."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from heapq import nsmallest
from typing import Any, Self

from novikoff.learn.epochs import Watch, Watcher
from novikoff.learn.fit import fit
from novikoff.learn.model import LearnedModel, NamedWeight
from novikoff.learn.run import GuessedMistakes, Run, Stopped
from novikoff.learn.structure.space import (
    AnyStructure,
    FeatureWeights,
    Pairs,
    StructureMemory,
    StructureSearch,
    same,
)
from novikoff.options import DECLARED, MaxIter, Options, Readout, described
from novikoff.say.runs import why_not_converged
from novikoff.say.words import counted


@dataclass(frozen=True, eq=False)
class StructuredModel(LearnedModel):
    """What was learned: the weights by feature, the user's functions, and the read-out."""

    memory: StructureMemory
    search: StructureSearch
    readout: Readout = "average"

    @property
    def record(self) -> Run:
        record: Run = self.memory.recorded(self.readout) if self.run is None else self.run
        return record

    @cached_property
    def weights(self) -> FeatureWeights:
        return self.memory.read_out(self.readout)

    @cached_property
    def deciding_weights(self) -> FeatureWeights:
        """The same before division: the weights to decode with."""
        return self.memory.deciding_weights(self.readout)

    def weights_by_name(self) -> list[NamedWeight]:
        return [NamedWeight(None, name, weight) for name, weight in self.heaviest(len(self.weights))]

    def heaviest(self, n: int) -> list[tuple[Any, float]]:
        """The n features with the largest absolute weights, and these weights."""
        return nsmallest(n, self.weights.items(), key=lambda item: (-abs(item[1]), repr(item[0])))


@described
@dataclass(eq=False, repr=False)
class StructuredPerceptron:
    """The perceptron for any argmax: you supply the features of a structure, and the search for the best one.

    Parameters
    ----------
    features : `features(x, y)` maps the features of input x with structure y to numbers.
    decode : `decode(weights, x)` returns the structure y with the highest score, the sum of `weights[f]` times value
        over its features; `weights[f]` is 0 for a feature never seen. Ties may be broken in any way. To predict with
        the average, it gets the sum of the weights after each example, which is a multiple of it: tied structures then
        have exactly equal scores.
    loss : `loss(gold, guess)`, at least 0, for cost-augmented training. Learning then calls
        `decode(weights, x, gold=gold)`, which must return the structure with the highest score + loss; every gold
        structure has to lead every other one by more than its loss.
    {options}

    A mistake is a guess that is not gold and whose score is at least gold's (with a loss: whose score plus loss). A
    guess that scores below gold is a search error: adding it would break the proof, so it is not learned, only counted,
    in `search_errors_`.

    The record `run_` has the mistakes, R (the length of the longest difference added) and `margin_at_most`: after k
    mistakes no unit vector scores all gold structures above all others by more than ||w||/k. There is no vote.
    Structures are compared by ==, arrays element by element.

    Which of two words is the subject? A structure is a pair (subject, object):

    >>> def features(x, y):
    ...     subject, object = y
    ...     return {("subject", subject): 1, ("object", object): 1}
    >>> def decode(weights, x):
    ...     return max([x, x[::-1]], key=lambda y: weights.score(features(x, y)))
    >>> model = StructuredPerceptron(features, decode, readout="last", shuffle=False)
    >>> model.fit([("dog", "bone"), ("bone", "cat"), ("stick", "dog")],
    ...           [("dog", "bone"), ("cat", "bone"), ("dog", "stick")])
    StructuredPerceptron(readout='last', shuffle=False): 2 mistakes on 6 examples
    >>> model.predict_one(("stick", "cat"))
    ('cat', 'stick')
    >>> model.heaviest(2)
    [(('object', 'bone'), 1.0), (('object', 'cat'), -1.0)]
    """

    features: Callable[[Any, Any], Mapping[Any, Any]]
    decode: Callable[..., Any]
    _: KW_ONLY
    readout: Readout = "average"
    max_iter: MaxIter = "auto"
    shuffle: bool = True
    random_state: Any = None
    min_margin: float | None = None
    time_limit: float | None = None
    held_out: float | None = None
    record_mistakes: bool = False
    loss: Callable[[Any, Any], float] | None = None
    model_: StructuredModel = field(init=False)

    # -- learning -----------------------------------------------------------------------------------------------------

    def fit(self, xs: Iterable[Any], ys: Iterable[Any], *, watch: Watcher | None = None) -> Self:
        """Learn inputs with their gold structures, epoch by epoch, until one makes no mistake or a limit is reached.

        `watch` is called with the history between epochs, and may return a reason to stop. After Ctrl-C the model holds
        what was learned so far, and the interrupt is raised again; the training errors are then not counted. Any other
        failure leaves the model as it was.
        """
        (search, options), pairs = self._checked(), _paired(xs, ys)
        learned = fit(Pairs.of(pairs), AnyStructure(search), options, watch=watch)
        self._keep(learned.memory, search, learned.mistakes, learned.run)
        if learned.run.stopped is Stopped.INTERRUPTED:
            raise KeyboardInterrupt
        _warn_unless_converged(self, learned.memory.astray)
        return self

    def partial_fit(self, xs: Iterable[Any], ys: Iterable[Any]) -> Self:
        """Learn inputs with their gold structures once, in the order given, on top of what was learned before.

        A call that fails leaves the model as it was. After Ctrl-C it holds the examples learned until then, and the
        interrupt is raised again; a second one leaves the model as it was.
        """
        (search, options), pairs = self._checked(), _paired(xs, ys)
        memory = self.model_.memory.copy() if hasattr(self, "model_") else StructureMemory()
        before = memory.examples
        learner = AnyStructure(search).learner(Pairs.of(pairs), replace(options, shuffle=False, lead=0.0), memory)
        watch = Watch()
        with watch.interrupt.noted():
            learner.learn(watch)
            made = learner.mistakes()
            rows = None if made is None else [row + before for row in made.rows]
            self._keep(memory, search, made and replace(made, rows=rows), None)
        if watch.interrupt.asked:
            raise KeyboardInterrupt
        return self

    def _keep(
        self, memory: StructureMemory, search: StructureSearch, made: GuessedMistakes | None, run: Run | None
    ) -> None:
        """Hold what was learned: by a fit, which leaves a record, or on top of the previous model."""
        before = getattr(self, "model_", None) if run is None else None
        kept: dict[str, Any] = {name: getattr(before, name, None) for name in ("mistake_rows", "mistake_guesses")}
        if made is not None:
            new = {"mistake_rows": made.rows, "mistake_guesses": made.guesses}
            kept = {name: [*(kept[name] or ()), *more] for name, more in new.items()}
        self.model_ = StructuredModel(memory, search, run=run, **kept)

    @classmethod
    def from_model(cls, model: StructuredModel) -> Self:
        learner = cls(**model.parameters)
        learner.model_ = model
        return learner

    def to_model(self) -> StructuredModel:
        """The model, with the parameters that the learner has now."""
        if not hasattr(self, "model_"):
            raise AttributeError("this StructuredPerceptron is not fitted yet; call fit or partial_fit first")
        _check_readout(self.readout)
        parameters = {name: getattr(self, name) for name in PARAMETERS}
        if self.model_.readout == self.readout and self.model_.parameters == parameters:
            return self.model_
        self.model_ = replace(self.model_, readout=self.readout, parameters=parameters)
        return self.model_

    # -- predicting ---------------------------------------------------------------------------------------------------

    def predict(self, xs: Iterable[Any]) -> list[Any]:
        """The best structure of every input, as the read-out has it."""
        (search, _), weights = self._checked(), self.to_model().deciding_weights
        return [search.best(weights, x, row) for row, x in enumerate(xs)]

    def predict_one(self, x: Any) -> Any:
        """The best structure of an input, as the read-out has it."""
        return self.predict([x])[0]

    def score(self, xs: Iterable[Any], ys: Iterable[Any]) -> float:
        """The fraction of inputs whose structure is exactly right."""
        pairs = _paired(xs, ys)
        guesses = self.predict(x for x, _ in pairs)
        return sum(same(guess, gold) for guess, (_, gold) in zip(guesses, pairs, strict=True)) / len(pairs)

    @property
    def weights(self) -> FeatureWeights:
        """The weights of the read-out, by feature; those that are 0 are omitted, and read as 0."""
        return self.to_model().weights

    def heaviest(self, n: int = 10) -> list[tuple[Any, float]]:
        """The n features with the largest absolute weights, and these weights."""
        return self.to_model().heaviest(n)

    @property
    def run_(self) -> Run:
        """The record of the run."""
        return self.to_model().record

    @property
    def mistake_rows_(self) -> Any:
        """The rows of all mistakes, in order, if they were recorded."""
        return self._recorded("mistake_rows")

    @property
    def mistake_guesses_(self) -> Any:
        """The wrong guesses, in the same order."""
        return self._recorded("mistake_guesses")

    @property
    def search_errors_(self) -> int:
        """How many wrong guesses scored below gold, and so were not learned from."""
        return self.to_model().memory.search_errors

    @property
    def largest_loss_(self) -> float:
        """The largest loss of a mistake."""
        return self.to_model().memory.largest_loss

    def _recorded(self, name: str) -> Any:
        recorded = getattr(self.to_model(), name)
        if recorded is None:
            raise AttributeError("the mistakes were not recorded; fit with record_mistakes=True")
        return recorded

    def __repr__(self) -> str:
        options = [(field.name, getattr(self, field.name), field.default) for field in fields(self) if field.init][2:]
        shown = [f"{name}={_name(value)}" for name, value, default in options if value != default]
        state = "nothing learned yet"
        if hasattr(self, "model_"):
            memory = self.model_.memory
            state = f"{counted(memory.mistakes, 'mistake')} on {counted(memory.examples, 'example')}"
        return f"StructuredPerceptron({', '.join(shown)}): {state}"

    def _checked(self) -> tuple[StructureSearch, Options]:
        _check_readout(self.readout)
        own = {name: getattr(self, name) for name in PARAMETERS if name in DECLARED}
        return StructureSearch(self.features, self.decode, self.loss), Options(**own)


def _warn_unless_converged(model: StructuredPerceptron, astray: int) -> None:
    run = model.run_
    what = why_not_converged(run, model.readout, model.min_margin)
    if run.stopped is Stopped.NO_MISTAKES and astray:
        what = (
            f"the last epoch made no mistake, but {astray:,} guess{'' if astray == 1 else 'es'} missed a gold "
            "structure that scores higher, so decode did not find the best one. Check that it scores what "
            "features(x, y) returns (and, given gold=, adds the loss); if it is a beam, widen it"
        )
    if not what:
        return
    # At the line that called fit: past this function and fit itself.
    warnings.warn(f"StructuredPerceptron did not converge: {what}.", UserWarning, stacklevel=3)


def _paired(xs: Iterable[Any], ys: Iterable[Any]) -> list[tuple[Any, Any]]:
    inputs, golds = list(xs), list(ys)
    if len(inputs) != len(golds):
        raise ValueError(
            f"there are {len(inputs)} inputs and {len(golds)} structures: one gold structure per input is required"
        )
    if not inputs:
        raise ValueError("there are no inputs to fit or score")
    return list(zip(inputs, golds, strict=True))


def _check_readout(readout: str) -> None:
    if readout == "vote":
        raise ValueError(
            "readout='vote' would have to decode with every weight vector, and the structure with most votes need not "
            "be the best for any weights, so no decoder finds it; choose 'average', which predicts much the same"
        )
    if readout not in ("last", "average"):
        raise ValueError(f"readout={readout!r} is unknown; choose one of last, average")


def _name(value: Any) -> str:
    return getattr(value, "__name__", repr(value))


# The parameters, by their names in a model file.
PARAMETERS = tuple(field.name for field in fields(StructuredPerceptron) if field.init)
