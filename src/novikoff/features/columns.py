"""What every kind of column has, and what a column of a table holds.

A kind owns all of itself: which types and column_roles it is for, what is gathered to learn it, the numbers that values
become, the names of its features, its words for people, and its form in a file. So a new kind is one class, with what
it gathers, and a place in `KINDS` of `features/gather.py`.

Each kind is frozen when learning starts: the same record gives the same numbers ever after. A value that is missing
becomes a feature of its own, "age is missing", if the training data had missing ones in that column.
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
from novikoff.data.tables import as_numpy, is_number, place
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
    """The entries of a column, those of a row by ascending features; and how many values have none."""

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

    def place(self, row: int = 0) -> str:
        """Where the value of a row stands."""
        return place(self.records, row)

    @property
    def file(self) -> str:
        return self.records.file or "the data"

    def numbers(self) -> NDArray[np.float64]:
        """Floats, NaN where a value is missing; what is no finite number is an error with its place."""
        import pyarrow as pa

        column = self.values
        if pa.types.is_null(column.type):
            return np.full(len(column), np.nan)
        if pa.types.is_temporal(column.type):
            return days(column)
        x = as_numpy(column if pa.types.is_float64(column.type) else self._floats(), math.nan)
        if not np.isfinite(x).all() and (infinite := np.isinf(x)).any():
            row = int(np.argmax(infinite))
            raise ValueError(
                f"{self.place(row)}: the column {self.name!r} is {x[row]}; write a finite number, or nothing if missing"
            )
        return x

    def _floats(self) -> "pa.Array":
        """Numbers of any type, or in words, as floats."""
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
            raise ValueError(
                f"{self.place(row)}: the column {self.name!r} has numbers, but here it has {value!r}; correct the value"
            ) from None

    def categories(self) -> tuple[list[str], NDArray[np.int64]]:
        """The different values as text, and the number of each row's value; -1 is a missing one."""
        import pyarrow as pa

        if pa.types.is_null(self.values.type):
            return [], np.full(len(self.values), NOTHING)
        coded = self.values.dictionary_encode()
        codes = as_numpy(coded.indices, NOTHING)
        values = coded.dictionary.to_pylist()
        if any(value != value for value in values):  # NaN, of which there may be several
            kept = [number for number, value in enumerate(values) if value == value]
            renumber = np.full(len(values) + 1, NOTHING)
            renumber[kept] = np.arange(len(kept))
            codes, values = renumber[codes], [values[number] for number in kept]
        return [label_in_words(value) for value in values], codes

    def texts(self) -> "pa.Array":
        """Strings. Numbers among texts are texts, too."""
        import pyarrow as pa

        kind = self.values.type
        if pa.types.is_string(kind) or pa.types.is_null(kind) or is_number(kind):
            return self.values.cast(pa.string())
        raise ValueError(f"{self.place()}: the column {self.name!r} is no text but {kind}; leave it out of text=")

    def named(self) -> tuple[NDArray[np.int64], "pa.Array", NDArray[np.float64]]:
        """The row, the name and the value of every feature in a column of maps."""
        offsets = as_numpy(self.values.offsets).astype(np.int64)
        size = int(offsets[-1] - offsets[0])
        keys, items = (part.slice(int(offsets[0]), size) for part in (self.values.keys, self.values.items))
        return np.repeat(np.arange(len(self.values)), np.diff(offsets)), keys, as_numpy(items)


class Gathered(Protocol):
    """What is gathered, in one pass, to learn a kind from; a kind has one of its own."""

    def add(self, cells: Cells) -> int:
        """Go on with more values; returns how many are missing."""

    def join(self, other: Any) -> None:
        """Go on with what was gathered elsewhere, from the values that follow."""

    def close(self) -> None:
        """All values were added; most have nothing left to do."""
        return

    def n_entries(self, rows: int, missing: int) -> int:
        """How many entries the column will have that are not 0, as long as it is not centred."""


class ColumnKind:
    """A kind of column."""

    kind: ClassVar[str]
    column_roles: ClassVar[tuple[str, ...]] = ()  # what a caller asks for to have this kind, for any type
    is_used: ClassVar[bool] = True
    is_number: ClassVar[bool] = False  # whether its first feature is a number, in scales, and not yes or no
    may_be_absent: ClassVar[bool] = False  # whether a table may lack the column
    no_formula: ClassVar[str | None] = None  # what it has that a formula has no number for
    has_missing: bool = False

    if TYPE_CHECKING:  # what every kind has that is used

        @classmethod
        def gathered(cls, column: "Column") -> Gathered:
            """What a column is gathered in."""

        @classmethod
        def learned(cls, column: "Column", dense: bool) -> "ColumnKind":
            """What the column has turned out to be, in rows that are dense, or not."""

        @property
        def type(self) -> str:
            """The type as which the column is best read."""

        @property
        def size(self) -> int:
            """How many features it has."""

        def name(self, column: str, number: int) -> str:
            """What one of its features is called."""

        def entries(self, cells: Cells) -> ColumnEntries:
            """The numbers that values become."""

        def detail(self) -> str:
            """What became of the column, for people to read."""

    @property
    def takes_numbers(self) -> bool:
        """Whether values of a matrix of numbers can be values of the column."""
        return False

    @property
    def is_coded(self) -> bool:
        """Whether it has numbers, or dates, that stand for categories, as a formula has to be told."""
        return False

    @classmethod
    def suits(cls, kind: "pa.DataType") -> bool:
        """Whether columns of this type are of this kind, unless something else is asked for."""
        return False

    def unscaled(self) -> "ColumnKind":
        """The same, with numbers as they are."""
        return self

    def wrong(self) -> str | None:
        """What is wrong with it, if it came from a file."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Its form in a file; floats survive exactly, and an empty list is left out."""
        values = asdict(self)  # type: ignore[call-overload]
        lists = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        optional = {field.name for field in fields(self) if field.default == ()}  # type: ignore[arg-type]
        return {"kind": self.kind} | {name: value for name, value in lists.items() if value or name not in optional}

    @classmethod
    def from_fields(cls, column: Fields) -> Self:
        """The kind that `to_dict` wrote, every field of which is looked at."""
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
    """A column without features, and why."""

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
    """The feature of a missing value."""
    return f"{column} is missing"


def noted(detail: str, kind: ColumnKind) -> str:
    """What became of a column, and whether some of its values are missing."""
    return f"{detail}; some are missing" if kind.has_missing else detail


def has_nan(x: NDArray[np.float64]) -> bool:
    """Whether a number is NaN: the least of some is, if one of them is, and that is found quickly."""
    return bool(np.isnan(np.min(x, initial=0.0)))


def days(column: "pa.Array") -> NDArray[np.float64]:
    """Dates and times as days since 1970-01-01; durations and times of day as days. NaN where one is missing.

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
    """Numbers that came as text, as CSV has them: without spaces around, and missing where a mark stands for one."""
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(column)
    marks = compute.is_in(trimmed, value_set=pa.array(["", *MARKS]))
    return compute.if_else(marks, pa.scalar(None, pa.string()), trimmed)


def _first_word(column: "pa.Array") -> tuple[int, Any]:
    """The first value that is not a number."""
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
