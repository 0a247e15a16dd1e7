"""The guess that a structured perceptron is to learn from: what its decoder prefers to gold, and whether it may."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from novikoff.features.names import PLAIN_NUMBERS, as_numbers
from novikoff.learn.structure.memory import FeatureWeights, RivalStructure, length_up

Violation = Literal["early", "max"]


@dataclass(frozen=True)
class StructureSearch:
    """The user's functions, with their answers checked; errors name the example by its row."""

    features: Callable[[Any, Any], Mapping[Any, Any]]
    decode: Callable[..., Any]
    loss: Callable[[Any, Any], float] | None = None
    violation: Violation | None = None

    def __post_init__(self) -> None:
        for name, what in (("features", "x and y"), ("decode", "weights and x"), ("loss", "gold and guess")):
            value = getattr(self, name)
            if not callable(value) and (name != "loss" or value is not None):
                raise TypeError(f"{name}={value!r} is not callable; pass a function of {what}")
        if self.violation not in (None, "early", "max"):
            raise ValueError(f"violation={self.violation!r} is unknown; choose early, max or None")

    def best(self, weights: FeatureWeights, x: Any, row: int, **told: Any) -> Any:
        """What the decoder returns, which must be something."""
        guess = self.decode(weights, x, **told)
        if guess is None:
            raise ValueError(f"decode returned None for example {row}; return the structure with the highest score")
        return guess

    def rival(self, weights: FeatureWeights, x: Any, gold: Any, row: int) -> RivalStructure | None:
        """The guess to compare with gold, or None if the decoder is right. A decoder without a beam takes one step."""
        most: RivalStructure | None = None
        guess = part = gold
        for part, beam in self._steps(weights, x, gold, row):
            guess = beam[0]
            if self.violation != "max" and not any(same(kept, part) for kept in beam):
                break
            if self.violation == "max" and not same(guess, part):
                rival = self._compared(weights, x, part, guess, row)
                if most is None or rival.lead - rival.loss < most.lead - most.loss:
                    most = rival
        if same(guess, part):
            return None
        return most or self._compared(weights, x, part, guess, row)

    def _steps(self, weights: FeatureWeights, x: Any, gold: Any, row: int) -> Iterator[tuple[Any, Any]]:
        """Pairs of a part of gold and the guesses for it, best first."""
        if self.violation is None:
            told = {} if self.loss is None else {"gold": gold}
            yield gold, (self.best(weights, x, row, **told),)
            return
        steps = 0
        for step in self.best(weights, x, row, gold=gold):
            try:
                part, beam = step
                beam[0]
            except (TypeError, ValueError, LookupError):
                what = f"decode(weights, x, gold=...) of example {row} yielded {step!r}"
                raise ValueError(f"{what}; yield pairs (prefix of gold, [best prefix, next best, ...])") from None
            yield part, beam
            steps += 1
        if not steps:
            raise ValueError(f"decode(weights, x, gold=...) of example {row} yielded nothing; yield a pair a step")

    def _compared(self, weights: FeatureWeights, x: Any, gold: Any, guess: Any, row: int) -> RivalStructure:
        """The difference between gold and a guess, and what the weights say of it."""
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
