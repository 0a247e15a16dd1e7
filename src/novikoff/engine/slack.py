"""Epochs that look ahead: while mistakes are rare, most rows can be skipped, and the rest scored in any order.

Let a row x with the label y have the score y<x, v> under earlier weights v. Under the weights w its score is at least
y<x, v> - ||x|| ||w - v||. So the row is right as long as the weights have moved by less than y<x, v>/||x||, its
`slack`, and need not even be read.

To look ahead is to compute the slack of every row under the current weights. Nothing is learned meanwhile, so the
order does not matter: rows are read in memory order, on all cores. After that, one thread goes through the steps of the
epoch in order. It scores only rows whose slack is exhausted, and makes the updates of `binary_epoch`: the same
mistakes, the same bits.

Rows whose slack is exhausted are scored in every epoch from then on. So once there are many, it looks ahead again.

Where mistakes are too frequent for that to pay, `binary_epoch` runs instead. Everything is decided by counts, so that a
run is reproducible.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import REORDERED, dot, squares
from novikoff.engine.jit import by_layout, jit, part
from novikoff.engine.linear import Rule, Updates, add_example, binary_epoch, visited
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.rows import Rows, span
from novikoff.engine.rule import is_added
from novikoff.engine.scoring import TINY, deciding_dot
from novikoff.engine.threads import over_rows

Floats = NDArray[np.float64]

# It looks ahead where at most one step in this many is a mistake.
RARE = 64

# The cost of reading a row, relative to sequential reading: at scattered places, and in random order.
SCATTERED, SHUFFLED = 5.0, 2.5

# With fewer rows it does not pay, and with more the slacks would take too much memory.
FEWEST_ROWS, MOST_ROWS = 1 << 13, 1 << 23

# A squared length below this may have lost digits.
SHORTEST = 1e-280

# More than the rounding error of a length, and more than that of a float32.
OUTWARDS, INWARDS = 1.0 + 1e-9, 1.0 - 1e-6

# What a float32 can hold without losing digits.
LEAST_SLACK, MOST_SLACK = 1e-30, 1e38


def _dense_dot_and_square(X, row, w):
    total = square = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[row, j])
        total += x * w[j]
        square += x * x
    return total, square


def _sparse_dot_and_square(X, row, w):
    total = square = 0.0
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        x = np.float64(X.data[j])
        total += x * w[X.indices[j]]
        square += x * x
    return total, square


dot_and_square = by_layout(
    _dense_dot_and_square, _sparse_dot_and_square, "<x, w> and <x, x>, in the fastest order.", fastmath=REORDERED
)


class Slacks(NamedTuple):
    """The slack of every row under earlier weights; `distance` bounds how far the weights have moved since.

    `distance[0]` is an upper bound on that, to which `distance[1]` adds rounding: what has been spent of all slack.
    `length` is that of the earlier weights, and `roundoff` the rounding error per unit of length.
    """

    weights: Floats
    length: float
    distance: Floats
    slack: NDArray[np.float32]
    roundoff: float


@part
def slack_of(score, square, threshold, error):
    """Return a lower bound on how far the weights must move to make a row with this score and squared length a mistake.

    `error` bounds the rounding error of a score, for a row of length 1.
    """
    left = 0.0
    if square > SHORTEST:
        left = (score - threshold - TINY) / (math.sqrt(square) * OUTWARDS) - error
    return min(left * INWARDS, MOST_SLACK) if left > LEAST_SLACK else -np.inf


@jit
def find_slack(X, y, constant, threshold, w, error, slack):
    """Compute the slack of every row under the weights w.

    A row counts as a mistake if y<x, w> is at most `threshold`, which is 0 without a lead.
    """
    bias = constant * w[w.size - 1]
    for i in range(slack.size):
        total, square = dot_and_square(X, np.uint64(i), w)
        slack[i] = slack_of(y[i] * (total + bias), square + constant, threshold, error)


@part
def move(X, row, label, constant, now, earlier):
    """Record that the example is added to the weights, under which it has the score `now`."""
    v, length, moved, roundoff = earlier.weights, earlier.length, earlier.distance[0], earlier.roundoff
    square = max(squares(X, row) + constant, SHORTEST)
    then = dot(X, row, v) + constant * v[v.size - 1]
    rounding = 4.0 * roundoff * (math.sqrt(square) * (length + moved) + square + moved * moved)
    apart = moved * moved + 2.0 * label * (now - then) + square + rounding
    moved = math.sqrt(max(apart, 0.0)) * (1.0 + roundoff) + roundoff * (length + moved)
    earlier.distance[0], earlier.distance[1] = moved, moved + roundoff * (length + moved)


@jit(work=visited)
def binary_steps(X, y, order, rule, clock, updates, earlier, most, w, drift, found):
    """As `binary_epoch`, but skip rows that have slack.

    Stops also when `most` rows have been scored. Returns the number of steps, of updates, and of scored rows.
    """
    bias = w.size - 1
    made = scored = 0
    threshold = rule.lead * rule.longest
    for step in range(order.visit.size):
        row = np.uint64(order.visit[step])
        if earlier.slack[row] > earlier.distance[1]:
            continue
        scored += 1
        label = y[row]
        score = dot(X, row, w) + rule.constant * w[bias]
        doubt = rule.doubt * math.sqrt(updates + made) + TINY
        if abs(label * score) <= doubt or abs(label * score - threshold) <= doubt:
            score = deciding_dot(X, row, w) + rule.constant * w[bias]
        if is_added(label * score, threshold, rule.ties_are_mistakes, label > 0):
            move(X, row, label, rule.constant, score, earlier)
            add_example(X, row, label, rule, clock + step, w, drift)
            found.at[made] = step
            found.narrow[made] = label * score > 0.0
            made += 1
            if made == found.at.size:
                return step + 1, made, scored
        if scored == most:
            return step + 1, made, scored
    return order.visit.size, made, scored


class Ahead:
    """Binary epochs over some rows, one pass after the other. Where it pays, it looks ahead."""

    def __init__(self, rows: Rows, *, shuffled: bool, n_rows_in_all: int, weighted: bool = False) -> None:
        self.n_rows, self.n_entries = rows.n_rows, rows.n_entries
        self.roundoff = 8.0 * (rows.widest + 4) * UNIT_ROUNDOFF
        self.dear = rows.n_rows * (SHUFFLED if shuffled else 1.0)
        # Where classes have weights, the slack does not follow from the scores.
        pays = not weighted and rows.n_rows >= FEWEST_ROWS and n_rows_in_all <= MOST_ROWS
        self.limit = rows.n_rows // RARE if pays else -1
        self.made, self.cost, self.looks_ahead = rows.n_rows, 0.0, False
        self.earlier: Slacks | None = None
        self.left = 0
        self.threshold = 0.0

    def begin(self, w: Floats) -> None:
        """Before a pass: if the last one cost more than `binary_epoch`, return to that until mistakes are rarer."""
        if not self.looks_ahead:
            self.looks_ahead = self.made <= self.limit
        elif self.cost > self.dear:
            self._give_up()
        elif self.earlier is not None:
            self._measure(self.earlier, w)
        self.made, self.cost = 0, 0.0

    def _give_up(self) -> None:
        self.looks_ahead, self.limit, self.earlier = False, self.made // 2, None

    def epoch(
        self,
        X: Any,
        y: NDArray[Any],
        order: Any,
        rule: Rule,
        lengths: Floats,
        clock: int,
        updates: int,
        w: Floats,
        drift: Floats,
        found: Updates,
    ) -> tuple[int, int]:
        """As `binary_epoch`: the same mistakes, the same weights."""
        seen = made = 0
        threshold = rule.lead * rule.longest
        while seen < order.visit.size and made < found.at.size:
            left, counts, own = _behind(order, seen), (clock + seen, updates + made), (w, drift, _behind(found, made))
            if self.looks_ahead and not lengths.size:  # while R may grow, the threshold may, too
                if self.earlier is None or self.threshold != threshold or self.left <= 0:
                    self.earlier = self._looked(X, y, rule.constant, threshold, w)
                done, new, scored = binary_steps(X, y, left, rule, *counts, self.earlier, self.left, *own)
                self._count(scored)
            else:
                done, new = binary_epoch(X, y, left, rule, lengths, *counts, *own)
            found.at[made : made + new] += seen
            seen, made, self.made = seen + done, made + new, self.made + new
        return seen, made

    def _count(self, scored: int) -> None:
        """Count the rows scored out of order; if that cost far too much, do not wait for the next pass."""
        self.left -= scored
        self.cost += SCATTERED * scored
        if self.cost > 2.0 * self.dear:
            self._give_up()

    def _looked(self, X: Any, y: NDArray[Any], constant: float, threshold: float, w: Floats) -> Slacks:
        """Return the slack of every row under the current weights."""
        slack = np.empty(self.n_rows, dtype=np.float32) if self.earlier is None else self.earlier.slack
        earlier = Slacks(w.copy(), float(np.linalg.norm(w)) * OUTWARDS, np.zeros(2), slack, self.roundoff)
        self._measure(earlier, w)
        self.threshold, self.left = threshold, max(1, int(self.n_rows / SCATTERED))
        error, find = self.roundoff * earlier.length, find_slack.for_parts(self.n_entries)

        def work(start: int, stop: int) -> None:
            find(span(X, start, stop), y[start:stop], constant, threshold, earlier.weights, error, slack[start:stop])

        over_rows(work, self.n_rows, self.n_entries)
        self.cost += self.n_rows
        return earlier

    def _measure(self, earlier: Slacks, w: Floats) -> None:
        """Measure how far the weights have moved."""
        moved = float(np.linalg.norm(w - earlier.weights)) * OUTWARDS
        earlier.distance[:] = moved, moved + self.roundoff * (earlier.length + moved)


def _behind(arrays: Any, count: int) -> Any:
    """Return parallel arrays without their first `count` entries."""
    return type(arrays)(*(part[count:] for part in arrays))
