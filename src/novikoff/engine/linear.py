"""The perceptron's hot loops on rows of numbers, dense or CSR.

One loop serves both layouts: only the access to a row differs (`engine/access.py`). A kernel takes arrays and returns
counts; what to do about a count is decided elsewhere. All examples reach the kernels through `engine/rows.py`.

*The score.* The score of a row is the float64 sum of its products in column order. `dot` adds them in whatever order
is fastest; where its result is so close to zero that the order could decide the sign, the row is scored again in
column order. So dense and sparse, float32 and float64 rows of the same values make the same mistakes, bit for bit.
The theorem itself bounds how close is too close: after k updates ||w|| <= sqrt(k) R, so the rounding error of a score
is at most `doubt` sqrt(k), with `doubt` a small multiple of the unit roundoff times R^2.

*The lead.* With a lead tau > 0 an example is also added if it is right by no more than tau R^2: then it is *narrow*,
and no mistake. R is the length of the longest example so far, this one included, so the order alone decides what is
narrow, not how many examples a call has. The threshold is one float64 number, tau times the largest `folded_square` so
far, and a score close to it is computed again in column order, as one close to zero is.

*The intercept.* It is the last weight, and every example has a last coordinate, `constant`: 1, or 0 without intercept.

*The average.* The sum of the weights after each of T examples is T w - drift, where drift adds every mistake as many
times as there were examples before it. Examples that are right cost nothing.
"""

import math
from typing import NamedTuple

import numpy as np

from novikoff.engine.access import add, add_twice, dot, dot_in_column_order, squares
from novikoff.engine.jit import jit, part
from novikoff.engine.rule import is_added
from novikoff.engine.scoring import (
    TINY,
    add_to_class,
    best_other,
    class_scores,
    class_scores_in_column_order,
    count_classes,
    deciding_dot,
    folded_square,
    has_a_match,
)


class Rule(NamedTuple):
    """What counts as a mistake or as narrow, and how the intercept is folded in.

    `lead` is in units of R^2, and `longest` is R^2 before the first example. With a lead, ties are mistakes.
    """

    constant: float
    ties_are_mistakes: bool
    doubt: float
    lead: float = 0.0
    longest: float = 0.0


class Updates(NamedTuple):
    """Room for the updates of a call, in order: the step, whether the example was right but narrow, and, with more than
    two classes, the rival."""

    at: np.ndarray
    narrow: np.ndarray
    rivals: np.ndarray


# -- one pass over all rows -------------------------------------------------------------------------------------------


@jit
def longest_row(X, n_rows, constant, slack):
    """Return the largest squared length of a folded row, never below the exact value, and the first row that is not
    finite, or `n_rows`.

    `slack` bounds the relative error of a sum in the fastest order; only rows that could be the longest are summed
    accurately.
    """
    longest = 0.0
    for i in range(n_rows):
        row = np.uint64(i)
        square = squares(X, row) + constant
        if not square < np.inf:
            return longest, i
        if square >= longest * (1.0 - slack):
            longest = max(longest, folded_square(X, row, constant))
    return longest, n_rows


@jit
def fill_folded_squares(X, constant, found):
    """Compute the squared length of every folded row, never below the exact value."""
    for i in range(found.size):
        found[i] = folded_square(X, np.uint64(i), constant)


@jit
def count_rows_without_repeats(X, n_rows, marks):
    """Count the sparse rows before the first with a duplicate column; `marks` are zeros, one per column."""
    for i in range(n_rows):
        for j in range(X.indptr[i], X.indptr[i + 1]):
            if marks[X.indices[j]] == i + 1:
                return i
            marks[X.indices[j]] = i + 1
    return n_rows


# -- the perceptron ---------------------------------------------------------------------------------------------------


def visited(X, y, order, *_):
    """Return how many numbers the rows of an order have."""
    return order.visit.size * (1 + (X[0] if isinstance(X, tuple) else X).size / max(1, y.size))


part(is_added)


@part
def add_example(X, row, label, rule, time, w, drift):
    """Add a row, with its sign, to the weights; `time` is the number of examples before it."""
    bias = w.size - 1
    if drift.size > 0:
        age = np.float64(time)
        add_twice(X, row, label, w, age, drift)
        drift[bias] += age * label * rule.constant
    else:
        add(X, row, label, w)
    w[bias] += label * rule.constant


@jit(work=visited)
def binary_epoch(X, y, order, rule, lengths, clock, updates, w, drift, found):
    """Visit the rows in the given order; add a mistake or a narrow example, with its sign, to the weights.

    Stops early when `found`, which receives the updates, is full. `clock` and `updates` count the examples and updates
    before this call. An empty `drift` means no average. `lengths` has the squared length of every row while R may grow,
    otherwise it is empty. A label is the sign of an example, times its weight if it has one. Returns the number of
    examples seen and of updates made.
    """
    bias = w.size - 1
    made = 0
    longest = rule.longest
    if found.at.size == 0:
        return 0, 0
    for step in range(order.visit.size):
        row = np.uint64(order.visit[step])
        if lengths.size > 0:
            longest = max(longest, lengths[row])
        threshold = rule.lead * longest

        label = y[row]
        score = dot(X, row, w) + rule.constant * w[bias]
        doubt = rule.doubt * math.sqrt(updates + made) + TINY
        if abs(label * score) <= doubt or abs(label * score - threshold) <= doubt:
            score = deciding_dot(X, row, w) + rule.constant * w[bias]
        if is_added(label * score, threshold, rule.ties_are_mistakes, label > 0):
            add_example(X, row, label, rule, clock + step, w, drift)
            found.at[made] = step
            found.narrow[made] = label * score > 0.0
            made += 1
            if made == found.at.size:
                return step + 1, made
    return order.visit.size, made


def _visited_by_classes(X, y, order, rule, lengths, clock, updates, W, *_):
    return count_classes(X, W) * visited(X, y, order)


@jit(work=_visited_by_classes, allocates=True)
def multiclass_epoch(X, y, order, rule, lengths, clock, updates, W, drift, found, weights):
    """Visit the rows in the given order; add a mistake or a narrow example to its class, subtract it from the rival.

    The rival is the best other class. In Kesler's construction an update adds a vector of squared length 2 ||x||^2, so
    the lead over the rival is in units of 2 R^2: with two classes, each with its own weights, the same examples are
    narrow as in `binary_epoch`. `weights` are the numbers by which the rows are multiplied, or none. Everything else as
    there.
    """
    scores = np.empty(count_classes(X, W))
    made = 0
    longest = rule.longest
    if found.at.size == 0:
        return 0, 0
    for step in range(order.visit.size):
        row = np.uint64(order.visit[step])
        if lengths.size > 0:
            longest = max(longest, lengths[row])
        threshold = rule.lead * (2.0 * longest)

        right = y[row]
        weight = weights[row] if weights.size > 0 else np.float64(1.0)
        class_scores(X, row, W, rule.constant, scores)
        rival = best_other(scores, right)
        ahead = weight * (scores[right] - scores[rival])
        doubt = rule.doubt * math.sqrt(updates + made) + TINY
        if abs(ahead - threshold) <= doubt or has_a_match(scores, rival, doubt / weight):
            class_scores_in_column_order(X, row, W, rule.constant, scores)
            rival = best_other(scores, right)
            ahead = weight * (scores[right] - scores[rival])

        if is_added(ahead, threshold, rule.ties_are_mistakes, right < rival):
            add_to_class(X, row, weight, rule.constant, W, right)
            add_to_class(X, row, -weight, rule.constant, W, rival)
            if drift.size > 0:
                age = weight * (clock + step)
                add_to_class(X, row, age, rule.constant, drift, right)
                add_to_class(X, row, -age, rule.constant, drift, rival)
            found.at[made] = step
            found.narrow[made] = ahead > 0.0
            found.rivals[made] = rival
            made += 1
            if made == found.at.size:
                return step + 1, made
    return order.visit.size, made


# -- the vote: all weight vectors of the run, replayed from the mistakes ----------------------------------------------


class Replay(NamedTuple):
    """The mistakes, in order: the k-th added the row `which[k]` of `support`, `amounts[k]` times, to class `right[k]`
    and, with more than two classes, subtracted it from `wrong[k]`; with two, the amount has the sign. Weight vector k
    lasted `lives[k]` examples (the zero vector is number 0). The sign of a score after k + 1 mistakes is certain if its
    size exceeds `doubts[k]`."""

    support: object
    which: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    amounts: np.ndarray
    lives: np.ndarray
    doubts: np.ndarray


def _votes_cast(replay, products, X, constant, w, votes):
    return replay.which.size * votes.size


@jit(work=_votes_cast, allocates=True)
def binary_votes(replay, products, X, constant, w, votes):
    """Let the zero vector and then every later weight vector vote on a block of rows, weighted by its lifetime.

    A mistake changes the score of every row by one entry of `products` (support rows x block rows). The weights, `w`,
    are updated only to score again the rows that are too close to call.
    """
    bias = w.size - 1
    scores = np.zeros(votes.size)
    for i in range(votes.size):
        votes[i] = replay.lives[0]  # sign(0) = +1
    for k in range(replay.which.size):
        row, amount, life = np.uint64(replay.which[k]), replay.amounts[k], replay.lives[k + 1]
        add(replay.support, row, amount, w)
        w[bias] += amount * constant
        closest = np.inf
        for i in range(votes.size):
            scores[i] += amount * products[row, i]
            votes[i] += life if scores[i] >= 0.0 else -life
            closest = min(closest, abs(scores[i]))
        if closest <= replay.doubts[k]:
            for i in range(votes.size):
                if abs(scores[i]) <= replay.doubts[k]:
                    score = dot_in_column_order(X, np.uint64(i), w) + constant * w[bias]
                    if (score >= 0.0) != (scores[i] >= 0.0):
                        votes[i] += 2.0 * life if score >= 0.0 else -2.0 * life


@jit(work=_votes_cast, allocates=True)
def multiclass_votes(replay, products, X, constant, W, votes):
    """As `binary_votes`, for more than two classes: `votes` is block rows x classes, a vote goes to the argmax."""
    n_classes = votes.shape[1]
    scores = np.zeros(votes.shape)
    certain = np.empty(n_classes)
    for i in range(votes.shape[0]):
        for label in range(n_classes):
            votes[i, label] = replay.lives[0] if label == 0 else 0.0  # all scores are 0: the first class wins a tie
    for k in range(replay.which.size):
        row, right, wrong, amount = np.uint64(replay.which[k]), replay.right[k], replay.wrong[k], replay.amounts[k]
        add_to_class(replay.support, row, amount, constant, W, right)
        add_to_class(replay.support, row, -amount, constant, W, wrong)
        for i in range(votes.shape[0]):
            scores[i, right] += amount * products[row, i]
            scores[i, wrong] -= amount * products[row, i]
            winner = best_other(scores[i], -1)
            if has_a_match(scores[i], winner, replay.doubts[k]):
                class_scores_in_column_order(X, np.uint64(i), W, constant, certain)
                winner = best_other(certain, -1)
            votes[i, winner] += replay.lives[k + 1]
