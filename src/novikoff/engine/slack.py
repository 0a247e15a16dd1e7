"""Epochs that look ahead: while mistakes are rare, most rows need not be looked at, and the others in no order.

Let a row x with the label y have the score y<x, v> under earlier weights v. Under the weights w its score is at least
y<x, v> - ||x|| ||w - v||. So the row is right as long as the weights have moved by less than y<x, v>/||x||, its
`slack`, and need not even be read.

To look ahead is to find the slack of every row under the weights as they are. Nothing is learned meanwhile, so the
order does not matter: rows are read as they lie in memory, on all cores. After that, one thread goes through the steps
of the epoch in order. It scores only rows whose slack is exhausted, as `binary_epoch` would, and learns what that would
learn: the same mistakes, the same bits.

Rows whose slack is exhausted would be scored in every epoch from then on. So once many have been, the weights as they
are are kept beside the earlier ones, and a row that is scored gets new slack, under the last weights that were kept:
every row goes by one of these `ReferenceWeights`, and how far the weights have moved is known for each. After a few of
them it is time to look ahead again.

Where mistakes are too frequent for that to pay, `binary_epoch` does the work. Everything is decided by counts, so that
a run takes the same way every time.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import REORDERED, dot, prefetch, squares
from novikoff.engine.jit import by_layout, jit, part
from novikoff.engine.linear import Rule, Updates, add_example, binary_epoch, visited
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.rows import Rows, span
from novikoff.engine.rule import is_added
from novikoff.engine.scoring import TINY, deciding_dot
from novikoff.engine.threads import over_rows

Floats = NDArray[np.float64]

# Looking ahead is tried where no more than one step in so many is a mistake.
RARE = 64

# What it takes to read a row, if to read one after the other takes 1: here and there, and in an order drawn at random.
SCATTERED, SHUFFLED = 5.0, 2.5

# Fewer rows are not worth it, and for more the slacks would take too much memory.
FEWEST_ROWS, MOST_ROWS = 1 << 13, 1 << 23

# So many earlier weights are kept at most, and together they have no more numbers than the rows.
MOST_STANDS = 4

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


class ReferenceWeights(NamedTuple):
    """Earlier weights, a row each, their lengths, and how far the weights have moved since, no farther than that.

    Row i of the examples goes by `weights[by[i]]`, and has the slack `slack[i]` under them. What is `used` up of it is
    how far the weights have moved, and what rounding may add, `roundoff` a unit of length. Rows that are scored go by
    the `last` weights from then on.
    """

    weights: Floats
    lengths: Floats
    moved: Floats
    used: Floats
    by: NDArray[np.uint8]
    slack: NDArray[np.float32]
    roundoff: float
    last: int


@part
def slack_of(score, square, threshold, error):
    """How far the weights may move before a row with this score and squared length could be a mistake; never too far.

    `error` bounds what rounding does to a score, for a row of length 1.
    """
    left = 0.0
    if square > SHORTEST:
        left = (score - threshold - TINY) / (math.sqrt(square) * OUTWARDS) - error
    return min(left * INWARDS, MOST_SLACK) if left > LEAST_SLACK else -np.inf


@jit
def find_slack(X, y, constant, threshold, w, error, slack):
    """The slack of every row under the weights w.

    A row counts as a mistake if y<x, w> is at most `threshold`, which is 0 but for a lead.
    """
    bias = constant * w[w.size - 1]
    for i in range(slack.size):
        total, square = dot_and_square(X, np.uint64(i), w)
        slack[i] = slack_of(y[i] * (total + bias), square + constant, threshold, error)


@part
def move(X, row, label, constant, now, stands):
    """Let all stands know that the example is added to the weights, under which it has the score `now`."""
    roundoff = stands.roundoff
    square = max(squares(X, row) + constant, SHORTEST)
    for k in range(stands.lengths.size):
        v, length, moved = stands.weights[k], stands.lengths[k], stands.moved[k]
        then = dot(X, row, v) + constant * v[v.size - 1]
        rounding = 4.0 * roundoff * (math.sqrt(square) * (length + moved) + square + moved * moved)
        apart = moved * moved + 2.0 * label * (now - then) + square + rounding
        moved = math.sqrt(max(apart, 0.0)) * (1.0 + roundoff) + roundoff * (length + moved)
        stands.moved[k] = moved
        stands.used[k] = moved + roundoff * (length + moved)


@jit(work=visited)
def binary_steps(X, y, order, rule, clock, updates, stands, most, w, drift, found):
    """As `binary_epoch`, but rows are passed over that have slack, and those that are scored get new slack, under the
    last stand.

    Stops also when `most` rows have been scored. Returns the number of steps, of updates, and of rows that were scored.
    """
    bias = w.size - 1
    made = scored = 0
    threshold, last = rule.lead * rule.longest, stands.last
    v, error = stands.weights[last], stands.roundoff * stands.lengths[last]
    for step in range(order.visit.size):
        if step + SOON < order.visit.size:
            soon = np.uint64(order.visit[step + SOON])
            if stands.slack[soon] <= stands.used[stands.by[soon]]:
                prefetch(X, soon)
        row = np.uint64(order.visit[step])
        if stands.slack[row] > stands.used[stands.by[row]]:
            continue
        scored += 1
        label = y[row]
        if stands.by[row] == last:
            score = dot(X, row, w) + rule.constant * w[bias]
        else:
            now, then, square = two_dots_and_square(X, row, w, v)
            score, then = now + rule.constant * w[bias], then + rule.constant * v[bias]
            stands.slack[row] = slack_of(label * then, square + rule.constant, threshold, error)
            stands.by[row] = last
        doubt = rule.doubt * math.sqrt(updates + made) + TINY
        if abs(label * score) <= doubt or abs(label * score - threshold) <= doubt:
            score = deciding_dot(X, row, w) + rule.constant * w[bias]
        if is_added(label * score, threshold, rule.ties_are_mistakes, label > 0):
            move(X, row, label, rule.constant, score, stands)
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
        # Where classes have weights, scores do not tell the slack.
        pays = not weighted and rows.n_rows >= FEWEST_ROWS and n_rows_in_all <= MOST_ROWS
        self.limit = rows.n_rows // RARE if pays else -1
        self.made, self.cost, self.looks_ahead = rows.n_rows, 0.0, False
        self.most_stands = max(1, min(MOST_STANDS, rows.n_entries // (rows.n_columns + 1)))
        self.stands: ReferenceWeights | None = None
        self.left = 0
        self.threshold = 0.0

    def begin(self, w: Floats) -> None:
        """Before a pass: if the last one cost more than it would have in order, go back until mistakes are rarer."""
        if not self.looks_ahead:
            self.looks_ahead = self.made <= self.limit
        elif self.cost > self.dear:
            self._give_up()
        elif self.stands is not None:
            for k in range(len(self.stands.weights)):
                self._measure(k, w)
        self.made, self.cost = 0, 0.0

    def _give_up(self) -> None:
        self.looks_ahead, self.limit, self.stands = False, self.made // 2, None

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
            if self.looks_ahead and not lengths.size:  # while R may grow, a threshold may, too
                stands = self._stands(X, y, rule.constant, threshold, w)
                done, new, scored = binary_steps(X, y, left, rule, *counts, stands, self.left, *own)
                self._count(scored)
            else:
                done, new = binary_epoch(X, y, left, rule, lengths, *counts, *own)
            found.at[made : made + new] += seen
            seen, made, self.made = seen + done, made + new, self.made + new
        return seen, made

    def _count(self, scored: int) -> None:
        """Count rows that were scored where they lie; if that cost far too much, no need to wait for the next pass."""
        self.left -= scored
        self.cost += SCATTERED * scored
        if self.cost > 2.0 * self.dear:
            self._give_up()

    def _stands(self, X: Any, y: NDArray[Any], constant: float, threshold: float, w: Floats) -> ReferenceWeights:
        """The stands to go by: with the weights as they are among them, if many rows were scored since the last."""
        if self.stands is None or self.threshold != threshold:
            return self._looked(X, y, constant, threshold, w)
        if self.left > 0:
            return self.stands
        if self.stands.last + 1 == self.most_stands:
            return self._looked(X, y, constant, threshold, w)
        self._stand(self.stands.last + 1, w)
        return self.stands

    def _looked(self, X: Any, y: NDArray[Any], constant: float, threshold: float, w: Floats) -> ReferenceWeights:
        """Find the slack of every row under the weights as they are."""
        if self.stands is None:
            lengths, moved, used = np.zeros((3, self.most_stands))
            by, slack = np.empty(self.n_rows, dtype=np.uint8), np.empty(self.n_rows, dtype=np.float32)
            weights = np.zeros((self.most_stands, len(w)))
            self.stands = ReferenceWeights(weights, lengths, moved, used, by, slack, self.roundoff, 0)
        self.stands.by[:] = 0
        self._stand(0, w)
        self.threshold = threshold
        slack, error = self.stands.slack, self.roundoff * float(self.stands.lengths[0])
        find = find_slack.for_parts(self.n_entries)

        def work(start: int, stop: int) -> None:
            find(span(X, start, stop), y[start:stop], constant, threshold, w, error, slack[start:stop])

        over_rows(work, self.n_rows, self.n_entries)
        self.cost += self.n_rows
        return self.stands

    def _stand(self, k: int, w: Floats) -> None:
        """Let the weights as they are be a stand, the last one."""
        assert self.stands is not None
        self.stands = self.stands._replace(last=k)
        self.stands.weights[k], self.stands.lengths[k] = w, float(np.linalg.norm(w)) * OUTWARDS
        self.left = max(1, int(self.n_rows / SCATTERED))
        self._measure(k, w)

    def _measure(self, k: int, w: Floats) -> None:
        """How far the weights have moved since a stand."""
        assert self.stands is not None
        moved, length = float(np.linalg.norm(w - self.stands.weights[k])) * OUTWARDS, float(self.stands.lengths[k])
        self.stands.moved[k] = moved
        self.stands.used[k] = moved + self.roundoff * (length + moved)


def _behind(arrays: Any, count: int) -> Any:
    """What is left of arrays that go along with each other, behind so many entries."""
    return type(arrays)(*(part[count:] for part in arrays))
