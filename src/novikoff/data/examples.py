"""Labelled examples: the input of training, certificates, checks and reports.

They come in blocks, of which one is in use at a time. Arrays in memory are one block; a cache on disk has as many as it
needs (see `novikoff.features.examples`). So there is one driver for both, and the same model is learned from blocks as
from the same rows in one piece. Rows, entries and classes are counted once, when blocks are put together.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.batches import Batch, Width, stacked, with_columns
from novikoff.data.held_out import HeldOut, check_parts
from novikoff.data.labels import LabelCodes, checked_labels
from novikoff.engine.rows import Rows, as_rows


class Block(NamedTuple):
    """Some consecutive examples: their rows, their inner labels, and the number of the first among all."""

    rows: Rows
    labels: NDArray[Any]
    first: int

    def part(self, start: int, stop: int) -> "Block":
        """Return those from `start` to `stop`, sharing their entries."""
        return Block(self.rows.part(start, stop), self.labels[start:stop], self.first + start)


class BlockStore(Protocol):
    """A container of blocks: a list or a cache."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> tuple[Rows, NDArray[Any]]: ...


@dataclass(frozen=True, eq=False)
class _BlockSubset:
    """The held-out rows of blocks, or all others; blocks without any are omitted."""

    parts: BlockStore
    starts: NDArray[np.int64]
    held_out: HeldOut
    wanted: bool

    def __len__(self) -> int:
        return len(self._places)

    def labels(self, number: int) -> NDArray[Any]:
        place = self._places[number]
        return self.parts[place][1][self._rows(place)]

    def __getitem__(self, number: int, /) -> tuple[Rows, NDArray[Any]]:
        place = self._places[number]
        rows, labels = self.parts[place]
        return rows.take(self._rows(place)), labels[self._rows(place)]

    def _rows(self, place: int) -> NDArray[np.int64]:
        first, stop = self.starts[place : place + 2].tolist()
        return np.flatnonzero(self.held_out.which(first, stop - first) == self.wanted)

    @cached_property
    def _places(self) -> list[int]:
        return [place for place in range(len(self.parts)) if len(self._rows(place))]


@dataclass(frozen=True, eq=False)
class Examples:
    """Examples of some classes, block by block.

    `classes` are sorted, and `counts` has the number of examples of each. The inner label is -1 or +1 if there are two
    classes, and otherwise the index of the class: `parts` has these, or codes that `inner` maps to them, with the rows
    of every block. `n_entries` counts the stored numbers; in sparse rows, zeros are not stored.

    For a table, `label` is its column of labels, and `encoding` maps the others to numbers. `fingerprint` is the
    SHA-256 of a cache; `rounded` describes input numbers that were rounded. The rows are multiplied by `weights` before
    they are learned. `encode_without` returns the same examples in an encoding fitted without some rows.

    >>> examples = Examples.of([[1.0], [2.0], [3.0]], ["no", "yes", "no"])
    >>> examples.n_rows, examples.classes.tolist(), examples.counts, examples.block(0).labels.tolist()
    (3, ['no', 'yes'], (2, 1), [-1, 1, -1])
    """

    parts: BlockStore
    starts: NDArray[np.int64]
    classes: NDArray[Any]
    counts: tuple[int, ...]
    n_columns: int
    n_entries: int
    is_sparse: bool
    inner: NDArray[Any] | None = None
    label: str | None = None
    encoding: Any = None
    fingerprint: str | None = None
    rounded: str | None = None
    weights: NDArray[np.float64] | None = None
    encode_without: "Callable[[HeldOut], AbstractContextManager[Examples]] | None" = None

    @classmethod
    def of(cls, X: Any, y: ArrayLike) -> "Examples":
        """Return rows in memory with labels of any kind."""
        labels, rows = LabelCodes(), as_rows(X)
        codes = labels.codes(checked_labels(y))
        return cls.in_blocks([(rows, labels.inner()[codes])], len(labels.known), labels.classes())

    @classmethod
    def in_blocks(
        cls, parts: Sequence[tuple[Rows, ArrayLike]], n_classes: int = 2, classes: NDArray[Any] | None = None
    ) -> "Examples":
        """Return blocks in memory, with inner labels; without `classes`, these are the classes.

        >>> examples = Examples.in_blocks([(as_rows([[1.0], [2.0]]), [1, -1]), (as_rows([[3.0]]), [1])])
        >>> examples.starts.tolist(), examples.classes.tolist(), examples.counts
        ([0, 2, 3], [-1, 1], (1, 2))
        """
        width, counts, starts = Width(), np.zeros(n_classes, dtype=np.int64), [0]
        checked = []
        for rows, y in parts:
            try:
                labels = check_labels(y, rows.n_rows, n_classes)
                width.add(rows)
            except ValueError as error:
                if len(parts) == 1:
                    raise
                raise ValueError(f"in the block of rows that begins with row {starts[-1]}: {error}") from error
            counts += np.bincount(class_places(labels, n_classes), minlength=n_classes)
            starts.append(starts[-1] + rows.n_rows)
            checked.append((rows, labels))
        if not checked:
            raise ValueError("there are no rows: there is nothing to learn from")
        if classes is None:
            classes = np.array([-1, 1]) if n_classes == 2 else np.arange(n_classes)
        return cls(
            checked,
            np.array(starts, dtype=np.int64),
            classes,
            tuple(counts.tolist()),
            width.n_columns,
            sum(rows.n_entries for rows, _ in checked),
            all(rows.is_sparse for rows, _ in checked),
        )

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def n_blocks(self) -> int:
        return len(self.parts)

    @property
    def is_encoded(self) -> bool:
        """Whether the encoding of the rows was learned from these rows."""
        return self.encoding is not None and self.encoding.is_of_table

    def without(self, held_out: HeldOut) -> "AbstractContextManager[Examples]":
        """Return all examples, in an encoding that was not fitted on those held out."""
        if self.encode_without is not None:
            return self.encode_without(held_out)
        if self.is_encoded:
            raise ValueError(
                "the encoding of these columns was learned from all rows, and the records are no longer available; "
                "learn from the table itself, without encoding="
            )
        return nullcontext(self)

    def among(self, n_columns: int) -> "Examples":
        return replace(self, n_columns=n_columns)

    def block(self, number: int) -> Block:
        rows, labels = self.parts[number]
        inner = labels if self.inner is None else self.inner[labels]
        return Block(with_columns(rows, self.n_columns), inner, int(self.starts[number]))

    def blocks(self) -> Iterator[Block]:
        return (self.block(number) for number in range(self.n_blocks))

    def __iter__(self) -> Iterator[Batch]:
        """Yield the examples with their original labels, block by block."""
        return (Batch(rows, self.labels_of(inner), "", first, are_encoded=True) for rows, inner, first in self.blocks())

    def places_of(self, labels: NDArray[Any]) -> NDArray[Any]:
        return class_places(labels, len(self.classes))

    def labels_of(self, labels: NDArray[Any]) -> NDArray[Any]:
        return self.classes[self.places_of(labels)]

    def parted(self, held_out: HeldOut) -> "tuple[Examples, Examples]":
        """Return the training examples and the held-out examples, each renumbered."""
        kept, held = (self.only(held_out, wanted) for wanted in (False, True))
        check_parts(self.n_rows, held.n_rows)
        return kept, held

    def only(self, held_out: HeldOut, wanted: bool, first: int = 0) -> "Examples":
        """Return the held-out examples, or all others, renumbered; `first` is the number of the first of all.

        If they are one block, they are copied once, and not in every epoch.
        """
        some = _BlockSubset(self.parts, self.starts + first, held_out, wanted)
        labels = [some.labels(number) for number in range(len(some))]
        inner = [part if self.inner is None else self.inner[part] for part in labels]
        counts = np.zeros(len(self.classes), dtype=np.int64)
        for part in inner:
            counts += np.bincount(self.places_of(part), minlength=len(counts))
        parts: BlockStore = [some[0]] if len(some) == 1 else some
        starts = np.cumsum([0, *map(len, labels)])
        weights = self.weights
        if weights is not None:
            weights = weights[held_out.which(first, self.n_rows) == wanted]
        return replace(self, parts=parts, starts=starts, counts=tuple(counts.tolist()), weights=weights)

    def take(self, numbers: NDArray[np.int64]) -> Block:
        """Return a copy of some examples, given by ascending numbers."""
        rows, labels = [], []
        for number, (first, last) in enumerate(pairwise(np.searchsorted(numbers, self.starts).tolist())):
            if first < last:
                block = self.block(number)
                which = numbers[first:last] - block.first
                rows.append(block.rows.take(which))
                labels.append(block.labels[which])
        return Block(stacked(rows), np.concatenate(labels), int(numbers[0]))

    def in_one_piece(self) -> tuple[Any, NDArray[Any]]:
        """Return all examples as a matrix of NumPy or SciPy, and their labels."""
        blocks = list(self.blocks())
        rows = stacked([block.rows for block in blocks])
        labels = self.labels_of(np.concatenate([block.labels for block in blocks]))
        return rows.as_scipy() if rows.is_sparse else rows.matrix, labels


def class_places(labels: NDArray[Any], n_classes: int) -> NDArray[Any]:
    return (labels > 0).astype(np.int64) if n_classes == 2 else labels


def check_labels(y: ArrayLike, n_rows: int, n_classes: int) -> NDArray[Any]:
    """Return inner labels as a kernel needs them: -1 and +1 for two classes, 0, 1, ... for more."""
    labels = checked_labels(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}, but X has {n_rows} rows: one label per row is required")
    if n_rows == 0:
        raise ValueError("X has no rows: there is nothing to learn from")
    if labels.dtype.kind not in "biuf":
        known = (-1, 1) if n_classes == 2 else range(n_classes)
        good = np.array([label in known for label in labels.tolist()])
    else:
        good = (labels == 1) | (labels == -1) if n_classes == 2 else (labels >= 0) & (labels < n_classes)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        wanted = "-1 or +1" if n_classes == 2 else f"a whole number from 0 to {n_classes - 1}"
        raise ValueError(f"label {labels.tolist()[row]!r} in row {row} must be {wanted}")
    return np.ascontiguousarray(labels, dtype=np.int8 if n_classes == 2 else np.int64)
