"""A run whose weights return has found its own proof: the mistakes in between add up to 0.

Where every epoch visits the examples in the same order, the weights at its end decide all that follows. If they are
what they were at the end of an earlier epoch, the run repeats itself for ever, and the mistakes in between, each as
often as it was made, cancel: a positive combination of signed examples that is 0, so that no separator exists (Gordan).
Weights stay bounded on any data (the perceptron cycling theorem: Minsky & Papert 1969, Block & Levin 1970), so on whole
numbers, of which a bounded set has finitely many, every run that does not converge returns in the end.

Rounded sums can return without their mistakes cancelling. So a return is where to look, and nothing is claimed before
the mistakes in between have been added up without rounding.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from novikoff.say.words import cancelling

if TYPE_CHECKING:
    from novikoff.learn.epochs import Watch

# On how many rows, about, weights are compared once; the first epochs are looked at one by one.
ROWS_PER_LOOK = 1 << 16
LOOKED_AT = 32

# A count of the mistakes by row takes memory; with more rows, or rows times classes, than this no return is looked for.
MOST_COUNTED = 1 << 22


@dataclass(frozen=True)
class Cycle:
    """Mistakes that add up to 0: distinct `rows`, and how many `times` each was made.

    With more than two answers a row may be there several times, each time against another of the `rivals`. The weights
    after `since` and after `until` epochs are the same.

    >>> print(Cycle(1, 2, (0, 1, 2), (1, 1, 2)))
    rows (the first is 0) cancel exactly: 1 x row 0 + 1 x row 1 + 2 x row 2 = 0
    """

    since: int
    until: int
    rows: tuple[int, ...]
    times: tuple[int, ...]
    rivals: tuple[Any, ...] | None = None

    def __str__(self) -> str:
        return cancelling(self.rows, self.times, self.rivals)


class Returning(Protocol):
    """What notices a return: a space whose epochs all have the same order keeps one, and counts its mistakes there."""

    def weights_hash(self) -> int:
        """A number that is the same for the same weights."""
        ...

    def count_anew(self) -> None:
        """Begin to count mistakes."""
        ...

    def cancelled(self, since: int, until: int, watch: "Watch") -> Cycle | None:
        """The mistakes counted, which were made between these epochs, if they add up to exactly 0.

        None also if time is over before that is known.
        """
        ...


@dataclass
class Lookout:
    """Brent's algorithm: weights are compared with one earlier state, which is replaced after 1, 2, 4, ... looks."""

    space: Returning | None
    n_rows: int
    next: int = 1
    kept: int | None = None
    since: int = 0
    looks: int = 0
    patience: int = 1

    def look(self, epochs: int, watch: "Watch") -> Cycle | None:
        """The cycle that ends after so many epochs, if one does; the first return is also the last to be looked at."""
        if self.space is None or epochs < self.next:
            return None
        self.next = next_look(epochs, self.n_rows)
        state = self.space.weights_hash()
        if state == self.kept:
            space, self.space = self.space, None
            return space.cancelled(self.since, epochs, watch)
        self.looks += 1
        if self.kept is None or self.looks == self.patience:
            self.kept, self.since, self.looks, self.patience = state, epochs, 0, 2 * self.patience
            self.space.count_anew()
        return None


def next_look(epochs: int, n_rows: int) -> int:
    """After how many epochs to compare weights again. It depends on nothing else, so that a run ends in the same epoch
    however its rows are stored, and epochs on few rows can be learned many at a time."""
    return epochs + max(1, min(epochs // LOOKED_AT, ROWS_PER_LOOK // n_rows))


def vanishes(values: Iterable[float], times: Iterable[int]) -> bool:
    """Whether the sum of all values, each so many times, is exactly 0.

    >>> vanishes([0.1, -0.2], [2, 1]), vanishes([0.1, 0.2, -0.3], [1, 1, 1])
    (True, False)
    """
    return not sum(Fraction(value) * count for value, count in zip(values, times, strict=True))
