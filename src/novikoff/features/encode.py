"""Encoding: a table's columns become features with names.

One pass collects statistics, then the encoding is frozen; so an example never changes during a run, as the theorem
requires. It depends only on the records and their order, not on the blocks in which they are read.

The notes write a sport car with 4 doors, made in 1997 by the manufacturer 6, as the point (4, 1997, 6). A half-space
cannot make use of a 6 that is only a code, and a year of 1997 makes R large for nothing; here the manufacturer is
declared categorical, and numbers are centred and scaled.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch, Records, with_columns
from novikoff.data.frames import NAME, as_column
from novikoff.data.held_out import HeldOut
from novikoff.data.strict_json import Fields, JSONError
from novikoff.data.tables import cast_columns, check_columns, type_named
from novikoff.engine.rows import Rows, as_rows
from novikoff.features.columns import AS_ASKED, Cells, ColumnEntries, ColumnKind, Ignored
from novikoff.features.gather import BUCKETS, KINDS, MOST_CATEGORIES, Column, GatherLimits, gather
from novikoff.features.lift import LIFTS, SQUARED_LENGTH, Lift, lifted, lifted_names, n_lifted
from novikoff.features.numeric import Moments, Numeric, statistics_of
from novikoff.features.scaling import Scaling, TableScale, is_mostly_zero
from novikoff.features.texts import Text
from novikoff.say.words import listed

if TYPE_CHECKING:
    import pyarrow as pa

# Numbers without names are lifted up to this many, since each feature gets a name.
WIDEST_LIFTED = 1_000_000


class Note(NamedTuple):
    """A description of the encoding of a column."""

    column: str
    kind: str
    detail: str


@dataclass(frozen=True)
class Encoding:
    """The encoding of records as rows of numbers: the kind of every column, by name, in the order of the features.

    `is_dense` states whether the rows are dense or sparse. A `lift` adds further features. Examples that are numbers
    already, without names, have no columns here but a `width`: they are only scaled, if there is a `scaling`, and
    lifted.
    """

    columns: Mapping[str, ColumnKind]
    is_dense: bool
    lift: Lift | None = None
    width: int | None = None
    scaling: Scaling | None = None

    @classmethod
    def of_numbers(cls, width: int, lift: Lift | None = None, scaling: Scaling | None = None) -> "Encoding":
        """Return the encoding of examples that have `width` numbers each: scales and lift."""
        if width > WIDEST_LIFTED:
            raise ValueError(
                f"the columns are numbered up to {width - 1:,}; a lift is for at most {WIDEST_LIFTED:,} columns"
            )
        return cls({}, False, lift, width, scaling)

    @property
    def is_of_table(self) -> bool:
        return self.width is None

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The columns of the training table, in order, without those that the caller ignored."""
        return tuple(name for name, kind in self.columns.items() if kind != Ignored(AS_ASKED))

    @property
    def n_inputs(self) -> int:
        """The number of columns of an example before it is encoded."""
        return len(self.inputs) if self.width is None else self.width

    @property
    def takes_numbers(self) -> bool:
        """Whether rows of numbers, without names, can be examples: no column has words, texts or dates."""
        return all(kind.takes_numbers for kind in self.columns.values())

    @property
    def why_scaled(self) -> str | None:
        """Why numbers of a table are scaled, and how missing ones are encoded, in words; None if they are not."""
        numbers = [kind for kind in self.columns.values() if kind.is_number]
        if all(kind == kind.unscaled() for kind in numbers):
            return None
        if self.is_numbers:
            return "asked for, or columns differ in size or lie far from 0"
        marked = ", with a feature that marks them" if any(kind.has_missing for kind in numbers) else ""
        return f"default with words or missing values; missing values are set to the mean{marked}"

    @property
    def is_numbers(self) -> bool:
        """Whether a table is an array with names: all used columns are numbers, and no value was missing."""
        used = [kind for kind in self.columns.values() if kind.is_used]
        return self.is_of_table and all(type(kind) is Numeric and not kind.has_missing for kind in used)

    @property
    def scales(self) -> Scaling | None:
        """The scaling of the original columns, if these are the features; None if they are not."""
        if not self.is_numbers or self.lift is not None:
            return self.scaling
        used: list[Any] = [kind for kind in self.columns.values() if kind.is_used]
        return Scaling(np.array([kind.mean for kind in used]), np.array([kind.deviation for kind in used]))

    @property
    def names_features(self) -> bool:
        """Whether features differ from the columns of the rows, and have their own names."""
        return self.is_of_table or self.lift is not None

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """A name for every feature: weight, manufacturer=Quaky, comment:fast car, age is missing, squared length."""
        more = [] if self.lift is None else lifted_names(self.own_names, self.lift, self._numbers)
        return (*self.own_names, *more)

    @cached_property
    def own_names(self) -> tuple[str, ...]:
        if self.width is not None:
            return tuple(f"column {number}" for number in range(self.width))
        return tuple(kind.name(name, number) for name, kind, _ in self._starts for number in range(kind.size))

    def name(self, feature: int) -> str:
        """Return the name of one feature, without computing all others."""
        if self.width is not None or feature >= self.n_own:
            return self.feature_names[feature]
        name, kind, start = self._starts[bisect_right(self._starts, feature, key=lambda one: one[2]) - 1]
        return str(kind.name(name, feature - start))

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        """The features that are numbers, and not 0 or 1."""
        if self.width is not None:
            return np.arange(self.width)
        return np.array([start for _, kind, start in self._starts if kind.is_number], dtype=np.int64)

    @cached_property
    def n_columns(self) -> int:
        """The number of features, without computing their names."""
        return self.n_own + (0 if self.lift is None else n_lifted(self.lift, self._numbers))

    @cached_property
    def n_own(self) -> int:
        return self.width if self.width is not None else sum(kind.size for kind in self.columns.values())

    @property
    def types(self) -> dict[str, str]:
        """The types in which to read the columns, for `read(path, types=...)`: only those that are needed."""
        return {name: kind.type for name, kind in self.columns.items() if kind.is_used}

    @property
    def types_as_given(self) -> dict[str, str | None]:
        """The same, but None for numbers: their types are inferred, so that no integer is rounded unnoticed."""
        used = {name: kind for name, kind in self.columns.items() if kind.is_used}
        return {name: None if kind.is_number and kind.takes_numbers else kind.type for name, kind in used.items()}

    def encode(self, given: Records | Batch) -> Batch:
        """Encode records or rows as examples: all input of a model passes here.

        Records may have their columns in another order, and additional ones; none may be missing. Rows have no names:
        if the encoding was learned from a table, they have its columns, in its order.
        """
        if isinstance(given, Batch):
            if given.are_encoded or self.width is None:
                return given if given.are_encoded else self.encode(self._records(given))
            rows = self.lifted(self.scaled(with_columns(given.rows, self.width)))
            return Batch(rows, given.labels, given.file, given.line, are_encoded=True)
        if self.width is not None:
            raise ValueError("this encoding is of numbers without names, and a table was given")
        records, columns = given, given.columns
        there = columns.schema.names
        absent = {name for name, kind in self.columns.items() if kind.may_be_absent and name not in there}
        check_columns(self.types.keys() - absent if absent else self.types, there, records.file or "the data")
        n_rows = columns.num_rows
        unseen, missing = dict[str, int](), dict[str, int]()
        numbers: dict[int, NDArray[np.float64]] = {}
        parts: list[ColumnEntries] = []
        for name, kind, start in self._starts:
            if name in absent:
                continue
            cells = Cells(columns.column(name), name, records)
            if self.is_dense and kind.is_number:
                numbers[start], which = kind.scaled(cells)
                found = 0, 0 if kind.has_missing else len(which)
                if kind.has_missing and len(which):
                    parts.append(ColumnEntries(which, np.full(len(which), start + 1), np.ones(len(which))))
            else:
                part = kind.entries(cells)
                found = part.unseen, part.missing
                parts.append(part._replace(features=part.features + np.int32(start)))
            for counts, count in zip((unseen, missing), found, strict=True):
                if count:
                    counts[name] = count
        own = (_dense if self.is_dense else _sparse)(parts, n_rows, self.n_own, numbers)
        return Batch(self.lifted(own), records.labels, records.file, records.line, True, unseen, missing)

    def tabled(self, X: NDArray[Any]) -> "pa.Table":
        """Convert values without names to a table with the columns of the training table, in its order."""
        import pyarrow as pa

        if X.ndim != 2 or X.shape[1] != self.n_inputs:
            has = f"{X.shape[1]} columns" if X.ndim == 2 else f"{X.ndim} dimension(s)"
            raise ValueError(
                f"X has {has}, but the model was learned from a table of {self.n_inputs} columns: "
                f"{listed(self.inputs, 8)}; pass an array of these columns in this order, or a table (pandas, "
                "polars, pyarrow) that has these names"
            )
        if X.dtype.kind in "biuf" and not self.takes_numbers:
            name, kind = next((name, kind) for name, kind in self.columns.items() if not kind.takes_numbers)
            raise ValueError(
                f"X is an array of numbers, but the column {name!r} of the training table, at position "
                f"{self.inputs.index(name)}, is {kind.kind}; pass a table (pandas, polars, pyarrow) with its "
                "columns, or an array of objects that has them in the order of training"
            )
        places = {name: place for place, name in enumerate(self.inputs)}
        return pa.table({name: as_column(X[:, places[name]], name) for name in self.types})

    def _records(self, batch: Batch) -> Records:
        """Convert rows of numbers to records, by the positions of their columns."""
        table = self.tabled(batch.rows.as_array())
        types = {name: type_named(kind) for name, kind in self.types.items()}
        columns = cast_columns(table.combine_chunks().to_batches()[0], types)
        return Records(columns, batch.labels, batch.file or NAME, batch.line + 1, "row")

    def scaled(self, rows: Rows) -> Rows:
        return rows if self.scaling is None else self.scaling.scaled(rows)

    def without_scales(self) -> "Encoding":
        return replace(self, columns={name: kind.unscaled() for name, kind in self.columns.items()})

    def with_single_words(self) -> "Encoding":
        """Return the encoding without pairs of words in texts; unchanged if there are no texts."""
        texts = {name: kind for name, kind in self.columns.items() if isinstance(kind, Text)}
        single = {name: kind.single_words() for name, kind in texts.items()}
        return replace(self, columns={**self.columns, **single}) if texts else self

    def lifted(self, rows: Rows) -> Rows:
        return rows if self.lift is None else lifted(rows, self.lift, self._numbers)

    @cached_property
    def _starts(self) -> list[tuple[str, Any, int]]:
        """The columns that have features, and where these start."""
        starts, start = [], 0
        for name, kind in self.columns.items():
            if kind.is_used:
                starts.append((name, kind, start))
            start += kind.size
        return starts

    def describe(self) -> tuple[Note, ...]:
        notes = tuple(Note(name, kind.kind, kind.detail()) for name, kind in self.columns.items())
        if self.scaling is not None:
            centred = "centred and divided" if self.scaling.means is not None else "divided"
            notes = (*notes, Note("all columns", "scaled", f"{centred} by their standard deviations"))
        if self.lift is None:
            return notes
        if self.lift == "paraboloid":
            return (*notes, Note(SQUARED_LENGTH, "lift", f"of all {self.n_own:,} features"))
        return (*notes, Note("squares", "lift", f"of {len(self._numbers):,} numbers"))

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as JSON types; floats are exact."""
        columns = [{"name": name} | kind.to_dict() for name, kind in self.columns.items()]
        more: dict[str, Any] = {"lift": self.lift, "width": self.width}
        more["scaling"] = None if self.scaling is None else self.scaling.to_dict()
        return {"is_dense": self.is_dense, "columns": columns} | {k: v for k, v in more.items() if v is not None}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Encoding":
        """Read the encoding that `to_dict` wrote; raise `ValueError` for anything else, in any field."""
        try:
            fields, by_name = Fields(plain, "the encoding"), {kind.kind: kind for kind in KINDS}
            columns: dict[str, ColumnKind] = {}
            for column in fields.parts("columns"):
                name = column.text("name")
                if name in columns:
                    column.fail(f"names the column {name!r} a second time")
                columns[name] = by_name[column.choice("kind", tuple(by_name))].from_fields(column)
            is_dense = fields.flag("is_dense")
            lift = fields.choice("lift", LIFTS) if fields.has("lift") else None
            width = fields.whole("width", most=WIDEST_LIFTED) if fields.has("width") else None
            scaling = Scaling.from_fields(fields.part("scaling"), width) if fields.has("scaling") else None
            if width is not None and (columns or is_dense or (lift is None and scaling is None)):
                fields.fail("has a width, which is for scales and a lift of numbers without names")
            fields.close()
            return cls(columns, is_dense, lift, width, scaling)
        except JSONError as error:
            raise ValueError(f"this is not an encoding: {error}; it must be what to_dict() returned") from None


def learn_encoding(
    records: Iterable[Records],
    *,
    categorical: Iterable[str] = (),
    text: Iterable[str] = (),
    tfidf: Iterable[str] = (),
    ignore: Iterable[str] = (),
    max_categories: int = MOST_CATEGORIES,
    n_buckets: int = BUCKETS,
    lift: Lift | None = None,
    words: int = 2,
    scale: TableScale = "auto",
    held_out: HeldOut | None = None,
) -> Encoding:
    """Learn an encoding from one pass over records, which also infers the types in a text file.

    Numbers are divided by their standard deviation, and centred if the rows are dense, or if at least half of the
    column is nonzero. Dates are numbers, too: days since 1970-01-01. Words, booleans, and the columns named in
    `categorical`, have one feature for each value. Columns named in `text` get a feature for each word and each pair of
    adjacent words (with `words=1`, for each word only); in those named in `tfidf`, words are weighted by their inverse
    document frequency, the m-th occurrence in a text counts 1/m, and every text is scaled to length 1. Words are hashed
    into `n_buckets`, and the first three of each bucket are kept, words before pairs. Rows are dense if they have at
    most 64 features, or if at least a quarter of all entries is nonzero.

    With `scale` False, numbers are not scaled. By default ("auto"), a table of numbers alone, none missing, is scaled
    only if `why_scale` has a reason; with "mixed", never; but with a `lift`, always. `held_out` records are not used.

    >>> import pyarrow as pa
    >>> cars = pa.RecordBatch.from_pydict({"doors": [4, 0, 2], "manufacturer": [6, 3, 6], "fast": [True, False, None]})
    >>> encoding = learn_encoding([Records(cars, None)], categorical=["manufacturer"])
    >>> encoding.feature_names
    ('doors', 'manufacturer=3', 'manufacturer=6', 'fast=False', 'fast=True', 'fast is missing')
    >>> encoding.encode(Records(cars, None)).rows.as_array().round(2).tolist()[0]
    [1.22, 0.0, 1.0, 0.0, 1.0, 0.0]
    """
    asked = asked_for({"categorical": categorical, "text": text, "tfidf": tfidf, "ignored": ignore})
    if lift is not None and lift not in LIFTS:
        raise ValueError(f"lift={lift!r} is unknown; choose one of {', '.join(LIFTS)}")
    columns, n_rows = gather(records, asked, GatherLimits(n_buckets, max_categories), held_out=held_out)
    if lift is not None and scale is not False:
        scale = True  # squares of uncentred numbers would be much larger than the rest
    encoding = replace(settled(columns, n_rows, scale), lift=lift)
    return encoding.with_single_words() if words == 1 else encoding


def asked_for(column_roles: Mapping[str, Iterable[str]]) -> dict[str, str]:
    asked: dict[str, str] = {}
    for kind, names in column_roles.items():
        for name in [names] if isinstance(names, str) else names:
            if asked.setdefault(name, kind) != kind:
                raise ValueError(f"the column {name!r} cannot be both {asked[name]} and {kind}; name it once")
    return asked


def settled(columns: Mapping[str, Column], n_rows: int, scale: TableScale = "auto") -> Encoding:
    """Return the encoding for what was gathered of the columns."""
    encoding = _settled(columns, n_rows)
    if scale in ("auto", "mixed") and encoding.is_numbers:
        found = [columns[name].found for name, kind in encoding.columns.items() if kind.is_used]
        numbers = [moments for moments in found if isinstance(moments, Moments)]
        scale = scale == "auto" and statistics_of(numbers).why_scale() is not None
    return encoding if scale else encoding.without_scales()


def _settled(columns: Mapping[str, Column], n_rows: int) -> Encoding:
    # Whether columns are centred depends on whether rows are dense, but not the other way round.
    kinds = {name: column.settled(dense=False) for name, column in columns.items()}
    n_features = Encoding(kinds, False).n_columns
    if n_features == 0:
        raise ValueError("no column is left to learn from: all are ignored, or without values")
    filled = sum(columns[name].n_entries for name, kind in kinds.items() if kind.is_used)
    if is_mostly_zero(filled, n_rows, n_features):
        return Encoding(kinds, False)
    return Encoding({name: column.settled(dense=True) for name, column in columns.items()}, True)


def _dense(parts: list[ColumnEntries], n_rows: int, n_columns: int, numbers: Mapping[int, NDArray[np.float64]]) -> Rows:
    """Assemble dense rows from whole columns of numbers, by their place, and from the entries of others."""
    dense = np.zeros((n_rows, n_columns))
    for place, column in numbers.items():
        dense[:, place] = column
    for part in parts:
        dense[part.rows, part.features] = part.values
    return as_rows(dense)


def _sparse(parts: list[ColumnEntries], n_rows: int, n_columns: int, _: Mapping[int, NDArray[np.float64]]) -> Rows:
    """Assemble sparse rows from the entries of each column. The parts are in ascending order, and so is each row."""
    from scipy.sparse import coo_array

    rows, features, values = (np.concatenate([part[field] for part in parts]) for field in range(3))
    return as_rows(coo_array((values, (rows, features)), shape=(n_rows, n_columns)).tocsr())
