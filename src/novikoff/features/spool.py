"""A reader, or any iterable of batches, as blocks that can be visited again: through a temporary cache.

Whoever needs an example more than once spools the source first. Records of a table become numbers on the way, labels
become codes, and what is wrong with a batch is said with its place.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch, Records
from novikoff.data.blocks import with_columns
from novikoff.data.cache import Cache, CacheWriter, open_cache
from novikoff.data.labels import Labels, checked_labels, located_errors
from novikoff.data.streams import STANDARD_INPUT
from novikoff.engine.rows import Rows, as_rows

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

# What a matrix has, and a sequence of batches has not.
MATRIX_MARKS = ("__array__", "__array_interface__", "__dataframe__", "tocsr", "shape")


def comes_in_batches(X: Any) -> bool:
    """Whether X is a reader or another iterable of batches, and not a matrix of any kind."""
    if hasattr(X, "is_table"):
        return True
    if isinstance(X, list | tuple):
        return len(X) > 0 and _is_batch(X[0])
    not_batches = isinstance(X, str | bytes | dict | set) or any(hasattr(X, mark) for mark in MATRIX_MARKS)
    return hasattr(X, "__iter__") and not not_batches


def _is_batch(item: Any) -> bool:
    return isinstance(item, Batch | Records) or (isinstance(item, tuple) and len(item) == 2 and np.ndim(item[0]) == 2)


def comes_once(source: Iterable[Any]) -> bool:
    """Whether a source can be passed over only once."""
    return iter(source) is source or getattr(source, "files", None) == (STANDARD_INPUT,)


def encoding_for(source: Iterable[Any], encoding: "Encoding | None") -> "Encoding | None":
    """The encoding that was given, or else, for a table, the one that a pass over it suggests."""
    if encoding is None and getattr(source, "is_table", False):
        from novikoff.features.encode import learn_encoding

        return learn_encoding(source)
    return encoding


def batches_of(source: Iterable[Any], encoding: "Encoding | None" = None) -> Iterator[Batch]:
    """The examples of a source as numbers, batch by batch."""
    first = 0
    for item in source:
        if isinstance(item, Batch):
            batch = item
        elif isinstance(item, Records):
            if encoding is None:
                raise ValueError("records of a table need an encoding; see novikoff.features.encode.learn_encoding")
            batch = encoding.encode(item).batch
        else:
            batch = _batch_of_pair(item, first)
        first += batch.rows.n_rows
        if batch.rows.n_rows:
            yield batch


def _batch_of_pair(item: Any, first: int) -> Batch:
    try:
        X, y = item
    except (TypeError, ValueError):
        raise ValueError(f"a batch is a Batch or a pair (X, y), not {type(item).__name__}") from None
    rows, labels = as_rows(X), None
    if y is not None:
        with located_errors(Batch(rows, None, "", first)):
            labels = checked_labels(y)
    if labels is not None and labels.shape != (rows.n_rows,):
        raise ValueError(
            f"the batch that begins with row {first} has {rows.n_rows} rows, but labels of shape {labels.shape}: "
            "one label a row is needed"
        )
    return Batch(rows, labels, "", first)


@dataclass(frozen=True)
class Labelled:
    """The blocks of a cache with labels in place of codes."""

    cache: Cache
    labels: NDArray[Any]
    n_columns: int

    @property
    def n_rows(self) -> int:
        return self.cache.n_rows

    @property
    def starts(self) -> NDArray[np.int64]:
        return self.cache.starts

    def __len__(self) -> int:
        return len(self.cache)

    def block(self, number: int) -> tuple[Rows, NDArray[Any]]:
        rows, codes = self.cache.block(number)
        return with_columns(rows, self.n_columns), self.labels[codes]


@contextlib.contextmanager
def spooled(
    batches: Iterable[Batch],
    labels: Labels,
    check: Callable[[Rows], Any],
    folder: str | os.PathLike[str] | None = None,
) -> Iterator[Cache]:
    """A cache of all batches, which is gone afterwards. `check` sees every batch first, and may refuse its numbers.

    >>> batches = batches_of([([[1.0], [2.0]], ["no", "yes"]), ([[3.0]], ["no"])])
    >>> with spooled(batches, Labels(), check=lambda rows: None) as cache:
    ...     rows, codes = cache.block(0)
    ...     print(rows.as_array().tolist(), codes.tolist())
    [[1.0], [2.0], [3.0]] [0, 1, 0]
    """
    with _temporary_folder(folder) as place:
        path = Path(place) / "examples"
        with CacheWriter(path) as writer:
            for batch in batches:
                with located_errors(batch):
                    check(batch.rows)
                    writer.append(batch.rows, labels.codes(batch.labels))
        cache = open_cache(path)
        check_there_are_two(labels, cache.n_rows)
        yield cache


def check_there_are_two(labels: Labels, n_rows: int) -> None:
    """Refuse a source in which there is nothing to tell apart."""
    if n_rows == 0:
        raise ValueError("the source has no examples: there is nothing to learn from")
    if len(labels.known) < 2:
        raise ValueError(f"all labels are {labels.known.tolist()[0]!r}; at least two classes are needed to tell apart")


def _temporary_folder(folder: str | os.PathLike[str] | None) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="novikoff-", dir=folder)
    except OSError as error:
        how = "choose another with cache_folder=, or with the environment variable TMPDIR"
        why = f"a folder for the cache could not be made: {error.strerror}; {how}"
        raise OSError(error.errno, why, str(folder or tempfile.gettempdir())) from error
