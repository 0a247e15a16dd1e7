"""How a kernel perceptron is read out: the last function, the average, or the vote of all of them.

The average is decided by the sum of the functions after each example, before it is divided by their number. Where
rounding could decide a sign, or which class is best, the row is scored again: products in column order, sums exact.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.gram import fill_votes
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.sums import as_whole_multiples, exact_sum
from novikoff.learn.kernel.kernels import Entries, Floats, Points, check_finite
from novikoff.learn.kernel.memory import KernelMemory, KernelMistakes, Numbers, blocks_of
from novikoff.learn.linear.memory import divided
from novikoff.options import Readout

# Kernels whose values lie between 0 and 1: what is off in their exponent is off in proportion.
DECAYING = ("rbf", "laplacian")


class ClassBallot(NamedTuple):
    """The mistakes of a class: support rows, signs, times weights if classes have some, and how long each function
    lived, the zero function first."""

    which: Numbers
    signs: Floats
    lives: Floats


def read_out(memory: KernelMemory, readout: Readout) -> Floats:
    """The coefficients that speak: the last ones, or the average (a vote has none of its own)."""
    return memory.coefficients.array if readout == "last" else memory.average()


def decide(memory: KernelMemory, points: Points, readout: Readout) -> Floats:
    """The scores by which the read-out decides, or the fraction of the votes: n, or n x classes; block by block."""
    if readout == "vote" and memory.kept is None:
        raise ValueError('a vote needs the mistakes, and they were not kept: learn with readout="vote" from the start')
    if isinstance(points, Entries) and points.matrix.shape[1] != memory.n_columns:
        raise ValueError(
            f'with kernel="precomputed" X has a column for every learned example, {memory.n_columns}; '
            f"this one has {points.matrix.shape[1]}"
        )
    look = _Look.at(memory, points)
    result = np.zeros((len(memory.by_class), len(points)))
    ballots = _ballots(memory) if readout == "vote" else []
    coefficients = (memory.summed() if readout == "average" else memory.coefficients.array).T
    divisor = memory.examples if readout == "average" else 1
    for rows in blocks_of(len(points), len(look.support)):
        values = memory.kernel.between(look.support, points.take(rows))
        check_finite(values)
        if readout == "vote":
            result[:, rows] = look.votes(ballots, values, rows) / max(memory.examples, 1)
        else:
            result[:, rows] = divided(look.scores(coefficients, values, rows), max(divisor, 1))
    return result[0] if len(result) == 1 else result.T


class _Look(NamedTuple):
    """A look at points: how far values may be off, in absolute size and in proportion to a value."""

    memory: KernelMemory
    points: Points
    support: Points
    absolute: float
    relative: float

    @classmethod
    def at(cls, memory: KernelMemory, points: Points) -> "_Look":
        support = memory.support.points(points.matrix if isinstance(points, Entries) else None)
        doubt = max(memory.doubt, memory.kernel.doubt(points))
        absolute, relative = (0.0, doubt) if memory.kernel.form in DECAYING else (doubt, 0.0)
        return cls(memory, points, support, 2.0 * absolute, 2.0 * relative + 2.0 * (len(support) + 2) * UNIT_ROUNDOFF)

    def scores(self, coefficients: Floats, values: Floats, rows: Numbers) -> Floats:
        """Scores whose signs, and whose order among the classes, are those of exact sums."""
        scores = coefficients @ values
        sizes = np.abs(coefficients)
        error_weights = sizes @ (values if self.memory.kernel.form in DECAYING else np.abs(values))
        doubts = self.relative * error_weights + self.absolute * sizes.sum(axis=1)[:, None]
        close = np.flatnonzero(are_close(scores, doubts)).tolist()
        if close and _are_exact(values, coefficients):
            return scores
        for i in close:
            column = self._values(values, rows, i)
            scores[:, i] = [exact_sum(column, a) for a in coefficients]
        return scores

    def votes(self, ballots: list[ClassBallot], values: Floats, rows: Numbers) -> Floats:
        """The votes for each class less those against it."""
        votes = np.empty((len(ballots), len(rows)))
        for ballot, line in zip(ballots, votes, strict=True):
            unsure = np.zeros(len(rows), dtype=np.bool_)
            absolute, relative = self.absolute, self.relative + 2.0 * len(ballot.which) * UNIT_ROUNDOFF
            if _are_exact(values, ballot.signs):
                absolute = relative = -1.0
            scores, sizes = np.zeros(len(rows)), np.zeros(len(rows))
            fill_votes(values, *ballot, absolute, relative, scores, sizes, line, unsure)
            for i in np.flatnonzero(unsure).tolist():
                line[i] = _exact_vote(self._values(values, rows, i), ballot)
        return votes

    def _values(self, values: Floats, rows: Numbers, i: int) -> Floats:
        """The kernel of every support row with one point, its products in column order."""
        if self.memory.kernel.doubt(self.points) == 0.0:  # a matrix, or a function, which is taken at its word
            return values[:, i]
        one = self.points.take(rows[i : i + 1])
        return self.memory.kernel.between(self.support, one, in_column_order=True)[:, 0]


def are_close(scores: Floats, doubts: Floats) -> NDArray[np.bool_]:
    """Which rows rounding could decide: a score near 0, or two classes that are near each other at the top."""
    if len(scores) == 1:
        return np.asarray(np.abs(scores[0]) <= doubts[0], dtype=np.bool_)
    best = np.argmax(scores, axis=0)
    at = np.arange(scores.shape[1])
    behind = scores[best, at] - scores
    behind[best, at] = np.inf
    return np.asarray(np.any(behind <= doubts + doubts[best, at], axis=0), dtype=np.bool_)


def _are_exact(values: Floats, coefficients: Floats) -> bool:
    """Whether all are whole numbers whose sums of products are too, so that no order of a sum matters."""
    if not np.array_equal(values[:1], np.rint(values[:1])):
        return False
    largest = float(np.abs(values).max(initial=0.0)) * float(np.abs(coefficients).sum(axis=-1).max(initial=0.0))
    return largest < 2.0**53 and all(bool(np.array_equal(part, np.rint(part))) for part in (coefficients, values))


def _ballots(memory: KernelMemory) -> list[ClassBallot]:
    made = KernelMistakes.joined(memory.kept or [])
    ballots = []
    for c in range(len(memory.by_class)):
        own = made.classes == c
        lives = np.diff(made.times[own], prepend=0, append=memory.examples).astype(np.float64)
        ballots.append(ClassBallot(made.support[own], made.signs[own], lives))
    return ballots


def _exact_vote(values: Floats, ballot: ClassBallot) -> float:
    multiples, score, votes = as_whole_multiples(values.tolist()), 0, float(ballot.lives[0])
    signs, lives = as_whole_multiples(ballot.signs.tolist()), ballot.lives[1:].tolist()
    for row, sign, life in zip(ballot.which.tolist(), signs, lives, strict=True):
        score += sign * multiples[row]
        votes += life if score >= 0 else -life
    return votes
