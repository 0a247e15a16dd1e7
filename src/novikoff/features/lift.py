"""Lifts: additional features that make curved boundaries linear (third note, 30.2).

The paraboloid adds one feature, the squared length of an example: a hyperplane of the lifted space is a sphere, or a
hyperplane, in the original space. Squares add one for every number: a hyperplane is then an ellipsoid, or another
quadric, with axes parallel to those of the features. Sums are added up in column order, so that dense and sparse rows,
in any blocks, have the same lift to the last bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import Rows, as_rows

Lift = Literal["paraboloid", "squares"]
LIFTS: tuple[Lift, ...] = ("paraboloid", "squares")

SQUARED_LENGTH = "squared length"


@dataclass(frozen=True)
class LiftModel:
    """The paraboloid over a number of columns."""

    n_columns: int
    feature_names: tuple[str, ...] | None = None


def lifted_names(names: Sequence[str], lift: Lift, numbers: NDArray[np.int64]) -> list[str]:
    return [SQUARED_LENGTH] if lift == "paraboloid" else [f"{names[place]} squared" for place in numbers.tolist()]


def n_lifted(lift: Lift, numbers: NDArray[np.int64]) -> int:
    return 1 if lift == "paraboloid" else len(numbers)


def lifted(rows: Rows, lift: Lift, numbers: NDArray[np.int64]) -> Rows:
    """Append the additional features to rows; squares are those of the columns in `numbers`.

    >>> lifted(as_rows([[1.0, 2.0]]), "paraboloid", np.arange(2)).as_array().tolist()
    [[1.0, 2.0, 5.0]]
    >>> lifted(as_rows([[1.0, 2.0]]), "squares", np.array([1])).as_array().tolist()
    [[1.0, 2.0, 4.0]]
    """
    if not rows.is_sparse:
        X = rows.as_array()
        more = _length_of(X)[:, None] if lift == "paraboloid" else np.square(X[:, numbers])
        return as_rows(np.hstack([X, more]))
    from scipy.sparse import csr_array, hstack

    table = rows.as_scipy().astype(np.float64)
    squared = table.multiply(table).tocsr()
    if lift == "paraboloid":
        row = np.repeat(np.arange(rows.n_rows), np.diff(squared.indptr))
        sums = np.bincount(row, weights=squared.data, minlength=rows.n_rows)  # one after the other
        more = csr_array(sums[:, None])
    else:
        more = squared[:, numbers]
    return as_rows(hstack([table, more], format="csr"))


def _length_of(X: NDArray[np.float64]) -> NDArray[Any]:
    """Return the squared length of every row, added up in column order."""
    total = np.zeros(len(X))
    for column in X.T:
        total += column * column
    return total
