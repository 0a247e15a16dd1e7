"""The structured perceptron on label sequences (Collins 2002): decode with Viterbi, and correct mistakes.

The guess is the label sequence with the largest sum of emission weights (token's features x label) and of links (label
after label, first and last label). If it is wrong, add the features of the right sequence and subtract those of the
guess: the perceptron's own step on the difference d of two feature vectors. So Novikoff's proof holds word for word,
with R the longest such difference and gamma the smallest lead <u, d> that some unit vector u gives the right sequence
over every other one. Of tied sequences Viterbi takes one, and if that is the right one there is no mistake
(`tie="predict"`, elsewhere): so weights that make no mistake need not separate.

With a `cost`, every wrong label adds that much to a score while training. A guess then has <w, d> <= cost x n, where n
is the length of its sequence, so there are at most (R^2 + 2 cost n)/gamma^2 mistakes. With a `lead` tau, the right
sequence must be ahead of the second best one by more than tau R^2.
"""

import math
import time
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.order import POOL, random_order
from novikoff.engine.chain import Demand, Drift, sequence_epoch
from novikoff.engine.emissions import FIRST_POOL, MOST_LABELS, MOST_PLACES, Emissions, twice_as_long
from novikoff.engine.threads import over_rows
from novikoff.engine.viterbi import Links, Scratch, Weights, best_paths, label_sequences, searched
from novikoff.features.tokens import Tokens
from novikoff.learn.epochs import MOST_COUNTED, RECORDED_EPOCHS, Learner, Watch, Watcher, cancel
from novikoff.learn.fit import Fitted, Parted, Space, fit
from novikoff.learn.run import Cycle, GuessedMistakes, History, Run, Stopped
from novikoff.options import Options

# Enough for most corpora. Zeros take no memory before they are touched, but a pool that grows is there twice.
PLACES_PER_FEATURE = 8


@dataclass
class ChainMemory(History):
    """The memory of a chain: the sum of its mistakes, and the drift from which the average follows.

    `is_whole` if all features are whole numbers, so that no comparison was rounded.
    """

    weights: Weights
    drift: Drift
    mistakes: int = 0
    is_whole: bool = True

    @classmethod
    def empty(cls, n_features: int, n_labels: int, allowed: NDArray[np.bool_] | None = None) -> "ChainMemory":
        """An empty memory; links that are not `allowed` (a square table: labels, then the boundary) stay forbidden."""
        table = np.zeros((n_labels + 1, n_labels + 1))
        if allowed is not None:
            table[~allowed] = -np.inf
        emissions = Emissions.none(n_features, _places(n_features))
        drift = Drift(np.zeros(emissions.values.size), np.zeros_like(table))
        return cls(Weights(emissions, Links.of(table)), drift)

    def moved(
        self,
        columns: NDArray[np.int64],
        labels: NDArray[np.int64],
        n_features: int,
        allowed: NDArray[np.bool_],
        *,
        room: bool,
    ) -> "ChainMemory":
        """The same memory with features and labels renumbered, perhaps among more.

        `allowed` are the links of these labels. `room` reserves space for more weights.
        """
        emissions, drift = self.weights.emissions, self.drift.emissions
        old, places = emissions.places((emissions.values != 0.0) | (drift != 0.0))
        n_labels, features = len(allowed) - 1, columns[old]
        numbers = labels[emissions.labels[places]]
        keys = (features << 16) | numbers
        if np.any(keys[1:] < keys[:-1]):
            order = np.argsort(keys, kind="stable")
            features, numbers, places = features[order], numbers[order], places[order]
        counts = np.bincount(features, minlength=n_features)
        pools = [Emissions.of_entries(n_labels, counts, numbers, part[places]) for part in (emissions.values, drift)]
        if room:
            pools = [pool.with_room(_places(n_features)) for pool in pools]
        ends = np.append(labels, n_labels)
        tables = [np.zeros(allowed.shape), np.zeros(allowed.shape)]
        tables[0][~allowed] = -np.inf
        for table, before in zip(tables, (self.weights.links.table, self.drift.links), strict=True):
            table[np.ix_(ends, ends)] = before
        return replace(self, weights=Weights(pools[0], Links.of(tables[0])), drift=Drift(pools[1].values, tables[1]))

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Which label may follow which; the sequence boundary is last."""
        return np.isfinite(self.weights.links.table)

    def copy(self) -> "ChainMemory":
        weights = Weights(self.weights.emissions.copy(), self.weights.links.copy())
        return replace(self, weights=weights, drift=Drift(*(part.copy() for part in self.drift)))

    def make_room(self) -> None:
        self.weights = self.weights._replace(emissions=self.weights.emissions.longer())
        self.drift = self.drift._replace(emissions=twice_as_long(self.drift.emissions))

    @property
    def n_labels(self) -> int:
        return self.weights.n_labels

    @property
    def weights_length(self) -> float:
        """||w||, of all weights that are not forbidden.

        Not with BLAS, whose threads would keep spinning, and whose sum depends on their number.
        """
        links = self.weights.links.table[np.isfinite(self.weights.links.table)]
        squares = (float(np.einsum("i,i->", part, part)) for part in (self.weights.emissions.used, links))
        return math.hypot(*map(math.sqrt, squares))

    @property
    def terms(self) -> int:
        return self.weights.emissions.used.size + self.weights.links.table.size

    def margin_at_least(self, lead: float) -> float:
        return super().margin_at_least(lead) if self.is_whole else 0.0

    def read_out(self, readout: Any) -> Weights:
        """The weights to predict with: the last ones, or the sum of the weights after each sequence.

        The average is that sum over the `divisor`. The sum is not rounded where features are whole numbers, so label
        sequences that are equally good have equal scores, and the first of them wins.
        """
        if readout == "last" or not self.examples:
            return self.weights
        emissions, links = self.weights
        values = emissions.used * self.examples
        values -= self.drift.emissions[: len(values)]
        return Weights(emissions._replace(values=values), Links.of(links.table * self.examples - self.drift.links))

    def divisor(self, readout: Any) -> int:
        return max(self.examples, 1) if readout == "average" else 1


def _places(n_features: int) -> int:
    return min(max(FIRST_POOL, PLACES_PER_FEATURE * n_features), MOST_PLACES)


TOKENS_PER_CALL = 1 << 15


@dataclass(frozen=True, kw_only=True)
class SequenceRun(Run):
    """The record of a run on sequences, with the counts of tokens.

    Its examples are sequences, and a mistake is a mistaken sequence. `wrong_tokens_per_epoch` counts the wrong labels
    in them; `validation_errors` the wrong labels on the validation part after each epoch, if there was one.
    """

    n_tokens: int = 0
    wrong_tokens: int = 0
    wrong_tokens_per_epoch: tuple[int, ...] = ()
    seconds_per_epoch: tuple[float, ...] = ()

    row: ClassVar[str] = "sequence"
    validation_error: ClassVar[str] = "wrong label"


@dataclass(frozen=True, eq=False)
class LabelledSequences(Parted):
    """Sequences of tokens, and the label number of every token; -1 for a label that has none."""

    tokens: Tokens
    labels: NDArray[np.int64]
    n_labels: int
    is_encoded: bool = False

    @property
    def n_rows(self) -> int:
        return self.tokens.n_sequences

    row = "sequence"

    def some(self, which: NDArray[np.int64]) -> "LabelledSequences":
        lengths = np.diff(self.tokens.starts)[which]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.repeat(self.tokens.starts[which] - starts[:-1], lengths) + np.arange(starts[-1])
        return replace(self, tokens=Tokens(self.tokens.rows.take(rows), starts), labels=self.labels[rows])


@dataclass(frozen=True)
class Chain(Space):
    """The space of label sequences: links that are not `allowed` (labels, then the boundary) stay forbidden."""

    allowed: NDArray[np.bool_] | None = None
    cost: float = 0.0
    record = SequenceRun
    leads = False  # trials take long, and never paid off

    def over(self, examples: LabelledSequences, options: Options) -> "Chain":
        _check(examples, options, self.cost)
        return self

    def learner(
        self, examples: LabelledSequences, options: Options, memory: ChainMemory | None = None
    ) -> "ChainLearner":
        empty = memory or ChainMemory.empty(examples.tokens.rows.n_columns, examples.n_labels, self.allowed)
        return ChainLearner(examples, empty, options, self.cost)


def sequence_perceptron(
    tokens: Tokens,
    labels: NDArray[np.int64],
    n_labels: int,
    *,
    allowed: NDArray[np.bool_] | None = None,
    cost: float = 0.0,
    watch: Watcher | None = None,
    **options: Any,
) -> Fitted:
    """Learn label sequences until an epoch makes no mistake. The options are those of `novikoff.options`.

    >>> from novikoff.features.tokens import stacked
    >>> words = stacked([np.eye(2)[[0, 1]], np.eye(2)[[1, 1, 0]]])
    >>> learned = sequence_perceptron(words, np.array([0, 1, 1, 1, 0]), n_labels=2, shuffle=False)
    >>> learned.run.mistakes, learned.run.stopped.name
    (3, 'NO_MISTAKES')
    """
    examples = LabelledSequences(tokens, labels, n_labels)
    return fit(examples, Chain(allowed, cost), Options.of(options, "sequence_perceptron"), watch=watch)


@dataclass
class ChainLearner(Learner):
    """A learner of label sequences, whose features are added and subtracted.

    By epoch it has the wrong tokens and the seconds; and `which` sequences were mistaken, for what if there are
    `guesses`.
    """

    examples: LabelledSequences
    history: ChainMemory
    cost: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tokens, self.labels = self.examples.tokens, self.examples.labels
        self.guesses: list[NDArray[np.int64]] | None = [] if self.keep else None
        self.wrong_by_epoch, self.seconds, self.which = list[int](), list[float](), array("q")
        self.history.lead = max(self.history.lead, self.lead)
        self.history.is_whole = self.history.is_whole and self.tokens.rows.is_whole()
        weights, n_entries = self.history.weights, self.tokens.rows.entries.size
        is_small = weights.n_features * weights.n_labels + n_entries <= MOST_COUNTED
        self.can_return = self.generator is None and is_small

    def mistakes(self) -> GuessedMistakes:
        return GuessedMistakes(np.array(self.which, dtype=np.int64), self.guesses)

    def wrong(self, examples: LabelledSequences, readout: Any) -> NDArray[np.bool_]:
        return _wrong_sequences(examples.tokens, self._wrong_tokens(examples, readout))

    def validation_errors(self, examples: LabelledSequences, readout: Any) -> int:
        """The wrong labels, which tell more than wrong sequences."""
        return int(np.count_nonzero(self._wrong_tokens(examples, readout)))

    def _wrong_tokens(self, examples: LabelledSequences, readout: Any) -> NDArray[np.bool_]:
        return wrong_labels(self.history.read_out(readout), examples.tokens, examples.labels)

    def counts(self, readout: Any, stopped: Stopped) -> dict[str, Any]:
        """With a cost, not every mistake is a wrong prediction, so less is known of new sequences."""
        tokens = self._wrong_tokens(self.examples, readout)
        wrong, mistaken = _wrong_sequences(self.tokens, tokens), np.zeros(self.examples.n_rows, dtype=np.bool_)
        mistaken[self.which] = True
        known = self.determined(wrong, mistaken, mixed=len(wrong) > POOL)
        return {
            **({"errors": known["errors"]} if self.cost else known),
            "encoded": self.examples.is_encoded,
            "n_tokens": len(self.labels),
            "wrong_tokens": int(np.count_nonzero(tokens)),
            "wrong_tokens_per_epoch": tuple(self.wrong_by_epoch),
            "seconds_per_epoch": tuple(self.seconds),
        }

    def learn(self, watch: Watch) -> Stopped | None:
        memory, tokens, n = self.history, self.tokens, self.tokens.n_sequences
        visit = np.arange(n) if self.generator is None else random_order(n, self.generator).visit
        order = visit.astype(np.uint64)
        scratch = Scratch.room(memory.n_labels, tokens.longest)
        at, longest = np.empty(len(order), dtype=np.int64), np.full(2, memory.longest)
        narrow = np.zeros(len(order), dtype=np.bool_)
        lengths = np.cumsum(np.diff(tokens.starts)[order.astype(np.int64)])
        began = time.perf_counter()
        is_recorded = len(self.wrong_by_epoch) < RECORDED_EPOCHS
        if is_recorded:
            self.wrong_by_epoch.append(0)
            self.seconds.append(0)
        step = 0
        while step < len(order):
            reach = (lengths[step - 1] if step else 0) + TOKENS_PER_CALL
            stop = max(int(np.searchsorted(lengths, reach)), step + 1) if self.guesses is None else step + 1
            part = order[step:stop]
            demand = Demand(float(self.cost), float(self.lead), longest)  # compiled once for any lead
            task = (tokens.rows.matrix, tokens.starts, self.labels, part, demand, memory.examples)
            made, wrong, visited = sequence_epoch(*task, memory.weights, memory.drift, scratch, at, narrow)
            if visited < len(part):
                memory.make_room()
                part, stop = part[:visited], step + visited
            self.epochs.count(at[:made], len(part), narrow[:made])
            if is_recorded:
                self.wrong_by_epoch[-1] += wrong
                self.seconds[-1] = time.perf_counter() - began
            self.which.extend(part[at[:made]].astype(np.int64).tolist())
            if self.guesses is not None and made:  # of the only sequence of the call
                self.guesses.append(scratch.path[: int(np.diff(tokens.starts)[int(part[0])])].astype(np.int64))
            spared = int(narrow[:made].sum())
            memory.narrow += spared
            memory.mistakes += made - spared
            memory.examples += len(part)
            memory.longest = float(longest[0] if memory.is_whole else longest[1])
            step = stop
            if step < len(order) and (stopped := watch.cut_short()) is not None:
                return stopped
        return None

    def weights_hash(self) -> int:
        weights = self.history.weights
        return hash(tuple(part.tobytes() for part in (*weights.emissions.entries(), weights.links.table)))

    def cycle(self, made: GuessedMistakes, since: int, until: int, watch: Watch) -> Cycle | None:
        counted = sorted(Counter(zip(made.rows.tolist(), map(tuple, made.guesses or ()), strict=True)).items())
        if not counted or not cancel(chain.from_iterable(self._parts(*key, times) for key, times in counted), watch):
            return None
        rows, rivals = zip(*(key for key, _ in counted), strict=True)
        return Cycle(since, until, rows, tuple(times for _, times in counted), rivals)

    def _parts(self, row: int, guess: tuple[int, ...], times: int) -> Iterator[tuple[Any, float, int]]:
        """The features of the right labels, added so many times, and those of the guess, subtracted."""
        first, last = (int(end) for end in self.tokens.starts[row : row + 2])
        gold = self.labels[first:last].tolist()
        for place, (right, wrong) in enumerate(zip(gold, guess, strict=True), start=first):
            if right != wrong:
                token = self.tokens.rows.part(place, place + 1).matrix
                for column, value in zip(token.indices.tolist(), token.data.tolist(), strict=True):
                    yield (column, right), value, times
                    yield (column, wrong), value, -times
        for labels, sign in ((gold, times), (guess, -times)):
            for link in pairwise((None, *labels, None)):
                yield ("link", link), 1.0, sign


def _wrong_sequences(tokens: Tokens, wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    sequence = np.repeat(np.arange(tokens.n_sequences), np.diff(tokens.starts))
    is_wrong = np.zeros(tokens.n_sequences, dtype=np.bool_)
    is_wrong[sequence[wrong]] = True
    return is_wrong


def label_tokens(weights: Weights, tokens: Tokens) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The label of every token in the best label sequences, and the score of every sequence."""
    labels, scores = np.empty(tokens.rows.n_rows, dtype=np.int64), np.empty(tokens.n_sequences)
    work = searched(tokens.rows.matrix, weights.n_labels)
    label_some = label_sequences.for_parts(work)

    def label(first: int, last: int) -> None:
        room = Scratch.room(weights.n_labels, tokens.longest)
        label_some(tokens.rows.matrix, tokens.starts[first : last + 1], weights, room, labels, scores[first:last])

    over_rows(label, tokens.n_sequences, work)
    if np.any(np.isneginf(scores)):
        number = int(np.flatnonzero(np.isneginf(scores))[0])
        raise ValueError(f"sequence {number} has no label sequence that the constraint allows")
    return labels, scores


def wrong_labels(weights: Weights, tokens: Tokens, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    return label_tokens(weights, tokens)[0] != labels


class Ranked(NamedTuple):
    """Label sequences of one sequence of tokens, best first, with their scores."""

    paths: NDArray[np.int64]
    scores: NDArray[np.float64]


def best_label_sequences(weights: Weights, tokens: Tokens, k: int) -> list[Ranked]:
    """The k best label sequences of every sequence; fewer where there are no more."""
    n_labels, longest = weights.n_labels, tokens.longest
    scores = np.empty((longest, n_labels, k))
    backs, ranks = np.zeros((longest, n_labels, k), dtype=np.int32), np.zeros((longest, n_labels, k), dtype=np.int32)
    paths, totals = np.empty((k, longest), dtype=np.int64), np.empty(k)
    ranked = []
    for first, last in zip(tokens.starts[:-1], tokens.starts[1:], strict=True):
        length = int(last - first)
        if length == 0:
            ranked.append(Ranked(np.empty((1, 0), dtype=np.int64), np.zeros(1)))
            continue
        room = scores[:length], backs[:length], ranks[:length]
        n_paths = best_paths(tokens.rows.matrix, first, last, weights, *room, paths, totals)
        ranked.append(Ranked(paths[:n_paths, :length].copy(), totals[:n_paths].copy()))
    return ranked


def _check(examples: LabelledSequences, options: Options, cost: float) -> None:
    tokens, labels, n_labels = examples.tokens, examples.labels, examples.n_labels
    if options.lead not in (0, "auto") and cost:
        raise ValueError("lead= and cost= are two ways to require a margin; choose one of them")
    if options.readout == "vote":
        raise ValueError(
            'readout="vote" is not supported for sequences: a vote of weight vectors has no best label sequence that '
            'Viterbi could find; use "average", which is about as good'
        )
    if not 0.0 <= cost < math.inf:
        raise ValueError(f"cost={cost!r} must be a number of at least 0")
    if not tokens.rows.n_rows:
        raise ValueError(f"there are {tokens.n_sequences} sequences without a single token: nothing to learn from")
    if n_labels > MOST_LABELS - 1:
        raise ValueError(f"there are {n_labels:,} labels, and a chain has at most {MOST_LABELS - 1:,}")
    if len(labels) != tokens.rows.n_rows:
        raise ValueError(f"there are {tokens.rows.n_rows} tokens, but {len(labels)} labels")
