"""The pieces that a reader yields: examples that are numbers already, or records that are still to be encoded.

A data set that does not fit into memory is a sequence of pieces. Each has the file and the line of its first example,
for error messages. `Width` tracks the number of columns, and `stacked` joins pieces.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import Rows, as_rows, csr_rows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Batch:
    """Some examples: their rows, and their labels as the file has them (None: the file has none).

    Rows that `are_encoded` are learned from as they are; others first pass the encoding of a model, if it has one.
    Values without an encoding are counted by column: categories and words not seen in training are `unseen`, and
    ignored; values `missing` in a column that had none missing in training become its average, or 0.
    """

    rows: Rows
    labels: NDArray[Any] | None
    file: str = ""
    line: int = 0
    are_encoded: bool = False
    unseen: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Records:
    """Some records of a table: named columns, not yet encoded, and separately the column of labels.

    Where lines are unknown or do not exist, `line` counts rows, and the `unit` is "row".
    """

    columns: "pa.RecordBatch"
    labels: NDArray[Any] | None
    file: str = ""
    line: int = 0
    unit: str = "line"

    def place(self, row: int = 0) -> str:
        """Return the place of a record: its file, and its line or row."""
        return f"{self.file or 'the data'}, {self.unit} {self.line + row}"


class Width:
    """The number of columns so far: dense batches must agree; sparse ones may widen, up to the width of dense ones.

    >>> width = Width()
    >>> for X in ([[1.0, 2.0]], [[3.0, 4.0]]):
    ...     width.add(as_rows(X))
    >>> width.n_columns
    2
    """

    def __init__(self) -> None:
        self.n_columns = 0
        self._is_known = False

    def add(self, rows: Rows) -> None:
        """Include a batch; raise an error if it does not fit."""
        if self._is_known:
            fits = rows.n_columns <= self.n_columns if rows.is_sparse else rows.n_columns == self.n_columns
        else:
            fits = rows.is_sparse or rows.n_columns >= self.n_columns
        if not fits:
            raise ValueError(f"rows of {rows.n_columns} columns cannot follow rows of {self.n_columns} columns")
        self.n_columns = max(self.n_columns, rows.n_columns)
        self._is_known = self._is_known or not rows.is_sparse


def with_columns(rows: Rows, n_columns: int) -> Rows:
    """Return the same rows with `n_columns` columns. Only sparse rows can change: they lose entries beyond the last."""
    if rows.n_columns == n_columns:
        return rows
    if not rows.is_sparse:
        raise ValueError(f"rows of {rows.n_columns} columns came where {n_columns} columns were expected")
    data, indices, indptr = rows.matrix
    if rows.n_columns < n_columns or not np.any(outside := indices >= n_columns):
        return replace(rows, n_columns=n_columns)
    gone = np.concatenate([[0], np.cumsum(outside)])[indptr.astype(np.int64)]
    pointers = (indptr - gone).astype(indptr.dtype)
    return rows.ordered_alike(csr_rows(data[~outside], indices[~outside], pointers, n_columns))


def stacked(parts: Sequence[Rows]) -> Rows:
    """Stack all rows: sparse if all parts are, and as wide as the widest."""
    if len(parts) == 1:
        return parts[0]
    parts = [part.in_order() for part in parts]
    if not all(part.is_sparse for part in parts):
        return as_rows(np.vstack([part.matrix if not part.is_sparse else part.as_array() for part in parts]))
    ends = np.cumsum([0, *(int(part.matrix.indptr[-1]) for part in parts)])
    kind = np.result_type(*(part.matrix.indices.dtype for part in parts), np.min_scalar_type(int(ends[-1])), np.uint32)
    pointers = [part.matrix.indptr[1:] + kind.type(end) for part, end in zip(parts, ends[:-1], strict=True)]
    return csr_rows(
        np.concatenate([part.matrix.data[: part.matrix.indptr[-1]] for part in parts]),
        np.concatenate([part.matrix.indices[: part.matrix.indptr[-1]] for part in parts]).astype(kind, copy=False),
        np.concatenate([np.zeros(1, kind), *pointers]).astype(kind, copy=False),
        max(part.n_columns for part in parts),
    )
