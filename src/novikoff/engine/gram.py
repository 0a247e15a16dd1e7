"""The kernel perceptron's hot loops: a block of examples, one after the other, when all their products are known.

A block's scores under the weights before it, and the kernel matrix of the block with itself, are all that the online
algorithm needs: on a mistake, one row of that matrix corrects the scores of the examples to come. A loop stops where a
score is so close to zero that rounding could have decided its sign; what it is exactly, is found out elsewhere.

All arrays have one row a class and one column an example.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.access import distance, dot_in_column_order, load, squares_in_column_order, unload
from novikoff.engine.jit import jit, part
from novikoff.engine.rule import is_added

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

# Why a loop returned.
DONE, DOUBT, RULED_OUT, FULL = 0, 1, 2, 3

# Which row a full budget gives up.
FORGETRON, RANDOM, PROJECTRON = 0, 1, 2


class Pass(NamedTuple):
    """What is known of a block beforehand: the rule for ties, by how much each example must be right so as not to be
    added (zeros, or the lead times R^2 so far), how much a score of each class may be off, how many examples went
    before, and the margin to rule out (0: none) against ||w||^2 + slack."""

    ties_are_mistakes: bool
    thresholds: Floats
    doubts: Floats
    clock: int
    min_margin: float
    slack: float


# -- products of rows, added up in column order -----------------------------------------------------------------------


def _width(X: Any) -> float:
    """How many numbers a row has, on average."""
    return X.data.size / max(1, X.indptr.size - 1) if hasattr(X, "indptr") else X.shape[1]


@jit(work=lambda left, right, w, products: products.size * _width(left))
def fill_products(left: Any, right: Any, w: Floats, products: Floats) -> None:
    """The product of every left row with every right row; `w` is room for one row, all zeros."""
    for k in range(products.shape[1]):
        load(right, np.uint64(k), w)
        for i in range(products.shape[0]):
            products[i, k] = dot_in_column_order(left, np.uint64(i), w)
        unload(right, np.uint64(k), w)


@jit
def fill_squares(X: Any, squares: Floats) -> None:
    """The squared length of every row."""
    for i in range(squares.size):
        squares[i] = squares_in_column_order(X, np.uint64(i))


@jit(work=lambda left, right, distances: distances.size * _width(left))
def fill_distances(left: Any, right: Any, distances: Floats) -> None:
    """The Manhattan distance of every left row to every right row."""
    for k in range(distances.shape[1]):
        for i in range(distances.shape[0]):
            distances[i, k] = distance(left, np.uint64(i), right, np.uint64(k))


# -- the perceptron, in a block ---------------------------------------------------------------------------------------


part(is_added)


@part
def is_doubtful(label: float, score: float, threshold: float, doubt: float) -> bool:
    """Whether rounding could decide if an example is added, or if it is a mistake."""
    return abs(score) <= doubt or abs(label * score - threshold) <= abs(label) * doubt


@jit(work=lambda gram, labels, *_: gram.size * len(labels))
def visit_block(
    gram: Floats,
    labels: Floats,
    scores: Floats,
    start: int,
    certain: bool,
    along: Pass,
    updates: Numbers,
    squares: Floats,
    added: Floats,
    narrow: Truths,
) -> tuple[int, int]:
    """Visit the examples from `start` on, every class for itself; on a mistake, add the example y times.

    A label y is a sign, times the weight of the example's class if classes have weights. `scores` are those under the
    weights so far, and are kept up to date; `squares` is ||w||^2, which an update changes by 2 y s + y^2 K(x, x);
    `added` receives the y of every update, `narrow` whether it was right. `certain` says that the scores of the first
    example are beyond doubt. Returns the example at which it stopped, and why."""
    for i in range(start, labels.shape[1]):
        if i > start or not certain:
            for c in range(labels.shape[0]):
                threshold, doubt = along.thresholds[i], along.doubts[c]
                if updates[c] > 0 and is_doubtful(labels[c, i], scores[c, i], threshold, doubt):
                    return i, DOUBT
        for c in range(labels.shape[0]):
            y, s = labels[c, i], scores[c, i]
            if is_added(y * s, along.thresholds[i], along.ties_are_mistakes, y > 0.0):
                added[c, i] = y
                narrow[c, i] = y * s > 0.0
                updates[c] += 1
                squares[c] += 2.0 * y * s + y * y * gram[i, i]
                for j in range(i + 1, labels.shape[1]):
                    scores[c, j] += y * gram[i, j]
        if along.min_margin > 0.0:
            for c in range(labels.shape[0]):
                if updates[c] > 0 and squares[c] + along.slack < (along.min_margin * updates[c]) ** 2:
                    return i + 1, RULED_OUT
    return labels.shape[1], DONE


# -- the same with a budget -------------------------------------------------------------------------------------------


class Budget(NamedTuple):
    """At most `most` rows; `rule` says which to give up; `draws` has a random number in [0, 1) for each example."""

    most: int
    rule: int
    draws: Floats


class Candidates(NamedTuple):
    """The support rows, then the rows of the block: their coefficients, by class, and what their averages need.

    `alive` lists those in the support, the oldest first, `counts[0]` of them; `twin[i]` is the support row that the
    i-th example already is, or -1. `damage[c]` is the Forgetron's Q, `counts[1]` its M, `counts[2]` the example with
    which the average begins.
    """

    coefficients: Floats
    drift: Floats
    alive: Numbers
    counts: Numbers
    twin: Numbers
    damage: Floats


@part
def forget(alive: Numbers, count: Numbers, place: int) -> None:
    for q in range(place, count[0] - 1):
        alive[q] = alive[q + 1]
    count[0] -= 1


@part
def shrinking(beta: float, score: float, allowance: float) -> float:
    """The self-tuned Forgetron's factor: the largest phi <= 1 for which a phi^2 + b phi + c <= 0."""
    a = beta * beta - 2.0 * beta * score
    b = 2.0 * abs(beta)
    c = -allowance
    under = b * b - 4.0 * a * c
    if a > 0.0 or (a < 0.0 and under > 0.0 and (-b - math.sqrt(under)) / (2.0 * a) > 1.0):
        return min(1.0, max(0.0, (-b + math.sqrt(max(under, 0.0))) / (2.0 * a)))
    if a == 0.0 and b > 0.0:
        return min(1.0, max(0.0, -c / b))
    return 1.0


@part
def shrink_for(oldest: int, gram: Floats, among: Candidates) -> None:
    """Before the oldest row goes, shrink every class so that the damage stays below 15/32 of the mistakes."""
    for c in range(among.damage.size):
        beta = among.coefficients[c, oldest]
        if beta == 0.0:
            continue
        score = 0.0
        for q in range(among.counts[0]):
            j = among.alive[q]
            score += among.coefficients[c, j] * gram[oldest, j]
        phi = shrinking(beta, score, 15.0 / 32.0 * among.counts[1] - among.damage[c])
        for q in range(among.counts[0]):
            j = among.alive[q]
            among.coefficients[c, j] *= phi
        e = abs(beta * phi)
        sign = 1.0 if beta > 0.0 else -1.0
        among.damage[c] += e * e + 2.0 * e - 2.0 * e * sign * score * phi


@part
def average_anew(among: Candidates, clock: int) -> None:
    """Let the average begin here: what the coefficients were before, they count as if they had not been."""
    among.counts[2] = clock
    for q in range(among.counts[0]):
        j = among.alive[q]
        for c in range(among.damage.size):
            among.drift[c, j] = clock * among.coefficients[c, j]


@jit(work=lambda gram, labels, *_: gram.size * len(labels))
def visit_block_on_a_budget(
    gram: Floats,
    labels: Floats,
    scores: Floats,
    start: int,
    certain: bool,
    along: Pass,
    updates: Numbers,
    added: Floats,
    narrow: Truths,
    budget: Budget,
    among: Candidates,
) -> tuple[int, int]:
    """As `visit_block`, with at most `budget.most` rows; `gram` is the kernel matrix of all candidates.

    The Projectron stops before the first mistake that finds the budget full: from then on its support is fixed.
    """
    n_old = gram.shape[0] - labels.shape[1]
    for i in range(start, labels.shape[1]):
        own = n_old + i
        if i > start or not certain:
            for c in range(labels.shape[0]):
                score = 0.0
                for q in range(among.counts[0]):
                    j = among.alive[q]
                    score += among.coefficients[c, j] * gram[j, own]
                scores[c, i] = score
            for c in range(labels.shape[0]):
                threshold, doubt = along.thresholds[i], along.doubts[c]
                if updates[c] > 0 and is_doubtful(labels[c, i], scores[c, i], threshold, doubt):
                    return i, DOUBT
        place = own
        for q in range(among.counts[0]):
            if among.alive[q] == among.twin[i]:
                place = among.twin[i]
        made = 0
        for c in range(labels.shape[0]):
            if is_added(labels[c, i] * scores[c, i], along.thresholds[i], along.ties_are_mistakes, labels[c, i] > 0.0):
                made += 1
        if made == 0:
            continue
        if budget.rule == PROJECTRON and place == own and among.counts[0] == budget.most:
            return i, FULL
        age = float(along.clock + i)
        for c in range(labels.shape[0]):
            y = labels[c, i]
            if is_added(y * scores[c, i], along.thresholds[i], along.ties_are_mistakes, y > 0.0):
                among.coefficients[c, place] += y
                among.drift[c, place] += y * age
                added[c, i] = y
                narrow[c, i] = y * scores[c, i] > 0.0
                updates[c] += 1
        among.counts[1] += 1
        if place == own:
            among.alive[among.counts[0]] = own
            among.counts[0] += 1
        if among.counts[0] > budget.most:
            if budget.rule == FORGETRON:
                shrink_for(among.alive[0], gram, among)
                forget(among.alive, among.counts, 0)
            else:
                forget(among.alive, among.counts, int(budget.draws[i] * (among.counts[0] - 1)))
            average_anew(among, along.clock + i)
    return labels.shape[1], DONE


# -- the vote ---------------------------------------------------------------------------------------------------------


@jit(work=lambda products, which, signs, lives, absolute, relative, scores, *_: which.size * scores.size)
def fill_votes(
    products: Floats,
    which: Numbers,
    signs: Floats,
    lives: Floats,
    absolute: float,
    relative: float,
    scores: Floats,
    sizes: Floats,
    votes: Floats,
    unsure: Any,
) -> None:
    """Let the zero function, and then the function after each mistake, vote on a block as often as it lived.

    The k-th mistake changes the score of every example by one row of `products`, `signs[k]` times; `scores` and
    `sizes`, which adds up absolute values, are zeros to begin with. A score that could be off by as much as it is makes
    its row `unsure`.
    """
    weight = 0.0
    for i in range(votes.size):
        votes[i] = lives[0]  # sign(0) = +1
    for k in range(which.size):
        row, sign, life = which[k], signs[k], lives[k + 1]
        weight += abs(sign)
        doubt = absolute * weight
        for i in range(votes.size):
            product = products[row, i]
            scores[i] += sign * product
            sizes[i] += abs(sign * product)
            votes[i] += life if scores[i] >= 0.0 else -life
            unsure[i] |= abs(scores[i]) <= doubt + relative * sizes[i]
