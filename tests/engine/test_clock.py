"""The clock of a search."""

import itertools
import math

from novikoff.engine.clock import Clock


def ticking():
    """A time that advances by a second whenever someone looks."""
    ticks = itertools.count()
    return lambda: next(ticks)


def test_a_clock_is_over_after_its_limit_and_stays_so():
    clock = Clock(2, now=ticking())
    assert [clock.is_over() for _ in range(5)] == [False, False, True, True, True]


def test_a_clock_counts_down_to_nothing():
    clock = Clock(2.5, now=ticking())
    assert [clock.left() for _ in range(4)] == [1.5, 0.5, 0, 0]


def test_a_clock_without_a_limit_is_never_over():
    clock = Clock(None, now=ticking())
    assert not any(clock.is_over() for _ in range(5))
    assert clock.left() == math.inf


def test_a_part_of_the_work_ends_with_its_own_seconds_or_with_the_whole():
    seconds = 0.0
    clock = Clock(10, now=lambda: seconds)
    short, long = clock.within(3), clock.within(30)
    assert (short.left(), long.left()) == (3, 10)
    seconds = 11.0
    assert (short.is_over(), long.is_over(), clock.within(5).left()) == (True, True, 0)
    assert Clock(None).within(math.inf).left() == math.inf
