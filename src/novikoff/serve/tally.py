"""Counts along a stream: mistakes over time, and whether there are more than the record leads one to expect.

Both take constant memory, and depend only on the examples, so that a replay of the log counts the same.
"""

import math
from collections.abc import Sequence

import msgspec

MOST_POINTS = 512
WINDOW = 256
MOST_EVENTS = 32

# The chance of a false alarm over the whole life of a model, if mistakes were exchangeable.
ALARM = 0.01


class MistakeCurve(msgspec.Struct):
    """The mistakes after every `stride` examples; when there are too many points, every second one goes."""

    stride: int = 1
    examples: int = 0
    total: int = 0
    mistakes: list[int] = []

    def add(self, flags: Sequence[bool]) -> None:
        """Count examples, each of which was a mistake or not.

        >>> curve = MistakeCurve()
        >>> curve.add([True] * 3 + [False] * 2000)
        >>> curve.stride, curve.mistakes[:3], curve.mistakes[-1]
        (4, [3, 3, 3], 3)
        """
        start = 0
        while start < len(flags):
            part = flags[start : start + self.stride - self.examples % self.stride]
            start += len(part)
            self.total += sum(part)
            self.examples += len(part)
            if self.examples % self.stride == 0:
                self.mistakes.append(self.total)
                if len(self.mistakes) >= MOST_POINTS:
                    self.mistakes = self.mistakes[1::2]
                    self.stride *= 2


class Alarm(msgspec.Struct, frozen=True):
    """Drift: in a window up to the event `seq`, the `after`-th example, there were more mistakes than expected.

    `chance` is how likely that was without drift.
    """

    seq: int
    after: int
    examples: int
    mistakes: int
    expected: float
    chance: float


class DriftWindow(msgspec.Struct):
    """The mistakes in a window of examples, against the record before it.

    Without drift, the window is like any other part of the record: given all mistakes so far, the number in it is
    hypergeometric. The i-th test alarms below ALARM / (i (i + 1)), which sums to ALARM. After an alarm the record
    starts anew. A learner that improves makes fewer mistakes than expected, never more.
    """

    seen: int = 0
    examples: int = 0
    mistakes: int = 0
    before_examples: int = 0
    before_mistakes: int = 0
    looks: int = 0
    total: int = 0
    alarms: list[Alarm] = []

    @property
    def expected(self) -> float:
        """The expected number of mistakes in the window, given the record before it."""
        return self.examples * self.before_mistakes / self.before_examples if self.before_examples else 0.0

    @property
    def last_alarm(self) -> int:
        """The number of examples before the last alarm; 0 if there was none."""
        return self.alarms[-1].after if self.alarms else 0

    def add(self, flags: Sequence[bool], first: int) -> None:
        """Count examples, numbered from `first`."""
        start = 0
        while start < len(flags):
            part = flags[start : start + WINDOW - self.examples]
            start += len(part)
            self.mistakes += sum(part)
            self.examples += len(part)
            self.seen += len(part)
            if self.examples == WINDOW:
                self._look(first + start - 1)

    def _look(self, seq: int) -> None:
        if self.before_examples:
            self.looks += 1
            chance = 1.0
            if self.mistakes > self.expected:
                chance = chance_of_more(self.mistakes, self.examples, self.before_mistakes, self.before_examples)
            if chance < ALARM / (self.looks * (self.looks + 1)):
                alarm = Alarm(seq, self.seen, self.examples, self.mistakes, self.expected, chance)
                self.total += 1
                self.alarms = [*self.alarms, alarm][-MOST_EVENTS:]
                self.before_examples = self.before_mistakes = 0
        self.before_examples += self.examples
        self.before_mistakes += self.mistakes
        self.examples = self.mistakes = 0


def chance_of_more(mistakes: int, examples: int, before_mistakes: int, before_examples: int) -> float:
    """Return the chance that at least so many of all mistakes fall into the window, if all examples are equally likely.

    There are more than expected, so from one number to the next the chance falls, ever faster.

    >>> round(chance_of_more(2, 2, 0, 2), 9)  # both mistakes are among the last two of four examples
    0.166666667
    """
    total, wrong = examples + before_examples, mistakes + before_mistakes
    whole = _log_choose(total, wrong)
    chances: list[float] = []
    for k in range(mistakes, min(examples, wrong) + 1):
        chances.append(math.exp(_log_choose(examples, k) + _log_choose(before_examples, wrong - k) - whole))
        if chances[-1] <= 1e-20 * chances[0]:
            break
    return min(1.0, math.fsum(chances))


def _log_choose(n: int, k: int) -> float:
    if not 0 <= k <= n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
