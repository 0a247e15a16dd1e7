"""One pass over a table, which collects the statistics of each column that an encoding needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from novikoff.data.batches import Records
from novikoff.data.held_out import HeldOut, kept_records
from novikoff.data.tables import check_columns, joined_type, sort_of_number
from novikoff.features.categorical import Categorical, Named
from novikoff.features.columns import AS_ASKED, Cells, ColumnKind, Gathered, Ignored
from novikoff.features.numeric import Dated, Numeric
from novikoff.features.texts import Text

if TYPE_CHECKING:
    import pyarrow as pa

KindClass = type[ColumnKind]
KINDS: tuple[KindClass, ...] = (Numeric, Dated, Categorical, Text, Named, Ignored)

# Defaults: how many values a column of words may have, and into how many buckets words are hashed.
MOST_CATEGORIES = 1000
BUCKETS = 2**18


class GatherLimits(NamedTuple):
    """How much of a column may be kept."""

    n_buckets: int = BUCKETS
    max_categories: int = MOST_CATEGORIES


LIMITS = GatherLimits()


def gather(
    records: Any,
    asked: Mapping[str, str],
    limits: GatherLimits = LIMITS,
    before: Callable[[str], int | None] = lambda name: None,
    held_out: HeldOut | None = None,
) -> tuple[dict[str, "Column"], int]:
    """Gather the statistics of each column, and count the records.

    A reader is read before the types of its columns are known. A column whose type turns out to differ from that of its
    first records, such as words after many numbers, is read again separately. `before` returns, by the name of a
    column, how many of its values precede and are gathered elsewhere; None if all are gathered here. Records that are
    held out are not used.
    """
    look = getattr(records, "look", None)
    may_grow = not {"jsonl", "vw"}.isdisjoint(getattr(records, "formats", ()))
    columns: dict[str, Column] = {}

    def column(name: str, may_change: bool, n_rows: int = 0) -> Column:
        """Return a column that was missing in earlier records."""
        return Column(name, asked.get(name, ""), limits, n_rows, n_rows, before(name), may_change)

    n_rows = 0
    for part in kept_records(held_out, records if look is None else look()):
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
    for part in kept_records(held_out, records.again(mixed) if mixed else ()):
        for name in mixed:
            columns[name].add(part.columns.column(name), part)
    for found in columns.values():
        found.close()
    return columns, n_rows


@dataclass
class Column:
    """What is known of one column so far. `asked` is the requested role: "", or one of a kind's roles.

    Of `rows` values, `missing` are missing; the others are gathered by its kind. The number of values `before` them is
    gathered elsewhere. An uncertain type `may_change`; then what was gathered is useless, and the column `is_mixed`.
    """

    name: str
    asked: str = ""
    limits: GatherLimits = LIMITS
    rows: int = 0
    missing: int = 0
    before: int | None = None
    may_change: bool = False
    is_mixed: bool = False
    type: "pa.DataType | None" = None
    found: Gathered | None = None

    def add(self, column: "pa.Array | None", records: Records) -> None:
        """Add the column of some records; None if they do not have it."""
        import pyarrow as pa

        n_rows = records.columns.num_rows
        self.rows += n_rows
        if self.asked == "ignored" or self.is_mixed:
            return
        if column is None or pa.types.is_null(column.type):
            self.missing += n_rows
            return
        if column.type != self.type:
            self.is_mixed = self.may_change and self._changes_to(column.type)
            if self.is_mixed:
                return
            self._settle_type(column.type, records)
        self.found = self.found or self.kind.gathered(self)
        self.missing += self.found.add(Cells(column, self.name, records))

    def join(self, other: "Column | None", n_rows: int) -> None:
        """Append the same column of `n_rows` later records, gathered elsewhere; None if they do not have it."""
        self.rows += n_rows
        self.missing += n_rows if other is None else other.missing
        if other is None or other.type is None or self.asked == "ignored":
            return
        self.type = other.type if self.type is None else _joined(self.type, other.type)
        self.found = self.found or self.kind.gathered(self)
        self.found.join(other.found)

    def close(self) -> None:
        if self.found is not None:
            self.found.close()

    @property
    def kind(self) -> KindClass:
        if self.asked:
            return next(kind for kind in KINDS if self.asked in kind.column_roles)
        return next(kind for kind in KINDS if kind.suits(self.type))

    def _changes_to(self, kind: "pa.DataType") -> bool:
        """Whether values of this type are incompatible with those gathered, or cannot be gathered."""
        if self.type is None:
            return not _is_plain(kind)
        sort = sort_of_number(self.type)
        alike = sort is not None and sort == sort_of_number(kind) and self.kind.is_number
        return self.type != kind and not alike

    def _settle_type(self, kind: "pa.DataType", records: Records) -> None:
        known = self.type
        if known is None:
            if not _is_plain(kind):
                what = f"the column {self.name!r} has the type {kind}, which is not a number, word, date or boolean"
                raise ValueError(f"{records.file or 'the data'}: {what}; ignore=[{self.name!r}] ignores it")
            self.type = kind
        elif (sort := sort_of_number(known)) == sort_of_number(kind) and sort in ("number", "day"):
            self.type = _joined(known, kind)
        else:
            raise ValueError(f"{records.place()}: the column {self.name!r} is {kind} from here on, but was {known}")

    @property
    def n_entries(self) -> int:
        """The number of nonzero entries that the column will have, if it is not centred."""
        return 0 if self.found is None else self.found.n_entries(self.rows, self.missing)

    def settled(self, *, dense: bool) -> ColumnKind:
        if self.asked == "ignored":
            return Ignored(AS_ASKED)
        if self.type is None or self.missing == self.rows:
            return Ignored("no values")
        return self.kind.learned(self, dense)


def _joined(one: "pa.DataType", other: "pa.DataType") -> "pa.DataType":
    """Return the common type of two types of numbers, or of dates."""
    import pyarrow as pa

    joined = joined_type(one, other, as_text=False)
    return pa.timestamp("us", getattr(one, "tz", None) or getattr(other, "tz", None)) if joined is None else joined


def _is_plain(kind: "pa.DataType") -> bool:
    return any(known.suits(kind) for known in KINDS)
