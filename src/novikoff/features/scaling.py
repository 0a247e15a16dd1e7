"""Standardised columns of numbers, so that none dominates the others.

The theorem applies to the points that are learned from: with scaling, R and margins are those of the scaled points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.strict_json import Fields
from novikoff.engine.rows import Rows, as_rows, check_finite
from novikoff.options import Readout, Scale

Floats = NDArray[np.float64]

# Whether the numbers of a table are scaled: always, never, depending on them, or only with words or missing values.
TableScale = bool | Literal["auto", "mixed"]

# Columns whose sizes differ by more than the first factor are not comparable; nor is one whose values differ by less
# than the second.
SIZES_APART = 10.0
FACTOR_WITHIN = 2.0

# From fewer rows no scale can be learned; nor the size of a column that is nearly always 0.
FEWEST_ROWS = 10
RARELY = 0.01

# Squares of numbers with larger exponents could overflow or underflow in a sum.
FAR_FROM_ONE = 400

# Rows of more features than the first are sparse if less than one in `DENSE_SHARE` entries is nonzero.
ALWAYS_DENSE, DENSE_SHARE = 64, 4

# Values are added up in runs of this many, in blocks of any size: sums of floats depend on the order of additions, and
# an encoding must not depend on how a file is read.
RUN = 4096

# How many columns are looked at at a time: all of a wide matrix in float64 would take much memory.
AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Scaling:
    """What is subtracted from every column (nothing from sparse ones, which stay sparse), and what it is divided by.

    >>> rows = as_rows([[1990.0, 0.0], [2000.0, 0.0]])
    >>> Scaling.of(rows).scaled(rows).as_array().round(6).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    means: Floats | None
    deviations: Floats

    @classmethod
    def of(cls, rows: Rows) -> "Scaling":
        """Return the means and standard deviations of rows; a constant column is divided by 1."""
        check_finite(rows)
        if not rows.is_sparse:
            return cls._of_dense(rows.as_array())
        X: Any = rows.as_scipy().astype(np.float64)
        largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
        unit = np.where(largest > 0, largest, 1.0)  # divided by this, no square overflows
        X = (X / unit).tocsr()
        means = np.asarray(X.mean(axis=0)).ravel()
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(squares - means**2, 0.0))
        return cls(None, np.where(spread > 0, spread, 1.0) * unit)

    @classmethod
    def _of_dense(cls, X: Floats) -> "Scaling":
        found = ColumnStatistics.of(X)
        _, exponents = np.frexp(np.maximum(abs(found.lowest), abs(found.highest)))
        unit = np.where(abs(exponents) < FAR_FROM_ONE, 1.0, np.ldexp(1.0, np.clip(-exponents, -1000, 1000)))
        if (unit != 1.0).any():  # scaled by this, no square overflows or underflows
            found = ColumnStatistics.of(X * unit)
        constant, spread = found.lowest == found.highest, np.sqrt(found.squares / found.n_rows)
        means = np.where(constant, found.lowest + 0.0, found.means)
        return cls(means / unit, np.where(constant | (spread == 0), 1.0, spread / unit))

    def scaled(self, rows: Rows) -> Rows:
        if rows.is_sparse:
            X = rows.as_scipy().astype(np.float64)
            X.data /= self.deviations[X.indices]
            return as_rows(X, any_order=True)
        X = rows.as_array()
        return as_rows((X if self.means is None else X - self.means) / self.deviations)

    def for_given(self, weights: Floats) -> Floats:
        """Convert weights of scaled columns, the intercept last, to weights of the original columns."""
        given = weights.copy()
        given[:, :-1] /= self.deviations
        if self.means is not None:
            given[:, -1] -= given[:, :-1] @ self.means
        return given

    def to_dict(self) -> dict[str, Any]:
        means = None if self.means is None else self.means.tolist()
        return {"means": means, "deviations": self.deviations.tolist()}

    @classmethod
    def from_fields(cls, fields: Fields, width: int | None) -> "Scaling":
        """Read the scales of `width` columns that `to_dict` wrote."""
        centred = fields.value("means") is not None
        means = np.array(fields.each("means", fields.as_number) if centred else (), dtype=np.float64)
        deviations = np.array(fields.each("deviations", fields.as_number), dtype=np.float64)
        if len(deviations) != width or (centred and len(means) != width) or not (deviations > 0).all():
            fields.fail("has scales that are not positive, or not one for every column")
        fields.close()
        return cls(means if centred else None, deviations)


class ColumnStatistics(NamedTuple):
    """The statistics that decide whether columns of numbers are comparable: for each, the smallest and the largest
    number, how many are nonzero, the mean, the sum of squared deviations, and whether all are integers."""

    n_rows: int
    lowest: Floats
    highest: Floats
    filled: Floats
    means: Floats
    squares: Floats
    whole: NDArray[np.bool_]

    @classmethod
    def of(cls, X: NDArray[Any]) -> "ColumnStatistics":
        """Return those of a dense array, bit for bit those of a file of the same numbers."""
        parts = [cls._of_some(X[:, first : first + AT_ONCE]) for first in range(0, X.shape[1], AT_ONCE)]
        return cls(len(X), *(np.concatenate(column) for column in zip(*(part[1:] for part in parts), strict=True)))

    @classmethod
    def _of_some(cls, X: NDArray[Any]) -> "ColumnStatistics":
        filled, sums = np.zeros(X.shape[1]), (0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
        whole = np.ones(X.shape[1], dtype=np.bool_)
        for first in range(0, len(X), RUN):
            runs = np.ascontiguousarray(X[first : first + RUN].T, dtype=np.float64)
            filled += np.count_nonzero(runs, axis=1)
            whole &= (runs == np.rint(runs)).all(axis=1)
            with np.errstate(over="ignore", invalid="ignore"):
                sums = merged(*sums, *moments_of(runs), runs.shape[1])
        lowest, highest = (end(axis=0).astype(np.float64) for end in (X.min, X.max))
        return cls(len(X), lowest, highest, filled, sums[1], sums[2], whole)

    def why_scale(self, names: Sequence[str] | None = None) -> str | None:
        """Return why these columns should be scaled; see `why_scale`."""
        if self.n_rows < FEWEST_ROWS or self._are_counts() or not np.isfinite([self.lowest, self.highest]).all():
            return None
        if is_mostly_zero(float(self.filled.sum()), self.n_rows, len(self.means)):
            return None

        def called(column: int) -> str:
            return f"column {column}" if names is None else repr(names[column])

        known = np.flatnonzero(self.filled >= max(1.0, RARELY * self.n_rows))
        if len(known):
            sizes = self._sizes()[known]
            large, small = known[sizes.argmax()], known[sizes.argmin()]
            times = round(float(sizes.max()) / float(sizes.min()), 9)  # so that the order of sums decides nothing
            if times > SIZES_APART:
                often = f"{times:,.0f}" if times < 1e6 else f"{times:.1g}"
                return f"{called(large)} is {often} times as large as {called(small)}"
        least, most = np.sort(abs(np.array([self.lowest, self.highest])), axis=0)
        one_sign = np.sign(self.lowest) == np.sign(self.highest)
        far = (self.lowest < self.highest) & one_sign & (most / FACTOR_WITHIN < least)
        if far.any():
            column = int(far.argmax())
            return f"{called(column)} is between {self.lowest[column]:.6g} and {self.highest[column]:.6g}, far from 0"
        return None

    def _sizes(self) -> Floats:
        """Return the root mean square of the nonzero numbers of each column, scaled so that no square overflows."""
        unit = np.maximum(abs(self.lowest), abs(self.highest))
        unit = np.where(unit > 0, unit, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = self.squares / self.n_rows / unit / unit + (self.means / unit) ** 2
            sizes = np.sqrt(squares * self.n_rows / np.maximum(self.filled, 1.0)) * unit
        return np.where(np.isfinite(sizes), sizes, unit)

    def _are_counts(self) -> bool:
        """Whether all numbers are nonnegative integers, and most are 0, columns of 0 and 1 aside."""
        asked = self.highest > 1
        mostly_0 = bool(asked.any()) and bool(self.filled[asked].sum() * 2 < self.n_rows * asked.sum())
        return mostly_0 and bool(self.whole.all()) and bool((self.lowest >= 0).all())


def moments_of(runs: Floats) -> tuple[Floats, Floats]:
    """Return the means of runs, one per row, and their sums of squared deviations."""
    with np.errstate(over="ignore", invalid="ignore"):
        means = runs.mean(axis=1)
        distances = runs - means[:, None]
        return means, np.square(distances, out=distances).sum(axis=1)


def merged(count: int, mean: Any, squares: Any, more: Any, more_squares: Any, size: int) -> tuple[int, Any, Any]:
    """Merge count, mean and squared deviations with those of a run (Chan, Golub and LeVeque), for one column or for all
    columns at once."""
    total, step = count + size, more - mean
    return total, mean + step * size / total, squares + (more_squares + step * step * count * size / total)


def is_mostly_zero(filled: float, n_rows: int, n_columns: int) -> bool:
    """Whether rows with this many columns and nonzero numbers are better stored sparse; they are not scaled."""
    return n_columns > ALWAYS_DENSE and filled * DENSE_SHARE < n_rows * n_columns


def table_scale(scale: Scale, fit_intercept: bool, readout: Readout) -> TableScale:
    """Return how a table is scaled. With "auto", a table of numbers is not scaled for a model without an intercept, as
    centring changes which hyperplanes separate; nor for the standard perceptron, which predicts by its last weights."""
    return "mixed" if scale == "auto" and (not fit_intercept or readout == "last") else scale


def why_scale(rows: Rows, names: Sequence[str] | None = None) -> str | None:
    """Return why columns of a dense matrix should be scaled, in words; None if they should not.

    They are scaled if the numbers of one column, zeros excepted, are more than 10 times as large as those of another
    (root mean squares), or if the numbers of a column are within a factor of 2 of each other. So columns on one scale
    are not: flags, points around 0, pixels; nor are counts, which are mostly 0, sparse rows, and fewer than 10 rows.

    >>> why_scale(as_rows([[1990.0 + i, i % 3] for i in range(12)]), ["year", "doors"])
    "'year' is 1,262 times as large as 'doors'"
    >>> why_scale(as_rows([[i % 2, i % 3 - 1] for i in range(12)]))
    """
    if rows.is_sparse or not rows.n_rows or not rows.n_columns:
        return None
    return ColumnStatistics.of(rows.matrix).why_scale(names)
