"""The clock that limits of time go by: it stands still while kernels are compiled, which happens once on a machine.

Who wants to know when that happens is among the `watchers`. Where there are none, a terminal or a notebook shows it. A
`Clock` is what a search is given: it knows how much of a limit is left.
"""

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

# Called with the name of a kernel when the compiler begins to work on it; a kernel on disk needs no compiler.
watchers: list[Callable[[str], None]] = []

_stood = 0.0
_announced = 0
_inside = threading.local()


def announce(kernel: str) -> None:
    """One line on stderr while the compiler works, with a count that moves."""
    global _announced
    if getattr(sys.stderr, "isatty", bool)() or "ipykernel" in sys.modules:
        _announced += 1
        loops = "1 loop" if _announced == 1 else f"{_announced} loops"
        sys.stderr.write(f"\rcompiling (first use only): {loops}")
        sys.stderr.flush()


def wipe_announcement() -> None:
    """Take the line away, and go on counting from there."""
    if _announced and sys.stderr is not None:
        sys.stderr.write("\r" + " " * 48 + "\r")
        sys.stderr.flush()


def now() -> float:
    """Seconds since some moment, without those that it took to compile kernels."""
    return time.monotonic() - _stood


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """The clock stops here, and goes on afterwards."""
    global _stood
    if getattr(_inside, "already", False):
        yield
        return
    _inside.already, began = True, time.monotonic()
    try:
        yield
    finally:
        _stood += time.monotonic() - began
        _inside.already = False


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
        now: Callable[[], float] = now,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self.now, self.told = now, told
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
        """Say what is being done."""
        if self.told is not None:
            self.told(what)

    def left(self) -> float:
        """The seconds that are left: 0 when it is over, infinite without a limit."""
        return max(self._end - self.now(), 0)


UNLIMITED = Clock(None)
