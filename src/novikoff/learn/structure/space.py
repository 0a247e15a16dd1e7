"""The structured perceptron (Collins 2002): labels that are structures, of which there may be exponentially many.

Where the decoder errs, features(x, gold) - features(x, guess) is an example whose score should be positive and is not,
and it is added to the weights. If some unit vector u scores every gold structure above each other one of the same input
by at least gamma, and no difference is longer than R, at most (R/gamma)^2 mistakes are made, for any number of
structures. With a loss, a guess is a mistake if its score plus its loss is at least gold's score: then <w, difference>
<= loss, so a mistake adds at most R^2 + 2 max loss to ||w||^2, and k <= (R^2 + 2 max loss)/gamma^2.
"""

import math
import operator
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, hypot
from typing import Any, NamedTuple, NoReturn

from novikoff.engine.rounding import UNIT_ROUNDOFF, root_up, up
from novikoff.engine.rule import is_added
from novikoff.features.names import PLAIN_NUMBERS, as_numbers
from novikoff.learn.epochs import Learner, Watch, cancel
from novikoff.learn.fit import Parted, Space
from novikoff.learn.run import Cycle, GuessedMistakes, History, Stopped
from novikoff.options import Options, Readout


class FeatureWeights(dict[Any, float]):
    """Weights by feature. They are read-only, and a feature never seen has the weight 0.

    >>> weights = FeatureWeights({"short": 2.0})
    >>> weights["short"], weights["unheard of"]
    (2.0, 0.0)
    >>> weights.score({"short": 3, "unheard of": 1})
    6.0
    """

    __slots__ = ()

    def __missing__(self, feature: Any) -> float:
        return 0.0

    def score(self, vector: Mapping[Any, Any]) -> float:
        """The sum of weight times value, correctly rounded, so that no order of the features matters."""
        return fsum([self[feature] * value for feature, value in vector.items()])

    def __reduce__(self) -> Any:
        return FeatureWeights, (dict(self),)

    def _unchangeable(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("these weights are read-only: the perceptron changes them, on its mistakes")

    __setitem__ = __delitem__ = __ior__ = _unchangeable
    clear = pop = popitem = setdefault = update = _unchangeable


class RivalStructure(NamedTuple):
    """A guess that is not gold: the difference of the two, its length, rounded up, its score, and the loss."""

    guess: Any
    difference: dict[Any, float]
    length: float
    lead: float
    loss: float


@dataclass
class StructureMemory(History):
    """The memory of a structured perceptron.

    (examples x weights - drift) is the sum of the weights after each example. `longest` is R itself, the length of the
    longest difference added, rounded up. `astray` counts the search errors of the last epoch.
    """

    weights: FeatureWeights = field(default_factory=FeatureWeights)
    drift: dict[Any, float] = field(default_factory=dict)
    mistakes: int = 0
    search_errors: int = 0
    largest_loss: float = 0.0
    astray: int = 0

    def copy(self) -> "StructureMemory":
        return replace(self, weights=FeatureWeights(self.weights), drift=dict(self.drift))

    def learn(self, rival: RivalStructure | None) -> bool:
        """Count an example, with the guess that the decoder preferred to gold; on a mistake, add the difference."""
        mistake = rival is not None and is_added(rival.lead, rival.loss, ties_are_mistakes=True, wins_ties=False)
        if rival is not None and mistake:
            for feature, value in rival.difference.items():
                dict.__setitem__(self.weights, feature, self.weights[feature] + value)
                self.drift[feature] = self.drift.get(feature, 0.0) + self.examples * value
            self.longest = max(self.longest, rival.length)
            self.largest_loss = max(self.largest_loss, rival.loss)
        self.examples += 1
        self.mistakes += mistake
        self.search_errors += rival is not None and not mistake
        self.astray += rival is not None and not mistake
        return mistake

    @property
    def weights_length(self) -> float:
        return hypot(*self.weights.values())

    @property
    def radius(self) -> float:
        return self.longest

    @property
    def step_square(self) -> float:
        """R^2 + 2 max loss: a mistake adds at most that to ||w||^2. A difference is rounded by at most u R itself."""
        return self.longest**2 + 2.0 * self.largest_loss

    @property
    def terms(self) -> int:
        return 0

    def deciding_weights(self, readout: Readout) -> FeatureWeights:
        """The last weights, or the sum of the weights after each example; those that are 0 are omitted.

        Decisions are made by the sum: of whole numbers it is exact, and tied structures have equal scores. After a
        division one of them may be a little ahead.
        """
        past, n = (self.drift, self.examples or 1) if readout == "average" else ({}, 1)
        weights = ((name, n * weight - past.get(name, 0.0)) for name, weight in self.weights.items())
        return FeatureWeights((name, weight) for name, weight in weights if weight)

    def read_out(self, readout: Readout) -> FeatureWeights:
        """The last weights, or the mean of the weights after each example; those that are 0 are omitted."""
        n = (self.examples or 1) if readout == "average" else 1
        return FeatureWeights((name, weight / n) for name, weight in self.deciding_weights(readout).items())


def length_up(vector: Mapping[Any, float]) -> float:
    """The length of a vector, rounded up; of whole numbers, to the very next float.

    >>> length_up({"a": 3.0, "b": 4.0}), length_up({"a": 0.3, "b": 0.4}) > 0.5
    (5.0, True)
    """
    square = fsum([value * value for value in vector.values()])
    if square < 2.0**53 and all(map(float.is_integer, vector.values())):
        return root_up(square)
    return up(hypot(*vector.values()) * (1.0 + 4.0 * UNIT_ROUNDOFF))


@dataclass(frozen=True)
class StructureSearch:
    """The user's functions, whose return values are checked; errors name the example by its row."""

    features: Callable[[Any, Any], Mapping[Any, Any]]
    decode: Callable[..., Any]
    loss: Callable[[Any, Any], float] | None = None

    def __post_init__(self) -> None:
        for name, what in (("features", "x and y"), ("decode", "weights and x"), ("loss", "gold and guess")):
            value = getattr(self, name)
            if not callable(value) and (name != "loss" or value is not None):
                raise TypeError(f"{name}={value!r} is not callable; pass a function of {what}")

    def best(self, weights: FeatureWeights, x: Any, row: int, **told: Any) -> Any:
        """What the decoder returns, which must not be None."""
        guess = self.decode(weights, x, **told)
        if guess is None:
            raise ValueError(f"decode returned None for example {row}; return the structure with the highest score")
        return guess

    def rival(self, weights: FeatureWeights, x: Any, gold: Any, row: int) -> RivalStructure | None:
        """The guess to compare with gold, or None if the decoder is right."""
        guess = self.best(weights, x, row, **({} if self.loss is None else {"gold": gold}))
        return None if same(guess, gold) else self._compared(weights, x, gold, guess, row)

    def _compared(self, weights: FeatureWeights, x: Any, gold: Any, guess: Any, row: int) -> RivalStructure:
        between = dict(self.vector(x, gold, row, "gold"))
        for name, value in self.vector(x, guess, row, "guess").items():
            between[name] = between.get(name, 0) - value
        difference = {name: float(value) for name, value in between.items() if value}
        if not difference and _plain(guess) == _plain(gold):
            raise TypeError(
                f"decode returned {guess!r} for example {row}, which differs from the gold structure {gold!r} in type "
                "only, and so can never equal it; return the same types as in ys"
            )
        loss = 0.0 if self.loss is None else _checked(self.loss(gold, guess), row)
        return RivalStructure(guess, difference, length_up(difference), weights.score(difference), loss)

    def vector(self, x: Any, y: Any, row: int, which: str = "y") -> Mapping[Any, Any]:
        """The features of an input with a structure, which must be numbers."""
        vector, what = self.features(x, y), f"features(x, {which}) of example {row}"
        if not isinstance(vector, Mapping):
            kind = type(vector).__name__
            raise TypeError(f"{what} is a {kind}; return a mapping from features to numbers, such as {{'length': 3}}")
        plain = PLAIN_NUMBERS.issuperset(map(type, vector.values()))
        for name in () if plain else [name for name, value in vector.items() if not hasattr(value, "__float__")]:
            how = f"give a number, or make it part of the feature, as in {{({name!r}, {vector[name]!r}): 1}}"
            raise ValueError(f"{what}: feature {name!r} has the value {vector[name]!r}, which is not a number; {how}")
        try:
            return as_numbers(vector)
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None


def same(guess: Any, gold: Any) -> bool:
    """Whether two structures are equal, arrays in every element."""
    shapes = getattr(guess, "shape", ()), getattr(gold, "shape", ())
    if shapes == ((), ()):
        return bool(guess == gold)
    return shapes[0] == shapes[1] and bool((guess == gold).all())


def _plain(y: Any) -> Any:
    """A structure with lists and arrays as tuples, to see whether two differ in type only."""
    values = y.tolist() if hasattr(y, "tolist") else y
    return tuple(map(_plain, values)) if isinstance(values, list | tuple) else values


def _checked(loss: float, row: int) -> float:
    try:
        if 0.0 <= loss < math.inf:
            return float(loss)
    except TypeError:
        pass
    raise ValueError(f"loss(gold, guess) of example {row} is {loss!r}; a loss is a finite number, at least 0")


@dataclass(frozen=True)
class Pairs(Parted):
    """Inputs with their gold structures, and the numbers under which errors name them."""

    pairs: Sequence[tuple[Any, Any]]
    numbers: Sequence[int]

    @classmethod
    def of(cls, pairs: Sequence[tuple[Any, Any]]) -> "Pairs":
        return cls(pairs, range(len(pairs)))

    @property
    def n_rows(self) -> int:
        return len(self.pairs)

    def some(self, which: Any) -> "Pairs":
        return Pairs([self.pairs[row] for row in which], [self.numbers[row] for row in which])


@dataclass(frozen=True)
class AnyStructure(Space):
    """The space of any argmax: features of structures, and the search for the best one."""

    search: StructureSearch
    leads = False

    def learner(self, examples: Pairs, options: Options, memory: StructureMemory | None = None) -> "StructureLearner":
        return StructureLearner(examples, memory or StructureMemory(), options, self.search)


@dataclass
class StructureLearner(Learner):
    """A learner of inputs with gold structures, which adds their differences to the guesses: the space of any argmax.

    `mistaken` has the inputs ever mistaken; `rows` and `guesses` have all mistakes, if they are kept.
    """

    examples: Pairs
    history: StructureMemory
    search: StructureSearch

    def __post_init__(self) -> None:
        super().__post_init__()
        self.pairs, self.order = self.examples.pairs, list(range(self.examples.n_rows))
        self.can_return = self.generator is None
        self.rows, self.guesses, self.mistaken = list[int](), list[Any](), set[int]()

    def source_of_chance(self) -> Any:
        """A generator of random or NumPy as it is, or a new one from a seed."""
        random_state = self.options.random_state
        if hasattr(random_state, "shuffle"):
            return random_state
        try:
            return random.Random(None if random_state is None else operator.index(random_state))
        except TypeError:
            how = "give a whole number, a random.Random, a NumPy generator, or None"
            raise TypeError(f"random_state={random_state!r} is not a seed; {how}") from None

    def mistakes(self) -> GuessedMistakes | None:
        return GuessedMistakes(self.rows, self.guesses) if self.keep else None

    def wrong(self, examples: Pairs, readout: Any) -> list[bool]:
        weights = self.history.deciding_weights(readout)
        numbered = zip(examples.numbers, examples.pairs, strict=True)
        return [not same(self.search.best(weights, x, number), gold) for number, (x, gold) in numbered]

    def counts(self, readout: Any, stopped: Stopped) -> dict[str, Any]:
        """Where a guess is not the prediction, or a wrong one may not count as a mistake, less is known of new inputs;
        after Ctrl-C errors are not counted, which takes time."""
        if stopped is Stopped.INTERRUPTED:
            return {}
        wrong = self.wrong(self.examples, readout)
        errors = {row for row, is_wrong in enumerate(wrong) if is_wrong}
        found: dict[str, Any] = {"errors": len(errors)}
        if self.search.loss is not None or self.history.search_errors:
            return found
        order = "given" if self.generator is None else "random"
        elsewhere = len(errors - self.mistaken)
        return found | {"order": order, "mistaken_rows": len(self.mistaken), "errors_elsewhere": elsewhere}

    def learn(self, watch: Watch) -> Stopped | None:
        if self.generator is not None:
            self.generator.shuffle(self.order)
        self.history.astray = 0
        margin = watch.min_margin
        for row in self.order:
            mistake = self._learn(row, *self.pairs[row])
            if mistake and margin is not None and self.history.margin_at_most < margin:
                return Stopped.MARGIN_RULED_OUT
            if (stopped := watch.cut_short()) is not None:
                return stopped
        return None

    def _learn(self, row: int, x: Any, gold: Any) -> bool:
        rival = self.search.rival(self.history.weights, x, gold, self.examples.numbers[row])
        mistake = self.history.learn(rival)
        self.epochs.count_one(mistake)
        if rival is None or not mistake:
            return False
        self.mistaken.add(row)
        if self.keep:
            self.rows.append(row)
            self.guesses.append(rival.guess)
        return True

    def weights_hash(self) -> int:
        return hash(frozenset((feature, weight) for feature, weight in self.history.weights.items() if weight))

    def cycle(self, made: GuessedMistakes, since: int, until: int, watch: Watch) -> Cycle | None:
        counted: dict[int, list[tuple[Any, int]]] = {}  # how often each input was mistaken for each guess
        for row, guess in zip(made.rows, made.guesses or (), strict=True):
            known = counted.setdefault(row, [])
            place = next((i for i, (other, _) in enumerate(known) if same(guess, other)), len(known))
            known[place : place + 1] = [(guess, 1 + (known[place][1] if place < len(known) else 0))]
        mistakes = [(row, guess, times) for row in sorted(counted) for guess, times in counted[row]]
        parts = (
            (feature, value, sign)
            for row, guess, times in mistakes
            for structure, sign in ((self.pairs[row][1], times), (guess, -times))
            for feature, value in self.search.vector(self.pairs[row][0], structure, row).items()
        )
        if not mistakes or not cancel(parts, watch):
            return None
        rows, guesses, times = zip(*mistakes, strict=True)
        return Cycle(since, until, rows, times, guesses)
