"""Epochs that look ahead: while mistakes are rare, most rows need not be looked at, and the others in no order.

Let a row x with the label y have the score y<x, v> under earlier weights v. Under the weights w its score is at least
y<x, v> - ||x|| ||w - v||. So the row is right as long as the weights have moved by less than y<x, v>/||x||, its
`slack`, and need not even be read.

To look ahead is to find the slack of every row under the weights as they are. Nothing is learned meanwhile, so the
order does not matter: rows are read as they lie in memory, on all cores. After that, one thread goes through the steps
of the epoch in order. It scores only rows whose slack is used up, as `binary_epoch` would, and learns what that would
learn: the same mistakes, the same bits. Once it has scored too many rows, it is time to look ahead again.

Where mistakes are too frequent for that to pay, `binary_epoch` does the work. Everything is decided by counts, so that
a run takes the same way every time.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import REORDERED, dot, prefetch
from novikoff.engine.jit import by_layout, jit
from novikoff.engine.linear import Rule, add_example, binary_epoch, is_to_be_added, visited
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.rows import Rows, span
from novikoff.engine.scoring import TINY, deciding_dot
from novikoff.engine.threads import over_rows

Floats = NDArray[np.float64]

# Looking ahead is tried where no more than one step in so many is a mistake.
RARE = 64

# What it takes to read a row, if to read one after the other takes 1: here and there, and in an order drawn at random.
SCATTERED, SHUFFLED = 5.0, 2.5

# Fewer rows are not worth it, and for more the slacks would take too much memory.
FEWEST_ROWS, MOST_ROWS = 1 << 13, 1 << 23

# So many steps ahead, a row that will be scored is loaded.
SOON = 96

# A squared length below may have lost digits.
SHORTEST = 1e-280

# More than the rounding of a length, and more than that of a float32.
OUTWARDS, INWARDS = 1.0 + 1e-9, 1.0 - 1e-6

# What a float32 can hold without losing digits.
LEAST_SLACK, MOST_SLACK = 1e-30, 1e38


def _dense_two_dots_and_square(X, row, w, v):
    first = second = square = 0.0
    for j in range(X.shape[1]):
        x = np.float64(X[row, j])
        first += x * w[j]
        second += x * v[j]
        square += x * x
    return first, second, square


def _sparse_two_dots_and_square(X, row, w, v):
    first = second = square = 0.0
    for j in range(X.indptr[row], X.indptr[row + np.uint64(1)]):
        x, column = np.float64(X.data[j]), X.indices[j]
        first += x * w[column]
        second += x * v[column]
        square += x * x
    return first, second, square


two_dots_and_square = by_layout(
    _dense_two_dots_and_square,
    _sparse_two_dots_and_square,
    "<x, w>, <x, v> and <x, x>, in the fastest order.",
    fastmath=REORDERED,
)


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


@jit
def find_slack(X, y, constant, threshold, w, error, slack):
    """How far the weights may move before a row could be a mistake, for every row; never too far.

    A row counts as one if y<x, w> is at most `threshold`, which is 0 but for a lead. `error` bounds what rounding does
    to a score, for a row of length 1.
    """
    bias = constant * w[w.size - 1]
    for i in range(slack.size):
        total, square = dot_and_square(X, np.uint64(i), w)
        square += constant
        left = 0.0
        if square > SHORTEST:
            left = (y[i] * (total + bias) - threshold - TINY) / (math.sqrt(square) * OUTWARDS) - error
        slack[i] = min(left * INWARDS, MOST_SLACK) if left > LEAST_SLACK else -np.inf


@jit(work=visited)
def binary_steps(
    X, y, order, rule, threshold, clock, updates, slack, roundoff, length, moved, most, v, w, drift, at, narrow
):
    """As `binary_epoch`, but rows are passed over that have slack. It was found under the weights v, of this `length`,
    and the weights have `moved` since, no farther than that.

    Stops also when `most` rows have been scored. Returns the number of steps, of updates, of rows that were scored,
    and how far the weights have moved.
    """
    bias = w.size - 1
    made = scored = 0
    used = moved + roundoff * (length + moved)
    for step in range(order.size):
        if step + SOON < order.size and slack[order[step + SOON]] <= used:
            prefetch(X, order[step + SOON])
        row = order[step]
        if slack[row] > used:
            continue
        scored += 1
        label = y[row]
        score = dot(X, row, w) + rule.constant * w[bias]
        doubt = rule.doubt * math.sqrt(updates + made) + TINY
        if abs(label * score) <= doubt or abs(label * score - threshold) <= doubt:
            score = deciding_dot(X, row, w) + rule.constant * w[bias]
        if is_to_be_added(label, score, rule, threshold):
            now, then, square = two_dots_and_square(X, row, w, v)
            now, then = now + rule.constant * w[bias], then + rule.constant * v[bias]
            square = max(square + rule.constant, SHORTEST)
            rounding = 4.0 * roundoff * (math.sqrt(square) * (length + moved) + square + moved * moved)
            apart = moved * moved + 2.0 * label * (now - then) + square + rounding
            moved = math.sqrt(max(apart, 0.0)) * (1.0 + roundoff) + roundoff * (length + moved)
            used = moved + roundoff * (length + moved)
            add_example(X, row, label, rule, clock + step, w, drift)
            at[made] = step
            narrow[made] = label * score > 0.0
            made += 1
            if made == at.size:
                return step + 1, made, scored, moved
        if scored == most:
            return step + 1, made, scored, moved
    return order.size, made, scored, moved


class Ahead:
    """Binary epochs over some rows, one pass after the other. Where it pays, it looks ahead."""

    def __init__(self, rows: Rows, *, shuffled: bool, n_rows_in_all: int, weighted: bool = False) -> None:
        self.n_rows, self.n_entries = rows.n_rows, rows.n_entries
        self.roundoff = 8.0 * (rows.widest + 4) * UNIT_ROUNDOFF
        self.dear = rows.n_rows * (SHUFFLED if shuffled else 1.0)
        # Where classes have weights, scores do not tell the slack.
        pays = not weighted and rows.n_rows >= FEWEST_ROWS and n_rows_in_all <= MOST_ROWS
        self.limit = rows.n_rows // RARE if pays else -1
        self.made, self.cost, self.looks_ahead = rows.n_rows, 0.0, False
        self.slack, self.then = np.empty(0, dtype=np.float32), np.empty(0)
        self.length = self.moved = self.threshold = 0.0
        self.left = 0

    def begin(self, w: Floats) -> None:
        """Before a pass: if the last one cost more than it would have in order, go back until mistakes are rarer."""
        if not self.looks_ahead:
            self.looks_ahead = self.made <= self.limit
        elif self.cost > self.dear:
            self._give_up()
        elif self.slack.size:
            self.moved = float(np.linalg.norm(w - self.then)) * OUTWARDS
        self.made, self.cost = 0, 0.0

    def _give_up(self) -> None:
        self.looks_ahead, self.limit = False, self.made // 2
        self.slack, self.left = self.slack[:0], 0

    def epoch(
        self,
        X: Any,
        y: NDArray[Any],
        order: NDArray[Any],
        soon: NDArray[Any],
        rule: Rule,
        lengths: Floats,
        clock: int,
        updates: int,
        w: Floats,
        drift: Floats,
        at: NDArray[Any],
        narrow: NDArray[np.bool_],
    ) -> tuple[int, int]:
        """As `binary_epoch`: the same mistakes, the same weights."""
        seen = made = 0
        threshold = rule.lead * rule.longest
        while seen < order.size and made < at.size:
            # While R may grow, a threshold may, too.
            ahead = self.looks_ahead and not lengths.size
            if ahead and (self.left <= 0 or self.threshold != threshold):
                self._look(X, y, rule.constant, threshold, w)
            counts, own = (clock + seen, updates + made), (w, drift, at[made:], narrow[made:])
            if ahead:
                since = (self.slack, self.roundoff, self.length, self.moved, self.left, self.then)
                task = (X, y, order[seen:], rule, threshold, *counts, *since)
                done, new, scored, self.moved = binary_steps(*task, *own)
                self._count(scored)
            else:
                done, new = binary_epoch(X, y, order[seen:], soon[seen:], rule, lengths, *counts, *own)
            at[made : made + new] += seen
            seen, made, self.made = seen + done, made + new, self.made + new
        return seen, made

    def _count(self, scored: int) -> None:
        """Count rows that were scored where they lie; if that cost far too much, no need to wait for the next pass."""
        self.left -= scored
        self.cost += SCATTERED * scored
        if self.cost > 2.0 * self.dear:
            self._give_up()

    def _look(self, X: Any, y: NDArray[Any], constant: float, threshold: float, w: Floats) -> None:
        """Find the slack of every row, and how many rows may be scored before it pays to do so again."""
        if not self.slack.size:
            self.slack = np.empty(self.n_rows, dtype=np.float32)
        self.then, self.length, self.moved, self.threshold = (
            w.copy(),
            float(np.linalg.norm(w)) * OUTWARDS,
            0.0,
            threshold,
        )
        slack, error, find = self.slack, self.roundoff * self.length, find_slack.for_parts(self.n_entries)

        def work(start: int, stop: int) -> None:
            find(span(X, start, stop), y[start:stop], constant, threshold, w, error, slack[start:stop])

        over_rows(work, self.n_rows, self.n_entries)
        self.cost += self.n_rows
        self.left = max(1, int(self.n_rows / SCATTERED))
