"""Numbers and dates: columns that are centred and scaled."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.data.tables import is_number, read_days, sort_of_number, type_named
from novikoff.features.columns import (
    Cells,
    ColumnEntries,
    ColumnKind,
    Gathered,
    as_written,
    missing_name,
    noted,
)
from novikoff.features.scaling import RUN, ColumnStatistics, merged, moments_of

if TYPE_CHECKING:
    import pyarrow as pa

    from novikoff.features.gather import Column

# The types that hold days, times and durations of any precision and zone.
UNITS = {"day": "timestamp[us]", "time": "time64[us]", "duration": "duration[us]"}


@dataclass
class Moments(Gathered):
    """The mean of numbers, the sum of their squared deviations, and the other statistics that decide their scale."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    smallest: float = math.inf
    largest: float = -math.inf
    filled: int = 0
    whole: bool = True
    waiting: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    def add(self, cells: Cells) -> int:
        x, n_missing = cells.numbers(), 0
        if (missing := np.isnan(x)).any():
            n_missing = int(np.count_nonzero(missing))
            x = x[~missing]
        self.add_numbers(x)
        return n_missing

    def add_numbers(self, x: NDArray[np.float64]) -> None:
        if len(x) == 0:
            return
        self.smallest = min(self.smallest, float(x.min()))
        self.largest = max(self.largest, float(x.max()))
        self.filled += int(np.count_nonzero(x != 0))  # booleans are the fastest to count
        self.whole = self.whole and bool((x == np.rint(x)).all())
        self._run_on(x)

    def _run_on(self, x: NDArray[np.float64]) -> None:
        x = np.concatenate([self.waiting, x])
        whole = len(x) - len(x) % RUN
        self._merge(x[:whole].reshape(-1, RUN))
        self.waiting = x[whole:]

    def join(self, other: "Runs") -> None:
        """Append values that were added up elsewhere: bit for bit the same as adding all of them here."""
        self.smallest, self.largest = min(self.smallest, other.smallest), max(self.largest, other.largest)
        self.filled += other.filled
        self.whole = self.whole and other.whole
        self._run_on(other.head)
        for means, squares in other.runs:
            self._merge_runs(means, squares, RUN)
        self._run_on(other.waiting)

    def close(self) -> None:
        if len(self.waiting):
            self._merge(self.waiting.reshape(1, -1))
            self.waiting = self.waiting[:0]

    def n_entries(self, rows: int, missing: int) -> int:
        return self.filled + missing

    def _merge(self, runs: NDArray[np.float64]) -> None:
        self._merge_runs(*moments_of(runs), runs.shape[1])

    def _merge_runs(self, means: NDArray[np.float64], squares: NDArray[np.float64], size: int) -> None:
        for mean, square in zip(means.tolist(), squares.tolist(), strict=True):
            self.count, self.mean, self.squares = merged(self.count, self.mean, self.squares, mean, square, size)


@dataclass
class Runs(Moments):
    """Values preceded by `offset` others, which are added up elsewhere: the runs are kept for `Moments.join`.

    The first values complete a run that started in the others, and the last ones start a run.
    """

    offset: int = 0
    seen: int = 0
    head: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    runs: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = field(default_factory=list)

    def _run_on(self, x: NDArray[np.float64]) -> None:
        self.seen += len(x)
        missing = -self.offset % RUN - len(self.head)
        if missing:
            self.head, x = np.concatenate([self.head, x[:missing]]), x[missing:]
        super()._run_on(x)

    def _merge_runs(self, means: NDArray[np.float64], squares: NDArray[np.float64], size: int) -> None:
        if len(means):
            self.runs.append((means, squares))

    def close(self) -> None:
        """Keep the incomplete run. The runs become two arrays: thousands of short ones would take long to send."""
        self.waiting = self.waiting.copy()
        if self.runs:
            means, squares = zip(*self.runs, strict=True)
            self.runs = [(np.concatenate(means), np.concatenate(squares))]


def statistics_of(columns: Sequence[Moments]) -> ColumnStatistics:
    """Return the statistics of columns of a table without missing values."""

    def by_column(name: str) -> NDArray[Any]:
        return np.array([getattr(column, name) for column in columns])

    fields = ("smallest", "largest", "filled", "mean", "squares", "whole")
    return ColumnStatistics(columns[0].count, *(by_column(name) for name in fields))


@dataclass(frozen=True)
class Numeric(ColumnKind):
    """A number x becomes (x - mean) / deviation. If not centred, mean is 0; for a constant, deviation is 1.

    If no value was missing in training, one that is missing later is `typical`: the average of the feature. Otherwise
    it is 0, and another feature marks it.
    """

    kind: ClassVar[str] = "numeric"
    is_number: ClassVar[bool] = True
    per: ClassVar[str] = ""  # the unit shown after a deviation

    mean: float
    deviation: float
    has_missing: bool = False
    typical: float = 0.0

    @classmethod
    def suits(cls, kind: "pa.DataType") -> bool:
        return is_number(kind)

    @classmethod
    def gathered(cls, column: "Column") -> Moments:
        return Moments() if column.before is None else Runs(offset=column.before)

    @classmethod
    def learned(cls, column: "Column", dense: bool) -> Self:
        moments = column.found
        assert isinstance(moments, Moments)
        if not math.isfinite(moments.squares):
            largest = max(abs(moments.smallest), abs(moments.largest))
            what = f"numbers as large as {largest:.3g}, whose squares overflow float64"
            raise ValueError(f"the column {column.name!r} has {what}; divide it by a power of ten")
        constant = moments.smallest == moments.largest
        deviation = 0.0 if constant else math.sqrt(moments.squares / moments.count)
        centred = dense or 2 * moments.filled >= moments.count
        mean = moments.smallest + 0.0 if constant else moments.mean  # 0.0 instead of -0.0
        if centred or column.missing:
            return cls(mean if centred else 0.0, deviation or 1.0, column.missing > 0)
        return cls(0.0, deviation or 1.0, typical=mean / (deviation or 1.0))

    @property
    def type(self) -> str:
        return "double"

    @property
    def takes_numbers(self) -> bool:
        return True

    @property
    def size(self) -> int:
        return 1 + self.has_missing

    def name(self, column: str, number: int) -> str:
        return column if number == 0 else missing_name(column)

    def scaled(self, cells: Cells) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return the value of every row, and the rows where it is missing."""
        x = cells.numbers() - self.mean  # a copy, also if the mean is 0
        x /= self.deviation
        missing = np.flatnonzero(np.isnan(x))
        x[missing] = self.typical
        return x, missing

    def entries(self, cells: Cells) -> ColumnEntries:
        x, missing = self.scaled(cells)
        features = np.zeros(len(x), dtype=np.int32)
        if self.has_missing:
            x[missing], features[missing] = 1.0, 1
        rows = np.flatnonzero(x).astype(np.int32)
        return ColumnEntries(rows, features[rows], x[rows], 0, 0 if self.has_missing else len(missing))

    def unscaled(self) -> Self:
        typical = 0.0 if self.has_missing else self.mean + self.typical * self.deviation
        return replace(self, mean=0.0, deviation=1.0, typical=typical)

    def detail(self) -> str:
        if self == self.unscaled():
            return noted("as given", self)
        centred = f"centred at {self._written(self.mean)}" if self.mean else "not centred"
        return noted(f"{centred}, divided by {self.deviation:.6g}{self.per}", self)

    def _written(self, mean: float) -> str:
        """Return the mean of the column, written like its values."""
        return f"{mean:.6g}"

    def wrong(self) -> str | None:
        return None if self.deviation > 0 else "has a deviation that is not positive"


@dataclass(frozen=True)
class Dated(Numeric):
    """A date becomes the number of days since 1970-01-01, with the time of day as a fraction, scaled like numbers.

    Times of day and durations are in days, too. `unit` is the type that holds them in any precision and zone:
    timestamp[us], time64[us] or duration[us].
    """

    kind: ClassVar[str] = "date"
    no_formula: ClassVar[str | None] = "dates"
    per: ClassVar[str] = " days"

    unit: str = UNITS["day"]

    @classmethod
    def suits(cls, kind: "pa.DataType") -> bool:
        return sort_of_number(kind) in UNITS

    @classmethod
    def learned(cls, column: "Column", dense: bool) -> Self:
        return replace(super().learned(column, dense), unit=UNITS[sort_of_number(column.type) or "day"])

    @property
    def type(self) -> str:
        return self.unit

    @property
    def takes_numbers(self) -> bool:
        return False

    def scaled(self, cells: Cells) -> tuple[NDArray[np.float64], NDArray[Any]]:
        import pyarrow as pa

        if pa.types.is_string(cells.values.type):
            try:
                cells = replace(cells, values=self._read(as_written(cells.values)))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                what = f"the column {cells.name!r} has dates, and one cannot be read"
                raise ValueError(f"{cells.file}: {what} ({str(error).partition(chr(10))[0]})") from None
        return super().scaled(cells)

    def _read(self, column: "pa.Array") -> "pa.Array":
        """Parse dates from text; a time of day as one on the first day, because Arrow cannot cast text to times."""
        from pyarrow import compute

        if self.unit.startswith("duration"):
            return column.cast(type_named(self.unit))
        if not self.unit.startswith("timestamp"):
            column = compute.binary_join_element_wise("1970-01-01T", column, "")
        return read_days(column)

    def _written(self, mean: float) -> str:
        if self.unit == UNITS["day"]:
            return str(np.datetime64("1970-01-01") + np.timedelta64(round(mean), "D"))
        return f"{mean:.6g} days"

    def wrong(self) -> str | None:
        if self.unit not in UNITS.values():
            return f"has the unit {self.unit!r:.60}, which is not a type of dates or times"
        return super().wrong()
