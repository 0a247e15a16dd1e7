"""The history of a learner: what the proof needs of its past.

One learning rule: on a mistake, add the example. One history: how many examples were seen, how many were mistakes, how
long the longest is, and how long the sum of the mistakes has become. From these numbers alone follow the bound and the
margins that are ruled out, in any space in which examples are added: coordinates, a kernel expansion, label sequences,
any structure. Three read-outs of the history (Freund and Schapire 1999): the last weights, their average, their vote.

With a lead tau an example is also added if it is right, but by no more than tau R^2 (Krauth and Mezard 1987). Then it
is *narrow*, and no mistake; mistakes and narrow ones are *updates*, and k counts these. Each adds at most R^2 +
2 tau R^2 to ||w||^2, so k <= (1 + 2 tau) (R/gamma)^2.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from novikoff.engine.rounding import UNIT_ROUNDOFF, down, root_up, up
from novikoff.learn.run import Run, Stopped


@dataclass(frozen=True)
class Mistakes:
    """Mistakes in order, by row, and what else is known of each; all whole numbers, except for `FLOATS`."""

    rows: Any

    FLOATS: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Concatenate the parts."""
        import numpy as np  # learners in pure Python do not need it

        none = {field.name: np.empty(0, np.float64 if field.name in cls.FLOATS else np.int64) for field in fields(cls)}
        columns = {name: [empty, *(getattr(part, name) for part in parts)] for name, empty in none.items()}
        return cls(**{name: np.concatenate(column) for name, column in columns.items()})

    def numbered(self, numbers: Any) -> Self:
        """The same mistakes, with renumbered rows."""
        rows = numbers[self.rows]
        return replace(self, rows=rows.tolist() if isinstance(self.rows, list) else rows)


@dataclass(frozen=True)
class GuessedMistakes(Mistakes):
    """The same with the guess of each, a label sequence or a structure, if guesses were kept."""

    guesses: list[Any] | None = None


@dataclass(kw_only=True, eq=False)
class History:
    """What the proof needs of a learner's past; every memory is one, and defines lengths in its space.

    `longest` is R^2, or a little more. Each update lengthens ||w||^2 by at most `step_square`, and ||w||^2 is a sum of
    `terms` squares: the rounding of a bound depends on nothing else. `lead` is the largest requested, and `narrow`
    counts the examples that were right, but were added.
    """

    examples: int = 0
    longest: float = 0.0
    lead: float = 0.0
    narrow: int = 0

    @property
    def mistakes(self) -> int:
        """How many examples were wrong, and added."""
        raise NotImplementedError

    @property
    def updates(self) -> int:
        """k: how many examples were added."""
        return self.mistakes + self.narrow

    @property
    def weights_length(self) -> float:
        """||w||, the length of the sum of the mistakes."""
        raise NotImplementedError

    @property
    def radius(self) -> float:
        """R, rounded up."""
        return root_up(self.longest)

    @property
    def vector_square(self) -> float:
        """The largest squared length of a vector that an update adds."""
        return self.longest

    @property
    def step_square(self) -> float:
        """The most that an update adds to ||w||^2: its own square, and twice a score of at most the lead."""
        return (1.0 + 2.0 * self.lead) * self.vector_square

    @property
    def terms(self) -> int:
        return 1

    def lengths(self) -> Iterable[tuple[float, float]]:
        """Updates, and an upper bound on the length of their sum: once, or for each of several separate learners."""
        yield self.updates, self.weights_length * (1.0 + (self.terms + 8) * UNIT_ROUNDOFF)

    @property
    def margin_at_most(self) -> float:
        """gamma <= ||w||/k after k updates, rounded outwards; infinite before the first.

        Every addition rounds w by at most u ||w|| <= u sqrt(k) R, so k of them by at most u k sqrt(k) R.
        """
        return min((up(length / k + self.rounding(k)) for k, length in self.lengths() if k), default=math.inf)

    def rounding(self, k: float) -> float:
        """A bound on the rounding error of ||w||/k after k additions."""
        return 2.0 * UNIT_ROUNDOFF * math.sqrt(k * self.step_square)

    def margin_at_least(self, lead: float) -> float:
        """The margin of weights under which every example is ahead by more than this lead, rounded down.

        A score is off by no more than its `terms` roundings, each of at most u ||w|| ||z||.
        """
        lengths = [length for k, length in self.lengths() if k]
        if not lead or not lengths:
            return 0.0
        rounded = 4.0 * (self.terms + 8) * UNIT_ROUNDOFF * root_up(self.vector_square)
        return max(0.0, down(down(lead * self.vector_square) / up(max(lengths)) - rounded))

    def renumber(self, rows: Any) -> None:
        """Renumber rows among all, where a memory keeps the rows of its mistakes."""

    def finished(self) -> Any:
        """The memory to keep once learning has ended."""
        return self

    def recorded(
        self,
        readout: str,
        stopped: Stopped | None = None,
        per_epoch: tuple[int, ...] = (),
        *,
        kind: type[Run] = Run,
        **more: Any,
    ) -> Any:
        """The record of this history, with more fields."""
        return kind(
            mistakes=self.mistakes,
            mistakes_per_epoch=per_epoch,
            examples=self.examples,
            stopped=stopped,
            radius=self.radius,
            weights_length=self.weights_length,
            margin_at_most=self.margin_at_most,
            readout=readout,
            lead=self.lead,
            narrow=self.narrow,
            **{"epochs": len(per_epoch), **more},
        )
