"""When the weights of a chain return, and whether its mistakes in between cancel.

What was guessed is not kept while a chain learns. It need not be: weights that have returned go the same way once more,
so the mistakes of the period are found by learning it again, sequence by sequence, on a copy.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from novikoff.learn.cycles import MOST_COUNTED, Cycle, never
from novikoff.learn.epochs import Watch
from novikoff.learn.run import Stopped

if TYPE_CHECKING:
    from novikoff.learn.chain.space import Sequences


@dataclass(frozen=True)
class _Until(Watch):
    """Learning again ends when it gets late."""

    is_late: Callable[[], bool] = never

    def cut_short(self) -> Stopped | None:
        return Stopped.TIME_LIMIT if self.is_late() else None


class Replayed:
    """The mistakes of a period, found by learning it again."""

    def __init__(self, space: "Sequences") -> None:
        self.space = space

    @classmethod
    def of(cls, space: "Sequences") -> "Replayed | None":
        """None if there is too much to be compared and added up, or if epochs have orders of their own."""
        weights = space.history.weights
        size = weights.n_features * weights.n_labels + space.tokens.rows.entries.size
        return cls(space) if space.generator is None and size <= MOST_COUNTED else None

    def weights_hash(self) -> int:
        weights = self.space.history.weights
        parts = (*weights.emissions.entries(), weights.links.table)
        return hash(tuple(part.tobytes() for part in parts))

    def count_anew(self) -> None:
        """There is nothing to be counted before the weights return."""

    def cancelled(self, since: int, until: int, is_late: Callable[[], bool] = never) -> Cycle | None:
        again = self.space.again()
        for _ in range(until - since):
            if again.learn(_Until(is_late=is_late)) is not None or is_late():
                return None
        guesses = (tuple(guess.tolist()) for guess in again.guesses or ())
        made = Counter(zip(again.mistakes().rows.tolist(), guesses, strict=True))
        total: dict[Any, Fraction] = defaultdict(Fraction)
        for (row, guess), times in made.items():
            if is_late():
                return None
            self._add(total, row, guess, times)
        if not made or any(total.values()):
            return None
        rows, rivals = zip(*sorted(made), strict=True)
        return Cycle(since, until, rows, tuple(made[key] for key in sorted(made)), rivals)

    def _add(self, total: dict[Any, Fraction], row: int, guess: tuple[int, ...], times: int) -> None:
        """Add so many times the difference between the features of the right labels and those of the guess."""
        tokens = self.space.tokens
        first, last = (int(end) for end in tokens.starts[row : row + 2])
        gold = self.space.labels[first:last].tolist()
        for place, (right, wrong) in enumerate(zip(gold, guess, strict=True)):
            if right != wrong:
                for column, value in _entries(tokens.rows.part(first + place, first + place + 1)):
                    total[column, right] += times * Fraction(value)
                    total[column, wrong] -= times * Fraction(value)
        for labels, sign in ((gold, times), (guess, -times)):
            for link in pairwise((None, *labels, None)):
                total["link", link] += sign


def _entries(token: Any) -> list[tuple[int, float]]:
    """The columns of a token, and its numbers."""
    if token.is_sparse:
        return list(zip(token.matrix.indices.tolist(), token.matrix.data.tolist(), strict=True))
    return list(enumerate(token.matrix[0].tolist()))
