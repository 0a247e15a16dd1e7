"""A clock that never goes back, and does not jump: what the log says about time must not depend on who sets a clock."""

import time
from collections.abc import Callable


class Clock:
    """Seconds since 1970, by the wall clock when the service starts, and by a steady one from then on.

    It starts no earlier than the last event of the log, so that times in the log never decrease.

    >>> steady = iter([5.0, 6.0, 9.0]).__next__
    >>> clock = Clock(not_before=1000.0, wall=lambda: 900.0, steady=steady)
    >>> clock(), clock()
    (1001.0, 1004.0)
    """

    def __init__(
        self,
        not_before: float = 0.0,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._steady = steady
        self._offset = max(wall(), not_before) - steady()

    def __call__(self) -> float:
        return self._offset + self._steady()
