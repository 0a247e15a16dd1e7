"""Conversion of dataclasses to the parts of a model file, and back: their declarations are the format.

A dataclass is an object of the header with its fields. Arrays are among the arrays of the file, under their path
(`ballots.0.mistakes.rows`), and not in the header. `novikoff.keep.values` encodes values that JSON cannot represent.
Reading uses the declared types alone, and msgspec checks them: no class is looked up by a name in a file. Numbers are
counts and sizes: none is negative, or not finite, unless declared so. A type that is more than its fields has a form
of its own.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import Csr, Rows, as_rows, csr_rows
from novikoff.keep import checks
from novikoff.keep.checks import ensure, take
from novikoff.keep.layout import Arrays, ModelFileError
from novikoff.keep.parameters import encode_parameters
from novikoff.keep.values import decode, encode
from novikoff.learn.model import LearnedModel
from novikoff.learn.run import Run
from novikoff.options import READOUTS


class TypeForm(NamedTuple):
    """How values of a type are written and read, given their path and all arrays."""

    write: Callable[[Any, str, Arrays], Any]
    read: Callable[[Any, str, Arrays], Any]


@dataclass(frozen=True)
class Codec:
    """Writes and reads values by their declared types; some of these have forms of their own."""

    forms: Mapping[Any, TypeForm] = field(default_factory=dict)
    finite: bool = True

    def write(self, kind: Any, value: Any, arrays: Arrays, path: str = "") -> Any:
        """Return the value for the header; add its arrays to the others."""
        kind, _ = _optional(kind)
        if value is None:
            return None
        if kind in self.forms:
            return self.forms[kind].write(value, path, arrays)
        if is_dataclass(kind):
            return self.write_fields(value, arrays, path)
        if (inner := _listed(kind)) is not None:
            return [self.write(inner, part, arrays, _below(path, str(i))) for i, part in enumerate(value)]
        if isinstance(value, Enum):
            return value.name
        value = _own(value)
        return encode(float(value) if kind is float else value, path)

    def write_fields(self, value: Any, arrays: Arrays, path: str = "", without: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the fields of a dataclass, except some, for the header."""
        header = {}
        of: Any = type(value)
        for name, kind in declared_fields(of).items():
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
            return inner(**self.read_fields(inner, plain, arrays, path))  # type: ignore[operator]
        if (part := _listed(inner)) is not None:
            ensure(isinstance(plain, list), f"{path} is not a list")
            return [self.read(part, one, arrays, _below(path, str(i))) for i, one in enumerate(plain)]
        if isinstance(inner, type) and issubclass(inner, Enum):
            ensure(isinstance(plain, str) and plain in inner.__members__, f"{path} is {plain!r:.60}")
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
        ensure(isinstance(plain, Mapping), f"{path or 'the header'} is not an object")
        values, left = {}, set(plain) - set(without)
        for name, declared in declared_fields(kind).items():
            place = _below(path, name)
            if name in without:
                continue
            if (dtype := _dtype(declared)) is not None:
                values[name] = take(arrays, place, dtype, may_be_none=_optional(declared)[1])
                continue
            ensure(name in plain, f"the header has no field {place!r}")
            values[name] = self.read(declared, plain[name], arrays, place)
            left.discard(name)
        ensure(not left, f"the header has the field {_below(path, min(left, default=''))!r:.80}, which is unknown")
        return values

    def _check_numbers(self, value: Any, path: str) -> None:
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int | float):
                most = (
                    math.inf if not self.finite else checks.LARGEST if type(number) is int else 1.7976931348623157e308
                )
                ensure(0 <= number <= most, f"{path} is {number!r:.60}, which is negative or too large")


@cache
def declared_fields(kind: Any) -> dict[str, Any]:
    """Return the fields of a dataclass with their types. Some types are imported for type checkers only."""
    hints = get_type_hints(kind, localns={"np": np, "NDArray": NDArray, "Encoding": Any})
    return {part.name: hints[part.name] for part in fields(kind) if part.init}


def _optional(kind: Any) -> tuple[Any, bool]:
    """Return a type without None, and whether None is allowed."""
    if get_origin(kind) not in (Union, UnionType) or NoneType not in get_args(kind):
        return kind, False
    others = [part for part in get_args(kind) if part is not NoneType]
    return (others[0] if len(others) == 1 else Union[tuple(others)]), True  # noqa: UP007


def _listed(kind: Any) -> Any:
    """Return the item type of a list of dataclasses; None for other types."""
    parts = get_args(kind)
    return parts[0] if get_origin(kind) is list and is_dataclass(parts[0]) else None


def _dtype(kind: Any) -> np.dtype[Any] | None:
    """Return the dtype of an array type; None if it is not an array type, or has any dtype."""
    kind, _ = _optional(kind)
    if get_origin(kind) is not np.ndarray:
        return None
    (number,) = get_args(get_args(kind)[1])
    return None if number is Any else np.dtype(number)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _own(value: Any) -> Any:
    """Convert NumPy's numbers to equal ones of Python."""
    if isinstance(value, tuple):
        return tuple(map(_own, value))
    return value.item() if isinstance(value, np.generic) else value


# -- rows of numbers --------------------------------------------------------------------------------------------------


def _write_rows(rows: Rows, path: str, arrays: Arrays) -> dict[str, Any]:
    if rows.is_sparse:
        data, indices, indptr = rows.matrix
        end = int(indptr[-1])
        arrays |= {f"{path}.values": data[:end], f"{path}.columns": indices[:end], f"{path}.pointers": indptr}
    else:
        arrays[f"{path}.rows"] = rows.matrix
    return {"is_sparse": rows.is_sparse, "n_columns": rows.n_columns}


def _read_rows(plain: Any, path: str, arrays: Arrays) -> Rows:
    known = Codec().read(_RowsHeader, plain, arrays, path)
    floats, wholes = (np.float32, np.float64), (np.uint32, np.uint64)
    if not known.is_sparse:
        rows = take(arrays, f"{path}.rows", floats)
        checks.shape(rows, f"{path}.rows", len(rows), known.n_columns)
        return as_rows(rows)
    parts = zip(("values", "columns", "pointers"), (floats, wholes, wholes), strict=True)
    csr = Csr(*(take(arrays, f"{path}.{name}", kinds) for name, kinds in parts))
    checks.csr(csr, path, known.n_columns)
    return csr_rows(*csr, known.n_columns)


@dataclass(frozen=True)
class _RowsHeader:
    is_sparse: bool
    n_columns: int


ROWS = TypeForm(_write_rows, _read_rows)


# -- common parts of models -------------------------------------------------------------------------------------------

# These fields of a model are written separately; the evidence, by `save`, in every file.
EVIDENCE = ("certificate", "fingerprint", "review")
OF_MODELS = (*EVIDENCE, "run", "goes_on", "parameters", "mistake_guesses")
RECORDS = Codec(finite=False)


def write_model(model: LearnedModel, record: Run) -> dict[str, Any]:
    """Return the parameters and the record; learning resumes if the model has no record of its own."""
    known = {"parameters": encode_parameters(model.parameters), "run": write_run(record)}
    return {**known, "goes_on": model.run is None}


def write_run(run: Run) -> dict[str, Any]:
    """Return the record; a cycle with guesses that a file cannot hold is omitted."""
    try:
        return RECORDS.write_fields(run, {})
    except ValueError:
        return RECORDS.write_fields(replace(run, cycle=None), {})


def goes_on(header: Mapping[str, Any]) -> bool:
    """Whether the model has no record of its own, so that learning resumes."""
    return bool(RECORDS.read(bool, header["goes_on"], {}, "goes_on"))


def read_run(header: Mapping[str, Any], kind: type[Run] = Run, *, most_mistakes: int = 1) -> Run:
    """Return the record if it is consistent, with at most `most_mistakes` per example."""
    ensure("run" in header, "the header has no field 'run'")
    run: Run = RECORDS.read(kind, header["run"], {}, "run")
    ensure(run.readout in READOUTS, f"the record has readout={run.readout!r:.60}")
    ensure(run.order in (None, "given", "mixed", "random"), f"the record has order={run.order!r:.60}")
    ensure(len(run.mistakes_per_epoch) <= run.epochs, "the record has mistakes of more epochs than there were")
    ensure(run.updates <= most_mistakes * run.examples, "the record has more mistakes than examples")
    ensure(sum(run.mistakes_per_epoch) <= run.mistakes, "the record has more mistakes in its epochs than in all")
    sound = run.lead > 0 or not (run.narrow or run.narrow_per_epoch or run.margin_at_least)
    ensure(sound, "the record has narrow examples without a lead")
    whole = len(run.narrow_per_epoch) in (0, len(run.mistakes_per_epoch))
    ensure(whole and sum(run.narrow_per_epoch) <= run.narrow, "the record has more narrow examples in its epochs")
    elsewhere = (run.mistaken_rows or 0) + (run.errors_elsewhere or 0)
    counted = run.n_rows is None or max(run.errors or 0, elsewhere) <= run.n_rows
    ensure(counted, "the record has more errors than rows")
    ensure((run.held_out_errors or 0) <= run.held_out_rows, "the record has more errors than rows that were held out")
    folds = zip(run.fold_errors, run.fold_rows, strict=False)
    same = len(run.fold_errors) == len(run.fold_rows) and all(wrong <= rows for wrong, rows in folds)
    ensure(same, "the record has more errors than rows in a fold")
    cycle = run.cycle
    if cycle is not None:
        n_rivals = len(cycle.rows if cycle.rivals is None else cycle.rivals)
        ensure(len(cycle.rows) == len(cycle.times) == n_rivals, "the record has a cycle whose parts do not match")
    return run
