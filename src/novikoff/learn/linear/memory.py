"""The memory of a linear perceptron, and its read-outs: the last weights, their average, or a vote.

Nothing here learns: `novikoff.learn.linear.space` changes a memory, and predictions, proofs and records read it.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import with_columns
from novikoff.data.narrow import Table, is_too_wide, narrow, used_columns
from novikoff.engine.rounding import UNIT_ROUNDOFF, down, up
from novikoff.engine.rows import Rows, as_rows, longest_square, span
from novikoff.engine.scoring import fill_scores, fill_signs, fill_winners
from novikoff.engine.threads import over_rows
from novikoff.learn.linear.vote import Ballot, votes
from novikoff.learn.model import Classifier, Decided, NamedWeight
from novikoff.learn.run import History
from novikoff.options import Readout, Tie, check_options


@dataclass(frozen=True)
class Mixed:
    """The effect of mixing weights on the sum of the mistakes.

    Mixed weights count as `fewer` mistakes less than were made, rounded up; rounding has moved them by at most `moved`.
    """

    fewer: float
    moved: float


@dataclass
class LinearMemory(History):
    """The memory of a linear perceptron.

    `weights` has one row for two classes (or fewer, so far) and one per class for more; its last column is the
    intercept. `drift` has the same shape, and (examples x weights - drift) is the sum of the weights after each
    example. `ballots` keeps the mistakes for a vote, in parts, or is None if no vote was requested.

    With very many columns, only those seen have weights: `columns` lists them, ascending, and `width` is the number of
    all. Weights that were `mixed` (iterative parameter mixing) are a weighted sum of mistakes. `class_weights`, one per
    class, multiply the examples of each class before they are learned. With these or other weights of examples, it is
    `weighted`: R, ||w|| and margins are then those of the multiplied examples.
    """

    weights: NDArray[np.float64]
    drift: NDArray[np.float64]
    n_classes: int
    constant: float
    mistakes: int = 0
    ballots: list[Ballot] | None = None
    columns: Table | None = None
    width: int = 0
    mixed: Mixed | None = None
    class_weights: NDArray[np.float64] | None = None
    weighted: bool = False

    @classmethod
    def empty(
        cls,
        n_columns: int,
        n_classes: int = 2,
        *,
        fit_intercept: bool = True,
        vote: bool = False,
        columns: Table | None = None,
    ) -> "LinearMemory":
        """An empty memory, with room for all columns, or for some."""
        shape = (vectors_for(n_classes), (n_columns if columns is None else len(columns)) + 1)
        memory = cls(np.zeros(shape), np.zeros(shape), n_classes, 1.0 if fit_intercept else 0.0)
        return replace(memory, ballots=[] if vote else None, columns=columns, width=0 if columns is None else n_columns)

    def copy(self) -> "LinearMemory":
        ballots = None if self.ballots is None else list(self.ballots)
        return replace(self, weights=self.weights.copy(), drift=self.drift.copy(), ballots=ballots)

    @property
    def n_columns(self) -> int:
        return self.weights.shape[1] - 1 if self.columns is None else self.width

    def fitting(self, rows: Rows) -> Rows:
        """Rows restricted to the columns that have weights; all others have the weight 0."""
        if self.columns is None:
            return rows
        if not rows.is_sparse:
            return as_rows(rows.matrix[:, self.columns])
        return narrow(rows, self.columns)

    def over_columns(self, columns: Table | None, width: int) -> "LinearMemory":
        """The same memory with weights for these columns, or for all, of `width`; new ones have the weight 0."""
        tables = (self.columns, self.n_columns), (columns, width)
        old, new = (np.arange(n) if table is None else table for table, n in tables)
        _, *places = np.intersect1d(old, new, assume_unique=True, return_indices=True)
        here, there = (np.append(place, len(table)) for place, table in zip(places, (old, new), strict=True))
        moved = [np.zeros((len(part), len(new) + 1)) for part in (self.weights, self.drift)]
        for part, before in zip(moved, (self.weights, self.drift), strict=True):
            part[:, there] = before[:, here]
        return replace(self, weights=moved[0], drift=moved[1], columns=columns, width=0 if columns is None else width)

    def with_room_for(self, parts: Iterable[Rows]) -> "LinearMemory":
        """The same memory with weights for all columns of rows, where some have none."""
        if self.columns is None or np.array_equal(columns := used_columns(parts), self.columns):
            return self
        return self.over_columns(np.union1d(self.columns, columns), self.width)

    def only_touched(self) -> "LinearMemory":
        """The same memory with weights only for the columns that a mistake has touched."""
        places = np.flatnonzero(np.any((self.weights != 0.0) | (self.drift != 0.0), axis=0)[:-1])
        return self.over_columns(places if self.columns is None else self.columns[places], self.n_columns)

    @property
    def vector_square(self) -> float:
        """The largest squared length of a vector that an update adds: R^2, or Kesler's 2 R^2."""
        return self.longest if self.n_classes <= 2 else 2.0 * self.longest

    @property
    def weights_length(self) -> float:
        """||w||, or ||W|| of all classes; scaled, so that no square underflows, and summed in one order."""
        largest = float(np.abs(self.weights).max(initial=0.0))
        return largest * float(np.linalg.norm(self.weights.ravel() / largest)) if largest else 0.0

    @property
    def terms(self) -> int:
        return self.weights.size

    @property
    def counted(self) -> float:
        """K: the updates, each by its fraction in the weights, rounded down."""
        if self.mixed is None:
            return self.updates
        exact = self.updates - Fraction(self.mixed.fewer)
        return float(exact) if float(exact) <= exact else down(float(exact))

    def lengths(self) -> Iterable[tuple[float, float]]:
        moved = 0.0 if self.mixed is None else self.mixed.moved
        for _, length in super().lengths():
            yield self.counted, up(length + moved)

    def finished(self) -> "LinearMemory":
        return self if self.columns is None else self.only_touched()

    def summed(self) -> NDArray[np.float64]:
        """The sum of the weights after each example: not rounded where the examples are whole numbers."""
        return self.examples * self.weights - self.drift if self.examples else self.weights.copy()

    def average(self) -> NDArray[np.float64]:
        return self.summed() / max(self.examples, 1)


def vectors_for(n_classes: int) -> int:
    """The number of weight vectors."""
    return n_classes if n_classes > 2 else 1


def read_out(memory: LinearMemory, readout: Readout) -> NDArray[np.float64]:
    """The weights that predict: the last ones, or the average (a vote has no weights of its own), of `memory.columns`,
    the intercept last."""
    return memory.weights if readout == "last" else memory.average()


def columns_to_keep(parts: Iterable[Rows], n_columns: int, n_entries: int, n_classes: int) -> Table | None:
    """The columns that get weights: those of the parts, or None if all columns can have weights."""
    return used_columns(parts) if is_too_wide(n_columns, n_entries, vectors_for(n_classes)) else None


def scores(rows: Rows, weights: NDArray[np.float64], constant: float) -> NDArray[np.float64]:
    """The score of every row, added up in column order: n scores for one weight vector, n x classes for more."""
    rows = rows.without_repeats()
    result = np.empty((rows.n_rows, len(weights)))
    _fill(fill_scores, rows, (_side_by_side(weights, rows), constant), result, len(weights))
    return result[:, 0] if len(weights) == 1 else result


def rough_scores(rows: Rows, weights: NDArray[np.float64], constant: float) -> NDArray[np.float64]:
    """As `scores`, in the fastest order, except for rows where the order could decide which class is best."""
    roundoff, n = 4.0 * (rows.widest + 2) * UNIT_ROUNDOFF, len(weights)
    if n == 1:
        result = np.empty(rows.n_rows)
        doubtful = _fill(fill_signs, rows, (np.ascontiguousarray(weights[0]), constant, roundoff), result, n)
    else:
        result, doubt = np.empty((rows.n_rows, n)), 2.0 * roundoff * float(np.abs(weights).max(initial=0.0))
        doubtful = _fill(fill_winners, rows, (_side_by_side(weights, rows), constant, doubt), result, n)
    # The sum of repeated entries is rounded once, before anything is multiplied, and that could decide, too.
    return rough_scores(rows.in_order(), weights, constant) if doubtful and rows.repeats else result


def _fill(kernel: Any, rows: Rows, task: tuple[Any, ...], result: NDArray[np.float64], n_vectors: int) -> int:
    """Fill in the scores of all rows, on all cores; return how many are in doubt."""
    numbers = rows.n_entries * n_vectors
    fill = kernel.for_parts(numbers)

    def work(start: int, stop: int) -> int:
        return fill(span(rows.matrix, start, stop), *task, result[start:stop]) or 0

    return sum(over_rows(work, rows.n_rows, numbers))


def _side_by_side(weights: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
    """Weights as kernels take them: for sparse rows those of all classes side by side."""
    return np.ascontiguousarray(weights.T if rows.is_sparse else weights)


def predicted(score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Class numbers from scores: with two classes 1 if the score is at least 0, else the first of the best classes."""
    return (score >= 0).astype(np.int64) if score.ndim == 1 else np.argmax(score, axis=1)


@dataclass(frozen=True)
class Decider:
    """The decisions of a read-out: by its scores before they are divided by the number of examples.

    Scores of whole numbers are exact that way, and a score of 0 is 0; after a division it may be a little below. A vote
    before the first mistake is that of the zero vector.
    """

    memory: LinearMemory
    weights: NDArray[np.float64]
    divisor: float = 1.0
    is_vote: bool = False

    def score(self, rows: Rows) -> NDArray[np.float64]:
        """The scores, each added up in column order."""
        memory = self.memory
        longest_square(rows, memory.constant)  # raises an error that names a number that is not finite
        if not self.is_vote or not memory.ballots:
            return scores(memory.fitting(rows), self.weights, memory.constant)
        counts = {"examples": memory.examples, "n_classes": memory.n_classes}
        return votes(memory.ballots[0], rows, constant=memory.constant, lead=memory.lead, **counts)

    def decide(self, rows: Rows) -> NDArray[np.float64]:
        """Scores that are faster to compute, by which the same classes are best."""
        memory = self.memory
        if self.is_vote and memory.ballots:
            return self.score(rows)
        if memory.columns is not None:
            longest_square(rows, memory.constant)
        found = rough_scores(memory.fitting(rows), self.weights, memory.constant)
        if not np.isfinite(found).all():  # a number that is not finite shows in the scores
            longest_square(rows, memory.constant)
        return found

    def classes(self, rows: Rows) -> NDArray[np.int64]:
        return predicted(self.decide(rows))

    def shown(self, scores: NDArray[np.float64], eta0: float = 1.0) -> NDArray[np.float64]:
        """Scores as they are shown: those of the read-out times the learning rate, or the fraction of the votes."""
        rate = 1.0 if self.is_vote else eta0
        if rate == self.divisor:
            return scores
        return divided(scores, self.divisor, rate)


def divided(scores: NDArray[np.float64], divisor: float, rate: float = 1.0) -> NDArray[np.float64]:
    """Scores times a rate, over a divisor; those that are not 0 do not become 0."""
    result = scores * rate / divisor
    vanished = (result == 0.0) & (scores != 0.0)
    result[vanished] = np.copysign(np.nextafter(0.0, 1.0), scores[vanished])
    return result


def decider(memory: LinearMemory, readout: Readout) -> Decider:
    """The decider of a read-out, prepared once for any number of blocks of rows."""
    if readout == "last":
        return Decider(memory, memory.weights)
    if readout == "average":
        return Decider(memory, memory.summed(), float(max(memory.examples, 1)))
    if memory.ballots is None:
        raise ValueError('a vote needs the mistakes, and they were not kept: learn with readout="vote" from the start')
    if len(memory.ballots) > 1:
        memory.ballots[:] = [Ballot.joined(memory.ballots)]
    return Decider(memory, memory.weights, is_vote=True)


def without_first_column(memory: LinearMemory) -> LinearMemory:
    """The same memory without its first column, in which no example had an entry."""
    if memory.n_columns == 0:
        return memory
    if memory.columns is not None:
        return replace(memory, columns=memory.columns - 1, width=memory.width - 1)
    return replace(memory, weights=memory.weights[:, 1:].copy(), drift=memory.drift[:, 1:].copy())


@dataclass(frozen=True, eq=False)
class LinearModel(Classifier):
    """What was learned, and how it is read out.

    `classes_are_fixed` unless learning may add new ones.

    >>> from novikoff.learn.linear.files import learn_from
    >>> first = ([[-1, 2], [1, 0], [1, 1]], ["blue", "red", "red"])
    >>> second = ([[-1, 0], [-1, -2], [1, -1]], ["blue", "blue", "red"])
    >>> options = {"fit_intercept": False, "shuffle": False, "readout": "last"}
    >>> model = LinearModel.of(learn_from([first, second], **options), options)
    >>> model.weights_by_name()
    [NamedWeight(label=None, name='column 0', weight=3.0), NamedWeight(label=None, name='column 1', weight=1.0)]
    >>> from novikoff.engine.rows import as_rows
    >>> model.predict(as_rows([[5.0, -1.0], [-5.0, 1.0]])).tolist()
    ['red', 'blue']
    """

    READ_BY = ("readout", "tie", "eta0")

    memory: LinearMemory
    _: KW_ONLY
    tie: Tie = "mistake"
    eta0: float = 1.0
    classes_are_fixed: bool = True

    def __post_init__(self) -> None:
        check_options(readout=self.readout, tie=self.tie, eta0=self.eta0)

    def decide_rows(self, rows: Rows) -> Decided:
        rows, decides = self._fitting(rows), self._decider

        def labels() -> NDArray[Any]:
            of_one = len(self.classes) == 1
            return np.repeat(self.classes, rows.n_rows) if of_one else self.classes[decides.classes(rows)]

        return Decided(labels, lambda: decides.shown(decides.score(rows), self.eta0))

    def weights_by_name(self, most: int | None = None) -> list[NamedWeight]:
        """The weights of the read-out that are not 0, the largest absolute value first; at most so many of them."""
        weights = self._weights()
        places = np.flatnonzero(weights)
        sizes = -np.abs(weights.ravel()[places])
        if most is not None and most < len(places):  # ties with the last one stay, so that the order decides
            places = places[heaviest := sizes <= np.partition(sizes, most)[most]]
            sizes = sizes[heaviest]
        order = np.argsort(sizes, kind="stable")[:most]
        of_class, of_feature = np.divmod(places[order], weights.shape[1])
        labels = [None] if len(weights) == 1 else self.classes.tolist()
        found = zip(of_class.tolist(), of_feature.tolist(), strict=True)
        return [NamedWeight(labels[c], self._name(j), float(weights[c, j])) for c, j in found]

    def weights(self) -> NDArray[np.float64]:
        memory = self.memory
        whole = memory if memory.columns is None else memory.over_columns(None, memory.n_columns)
        return replace(self, memory=whole)._weights()

    def _weights(self) -> NDArray[np.float64]:
        if self.readout == "vote":
            raise ValueError('a vote has no weights of its own; read out the "average" or the "last" ones')
        return self.eta0 * read_out(self.memory, self.readout)

    @cached_property
    def _decider(self) -> Decider:
        return decider(self.memory, self.readout)

    def _fitting(self, rows: Rows) -> Rows:
        if rows.is_sparse:
            return with_columns(rows, self.memory.n_columns)  # a column not seen in training has the weight 0
        if rows.n_columns != self.memory.n_columns:
            raise ValueError(f"the rows have {rows.n_columns} columns, but the model has {self.memory.n_columns}")
        return rows

    def _name(self, place: int) -> str | None:
        """The name of the feature whose weight has this place, or None for the intercept."""
        if place == self.memory.weights.shape[1] - 1:
            return None
        column = place if self.memory.columns is None else int(self.memory.columns[place])
        if self.encoding is not None and self.encoding.names_features:
            return self.encoding.name(column)
        return f"column {column}" if self.feature_names is None else self.feature_names[column]
