"""Checks of a file, so that kernels and proofs can rely on it: all parts are present and consistent."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import Csr
from novikoff.keep.layout import Arrays, ModelFileError
from novikoff.keep.values import decode_names
from novikoff.learn.class_weights import HEAVIEST, LIGHTEST
from novikoff.options import MOST_LEAD

LARGEST = 2**62

# The counts that record and memory share.
COUNTS = ("mistakes", "narrow", "lead", "examples")


def ensure(condition: bool, what: str) -> None:
    """Raise ModelFileError with the message `what` unless the condition holds."""
    if not condition:
        raise ModelFileError(what)


def take(arrays: Arrays, name: str, dtype: Any, *, may_be_none: bool = False) -> Any:
    """Remove and return an array of this type; floats must be finite."""
    if name not in arrays:
        ensure(may_be_none, f"the array {name!r:.60} is missing")
        return None
    array = arrays.pop(name)
    kinds = [np.dtype(kind) for kind in (dtype if isinstance(dtype, tuple) else (dtype,))]
    expected = " or ".join(map(str, kinds))
    ensure(array.dtype in kinds, f"the array {name!r} is of the type {array.dtype}, not {expected}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelFileError(f"the array {name!r} contains NaN or an infinity, and a model has only finite numbers")
    return array


def take_named(arrays: Arrays, names: str, columns: Mapping[str, Any]) -> tuple[list[Any], list[list[Any]]]:
    """Remove and return distinct names, and the numbers of each from the arrays in `columns`."""
    known = decode_names(take(arrays, names, np.uint8))
    numbers = [take(arrays, name, dtype) for name, dtype in columns.items()]
    for name, column in zip(columns, numbers, strict=True):
        shape(column, name, len(known))
    ensure(len(known) == len(set(known)), f"the names in {names!r} are not different")
    return known, [column.tolist() for column in numbers]


def all_taken(arrays: Arrays) -> None:
    ensure(not arrays, f"the array {min(arrays, default='')!r:.60} is not expected")


def shape(array: NDArray[Any], name: str, *sizes: int) -> None:
    ensure(array.shape == sizes, f"the array {name!r} has the shape {array.shape}, which does not fit the others")


def within(array: NDArray[Any], name: str, end: int) -> None:
    """Check that all entries are at least 0, and below the end."""
    if len(array) and (int(array.min()) < 0 or int(array.max()) >= end):
        raise ModelFileError(f"the array {name!r} has numbers outside of 0 to {end - 1}")


def ascends(array: NDArray[Any], name: str, *, strictly: bool) -> None:
    wrong = array[1:] <= array[:-1] if strictly else array[1:] < array[:-1]
    ensure(not np.any(wrong), f"the array {name!r} does not ascend")


def mistake_rows(rows: NDArray[Any] | None) -> None:
    if rows is not None:
        shape(rows, "mistake_rows", len(rows))
        within(rows, "mistake_rows", LARGEST)


def csr(rows: Csr, name: str, n_columns: int) -> None:
    """Check that sparse rows are valid, so that no kernel reads out of bounds."""
    data, indices, indptr = rows
    ensure(indices.dtype == indptr.dtype, f"the columns and pointers of {name} are of different types")
    for part in rows:
        shape(part, name, len(part))
    if (
        not len(indptr)
        or indptr[0] != 0
        or not indptr[-1] == len(data) == len(indices)
        or np.any(indptr[1:] < indptr[:-1])
    ):
        raise ModelFileError(f"the row pointers of {name} do not ascend from 0 to the number of entries")
    within(indices, f"{name}.columns", n_columns)
    falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1
    ensure(bool(np.isin(falls, indptr).all()), f"the columns of {name} do not ascend in every row")


def memory(memory: Any, run: Any = None) -> None:
    """Check that there are narrow examples only with a lead, and that the record of a run matches the memory."""
    ensure(memory.lead > 0 or not memory.narrow, "there are narrow examples without a lead")
    ensure(memory.lead <= MOST_LEAD, "the lead is too large")
    same = run is None or all(getattr(run, name) == getattr(memory, name) for name in COUNTS)
    ensure(same, "the record is that of another model")


def class_weights(memory: Any, n_classes: int) -> None:
    weights = memory.class_weights
    if weights is not None:
        sound = weights.shape == (n_classes,) and weights.min() >= LIGHTEST and weights.max() <= HEAVIEST
        ensure(bool(sound), "the weights of the classes make no sense")
