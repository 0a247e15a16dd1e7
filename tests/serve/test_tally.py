"""What is counted along a stream: in constant memory, and alarming only where chance does not explain it."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.serve.tally import ALARM, MOST_POINTS, WINDOW, DriftWindow, MistakeCurve, chance_of_more
from tests.draws import draws

laws = settings(deadline=None, max_examples=draws(50))
FLAGS = st.lists(st.booleans(), max_size=40)


@laws
@given(st.lists(FLAGS, max_size=80))
def test_the_curve_has_the_mistakes_after_every_stride(parts):
    curve, flags = MistakeCurve(), [flag for part in parts for flag in part]
    for part in parts:
        curve.add(part)
    sums = list(itertools.accumulate(flags))
    assert curve.mistakes == sums[curve.stride - 1 :: curve.stride]
    assert len(curve.mistakes) < MOST_POINTS


def test_the_curve_of_a_long_stream_takes_no_more_memory():
    curve = MistakeCurve()
    for _ in range(2000):
        curve.add([True, False] * 50)
    assert len(curve.mistakes) < MOST_POINTS
    assert curve.mistakes[-1] == curve.stride * len(curve.mistakes) // 2


@laws
@given(st.integers(0, 6), st.integers(0, 6), st.data())
def test_the_chance_is_that_of_all_ways_to_place_the_mistakes(examples, before, data):
    mistakes = data.draw(st.integers(0, examples))
    before_mistakes = data.draw(st.integers(0, before))
    placed = list(itertools.combinations(range(examples + before), mistakes + before_mistakes))
    in_window = sum(sum(place < examples for place in places) >= mistakes for places in placed)
    chance = chance_of_more(mistakes, examples, before_mistakes, before)
    assert chance == pytest.approx(in_window / len(placed))


def alarms(rates, seed):
    drift, draw = DriftWindow(), random.Random(seed)
    for first, rate in enumerate(rates):
        drift.add([draw.random() < rate], first)
    return drift.alarms


def test_a_world_that_stays_the_same_rarely_alarms():
    false = sum(bool(alarms([0.1] * 20 * WINDOW, seed)) for seed in range(50))
    assert false <= 50 * ALARM + 3


def test_a_learner_that_gets_better_never_alarms():
    assert not any(alarms([0.3 / (1 + i / 500) for i in range(20 * WINDOW)], seed) for seed in range(20))


def test_a_world_that_changes_alarms_once_and_then_starts_anew():
    for seed in range(20):
        (alarm,) = alarms([0.05] * 10 * WINDOW + [0.4] * 10 * WINDOW, seed)
        assert 10 * WINDOW <= alarm.seq < 12 * WINDOW
        assert alarm.mistakes > alarm.expected


@laws
@given(st.lists(FLAGS, max_size=80))
def test_drift_does_not_depend_on_how_the_stream_is_cut(parts):
    flags = [flag for part in parts for flag in part]
    whole, cut, first = DriftWindow(), DriftWindow(), 1
    whole.add(flags, 1)
    for part in parts:
        cut.add(part, first)
        first += len(part)
    assert whole == cut
