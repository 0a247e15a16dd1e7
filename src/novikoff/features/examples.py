"""Examples from a reader, or any iterable of batches, stored in a temporary cache so that they can be visited again.

Records of a table are encoded as numbers, labels as codes, and errors name the place of their batch. Training,
certificates, checks and the report all use the same cache.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch, Records, stacked
from novikoff.data.cache import Cache, CacheWriter
from novikoff.data.examples import Examples
from novikoff.data.frames import has_names, is_frame, read_frame
from novikoff.data.held_out import HeldOut
from novikoff.data.labels import LabelCodes, checked_labels, located_errors
from novikoff.data.streams import STANDARD_INPUT
from novikoff.engine.ahead import ahead
from novikoff.engine.rows import Rows, as_rows, check_finite

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding
    from novikoff.features.lift import Lift
    from novikoff.features.scaling import TableScale

# How many numbers of an array are converted to columns of a table at a time.
PIECE = 1 << 22

# Records of more bytes than this are read again instead of stored.
MOST_REMEMBERED = 1 << 26

# Attributes that a matrix has, but not a sequence of batches.
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
    return iter(source) is source or getattr(source, "files", None) == (STANDARD_INPUT,)


def batches_of(
    source: Iterable[Any],
    encoding: "Encoding | None" = None,
    n_jobs: int | None = 1,
    rounded: list[str] | None = None,
) -> Iterator[Batch]:
    """Yield the examples of a source as numbers, batch by batch; `n_jobs` threads encode the next batches.

    The first integer column that float64 rounds is noted in `rounded`.
    """
    pieces = _with_places(source, encoding, [] if rounded is None else rounded)
    if encoding is not None:
        n_jobs = getattr(source, "n_jobs", n_jobs)
        batches = ahead(lambda item: encoding.encode(item), pieces, n_jobs)
    else:
        batches = pieces
    return (batch for batch in batches if batch.rows.n_rows)


def given_to(encoding: "Encoding", X: Any, labels: NDArray[Any] | None = None) -> Iterable[Any]:
    """Return input of any form as pieces that the encoding of a table accepts: a table with names by its names, all
    others by the positions of their columns."""
    if comes_in_batches(X):
        return X
    if is_frame(X) and has_names(X):
        return read_frame(X, types=encoding.types, labels=labels)
    array = X if hasattr(X, "tocsr") else np.asarray(X)
    if hasattr(X, "tocsr") or array.dtype.kind in "biuf":
        return _pieces(as_rows(array), labels)
    array = np.array(X, dtype=object) if isinstance(X, list | tuple) else array
    return read_frame(encoding.tabled(array), types=encoding.types, labels=labels)


def _pieces(rows: Rows, labels: NDArray[Any] | None) -> list[Batch]:
    """Split rows into pieces, none of which is large when stored densely."""
    step = max(1, PIECE // max(rows.n_columns, 1))
    starts = range(0, rows.n_rows, step)
    parts = [(rows.part(start, min(start + step, rows.n_rows)), start) for start in starts]
    return [Batch(part, None if labels is None else labels[at : at + step], "", at) for part, at in parts]


def _with_places(source: Iterable[Any], encoding: "Encoding | None", rounded: list[str]) -> Iterator[Any]:
    """Yield the pieces of a source; pairs (X, y) become batches with their first row, or records if X is a table."""
    first = 0
    for item in source:
        if isinstance(item, Records):
            if encoding is None:
                raise ValueError("records of a table need an encoding; see novikoff.features.encode.learn_encoding")
            first += item.columns.num_rows
            if not rounded and (why := rounded_column(item, encoding)) is not None:
                rounded.append(why)
            yield item
        elif isinstance(item, tuple) and is_frame(item[0]):
            if encoding is None or not encoding.is_of_table:
                raise ValueError(
                    "a batch is a table, and there is no encoding for its columns; learn from the whole table, in "
                    "memory or by novikoff.data.read, or make each batch an array of numbers"
                )
            labels = None if item[1] is None else checked_labels(item[1])
            yield from read_frame(item[0], types=encoding.types, labels=labels)
        else:
            batch = item if isinstance(item, Batch) else _batch_of_pair(item, first)
            first += batch.rows.n_rows
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
            "one label per row is required"
        )
    return Batch(rows, labels, "", first)


def learned_encoding(
    source: Iterable[Any],
    encoding: "Encoding | None" = None,
    held_out: HeldOut | None = None,
    *,
    scale: "TableScale" = "auto",
    lift: "Lift | None" = None,
    **columns: Any,
) -> "Encoding | None":
    """Return the given encoding, or that of examples; otherwise, for a table, learn one in a pass over it.

    It is not fitted on rows that are held out. The roles of `columns`, `scale` and `lift` are as for `learn_encoding`.
    """
    if encoding is None and isinstance(source, Examples):
        return source.encoding
    if encoding is None and getattr(source, "is_table", False):
        from novikoff.features.encode import learn_encoding

        return learn_encoding(source, scale=scale, lift=lift, held_out=held_out, **columns)
    if any(columns.values()):
        raise ValueError("svmlight text has no named columns; omit categorical=, text=, tfidf= and ignore=")
    if encoding is not None or lift is None:
        return encoding
    from novikoff.features.encode import Encoding

    return Encoding.of_numbers(max((batch.rows.n_columns for batch in batches_of(source)), default=0), lift)


def rounded_column(records: Records, encoding: "Encoding | None") -> str | None:
    """Describe the first column of integers that float64 would round; None if there is none."""
    import pyarrow as pa
    from pyarrow import compute

    present = set(records.columns.schema.names)
    for name, kind in ({} if encoding is None else encoding.columns).items():
        if not kind.is_number or name not in present:
            continue
        column = records.columns.column(name)
        if not pa.types.is_integer(column.type) or len(column) == 0:
            continue
        bounds = compute.min_max(column).as_py()
        if max(abs(bounds["min"] or 0), abs(bounds["max"] or 0)) > 2**53:
            where = f" in {records.file}" if records.file else ""
            return (
                f"the column {name!r}{where} has whole numbers beyond 2^53, which float64 would round; subtract an "
                "offset, or treat the column as categorical, or ignore it"
            )
    return None


@contextlib.contextmanager
def cached(
    source: Iterable[Any],
    *,
    encoding: "Encoding | None" = None,
    label: str | None = None,
    classes: NDArray[Any] | None = None,
    check: Callable[[Rows], Any] = check_finite,
    folder: str | os.PathLike[str] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Iterator[Examples]:
    """Store the examples of a reader or of batches in a temporary cache, which is removed afterwards.

    Input that is `Examples` is used as it is. `encoding` and `label` default to those of the source. `classes` may name
    the classes beforehand. `check` is called first with the rows of every batch, and may raise an error. If the roles
    of the `columns` of a table are given, its examples can be encoded again without some rows, from the records, which
    are then kept in memory if they are few.

    >>> with cached([([[1.0], [2.0]], ["no", "yes"]), ([[3.0]], ["no"])]) as examples:
    ...     examples.n_rows, examples.counts, examples.block(0).labels.tolist()
    (3, (2, 1), [-1, 1, -1])
    """
    if isinstance(source, Examples) and (classes is None or np.array_equal(classes, source.classes)):
        yield source
        return
    encoding, rounded, labels = learned_encoding(source, encoding), list[str](), LabelCodes(classes)
    records: list[Records] | None = [] if columns is not None and getattr(source, "is_table", False) else None
    with _temporary_folder(folder) as place:
        cache, counts = _encoded(Path(place) / "examples", source, encoding, labels, check, rounded, records)
        check_there_are_two(labels, cache.n_rows)
        again = None if records is None else partial(_encoded_without, records or source, columns, check, folder)
        yield Examples(
            cache,
            cache.starts,
            labels.classes(),
            counts,
            cache.n_columns,
            cache.n_entries,
            cache.is_sparse,
            labels.inner(),
            label or getattr(source, "label", None),
            encoding,
            cache.fingerprint,
            next(iter(rounded), None),
            encode_without=again,
        )


@contextlib.contextmanager
def _encoded_without(
    source: Any,
    columns: Mapping[str, Any] | None,
    check: Callable[[Rows], Any],
    folder: str | os.PathLike[str] | None,
    held_out: HeldOut,
) -> Iterator[Examples]:
    """Open the examples of a table, in an encoding that was fitted without some rows; records in memory are a list."""
    from novikoff.features.encode import learn_encoding

    encoding = learn_encoding(source, held_out=held_out, **(columns or {}))
    if not isinstance(source, list):
        with cached(source, encoding=encoding, check=check, folder=folder) as examples:
            yield examples
        return
    batches = list(batches_of(source, encoding))
    examples = Examples.of(stacked([batch.rows for batch in batches]), np.concatenate([b.labels for b in batches]))
    for block in examples.blocks():
        check(block.rows)
    yield replace(examples, encoding=encoding)


def _remembered(source: Iterable[Records], kept: list[Records]) -> Iterator[Records]:
    """Yield records, and keep them all, if they are few; none otherwise."""
    n_bytes = 0
    for records in source:
        n_bytes += records.columns.nbytes
        if n_bytes <= MOST_REMEMBERED:
            kept.append(records)
        else:
            kept.clear()
        yield records


def _encoded(
    path: Path,
    source: Iterable[Any],
    encoding: "Encoding | None",
    labels: LabelCodes,
    check: Callable[[Rows], Any],
    rounded: list[str],
    records: list[Records] | None,
) -> tuple[Cache, tuple[int, ...]]:
    """Write a cache of all examples; return it with the number of examples of each class. Few `records` are kept.

    Unless `zero_based` is given, indices are assumed to begin with 1 until one is 0. Errors name columns by their final
    numbers.
    """

    def write(items: Iterable[Any]) -> tuple[Cache, tuple[int, ...]]:
        return written(path, batches_of(items, encoding, getattr(source, "n_jobs", 1), rounded), labels, check)

    if encoding is None and getattr(source, "is_undecided", False):
        try:
            return write(source.from_one())  # type: ignore[attr-defined]
        except ValueError:
            if not source.counts_from_zero:  # type: ignore[attr-defined]
                raise
    return write(source if records is None else _remembered(source, records))


def written(
    path: Path, batches: Iterable[Batch], labels: LabelCodes, check: Callable[[Rows], Any]
) -> tuple[Cache, tuple[int, ...]]:
    """Write all batches into a cache; return it, and how many examples each class has."""
    counts = np.zeros(len(labels.known), dtype=np.int64)
    with CacheWriter(path) as writer:
        for batch in batches:
            with located_errors(batch):
                check(batch.rows)
                codes = labels.codes(batch.labels)
                writer.append(batch.rows, codes)
            more = np.bincount(codes, minlength=len(labels.known))
            more[: len(counts)] += counts
            counts = more
    return writer.cache, tuple(counts[labels.order].tolist())


def check_there_are_two(labels: LabelCodes, n_rows: int) -> None:
    if n_rows == 0:
        raise ValueError("the source has no examples: there is nothing to learn from")
    if len(labels.known) < 2:
        raise ValueError(f"all labels are {labels.known.tolist()[0]!r}; at least two classes are required")


def _temporary_folder(folder: str | os.PathLike[str] | None) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="novikoff-", dir=folder)
    except OSError as error:
        how = "choose another with cache_folder=, or with the environment variable TMPDIR"
        why = f"a folder for the cache could not be made: {error.strerror}; {how}"
        raise OSError(error.errno, why, str(folder or tempfile.gettempdir())) from error
