"""The learner in the space of a kernel: rows are learned, block by block, into an expansion in kernel values."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.examples import class_places
from novikoff.data.order import POOL, random_order
from novikoff.engine.gram import DOUBT, FULL, RULED_OUT, Pass, visit_block
from novikoff.engine.sums import exact_sum
from novikoff.learn.class_weights import multiplied_squares, weights_of_rows
from novikoff.learn.epochs import Learner, Watch
from novikoff.learn.fit import Parted
from novikoff.learn.kernel.kernels import (
    Entries,
    Floats,
    KernelFunction,
    Points,
    Vectors,
    check_finite,
    check_symmetric,
    joined,
)
from novikoff.learn.kernel.memory import KernelMemory, KernelMistakes, Numbers, are_close, blocks_of, decide
from novikoff.learn.linear.memory import predicted
from novikoff.learn.run import Cycle, Stopped
from novikoff.options import Readout

# How many examples are learned at a time: enough for the matrix products to be fast, few enough for their own kernel
# matrix to stay in the cache.
BLOCK = 512

# With more mistaken rows than this, adding up all their products one by one takes too long.
MOST_ROWS = 2000


@dataclass(frozen=True, eq=False)
class PointExamples(Parted):
    """Examples as a kernel takes them, with inner labels; where they come from is as in `Examples`."""

    points: Points
    labels: NDArray[Any]
    classes: NDArray[Any]
    encoding: Any = None
    fingerprint: str | None = None
    is_encoded: bool = False

    @property
    def n_rows(self) -> int:
        return len(self.points)

    @property
    def places(self) -> NDArray[Any]:
        return class_places(self.labels, len(self.classes))

    @property
    def counts(self) -> list[int]:
        counts: list[int] = np.bincount(self.places, minlength=len(self.classes)).tolist()
        return counts

    def some(self, which: NDArray[Any]) -> "PointExamples":
        return replace(self, points=self.points.take(which), labels=self.labels[which])


@dataclass
class KernelLearner(Learner):
    """A learner whose weights are an expansion in kernel values: the space of a kernel.

    It has what is known of the rows, and the mistakes that the memory does not have yet.

    `known` are the scores of all rows under the memory's weights (and, for the errors of the average, under its drift),
    or None while they are not worth keeping. `fresh` are the rows added in this epoch, with their coefficients. A
    `lead` is relative to `so_far`, the R^2 of the rows visited; `longer` marks those that increased it. `place` has the
    support row of each row, or -1, and `first` is the number of the first row among all ever seen."""

    examples: PointExamples
    history: KernelMemory

    def __post_init__(self) -> None:
        super().__post_init__()
        memory, points = self.history, self.examples.points
        self.first, self.so_far, self.min_margin = memory.examples, memory.longest, 0.0
        _prepare(memory, points, self.examples.labels)
        memory.lead = max(memory.lead, self.lead)
        self.points: Points = points.like(memory.support) if isinstance(points, Vectors) else points
        self.labels, self.place = _signs(self.examples.labels, memory), np.full(len(points), -1, dtype=np.int64)
        self.keep = self.keep or memory.kept is not None
        self.known: Floats | None = None
        self.parts: list[KernelMistakes] = []
        self.settled: list[KernelMistakes] = []
        self.longer, self.squares = np.zeros(len(points), dtype=np.bool_), np.zeros(len(points))
        if self.lead:
            own = memory.kernel.diagonal(self.points)
            self.squares = multiplied_squares(own, weights_of_rows(memory.class_weights, self.examples.places))
        self._begin_anew()
        in_order = self.generator is None and memory.budget is None and memory.n_classes == 2
        self.can_return = in_order and memory.class_weights is None and _is_whole(memory.kernel, self.points)

    def _begin_anew(self) -> None:
        self.fresh: Points | None = None
        self.fresh_rows = np.empty(0, dtype=np.int64)
        self.fresh_added, self.fresh_drift = (np.empty((0, len(self.labels))) for _ in range(2))

    def learn(self, watch: Watch) -> Stopped | None:
        n, self.min_margin = len(self.points), watch.min_margin or 0.0
        order = np.arange(n) if self.generator is None else random_order(n, self.generator).visit.astype(np.int64)
        self.catch_up()
        self.history.passes += 1
        step = 0
        while step < n:
            rows = order[step : step + BLOCK]
            seen, why = self._visit(rows)
            step += seen
            if why == FULL:
                self._begin_to_project()
            if why == RULED_OUT:
                return Stopped.MARGIN_RULED_OUT
            if step < n and (stopped := watch.cut_short()) is not None:
                return stopped
        return None

    def catch_up(self) -> None:
        """Update the known scores of all rows with the mistakes of the epoch, and move these to the memory."""
        if self.history.projector is not None or self.epochs.steps == 0:
            return
        n, n_classes = len(self.points), len(self.labels)
        if self.known is None:
            self.known = np.zeros((2 * n_classes, n))
        change = np.hstack([self.fresh_added, self.fresh_drift]).T
        if self.fresh is not None:
            for rows in blocks_of(n, len(change.T)):
                values = self.history.kernel.between(self.fresh, self.points.take(rows))
                self._sized(values)
                self.known[:, rows] += change @ values
        self.settle()

    def settle(self) -> None:
        """Move the mistakes of the epoch to the memory: rows that are new to it, and coefficients."""
        memory = self.history
        if len(rows := self.fresh_rows):
            new = rows[self.place[rows] < 0]
            self.place[new] = len(memory.coefficients) + np.arange(len(new))
            memory.support = joined(memory.support, self.points.take(new))
            memory.rows = np.append(memory.rows, new + self.first)
            nothing = np.zeros((len(new), len(self.labels)))
            memory.coefficients = np.vstack([memory.coefficients, nothing])
            memory.drift = np.vstack([memory.drift, nothing])
            memory.coefficients[self.place[rows]] += self.fresh_added
            memory.drift[self.place[rows]] += self.fresh_drift
            self._begin_anew()
        if memory.kept is not None and self.parts:
            made = KernelMistakes.joined(self.parts)
            memory.kept = [*memory.kept, replace(made, rows=made.rows + self.first, support=self.place[made.rows])]
            self.settled, self.parts = [*self.settled, *self.parts], []

    def _visit(self, rows: Numbers) -> tuple[int, int]:
        """Visit one block: its scores under the weights so far, then its examples one after the other.

        Once the budget is full, products are those in the span of the support rows, and a mistake adds its
        projection."""
        memory, block, shares = self.history, self.points.take(rows), None
        along = self._along(rows)
        if memory.projector is None:
            gram, scores, squares = self._products(block), self._scores(rows, block), memory.squares.copy()
        else:
            assert memory.support is not None
            values = memory.kernel.between(memory.support, block)
            check_finite(values)
            shares = memory.projector @ values
            gram, scores, squares = values.T @ shares, memory.coefficients.T @ values, np.zeros(len(self.labels))
            along = along._replace(doubts=np.full(len(scores), -1.0))  # projections are not exact
        gram, labels, scores = map(np.ascontiguousarray, (gram, self.labels[:, rows], scores))
        added, narrow = np.zeros(scores.shape), np.zeros(scores.shape, dtype=np.bool_)
        updates = memory.by_class.copy()
        task = (along, updates, squares, added, narrow)
        step, why = visit_block(gram, labels, scores, 0, shares is not None, *task)
        while why == DOUBT:
            scores[:, step] = self._exact_scores(block, added, step)
            step, why = visit_block(gram, labels, scores, step, True, *task)
        self._note(rows[:step], added[:, :step], narrow[:, :step])
        if shares is None:
            memory.squares = squares
            self._add(rows, block, added)
        else:
            ages = memory.examples + np.arange(len(rows))
            memory.coefficients = memory.coefficients + shares @ added.T
            memory.drift = memory.drift + shares @ (added * ages).T
        memory.by_class = updates
        memory.examples += step
        return step, why

    def _products(self, block: Points) -> Floats:
        gram = self.history.kernel.between(block, block)
        largest = self._sized(gram)
        if callable(self.history.kernel.form):
            check_symmetric(gram, gram.T, largest)
        return gram

    def _scores(self, rows: Numbers, block: Points) -> Floats:
        memory, parts = self.history, [(self.fresh, self.fresh_added)]
        if self.known is None:
            parts.append((memory.support, memory.coefficients))
        scores = np.zeros((len(self.labels), len(block)))
        for points, coefficients in parts:
            if points is None:
                continue
            values = memory.kernel.between(points, block)
            self._sized(values)
            scores += coefficients.T @ values
        return scores if self.known is None else scores + self.known[: len(scores), rows]

    def _sized(self, values: Floats) -> float:
        """Return the largest of some kernel values, after updating the largest of all."""
        largest = check_finite(values)
        self.history.largest = max(self.history.largest, largest)
        return largest

    def _exact_scores(self, block: Points, added: Floats, step: int) -> list[float]:
        """The scores of an example of a block, from products in column order and exact sums."""
        memory, made = self.history, np.flatnonzero(added.any(axis=0))
        parts = [(memory.support, memory.coefficients), (self.fresh, self.fresh_added)]
        parts += [(block.take(made), added[:, made].T)]
        one = block.take(np.array([step]))
        between = [memory.kernel.between(some, one, in_column_order=True) for some, _ in parts if some is not None]
        values = np.concatenate(between)[:, 0]
        return [exact_sum(values, a) for a in np.concatenate([a for _, a in parts]).T]

    def _add(self, rows: Numbers, block: Points, added: Floats) -> None:
        made = np.flatnonzero(added.any(axis=0))
        if len(made):
            self.fresh = joined(self.fresh, block.take(made))
            self.fresh_rows = np.append(self.fresh_rows, rows[made])
            self.fresh_added = np.vstack([self.fresh_added, added[:, made].T])
            self.fresh_drift = np.vstack([self.fresh_drift, (added[:, made] * (self.history.examples + made)).T])

    def _begin_to_project(self) -> None:
        """Fix the support rows, as the budget is full, and project from now on."""
        self.settle()
        memory, support = self.history, self.history.support
        assert support is not None
        if isinstance(self.points, Entries):
            support = Entries(self.points.matrix, support.shown())
        memory.gram = np.ascontiguousarray(memory.kernel.between(support, support))
        memory.projector = np.asarray(np.linalg.pinv(memory.gram, hermitian=True), dtype=np.float64)

    def _along(self, rows: Numbers) -> Pass:
        memory, more = self.history, len(rows)
        ties, thresholds = self.lead > 0 or self.options.tie == "mistake", self.lead * self._lengths_so_far(rows)[1:]
        doubts = memory.doubts(more + len(self.fresh_rows))
        slack = memory.slack(more) if self.min_margin else 0.0
        is_limited = memory.budget is not None and memory.projector is None
        held = len(memory.coefficients) + int(np.count_nonzero(self.place[self.fresh_rows] < 0))
        room = np.array([memory.budget - held if memory.budget is not None else 0])
        is_new = is_limited & (self.place[rows] < 0)
        return Pass(ties, thresholds, doubts, self.min_margin, slack, is_new, room)

    def _lengths_so_far(self, rows: Numbers) -> Floats:
        return np.maximum.accumulate(np.concatenate([[self.so_far], self.squares[rows]]))

    def _note(self, rows: Numbers, added: Floats, narrow: NDArray[np.bool_]) -> None:
        at, classes = np.nonzero(added.T)
        self.epochs.count(at, len(rows), narrow[classes, at])
        self.history.narrow += int(np.count_nonzero(narrow))
        lengths = self._lengths_so_far(rows)
        if len(longer := rows[np.flatnonzero(np.diff(lengths))]) and self.lead:
            self.longer[longer] = True
            self.so_far, self.epochs.settled = float(lengths[-1]), 1
        if self.keep and len(at):
            times, signs = self.history.examples + at, added[classes, at]
            self.parts.append(KernelMistakes(rows[at], times, classes, signs, np.full(len(at), -1)))

    def mistakes(self) -> KernelMistakes | None:
        return KernelMistakes.joined([*self.settled, *self.parts]) if self.keep else None

    def counts(self, readout: Readout, stopped: Stopped) -> dict[str, Any]:
        """With more than two classes each has its own vote, of which less is known."""
        errors = self._known_errors(readout) if stopped is Stopped.NO_MISTAKES else None
        found: dict[str, Any] = {"errors": errors, "encoded": self.examples.is_encoded}
        if len(self.labels) > 1:
            return found
        order = "given" if self.generator is None else "mixed" if len(self.points) > POOL else "random"
        kept = int(np.count_nonzero((self.place >= 0) | self.longer)) if self.history.budget is None else None
        return found | {"order": order, "mistaken_rows": kept}

    def wrong(self, examples: PointExamples, readout: Readout) -> NDArray[np.bool_]:
        self.catch_up()  # the mistakes of an epoch are not in the memory before the next one begins
        self.settle()
        return np.asarray(predicted(decide(self.history, examples.points, readout)) != examples.places)

    def error_weights(self, examples: PointExamples) -> Any:
        weights = self.history.class_weights
        return 1.0 if weights is None else weights[examples.places]

    def _known_errors(self, readout: Readout) -> int | None:
        """How many rows the read-out gets wrong, if all scores are known already."""
        if readout == "vote" or self.history.budget is not None:
            return None
        n_classes = len(self.labels)
        known = np.zeros((2 * n_classes, len(self.points))) if self.known is None else self.known
        scores, doubts = known[:n_classes].copy(), self.history.doubts(0)[:, None]
        if readout == "average":
            scores = self.history.examples * scores - known[n_classes:]
            doubts = 2.0 * self.history.examples * doubts
        close = np.flatnonzero(are_close(scores, np.broadcast_to(doubts, scores.shape)))
        for rows in blocks_of(len(close), len(self.history.coefficients)):
            exact = decide(self.history, self.points.take(close[rows]), readout)
            scores[:, close[rows]] = exact if n_classes == 1 else exact.T
        return int(np.count_nonzero(predicted(scores[0] if n_classes == 1 else scores.T) != self.examples.places))

    def weights_hash(self) -> int:
        self.catch_up()
        assert self.known is not None
        return hash(self.known[0].tobytes())

    def cycle(self, made: KernelMistakes, since: int, until: int, watch: Watch) -> Cycle | None:
        """Whether the square of the sum of the mistakes is 0, in whole numbers."""
        rows, times = np.unique(made.rows, return_counts=True)
        points = self.points.take(rows)
        if len(rows) > MOST_ROWS or not isinstance(points, Vectors):
            return None
        form, square = self.history.kernel, 0
        signed = self.labels[0, rows].astype(np.int64).astype(object) * times
        for a, line in zip(signed, KernelFunction("linear").between(points, points).astype(np.int64), strict=True):
            if watch.cut_short() is not None:
                return None
            values = line.astype(object)
            if form.form == "poly":
                values = (int(form.gamma) * values + int(form.coef0)) ** form.degree
            square += a * (signed @ values)
        return None if square else Cycle(since, until, tuple(rows.tolist()), tuple(times.tolist()))


def _prepare(memory: KernelMemory, points: Points, labels: NDArray[Any]) -> None:
    """Record what must be known of the rows before the first is visited: their width, R^2, the rounding errors."""
    n_columns: int | None = None
    if isinstance(points, Vectors):
        n_columns = points.rows.n_columns
    elif isinstance(points, Entries):
        n_columns = points.matrix.shape[1]
    if memory.examples and memory.n_columns != n_columns:
        raise ValueError(f"X has {n_columns} columns, but the support rows were learned on {memory.n_columns}")
    diagonal = memory.kernel.diagonal(points)
    check_finite(diagonal[None])
    if memory.kernel.is_definite and diagonal.min(initial=0.0) < 0:
        row = int(np.argmin(diagonal))
        raise ValueError(f"K(x, x) is {diagonal[row]:.6g} in row {row}: this is not a positive semidefinite kernel")
    memory.n_columns = n_columns
    memory.doubt = max(memory.doubt, memory.kernel.doubt(points))
    places = class_places(labels, memory.n_classes)
    squares = multiplied_squares(diagonal, weights_of_rows(memory.class_weights, places))
    memory.longest = max(memory.longest, float(squares.max(initial=0.0)))


def _signs(labels: NDArray[Any], memory: KernelMemory) -> Floats:
    """-1 and +1: one row for two classes, one per class against the rest for more; times the class weight of each
    example."""
    n_classes, weights = memory.n_classes, memory.class_weights
    of_rows = 1.0 if weights is None else weights[class_places(labels, n_classes)]
    if n_classes == 2:
        return np.asarray(of_rows * labels[None], dtype=np.float64)
    return np.where(np.arange(n_classes)[:, None] == labels, 1.0, -1.0) * of_rows


def _is_whole(kernel: KernelFunction, points: Points) -> bool:
    """Whether every value of the kernel is a whole number, and no product is rounded."""
    if kernel.form not in ("linear", "poly") or not isinstance(points, Vectors) or not points.rows.is_whole():
        return False
    whole = kernel.form == "linear" or (kernel.is_definite and kernel.gamma % 1 == 0 == kernel.coef0 % 1)
    return bool(whole and points.squares.max(initial=0.0) < 2.0**53)
