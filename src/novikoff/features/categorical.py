"""Categories, and features that have their own names."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from novikoff.data.lines import UNNAMED
from novikoff.data.tables import NAMED_VALUES, as_numpy, is_number, type_named
from novikoff.features.columns import NOTHING, Cells, ColumnEntries, ColumnKind, Gathered, missing_name, noted

if TYPE_CHECKING:
    import pyarrow as pa

    from novikoff.features.gather import Column

# This many categories are always allowed, however few the records.
FEW_CATEGORIES = 20


@dataclass
class DistinctValues(Gathered):
    """The distinct values of the column `name`; there may be no more than `most`."""

    name: str
    most: float
    values: set[str] = field(default_factory=set)

    def add(self, cells: Cells) -> int:
        words, codes = cells.categories()
        self._update(words, cells.file)
        return int(np.count_nonzero(codes == NOTHING))

    def join(self, other: "DistinctValues") -> None:
        self._update(other.values, "the data")

    def _update(self, values: Any, where: str) -> None:
        self.values.update(values)
        if len(self.values) > self.most:
            what = f"the column {self.name!r} has more than {self.most:,} different values"
            raise ValueError(f"{where}: {what}; {_too_many(self.name)}")

    def n_entries(self, rows: int, missing: int) -> int:
        return rows


@dataclass(frozen=True)
class Categorical(ColumnKind):
    """One-hot encoding: every value has a feature, which is 1. `values` of the type `type`, in order, as text."""

    kind: ClassVar[str] = "categorical"
    column_roles: ClassVar[tuple[str, ...]] = ("categorical",)

    values: tuple[str, ...]
    type: str
    has_missing: bool = False

    @classmethod
    def suits(cls, kind: "pa.DataType") -> bool:
        import pyarrow as pa

        return bool(pa.types.is_string(kind) or pa.types.is_boolean(kind))

    @classmethod
    def gathered(cls, column: "Column") -> DistinctValues:
        return DistinctValues(column.name, np.inf if column.asked else column.limits.max_categories)

    @classmethod
    def learned(cls, column: "Column", dense: bool) -> "Categorical":
        found = column.found
        assert isinstance(found, DistinctValues)
        count, kind = len(found.values), column.type
        if not column.asked and count > FEW_CATEGORIES and 2 * count > column.rows:
            what = f"the column {column.name!r} has {count:,} different values in {column.rows:,} records"
            raise ValueError(f"{what}, too many to learn from; {_too_many(column.name)}")
        in_order: Any = float if is_number(kind) else None  # numbers in numerical order, words in alphabetical order
        return cls(tuple(sorted(found.values, key=in_order)), str(kind), column.missing > 0)

    @property
    def takes_numbers(self) -> bool:
        return self.type == "bool" or is_number(type_named(self.type))

    @property
    def is_coded(self) -> bool:
        return self.type not in ("string", "bool")

    @cached_property
    def places(self) -> dict[str, int]:
        return {value: number for number, value in enumerate(self.values)}

    @property
    def size(self) -> int:
        return len(self.values) + self.has_missing

    def name(self, column: str, number: int) -> str:
        return f"{column}={self.values[number]}" if number < len(self.values) else missing_name(column)

    def entries(self, cells: Cells) -> ColumnEntries:
        words, codes = cells.categories()
        self._check_same_sort(cells)
        # The last place is that of a missing value, whose code is -1.
        feature_of_missing = len(self.values) if self.has_missing else NOTHING
        features = np.array([self.places.get(word, NOTHING) for word in words] + [feature_of_missing], dtype=np.int32)
        found = features[codes]
        rows = np.flatnonzero(found != NOTHING).astype(np.int32)
        missing = 0 if self.has_missing else int(np.count_nonzero(codes == NOTHING))
        return ColumnEntries(rows, found[rows], np.ones(len(rows)), len(found) - len(rows) - missing, missing)

    def _check_same_sort(self, cells: Cells) -> None:
        """Raise an error if exactly one of column and training is boolean; numbers and words may be mixed."""
        import pyarrow as pa

        kind = cells.values.type
        if pa.types.is_boolean(kind) != (self.type == "bool") and not pa.types.is_null(kind):
            was = f"{kind} here, but was {self.type} when the encoding was learned"
            raise cells.error(f"is {was}; pass types=encoding.types to read")

    def detail(self) -> str:
        shown = ", ".join(self.values[:5]) + (", ..." if len(self.values) > 5 else "")
        return noted(f"{len(self.values):,} values: {shown}", self)

    def wrong(self) -> str | None:
        return "has a value twice" if len(set(self.values)) < len(self.values) else None


@dataclass
class FeatureNames(Gathered):
    """The names of features, and the number of all their occurrences."""

    values: set[str] = field(default_factory=set)
    occurrences: int = 0

    def add(self, cells: Cells) -> int:
        _, keys, _ = cells.named()
        self.values.update(keys.unique().to_pylist())
        self.occurrences += len(keys)
        return 0

    def join(self, other: "FeatureNames") -> None:
        self.values |= other.values
        self.occurrences += other.occurrences

    def n_entries(self, rows: int, missing: int) -> int:
        return self.occurrences + missing


@dataclass(frozen=True)
class Named(ColumnKind):
    """Features that have their own names and values, as in Vowpal Wabbit's text, in order of their names.

    A name that an example does not have is 0, and the values of one that it has twice are added up.
    """

    kind: ClassVar[str] = "named"
    may_be_absent: ClassVar[bool] = True
    no_formula: ClassVar[str | None] = "named features"

    values: tuple[str, ...]

    @classmethod
    def suits(cls, kind: "pa.DataType") -> bool:
        return str(kind) == NAMED_VALUES

    @classmethod
    def gathered(cls, column: "Column") -> FeatureNames:
        return FeatureNames()

    @classmethod
    def learned(cls, column: "Column", dense: bool) -> "Named":
        assert isinstance(column.found, FeatureNames)
        return cls(tuple(sorted(column.found.values)))

    @property
    def type(self) -> str:
        return NAMED_VALUES

    @property
    def size(self) -> int:
        return len(self.values)

    @cached_property
    def known(self) -> "pa.Array":
        import pyarrow as pa

        return pa.array(self.values, pa.string())

    def name(self, column: str, number: int) -> str:
        return self.values[number] if column == UNNAMED else f"{column}^{self.values[number]}"

    def entries(self, cells: Cells) -> ColumnEntries:
        from pyarrow import compute

        if str(cells.values.type) != NAMED_VALUES:
            raise cells.error(f"is {cells.values.type}, but had features with names")
        rows, keys, values = cells.named()
        features = as_numpy(compute.index_in(keys, value_set=self.known), NOTHING).astype(np.int64)
        known = features != NOTHING
        pairs = rows[known] * max(len(self.values), 1) + features[known]
        distinct_pairs, of = np.unique(pairs, return_inverse=True)
        sums = np.bincount(of, weights=values[known], minlength=len(distinct_pairs))
        filled = sums != 0
        rows, features = np.divmod(distinct_pairs[filled], max(len(self.values), 1))
        unseen = len(known) - int(np.count_nonzero(known))
        return ColumnEntries(rows.astype(np.int32), features.astype(np.int32), sums[filled], unseen, 0)

    def detail(self) -> str:
        return f"{len(self.values):,} features, unscaled"

    def wrong(self) -> str | None:
        return "has a value twice" if len(set(self.values)) < len(self.values) else None


def _too_many(name: str) -> str:
    return (
        f"use text=[{name!r}] if it is text, ignore=[{name!r}] if it is an identifier, "
        f"or categorical=[{name!r}] to have a feature for each; where there is no such option, drop the column"
    )
