"""What a reader hands on, piece by piece: examples that are numbers already, or records that still have to become some.

A data set that does not fit into memory is a sequence of pieces. Each knows the file and the line of its first example,
so that errors name the place. `Width` follows how wide the rows of pieces are, and `stacked` joins pieces.
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

    Rows that `are_encoded` are what is learned from; others still have to pass the encoding of a model, if it has one.
    What that could not express is counted by column: categories and words that were `unseen` in the training data, and
    are ignored, and values that are `missing` where none was before; they count as average, or as 0.
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
    """Some records of a table: named columns that are not yet numbers, and the column of labels, apart."""

    columns: "pa.RecordBatch"
    labels: NDArray[Any] | None
    file: str = ""
    line: int = 0


class Width:
    """How many columns batches have so far: dense ones all have as many; sparse ones may grow, but not beyond those.

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
        """Take note of a batch, or refuse it."""
        if self._is_known:
            fits = rows.n_columns <= self.n_columns if rows.is_sparse else rows.n_columns == self.n_columns
        else:
            fits = rows.is_sparse or rows.n_columns >= self.n_columns
        if not fits:
            raise ValueError(f"rows of {rows.n_columns} columns cannot follow rows of {self.n_columns} columns")
        self.n_columns = max(self.n_columns, rows.n_columns)
        self._is_known = self._is_known or not rows.is_sparse


def with_columns(rows: Rows, n_columns: int) -> Rows:
    """The same rows among so many columns. Sparse rows may get more, and lose what lies in columns beyond the last."""
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
    """All rows in one piece: sparse if all parts are; as many columns as the widest."""
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
