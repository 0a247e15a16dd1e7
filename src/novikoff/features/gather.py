"""One pass over a table, which collects what an encoding has to know about each column."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Records
from novikoff.data.tables import NAMED_VALUES, check_columns, is_number, joined_type, place
from novikoff.features.columns import (
    AS_ASKED,
    NOTHING,
    Categorical,
    Dated,
    Ignored,
    Kind,
    Named,
    Numeric,
    Text,
    categories,
    has_nan,
    named_entries,
    numbers,
    texts,
)
from novikoff.features.vocabulary import Vocabulary, Words

if TYPE_CHECKING:
    import pyarrow as pa

# Values are added up in runs of this many, whatever the blocks in which they come: sums of floats depend on the order
# of additions, and an encoding must not depend on how a file is read.
RUN = 4096

# The type that holds all of a sort of what is counted in days, whatever the precision and the zone of its container.
UNITS = {"day": "timestamp[us]", "time": "time64[us]", "duration": "duration[us]"}

# Few categories are always welcome, however few the records.
FEW_CATEGORIES = 20


def gather(
    records: Any,
    asked: Mapping[str, str],
    n_buckets: int,
    max_categories: int,
    moments: "Callable[[str], Moments]" = lambda name: Moments(),
) -> tuple[dict[str, "Column"], int]:
    """What there is to know of each column, and the number of records.

    A reader is looked at before the types of its columns are known. A column that turns out to be of another type than
    it seemed at first, such as words after many numbers, is read again, by itself. `moments` has, by the name of a
    column, what its numbers are added up in.
    """
    look, n_jobs = getattr(records, "look", None), getattr(records, "n_jobs", None)
    may_grow = not {"jsonl", "vw"}.isdisjoint(getattr(records, "formats", ()))
    columns: dict[str, Column] = {}

    def column(name: str, may_change: bool, n_rows: int = 0) -> Column:
        """A column that was missing in the records before."""
        wish = asked.get(name, "")
        column = Column(name, wish, n_buckets, max_categories, may_change, moments=moments(name), n_jobs=n_jobs)
        return replace(column, rows=n_rows, missing=n_rows)

    n_rows = 0
    for part in records if look is None else look():
        names = part.columns.schema.names
        if may_grow or not columns:
            columns |= {name: column(name, look is not None, n_rows) for name in names if name not in columns}
        if not may_grow:
            check_columns([*asked, *columns], names, part.file or "the data")
        present = set(names)
        for name, found in columns.items():
            found.add(part.columns.column(name) if name in present else None, part)
        n_rows += part.columns.num_rows
    if n_rows == 0:
        raise ValueError("there are no records to learn an encoding from")
    check_columns(asked, columns, part.file or "the data")
    mixed = [name for name, found in columns.items() if found.is_mixed]
    columns |= {name: column(name, False) for name in mixed}
    for part in records.again(mixed) if mixed else ():
        for name in mixed:
            columns[name].add(part.columns.column(name), part)
    for found in columns.values():
        found.close()
    return columns, n_rows


@dataclass
class Moments:
    """The mean of numbers, and the sum of their squared distances from it, as Chan, Golub and LeVeque merge them."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    smallest: float = math.inf
    largest: float = -math.inf
    filled: int = 0
    waiting: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    def add(self, x: NDArray[np.float64]) -> None:
        if len(x) == 0:
            return
        self.smallest = min(self.smallest, float(x.min()))
        self.largest = max(self.largest, float(x.max()))
        self.filled += int(np.count_nonzero(x != 0))  # booleans are counted several at a time
        self._run_on(x)

    def _run_on(self, x: NDArray[np.float64]) -> None:
        x = np.concatenate([self.waiting, x])
        whole = len(x) - len(x) % RUN
        self._merge(x[:whole].reshape(-1, RUN))
        self.waiting = x[whole:]

    def join(self, other: "Runs") -> None:
        """Go on with values that were added up elsewhere: to the bits of adding all of them here."""
        self.smallest, self.largest = min(self.smallest, other.smallest), max(self.largest, other.largest)
        self.filled += other.filled
        self._run_on(other.head)
        for means, squares in other.runs:
            self._merge_runs(means, squares, RUN)
        self._run_on(other.waiting)

    def close(self) -> None:
        """Count what is waiting for a run to be complete."""
        if len(self.waiting):
            self._merge(self.waiting.reshape(1, -1))
            self.waiting = self.waiting[:0]

    def _merge(self, runs: NDArray[np.float64]) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            means = runs.mean(axis=1)
            distances = runs - means[:, None]
            squares = np.square(distances, out=distances).sum(axis=1)
        self._merge_runs(means, squares, runs.shape[1])

    def _merge_runs(self, means: NDArray[np.float64], squares: NDArray[np.float64], size: int) -> None:
        for mean, square in zip(means.tolist(), squares.tolist(), strict=True):
            total = self.count + size
            step = mean - self.mean
            self.mean += step * size / total
            self.squares += square + step * step * self.count * size / total
            self.count = total


@dataclass
class Runs(Moments):
    """Values before which `offset` others come, which are added up elsewhere: the runs are kept for `Moments.join`.

    The first values complete a run that began among the others, and the last ones begin a run.
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
        """What is waiting stays so. The runs become two arrays: thousands of short ones would take long to send."""
        self.waiting = self.waiting.copy()
        if self.runs:
            means, squares = zip(*self.runs, strict=True)
            self.runs = [(np.concatenate(means), np.concatenate(squares))]


@dataclass
class Column:
    """What is known of one column so far. `asked` is what the caller wants it to be: "", or the name of a kind.

    A type that is not certain `may_change`; then what was gathered is of no use, and the column `is_mixed`. A type is
    looked at where it is another than in the records before, the `last_type`.
    """

    name: str
    asked: str
    n_buckets: int
    max_categories: int
    may_change: bool = False
    is_mixed: bool = False
    type: "pa.DataType | None" = None
    rows: int = 0
    missing: int = 0
    moments: Moments = field(default_factory=Moments)
    values: set[str] = field(default_factory=set)
    words: Words | None = None
    occurrences: int = 0
    vocabulary: Vocabulary | None = None
    n_jobs: int | None = None
    last_type: "pa.DataType | None" = None
    last_kind: str = ""

    def add(self, column: "pa.Array | None", records: Records) -> None:
        """The column in some records; None if they do not have it."""
        import pyarrow as pa

        n_rows = records.columns.num_rows
        self.rows += n_rows
        if self.asked == "ignored":
            return
        if column is None or pa.types.is_null(column.type):
            self.missing += n_rows
            return
        if column.type != self.last_type:
            self.is_mixed = self.is_mixed or (self.may_change and self._changes_to(column.type))
            if not self.is_mixed:
                self._settle_type(column.type, records)
            self.last_type, self.last_kind = column.type, self.kind
        if self.is_mixed:
            return
        if self.last_kind == "text":
            self._add_text(texts(column, self.name, records))
        elif self.last_kind == "named":
            self._add_names(column)
        elif self.last_kind == "categorical":
            self._add_categories(column, records)
        else:
            x = numbers(column, self.name, records)
            if has_nan(x):
                missing = np.isnan(x)
                self.missing += int(np.count_nonzero(missing))
                x = x[~missing]
            self.moments.add(x)

    def join(self, other: "Column | None", n_rows: int) -> None:
        """Go on with the same column in `n_rows` later records, gathered elsewhere; None if they do not have it."""
        self.rows += n_rows
        self.missing += n_rows if other is None else other.missing
        if other is None or other.type is None or self.asked == "ignored":
            return
        self.type = other.type if self.type is None else _joined(self.type, other.type)
        assert isinstance(other.moments, Runs)
        self.moments.join(other.moments)
        self.occurrences += other.occurrences
        self.values |= other.values
        self._check_categories("the data")
        if other.words is not None:
            self.words = other.words if self.words is None else self.words.joined(other.words)

    @property
    def kind(self) -> str:
        """What was asked for, or else what the type suggests."""
        if self.asked:
            return "text" if self.asked == "tfidf" else self.asked
        if self.type is not None and str(self.type) == NAMED_VALUES:
            return "named"
        return "numeric" if self.type is None or _sort(self.type) else "categorical"

    def _changes_to(self, kind: "pa.DataType") -> bool:
        """Whether values of this type do not go with what was gathered, or cannot be gathered."""
        if self.type is None:
            return not _is_plain(kind)
        alike = _sort(self.type) is not None and _sort(self.type) == _sort(kind)
        return self.type != kind and not (alike and self.kind == "numeric")

    def _settle_type(self, kind: "pa.DataType", records: Records) -> None:
        import pyarrow as pa

        known = self.type
        if known is None:
            if not _is_plain(kind):
                raise ValueError(f"{records.file or 'the data'}: {_refused(self.name, kind)}")
            self.type = kind
        elif is_number(known) and is_number(kind):
            self.type = known if known == kind else pa.float64()
        elif known != kind and _sort(known) == _sort(kind) == "day":
            self.type = _joined(known, kind)
        elif known != kind:
            raise ValueError(f"{place(records, 0)}: the column {self.name!r} is {kind} from here on, but was {known}")

    def _add_categories(self, column: "pa.Array", records: Records) -> None:
        words, codes = categories(column)
        self.missing += int(np.count_nonzero(codes == NOTHING))
        self.values.update(words)
        self._check_categories(records.file or "the data")

    def _add_names(self, column: "pa.Array") -> None:
        _, keys, _ = named_entries(column)
        self.values.update(keys.unique().to_pylist())
        self.occurrences += len(keys)

    def _check_categories(self, where: str) -> None:
        if not self.asked and self.kind == "categorical" and len(self.values) > self.max_categories:
            what = f"the column {self.name!r} has more than {self.max_categories:,} different values"
            raise ValueError(f"{where}: {what}; {_too_many(self.name)}")

    def _add_text(self, column: "pa.Array") -> None:
        if self.vocabulary is None:
            self.vocabulary = Vocabulary(self.n_buckets, self.n_jobs)
        self.missing += column.null_count
        self.vocabulary.add(column)

    def close(self) -> None:
        """All records were added."""
        self.moments.close()
        if self.vocabulary is not None:
            self.occurrences, self.words = self.vocabulary.occurrences, self.vocabulary.words()
            self.vocabulary = None

    @property
    def filled(self) -> int:
        """How many entries the column will have that are not 0, as long as it is not centred."""
        if self.kind in ("text", "named"):
            return self.occurrences + self.missing
        return self.moments.filled + self.missing if self.kind == "numeric" else self.rows

    def settled(self, *, dense: bool) -> Kind:
        """What the column has turned out to be."""
        if self.asked == "ignored":
            return Ignored(AS_ASKED)
        if self.type is None or self.missing == self.rows:
            return Ignored("no values")
        has_missing = self.missing > 0
        if self.kind == "text":
            assert self.words is not None
            return Text(tuple(self.words.words), self.n_buckets, has_missing, self._rarities(self.words.rows))
        if self.kind == "named":
            return Named(tuple(sorted(self.values)))
        if self.kind == "categorical":
            self._check_few()
            return Categorical(tuple(sorted(self.values, key=_rank(self.type))), str(self.type), has_missing)
        return self._numeric(dense, has_missing)

    def _rarities(self, rows: NDArray[np.int64]) -> tuple[float, ...]:
        """What words count, by how few texts have them: 1 + log((1 + texts) / (1 + texts with the word)), if asked."""
        texts = self.rows - self.missing
        asked = rows.tolist() if self.asked == "tfidf" else ()
        return tuple(1.0 + math.log((1 + texts) / (1 + with_it)) for with_it in asked)

    def _numeric(self, dense: bool, has_missing: bool) -> Kind:
        moments = self.moments
        if not math.isfinite(moments.squares):
            largest = max(abs(moments.smallest), abs(moments.largest))
            what = f"numbers as large as {largest:.3g}, whose squares overflow float64"
            raise ValueError(f"the column {self.name!r} has {what}; divide it by a power of ten")
        constant = moments.smallest == moments.largest
        deviation = 0.0 if constant else math.sqrt(moments.squares / moments.count)
        centred = dense or 2 * moments.filled >= moments.count
        mean = moments.smallest + 0.0 if constant else moments.mean  # not -0.0, which is as good as 0.0
        mean, deviation = mean if centred else 0.0, deviation or 1.0
        if self.type is not None and not is_number(self.type):
            return Dated(mean, deviation, has_missing, UNITS[_sort(self.type) or "day"])
        return Numeric(mean, deviation, has_missing)

    def _check_few(self) -> None:
        count = len(self.values)
        if not self.asked and count > FEW_CATEGORIES and 2 * count > self.rows:
            what = f"the column {self.name!r} has {count:,} different values in {self.rows:,} records"
            raise ValueError(f"{what}, too many to learn from; {_too_many(self.name)}")


def _joined(one: "pa.DataType", other: "pa.DataType") -> "pa.DataType":
    """The type of numbers, or of days, of two types."""
    import pyarrow as pa

    joined = joined_type(one, other, as_text=False)
    return pa.timestamp("us", getattr(one, "tz", None) or getattr(other, "tz", None)) if joined is None else joined


def _is_plain(kind: "pa.DataType") -> bool:
    """Whether it is a type of numbers, words or booleans."""
    import pyarrow as pa

    return (
        _sort(kind) is not None
        or str(kind) == NAMED_VALUES
        or bool(pa.types.is_string(kind) or pa.types.is_boolean(kind))
    )


def _sort(kind: "pa.DataType") -> str | None:
    """Which sort of numbers it is, or of what is counted in days; types of one sort may follow each other."""
    import pyarrow as pa

    kinds = pa.types
    if is_number(kind):
        return "number"
    if kinds.is_date(kind) or kinds.is_timestamp(kind):
        return "day"
    return "time" if kinds.is_time(kind) else "duration" if kinds.is_duration(kind) else None


def _refused(name: str, kind: Any) -> str:
    return (
        f"the column {name!r} has the type {kind}, which is no number, word, date or boolean; ignore=[{name!r}] leaves "
        "it out"
    )


def _too_many(name: str) -> str:
    return (
        f"use text=[{name!r}] if it is text, ignore=[{name!r}] if it tells records apart, "
        f"or categorical=[{name!r}] to have a feature for each; where there is no such option, drop the column"
    )


def _rank(kind: "pa.DataType") -> Any:
    """Numbers in their own order, words in that of the alphabet."""
    return float if is_number(kind) else None
