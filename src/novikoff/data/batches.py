"""What a reader hands on, piece by piece: examples that are numbers already, or records that still have to become some.

A data set that does not fit into memory is a sequence of pieces. Each knows the file and the line of its first example,
so that whatever is wrong with one can be said with its place.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from novikoff.engine.rows import Rows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Batch:
    """Some examples: their rows, and their labels as the file has them (None: the file has none).

    Rows that were made for a batch, and that nobody will write to, `need_no_copy` to be kept. Rows that `are_encoded`
    are what is learned from; others still have to pass the encoding of a model, if it has one.
    """

    rows: Rows
    labels: NDArray[Any] | None
    file: str = ""
    line: int = 0
    need_no_copy: bool = False
    are_encoded: bool = False


@dataclass(frozen=True)
class Records:
    """Some records of a table: named columns that are not yet numbers, and the column of labels, apart."""

    columns: "pa.RecordBatch"
    labels: NDArray[Any] | None
    file: str = ""
    line: int = 0
