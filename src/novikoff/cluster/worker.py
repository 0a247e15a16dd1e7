"""A worker: one shard, and the methods that run on it.

A worker keeps nothing that could not be rebuilt from its shard: only a cache of its examples on the disk of its node.
So a worker that dies during a call, and is restarted here or on another node, answers the same.
"""

import contextlib
import getpass
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.cluster.shards import SHARD_BYTES, Shard
from novikoff.data.cache import Cache
from novikoff.data.examples import Examples
from novikoff.data.held_out import HeldOut
from novikoff.data.labels import LabelCodes
from novikoff.data.narrow import used_columns
from novikoff.engine.rows import Rows, longest_square
from novikoff.features.encode import Encoding, asked_for
from novikoff.features.examples import batches_of, written
from novikoff.features.gather import Column, gather
from novikoff.features.scaling import TableScale
from novikoff.learn.epochs import Watch
from novikoff.learn.linear.learner import LinearLearner
from novikoff.learn.linear.memory import LinearMemory, decider
from novikoff.options import Options, Readout

if TYPE_CHECKING:
    from novikoff.data.svmlight import ZeroBased

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reading:
    """How a data set is read: the label column, and the roles of the other columns.

    `classes` are the labels, if they were named beforehand. With `labels_are_shared` and without them, a shard with one
    class only, or with a label that no other has, is refused: more often its file is wrong than meant to be so. Once
    the shards have agreed, `encoding`, `types` and `zero_based` are those of all. The `token` of a run goes into the
    names of its caches.
    """

    label: str | None = None
    categorical: Sequence[str] = ()
    text: Sequence[str] = ()
    tfidf: Sequence[str] = ()
    ignore: Sequence[str] = ()
    format: str | None = None
    zero_based: "ZeroBased" = "auto"
    classes: Any = None
    encoding: Encoding | None = None
    fit_intercept: bool = True
    shard_bytes: int = SHARD_BYTES
    cache_folder: str | None = None
    labels_are_shared: bool = False
    scale: TableScale = "mixed"
    types: Mapping[str, str] | None = None
    token: str = ""

    @property
    def column_roles(self) -> Mapping[str, Sequence[str]]:
        """The given roles of columns, by the names of an encoding's parameters."""
        return {"categorical": self.categorical, "text": self.text, "tfidf": self.tfidf, "ignored": self.ignore}


@dataclass(frozen=True)
class Surveyed:
    """The answer of a shard: its columns, its rows, and the types of its columns, the label's too."""

    columns: dict[str, Column]
    n_rows: int
    types: dict[str, str]


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is known of a shard once its examples are cached: `known` are its labels, by their codes.

    `starts` has the number of the first row of every block in the cache, and the number of all rows.
    """

    starts: tuple[int, ...]
    n_columns: int
    n_entries: int
    is_sparse: bool
    known: NDArray[Any]
    counts: tuple[int, ...]
    longest: float
    fingerprint: str
    rounded: str | None = None

    @property
    def n_rows(self) -> int:
        return self.starts[-1]

    def counts_of(self, classes: NDArray[Any]) -> NDArray[np.int64]:
        """Return how many rows each of the classes has."""
        counts = np.zeros(len(classes), dtype=np.int64)
        counts[np.searchsorted(classes, self.known)] = self.counts
        return counts


@dataclass(frozen=True, eq=False)
class Agreement:
    """What all shards agree on: how they are read, the classes, the number of columns, and R^2 of all of them.

    `starts` has the number of the first row of every shard among all, and the number of all rows. Of very many columns,
    `columns` are those that some row uses. With a `part`, only the held-out rows, or only all others, count and are
    numbered; it has the starts of all shards with all rows, too.
    """

    reading: Reading
    prepared: tuple[Prepared, ...]
    classes: NDArray[Any]
    n_columns: int
    longest: float
    starts: NDArray[np.int64]
    columns: NDArray[np.int64] | None = None
    part: tuple[HeldOut, bool, NDArray[np.int64]] | None = None

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

    def only(self, held_out: HeldOut, wanted: bool) -> "Agreement":
        """Return the same about the held-out rows, or about all others."""
        shards = pairwise(self.starts.tolist())
        sizes = [int((held_out.which(first, stop - first) == wanted).sum()) for first, stop in shards]
        starts = np.array([0, *accumulate(sizes)], dtype=np.int64)
        return replace(self, starts=starts, part=(held_out, wanted, self.starts))

    def new_memory(self) -> LinearMemory:
        """Return an empty memory."""
        constant = self.reading.fit_intercept
        return LinearMemory.empty(self.n_columns, len(self.classes), fit_intercept=constant, columns=self.columns)


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
    rows: Any = None
    rivals: Any = None


@dataclass
class Worker:
    """The methods that run on a shard."""

    number: int
    shard: Shard
    _made: tuple[Cache, Prepared] | None = None

    # -- reading ------------------------------------------------------------------------------------------------------

    def survey(
        self,
        label: str,
        column_roles: Mapping[str, Sequence[str]] | None,
        types: Mapping[str, str] | None = None,
        values_before: Sequence[Mapping[str, int]] = (),
    ) -> Surveyed:
        """Survey all records of the shard; `values_before` are the numbers of values before those of every shard.

        Without `column_roles` only types are requested, as the encoding is known.
        """
        reader: Any = self.shard.reader(label, types)
        if column_roles is None:
            return Surveyed({}, 0, reader.column_types)
        before = values_before[self.number] if values_before else {}
        guess = self.shard.rows_before or 0
        asked = {name: kind for name, kind in asked_for(column_roles).items() if name in (types or [name])}
        columns, n_rows = gather(reader, asked, before=lambda name: before.get(name, guess))
        return Surveyed(columns, n_rows, reader.column_types)

    def counts_from_zero(self) -> bool:
        """Whether an index of svmlight text is 0."""
        return self.shard.reader(None).counts_from_zero

    def prepare(self, reading: Reading) -> Prepared:
        """Encode the examples of the shard into a cache on the disk of this node, unless that was done."""
        return self._cached(reading)[1]

    def used_columns(self, reading: Reading) -> NDArray[np.int64]:
        """Return the columns in which some row has an entry."""
        cache = self._cached(reading)[0]
        return used_columns(cache[number][0] for number in range(len(cache)))

    def _cached(self, reading: Reading) -> tuple[Cache, Prepared]:
        if self._made is None:
            self._made = self._write(_cache_folder(reading.cache_folder) / f"{reading.token}-{self.number}", reading)
        return self._made

    def _write(self, path: Path, reading: Reading) -> tuple[Cache, Prepared]:
        labels, rounded, longest = LabelCodes(reading.classes), list[str](), [0.0]

        def measure(rows: Rows) -> None:
            longest.append(max(longest.pop(), longest_square(rows, 1.0 if reading.fit_intercept else 0.0)))

        reader = self.shard.reader(reading.label, reading.types, reading.zero_based)
        batches = batches_of(iter(reader), reading.encoding, rounded=rounded)
        cache, counts = written(path, batches, labels, measure)
        if not cache.n_rows:
            path.unlink()
            raise ValueError(f"{self.shard.name} has no rows; omit it, or cut the data into larger shards")
        order = np.argsort(labels.order)  # counts are of the sorted labels
        return cache, Prepared(
            tuple(cache.starts.tolist()),
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
        cache, prepared = self._cached(agreed.reading)
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
            agreed.reading.label,
            agreed.reading.encoding,
        )
        if agreed.part is None:
            return examples
        held_out, wanted, starts = agreed.part
        return examples.only(held_out, wanted, int(starts[self.number]))

    # -- learning -----------------------------------------------------------------------------------------------------

    def learn(
        self, agreed: Agreement, options: Options, weights: Floats, updates: int, number: int, record: bool = False
    ) -> Change:
        """Learn an epoch from common weights, to whose ||w||^2 so many `updates` added, in the round of this number.

        A lead is relative to the longest row of all shards.
        """
        start = agreed.new_memory()
        start.weights, start.mistakes, start.longest = weights.copy(), updates, agreed.longest
        seed = [int(options.random_state), number, self.number] if options.shuffle else None
        how = replace(options, max_iter=1, random_state=seed, record_mistakes=record)
        examples = self.examples(agreed)
        # Every row was measured when it went into the cache.
        measured = set(examples.starts.tolist())
        space = LinearLearner(examples, start, how, measured=measured, met=measured)
        space.learn(Watch())
        summed = start.summed() if options.readout == "average" else None
        change = Change(start.weights - weights, start.updates - updates, start.narrow, summed)
        if not record:
            return change
        made = space.mistakes()
        assert made is not None
        return replace(change, rows=agreed.starts[self.number] + made.rows, rivals=made.wrong)

    def errors(self, agreed: Agreement, memory: LinearMemory, readout: Readout) -> NDArray[np.bool_]:
        """Return which rows the read-out gets wrong."""
        examples, decided = self.examples(agreed), decider(memory, readout)
        wrong = (decided.classes(block.rows) != examples.places_of(block.labels) for block in examples.blocks())
        return np.concatenate([np.zeros(0, dtype=np.bool_), *wrong])

    def block(self, agreed: Agreement, number: int) -> tuple[Rows, NDArray[Any]]:
        """Return a block of the cache, with inner labels."""
        block = self.examples(agreed).block(number)
        return block.rows, block.labels

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
        if self._made is not None:
            with contextlib.suppress(OSError):
                self._made[0].path.unlink(missing_ok=True)
            self._made = None


def _cache_folder(folder: str | None) -> Path:
    """Return a folder on the node's disk that only the user who runs the worker can read."""
    path = Path(folder or tempfile.gettempdir()) / f"novikoff-{getpass.getuser()}"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        raise OSError(f"{path} belongs to another user, or is writable by others; choose another with cache_folder=")
    return path
