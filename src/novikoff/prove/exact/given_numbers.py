"""Read the numbers that a proof is about, in float64 without rounding; numbers that would be rounded are rejected."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.csr import as_csr, without_repeats
from novikoff.prove.exact.floats import nearest_float

Floats = NDArray[np.float64]

_KINDS = (bool, int, float, Fraction, Decimal, np.number, np.bool_)


Index = tuple[int, ...]


def exact_matrix(X: Any) -> Any:
    """Examples as float32, float64 or CSR, not rounded; raises ValueError naming a number that cannot be kept.

    >>> exact_matrix([[2**53 + 1, 0.5]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: row 0, column 0 of X is 9007199254740993, which float64 cannot represent; ...
    """
    rows = exact_numbers(X)
    entries = rows.data if hasattr(rows, "tocsr") else rows
    if not np.isfinite(entries).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(entries))[0])
        row, column = place_in(rows)(index)
        raise ValueError(
            f"X contains NaN or infinity in row {row}, column {column}; impute or drop it before certifying"
        )
    return rows


def exact_numbers(X: Any) -> Any:
    """The same, but NaN and infinity are allowed. Floats in an array are not copied."""
    if hasattr(X, "tocsr"):
        rows = without_repeats(as_csr(X))
        if rows.dtype in (np.float32, np.float64):
            return rows
        data = exact_floats(rows.data, "X", finite=False, place=place_in(rows))
        return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)
    if hasattr(X, "columns") and len(getattr(X, "shape", ())) == 2:
        rows = _of_a_frame(X)
    elif isinstance(X, np.ndarray) and X.dtype in (np.float32, np.float64):
        rows = X
    else:
        rows = exact_floats(X, "X", finite=False)
    return matrix_of_examples(rows)


def matrix_of_examples(X: Any) -> Any:
    """X itself; raises ValueError if it is not a matrix."""
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s); examples are the rows of a matrix")
    return X


def _of_a_frame(frame: Any) -> NDArray[Any]:
    """Column by column, because a frame of whole numbers and floats would be rounded as one array."""
    take = frame.iloc if hasattr(frame, "iloc") else frame

    def column(j: int) -> NDArray[Any]:
        values = np.asarray(take[:, j])
        if values.dtype in (np.float32, np.float64):
            return values
        return exact_floats(values, "X", finite=False, place=lambda index: (index[0], j))

    return np.column_stack([column(j) for j in range(frame.shape[1])]) if frame.shape[1] else np.empty(frame.shape)


def place_in(rows: Any) -> Callable[[Index], Index]:
    """A function from the index of a stored entry to its row and column."""
    if not hasattr(rows, "tocsr"):
        return lambda index: index
    return lambda index: (
        int(np.searchsorted(rows.indptr, index[0], side="right")) - 1,
        int(rows.indices[index[0]]),
    )


def exact_floats(
    values: Any, name: str, *, finite: bool = True, place: Callable[[Index], Index] = lambda index: index
) -> Floats:
    """The same numbers in float64; raises ValueError for one that is not a number, not finite, or not exact in float64.

    A list that mixes whole numbers and floats is checked before NumPy rounds it.

    >>> exact_floats([[1, 2.5]], "A").tolist()
    [[1.0, 2.5]]
    >>> exact_floats([[0.5, 2**53 + 1]], "A")
    Traceback (most recent call last):
    ValueError: row 0, column 1 of A is 9007199254740993, which float64 cannot represent; round it first, so that the \
proof is about the intended numbers
    """
    given = _as_array(values, name)
    if given.dtype.kind not in "biufO":
        raise ValueError(f"{name} is not an array of numbers: its type is {given.dtype}; convert it to real numbers")
    with np.errstate(all="ignore"):
        try:
            floats = given.astype(np.float64, order="C")
        except OverflowError:
            floats = np.array([nearest_float(value) for value in given.ravel()]).reshape(given.shape)
    if finite:
        _refuse_first(~np.isfinite(floats) & ~_beyond(given, floats), floats, name, place)
    _refuse_rounded(given, floats, name, place)
    return floats + 0.0  # -0.0 is 0.0


def place_of(index: tuple[int, ...]) -> str:
    """The place of an entry, in words."""
    return f"row {index[0]}, column {index[1]}" if len(index) == 2 else f"entry {', '.join(map(str, index))}"


def _as_array(values: Any, name: str) -> NDArray[Any]:
    if hasattr(values, "tocsr"):
        return np.asarray(without_repeats(as_csr(values)).toarray())
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values
    try:
        table = np.asarray(values, dtype=object)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    wrong = next((i for i, value in enumerate(table.flat) if not isinstance(value, _KINDS) or _is_complex(value)), None)
    if wrong is not None:
        place = place_of(tuple(int(i) for i in np.unravel_index(wrong, table.shape)))
        value = table.flat[wrong]
        raise ValueError(f"{name} is not an array of numbers: {place} is {value!r:.60}; convert it to real numbers")
    return table


def _is_complex(value: Any) -> bool:
    return isinstance(value, np.complexfloating)


def _beyond(given: NDArray[Any], floats: Floats) -> NDArray[np.bool_]:
    """Where a finite number lies beyond the range of float64."""
    if given.dtype.kind != "O":
        return np.zeros(given.shape, dtype=np.bool_)
    finite = [not isinstance(value, float | np.floating) and not _is_infinite(value) for value in given.flat]
    return np.isinf(floats) & np.array(finite, dtype=np.bool_).reshape(given.shape)


def _is_infinite(value: Any) -> bool:
    return isinstance(value, Decimal) and not value.is_finite()


def _refuse_first(wrong: NDArray[np.bool_], floats: Floats, name: str, place: Callable[[Index], Index]) -> None:
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"{name} has the value {floats[index]} in {place_of(place(index))}; every number must be finite"
        )


def _refuse_rounded(given: NDArray[Any], floats: Floats, name: str, place: Callable[[Index], Index]) -> None:
    if given.dtype.kind == "f" and given.dtype.itemsize <= 8:
        return
    with np.errstate(all="ignore"):
        is_other = np.asarray(given != floats.astype(given.dtype), dtype=np.bool_) & ~np.isnan(floats)
        if given.dtype.kind in "iu":  # the largest floats do not survive conversion to 64-bit integers
            is_other |= floats >= (2.0**63 if given.dtype.kind == "i" else 2.0**64)
    if is_other.any():
        index = tuple(int(i) for i in np.argwhere(is_other)[0])
        raise ValueError(
            f"{place_of(place(index))} of {name} is {given[index]!s:.60}, which float64 cannot represent; round it "
            "first, so that the proof is about the intended numbers"
        )
