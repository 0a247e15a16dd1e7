"""A clock for tests: it moves when somebody looks at it, so that a busy machine changes nothing."""

import time
from unittest import mock


class Clock:
    """ReferenceWeights in for `time.monotonic`; every look takes `tick` seconds."""

    def __init__(self, tick: float = 1e-6) -> None:
        self.tick, self.now, self.looks = tick, 1000.0, 0

    def __call__(self) -> float:
        self.looks += 1
        self.now += self.tick
        return self.now

    def in_place(self) -> "mock._patch[Clock]":
        """As long as this is entered, it is the clock that limits of time go by."""
        return mock.patch.object(time, "monotonic", self)
