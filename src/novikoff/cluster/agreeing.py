"""Shards that have agreed: read, encoded, cached, and ready for calls."""

import contextlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.cluster.engine import Engine
from novikoff.cluster.shards import SHARD_BYTES, Shard, shards_of
from novikoff.cluster.survey import agree_on_tables
from novikoff.cluster.worker import Agreement, HeldPart, Prepared, Terms, Worker
from novikoff.data.batches import stacked
from novikoff.data.examples import Block
from novikoff.data.held_out import HeldOut, check_parts
from novikoff.data.labels import LabelCodes, sorted_classes
from novikoff.data.narrow import is_too_wide
from novikoff.data.reading import Reader
from novikoff.learn.linear.memory import vectors_for

if TYPE_CHECKING:
    from novikoff.data.svmlight import ZeroBased
    from novikoff.features.encode import Encoding
    from novikoff.features.scaling import TableScale


@dataclass(frozen=True, eq=False)
class Reading:
    """How a data set is read: the label column, and the roles of the other columns.

    With `labels_are_shared` and without `classes`, a shard with one class only, or with a label that no other has, is
    refused: more often its file is wrong than meant to be so.
    """

    label: str | None = None
    categorical: Sequence[str] = ()
    text: Sequence[str] = ()
    tfidf: Sequence[str] = ()
    ignore: Sequence[str] = ()
    format: str | None = None
    zero_based: "ZeroBased" = "auto"
    classes: ArrayLike | None = None
    encoding: "Encoding | None" = None
    fit_intercept: bool = True
    shard_bytes: int = SHARD_BYTES
    cache_folder: str | None = None
    labels_are_shared: bool = False
    scale: "TableScale" = "mixed"

    @property
    def column_roles(self) -> Mapping[str, Sequence[str]]:
        """The given roles of columns, by the names of an encoding's parameters."""
        return {"categorical": self.categorical, "text": self.text, "tfidf": self.tfidf, "ignored": self.ignore}

    def of(self, source: Any) -> "Reading":
        """Return the same, with what is not given taken from the source, if that is a reader."""
        if not isinstance(source, Reader):
            return self
        zero_based = source.zero_based if self.zero_based == "auto" else self.zero_based
        return replace(self, label=self.label or source.label, zero_based=zero_based)


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
    def encoding(self) -> "Encoding | None":
        return self.agreed.terms.encoding

    @property
    def fingerprint(self) -> str:
        return self.agreed.fingerprint

    def parted(self, held_out: HeldOut) -> "tuple[Cluster, Cluster]":
        """Return the same shards without the held-out rows, and with these only.

        Whether a row is held out depends on its number among all, so it is the same on any engine.
        """
        kept, held = (self._only(held_out, wanted) for wanted in (False, True))
        check_parts(self.n_rows, held.n_rows)
        return kept, held

    def _only(self, held_out: HeldOut, wanted: bool) -> "Cluster":
        part = HeldPart(held_out, wanted, self.agreed.starts)
        sizes = [part.size(number) for number in range(len(self.shards))]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        agreed = replace(self.agreed, starts=starts, part=part)
        return replace(self, agreed=agreed, shared=self.engine.share(agreed))

    def call(self, method: str, *args: Any, on: Sequence[int] | None = None) -> list[Any]:
        """Call a method that takes the agreement on every shard, or on some; return the results."""
        return self.engine.call(method, self.shared, *args, on=on)

    def take(self, numbers: NDArray[np.int64]) -> Block:
        """Return a copy of some examples, whose numbers among all ascend."""
        parts = [part for part in self.call("take", numbers) if part is not None]
        labels = np.concatenate([part.labels for part in parts])
        return Block(stacked([part.rows for part in parts]), labels, int(numbers[0]))


@contextlib.contextmanager
def started(engine: Engine, source: Any, reading: Reading, token: str | None = None) -> Iterator[Cluster]:
    """Start workers, and let the shards of a source agree; in the end remove the workers and their caches.

    A run that resumes after its driver was killed has the same `token`, and reuses the caches that still exist.
    """
    shards, reading = shards_of(source, format=reading.format, shard_bytes=reading.shard_bytes), reading.of(source)
    try:
        engine.start(Worker, shards)
        terms = _terms(engine, shards, reading, token or secrets.token_hex(8))
        agreed = _agreed(engine, shards, terms, reading)
        yield Cluster(engine, shards, agreed, engine.share(agreed))
    finally:
        engine.close()


def _terms(engine: Engine, shards: Sequence[Shard], reading: Reading, token: str) -> Terms:
    named = None if reading.classes is None else sorted_classes(reading.classes)
    both: dict[str, Any] = {
        "classes": named,
        "fit_intercept": reading.fit_intercept,
        "cache_folder": reading.cache_folder,
    }
    if not shards[0].is_table:
        if reading.label is not None or any(reading.column_roles.values()):
            raise ValueError("svmlight text has no named columns; omit label=")
        auto = reading.zero_based == "auto"
        from_zero = any(engine.call("counts_from_zero")) if auto else bool(reading.zero_based)
        return Terms(token, zero_based=from_zero, **both)
    if reading.label is None:
        raise ValueError("a table needs a column of labels; name it with label=")
    roles = reading.column_roles
    encoding, types = agree_on_tables(engine, shards, reading.label, roles, reading.encoding, reading.scale)
    return Terms(token, reading.label, encoding, types, **both)


def _agreed(engine: Engine, shards: Sequence[Shard], terms: Terms, reading: Reading) -> Agreement:
    shared = engine.share(terms)
    prepared: list[Prepared] = engine.call("prepare", shared)
    classes = _classes(shards, prepared, terms, reading.labels_are_shared)
    n_columns = max(part.n_columns for part in prepared)
    _check_widths(shards, prepared, n_columns)
    columns = None
    if is_too_wide(n_columns, sum(part.n_entries for part in prepared), vectors_for(len(classes))):
        columns = np.unique(np.concatenate(engine.call("used_columns", shared)))
    starts = np.array([0, *accumulate(part.n_rows for part in prepared)], dtype=np.int64)
    longest = max(part.longest for part in prepared)
    return Agreement(terms, tuple(prepared), classes, n_columns, longest, starts, columns)


def _check_widths(shards: Sequence[Shard], prepared: Sequence[Prepared], n_columns: int) -> None:
    for shard, part in zip(shards, prepared, strict=True):
        if not part.is_sparse and part.n_columns != n_columns:
            raise ValueError(f"{shard.name} has {part.n_columns} columns, but another shard has {n_columns}")


def _classes(
    shards: Sequence[Shard], prepared: Sequence[Prepared], terms: Terms, labels_are_shared: bool
) -> NDArray[Any]:
    """Return the labels of all shards, sorted."""
    if terms.classes is not None:
        return terms.classes
    labels = LabelCodes()
    for shard, part in zip(shards, prepared, strict=True):
        try:
            labels.codes(part.known)
        except ValueError as error:
            raise ValueError(f"{shard.name}: {error}") from None
    classes = labels.classes()
    if len(classes) < 2:
        raise ValueError(f"all labels are {classes.tolist()[0]!r}; at least two classes are required")
    if labels_are_shared and len(shards) > 1:
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
