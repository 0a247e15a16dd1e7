"""Conversion of models to the parts of a file, and back: the declarations of their dataclasses are the format.

A dataclass is an object of the header with its fields. Arrays are among the arrays of the file, under their path
(`ballots.0.mistakes.rows`; the memory of a model has none), and not in the header. `novikoff.keep.values` encodes
values that JSON cannot represent. Reading uses the declared types alone, and msgspec checks them: no class is looked up
by a name in a file. Numbers are counts and sizes: none is negative, or not finite, unless declared so. A type that is
more than its fields has a form of its own.

What was read is checked, so that kernels and proofs can rely on it: all parts are present, and fit together.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import Csr, Rows, as_rows, csr_rows
from novikoff.keep.layout import Arrays, FileParts, ModelFileError
from novikoff.keep.parameters import Functions, decode_parameters, encode_parameters
from novikoff.keep.values import decode, decode_array, decode_names, encode, encode_array, encode_names
from novikoff.learn.model import LearnedModel
from novikoff.learn.review import Review
from novikoff.learn.run import Cycle, History, Run
from novikoff.options import MOST_LEAD, READOUTS

LARGEST, LARGEST_FLOAT = 2**62, 1.7976931348623157e308

# The paths of numbers that may be negative, and dataclasses in which they may be infinite.
SIGNED = ("kernel.coef0", "square")
UNBOUNDED = (Run, Review)

# The counts that record and memory share.
COUNTS = ("mistakes", "narrow", "lead", "examples")


class TypeForm(NamedTuple):
    """How values of a type are written and read, given their path and all arrays."""

    write: Callable[[Any, str, Arrays], Any]
    read: Callable[[Any, str, Arrays], Any]


class EncodingMark:
    """Stands for `Encoding` in declarations: it is imported when a file has one."""


@dataclass(frozen=True)
class Format:
    """How models of a kind are in files.

    `kept` makes what is kept of a model, of this `kind`, from the model, and `restored` the model from what was read,
    which it checks. Parameters with an `own` meaning are checked by the model.
    """

    kind: type[Any]
    restored: Callable[[Any], Any]
    kept: Callable[[Any], Any] = lambda model: model
    forms: Mapping[Any, TypeForm] = field(default_factory=dict)
    own: tuple[str, ...] = ()

    def to_parts(self, kept: Any) -> FileParts:
        arrays: Arrays = {}
        return FileParts(self._codec({}).write_fields(kept, arrays), arrays)

    def from_parts(self, parts: FileParts, functions: Functions) -> Any:
        """Return the model in a file; the parameters that are functions are given."""
        arrays = dict(parts.arrays)
        found = self._codec(functions).read(self.kind, parts.header, arrays)
        ensure(f"the array {min(arrays, default='')!r:.60} is not expected", not arrays)
        if isinstance(found, LearnedModel):
            check_record(found)
        return self.restored(found)

    def _codec(self, functions: Functions) -> "Codec":
        given = TypeForm(
            lambda value, path, arrays: encode_parameters(value),
            lambda plain, path, arrays: decode_parameters(plain, functions, self.own),
        )
        return Codec({**FORMS, Mapping[str, Any]: given, **self.forms})


@dataclass(frozen=True)
class Codec:
    """Writes and reads values by their declared types; some of these have forms of their own."""

    forms: Mapping[Any, TypeForm] = field(default_factory=dict)
    finite: bool = True

    def write(self, kind: Any, value: Any, arrays: Arrays, path: str) -> Any:
        """Return the value for the header; add its arrays to the others."""
        kind, _ = _optional(kind)
        if value is None:
            return None
        if kind in self.forms:
            return self.forms[kind].write(value, path, arrays)
        if is_dataclass(kind):
            return self.write_fields(value, arrays, path)
        if _variants(kind):
            return {type(value).__name__: self.write(type(value), value, arrays, path)}
        if (inner := self._listed(kind)) is not None:
            parts = [inner.joined(value)] if len(value) > 1 and hasattr(inner, "joined") else value
            return [self.write(inner, part, arrays, _below(path, str(i))) for i, part in enumerate(parts)]
        if isinstance(value, Enum):
            return value.name
        value = _own(value)
        return encode(float(value) if kind is float else value, path)

    def _listed(self, kind: Any) -> Any:
        """Return the item type of a list of dataclasses, or of a type with a form; None for other types."""
        parts = get_args(kind)
        is_list = get_origin(kind) in (list, tuple) and (is_dataclass(parts[0]) or parts[0] in self.forms)
        return parts[0] if is_list else None

    def write_fields(self, value: Any, arrays: Arrays, path: str = "", without: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the fields of a dataclass, except some, for the header."""
        header = {}
        for name, kind in declared_fields(value.__class__).items():
            part, place = getattr(value, name), _below(path, name)
            if name in without:
                continue
            if (dtype := _dtype(kind)) is None:
                header[name] = self.write(kind, part, arrays, place)
            elif part is not None:
                arrays[place] = np.asarray(part, dtype=dtype)
        return header

    def read(self, kind: Any, plain: Any, arrays: Arrays, path: str = "") -> Any:
        """Return the value of a type; remove its arrays from the others."""
        inner, may_be_none = _optional(kind)
        if plain is None and may_be_none:
            return None
        if inner in self.forms:
            return self.forms[inner].read(plain, path, arrays)
        if is_dataclass(inner):
            codec = replace(self, finite=False) if issubclass(inner, UNBOUNDED) else self  # type: ignore[arg-type]
            return inner(**codec.read_fields(inner, plain, arrays, path))  # type: ignore[operator]
        if variants := _variants(inner):
            told = [*plain] if isinstance(plain, dict) else []
            ensure(f"{path} is not one of {', '.join(variants)}", len(told) == 1, variants.keys() >= set(told))
            return self.read(variants[told[0]], plain[told[0]], arrays, path)
        if (part := self._listed(inner)) is not None:
            ensure(f"{path} is not a list", isinstance(plain, list))
            return get_origin(inner)(
                [self.read(part, one, arrays, _below(path, str(i))) for i, one in enumerate(plain)]
            )
        if isinstance(inner, type) and issubclass(inner, Enum):
            ensure(f"{path} is {plain!r:.60}", isinstance(plain, str) and plain in inner.__members__)
            return inner[plain]
        try:
            value = msgspec.convert(decode(plain), kind)
        except msgspec.ValidationError as error:
            raise ModelFileError(f"{path} is {plain!r:.60}: {error}") from None
        if Any not in (inner, *get_args(inner)):  # labels may be any numbers
            self._check_numbers(value, path)
        return value

    def read_fields(
        self, kind: Any, plain: Any, arrays: Arrays, path: str = "", without: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Return the fields of a dataclass by name, except some; others are not allowed."""
        ensure(f"{path or 'the header'} is not an object", isinstance(plain, Mapping))
        values, left = {}, set(plain)
        for name, declared in declared_fields(kind).items():
            place = _below(path, name)
            if name in without:
                continue
            if (dtype := _dtype(declared)) is not None:
                values[name] = take(arrays, place, dtype, may_be_none=_optional(declared)[1])
                continue
            ensure(f"the header has no field {place!r}", name in plain)
            values[name] = self.read(declared, plain[name], arrays, place)
            left.discard(name)
        ensure(f"the header has the field {_below(path, min(left, default=''))!r:.80}, which is unknown", not left)
        return values

    def _check_numbers(self, value: Any, path: str) -> None:
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int | float):
                size = abs(number) if path in SIGNED else number
                most = math.inf if not self.finite else LARGEST if type(number) is int else LARGEST_FLOAT
                ensure(f"{path} is {number!r:.60}, which is negative or too large", 0 <= size <= most)


@cache
def declared_fields(kind: Any) -> dict[str, Any]:
    """Return the fields of a dataclass with their types. Some types are imported for type checkers only."""
    hints = get_type_hints(kind, localns={"np": np, "NDArray": NDArray, "Encoding": EncodingMark})
    return {part.name: hints[part.name] for part in fields(kind) if part.init}


def _optional(kind: Any) -> tuple[Any, bool]:
    """Return a type without None, and whether None is allowed."""
    if get_origin(kind) not in (Union, UnionType) or NoneType not in get_args(kind):
        return kind, False
    others = [part for part in get_args(kind) if part is not NoneType]
    return (others[0] if len(others) == 1 else Union[tuple(others)]), True  # noqa: UP007


def _variants(kind: Any) -> dict[str, Any]:
    """Return the dataclasses of which a value is one, by name; none if it is of one type."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    return {part.__name__: part for part in parts} if all(map(is_dataclass, parts)) else {}


def _dtype(kind: Any) -> np.dtype[Any] | None:
    """Return the dtype of an array type; None if it is not an array type, or has any dtype."""
    kind, _ = _optional(kind)
    if get_origin(kind) is not np.ndarray:
        return None
    (number,) = get_args(get_args(kind)[1])
    return None if number is Any else np.dtype(number)


def _below(path: str, name: str) -> str:
    return path if name == "memory" else f"{path}.{name}" if path else name


def _own(value: Any) -> Any:
    """Convert NumPy's numbers to equal ones of Python."""
    if isinstance(value, tuple):
        return tuple(map(_own, value))
    return value.item() if isinstance(value, np.generic) else value


# -- types with forms of their own ------------------------------------------------------------------------------------


def _write_rows(rows: Rows, path: str, arrays: Arrays) -> int | None:
    """Sparse rows have the number of columns in the header."""
    if not rows.is_sparse:
        arrays[f"{path}.rows"] = rows.matrix
        return None
    data, indices, indptr = rows.matrix
    end = int(indptr[-1])
    arrays |= {f"{path}.values": data[:end], f"{path}.columns": indices[:end], f"{path}.pointers": indptr}
    return rows.n_columns


def _read_rows(n_columns: Any, path: str, arrays: Arrays) -> Rows:
    floats, wholes = (np.float32, np.float64), (np.uint32, np.uint64)
    if n_columns is None:
        rows = take(arrays, f"{path}.rows", floats)
        ensure(f"the array '{path}.rows' is no matrix", rows.ndim == 2)
        return as_rows(rows)
    ensure(f"{path} has {n_columns!r:.60} columns", type(n_columns) is int and 0 <= n_columns <= LARGEST)
    parts = zip(("values", "columns", "pointers"), (floats, wholes, wholes), strict=True)
    csr = Csr(*(take(arrays, f"{path}.{name}", kinds) for name, kinds in parts))
    check_csr(csr, path, n_columns)
    return csr_rows(*csr, n_columns)


def _write_cycle(cycle: Cycle, path: str, arrays: Arrays) -> Any:
    """A cycle with guesses that a file cannot hold is omitted."""
    try:
        return Codec().write_fields(cycle, arrays, path)
    except ValueError:
        return None


def _read_encoding(plain: Any, path: str, arrays: Arrays) -> Any:
    from novikoff.features.encode import Encoding

    return Encoding.from_dict(plain)


def _write_names(values: Any, path: str, arrays: Arrays) -> bool:
    names = getattr(values, "tolist", lambda: values)()
    arrays[path] = encode_names(names, f"{path}_ (learn without record_mistakes)" if "mistake" in path else path)
    return True


def _read_names(plain: Any, path: str, arrays: Arrays) -> Any:
    return None if plain is None else decode_names(take(arrays, path, np.uint8))


def by_name(
    dtype: Any, value: Callable[[Any], Any] | None = None, read_as: Any = None, whole: Callable[..., Any] = dict
) -> TypeForm:
    """Return the form of a mapping from names to values of a dtype that consists of floats: they become a matrix."""
    n = np.dtype(dtype).itemsize // np.dtype(np.float64).itemsize

    def write(values: Mapping[Any, Any], path: str, arrays: Arrays) -> bool:
        arrays[f"{path}.names"] = encode_names(values, "a feature name")
        arrays[path] = np.array(list(values.values()), dtype=dtype).view(np.float64).reshape(-1, n)
        return True

    def read(plain: Any, path: str, arrays: Arrays) -> Any:
        names, found = decode_names(take(arrays, f"{path}.names", np.uint8)), take(arrays, path, np.float64)
        check_arrays({path: found}, **{path: ArrayForm((len(names), n))})
        ensure(f"the names in {path!r} are not different", len(names) == len(set(names)))
        with np.errstate(invalid="ignore"):
            values = np.ascontiguousarray(found).view(dtype).ravel().astype(read_as or dtype).tolist()
        return whole(zip(names, values if value is None else map(value, values), strict=True))

    return TypeForm(write, read)


FORMS: dict[Any, TypeForm] = {
    Rows: TypeForm(_write_rows, _read_rows),
    Cycle: TypeForm(
        _write_cycle, lambda plain, path, arrays: Cycle(**Codec(finite=False).read_fields(Cycle, plain, arrays, path))
    ),
    EncodingMark: TypeForm(lambda encoding, path, arrays: encoding.to_dict(), _read_encoding),
    # Classes, and labels in order of appearance.
    NDArray[Any]: TypeForm(
        lambda array, path, arrays: encode_array(array, f"{path}_"), lambda plain, path, arrays: decode_array(plain)
    ),
    tuple[Hashable, ...]: TypeForm(
        lambda labels, path, arrays: encode(list(labels), "the labels"),
        lambda plain, path, arrays: _labels(decode(plain)),
    ),
    # The guesses of mistakes, and support that is objects.
    **dict.fromkeys((Any, list[Any], Sequence[Any]), TypeForm(_write_names, _read_names)),
    dict[Any, float]: by_name(np.float64),
    dict[Any, complex]: by_name(np.complex128),
}


def _labels(labels: Any) -> tuple[Any, ...]:
    ensure("the labels are no list", isinstance(labels, list))
    ensure("a label occurs twice", len(set(labels)) == len(labels))
    return tuple(labels)


# -- checks -----------------------------------------------------------------------------------------------------------


def ensure(what: str, *conditions: Any) -> None:
    """Raise ModelFileError with the message `what` unless all conditions hold."""
    if not all(conditions):
        raise ModelFileError(what)


def take(arrays: Arrays, name: str, dtype: Any, *, may_be_none: bool = False, or_forbidden: bool = False) -> Any:
    """Remove and return an array of this type; floats must be finite, or minus infinity for what is forbidden."""
    if name not in arrays:
        ensure(f"the array {name!r:.60} is missing", may_be_none)
        return None
    array = arrays.pop(name)
    kinds = [np.dtype(kind) for kind in (dtype if isinstance(dtype, tuple) else (dtype,))]
    expected = " or ".join(map(str, kinds))
    ensure(f"the array {name!r} is of the type {array.dtype}, not {expected}", array.dtype in kinds)
    if array.dtype.kind == "f" and not np.isfinite(array[~np.isneginf(array)] if or_forbidden else array).all():
        raise ModelFileError(f"the array {name!r} contains NaN or an infinity, and a model has only finite numbers")
    return array


class ArrayForm(NamedTuple):
    """What an array must be: its shape (None: any size), from 0 and below an end, ascending, perhaps strictly."""

    shape: tuple[int | None, ...]
    end: int | None = None
    ascends: bool = False
    strictly: bool = False


def check_arrays(of: Any, **declared: ArrayForm) -> None:
    """Check arrays, which are attributes or entries by name; those that are None are not there."""
    for name, (shape, end, ascends, strictly) in declared.items():
        array: NDArray[Any] | None = of[name] if isinstance(of, dict) else getattr(of, name)
        if array is None:
            continue
        fits = len(array.shape) == len(shape) and all(b in (None, a) for a, b in zip(array.shape, shape, strict=True))
        ensure(f"the array {name!r} has the shape {array.shape}, which does not fit the others", fits)
        if end is not None and len(array) and (int(array.min()) < 0 or int(array.max()) >= end):
            raise ModelFileError(f"the array {name!r} has numbers outside of 0 to {end - 1}")
        if ascends or strictly:
            wrong = array[1:] <= array[:-1] if strictly else array[1:] < array[:-1]
            ensure(f"the array {name!r} does not ascend", not np.any(wrong))


def check_csr(rows: Csr, name: str, n_columns: int) -> None:
    """Check that sparse rows are valid, so that no kernel reads out of bounds."""
    parts = {f"{name}.{part}": array for part, array in zip(("values", "columns", "pointers"), rows, strict=True)}
    n_entries = len(rows.data)
    declared = (ArrayForm((n_entries,)), ArrayForm((n_entries,), n_columns), ArrayForm((None,), n_entries + 1))
    check_arrays(parts, **dict(zip(parts, declared, strict=True)))
    indices, indptr = rows.indices, rows.indptr
    ensure(f"the columns and pointers of {name} are of different types", indices.dtype == indptr.dtype)
    sound = len(indptr) and indptr[0] == 0 and indptr[-1] == n_entries and not np.any(indptr[1:] < indptr[:-1])
    ensure(f"the row pointers of {name} do not ascend from 0 to the number of entries", sound)
    falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
    ensure(f"the columns of {name} do not ascend in every row", np.isin(falls, indptr).all())


def check_record(model: LearnedModel) -> None:
    """Check that there is a guess for every mistake that was recorded, and that the record is consistent."""
    check_arrays(model, mistake_rows=ArrayForm((None,), LARGEST))
    rows, guesses = model.mistake_rows, model.mistake_guesses
    as_many = guesses is None or rows is None or len(rows) == len(guesses)
    ensure("there are not as many guesses as mistakes", as_many)
    if model.run is not None:
        check_run(model.run, most_mistakes=len(getattr(model, "classes", (0,))))


def check_run(run: Run, most_mistakes: int) -> None:
    """Check that a record is consistent, with at most `most_mistakes` per example."""
    epochs, narrow, n_rows = len(run.mistakes_per_epoch), run.narrow_per_epoch, math.inf
    n_rows = math.inf if run.n_rows is None else run.n_rows
    cycle = run.cycle
    ensure(
        "the record is none that a run can have left",
        run.readout in READOUTS,
        run.order in (None, "given", "mixed", "random"),
        epochs <= run.epochs,
        run.updates <= most_mistakes * run.examples,
        sum(run.mistakes_per_epoch) <= run.mistakes,
        run.lead > 0 or not (run.narrow or narrow or run.margin_at_least),
        len(narrow) in (0, epochs),
        sum(narrow) <= run.narrow,
        max(run.errors or 0, (run.mistaken_rows or 0) + (run.errors_elsewhere or 0)) <= n_rows,
        (run.held_out_errors or 0) <= run.held_out_rows,
        len(run.fold_errors) == len(run.fold_rows),
        all(wrong <= rows for wrong, rows in zip(run.fold_errors, run.fold_rows, strict=False)),
        cycle is None or len({len(part) for part in (cycle.rows, cycle.times, cycle.rivals or cycle.rows)}) == 1,
    )


def check_memory(memory: History, run: Run | None = None) -> None:
    """Check that the counts of a memory are consistent, and those of its record the same."""
    ensure("there are narrow examples without a lead", memory.lead > 0 or not memory.narrow)
    ensure("the lead is too large", memory.lead <= MOST_LEAD)
    same = run is None or all(getattr(run, name) == getattr(memory, name) for name in COUNTS)
    ensure("the record is that of another model", same)
