"""The memory of a kernel perceptron, and its read-outs: the last function, the average, or the vote of all.

The average decides by the sum of the functions after each example, before it is divided by their number. Where rounding
could decide a sign, or which class is best, the row is scored again: products in column order, sums exact.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import with_columns
from novikoff.engine.gram import fill_votes
from novikoff.engine.rounding import UNIT_ROUNDOFF, down, root_up, up
from novikoff.engine.rows import Rows
from novikoff.engine.sums import as_whole_multiples, exact_sum
from novikoff.learn.class_weights import ExampleWeights
from novikoff.learn.kernel.kernels import (
    Entries,
    Floats,
    KernelFunction,
    Points,
    as_points,
    check_finite,
)
from novikoff.learn.linear.memory import divided, predicted
from novikoff.learn.model import Classifier, Decided
from novikoff.learn.run import History, Mistakes
from novikoff.options import Readout
from novikoff.say.words import counted

Numbers = NDArray[np.int64]

# How many kernel values to hold at a time when predicting.
VALUES = 1 << 22

# Kernels with values between 0 and 1: an absolute error of the exponent is a relative error of the value.
DECAYING = ("rbf", "laplacian")


@dataclass(frozen=True)
class KernelMistakes(Mistakes):
    """The mistakes in order: the row, the number of examples before it, the mistaken class, and its sign, times the
    class weight of the example if classes have weights.

    `rows` count from the first row ever seen, `support` in the support rows. One example can be a mistake of several
    classes.
    """

    rows: Numbers
    times: Numbers
    classes: Numbers
    signs: Floats
    support: Numbers

    FLOATS = ("signs",)


@dataclass
class KernelMemory(History):
    """The memory of a kernel perceptron.

    `support` has the rows, `coefficients` their a_j, a column per class (one column for two classes); `drift` has the
    same shape, and (examples x coefficients - drift) is the sum of the coefficients after each example. `by_class` has
    the updates, mistakes and narrow ones, and `squares` ||w||^2, a number per class. `longest` is R^2 = max K(x, x),
    `largest` the largest |K| seen, `doubt` how much rounding may change a kernel value. `kept` has the mistakes for a
    vote, if there is to be one. `class_weights`, one per class, multiply the examples of each class before they are
    learned: R, ||w|| and margins are then those of the multiplied examples. With a full `budget`, `gram` has the
    products of the support rows, and `projector` its pseudoinverse."""

    kernel: KernelFunction
    n_classes: int
    by_class: Numbers
    squares: Floats
    coefficients: Floats
    drift: Floats
    support: Points | None = None
    rows: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    passes: int = 0
    largest: float = 0.0
    doubt: float = 0.0
    n_columns: int | None = None
    kept: list[KernelMistakes] | None = None
    budget: int | None = None
    gram: Floats = field(default_factory=lambda: np.empty((0, 0)))
    projector: Floats | None = None
    class_weights: ExampleWeights = None

    @classmethod
    def empty(
        cls,
        kernel: KernelFunction,
        n_classes: int = 2,
        *,
        vote: bool = False,
        budget: int | None = None,
        class_weights: ExampleWeights = None,
    ) -> "KernelMemory":
        n = n_classes if n_classes > 2 else 1
        memory = cls(
            kernel,
            n_classes,
            by_class=np.zeros(n, dtype=np.int64),
            squares=np.zeros(n),
            coefficients=np.empty((0, n)),
            drift=np.empty((0, n)),
        )
        return replace(memory, kept=[] if vote else None, budget=budget, class_weights=class_weights)

    def copy(self) -> "KernelMemory":
        """A memory to learn into, while this one stays as it is: learning replaces its arrays."""
        return replace(self)

    @property
    def makes_claims(self) -> bool:
        """Whether the theorem applies to this run: a kernel that is a product, and no mistake ever forgotten."""
        return self.kernel.is_definite and self.budget is None

    @property
    def weighted(self) -> bool:
        return self.class_weights is not None

    @property
    def heaviest(self) -> float:
        return 1.0 if self.class_weights is None else float(self.class_weights.max())

    @property
    def weights_length(self) -> float:
        if self.projector is None:
            return math.sqrt(max(float(self.squares.sum()), 0.0))
        a = self.coefficients
        return math.sqrt(max(float(np.sum(a * (self.gram @ a))), 0.0))

    @property
    def mistakes(self) -> int:
        return int(self.by_class.sum()) - self.narrow

    @property
    def radius(self) -> float:
        """R, rounded up; infinite unless the kernel is a product in some space."""
        doubt = self.heaviest * self.heaviest * self.doubt
        return root_up(self.longest + doubt) if self.kernel.is_definite else math.inf

    def lengths(self) -> Iterable[tuple[int, float]]:
        """Every class has its own separator, against the rest; nothing is claimed where the theorem does not hold.

        If ||w||^2 comes out negative the kernel is no product in any space, and nothing is claimed, either.
        """
        squares = self.squares + self.slack(0)
        if not self.makes_claims or np.any(squares < 0):
            return
        for k, square in zip(self.by_class.tolist(), squares.tolist(), strict=True):
            yield k, math.sqrt(square) * (1.0 + 4.0 * UNIT_ROUNDOFF)

    def rounding(self, k: float) -> float:
        return 0.0  # included in the slack of the squares

    def margin_at_least(self, lead: float) -> float:
        """As in `History`; a score may be off by its doubt, and every class has its own separator."""
        if not lead:
            return 0.0
        found = zip(self.lengths(), (self.heaviest * self.doubts(0)).tolist(), strict=False)
        margins = [down((lead * self.longest - doubt) / up(length)) for (k, length), doubt in found if k]
        return max(0.0, down(min(margins, default=0.0)))

    def renumber(self, rows: Numbers) -> None:
        self.rows = rows[self.rows]
        if self.kept is not None:
            self.kept = [replace(part, rows=rows[part.rows]) for part in self.kept]

    def doubts(self, more: int) -> Floats:
        """How far from zero the sign of a score is certain, by class, for the next `more` examples.

        k mistakes are k kernel values, each off by at most `doubt`; m rows summed in any order, in a few parts, are off
        by m u times the sum of the absolute values, at most k `largest`; all that times the weight of a class.
        """
        terms = len(self.coefficients) + more + 4 * self.passes + 16
        each = UNIT_ROUNDOFF * terms * self.largest + self.doubt
        return np.asarray(2.0 * self.heaviest * (self.by_class + more) * each, dtype=np.float64)

    def slack(self, more: int) -> float:
        """How much ||w||^2 may be off: every mistake added 2 y s, with the doubt of s, and y^2 K(x, x)."""
        k, c = int(self.by_class.max()) + more, self.heaviest
        own = 8.0 * UNIT_ROUNDOFF * k * self.largest + self.doubt
        return k * (2.0 * c * float(self.doubts(more).max()) + c * c * own)

    def summed(self) -> Floats:
        last = self.coefficients
        return self.examples * last - self.drift if self.examples else last.copy()

    def average(self) -> Floats:
        return self.summed() / max(self.examples, 1)


def blocks_of(n: int, n_support: int) -> Iterator[Numbers]:
    """Split the numbers from 0 to n, so that the kernel of each part with the support rows is not too large."""
    block = max(1, VALUES // max(1, n_support))
    for start in range(0, n, block):
        yield np.arange(start, min(start + block, n))


class ClassBallot(NamedTuple):
    """The mistakes of a class: support rows, signs (times class weights, if any), and how long each function lived, the
    zero function first."""

    which: Numbers
    signs: Floats
    lives: Floats


def read_out(memory: KernelMemory, readout: Readout) -> Floats:
    """The coefficients that predict: the last ones, or the average (a vote has none of its own)."""
    return memory.coefficients if readout == "last" else memory.average()


def decide(memory: KernelMemory, points: Points, readout: Readout) -> Floats:
    """The scores by which the read-out decides, or the vote fractions: n, or n x classes; block by block."""
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
    coefficients = (memory.summed() if readout == "average" else memory.coefficients).T
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
    """A prediction pass over points: bounds on the absolute and the relative errors of kernel values."""

    memory: KernelMemory
    points: Points
    support: Points
    absolute: float
    relative: float

    @classmethod
    def at(cls, memory: KernelMemory, points: Points) -> "_Look":
        support = points.take(np.empty(0, dtype=np.int64)) if memory.support is None else memory.support
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
        if self.memory.kernel.doubt(self.points) == 0.0:  # a matrix, or a function, whose values are trusted
            return values[:, i]
        one = self.points.take(rows[i : i + 1])
        return self.memory.kernel.between(self.support, one, in_column_order=True)[:, 0]


def are_close(scores: Floats, doubts: Floats) -> NDArray[np.bool_]:
    """Which rows rounding could decide: a score near 0, or the two best classes close together."""
    if len(scores) == 1:
        return np.asarray(np.abs(scores[0]) <= doubts[0], dtype=np.bool_)
    best = np.argmax(scores, axis=0)
    at = np.arange(scores.shape[1])
    behind = scores[best, at] - scores
    behind[best, at] = np.inf
    return np.asarray(np.any(behind <= doubts + doubts[best, at], axis=0), dtype=np.bool_)


def _are_exact(values: Floats, coefficients: Floats) -> bool:
    """Whether all are whole numbers with exact sums of products, in any order."""
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


@dataclass(frozen=True, eq=False)
class KernelModel(Classifier):
    """The support rows with their coefficients, the classes, and how they are read out.

    >>> from novikoff.learn.kernel.space import kernel_perceptron
    >>> X = [[0, 0], [1, 1], [0, 1], [1, 0]]
    >>> learned = kernel_perceptron(X, [1, 1, -1, -1], kernel="poly", degree=2, gamma=1, random_state=0)
    >>> KernelModel(learned.memory, np.array(["even", "odd"])[::-1], run=learned.run).predict(X).tolist()
    ['even', 'even', 'odd', 'odd']
    """

    memory: KernelMemory

    def decide_rows(self, rows: Any) -> Decided:
        if isinstance(rows, Rows) and rows.is_sparse and self.n_columns is not None:
            rows = with_columns(rows, self.n_columns)  # a column not seen in training counts as 0
        scores = decide(self.memory, as_points(rows, self.memory.kernel.form, square=False), self.readout)
        return Decided(lambda: self.classes[predicted(scores)], lambda: scores)

    @property
    def n_support(self) -> int:
        return len(self.memory.coefficients)

    @property
    def in_words(self) -> str:
        return (
            f"the {self.memory.kernel} with {counted(self.n_support, 'example')} that were mistaken, each with a weight"
        )

    def coefficients(self) -> NDArray[np.float64]:
        """The coefficients of the support rows in the read-out, a row per class."""
        if self.readout == "vote":
            raise ValueError('a vote has no coefficients of its own; read out the "average" or the "last" ones')
        return read_out(self.memory, self.readout).T
