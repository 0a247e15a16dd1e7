"""The perceptron of the notes: on a mistake, add the example.

`perceptron` is the batch algorithm, `learn_online` one pass in the order given. Both keep a `LinearMemory`: the
weights, which are the sum of the mistakes, and the little that read-outs and proofs need beside them. Examples come as
arrays, or as `Examples`, in blocks that need not be in memory all at once. None of this knows of scikit-learn.

Binary labels are -1 and +1. With more than two classes labels are 0, 1, ..., and Kesler's construction applies: add the
example to the weights of its class, subtract it from those of the best other class. Each such step is a binary mistake
on a vector of length sqrt(2) ||x||, hence the bound 2 (R/gamma)^2, with gamma the smallest lead of the right class
over another under weights with ||W|| = 1 (Frobenius).

With `lead` = tau an example also counts if it is right by no more than tau R^2, or 2 tau R^2 ahead of its rival: R is
the longest example so far, this one included. Then there are at most (1 + 2 tau) (R/gamma)^2 updates (twice as many),
and weights under which none is left have a margin of at least gamma tau/(1 + 2 tau)."""

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.examples import Block, Examples
from novikoff.data.narrow import narrow, used_columns
from novikoff.data.order import POOL, Order, block_order, given_order, random_order
from novikoff.engine.linear import Rule, Updates, multiclass_epoch
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.rows import Rows, as_rows, folded_squares, longest_square
from novikoff.engine.slack import Ahead
from novikoff.learn.class_weights import (
    ExampleWeights,
    class_weights,
    multiplied_squares,
    sample_weights,
    weights_of_rows,
)
from novikoff.learn.cycles import MOST_COUNTED, Cycle, next_look, vanishes
from novikoff.learn.epochs import Epochs, Learner, Watch, Watcher, put_off_interrupt
from novikoff.learn.fit import Fitted, Space, fit
from novikoff.learn.linear.memory import LinearMemory, columns_to_keep, decider
from novikoff.learn.linear.vote import Ballot, LinearMistakes
from novikoff.learn.run import Stopped
from novikoff.options import Options, Readout, Tie, check_options

# Between two calls of a kernel the clock is read and Ctrl-C is heard.
STEPS_PER_CALL = 1 << 16

# How many entries to keep among the columns that have weights, where not all columns have.
HELD_ENTRIES = 1 << 24


@dataclass(frozen=True)
class Linear(Space):
    """The space of the linear perceptron: examples are added coordinate by coordinate.

    `weights` are those of the classes, if they have some.
    """

    weights: ExampleWeights = None

    def over(self, examples: Examples, options: Options) -> "Linear":
        return Linear(class_weights(options.class_weight, examples.classes, examples.counts))

    def learner(self, examples: Examples, options: Options, start: LinearMemory | None = None) -> "LinearLearner":
        vote, lead = options.readout == "vote", options.lead
        if start is None:
            memory = empty_memory(examples, options.fit_intercept, vote, self.weights)
        else:
            memory = start.copy()
            _check_goes_on(memory, examples.n_columns, vote, self.weights)
            _make_room(memory, examples)
        generator = np.random.default_rng(options.random_state) if options.shuffle else None
        task = (examples, memory, options.tie, generator, options.epochs, options.record_mistakes, float(lead))
        return LinearLearner(*task)


def perceptron(
    X: Any,
    y: ArrayLike | None = None,
    *,
    n_classes: int = 2,
    sample_weight: Any = None,
    start: LinearMemory | None = None,
    watch: Watcher | None = None,
    progress: Callable[[LinearMemory], None] | None = None,
    **options: Any,
) -> Fitted:
    """The batch perceptron: epochs until one makes no mistake. The options are those of `novikoff.options`.

    Without y, X is `Examples` (`novikoff.data.examples`), which have labels; one block is in use at a time. With
    `shuffle` the blocks come in random order, and the rows of each too; one block is shuffled as an array is.

    It also stops after `max_iter` epochs (None: no limit), after `time_limit` seconds, or as soon as ||w||/k <
    `min_margin`, which proves that no separator has that margin. Ctrl-C ends the run, not the program: what was learned
    so far is returned, with `Stopped.INTERRUPTED` in the record. With `start`, learning goes on from that memory.

    With a `lead` it learns from narrow examples, too, and `tie` does not matter; `docs/theory/lead.md` has the proofs.
    `class_weight` and `sample_weight` multiply the examples of a class, and each row, by numbers before they are
    learned. What is proved is proved of these examples.

    Theorem (Block 1962, Novikoff 1962): with examples of length at most R that some unit vector separates with margin
    gamma, it makes at most (R/gamma)^2 mistakes, in any order.

    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> learned = perceptron(X, [-1, 1, 1, -1, -1, 1], fit_intercept=False, shuffle=False, readout="last")
    >>> learned.memory.weights.tolist()
    [[3.0, 1.0, 0.0]]
    >>> learned.run.mistakes, learned.run.stopped.name
    (3, 'NO_MISTAKES')
    """
    asked = Options.of(options, "perceptron")
    examples = weighted_examples(_as_examples(X, y, n_classes), sample_weight)
    if y is not None and (asked.lead == "auto" or asked.early_stopping or asked.held_out is not None):
        for rows in _rows_of(examples):  # rows that are held out are numbered anew, so look for bad numbers before
            longest_square(rows, float(asked.fit_intercept))
    return fit(examples, Linear(), asked, start=start, watch=watch, progress=progress)


def empty_memory(examples: Examples, fit_intercept: bool, vote: bool, weights: ExampleWeights = None) -> LinearMemory:
    """What to learn examples into."""
    n_columns, n_classes = examples.n_columns, len(examples.classes)
    columns = columns_to_keep(_rows_of(examples), n_columns, examples.n_entries, n_classes)
    memory = LinearMemory.empty(n_columns, n_classes, fit_intercept=fit_intercept, vote=vote, columns=columns)
    return replace(memory, class_weights=weights)


def _as_examples(X: Any, y: ArrayLike | None, n_classes: int) -> Examples:
    """Examples as they are; rows and their labels as one block of them."""
    if y is not None:
        return Examples.in_blocks([(as_rows(X, any_order=True).without_repeats(), y)], n_classes)
    if not isinstance(X, Examples):
        raise ValueError("y is missing: without labels, X must be Examples, which have them")
    return X


def weighted_examples(examples: Examples, sample_weight: Any) -> Examples:
    """The same examples, each with its weight."""
    weights = sample_weights(sample_weight, examples.n_rows)
    return examples if weights is None else replace(examples, weights=weights)


def _rows_of(examples: Examples) -> Iterator[Rows]:
    return (block.rows for block in examples.blocks())


def _make_room(memory: LinearMemory, examples: Examples) -> None:
    """Give every column of the examples a weight, where not all columns have one already."""
    if memory.columns is not None:
        memory.make_room(used_columns(_rows_of(examples)))


def learn_online(
    memory: LinearMemory,
    X: Any,
    y: ArrayLike,
    *,
    tie: Tie = "mistake",
    lead: float = 0.0,
    record_mistakes: bool = False,
    sample_weight: Any = None,
) -> LinearMistakes | None:
    """Learn the rows in the order given, once, into `memory`. Nothing is changed if anything is wrong with them."""
    check_options(tie=tie, lead=lead)
    examples = weighted_examples(_as_examples(X, y, memory.n_classes), sample_weight)
    _check_goes_on(memory, examples.n_columns)
    space = LinearLearner(examples, memory, tie, None, 1, keep=record_mistakes, lead=lead)
    space.measure(examples.block(0))
    _make_room(memory, examples)
    if memory.n_classes < 2:
        memory.examples += examples.n_rows  # one label so far: there is no other to be mistaken for
    else:
        with put_off_interrupt():
            space.learn(Watch())
    space.settle()
    return space.mistakes()


def grow(memory: LinearMemory, places: list[int], n_classes: int) -> LinearMemory:
    """The same memory with room for more classes; the old ones move to `places` in the new order.

    Two classes share one weight vector w; apart, they have -w and +w. A class not seen before has the weights 0, which
    are also its past, so averages need no correction.
    """
    constant, columns = memory.constant == 1.0, memory.columns
    grown = LinearMemory.empty(memory.n_columns, n_classes, fit_intercept=constant, columns=columns)
    for old, new in ((memory.weights, grown.weights), (memory.drift, grown.drift)):
        if n_classes > 2 and memory.n_classes == 2:
            new[places] = np.vstack([-old, old])
        elif memory.n_classes > 2:
            new[places] = old
    if memory.ballots is not None:
        grown.ballots = [replace(part, mistakes=part.mistakes.renamed(places)) for part in memory.ballots]
    if memory.class_weights is not None:
        raise ValueError("class_weight needs to know all classes; name them by classes= on the first partial_fit")
    for name in ("examples", "mistakes", "narrow", "lead", "longest", "mixed"):
        setattr(grown, name, getattr(memory, name))
    return grown


@dataclass
class LinearLearner(Learner):
    """Examples that are added coordinate by coordinate: the space of the linear perceptron.

    Without a generator they come in the order given. To `keep` the mistakes, `parts` has them call by call, and `kept`
    those that the memory has, too. R^2 grows as blocks are visited for the first time. That is enough: what it bounds
    depends on examples that came already. A lead goes by `so_far`, the R^2 of the examples that were visited. Epochs
    are learned `one_by_one` where somebody looks at every one.
    """

    examples: Examples
    history: LinearMemory
    tie: Tie
    generator: np.random.Generator | None
    max_iter: int | None
    keep: bool = False
    lead: float = 0.0
    parts: list[LinearMistakes] = field(default_factory=list)
    kept: list[LinearMistakes] = field(default_factory=list)
    measured: set[int] = field(default_factory=set)
    met: set[int] = field(default_factory=set)
    narrow: dict[int, Rows] = field(default_factory=dict)
    ahead: dict[int, Ahead] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.epochs = Epochs(self.examples.n_rows)
        self.keep = self.keep or self.history.ballots is not None
        self.began = self.history.examples
        self.so_far = self.history.longest
        self.mistaken = np.zeros(self.examples.n_rows, dtype=np.bool_)
        self.weighted = self.history.class_weights is not None or self.examples.weights is not None
        self.history.weighted = self.history.weighted or self.weighted
        repeats = self.generator is None and self.max_iter != 1 and not self.weighted
        self.returning = CountedRows.of(self.examples, self.history) if repeats else None

    def measure(self, block: Block) -> None:
        """Let the longest row of a block count, and refuse numbers that cannot be learned from."""
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
        """A block among the columns that have weights. Looking these up takes longer than learning, so what has few
        entries is kept."""
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
        decides = decider(self.history, readout)

        def wrong(block: Block) -> NDArray[np.bool_]:
            if examples is self.examples:
                self.measure(block)
            return decides.classes(block.rows) != examples.places_of(block.labels)

        return np.concatenate([wrong(block) for block in examples.blocks()])

    def validation_errors(self, examples: Examples, readout: Readout) -> int:
        return int(np.count_nonzero(self.wrong(examples, readout)))

    def error_weights(self, examples: Examples) -> NDArray[np.float64] | None:
        weights, own = self.history.class_weights, examples.weights
        if weights is None:
            return own
        return weights_of_rows(weights, np.concatenate([examples.places_of(b.labels) for b in examples.blocks()]), own)

    def counts(self, readout: Readout, stopped: Stopped) -> dict[str, Any]:
        wrong = self.wrong(self.examples, readout)
        mixed = self.examples.n_blocks > 1 or self.examples.n_rows > POOL
        return {
            "errors": int(wrong.sum()),
            "order": "given" if self.generator is None else "mixed" if mixed else "random",
            "mistaken_rows": int(self.mistaken.sum()),
            "errors_elsewhere": int((wrong & ~self.mistaken).sum()),
            "encoded": self.examples.is_encoded,
        }

    def settle(self) -> None:
        """After the first epoch without a mistake, examples that were visited nevertheless do not count."""
        if self.epochs.flawless is not None:
            self.history.examples = self.began + (self.epochs.flawless + 1) * self.epochs.n_rows
        self._log()

    def learn(self, watch: Watch) -> Stopped | None:
        """Visit all blocks; several epochs at a time only with one block."""
        if not self.examples.n_rows:  # of a shard, all rows may be held out
            return None
        epochs = self._epochs_at_once()
        for number in block_order(self.examples.n_blocks, self.generator):
            stopped = self._visit_block(number, epochs, watch)
            if stopped is not None:
                return stopped
        return None

    def _epochs_at_once(self) -> int:
        """How many epochs to order in one go: on few rows twice as many as before, because a call costs more than a
        row. An epoch too many does no harm: after one without a mistake, nothing changes any more.
        """
        n_rows, done = self.examples.n_rows, self.epochs.begun
        few = self.examples.n_blocks == 1 and n_rows <= POOL and not self.one_by_one
        most = min(done + 1, max(1, STEPS_PER_CALL // n_rows)) if few else 1
        if self.returning is not None:
            most = min(most, next_look(done, n_rows) - done)
        return most if self.max_iter is None else min(most, self.max_iter - done)

    def _visit_block(self, number: int, epochs: int, watch: Watch) -> Stopped | None:
        """On return the block is let go, before the next one is mapped."""
        block = self.examples.block(number)
        self.measure(block)
        lengths = self._new_lengths(block)
        block = self._narrowed(block)
        rows, generator = block.rows, self.generator
        if generator is None:
            order = given_order(rows.n_rows, rows.ahead, epochs)
        else:
            order = random_order(rows.n_rows, generator, rows.bytes_per_row, epochs)
        return self._visit(block, order, lengths, watch)

    def _new_lengths(self, block: Block) -> NDArray[np.float64]:
        """The squared lengths of rows that are seen for the first time, if a lead goes by them."""
        if not self.lead or block.first in self.met:
            return np.empty(0)
        self.met.add(block.first)
        return self._lengths(block)

    def _lengths(self, block: Block) -> NDArray[np.float64]:
        """The squared lengths of rows, times their weights if they have some."""
        return multiplied_squares(folded_squares(block.rows, self.history.constant), self._weights(block))

    def _weights(self, block: Block) -> ExampleWeights:
        """The numbers by which rows are multiplied, if they are."""
        own = self.examples.weights
        own = None if own is None else own[block.first : block.first + block.rows.n_rows]
        return weights_of_rows(self.history.class_weights, self.examples.places_of(block.labels), own)

    def _rule(self, rows: Rows) -> Rule:
        memory = self.history
        memory.lead = max(memory.lead, float(self.lead))
        sizes = math.sqrt(memory.vector_square) * math.sqrt(memory.step_square)
        doubt = 4.0 * (rows.widest + 2) * UNIT_ROUNDOFF * sizes
        return Rule(memory.constant, self.lead > 0 or self.tie == "mistake", doubt, float(self.lead))

    def _visit(self, block: Block, order: Order, lengths: NDArray[np.float64], watch: Watch) -> Stopped | None:
        """Visit the rows in the given order, call by call."""
        memory, (rows, labels, first) = self.history, block
        rule, binary = self._rule(rows), memory.n_classes == 2
        of_rows = self._weights(block)
        signs = labels * of_rows if binary and of_rows is not None else labels
        amounts = np.empty(0) if of_rows is None else of_rows
        weights, drift = _in_kernel_layout(memory, rows.is_sparse)
        at = np.empty(min(STEPS_PER_CALL, len(order.visit)), dtype=np.uint32)
        narrow = np.zeros(len(at), dtype=np.bool_)
        rivals = np.empty(0 if binary else len(at), dtype=np.int64)
        ahead = self._ahead_on(block, weights)
        step = 0
        while step < len(order.visit):
            steps = slice(step, step + STEPS_PER_CALL)
            visit = order.visit[steps]
            found = Updates(at[: watch.patience(memory, STEPS_PER_CALL)], narrow, rivals)
            rule = rule._replace(longest=self.so_far)
            task = (rows.matrix, signs, Order(visit, order.soon[steps]), rule, lengths, memory.examples, memory.updates)
            if binary:
                seen, made = ahead.epoch(*task, weights, drift, found)
            else:
                seen, made = multiclass_epoch(*task, weights, drift, found, amounts)
            self._meet(first, lengths, visit[:seen])
            self.epochs.count(at[:made], seen, narrow[:made])
            if made:
                self._note(block, visit, at[:made], rivals[:made], amounts)
            spared = int(np.count_nonzero(narrow[:made]))
            memory.examples += seen
            memory.mistakes += made - spared
            memory.narrow += spared
            step += seen
            reason = watch.reason_to_stop(memory)
            if reason is not None:
                return reason
        return None

    def _ahead_on(self, block: Block, weights: NDArray[np.float64]) -> Ahead:
        """What looks ahead on a block; another pass over it begins."""
        ahead = self.ahead.get(block.first)
        if ahead is None:
            ahead = Ahead(
                block.rows,
                shuffled=self.generator is not None,
                n_rows_in_all=self.examples.n_rows,
                weighted=self.weighted,
            )
            self.ahead[block.first] = ahead
        ahead.begin(weights)
        return ahead

    def _meet(self, first: int, lengths: NDArray[np.float64], visited: NDArray[Any]) -> None:
        """Let R grow with the rows that were visited. Where it did, the rows before were held to a smaller lead, and an
        epoch without an update does not end the run; and the rows that it grew by have their say in what is learned."""
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
        if self.returning is not None:
            self.returning.count(rows, rivals)
        if not self.keep:
            return
        labels, times = block.labels[visited[at]], self.history.examples + at.astype(np.int64)
        if not len(rivals):  # two classes, labelled -1 and +1: each is the other's rival
            labels, rivals = (labels + 1) // 2, (1 - labels) // 2
        right, wrong = labels.astype(np.int64), rivals.astype(np.int64)
        of_each = amounts[visited[at]] if len(amounts) else np.ones(len(rows))
        self.parts.append(LinearMistakes(rows, times, right, wrong, of_each))

    def _log(self) -> None:
        """Bring the mistakes so far to the memory, if there is to be a vote."""
        if self.history.ballots is not None and self.parts:
            self.history.ballots.append(Ballot.of(self.examples, LinearMistakes.joined(self.parts)))
        self.kept.extend(self.parts)
        self.parts.clear()

    def mistakes(self) -> LinearMistakes | None:
        return LinearMistakes.joined([*self.kept, *self.parts]) if self.keep else None


def _in_kernel_layout(memory: LinearMemory, sparse: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The memory's own arrays as a kernel wants them; sparse rows meet the weights of all classes side by side."""
    if memory.n_classes == 2:
        return memory.weights[0], memory.drift[0]
    if not sparse:
        memory.weights, memory.drift = np.ascontiguousarray(memory.weights), np.ascontiguousarray(memory.drift)
        return memory.weights, memory.drift
    memory.weights, memory.drift = np.asfortranarray(memory.weights), np.asfortranarray(memory.drift)
    return memory.weights.T, memory.drift.T


def _check_goes_on(memory: LinearMemory, n_columns: int, vote: bool = False, weights: ExampleWeights = None) -> None:
    if n_columns != memory.n_columns:
        raise ValueError(f"X has {n_columns} columns, but the weights were learned on {memory.n_columns}")
    if weights is not None and (memory.class_weights is None or (weights != memory.class_weights).any()):
        raise ValueError("class_weight cannot change while learning goes on; start anew with other weights")
    if vote and memory.ballots is None:
        raise ValueError('a vote needs all mistakes, and earlier ones were not kept: start anew with readout="vote"')


Numbers = NDArray[np.int64]


class CountedRows:
    """How often each row was a mistake; with more than two classes, against each rival."""

    def __init__(self, examples: Examples, memory: LinearMemory) -> None:
        self.examples, self.memory = examples, memory
        self.n_rivals = 1 if memory.n_classes <= 2 else memory.n_classes
        self.counts = np.zeros(examples.n_rows * self.n_rivals, dtype=np.int64)

    @classmethod
    def of(cls, examples: Examples, memory: LinearMemory) -> "CountedRows | None":
        """None if there are too many to count."""
        return cls(examples, memory) if examples.n_rows * memory.n_classes <= MOST_COUNTED else None

    def count(self, rows: Numbers, rivals: Numbers) -> None:
        np.add.at(self.counts, rows if self.n_rivals == 1 else rows * self.n_rivals + rivals, 1)

    def weights_hash(self) -> int:
        digest = hashlib.blake2b(self.memory.weights.tobytes(), digest_size=8).digest()
        return int.from_bytes(digest, "big")  # the same in every process, so that a run can go on in another

    def count_anew(self) -> None:
        self.counts[:] = 0

    def cancelled(self, since: int, until: int, watch: Watch) -> Cycle | None:
        places = np.flatnonzero(self.counts)
        times, (rows, rivals) = self.counts[places], np.divmod(places, self.n_rivals)
        block = self.examples.take(rows)
        labels = block.labels.astype(np.int64)
        if self.n_rivals == 1:
            is_zero, names = self._vanish(block.rows, labels * times, watch), None
        else:  # for the weights of each class: added where it is the right one, subtracted where it is the rival
            signs = ((labels == c).astype(np.int64) - (rivals == c) for c in range(self.n_rivals))
            is_zero = all(self._vanish(block.rows, sign * times, watch) for sign in signs)
            names = tuple(self.examples.classes[rivals].tolist())
        return Cycle(since, until, tuple(rows.tolist()), tuple(times.tolist()), names) if is_zero else None

    def _vanish(self, rows: Rows, times: Numbers, watch: Watch) -> bool:
        """Whether rows, each so many times, add up to exactly 0, and it is known before it gets late."""
        if self.memory.constant and times.sum() != 0:
            return False
        if not rows.is_sparse:
            return all(
                not watch.is_over() and vanishes(column, times.tolist()) for column in rows.as_array().T.tolist()
            )
        columns = narrow(rows, used_columns([rows])).as_scipy().tocsc()
        parts = (slice(*ends) for ends in pairwise(columns.indptr.tolist()))
        return all(
            not watch.is_over() and vanishes(columns.data[part].tolist(), times[columns.indices[part]].tolist())
            for part in parts
        )
