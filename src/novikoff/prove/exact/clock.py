"""How much time a search has."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from novikoff.engine import clock

T = TypeVar("T")


class OutOfTimeError(Exception):
    """The clock ran out in the middle of a computation."""


def check_time_limit(time_limit: float | None) -> None:
    """Refuse what is no limit."""
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit={time_limit!r} must be a positive number of seconds, or None")


class Clock:
    """A time limit in seconds that starts now; without one it is never over. Compiling does not count.

    Whoever tests a limit passes `now`.

    Whoever waits may pass `told`, which is called with what is being done.

    >>> ticks = iter(range(10))
    >>> clock = Clock(2, now=lambda: next(ticks))
    >>> clock.is_over(), clock.left(), clock.is_over()
    (False, 0, True)
    """

    def __init__(
        self,
        time_limit: float | None,
        now: Callable[[], float] | None = None,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self.now, self.told = now or clock.now, told
        self._end = math.inf if time_limit is None else self.now() + time_limit

    def is_over(self) -> bool:
        return self.now() > self._end

    def through(self, items: Iterable[T]) -> Iterator[T]:
        """The items one by one; OutOfTimeError instead of the next one when it is over."""
        for item in items:
            if self.is_over():
                raise OutOfTimeError
            yield item

    def within(self, seconds: float) -> "Clock":
        """A clock for a part of the work: over after so many seconds, or when this one is."""
        return Clock(min(self.left(), seconds), self.now, self.told)

    def tell(self, what: str) -> None:
        """Say what is being done, to whoever waits for it."""
        if self.told is not None:
            self.told(what)

    def left(self) -> float:
        """The seconds that are left: 0 when it is over, infinite without a limit."""
        return max(self._end - self.now(), 0)


UNLIMITED = Clock(None)
