"""The perceptron of the notes: on a mistake, add the example.

`perceptron` is the batch algorithm, `learn_online` one pass in the order given. Both keep a `Memory`: the weights,
which are the sum of the mistakes, and the little that read-outs and proofs need beside them. Examples come as arrays,
or in blocks that need not be in memory all at once. None of this knows of scikit-learn.

Binary labels are -1 and +1. With more than two classes labels are 0, 1, ..., and Kesler's construction applies: add the
example to the weights of its class, subtract it from those of the best other class. Each such step is a binary mistake
on a vector of length sqrt(2) ||x||, hence the bound 2 (R/gamma)^2, with gamma the smallest lead of the right class
over another under weights with ||W|| = 1 (Frobenius).
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.blocks import Blocks, Held
from novikoff.data.labels import checked_labels
from novikoff.data.narrow import used_columns
from novikoff.data.order import POOL, Order, block_order, given_order, random_order
from novikoff.engine.linear import Rule, binary_epoch, multiclass_epoch
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.rows import Rows, as_rows, longest_square
from novikoff.learn.linear_memory import Memory, columns_to_keep, decider, record
from novikoff.learn.linear_memory import Readout as Readout
from novikoff.learn.record import Run, Stopped
from novikoff.learn.vote import Ballot, Mistakes

Tie = Literal["mistake", "predict"]

READOUTS: tuple[Readout, ...] = ("last", "average", "vote")
TIES: tuple[Tie, ...] = ("mistake", "predict")

# Between two calls of a kernel the clock is read and Ctrl-C is heard.
STEPS_PER_CALL = 1 << 16

# How many entries to keep among the columns that have weights, where not all columns have.
HELD_ENTRIES = 1 << 24


@dataclass(frozen=True)
class Learned:
    """What `perceptron` returns: the memory, the record of the run, and, if asked for, its mistakes in order."""

    memory: Memory
    run: Run
    mistakes: Mistakes | None = None


def perceptron(
    X: Any,
    y: ArrayLike | None = None,
    *,
    n_classes: int = 2,
    readout: Readout = "average",
    fit_intercept: bool = True,
    max_epochs: int | None = 10,
    shuffle: bool = True,
    seed: int | np.random.Generator | None = None,
    tie: Tie = "mistake",
    min_margin: float | None = None,
    time_limit: float | None = None,
    start: Memory | None = None,
    keep_mistakes: bool = False,
    after_epoch: Callable[[Memory], None] | None = None,
) -> Learned:
    """The batch perceptron: epochs until one makes no mistake.

    It also stops after `max_epochs` (None: no limit), after `time_limit` seconds, or as soon as ||w||/k < `min_margin`,
    which proves that no separator has that margin. Ctrl-C ends the run, not the program: what was learned so far is
    returned, with `Stopped.INTERRUPTED` in the record. `after_epoch` is called between epochs (with few rows, between
    some of them), and may end the run by raising KeyboardInterrupt itself.

    Without y, X is a data set in blocks (`novikoff.data.blocks`), which have the labels: one block is in use at a time.
    With `shuffle` the blocks come in random order, and the rows of each too; one block is shuffled as an array is.

    Theorem (Block 1962, Novikoff 1962): with examples of length at most R that some unit vector separates with margin
    gamma, it makes at most (R/gamma)^2 mistakes, in whatever order they come.

    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> learned = perceptron(X, [-1, 1, 1, -1, -1, 1], fit_intercept=False, shuffle=False, readout="last")
    >>> learned.memory.weights.tolist()
    [[3.0, 1.0, 0.0]]
    >>> learned.run.mistakes, learned.run.stopped.name
    (3, 'NO_MISTAKES')
    """
    check_choices(readout=readout, tie=tie, max_epochs=max_epochs, min_margin=min_margin, time_limit=time_limit)
    blocks = _as_blocks(X, y, n_classes)
    vote = readout == "vote"
    if start is None:
        columns = columns_to_keep(lambda: _rows_of(blocks), blocks.n_columns, n_classes)
        memory = Memory.empty(blocks.n_columns, n_classes, fit_intercept=fit_intercept, vote=vote, columns=columns)
    else:
        memory = start.copy()
        _check_goes_on(memory, blocks.n_columns, vote)
        _make_room(memory, blocks)
    examples = Examples(blocks, memory)
    watch = Watch.over(min_margin, time_limit)
    log = Log(blocks.n_rows, keep=keep_mistakes or memory.ballots is not None)
    generator = np.random.default_rng(seed)

    began = memory.examples
    stopped = None
    try:
        while stopped is None:
            epochs = _epochs_at_once(blocks, log.epochs, max_epochs)
            stopped = _go_through(examples, generator if shuffle else None, epochs, tie, watch, log)
            if log.flawless is not None:
                stopped = Stopped.NO_MISTAKES
                memory.examples = began + (log.flawless + 1) * blocks.n_rows  # what came after changed nothing
            elif stopped is None and log.epochs == max_epochs:
                stopped = Stopped.MAX_EPOCHS
            elif stopped is None and after_epoch is not None:
                after_epoch(memory)
    except KeyboardInterrupt:
        stopped = Stopped.INTERRUPTED

    mistakes = _logged(memory, blocks, log)
    wrong = count_errors(examples, readout)
    run = record(memory, readout, stopped, log.per_epoch(), n_rows=blocks.n_rows, errors=wrong)
    return Learned(memory, run, mistakes)


def _as_blocks(X: Any, y: ArrayLike | None, n_classes: int) -> Blocks:
    """Blocks as they are; rows and their labels as one block."""
    if y is not None:
        rows = as_rows(X)
        return Held([(rows, check_labels(y, rows.n_rows, n_classes))])
    if not hasattr(X, "block"):
        raise ValueError("y is missing: without labels, X must be blocks, which have them (see novikoff.data.blocks)")
    blocks: Blocks = X
    if blocks.n_rows == 0:
        raise ValueError("the blocks have no rows: there is nothing to learn from")
    return blocks


def _rows_of(blocks: Blocks) -> Iterator[Rows]:
    return (blocks.block(number)[0] for number in range(len(blocks)))


def _make_room(memory: Memory, blocks: Blocks) -> None:
    """Give every column of the blocks a weight, where not all columns have one already."""
    if memory.columns is not None:
        memory.make_room(used_columns(_rows_of(blocks)))


def _epochs_at_once(blocks: Blocks, done: int, max_epochs: int | None) -> int:
    """How many epochs to order in one go: on few rows twice as many as before, because a call costs more than a row.

    An epoch too many does no harm: after one without a mistake, nothing changes any more.
    """
    few = len(blocks) == 1 and blocks.n_rows <= POOL
    most = min(done + 1, max(1, STEPS_PER_CALL // blocks.n_rows)) if few else 1
    return most if max_epochs is None else min(most, max_epochs - done)


def learn_online(
    memory: Memory, X: Any, y: ArrayLike, *, tie: Tie = "mistake", keep_mistakes: bool = False
) -> Mistakes | None:
    """Learn the rows in the order given, once, into `memory`. Nothing is changed if anything is wrong with them."""
    check_choices(tie=tie)
    blocks = _as_blocks(X, y, memory.n_classes)
    _check_goes_on(memory, blocks.n_columns)
    examples = Examples(blocks, memory)
    examples.check(0)
    _make_room(memory, blocks)
    block = examples.block(0)
    log = Log(blocks.n_rows, keep=keep_mistakes or memory.ballots is not None)
    if memory.n_classes < 2:
        memory.examples += blocks.n_rows  # one label so far: there is no other to be mistaken for
    else:
        _visit(memory, block, given_order(blocks.n_rows), tie, Watch.over(None, None), log)
    return _logged(memory, blocks, log)


def grow(memory: Memory, places: list[int], n_classes: int) -> Memory:
    """The same memory with room for more classes; the old ones move to `places` in the new order.

    Two classes share one weight vector w; apart, they have -w and +w. A class not seen before has the weights 0, which
    are also its past, so averages need no correction.
    """
    constant, columns = memory.constant == 1.0, memory.columns
    grown = Memory.empty(memory.n_columns, n_classes, fit_intercept=constant, columns=columns)
    for old, new in ((memory.weights, grown.weights), (memory.drift, grown.drift)):
        if n_classes > 2 and memory.n_classes == 2:
            new[places] = np.vstack([-old, old])
        elif memory.n_classes > 2:
            new[places] = old
    if memory.ballots is not None:
        grown.ballots = [replace(part, mistakes=part.mistakes.renamed(places)) for part in memory.ballots]
    grown.examples, grown.mistakes, grown.longest = memory.examples, memory.mistakes, memory.longest
    return grown


def predicted(score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Class numbers from scores: with two classes 1 if the score is at least 0, else the first class of the best."""
    return (score >= 0).astype(np.int64) if score.ndim == 1 else np.argmax(score, axis=1)


def count_errors(examples: "Examples", readout: Readout) -> int:
    """How many rows the read-out gets wrong."""
    score = decider(examples.memory, readout).score

    def count(rows: Rows, labels: NDArray[Any]) -> int:
        truth = labels > 0 if examples.memory.n_classes == 2 else labels
        return int(np.count_nonzero(predicted(score(rows)) != truth))

    return sum(count(*examples.check(number)) for number in range(len(examples.blocks)))


@dataclass
class Log:
    """The mistakes of a run, call by call: how many in each epoch, and, to `keep`, which.

    `flawless` is the first epoch that went through without a mistake.
    """

    n_rows: int
    keep: bool
    steps: int = 0
    flawless: int | None = None
    counts: list[int] = field(default_factory=list)
    parts: list[Mistakes] = field(default_factory=list)

    @property
    def epochs(self) -> int:
        """How many epochs were begun."""
        return -(-self.steps // self.n_rows)

    def count(self, at: NDArray[Any], seen: int) -> None:
        """Count the mistakes at these of the next `seen` steps."""
        epoch = (self.steps + at.astype(np.int64)) // self.n_rows
        unfinished = self.steps // self.n_rows
        self.steps += seen
        self.counts.extend([0] * (self.epochs - len(self.counts)))
        for number, made in zip(*np.unique(epoch, return_counts=True), strict=True):
            self.counts[number] += int(made)
        finished = range(unfinished, self.steps // self.n_rows)
        if self.flawless is None:
            self.flawless = next((number for number in finished if self.counts[number] == 0), None)

    def note(self, rows: NDArray[Any], times: NDArray[Any], labels: NDArray[Any], rivals: NDArray[Any]) -> None:
        if not len(rivals):  # two classes, labelled -1 and +1: each is the other's rival
            labels, rivals = (labels + 1) // 2, (1 - labels) // 2
        self.parts.append(Mistakes(*(column.astype(np.int64) for column in (rows, times, labels, rivals))))

    def per_epoch(self) -> tuple[int, ...]:
        """Mistakes by epoch, up to the first without one."""
        return tuple(self.counts if self.flawless is None else self.counts[: self.flawless + 1])


@dataclass(frozen=True)
class Watch:
    """When to stop before the data are through."""

    min_margin: float | None
    deadline: float

    @classmethod
    def over(cls, min_margin: float | None, time_limit: float | None) -> "Watch":
        return cls(min_margin, math.inf if time_limit is None else time.monotonic() + time_limit)

    def reason_to_stop(self, memory: Memory) -> Stopped | None:
        if self.min_margin is not None and memory.margin_at_most < self.min_margin:
            return Stopped.MARGIN_RULED_OUT
        if time.monotonic() > self.deadline:
            return Stopped.TIME_LIMIT
        return None

    def patience(self, memory: Memory) -> int:
        """How many mistakes may come before the margin can be ruled out: each shortens w by at most R."""
        if self.min_margin is None:
            return STEPS_PER_CALL
        surplus = memory.weights_length - memory.mistakes * self.min_margin
        soonest = surplus / (math.sqrt(memory.step_square) + self.min_margin)
        return int(min(max(soonest, 1.0), STEPS_PER_CALL))


class Block(NamedTuple):
    """Rows, their labels as a kernel wants them, and the number of the first of them in the data set."""

    rows: Rows
    labels: NDArray[Any]
    first: int


@dataclass
class Examples:
    """Blocks as a learner visits them: on the first visit each is checked, and its longest row is remembered.

    R^2 grows as blocks come. That is enough: what is bounded by it depends on examples that came already.
    """

    blocks: Blocks
    memory: Memory
    known: set[int] = field(default_factory=set)
    narrow: dict[int, Rows] = field(default_factory=dict)

    def block(self, number: int) -> Block:
        """A block among the columns that have weights."""
        rows, labels = self.check(number)
        if self.memory.columns is not None:
            rows = self._narrow(number, rows)
        first = int(self.blocks.starts[number])
        return Block(rows, np.ascontiguousarray(labels, dtype=_label_type(self.memory.n_classes)), first)

    def _narrow(self, number: int, rows: Rows) -> Rows:
        """Looking columns up takes longer than learning, so what has few entries is kept."""
        if number not in self.narrow:
            found = self.memory.fitting(rows)
            if sum(part.entries.size for part in self.narrow.values()) + found.entries.size > HELD_ENTRIES:
                return found
            self.narrow[number] = found
        return self.narrow[number]

    def check(self, number: int) -> tuple[Rows, NDArray[Any]]:
        """A block as it is."""
        rows, labels = self.blocks.block(number)
        first = int(self.blocks.starts[number])
        if number not in self.known:
            try:
                labels = check_labels(labels, rows.n_rows, self.memory.n_classes)
                self.memory.longest = max(self.memory.longest, longest_square(rows, self.memory.constant))
            except ValueError as error:
                if len(self.blocks) == 1:
                    raise
                raise ValueError(f"in the block of rows that begins with row {first}: {error}") from error
            self.known.add(number)
        return rows, labels


def _go_through(
    examples: Examples, generator: np.random.Generator | None, epochs: int, tie: Tie, watch: Watch, log: Log
) -> Stopped | None:
    """Visit all blocks, in random order if there is a generator; several epochs at a time only with one block."""

    def visit(block: Block) -> Stopped | None:  # on return the block is let go, before the next one is mapped
        rows = block.rows
        if generator is None:
            order = given_order(rows.n_rows, epochs)
        else:
            order = random_order(rows.n_rows, generator, rows.bytes_per_row, epochs)
        return _visit(examples.memory, block, order, tie, watch, log)

    for number in block_order(len(examples.blocks), generator):
        stopped = visit(examples.block(number))
        if stopped is not None:
            return stopped
    return None


def _visit(memory: Memory, block: Block, order: Order, tie: Tie, watch: Watch, log: Log) -> Stopped | None:
    """Visit the rows in the given order, call by call."""
    rows, labels, first = block
    doubt = 4.0 * (rows.widest + 2) * UNIT_ROUNDOFF * memory.step_square
    rule = Rule(memory.constant, tie == "mistake", doubt)
    binary = memory.n_classes == 2
    weights, drift = _in_kernel_layout(memory, rows.is_sparse)
    at = np.empty(min(STEPS_PER_CALL, len(order.visit)), dtype=np.uint32)
    rivals = np.empty(0 if binary else len(at), dtype=np.int64)
    step = 0
    while step < len(order.visit):
        steps = slice(step, step + STEPS_PER_CALL)
        full = at[: watch.patience(memory)]
        task = (rows.matrix, labels, order.visit[steps], order.soon[steps], rule, memory.examples, memory.mistakes)
        if binary:
            seen, made = binary_epoch(*task, weights, drift, full)
        else:
            seen, made = multiclass_epoch(*task, weights, drift, full, rivals)
        log.count(at[:made], seen)
        if log.keep and made:
            where = order.visit[steps][at[:made]]
            times = memory.examples + at[:made].astype(np.int64)
            log.note(first + where.astype(np.int64), times, labels[where], rivals[:made])
        memory.examples += seen
        memory.mistakes += made
        step += seen
        reason = watch.reason_to_stop(memory)
        if reason is not None:
            return reason
    return None


def _in_kernel_layout(memory: Memory, sparse: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The memory's own arrays as a kernel wants them; sparse rows meet the weights of all classes side by side."""
    if memory.n_classes == 2:
        return memory.weights[0], memory.drift[0]
    if not sparse:
        memory.weights, memory.drift = np.ascontiguousarray(memory.weights), np.ascontiguousarray(memory.drift)
        return memory.weights, memory.drift
    memory.weights, memory.drift = np.asfortranarray(memory.weights), np.asfortranarray(memory.drift)
    return memory.weights.T, memory.drift.T


def _logged(memory: Memory, blocks: Blocks, log: Log) -> Mistakes | None:
    """The mistakes of a log, if they were kept; they join the memory's ballots, if there is to be a vote."""
    if not log.keep:
        return None
    mistakes = Mistakes.joined(log.parts)
    if memory.ballots is not None and len(mistakes.rows):
        memory.ballots.append(Ballot.of(blocks, mistakes))
    return mistakes


def _check_goes_on(memory: Memory, n_columns: int, vote: bool = False) -> None:
    if n_columns != memory.n_columns:
        raise ValueError(f"X has {n_columns} columns, but the weights were learned on {memory.n_columns}")
    if vote and memory.ballots is None:
        raise ValueError('a vote needs all mistakes, and earlier ones were not kept: start anew with readout="vote"')


def check_labels(y: ArrayLike, n_rows: int, n_classes: int) -> NDArray[Any]:
    """Labels as a kernel wants them: -1 and +1 for two classes, 0, 1, ... for more."""
    labels = checked_labels(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}, but X has {n_rows} rows: one label a row is needed")
    if n_rows == 0:
        raise ValueError("X has no rows: there is nothing to learn from")
    if labels.dtype.kind not in "biuf":
        known = (-1, 1) if n_classes == 2 else range(n_classes)
        good = np.array([label in known for label in labels.tolist()])
    else:
        good = (labels == 1) | (labels == -1) if n_classes == 2 else (labels >= 0) & (labels < n_classes)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        wanted = "-1 and +1" if n_classes == 2 else f"0 to {n_classes - 1}"
        raise ValueError(f"label {labels.tolist()[row]!r} in row {row} is none of {wanted}")
    return np.ascontiguousarray(labels, dtype=_label_type(n_classes))


def _label_type(n_classes: int) -> np.dtype[Any]:
    return np.dtype(np.int8 if n_classes == 2 else np.int64)


def check_choices(**choices: Any) -> None:
    """Say which parameter is wrong, and what it may be."""
    if choices.get("readout", "last") not in READOUTS:
        raise ValueError(f"readout={choices['readout']!r} is unknown; choose one of {', '.join(READOUTS)}")
    if choices.get("tie", "mistake") not in TIES:
        raise ValueError(f"tie={choices['tie']!r} is unknown; choose one of {', '.join(TIES)}")
    epochs = choices.get("max_epochs")
    if epochs is not None and (isinstance(epochs, bool) or int(epochs) != epochs or epochs < 1):
        raise ValueError(f"max_epochs={epochs!r} must be a whole number of at least 1, or None for no limit")
    for name in ("min_margin", "time_limit", "learning_rate"):
        value = choices.get(name)
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"{name}={value!r} must be a positive number")
