"""The kinds of columns, and the numbers that their values become.

Each kind is frozen when learning starts: the same record gives the same numbers ever after. A value that is missing
becomes a feature of its own, "age is missing", if the training data had missing ones in that column.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.arrow import as_numpy
from novikoff.data.batches import Records
from novikoff.data.delimited import MARKS
from novikoff.data.tables import NAMED_VALUES, is_number, place, read_days, type_named
from novikoff.data.vw import UNNAMED
from novikoff.engine.buckets import PAIRS, Features
from novikoff.features.vocabulary import features_by_row, keys_of
from novikoff.say.words import label_in_words

if TYPE_CHECKING:
    import pyarrow as pa

NOTHING = -1
NO_ROWS = np.empty(0, dtype=np.int32)


class Entries(NamedTuple):
    """The entries of a column, those of a row by ascending features; and how many values have none."""

    rows: NDArray[np.int32]
    features: NDArray[np.int32]
    values: NDArray[np.float64]
    unseen: int
    missing: int


@dataclass(frozen=True)
class Numeric:
    """A number x becomes (x - mean) / deviation. Not centred means mean 0; a constant has the deviation 1 here."""

    kind: ClassVar[str] = "numeric"
    takes_numbers: ClassVar[bool] = True

    mean: float
    deviation: float
    has_missing: bool = False

    @property
    def type(self) -> str:
        """The type as which the column is best read."""
        return "double"

    @property
    def size(self) -> int:
        """How many features it has."""
        return 1 + self.has_missing

    def name(self, column: str, number: int) -> str:
        """What one of its features is called."""
        return column if number == 0 else _missing(column)

    def scaled(self, column: "pa.Array", name: str, records: Records) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """The value of every row, 0 where it is missing, and the rows where it is missing."""
        x = numbers(column, name, records)
        x = x - self.mean  # a copy, whatever the mean
        x /= self.deviation
        missing = np.flatnonzero(np.isnan(x)) if has_nan(x) else NO_ROWS
        x[missing] = 0.0
        return x, missing

    def entries(self, column: "pa.Array", name: str, records: Records) -> Entries:
        x, missing = self.scaled(column, name, records)
        features = np.zeros(len(x), dtype=np.int32)
        if self.has_missing:
            x[missing], features[missing] = 1.0, 1
        rows = np.flatnonzero(x).astype(np.int32)
        return Entries(rows, features[rows], x[rows], 0, 0 if self.has_missing else len(missing))


@dataclass(frozen=True)
class Dated(Numeric):
    """A date is the number of days since 1970-01-01, with the time of day as a fraction; then it is like any number.

    A time of day without a date, and a duration, are counted in days, too. `unit` is the type that holds all of their
    sort, whatever the precision and the zone in which a container has them: timestamp[us], time64[us] or duration[us];
    or, in models of 0.1.0, the type that the column had.
    """

    kind: ClassVar[str] = "date"
    takes_numbers: ClassVar[bool] = False

    unit: str = "timestamp[us]"

    @property
    def type(self) -> str:
        return self.unit

    def scaled(self, column: "pa.Array", name: str, records: Records) -> tuple[NDArray[np.float64], NDArray[Any]]:
        import pyarrow as pa

        if pa.types.is_string(column.type):
            try:
                column = self._read(as_written(column))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                where, why = records.file or "the data", str(error).partition("\n")[0]
                raise ValueError(f"{where}: the column {name!r} has dates, and one cannot be read ({why})") from None
        return super().scaled(column, name, records)

    def _read(self, column: "pa.Array") -> "pa.Array":
        """Dates from text; a time of day as one of the first day, because Arrow casts no text to times."""
        from pyarrow import compute

        if self.unit.startswith("duration"):
            return column.cast(type_named(self.unit))
        if not self.unit.startswith(("date", "timestamp")):
            column = compute.binary_join_element_wise("1970-01-01T", column, "")
        return read_days(column)


@dataclass(frozen=True)
class Categorical:
    """A value becomes a 1 in the feature of its own. Values of the type `type`, in order, as text."""

    kind: ClassVar[str] = "categorical"

    values: tuple[str, ...]
    type: str
    has_missing: bool = False

    @property
    def takes_numbers(self) -> bool:
        """Whether the values of a matrix of numbers can be values of the column."""
        return self.type == "bool" or is_number(type_named(self.type))

    @cached_property
    def places(self) -> dict[str, int]:
        return {value: number for number, value in enumerate(self.values)}

    @property
    def size(self) -> int:
        return len(self.values) + self.has_missing

    def name(self, column: str, number: int) -> str:
        return f"{column}={self.values[number]}" if number < len(self.values) else _missing(column)

    def entries(self, column: "pa.Array", name: str, records: Records) -> Entries:
        words, codes = categories(column)
        self._check_same_sort(column.type, name, records)
        # The last place is that of a missing value, whose code is -1.
        feature_of_missing = len(self.values) if self.has_missing else NOTHING
        features = np.array([self.places.get(word, NOTHING) for word in words] + [feature_of_missing], dtype=np.int32)
        found = features[codes]
        rows = np.flatnonzero(found != NOTHING).astype(np.int32)
        n_missing = int(np.count_nonzero(codes == NOTHING))
        missing = 0 if self.has_missing else n_missing
        return Entries(rows, found[rows], np.ones(len(rows)), len(found) - len(rows) - missing, missing)

    def _check_same_sort(self, kind: "pa.DataType", name: str, records: Records) -> None:
        """Words may turn out to be numbers in a shorter file, but 'true' and True are not written alike."""
        import pyarrow as pa

        if pa.types.is_boolean(kind) != (self.type == "bool") and not pa.types.is_null(kind):
            raise ValueError(
                f"{place(records, 0)}: the column {name!r} is {kind} here, but was {self.type} when the encoding was "
                "learned; pass types=encoding.types to read"
            )


@dataclass(frozen=True)
class Text:
    """A text becomes a 1 in the feature of each word, and of each pair of neighbouring words, that it contains.

    `words` are those that have a feature, by their buckets, into which their CRC-32 puts them. A bucket has a few, so
    that their number is bounded; all others count for nothing. If there are `weights`, these stand in the place of the
    1, times 1 + 1/2 + ... + 1/m where a word stands m times, and every text is divided by its length.
    """

    kind: ClassVar[str] = "text"
    takes_numbers: ClassVar[bool] = False

    words: tuple[str, ...]
    n_buckets: int
    has_missing: bool = False
    weights: tuple[float, ...] = ()

    @property
    def type(self) -> str:
        return "string"

    @cached_property
    def features(self) -> Features:
        """The features of every bucket."""
        keys = keys_of(self.words)
        buckets = keys % PAIRS % self.n_buckets
        return Features(np.searchsorted(buckets, np.arange(self.n_buckets + 1)).astype(np.int32), keys)

    @property
    def size(self) -> int:
        return len(self.words) + self.has_missing

    def name(self, column: str, number: int) -> str:
        return f"{column}:{self.words[number]}" if number < len(self.words) else _missing(column)

    def entries(self, column: "pa.Array", name: str, records: Records) -> Entries:
        rows, features, times, unseen = features_by_row(texts(column, name, records), self.n_buckets, self.features)
        values = self._values(rows, features, times)
        missing = np.flatnonzero(as_numpy(column.is_null())).astype(np.int32) if column.null_count else NO_ROWS
        if self.has_missing and len(missing):
            rows = np.concatenate([rows, missing])
            features = np.concatenate([features, np.full(len(missing), len(self.words), dtype=np.int32)])
            values = np.concatenate([values, np.ones(len(missing))])
        return Entries(rows, features, values, unseen, 0 if self.has_missing else len(missing))

    def _values(
        self, rows: NDArray[np.int32], features: NDArray[np.int32], times: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """The value of every feature in its row."""
        if not self.weights:
            return np.ones(len(rows))
        shares = np.cumsum(1.0 / np.arange(1, times.max(initial=0) + 1))  # about 1 + log(times), on every machine alike
        values = self._weights[features] * shares[times - 1]
        return np.asarray(values / np.sqrt(np.bincount(rows, values * values))[rows])

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return np.array(self.weights)


@dataclass(frozen=True)
class Named:
    """Features that come with names and values of their own, as in Vowpal Wabbit's text, in order of their names.

    A name that an example does not have is 0 there, and the values of one that it has twice are added up.
    """

    kind: ClassVar[str] = "named"
    takes_numbers: ClassVar[bool] = False

    values: tuple[str, ...]

    @property
    def type(self) -> str:
        return NAMED_VALUES

    @property
    def size(self) -> int:
        return len(self.values)

    @cached_property
    def known(self) -> "pa.Array":
        """The names, for looking them up."""
        import pyarrow as pa

        return pa.array(self.values, pa.string())

    def name(self, column: str, number: int) -> str:
        return self.values[number] if column == UNNAMED else f"{column}^{self.values[number]}"

    def entries(self, column: "pa.Array", name: str, records: Records) -> Entries:
        from pyarrow import compute

        if str(column.type) != NAMED_VALUES:
            raise ValueError(f"{place(records, 0)}: the column {name!r} is {column.type}, but had features with names")
        rows, keys, values = named_entries(column)
        features = as_numpy(compute.index_in(keys, value_set=self.known), NOTHING).astype(np.int64)
        known = features != NOTHING
        pairs = rows[known] * max(len(self.values), 1) + features[known]
        distinct_pairs, of = np.unique(pairs, return_inverse=True)
        sums = np.bincount(of, weights=values[known], minlength=len(distinct_pairs))
        filled = sums != 0
        rows, features = np.divmod(distinct_pairs[filled], max(len(self.values), 1))
        unseen = len(known) - int(np.count_nonzero(known))
        return Entries(rows.astype(np.int32), features.astype(np.int32), sums[filled], unseen, 0)


AS_ASKED = "asked for"


@dataclass(frozen=True)
class Ignored:
    """A column without features, and why."""

    kind: ClassVar[str] = "ignored"
    takes_numbers: ClassVar[bool] = True
    size: ClassVar[int] = 0

    why: str


Kind = Numeric | Dated | Categorical | Text | Named | Ignored


def _missing(column: str) -> str:
    return f"{column} is missing"


def numbers(column: "pa.Array", name: str, records: Records) -> NDArray[np.float64]:
    """A column as floats, NaN where a value is missing; what is no finite number is an error with its place."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_temporal(column.type):
        return days(column)
    x = as_numpy(column if pa.types.is_float64(column.type) else _floats(column, name, records), math.nan)
    if not np.isfinite(x).all() and (infinite := np.isinf(x)).any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"{place(records, row)}: the column {name!r} is {x[row]}; write a finite number, or nothing if missing"
        )
    return x


def _floats(column: "pa.Array", name: str, records: Records) -> "pa.Array":
    """Numbers of any type, or in words, as floats."""
    import pyarrow as pa

    try:
        if pa.types.is_string(column.type):
            column = as_written(column)
        elif not is_number(column.type):
            raise pa.ArrowInvalid
        return column.cast(pa.float64(), safe=False)
    except pa.ArrowInvalid:
        row, value = _first_word(column)
        raise ValueError(
            f"{place(records, row)}: the column {name!r} has numbers, but here it has {value!r}; correct the value"
        ) from None


def has_nan(x: NDArray[np.float64]) -> bool:
    """Whether a number is NaN: the least of some is, if one of them is, and that is found quickly."""
    return bool(np.isnan(np.min(x, initial=0.0)))


# How many units make a day.
PER_DAY = {"D": 1, "s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


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
    """The first value that is no number."""
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


def categories(column: "pa.Array") -> tuple[list[str], NDArray[np.int64]]:
    """The different values of a column as text, and the number of each row's value; -1 is a missing one."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return [], np.full(len(column), NOTHING)
    coded = column.dictionary_encode()
    codes = as_numpy(coded.indices, NOTHING)
    values = coded.dictionary.to_pylist()
    if any(value != value for value in values):  # NaN, of which there may be several
        kept = [number for number, value in enumerate(values) if value == value]
        renumber = np.full(len(values) + 1, NOTHING)
        renumber[kept] = np.arange(len(kept))
        codes, values = renumber[codes], [values[number] for number in kept]
    return [label_in_words(value) for value in values], codes


def named_entries(column: "pa.Array") -> tuple[NDArray[np.int64], "pa.Array", NDArray[np.float64]]:
    """The row, the name and the value of every feature in a column of maps."""
    offsets = as_numpy(column.offsets).astype(np.int64)
    size = int(offsets[-1] - offsets[0])
    keys, items = (part.slice(int(offsets[0]), size) for part in (column.keys, column.items))
    return np.repeat(np.arange(len(column)), np.diff(offsets)), keys, as_numpy(items)


def texts(column: "pa.Array", name: str, records: Records) -> "pa.Array":
    """A column as strings. Numbers among texts are texts, too."""
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_null(column.type) or is_number(column.type):
        return column.cast(pa.string())
    raise ValueError(f"{place(records, 0)}: the column {name!r} is no text but {column.type}; leave it out of text=")
