"""Rows with missing values: omitted and counted, as R does, or refused. None, NaN, NaT and NA are missing."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.missing import is_missing
from novikoff.prove.existence.likelihood import COLUMNS, MISSING, ModelOptions

NOTHING = np.zeros(0, dtype=bool)


def without_missing(
    given: Mapping[str, Any], watched: Mapping[str, Any], options: ModelOptions, n_rows: int
) -> tuple[dict[str, Any], ModelOptions, tuple[int, ...]]:
    """Return the data, each with a value for each of `n_rows`, and the options, without the rows in which a watched
    value or an option is missing; and the positions of these rows."""
    effects: Mapping[str, Any] = options.get("fixed_effects") or {}
    roles = {name: options.get(name) for name in COLUMNS}
    labels = {f"the fixed effect {name!r}": values for name, values in effects.items()}
    rows = incomplete_rows({**watched, **roles, **labels}, n_rows, options.get("missing", "drop"))
    if not rows:
        return dict(given), options, rows
    kept = np.delete(np.arange(n_rows), list(rows))
    changed: Any = {**options, **{name: _in_rows(values, kept) for name, values in roles.items()}}
    changed["fixed_effects"] = {name: _in_rows(values, kept) for name, values in effects.items()} or None
    return {name: _in_rows(values, kept) for name, values in given.items()}, changed, rows


def incomplete_rows(parts: Mapping[str, Any], n_rows: int, missing: str) -> tuple[int, ...]:
    """Return the positions of rows with a missing value; raise ValueError if there is one and `missing` is "raise".

    >>> incomplete_rows({"X": [[1, 2], [3, None]], "y": ["no", "yes"]}, 2, "drop")
    (1,)
    """
    if missing not in MISSING:
        raise ValueError(f"missing={missing!r} must be one of {', '.join(MISSING)}")
    is_incomplete = np.zeros(n_rows, dtype=bool)
    for name, values in parts.items():
        mask = _is_missing(values)
        if mask.shape != (n_rows,):  # a wrong length is refused elsewhere
            continue
        if missing == "raise" and mask.any():
            row = int(np.flatnonzero(mask)[0])
            raise ValueError(f"{name} has missing values, the first in row {row}; missing='drop' omits such rows")
        is_incomplete |= mask
    if n_rows and is_incomplete.all():
        raise ValueError(f"each of the {n_rows:,} rows has a missing value; leave out the column that has none")
    return tuple(np.flatnonzero(is_incomplete).tolist())


def omitted_in_all(before: tuple[int, ...], rows: tuple[int, ...], n_rows: int) -> tuple[int, ...]:
    """Return the rows omitted before, and those omitted now of the `n_rows` left, by their positions among all.

    >>> omitted_in_all((1,), (0, 2), 3)
    (0, 1, 3)
    """
    left = np.delete(np.arange(n_rows + len(before)), list(before))
    return tuple(sorted((*before, *left[list(rows)].tolist())))


def _in_rows(values: Any, rows: NDArray[np.int64]) -> Any:
    if values is None:
        return None
    if isinstance(values, list | tuple):
        return [values[row] for row in rows.tolist()]
    values = values.tocsr() if hasattr(values, "tocsr") else values
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]


def _is_missing(values: Any) -> NDArray[np.bool_]:
    """Which rows have a missing value; empty for values that have no rows."""
    if values is None:
        return NOTHING
    if hasattr(values, "tocsr"):
        rows = values.tocsr()
        bad = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[rows.data != rows.data]
        return np.isin(np.arange(rows.shape[0]), bad)
    if hasattr(values, "isna"):
        mask = np.asarray(values.isna())
    else:
        try:  # NumPy would convert missing values in a list of strings to strings
            array = np.asarray(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
        except ValueError:  # a ragged list
            return NOTHING
        mask = np.frompyfunc(is_missing, 1, 1)(array).astype(bool) if array.dtype == object else array != array
    return np.asarray(mask.any(axis=tuple(range(1, mask.ndim)))) if mask.ndim else NOTHING
