"""The interface of every kind of column, and the cells of a column of a table.

A kind defines its types and roles, the statistics gathered to learn it, the numbers that encode values, the names of
its features, its description, and its form in a file. So a new kind is one class, with the class that it gathers, and
an entry in `KINDS` of `features/gather.py`.

Each kind is frozen when training starts: from then on the same record gives the same numbers. A missing value has a
separate feature, "age is missing", if the training data had missing values in that column.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Records
from novikoff.data.delimited import MARKS
from novikoff.data.strict_json import Fields
from novikoff.data.tables import as_numpy, is_number
from novikoff.say.words import label_in_words

if TYPE_CHECKING:
    import pyarrow as pa

    from novikoff.features.gather import Column

NOTHING = -1
NO_ROWS = np.empty(0, dtype=np.int32)

AS_ASKED = "asked for"

# How many units make a day.
PER_DAY = {"D": 1, "s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}

# How the fields of a kind are read from a file, by their types.
_READ: dict[Any, Callable[[Fields, str], Any]] = {
    float: Fields.number,
    bool: Fields.flag,
    int: Fields.whole,
    str: Fields.text,
    tuple[str, ...]: Fields.texts,
    tuple[float, ...]: lambda column, name: column.each(name, column.as_number),
}


class ColumnEntries(NamedTuple):
    """The entries of a column, those of a row by ascending features; and how many values have no feature."""

    rows: NDArray[np.int32]
    features: NDArray[np.int32]
    values: NDArray[np.float64]
    unseen: int = 0
    missing: int = 0


@dataclass(frozen=True)
class Cells:
    """The values of one column in some records."""

    values: "pa.Array"
    name: str
    records: Records

    @property
    def file(self) -> str:
        return self.records.file or "the data"

    def error(self, what: str, row: int = 0) -> ValueError:
        """Return an error with the place of the value of a row."""
        return ValueError(f"{self.records.place(row)}: the column {self.name!r} {what}")

    def numbers(self) -> NDArray[np.float64]:
        """Return floats, NaN where a value is missing; raise an error, with its place, if a value is not finite."""
        import pyarrow as pa

        column = self.values
        if pa.types.is_null(column.type):
            return np.full(len(column), np.nan)
        if pa.types.is_temporal(column.type):
            return days(column)
        x = as_numpy(column if pa.types.is_float64(column.type) else self._floats(), math.nan)
        if not np.isfinite(x).all() and (infinite := np.isinf(x)).any():
            row = int(np.argmax(infinite))
            raise self.error(f"is {x[row]}; write a finite number, or nothing if missing", row)
        return x

    def _floats(self) -> "pa.Array":
        """Convert numbers of any type, or written in text, to floats."""
        import pyarrow as pa

        column = self.values
        try:
            if pa.types.is_string(column.type):
                column = as_written(column)
            elif not is_number(column.type):
                raise pa.ArrowInvalid
            return column.cast(pa.float64(), safe=False)
        except pa.ArrowInvalid:
            row, value = _first_word(column)
            raise self.error(f"has numbers, but here it has {value!r}; correct the value", row) from None

    def categories(self) -> tuple[list[str], NDArray[np.int64]]:
        """Return the distinct values as text, and the index of each row's value; -1 is a missing one."""
        import pyarrow as pa

        if pa.types.is_null(self.values.type):
            return [], np.full(len(self.values), NOTHING)
        coded = self.values.dictionary_encode()
        codes = as_numpy(coded.indices, NOTHING)
        values = coded.dictionary.to_pylist()
        if any(value != value for value in values):  # NaN, which may occur several times
            kept = [number for number, value in enumerate(values) if value == value]
            renumber = np.full(len(values) + 1, NOTHING)
            renumber[kept] = np.arange(len(kept))
            codes, values = renumber[codes], [values[number] for number in kept]
        return [label_in_words(value) for value in values], codes

    def texts(self) -> "pa.Array":
        """Return strings. Numbers among texts are texts, too."""
        import pyarrow as pa

        kind = self.values.type
        if pa.types.is_string(kind) or pa.types.is_null(kind) or is_number(kind):
            return self.values.cast(pa.string())
        raise self.error(f"is not text but {kind}; omit it from text=")

    def named(self) -> tuple[NDArray[np.int64], "pa.Array", NDArray[np.float64]]:
        """Return the row, the name and the value of every feature in a column of maps."""
        offsets = as_numpy(self.values.offsets).astype(np.int64)
        size = int(offsets[-1] - offsets[0])
        keys, items = (part.slice(int(offsets[0]), size) for part in (self.values.keys, self.values.items))
        return np.repeat(np.arange(len(self.values)), np.diff(offsets)), keys, as_numpy(items)


class Gathered(Protocol):
    """The statistics that are gathered, in one pass, to learn a kind; each kind has its own."""

    def add(self, cells: Cells) -> int:
        """Add more values; return how many are missing."""

    def join(self, other: Any) -> None:
        """Append what was gathered elsewhere from the values that follow."""

    def close(self) -> None:
        """Finish, after all values were added; most kinds need nothing."""
        return

    def n_entries(self, rows: int, missing: int) -> int:
        """Return how many nonzero entries the column will have, if it is not centred."""


class ColumnKind:
    """A kind of column."""

    kind: ClassVar[str]
    column_roles: ClassVar[tuple[str, ...]] = ()  # the roles with which a caller requests this kind, for any type
    is_used: ClassVar[bool] = True
    is_number: ClassVar[bool] = False  # whether its first feature is a number, which can be scaled, and not 0 or 1
    may_be_absent: ClassVar[bool] = False  # whether a table may lack the column
    no_formula: ClassVar[str | None] = None  # what it has that cannot be written in a formula
    has_missing: bool = False

    if TYPE_CHECKING:  # what every kind that is used defines

        @classmethod
        def gathered(cls, column: "Column") -> Gathered:
            """Return an object to gather a column in."""

        @classmethod
        def learned(cls, column: "Column", dense: bool) -> "ColumnKind":
            """Return the kind learned from the column, for dense or sparse rows."""

        @property
        def type(self) -> str:
            """The type in which to read the column."""

        @property
        def size(self) -> int:
            """The number of its features."""

        def name(self, column: str, number: int) -> str:
            """Return the name of one of its features."""

        def entries(self, cells: Cells) -> ColumnEntries:
            """Encode values as numbers."""

        def detail(self) -> str:
            """Describe the encoding of the column."""

    @property
    def takes_numbers(self) -> bool:
        """Whether a matrix of numbers can have values of the column."""
        return False

    @property
    def is_coded(self) -> bool:
        """Whether it has numbers, or dates, that stand for categories, which a formula has to state."""
        return False

    @classmethod
    def suits(cls, kind: "pa.DataType") -> bool:
        """Whether columns of this type are of this kind by default."""
        return False

    def unscaled(self) -> "ColumnKind":
        """Return the same kind with numbers unscaled."""
        return self

    def wrong(self) -> str | None:
        """Return what is wrong with it, if it was read from a file."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return its form in a file; floats are exact, and an empty list is omitted."""
        values = asdict(self)  # type: ignore[call-overload]
        lists = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        optional = {field.name for field in fields(self) if field.default == ()}  # type: ignore[arg-type]
        return {"kind": self.kind} | {name: value for name, value in lists.items() if value or name not in optional}

    @classmethod
    def from_fields(cls, column: Fields) -> Self:
        """Read the kind that `to_dict` wrote, and check every field."""
        values = {
            field.name: _READ[field.type](column, field.name)
            for field in fields(cls)  # type: ignore[arg-type]
            if field.default != () or column.has(field.name)
        }
        found = cls(**values)
        if (why := found.wrong()) is not None:
            column.fail(why)
        column.close()
        return found


@dataclass(frozen=True)
class Ignored(ColumnKind):
    """A column without features, and the reason."""

    kind: ClassVar[str] = "ignored"
    column_roles: ClassVar[tuple[str, ...]] = ("ignored",)
    is_used: ClassVar[bool] = False

    why: str

    @property
    def takes_numbers(self) -> bool:
        return True

    @property
    def size(self) -> int:
        return 0

    def detail(self) -> str:
        return self.why


def missing_name(column: str) -> str:
    return f"{column} is missing"


def noted(detail: str, kind: ColumnKind) -> str:
    """Return the description of a column, and whether some of its values are missing."""
    return f"{detail}; some are missing" if kind.has_missing else detail


def days(column: "pa.Array") -> NDArray[np.float64]:
    """Convert dates and times to days since 1970-01-01, durations and times of day to days; NaN if missing.

    >>> import datetime, pyarrow as pa
    >>> days(pa.array([datetime.date(1970, 1, 3), None])).tolist(), days(pa.array([datetime.time(6)])).tolist()
    ([2.0, nan], [0.25])
    """
    import pyarrow as pa

    kind = column.type
    unit = "D" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
    is_short = pa.types.is_date32(kind) or pa.types.is_time32(kind)
    counts = column.cast(pa.int32()) if is_short else column.cast(pa.int64())
    whole, rest = np.divmod(counts.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), PER_DAY[unit])
    found = whole + rest / PER_DAY[unit]
    return np.where(column.is_null().to_numpy(zero_copy_only=False), np.nan, found)


def as_written(column: "pa.Array") -> "pa.Array":
    """Return numbers in text as CSV has them: stripped of spaces, and missing where there is a mark for it."""
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(column)
    marks = compute.is_in(trimmed, value_set=pa.array(["", *MARKS]))
    return compute.if_else(marks, pa.scalar(None, pa.string()), trimmed)


def _first_word(column: "pa.Array") -> tuple[int, Any]:
    for row, value in enumerate(column.to_pylist()):
        if value is None:
            continue
        try:
            if not isinstance(value, str):
                return row, value
            float(value)
        except ValueError:
            return row, value
    return 0, column[0].as_py()
