"""The learner in the space of the linear perceptron: rows are learned into weights, block by block."""

import hashlib
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.examples import Block, Examples
from novikoff.data.order import POOL, Order, block_order, given_order, random_order
from novikoff.engine.linear import Rule, Updates, multiclass_epoch
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.rows import Rows, folded_squares, longest_square
from novikoff.engine.slack import Ahead
from novikoff.learn.class_weights import ExampleWeights, multiplied_squares, weights_of_rows
from novikoff.learn.epochs import MOST_COUNTED, Learner, Watch, cancel, next_look
from novikoff.learn.linear.memory import LinearMemory, decider
from novikoff.learn.linear.vote import Ballot, LinearMistakes
from novikoff.learn.run import Cycle, Stopped
from novikoff.options import Readout

# The clock and Ctrl-C are checked between two calls of a kernel.
STEPS_PER_CALL = 1 << 16

# How many entries of renumbered rows to cache, where not all columns have weights.
HELD_ENTRIES = 1 << 24

Numbers = NDArray[np.int64]


@dataclass
class LinearLearner(Learner):
    """A learner that adds examples coordinate by coordinate: the space of the linear perceptron.

    `parts` has the mistakes call by call, if they are kept, and `logged` those that the memory has, too. R^2 grows as
    blocks are `measured` when they are visited for the first time, which is enough: what it bounds depends on earlier
    examples. A lead is relative to `so_far`, the R^2 of the examples visited, in blocks that were `met`.
    """

    examples: Examples
    history: LinearMemory
    measured: set[int] = field(default_factory=set)
    met: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__post_init__()
        memory = self.history
        self.keep = self.keep or memory.ballots is not None
        self.began, self.so_far = memory.examples, memory.longest
        self.mistaken = np.zeros(self.examples.n_rows, dtype=np.bool_)
        self.weighted = memory.class_weights is not None or self.examples.weights is not None
        repeats = self.generator is None and self.options.max_iter != 1 and not self.weighted
        self.can_return = repeats and self.examples.n_rows * memory.n_classes <= MOST_COUNTED
        self.parts: list[LinearMistakes] = []
        self.logged: list[LinearMistakes] = []
        self.narrow: dict[int, Rows] = {}
        self.ahead: dict[int, Ahead] = {}

    def measure(self, block: Block) -> None:
        """Update R with the longest row of a block, and refuse numbers that cannot be learned from."""
        if block.first in self.measured:
            return
        try:
            longest = longest_square(block.rows, self.history.constant)
            if self.weighted:
                longest = float(self._lengths(block).max(initial=0.0))
            self.history.longest = max(self.history.longest, longest)
        except ValueError as error:
            if self.examples.n_blocks == 1:
                raise
            raise ValueError(f"in the block of rows that begins with row {block.first}: {error}") from error
        self.measured.add(block.first)

    def _narrowed(self, block: Block) -> Block:
        """A block restricted to the columns that have weights. Looking these up takes longer than learning, so small
        blocks are cached."""
        if self.history.columns is None:
            return block
        rows = self.narrow.get(block.first)
        if rows is None:
            rows = self.history.fitting(block.rows)
            if sum(part.n_entries for part in self.narrow.values()) + rows.n_entries <= HELD_ENTRIES:
                self.narrow[block.first] = rows
        return block._replace(rows=rows)

    def wrong(self, examples: Examples, readout: Readout) -> NDArray[np.bool_]:
        self._log()
        decides, found = decider(self.history, readout), []
        for block in examples.blocks():
            if examples is self.examples:
                self.measure(block)
            found.append(decides.classes(block.rows) != examples.places_of(block.labels))
        return np.concatenate(found)

    def error_weights(self, examples: Examples) -> Any:
        places = np.concatenate([examples.places_of(block.labels) for block in examples.blocks()])
        weights = weights_of_rows(self.history.class_weights, places, examples.weights)
        return 1.0 if weights is None else weights

    def counts(self, readout: Readout, stopped: Stopped) -> dict[str, Any]:
        wrong = self.wrong(self.examples, readout)
        mixed = self.examples.n_blocks > 1 or self.examples.n_rows > POOL
        return self.determined(wrong, self.mistaken, mixed=mixed) | {"encoded": self.examples.is_encoded}

    def settle(self) -> None:
        """Subtract the examples that were visited after the first epoch without a mistake."""
        if self.epochs.flawless is not None:
            self.history.examples = self.began + (self.epochs.flawless + 1) * self.epochs.n_rows
        self._log()

    def learn(self, watch: Watch) -> Stopped | None:
        """Visit all blocks; several epochs in one call only if there is one block."""
        if not self.examples.n_rows:  # all rows of a shard may be held out
            return None
        if self.history.n_classes < 2:  # no mistake is possible
            for block in self.examples.blocks():
                self.measure(block)
            self.history.examples += self.examples.n_rows
            return None
        epochs = self._epochs_at_once()
        order = block_order(self.examples.n_blocks, self.generator)
        # A block is released before the next one is mapped.
        found = (self._visit(self.examples.block(number), epochs, watch) for number in order)
        return next((stopped for stopped in found if stopped is not None), None)

    def _epochs_at_once(self) -> int:
        """How many epochs to order in one call: on few rows twice as many as before, because a call costs more than a
        row. An epoch too many does no harm: after one without a mistake, nothing changes.
        """
        n_rows, done, max_iter = self.examples.n_rows, self.epochs.begun, self.options.epochs
        few = self.examples.n_blocks == 1 and n_rows <= POOL and not self.one_by_one
        most = min(done + 1, max(1, STEPS_PER_CALL // n_rows)) if few else 1
        if self.can_return:
            most = min(most, next_look(done, n_rows) - done)
        return most if max_iter is None else min(most, max_iter - done)

    def _lengths(self, block: Block) -> NDArray[np.float64]:
        return multiplied_squares(folded_squares(block.rows, self.history.constant), self._weights(block))

    def _weights(self, block: Block) -> ExampleWeights:
        if not self.weighted:
            return None
        own = self.examples.weights
        own = None if own is None else own[block.first : block.first + block.rows.n_rows]
        return weights_of_rows(self.history.class_weights, self.examples.places_of(block.labels), own)

    def _visit(self, block: Block, epochs: int, watch: Watch) -> Stopped | None:
        """Visit the rows of a block, in the given order or in a random one, call by call."""
        self.measure(block)
        lengths = np.empty(0)
        if self.lead and block.first not in self.met:  # a lead needs the lengths of rows seen for the first time
            self.met.add(block.first)
            lengths = self._lengths(block)
        block = self._narrowed(block)
        memory, (rows, labels, first), n_rows = self.history, block, block.rows.n_rows
        order = random_order(n_rows, self.generator, epochs) if self.generator else given_order(n_rows, epochs)
        memory.lead, memory.weighted = max(memory.lead, self.lead), memory.weighted or self.weighted
        sizes = math.sqrt(memory.vector_square) * math.sqrt(memory.step_square)
        doubt = 4.0 * (rows.widest + 2) * UNIT_ROUNDOFF * sizes
        rule = Rule(memory.constant, self.lead > 0 or self.options.tie == "mistake", doubt, self.lead)
        binary, of_rows = memory.n_classes == 2, self._weights(block)
        signs = labels * of_rows if binary and of_rows is not None else labels
        amounts = np.empty(0) if of_rows is None else of_rows
        weights, drift = _in_kernel_layout(memory, rows.is_sparse)
        at = np.empty(min(STEPS_PER_CALL, len(order.visit)), dtype=np.uint32)
        narrow = np.zeros(len(at), dtype=np.bool_)
        rivals = np.empty(0 if binary else len(at), dtype=np.int64)
        if first not in self.ahead:
            how = {"shuffled": self.generator is not None, "weighted": self.weighted}
            self.ahead[first] = Ahead(rows, n_rows_in_all=self.examples.n_rows, **how)
        ahead = self.ahead[first]
        ahead.begin(weights)
        step = 0
        while step < len(order.visit):
            steps = slice(step, step + STEPS_PER_CALL)
            visit = order.visit[steps]
            found = Updates(at[: watch.patience(memory, STEPS_PER_CALL)], narrow, rivals)
            rule = rule._replace(longest=self.so_far)
            task = (rows.matrix, signs, Order(visit), rule, lengths, memory.examples, memory.updates)
            if binary:
                seen, made = ahead.epoch(*task, weights, drift, found)
            else:
                seen, made = multiclass_epoch(*task, weights, drift, found, amounts)
            self._meet(first, lengths, visit[:seen])
            self.epochs.count(at[:made], seen, narrow[:made])
            self._note(block, visit, at[:made], rivals[:made], amounts)
            spared = int(np.count_nonzero(narrow[:made]))
            memory.examples += seen
            memory.mistakes += made - spared
            memory.narrow += spared
            step += seen
            if (reason := watch.reason_to_stop(memory)) is not None:
                return reason
        return None

    def _meet(self, first: int, lengths: NDArray[np.float64], visited: NDArray[Any]) -> None:
        """Increase R with the rows visited. If it grew, the rows before had a smaller lead, and an epoch without an
        update does not end the run; and the rows that increased it are among those that determine the run."""
        if not len(lengths):
            return
        before = np.maximum.accumulate(np.concatenate([[self.so_far], lengths[visited]]))
        longer = visited[np.flatnonzero(np.diff(before))].astype(np.int64)
        if len(longer):
            self.mistaken[first + longer] = True
            self.so_far, self.epochs.settled = float(before[-1]), 1

    def _note(
        self, block: Block, visited: NDArray[Any], at: NDArray[Any], rivals: NDArray[Any], amounts: NDArray[np.float64]
    ) -> None:
        rows = block.first + visited[at].astype(np.int64)
        self.mistaken[rows] = True
        if not self.keep or not len(at):
            return
        labels, times = block.labels[visited[at]], self.history.examples + at.astype(np.int64)
        if not len(rivals):  # two classes, labelled -1 and +1: each is the other's rival
            labels, rivals = (labels + 1) // 2, (1 - labels) // 2
        right, wrong = labels.astype(np.int64), rivals.astype(np.int64)
        of_each = amounts[visited[at]] if len(amounts) else np.ones(len(rows))
        self.parts.append(LinearMistakes(rows, times, right, wrong, of_each))

    def _log(self) -> None:
        """Move the mistakes so far to the memory, if there is to be a vote."""
        if self.history.ballots is not None and self.parts:
            self.history.ballots.append(Ballot.of(self.examples, LinearMistakes.joined(self.parts)))
        self.logged.extend(self.parts)
        self.parts.clear()

    def mistakes(self) -> LinearMistakes | None:
        return LinearMistakes.joined([*self.logged, *self.parts]) if self.keep else None

    def weights_hash(self) -> int:
        digest = hashlib.blake2b(self.history.weights.tobytes(), digest_size=8).digest()
        return int.from_bytes(digest, "big")  # the same in every process, so that a run can resume in another

    def cycle(self, made: LinearMistakes, since: int, until: int, watch: Watch) -> Cycle | None:
        return cycle_of(self.examples, self.history, made.rows, made.wrong, since, until, watch)


def _in_kernel_layout(memory: LinearMemory, sparse: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The memory's own arrays as a kernel takes them; for sparse rows the weights of all classes side by side."""
    if memory.n_classes == 2:
        return memory.weights[0], memory.drift[0]
    if not sparse:
        memory.weights, memory.drift = np.ascontiguousarray(memory.weights), np.ascontiguousarray(memory.drift)
        return memory.weights, memory.drift
    memory.weights, memory.drift = np.asfortranarray(memory.weights), np.asfortranarray(memory.drift)
    return memory.weights.T, memory.drift.T


def cycle_of(
    examples: Examples, memory: LinearMemory, rows: Numbers, rivals: Numbers, since: int, until: int, watch: Watch
) -> Cycle | None:
    """The mistakes on these rows, if they cancel; with more than two classes each for its rival."""
    binary, n_classes = memory.n_classes <= 2, memory.n_classes
    places, times = np.unique(rows if binary else rows * n_classes + rivals, return_counts=True)
    rows, rivals = (places, places) if binary else np.divmod(places, n_classes)
    block = examples.take(rows)
    labels = block.labels.astype(np.int64)
    if binary:
        signs, names = [labels], None
    else:  # for the weights of each class: added where it is the right one, subtracted where it is the rival
        signs = [(labels == c).astype(np.int64) - (rivals == c) for c in range(n_classes)]
        names = tuple(examples.classes[rivals].tolist())
    for sign in signs:
        if not _vanish(block.rows, sign * times, bool(memory.constant), watch):
            return None
    return Cycle(since, until, tuple(rows.tolist()), tuple(times.tolist()), names)


def _vanish(rows: Rows, times: Numbers, folded: bool, watch: Watch) -> bool:
    """Whether rows, with their multiplicities, add up to exactly 0; False also if time runs out."""
    entries = rows.as_sparse().as_scipy().tocoo()
    columns, values = entries.col.tolist(), entries.data.tolist()
    adds_up = zip(columns, values, times[entries.row].tolist(), strict=True)
    return not (folded and times.sum()) and cancel(adds_up, watch)
