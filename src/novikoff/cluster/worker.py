"""A worker: one shard, and the methods that run on it.

A worker keeps nothing that could not be rebuilt from its shard: only a cache of its examples on the disk of its node,
which is found by its name. So a worker that dies during a call, and is restarted here or on another node, answers the
same.
"""

import contextlib
import getpass
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff import __version__
from novikoff.cluster.shards import Shard
from novikoff.cluster.survey import Surveyed, SurveyQuery, survey
from novikoff.data.cache import Cache, open_cache
from novikoff.data.examples import Examples
from novikoff.data.held_out import HeldOut
from novikoff.data.labels import LabelCodes
from novikoff.data.narrow import used_columns
from novikoff.data.whole_file import WholeFile
from novikoff.engine.rows import Rows, longest_square
from novikoff.features.examples import batches_of, written
from novikoff.keep.values import decode_array, encode_array
from novikoff.learn.epochs import Watch
from novikoff.learn.linear.learner import LinearLearner
from novikoff.learn.linear.memory import LinearMemory, decider
from novikoff.learn.run import Stopped
from novikoff.options import Readout, Tie

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Terms:
    """How shards are read: the label column, the types of columns, their encoding, where indices begin.

    `classes` are the labels, if they were named beforehand. The `token` of a run goes into the names of its caches.
    """

    token: str
    label: str | None = None
    encoding: "Encoding | None" = None
    types: dict[str, str] | None = None
    zero_based: bool = True
    classes: NDArray[Any] | None = None
    fit_intercept: bool = True
    cache_folder: str | None = None
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        """Name the content of the caches, once: a large encoding takes longer to write out than a shard to learn."""
        encoding = None if self.encoding is None else self.encoding.to_dict()
        classes = None if self.classes is None else self.classes.tolist()
        parts = (self.token, self.label, encoding, self.types, self.zero_based, classes, self.fit_intercept)
        object.__setattr__(self, "digest", hashlib.sha256(repr((__version__, *parts)).encode()).hexdigest())


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is known of a shard once its examples are cached: `known` are its labels, by their codes."""

    n_rows: int
    n_columns: int
    n_entries: int
    is_sparse: bool
    known: NDArray[Any]
    counts: tuple[int, ...]
    longest: float
    fingerprint: str
    rounded: str | None = None

    def counts_of(self, classes: NDArray[Any]) -> NDArray[np.int64]:
        """Return how many rows each of the classes has."""
        counts = np.zeros(len(classes), dtype=np.int64)
        counts[np.searchsorted(classes, self.known)] = self.counts
        return counts

    def to_json(self) -> str:
        return json.dumps({**vars(self), "known": encode_array(self.known, "labels")})

    @classmethod
    def from_json(cls, text: str) -> "Prepared":
        plain = json.loads(text)
        return cls(**{**plain, "known": decode_array(plain["known"]), "counts": tuple(plain["counts"])})


@dataclass(frozen=True, eq=False)
class HeldPart:
    """The held-out rows, by their numbers among all, or all others.

    `starts` has the number of the first row of every shard, and the number of all rows.
    """

    held_out: HeldOut
    wanted: bool
    starts: NDArray[np.int64]

    def size(self, shard: int) -> int:
        """Return how many rows of a shard are in the part."""
        first, stop = self.starts[shard : shard + 2].tolist()
        return int((self.held_out.which(first, stop - first) == self.wanted).sum())

    def of(self, examples: Examples, shard: int) -> Examples:
        """Return those of the examples of a shard, numbered from 0."""
        return examples.only(self.held_out, self.wanted, int(self.starts[shard]))


@dataclass(frozen=True, eq=False)
class Agreement:
    """What all shards agree on: how they are read, the classes, the number of columns, and R^2 of all of them.

    `starts` has the number of the first row of every shard among all, and the number of all rows. Of very many columns,
    `columns` are those that some row uses. With a `part`, only its rows count, and are numbered.
    """

    terms: Terms
    prepared: tuple[Prepared, ...]
    classes: NDArray[Any]
    n_columns: int
    longest: float
    starts: NDArray[np.int64]
    columns: NDArray[np.int64] | None = None
    part: HeldPart | None = None

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def counts(self) -> tuple[int, ...]:
        """How many rows each class has."""
        return tuple(sum(part.counts_of(self.classes) for part in self.prepared).tolist())  # type: ignore[union-attr]

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of the fingerprints of all shards."""
        return hashlib.sha256(" ".join(part.fingerprint for part in self.prepared).encode()).hexdigest()

    def new_memory(self) -> LinearMemory:
        """Return an empty memory."""
        constant = self.terms.fit_intercept
        return LinearMemory.empty(self.n_columns, len(self.classes), fit_intercept=constant, columns=self.columns)


@dataclass(frozen=True)
class Learning:
    """How every shard learns. `seed` is None where the order is that of the data."""

    tie: Tie
    seed: int | None
    with_average: bool
    lead: float = 0.0


@dataclass(frozen=True, eq=False)
class Change:
    """What a shard learned in a round: how the weights changed, the updates, how many of them were narrow, and the sum
    of the weights after each example.

    `rows` and `rivals` are its updates in order, if requested.
    """

    change: Floats
    updates: int
    narrow: int
    summed: Floats | None
    rows: NDArray[np.int64] | None = None
    rivals: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Passed:
    """A memory after a shard was learned, the rows and times of its updates, and why it ended early.

    `deciding` are the rows without which something else would have been learned: the updates, and with a lead those
    that made R longer.
    """

    memory: LinearMemory
    at: NDArray[np.int64]
    rows: NDArray[np.int64]
    rivals: NDArray[np.int64]
    deciding: NDArray[np.int64]
    stopped: Stopped | None


@dataclass
class Worker:
    """The methods that run on a shard."""

    number: int
    shard: Shard
    _open: dict[str, tuple[Cache, Prepared]] = field(default_factory=dict)

    # -- reading ------------------------------------------------------------------------------------------------------

    def survey(self, query: SurveyQuery) -> Surveyed:
        return survey(self.number, self.shard, query)

    def counts_from_zero(self) -> bool:
        """Whether an index of svmlight text is 0."""
        return bool(self.shard.reader(None).counts_from_zero)  # type: ignore[union-attr]

    def prepare(self, terms: Terms) -> Prepared:
        """Encode the examples of the shard into the cache."""
        return self._cached(terms)[1]

    def used_columns(self, terms: Terms) -> NDArray[np.int64]:
        """Return the columns in which some row has an entry."""
        cache = self._cached(terms)[0]
        return used_columns(cache[number][0] for number in range(len(cache)))

    def _cached(self, terms: Terms) -> tuple[Cache, Prepared]:
        key = self._key(terms)
        if key not in self._open:
            path = _cache_folder(terms.cache_folder) / key
            about = path.with_suffix(".json")
            is_there = path.exists() and about.exists()
            if not is_there:
                prepared = self._write(path, terms)
                with WholeFile(about, sync=False) as file:
                    file.write(prepared.to_json().encode())
            self._open[key] = (open_cache(path, is_ours=not is_there), Prepared.from_json(about.read_text()))
        return self._open[key]

    def _key(self, terms: Terms) -> str:
        """Return a name that identifies the numbers in the cache."""
        return hashlib.sha256(repr((terms.digest, self.shard)).encode()).hexdigest()

    def _write(self, path: Path, terms: Terms) -> Prepared:
        labels, rounded, longest = LabelCodes(terms.classes), list[str](), [0.0]

        def measure(rows: Rows) -> None:
            longest.append(max(longest.pop(), longest_square(rows, 1.0 if terms.fit_intercept else 0.0)))

        reader = self.shard.reader(terms.label, terms.types, terms.zero_based)
        batches = batches_of(iter(reader), terms.encoding, rounded=rounded)
        counts = written(path, batches, labels, measure)
        cache = open_cache(path)
        if not cache.n_rows:
            path.unlink()
            raise ValueError(f"{self.shard.name} has no rows; omit it, or cut the data into larger shards")
        order = np.argsort(labels.order)  # counts are of the sorted labels
        return Prepared(
            cache.n_rows,
            cache.n_columns,
            cache.n_entries,
            cache.is_sparse,
            labels.known,
            tuple(np.array(counts)[order].tolist()),
            longest[0],
            hashlib.sha256(f"{cache.fingerprint} {labels.known.tolist()!r}".encode()).hexdigest(),
            next(iter(rounded), None),
        )

    def examples(self, agreed: Agreement) -> Examples:
        """Return the examples of the shard, numbered from 0, among the columns and classes of all."""
        cache, prepared = self._cached(agreed.terms)
        expected = agreed.prepared[self.number].fingerprint
        if prepared.fingerprint != expected:
            raise OSError(f"{self.shard.name} has other rows than when the work began; start over")
        places = np.searchsorted(agreed.classes, prepared.known)
        examples = Examples(
            cache,
            cache.starts,
            agreed.classes,
            tuple(prepared.counts_of(agreed.classes).tolist()),
            agreed.n_columns,
            prepared.n_entries,
            prepared.is_sparse,
            (2 * places - 1).astype(np.int8) if len(agreed.classes) == 2 else places.astype(np.int64),
            agreed.terms.label,
            agreed.terms.encoding,
        )
        return examples if agreed.part is None else agreed.part.of(examples, self.number)

    # -- learning -----------------------------------------------------------------------------------------------------

    def learn(
        self, agreed: Agreement, how: Learning, weights: Floats, updates: int, number: int, record: bool = False
    ) -> Change:
        """Learn an epoch from common weights, to whose ||w||^2 so many `updates` added, in the round of this number.

        A lead is relative to the longest row of all shards.
        """
        start = agreed.new_memory()
        start.weights, start.mistakes, start.longest = weights.copy(), updates, agreed.longest
        generator = None if how.seed is None else np.random.default_rng([how.seed, number, self.number])
        examples = self.examples(agreed)
        # Every row was measured when it went into the cache.
        measured = set(examples.starts.tolist())
        task = (examples, start, how.tie, generator, 1, record, how.lead)
        space = LinearLearner(*task, measured=measured, met=measured)
        space.learn(Watch())
        summed = start.summed() if how.with_average else None
        change = Change(start.weights - weights, start.updates - updates, start.narrow, summed)
        if not record:
            return change
        made = space.mistakes()
        assert made is not None
        return replace(change, rows=agreed.starts[self.number] + made.rows, rivals=made.wrong)

    def go_on(self, agreed: Agreement, how: Learning, memory: LinearMemory, min_margin: float | None) -> Passed:
        """Learn an epoch from the memory of the shard before, in the order given."""
        memory = memory.copy()
        space = LinearLearner(self.examples(agreed), memory, how.tie, None, 1, keep=True, lead=how.lead)
        stopped = space.learn(Watch(min_margin))
        made = space.mistakes()
        assert made is not None
        first = agreed.starts[self.number]
        deciding = first + np.flatnonzero(space.mistaken)
        return Passed(memory, made.times - space.began, first + made.rows, made.wrong, deciding, stopped)

    def errors(self, agreed: Agreement, memory: LinearMemory, readout: Readout) -> NDArray[np.uint8]:
        """Return which rows the read-out gets wrong, as bits."""
        examples, decided = self.examples(agreed), decider(memory, readout)
        wrong = (decided.classes(block.rows) != examples.places_of(block.labels) for block in examples.blocks())
        return np.packbits(np.concatenate([np.zeros(0, dtype=np.bool_), *wrong]))

    def take(self, agreed: Agreement, numbers: NDArray[np.int64]) -> Any:
        """Return those of some rows, by their numbers among all, that are in this shard; None if none is."""
        first, last = np.searchsorted(numbers, agreed.starts[self.number : self.number + 2])
        if first == last:
            return None
        return self.examples(agreed).take(numbers[first:last] - agreed.starts[self.number])

    def apply(self, agreed: Agreement, function: Callable[..., Any], *args: Any) -> Any:
        """Call any other function on the shard."""
        return function(self, agreed, *args)

    # -- the end ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Remove the cache."""
        for cache, _ in self._open.values():
            with contextlib.suppress(OSError):
                cache.path.unlink(missing_ok=True)
                cache.path.with_suffix(".json").unlink(missing_ok=True)
        self._open.clear()


def _cache_folder(folder: str | None) -> Path:
    """Return a folder on the node's disk that only the user who runs the worker can read."""
    path = Path(folder or tempfile.gettempdir()) / f"novikoff-{getpass.getuser()}"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        raise OSError(f"{path} belongs to another user, or is writable by others; choose another with cache_folder=")
    return path
