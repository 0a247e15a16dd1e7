"""The structured perceptron (Collins 2002): labels that are structures, of which there may be exponentially many.

An input x has a set of possible structures: ways to pair, to bracket, to cut or to tag it. Features turn x and a
structure y into a vector, and a decoder finds the structure of the highest score <w, features(x, y)>. It is the
perceptron of the notes on differences: where the decoder errs, features(x, gold) - features(x, guess) is an example
whose score should be positive and is not, and it is added to the weights.

Theorem: if some unit vector u scores every gold structure above each other structure of the same input by at least
gamma, and no difference is longer than R, at most (R/gamma)^2 mistakes are made. How many structures there are appears
nowhere: a mistake brings one example into the proof, the difference that was added.

With a loss, a guess is a mistake if its score plus its loss is at least gold's score. Then <w, difference> <= loss, so
a mistake adds at most R^2 + 2 max loss to ||w||^2, and still at least gamma to <w, u>. From k gamma <= ||w|| <=
sqrt(k (R^2 + 2 max loss)) follows k <= (R^2 + 2 max loss)/gamma^2.
"""

import inspect
import operator
import random
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any, Self

from novikoff.engine.words import counted
from novikoff.learn.epochs import Epochs, Limits, Watch, check_choices, run
from novikoff.learn.history import Readout, Run, Stopped, why_not_converged
from novikoff.learn.structure.memory import Memory, Weights
from novikoff.learn.structure.search import Search, Violation, same


@dataclass
class Structures:
    """Inputs with their gold structures, whose differences to the guesses are added: the space of any argmax.

    To `keep` the mistakes, `rows` has the inputs and `guesses` what was guessed. `astray` counts the search errors of
    the last epoch. `before` is the number of inputs that were learned earlier.
    """

    history: Memory
    search: Search
    pairs: list[tuple[Any, Any]]
    chance: Any = None
    keep: bool = False
    before: int = 0
    astray: int = 0
    rows: list[int] = field(default_factory=list)
    guesses: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.epochs = Epochs(len(self.pairs))
        self.order = list(range(len(self.pairs)))

    def learn(self, watch: Watch) -> Stopped | None:
        """Decode every input once, in a new random order if there is something to shuffle with."""
        if self.chance is not None:
            self.chance.shuffle(self.order)
        self.astray = 0
        margin = watch.min_margin
        for row in self.order:
            mistake = self._learn(row, *self.pairs[row])
            if mistake and margin is not None and self.history.rules_out(margin):
                return Stopped.MARGIN_RULED_OUT
            if (stopped := watch.cut_short()) is not None:
                return stopped
        return None

    def _learn(self, row: int, x: Any, gold: Any) -> bool:
        rival = self.search.rival(self.history.weights, x, gold, row)
        mistake = self.history.learn(rival)
        self.epochs.count_one(mistake)
        if rival is not None and not mistake:
            self.astray += 1
        elif rival is not None and self.keep:
            self.rows.append(self.before + row)
            self.guesses.append(rival.guess)
        return mistake


class StructuredPerceptron:
    """The perceptron for any argmax: you supply the features of a structure, and the search for the best one.

    Parameters
    ----------
    features : `features(x, y)` maps the features of input x with structure y to numbers.
    decode : `decode(weights, x)` returns the structure y with the highest score, the sum of `weights[f]` times value
        over its features; `weights[f]` is 0 for a feature never seen. Ties are its own to break.
    readout : the weights that predict, "average" (of the weights after each example) or "last". It makes no difference
        to what is learned.
    max_epochs, shuffle, random_state : at most how many epochs (None: no limit), each in a new random order (unless
        shuffle=False), drawn from a seed or a generator.
    min_margin : stop as soon as the mistakes prove that no unit vector has this margin.
    time_limit : stop after so many seconds.
    record_mistakes : keep the rows of all mistakes in `mistake_rows_` and the wrong guesses in `mistake_guesses_`.
    loss : `loss(gold, guess)`, at least 0, for cost-augmented training. Learning then calls
        `decode(weights, x, gold=gold)`, which must return the structure with the highest score + loss; every gold
        structure has to lead each other one by more than its loss.
    violation : "early" or "max", for a beam. Learning then calls `decode(weights, x, gold=gold)`, which yields, step by
        step, a prefix of gold and the beam of prefixes of the same length, best first. "early" (Collins & Roark 2004)
        updates where gold falls off the beam, or at the end, "max" (Huang, Fayong & Guo 2012) where the beam's best
        leads gold most; both need `features` of prefixes. If the best of the last beam is gold, there is no update.

    A mistake is a guess that is not gold and whose score is at least gold's (with a loss: whose score plus loss). A
    guess that scores below gold is an error of the search: it teaches nothing about the weights, breaks the proof if it
    is added, and is only counted, in `search_errors_`.

    The record `run_` has the mistakes, R (the length of the longest difference added) and `margin_at_most`: after k
    mistakes no unit vector scores all gold structures above all others by more than ||w||/k. With that margin gamma, at
    most (R/gamma)^2 mistakes are made, however many structures there are; (R^2 + 2 max loss)/gamma^2 with a loss.
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

    mistake_rows_: list[int]
    mistake_guesses_: list[Any]

    def __init__(
        self,
        features: Callable[[Any, Any], Mapping[Any, Any]],
        decode: Callable[..., Any],
        *,
        readout: Readout = "average",
        max_epochs: int | None = 10,
        shuffle: bool = True,
        random_state: Any = None,
        min_margin: float | None = None,
        time_limit: float | None = None,
        record_mistakes: bool = False,
        loss: Callable[[Any, Any], float] | None = None,
        violation: Violation | None = None,
    ) -> None:
        self.features = features
        self.decode = decode
        self.readout = readout
        self.max_epochs = max_epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.min_margin = min_margin
        self.time_limit = time_limit
        self.record_mistakes = record_mistakes
        self.loss = loss
        self.violation = violation
        self._memory: Memory | None = None
        self._run: Run | None = None
        self._read: dict[str, Weights] = {}

    # -- learning -----------------------------------------------------------------------------------------------------

    def fit(self, xs: Iterable[Any], ys: Iterable[Any]) -> Self:
        """Learn inputs with their gold structures, epoch by epoch, until one makes no mistake or a limit is reached.

        After Ctrl-C the model holds what was learned so far, and the interrupt is raised again; the training errors are
        then not counted. Any other failure leaves the model as it was.
        """
        search, pairs = self._checked(), _paired(xs, ys)
        chance = _chance(self.random_state) if self.shuffle else None
        space = Structures(Memory(), search, pairs, chance, self.record_mistakes)
        stopped = run(space, Limits(self.max_epochs, self.min_margin, self.time_limit))
        errors = None
        if stopped is not Stopped.INTERRUPTED:
            weights = space.history.read_out(self.readout)
            errors = sum(not same(search.best(weights, x, row), gold) for row, (x, gold) in enumerate(pairs))
        per_epoch = space.epochs.per_epoch()
        record = space.history.recorded(self.readout, stopped, per_epoch, n_rows=len(pairs), errors=errors)
        self._keep(space, record)
        if stopped is Stopped.INTERRUPTED:
            raise KeyboardInterrupt
        _warn_unless_converged(self, space.astray)
        return self

    def partial_fit(self, xs: Iterable[Any], ys: Iterable[Any]) -> Self:
        """Learn inputs with their gold structures once, in the order given, on top of what was learned before.

        A call that fails leaves the model as it was.
        """
        search, pairs = self._checked(), _paired(xs, ys)
        memory = Memory() if self._memory is None else self._memory
        space = Structures(memory, search, pairs, keep=self.record_mistakes, before=memory.examples)
        try:
            with memory.all_or_nothing():
                space.learn(Watch())
        except KeyboardInterrupt:
            self._keep(space, None)
            raise
        self._keep(space, None)
        return self

    def _keep(self, space: Structures, run: Run | None) -> None:
        """Become what was learned: by a fit, which leaves a record, or on top of what was there."""
        goes_on = run is None and hasattr(self, "mistake_rows_")
        self._memory, self._run, self._read = space.history, run, {}
        if self.record_mistakes:
            self.mistake_rows_ = self.mistake_rows_ + space.rows if goes_on else space.rows
            self.mistake_guesses_ = self.mistake_guesses_ + space.guesses if goes_on else space.guesses

    # -- predicting ---------------------------------------------------------------------------------------------------

    def predict(self, xs: Iterable[Any]) -> list[Any]:
        """The best structure of every input, as the read-out has it."""
        search, weights = self._checked(), self.weights
        return [search.best(weights, x, row) for row, x in enumerate(xs)]

    def predict_one(self, x: Any) -> Any:
        """The best structure of an input, as the read-out has it."""
        return self.predict([x])[0]

    def score(self, xs: Iterable[Any], ys: Iterable[Any]) -> float:
        """The share of inputs whose structure is exactly right."""
        pairs = _paired(xs, ys)
        guesses = self.predict(x for x, _ in pairs)
        return sum(same(guess, gold) for guess, (_, gold) in zip(guesses, pairs, strict=True)) / len(pairs)

    @property
    def weights(self) -> Weights:
        """The weights of the read-out, by feature; those that are 0 are left out, and are read as 0 all the same."""
        _check_readout(self.readout)
        if self.readout not in self._read:
            self._read[self.readout] = self._fitted().read_out(self.readout)
        return self._read[self.readout]

    def heaviest(self, n: int = 10) -> list[tuple[Any, float]]:
        """The n features of the largest weights, of either sign, with their weights."""
        return nsmallest(n, self.weights.items(), key=lambda item: (-abs(item[1]), repr(item[0])))

    @property
    def run_(self) -> Run:
        """The record of the run."""
        return self._fitted().recorded(self.readout) if self._run is None else self._run

    @property
    def search_errors_(self) -> int:
        """How many wrong guesses scored below gold, and so were not learned from."""
        return self._fitted().search_errors

    @property
    def largest_loss_(self) -> float:
        """The largest loss of a mistake."""
        return self._fitted().largest_loss

    def __repr__(self) -> str:
        defaults = inspect.signature(StructuredPerceptron).parameters
        options = {name: getattr(self, name) for name in list(defaults)[2:]}
        shown = [f"{name}={_name(value)}" for name, value in options.items() if value != defaults[name].default]
        state = "nothing learned yet"
        if self._memory is not None:
            state = f"{counted(self._memory.mistakes, 'mistake')} on {counted(self._memory.examples, 'example')}"
        return f"StructuredPerceptron({', '.join(shown)}): {state}"

    def _fitted(self) -> Memory:
        if self._memory is None:
            raise AttributeError("this StructuredPerceptron has learned nothing yet; call fit or partial_fit first")
        return self._memory

    def _checked(self) -> Search:
        """The search, if all choices make sense."""
        _check_readout(self.readout)
        check_choices(max_epochs=self.max_epochs, min_margin=self.min_margin, time_limit=self.time_limit)
        return Search(self.features, self.decode, self.loss, self.violation)


def _warn_unless_converged(model: StructuredPerceptron, astray: int) -> None:
    """Whoever asked for convergence and did not get it is told why, and what to do next."""
    run = model.run_
    what = why_not_converged(run, model.readout, model.min_margin)
    if run.stopped is Stopped.NO_MISTAKES and astray:
        what = (
            f"the last epoch made no mistake, but {astray:,} guess{'' if astray == 1 else 'es'} missed a gold "
            "structure that scores higher, so decode did not find the best one. Check that it scores what "
            "features(x, y) returns (and, given gold=, adds the loss); if it is a beam, widen it or train with "
            'violation="max"'
        )
    if not what:
        return
    # At the line that called fit: past this function and fit itself.
    warnings.warn(f"StructuredPerceptron did not converge: {what}.", UserWarning, stacklevel=3)


def _paired(xs: Iterable[Any], ys: Iterable[Any]) -> list[tuple[Any, Any]]:
    inputs, golds = list(xs), list(ys)
    if len(inputs) != len(golds):
        raise ValueError(
            f"there are {len(inputs)} inputs and {len(golds)} structures: one gold structure an input is needed"
        )
    if not inputs:
        raise ValueError("there are no inputs: there is nothing to learn from, or to judge by")
    return list(zip(inputs, golds, strict=True))


def _chance(random_state: Any) -> Any:
    """What shuffles: a generator of random or NumPy as it is, or a new one from a seed."""
    if hasattr(random_state, "shuffle"):
        return random_state
    try:
        return random.Random(None if random_state is None else operator.index(random_state))
    except TypeError:
        how = "give a whole number, a random.Random, a NumPy generator, or None"
        raise TypeError(f"random_state={random_state!r} is no seed; {how}") from None


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
