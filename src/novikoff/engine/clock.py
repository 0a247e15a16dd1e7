"""The clock for time limits: it is paused while kernels are compiled, which happens once on a machine.

The `watchers` are notified of compilation. If there are none, it is announced in a terminal or a notebook. A `Clock` is
passed to a search: it knows how much of a time limit is left.
"""

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

# Called with the name of a kernel when its compilation starts; a cached kernel needs none.
watchers: list[Callable[[str], None]] = []

_stood = 0.0
_announced = 0
_inside = threading.local()


def announce(kernel: str) -> None:
    """Show a line on stderr during compilation, with a running count."""
    global _announced
    if getattr(sys.stderr, "isatty", bool)() or "ipykernel" in sys.modules:
        _announced += 1
        loops = "1 loop" if _announced == 1 else f"{_announced} loops"
        sys.stderr.write(f"\rcompiling (first use only): {loops}")
        sys.stderr.flush()


def wipe_announcement() -> None:
    """Erase the line, but keep the count."""
    if _announced and sys.stderr is not None:
        sys.stderr.write("\r" + " " * 48 + "\r")
        sys.stderr.flush()


def now() -> float:
    """Return seconds since a fixed moment, without the time spent on compilation."""
    return time.monotonic() - _stood


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Pause the clock in a block."""
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
    """Raise an error unless the time limit is valid."""
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit={time_limit!r} must be a positive number of seconds, or None")


class Clock:
    """A time limit in seconds that starts now; without one it is never over. Compilation does not count.

    Tests pass their own `now`. `told` is called with a description of what is being done.

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
        """Yield the items one by one; raise OutOfTimeError instead of the next one when it is over."""
        for item in items:
            if self.is_over():
                raise OutOfTimeError
            yield item

    def within(self, seconds: float) -> "Clock":
        """Return a clock for part of the work: over after `seconds`, or when this one is."""
        return Clock(min(self.left(), seconds), self.now, self.told)

    def tell(self, what: str) -> None:
        """Report what is being done."""
        if self.told is not None:
            self.told(what)

    def left(self) -> float:
        """Return the seconds that are left: 0 when it is over, infinite without a limit."""
        return max(self._end - self.now(), 0)


UNLIMITED = Clock(None)
