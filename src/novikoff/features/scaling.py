"""Columns of numbers in standard deviations from their means: so that none drowns the others.

The theorem speaks of points, and a learner that scales learns from the scaled ones: R and margins are theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import Rows, as_rows, check_finite

Floats = NDArray[np.float64]

# Columns that hold this share of all squares leave little to the others; if they are few, somebody should know.
MOST, FEW = 0.9, 0.1
LOOKED_AT = 10_000


@dataclass(frozen=True, eq=False)
class Scaling:
    """What is subtracted from every column (nothing from sparse ones, which stay sparse) and by what it is divided.

    >>> rows = as_rows([[1990.0, 0.0], [2000.0, 0.0]])
    >>> Scaling.of(rows).scaled(rows).as_array().round(6).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    means: Floats | None
    deviations: Floats

    @classmethod
    def of(cls, rows: Rows) -> "Scaling":
        """The means and the standard deviations of rows; a column of one value only is divided by 1."""
        check_finite(rows)
        X: Any = rows.as_scipy().astype(np.float64) if rows.is_sparse else rows.as_array()
        largest = abs(X).max(axis=0)
        largest = np.asarray(largest.todense() if hasattr(largest, "todense") else largest).ravel()
        unit = np.where(largest > 0, largest, 1.0)  # in these units no square overflows
        if rows.is_sparse:
            X = (X / unit).tocsr()
            means = np.asarray(X.mean(axis=0)).ravel()
            squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
            spread = np.sqrt(np.maximum(squares - means**2, 0.0))
            return cls(None, np.where(spread > 0, spread, 1.0) * unit)
        means, spread = (X / unit).mean(axis=0), (X / unit).std(axis=0)
        constant = (X[:1] == X).all(axis=0)
        return cls(np.where(constant, X[0], means * unit), np.where(constant | (spread == 0), 1.0, spread * unit))

    def scaled(self, rows: Rows) -> Rows:
        """The same rows in these scales."""
        if rows.is_sparse:
            X = rows.as_scipy().astype(np.float64)
            X.data /= self.deviations[X.indices]
            return as_rows(X, any_order=True)
        X = rows.as_array()
        return as_rows((X if self.means is None else X - self.means) / self.deviations)

    def to_dict(self) -> dict[str, Any]:
        """The scales in what JSON knows."""
        means = None if self.means is None else self.means.tolist()
        return {"means": means, "deviations": self.deviations.tolist()}


def columns_that_drown(rows: Rows) -> tuple[list[int], float]:
    """The few columns that hold most of the squared length of the examples, and their share; none if there are none.

    >>> columns_that_drown(as_rows([[1990.0, 1.0, 0.0], [2000.0, 0.0, 1.0]]))[0]
    [0]
    """
    if rows.is_sparse or rows.n_columns < 3 or not rows.n_rows:
        return [], 0.0
    X = np.asarray(rows.matrix[:: max(1, rows.n_rows // LOOKED_AT)], dtype=np.float64)
    squares = np.einsum("ij,ij->j", X, X)
    total = squares.sum()
    if not 0 < total < np.inf:
        return [], 0.0
    order = np.argsort(-squares, kind="stable")
    shares = np.cumsum(squares[order]) / total
    count = int(np.searchsorted(shares, MOST)) + 1
    if count > max(1, int(FEW * rows.n_columns)):
        return [], 0.0
    return order[:count].tolist(), float(shares[count - 1])


def drowning(rows: Rows, names: Sequence[str] | None) -> str | None:
    """Which columns drown the others, and by how much, in words; None if none does."""
    columns, share = columns_that_drown(rows)
    if not columns:
        return None
    called = [f"column {column}" if names is None else repr(names[column]) for column in columns[:5]]
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    hold = "holds" if len(columns) == 1 else "hold"
    return f"{', '.join(called)}{more} {hold} {100 * share:.0f} % of the squared length of the examples"
