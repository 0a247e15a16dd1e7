"""Columns of numbers in standard deviations from their means: so that none dominates the others.

The theorem speaks of points, and a learner that scales learns from the scaled ones: R and margins are theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.strict_json import Fields
from novikoff.engine.rows import Rows, as_rows, check_finite

Floats = NDArray[np.float64]

# Columns whose sizes differ by more than this are not comparable; nor is one that varies by less than this from 0 on.
SIZES_APART = 10.0
FACTOR_WITHIN = 2.0

# Of fewer rows no scale can be learned. Of a column that is nearly always 0, no size.
FEWEST_ROWS = 10
RARELY = 0.01

# Sizes are added in whole numbers of so many units, and sums of whole numbers do not depend on the order of the rows.
# So many numbers are looked at in a go, which are near.
UNITS = 2.0**20
LOOKED_AT = 1 << 16


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

    def for_given(self, weights: Floats) -> Floats:
        """Weights of scaled columns, the intercept last, as weights of the columns as they were given."""
        given = weights.copy()
        given[:, :-1] /= self.deviations
        if self.means is not None:
            given[:, -1] -= given[:, :-1] @ self.means
        return given

    def to_dict(self) -> dict[str, Any]:
        """The scales in what JSON knows."""
        means = None if self.means is None else self.means.tolist()
        return {"means": means, "deviations": self.deviations.tolist()}

    @classmethod
    def from_fields(cls, fields: Fields, width: int | None) -> "Scaling":
        """The scales of so many columns that `to_dict` wrote."""
        centred = fields.value("means") is not None
        means = np.array(fields.each("means", fields.as_number) if centred else (), dtype=np.float64)
        deviations = np.array(fields.each("deviations", fields.as_number), dtype=np.float64)
        if len(deviations) != width or (centred and len(means) != width) or not (deviations > 0).all():
            fields.fail("has scales that are not positive, or not one for every column")
        fields.close()
        return cls(means if centred else None, deviations)


class Sizes(NamedTuple):
    """What decides whether columns are comparable, column by column: the smallest and the largest number, how many are
    not 0, and the mean size of these. Of `counts`, all are whole and not negative, and most are 0; 0 and 1 are not
    asked, so that flags decide nothing."""

    lowest: Floats
    highest: Floats
    filled: Floats
    mean: Floats
    counts: bool

    @classmethod
    def of(cls, X: NDArray[Any]) -> "Sizes":
        """The same for every order of the rows, bit for bit."""
        lowest, highest = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        _, exponents = np.frexp(np.maximum(abs(lowest), abs(highest)))
        unit = np.ldexp(1.0, np.clip(exponents, -1000, 1023))
        filled, total, whole = np.zeros(len(unit)), np.zeros(len(unit)), bool((lowest >= 0).all())
        at_once = max(1, LOOKED_AT // len(unit))
        for first in range(0, len(X), at_once):
            part = np.abs(X[first : first + at_once], dtype=np.float64)
            filled += np.count_nonzero(part, axis=0)
            whole = whole and bool((part == np.rint(part)).all())
            part *= UNITS / unit
            total += np.rint(part, out=part).sum(axis=0)
        asked = (lowest < 0) | (highest > 1)
        mostly_0 = bool(asked.any()) and bool(filled[asked].sum() * 2 < len(X) * asked.sum())
        return cls(lowest, highest, filled, total / np.maximum(filled, 1) * (unit / UNITS), whole and mostly_0)


def why_scale(rows: Rows, names: Sequence[str] | None = None) -> str | None:
    """Why columns of a dense matrix are to be scaled, in words; None if they are to stay as they are.

    They are scaled if the numbers of one column, those that are 0 left aside, are on average more than 10 times as
    large as those of another, or if the numbers of a column are within a factor of 2 of each other. So what has one
    scale stays: flags, points around 0, pixels; and counts, which are mostly 0, sparse rows, and fewer than 10 rows do.

    >>> why_scale(as_rows([[1990.0 + i, i % 3] for i in range(12)]), ["year", "doors"])
    "'year' is 1,330 times as large as 'doors'"
    >>> why_scale(as_rows([[i % 2, i % 3 - 1] for i in range(12)]))
    """
    if rows.is_sparse or rows.n_rows < FEWEST_ROWS or not rows.n_columns:
        return None
    sizes = Sizes.of(rows.matrix)
    if sizes.counts or not np.isfinite([sizes.lowest, sizes.highest]).all():  # learning refuses what is not finite
        return None

    def called(column: int) -> str:
        return f"column {column}" if names is None else repr(names[column])

    known = np.flatnonzero(sizes.filled >= max(1.0, RARELY * rows.n_rows))
    if len(known):
        large, small = known[sizes.mean[known].argmax()], known[sizes.mean[known].argmin()]
        times = float(sizes.mean[large]) / float(sizes.mean[small])
        if times > SIZES_APART:
            often = f"{times:,.0f}" if times < 1e6 else f"{times:.1g}"
            return f"{called(large)} is {often} times as large as {called(small)}"
    least, most = np.sort(abs(np.array([sizes.lowest, sizes.highest])), axis=0)
    far = (
        (sizes.lowest < sizes.highest)
        & (np.sign(sizes.lowest) == np.sign(sizes.highest))
        & (most / FACTOR_WITHIN < least)
    )
    if far.any():
        column = int(far.argmax())
        return f"{called(column)} is between {sizes.lowest[column]:.6g} and {sizes.highest[column]:.6g}, far from 0"
    return None
