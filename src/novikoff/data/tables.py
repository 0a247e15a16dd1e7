"""Tables: their columns, the types of these, and the place of a record in its file.

Columns have one of few types: null, int64, uint64, double, bool, string, dates and times; others are passed on for the
encoding to reject or to ignore. A column with integers and fractions is double; in a text file, one with numbers and
words is string. So its type depends only on the set of its values, not on the order of the records, nor on blocks.
"""

import difflib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Records

if TYPE_CHECKING:
    import pyarrow as pa

Types = Mapping[str, "pa.DataType"]

# The type of a column whose values are features with names.
NAMED_VALUES = "map<string, double>"

# Large enough that the overhead of a call per column is negligible.
BLOCK_BYTES = 1 << 22


def plain_type(kind: "pa.DataType") -> "pa.DataType":
    """Return one type for all that hold the same values."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_integer(kind):
        return kind if pa.types.is_uint64(kind) else pa.int64()
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pa.float64() if pa.types.is_floating(kind) or kind.scale > 0 else pa.int64()
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    return kind


def joined_type(one: "pa.DataType", other: "pa.DataType", *, as_text: bool) -> "pa.DataType | None":
    """Return the narrowest type that holds the values of both, or None. As text, everything can be a string.

    >>> import pyarrow as pa
    >>> print(joined_type(pa.int64(), pa.float64(), as_text=False))
    double
    >>> print(joined_type(pa.int64(), pa.bool_(), as_text=True), joined_type(pa.int64(), pa.bool_(), as_text=False))
    string None
    """
    import pyarrow as pa

    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if is_number(one) and is_number(other):
        return pa.float64()
    stamps = [kind for kind in (one, other) if pa.types.is_timestamp(kind)]
    if sort_of_number(one) == sort_of_number(other) == "day" and {kind.tz for kind in stamps} == {None}:
        return next((kind for kind in stamps if kind.unit == "ns"), stamps[0])
    return pa.string() if as_text else None


def read_days(text: Any) -> Any:
    """Parse dates and times, in any precision and with or without a zone, to Arrow's type.

    >>> import pyarrow as pa
    >>> print(read_days(pa.array(["2020-01-01"])).type, read_days(pa.array(["2020-01-01T06:00:00.25+01:00"])).type)
    timestamp[us] timestamp[us, tz=UTC]
    """
    import pyarrow as pa

    for unit, zone in (("us", None), ("us", "UTC"), ("ns", None)):
        with suppress(pa.ArrowInvalid):
            return text.cast(pa.timestamp(unit, zone))
    return text.cast(pa.timestamp("ns", "UTC"))


def type_named(name: str) -> "pa.DataType":
    """Return the type with this name, as Arrow writes it.

    >>> print(type_named("double"), type_named("timestamp[ns, tz=UTC]"))
    double timestamp[ns, tz=UTC]
    """
    import pyarrow as pa

    if name == NAMED_VALUES:
        return pa.map_(pa.string(), pa.float64())
    unit, found, zone = name.removeprefix("timestamp[").removesuffix("]").partition(", tz=")
    return pa.timestamp(unit, zone) if found else pa.type_for_alias(name)


def is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def sort_of_number(kind: "pa.DataType | None") -> str | None:
    """Return the sort of number, or of date or time; types of one sort may be mixed.

    >>> import pyarrow as pa
    >>> sort_of_number(pa.int64()), sort_of_number(pa.date32()), sort_of_number(pa.string())
    ('number', 'day', None)
    """
    import pyarrow as pa

    if kind is None or is_number(kind):
        return None if kind is None else "number"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "day"
    return "time" if pa.types.is_time(kind) else "duration" if pa.types.is_duration(kind) else None


def cast_columns(columns: "pa.RecordBatch", types: Types) -> "pa.RecordBatch":
    """Cast the columns named in `types`, in that order, to these types where possible.

    A column that cannot be cast is left unchanged; an encoding then reports the row.
    """
    import pyarrow as pa

    arrays = [_cast(columns.column(name), kind) for name, kind in types.items()]
    return pa.RecordBatch.from_arrays(arrays, names=list(types))


def _cast(column: "pa.Array", kind: "pa.DataType") -> "pa.Array":
    import pyarrow as pa

    if column.type == kind:
        return column
    try:
        if pa.types.is_dictionary(column.type):  # cast its values first: not all types of them can be decoded
            return _cast(column.dictionary, kind).take(column.indices)
        return column.cast(kind, safe=not pa.types.is_floating(kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def without_labels(records: Records, label: str | None) -> Records:
    """Return the same records without the column of labels, if they have it."""
    at = -1 if label is None else records.columns.schema.get_field_index(label)
    return records if at < 0 else replace(records, columns=records.columns.remove_column(at))


def with_labels(records: Records, label: str | None) -> Records:
    """Return the same records with the labels separated from the columns."""
    rest = without_labels(records, label)
    return rest if label is None else replace(rest, labels=_labels(records.columns.column(label), label, rest))


def _labels(column: "pa.Array", label: str, records: Records) -> NDArray[Any]:
    """Convert labels to NumPy: words as objects, int64, float64 or bool."""
    import pyarrow as pa

    kinds = pa.types
    missing = column.is_null(nan_is_null=kinds.is_floating(column.type))
    if missing.true_count:
        row = int(np.argmax(as_numpy(missing)))
        raise ValueError(f"{records.place(row)}: the label {label!r} is missing; label this record or remove it")
    if kinds.is_string(column.type):
        codes = column.dictionary_encode()
        words: NDArray[Any] = np.array(codes.dictionary.to_pylist(), dtype=object)
        return words[as_numpy(codes.indices)]
    if kinds.is_uint64(column.type):
        column = column.cast(pa.int64())
    if kinds.is_boolean(column.type) or is_number(column.type):
        return as_numpy(column)
    raise ValueError(
        f"{records.file}: the label column {label!r} has the type {column.type}; labels are words, numbers or booleans"
    )


def check_label(label: str, names: Iterable[str], file: str) -> None:
    """Raise an error, with the nearest name, if a label is not a column."""
    names = list(names)
    if label in names:
        return
    hint = (
        "; the first line is read as names, but looks like data: if so, pass header=False"
        if look_like_data(names)
        else ""
    )
    raise ValueError(f"{file} has no column {label!r} for the label; {nearest(label, names)}{hint}")


def check_columns(wanted: Iterable[str], names: Iterable[str], file: str, other: str = "") -> None:
    """Raise an error, with the nearest name, if a table lacks a column, which an `other` table has."""
    names = list(names)
    there = set(names)
    for name in wanted:
        if name not in there:
            but = f", but {other} has" if other else ""
            raise ValueError(f"{file} has no column {name!r}{but}; {nearest(name, names)}")


def check_same_names(found: Iterable[str], file: str, known: Iterable[str], first: str) -> None:
    """Check that a file has the columns of the first one, in any order."""
    check_columns(known, found, file, first)
    check_columns(found, known, first, file)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint at the intended name.

    >>> nearest("wieght", ["doors", "weight"])
    "did you mean 'weight'?"
    """
    names = list(names)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return f"its columns are {shown}" if names else "it has no columns"


def look_like_data(names: Iterable[str]) -> bool:
    """Whether supposed column names are mostly numbers.

    >>> look_like_data(["5.1", "3.5", "setosa"]), look_like_data(["length", "width", "2024"])
    (True, False)
    """
    names = list(names)
    return 2 * sum(map(_looks_like_a_number, names)) >= len(names) > 0


def check_no_duplicates(names: Iterable[str], file: str) -> None:
    names = list(names)
    seen: set[str] = set()
    for name in names:
        if name in seen:
            hint = "; or is the first line data? if so, pass header=False" if look_like_data(names) else ""
            raise ValueError(
                f"{file} has two columns named {name!r}, and weights are known by the names of columns; give each its "
                f"own{hint}"
            )
        seen.add(name)


def _looks_like_a_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


# -- Arrow's arrays to NumPy, and back: Arrow's own conversion imports pandas if it is installed, which takes longer
# than to read and learn a small table.


def as_numbers(numbers: NDArray[np.int64]) -> "pa.Array":
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def as_numpy(array: "pa.Array", missing: float | None = None) -> NDArray[Any]:
    """Convert numbers or booleans, without a copy if possible; `missing` replaces the nulls among numbers.

    >>> import pyarrow as pa
    >>> as_numpy(pa.array([1.5, None]), -1.0).tolist(), as_numpy(pa.array([True, False])).tolist()
    ([1.5, -1.0], [True, False])
    """
    import pyarrow as pa

    if missing is not None and array.null_count:
        values = pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
        numbers = as_numpy(values).copy()
        numbers[as_numpy(array.is_null())] = missing
        return numbers
    if pa.types.is_boolean(array.type):
        return np.from_dlpack(array.cast(pa.uint8())).view(np.bool_)
    return np.from_dlpack(array)
