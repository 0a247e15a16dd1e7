"""What shards agree on before learning: columns, their types, categories and scaling, indices, classes, and R.

Each shard surveys its own records, and the driver merges the results, in the order of the shards, into the encoding
that one machine gets from the same records, bit for bit. Sums of floats depend on where runs of additions begin
(`features/numeric.py`), so a shard gets the number of values of a column before its own. If that number was wrong,
because it was not known yet, the shard is surveyed again; so is one whose columns have other types than those of all.
"""

import contextlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.cluster.engine import Engine
from novikoff.cluster.shards import Shard, shards_of
from novikoff.cluster.worker import Agreement, Prepared, Reading, Surveyed, Worker
from novikoff.data.batches import stacked
from novikoff.data.examples import Block, Examples
from novikoff.data.held_out import HeldOut, check_parts
from novikoff.data.labels import LabelCodes, sorted_classes
from novikoff.data.narrow import is_too_wide
from novikoff.data.reading import Reader
from novikoff.data.tables import check_same_names, joined_type
from novikoff.engine.rows import Rows
from novikoff.features.encode import Encoding, asked_for, settled
from novikoff.features.gather import Column
from novikoff.features.numeric import Runs
from novikoff.features.scaling import RUN, TableScale
from novikoff.learn.linear.memory import vectors_for

# Types that a reader can be given. Others, such as dates, are ignored, or refused where they are read.
PLAIN = ("null", "int64", "uint64", "double", "bool", "string")


@dataclass(frozen=True, eq=False)
class Cluster:
    """An engine with a worker for every shard, and their agreement; `shared` is this as the engine shares it."""

    engine: Engine
    shards: Sequence[Shard]
    agreed: Agreement
    shared: Any

    @property
    def n_rows(self) -> int:
        return self.agreed.n_rows

    @property
    def n_columns(self) -> int:
        return self.agreed.n_columns

    @property
    def classes(self) -> NDArray[Any]:
        return self.agreed.classes

    @property
    def encoding(self) -> Encoding | None:
        return self.agreed.reading.encoding

    @property
    def fingerprint(self) -> str:
        return self.agreed.fingerprint

    def parted(self, held_out: HeldOut) -> "tuple[Cluster, Cluster]":
        """Return the same shards without the held-out rows, and with these only.

        Whether a row is held out depends on its number among all, so it is the same on any engine.
        """
        parts = (self.agreed.only(held_out, wanted) for wanted in (False, True))
        kept, held = (replace(self, agreed=part, shared=self.engine.share(part)) for part in parts)
        check_parts(self.n_rows, held.n_rows)
        return kept, held

    def call(self, method: str, *args: Any, on: Sequence[int] | None = None) -> list[Any]:
        """Call a method that takes the agreement on every shard, or on some; return the results."""
        return self.engine.call(method, self.shared, *args, on=on)

    def take(self, numbers: NDArray[np.int64]) -> Block:
        """Return a copy of some examples, whose numbers among all ascend."""
        parts = [part for part in self.call("take", numbers) if part is not None]
        labels = np.concatenate([part.labels for part in parts])
        return Block(stacked([part.rows for part in parts]), labels, int(numbers[0]))

    @cached_property
    def examples(self) -> "ShardedExamples":
        """The examples as on one machine: the shards send their blocks, one after the other."""
        agreed, prepared = self.agreed, self.agreed.prepared
        blocks = [(number, block) for number, part in enumerate(prepared) for block in range(len(part.starts) - 1)]
        starts = [first + start for first, part in zip(agreed.starts, prepared, strict=False) for start in part.starts]
        return ShardedExamples(
            BlocksOnShards(self, blocks),
            np.unique(starts),
            agreed.classes,
            agreed.counts,
            agreed.n_columns,
            sum(part.n_entries for part in prepared),
            all(part.is_sparse for part in prepared),
            label=agreed.reading.label,
            encoding=agreed.reading.encoding,
            rounded=next((part.rounded for part in prepared if part.rounded is not None), None),
        )


@dataclass(frozen=True, eq=False)
class BlocksOnShards:
    """The blocks of all shards, by the number of the shard, and the number among its blocks."""

    cluster: Cluster
    places: Sequence[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, number: int, /) -> tuple[Rows, NDArray[Any]]:
        shard, block = self.places[number]
        return self.cluster.call("block", block, on=[shard])[0]


@dataclass(frozen=True, eq=False)
class ShardedExamples(Examples):
    """Examples whose blocks are on the shards."""

    def take(self, numbers: NDArray[np.int64]) -> Block:
        if isinstance(self.parts, BlocksOnShards):  # else it is a part of them, with numbers of its own
            return self.parts.cluster.take(numbers)
        return super().take(numbers)


@contextlib.contextmanager
def started(engine: Engine, source: Any, reading: Reading, token: str | None = None) -> Iterator[Cluster]:
    """Start workers, and let the shards of a source agree; in the end remove the workers and their caches.

    A run that resumes after its driver was killed has the same `token`, and replaces the caches that still exist.
    """
    shards = shards_of(source, format=reading.format, shard_bytes=reading.shard_bytes)
    try:
        engine.start(Worker, shards)
        asked = replace(given(source, reading), token=token or secrets.token_hex(8))
        agreed = _agreed(engine, shards, _settled(engine, shards, asked))
        yield Cluster(engine, shards, agreed, engine.share(agreed))
    finally:
        engine.close()


def given(source: Any, reading: Reading) -> Reading:
    """Return how a source is read, with what was not asked for taken from the source, if that is a reader."""
    if not isinstance(source, Reader):
        return reading
    zero_based = source.zero_based if reading.zero_based == "auto" else reading.zero_based
    return replace(reading, label=reading.label or source.label, zero_based=zero_based)


def _settled(engine: Engine, shards: Sequence[Shard], asked: Reading) -> Reading:
    """Return how all shards are read: classes, indices, columns and their types."""
    reading = asked if asked.classes is None else replace(asked, classes=sorted_classes(asked.classes))
    if not shards[0].is_table:
        if asked.label is not None or any(asked.column_roles.values()):
            raise ValueError("svmlight text has no named columns; omit label=")
        auto = asked.zero_based == "auto"
        from_zero = any(engine.call("counts_from_zero")) if auto else bool(asked.zero_based)
        return replace(reading, zero_based=from_zero)
    if asked.label is None:
        raise ValueError("a table needs a column of labels; name it with label=")
    encoding, types = agree_on_tables(engine, shards, asked.label, asked.column_roles, asked.encoding, asked.scale)
    return replace(reading, encoding=encoding, types=types)


def _agreed(engine: Engine, shards: Sequence[Shard], reading: Reading) -> Agreement:
    shared = engine.share(reading)
    prepared: list[Prepared] = engine.call("prepare", shared)
    classes = _classes(shards, prepared, reading)
    n_columns = max(part.n_columns for part in prepared)
    for shard, part in zip(shards, prepared, strict=True):
        if not part.is_sparse and part.n_columns != n_columns:
            raise ValueError(f"{shard.name} has {part.n_columns} columns, but another shard has {n_columns}")
    columns = None
    if is_too_wide(n_columns, sum(part.n_entries for part in prepared), vectors_for(len(classes))):
        columns = np.unique(np.concatenate(engine.call("used_columns", shared)))
    starts = np.array([0, *accumulate(part.n_rows for part in prepared)], dtype=np.int64)
    longest = max(part.longest for part in prepared)
    return Agreement(reading, tuple(prepared), classes, n_columns, longest, starts, columns)


def _classes(shards: Sequence[Shard], prepared: Sequence[Prepared], reading: Reading) -> NDArray[Any]:
    """Return the labels of all shards, sorted."""
    if reading.classes is not None:
        return reading.classes
    labels = LabelCodes()
    for shard, part in zip(shards, prepared, strict=True):
        try:
            labels.codes(part.known)
        except ValueError as error:
            raise ValueError(f"{shard.name}: {error}") from None
    classes = labels.classes()
    if len(classes) < 2:
        raise ValueError(f"all labels are {classes.tolist()[0]!r}; at least two classes are required")
    if reading.labels_are_shared and len(shards) > 1:
        _check_shared(shards, prepared)
    return classes


def _check_shared(shards: Sequence[Shard], prepared: Sequence[Prepared]) -> None:
    """Refuse labels that only one shard has, and shards that have only one."""
    having: dict[Any, list[int]] = {}
    for number, part in enumerate(prepared):
        for label in part.known.tolist():
            having.setdefault(label, []).append(number)
    named = f"classes={sorted(having)}"
    for label, numbers in having.items():
        if len(numbers) == 1:
            raise ValueError(
                f"{shards[numbers[0]].name} has the label {label!r}, which no other shard has; correct it, or name "
                f"all labels with {named}"
            )
    for shard, part in zip(shards, prepared, strict=True):
        if len(part.known) == 1:
            raise ValueError(
                f"all labels of {shard.name} are {part.known.tolist()[0]!r}; mix the rows once, so that every shard "
                f"has several classes, or name all labels with {named} to learn from it as it is"
            )


# -- tables -----------------------------------------------------------------------------------------------------------


def agree_on_tables(
    engine: Engine,
    shards: Sequence[Shard],
    label: str,
    column_roles: Mapping[str, Sequence[str]],
    encoding: Encoding | None = None,
    scale: TableScale = "mixed",
) -> tuple[Encoding, dict[str, str]]:
    """Return how columns of all shards become numbers, and their types; a given encoding is kept."""
    query = (label, None if encoding is not None else column_roles)
    found: list[Surveyed] = engine.call("survey", *query)
    types = _joined_types(shards, [part.types for part in found])
    told = {name: kind for name, kind in types.items() if kind in PLAIN}
    if encoding is None:
        others = [i for i, part in enumerate(found) if not told.items() <= {**told, **part.types}.items()]
        found = _asked_again(engine, found, others, *query, told)
        before = _values_before(found)
        wrong = [i for i, part in enumerate(found) if not _began_right(part, before[i])]
        found = _asked_again(engine, found, wrong, *query, told if others else None, before)
        encoding = _joined(found, column_roles, scale)
    return encoding, {name: types.get(name, "null") for name in [*encoding.types, label]}


def _asked_again(engine: Engine, found: list[Surveyed], which: list[int], *query: Any) -> list[Surveyed]:
    if not which:
        return found
    again = dict(zip(which, engine.call("survey", *query, on=which), strict=True))
    # Columns of types that a reader cannot be given were not read again; all that is known is that they are ignored.
    return [
        part if i not in again else replace(again[i], columns={**part.columns, **again[i].columns})
        for i, part in enumerate(found)
    ]


def _joined_types(shards: Sequence[Shard], found: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return types that hold the values of all shards, which have the same columns; JSON lines may lack any key."""
    import pyarrow as pa

    as_text = all(shard.format in ("csv", "tsv") for shard in shards)
    if not any(shard.format == "jsonl" for shard in shards):
        for shard, part in zip(shards, found, strict=True):
            check_same_names(part, shard.name, found[0], shards[0].name)
    types: dict[str, str] = {}
    for shard, part in zip(shards, found, strict=True):
        for name, kind in part.items():
            known = types.get(name, kind)
            if known == kind:
                types[name] = kind
                continue
            joined = joined_type(pa.type_for_alias(known), pa.type_for_alias(kind), as_text=as_text)
            if joined is None:
                raise ValueError(f"{shard.name}: column {name!r} is {kind}, but {known} in the shards before it")
            types[name] = str(joined)
    return types


def _values_before(found: Sequence[Surveyed]) -> list[dict[str, int]]:
    """Return how many numbers of each column come before those of a shard."""
    before, total = list[dict[str, int]](), dict[str, int]()
    for part in found:
        before.append(dict(total))
        for name, column in part.columns.items():
            seen = column.found.seen if isinstance(column.found, Runs) else 0
            total[name] = total.get(name, 0) + seen
    return before


def _began_right(part: Surveyed, before: Mapping[str, int]) -> bool:
    return all(
        column.found.offset % RUN == before.get(name, 0) % RUN
        for name, column in part.columns.items()
        if isinstance(column.found, Runs) and column.found.seen
    )


def _joined(found: Sequence[Surveyed], column_roles: Mapping[str, Sequence[str]], scale: TableScale) -> Encoding:
    """Return the encoding of all shards."""
    asked, n_rows, columns = asked_for(column_roles), 0, dict[str, Column]()
    for part in found:
        for name in part.columns:
            if name not in columns:  # in JSON lines a column may appear late
                columns[name] = Column(name, asked.get(name, ""), rows=n_rows, missing=n_rows)
        for name, column in columns.items():
            column.join(part.columns.get(name), part.n_rows)
        n_rows += part.n_rows
    for column in columns.values():
        column.close()
    return settled(columns, n_rows, scale)
