"""A system of strict inequalities Ax > 0: its rows, and what can be proved about them in exact arithmetic."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.algebra import as_whole
from novikoff.prove.clock import Clock
from novikoff.prove.exact import power_of_two, root_down
from novikoff.prove.faces import Answer, Face, decide
from novikoff.prove.points import Floats, Points
from novikoff.prove.products import signs_of_products, whole_points
from novikoff.prove.proofs import as_whole_floats, vanishes

ROUNDING = 2.0**-52
# Stands for the exponent of 0: below that of every float.
NOTHING = -(2**20)


class Combination(NamedTuple):
    """Rows and positive whole weights whose sum is exactly 0: no x has a positive product with all of them (Gordan)."""

    rows: tuple[int, ...]
    weights: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class System:
    """The rows of A, as they were given.

    The methods see `unit`, the rows divided by their lengths. What they find is proved on the rows themselves, which
    are exact: a float is a rational number.
    """

    rows: Floats

    @classmethod
    def of(cls, A: Any) -> "System":
        given = A.toarray() if hasattr(A, "tocsr") else np.asarray(A)
        if given.ndim != 2:
            raise ValueError(f"A has {given.ndim} dimension(s); pass a matrix with one inequality a row")
        if len(given) == 0:
            raise ValueError("A has no rows, so every x solves it; pass at least one inequality")
        if given.dtype.kind not in "biuf":
            raise ValueError(f"A has the type {given.dtype}; convert it to real numbers, for example A.astype(float)")
        rows = given.astype(np.float64)
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(f"A contains NaN or infinity in row {row}, column {column}; drop or repair that row")
        with np.errstate(all="ignore"):
            is_other = rows.astype(given.dtype) != given
        if is_other.any():
            row, column = np.argwhere(is_other)[0]
            raise ValueError(
                f"row {row}, column {column} of A is {given[row, column]}, which float64 cannot represent; "
                "round it first, so that the answer is about the numbers that you mean"
            )
        return cls(np.ascontiguousarray(rows))

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    @property
    def dimension(self) -> int:
        return int(self.rows.shape[1])

    @cached_property
    def first_zero_row(self) -> int | None:
        """A row of zeros has no positive product with anything."""
        zeros = np.flatnonzero(~self.rows.any(axis=1))
        return int(zeros[0]) if len(zeros) else None

    @cached_property
    def unit(self) -> Floats:
        """The rows divided by their lengths."""
        shrunk = self.rows / np.abs(self.rows).max(axis=1, keepdims=True)
        return np.asarray(shrunk / np.linalg.norm(shrunk, axis=1, keepdims=True))

    # -- proofs -------------------------------------------------------------------------------------------------------

    def is_solved_by(self, x: Sequence[Any] | NDArray[Any]) -> bool:
        """Whether every row has a positive product with x, exactly."""
        return self.first_violated(x) is None

    def first_violated(self, x: Sequence[Any] | NDArray[Any]) -> int | None:
        """The first row whose product with x is not positive, exactly; None if x solves all."""
        violated = signs_of_products(self._even_rows.points, [*_as_whole(x), 0]) <= 0
        return int(np.argmax(violated)) if violated.any() else None

    def margin(self, x: Sequence[Any] | NDArray[Any]) -> float:
        """The smallest product of a row and x, both divided by their lengths; rounded down. For x that solves."""
        whole = _as_whole(x)
        largest = max(map(abs, whole))
        floats = np.array([float(Fraction(v, largest)) for v in whole])
        products = self.unit @ (floats / np.linalg.norm(floats))
        slack = 8 * (self.dimension + 8) * ROUNDING
        close, _ = whole_points(self._even_rows.points, np.flatnonzero(products <= products.min() + slack))
        square = min(
            Fraction(sum(a * b for a, b in zip(row, whole, strict=False)) ** 2, sum(a * a for a in row))
            for row in close
        )
        return root_down(square / sum(v * v for v in whole))

    def is_cancelled_by(self, combination: Combination) -> bool:
        """Whether the rows, times their positive weights, add up to 0, exactly."""
        points = Points(self.rows, np.ones(self.n_rows, dtype=np.int8), 0.0)
        return vanishes(points, np.array(combination.rows, dtype=np.int64), combination.weights)

    def cancelling(self, weights: Floats, seconds: float, deadline: float = math.inf) -> Combination | None:
        """The exact combination that approximate weights point to, if there is one among the rows that they weigh.

        The heaviest rows come first: fewer are decided faster, and in rationals if need be.
        """
        until = min(deadline, time.monotonic() + seconds)
        count = min(self.n_rows, 3 * (self.dimension + 1))
        heaviest = np.sort(np.argpartition(-weights, count - 1)[:count])
        weighed = np.flatnonzero(weights > 1e-9 * weights.max())
        for which in (heaviest, weighed) if len(weighed) > count else (heaviest,):
            if combination := self._combination(which, self._decided(which, until)):
                return combination
        return None

    def decided(self, deadline: float) -> tuple[Sequence[int] | None, Combination | None]:
        """Cutting planes in floats, then Wolfe's algorithm in rationals: a solution, or a combination, or neither."""
        everything = np.arange(self.n_rows)
        answer = self._decided(everything, deadline)
        if answer.vector is None:
            return None, self._combination(everything, answer)
        exponents = self._even.columns.tolist()
        pairs = zip(answer.vector, exponents, strict=False)
        x = as_whole([value * power_of_two(-exponent) for value, exponent in pairs])
        return (x if self.is_solved_by(x) else None), None

    def _decided(self, which: NDArray[np.int64], deadline: float) -> Answer:
        return decide(Face(self._even.points, which), Clock(deadline - time.monotonic()))

    def _combination(self, which: NDArray[np.int64], answer: Answer) -> Combination | None:
        if answer.obstruction is None:
            return None
        rows = which[answer.obstruction.rows]
        exponents = self._even.rows[rows].tolist()
        pairs = zip(answer.obstruction.weights, exponents, strict=True)
        weights = as_whole([weight * power_of_two(-exponent) for weight, exponent in pairs])
        combination = Combination(tuple(rows.tolist()), tuple(weights))
        return combination if self.is_cancelled_by(combination) else None

    @cached_property
    def _even_rows(self) -> "_Even":
        return _evened(self.rows, with_columns=False)

    @cached_property
    def _even(self) -> "_Even":
        return _evened(self.rows, with_columns=True)


class _Even(NamedTuple):
    """The same system, row i divided by 2^rows[i] and column j by 2^columns[j]."""

    points: Points
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


def _evened(matrix: Floats, *, with_columns: bool) -> _Even:
    """Divide rows, and columns if asked, by powers of two until their largest entries are about 1.

    Powers of two round nothing, so that nothing of the proof is lost. Where an entry would underflow, the columns, and
    if need be the row, stay as they are.
    """
    rows, columns = (np.zeros(count, dtype=np.int64) for count in matrix.shape)
    size = np.where(matrix == 0, NOTHING, np.frexp(matrix)[1].astype(np.int64))
    for _ in range(3 if with_columns else 1):
        rows = np.where(matrix.any(axis=1), (size - columns).max(axis=1, initial=NOTHING), 0)
        if with_columns:
            columns = np.where(matrix.any(axis=0), (size - rows[:, None]).max(axis=0), 0)
    shifts = rows[:, None] + columns
    underflows = (np.ldexp(np.ldexp(matrix, -shifts), shifts) != matrix).any(axis=1)
    if with_columns and underflows.any():
        return _evened(matrix, with_columns=False)
    shifts[underflows], rows[underflows] = 0, 0
    return _Even(Points(np.ldexp(matrix, -shifts), np.ones(len(matrix), dtype=np.int8), 0.0), rows, columns)


def _as_whole(x: Sequence[Any] | NDArray[Any]) -> list[int]:
    """Floats or whole numbers, in the same proportions, as whole numbers."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "f":
        return as_whole_floats(x)
    return [int(v) for v in x]
