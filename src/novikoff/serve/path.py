"""Which events of a log made the model: all of them, but those that a rollback took back.

A rollback erases nothing. It is an event itself, number r, which says that the model is again what it was after event
s < r. So the events s + 1, ..., r - 1 are still in the log, and no longer on the path.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Part(NamedTuple):
    """Events from `start` to `end`, both included."""

    start: int
    end: int


FOR_EVER = 2**62


class Path(NamedTuple):
    """The parts of the log that made a model, in order, and the event that last promoted a challenger."""

    parts: tuple[Part, ...] = (Part(0, FOR_EVER),)
    promoted: int = 0

    def has(self, seq: int) -> bool:
        """Whether an event is on the path."""
        return any(part.start <= seq <= part.end for part in self.parts)

    def promoting(self, seq: int) -> "Path":
        return Path(self.parts, seq)


def path_to(seq: int, rollbacks: Iterable[tuple[int, int]]) -> tuple[Part, ...]:
    """The parts that lead to an event; `rollbacks` are pairs of their number and of what they went back to.

    >>> path_to(9, [(4, 1), (7, 5)])
    (Part(start=0, end=1), Part(start=4, end=5), Part(start=7, end=9))
    >>> path_to(3, [(4, 1), (7, 5)])
    (Part(start=0, end=3),)
    """
    parts, end = [], seq
    for number, target in sorted(rollbacks, reverse=True):
        if number <= end:
            parts.append(Part(number, end))
            end = target
    parts.append(Part(0, end))
    return tuple(reversed(parts))
