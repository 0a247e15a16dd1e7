"""Where the vectors of steps live: among coordinates, or in the feature space of a kernel, known by products alone.

Both give them in whole numbers, so that a walk along them rounds nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two
from novikoff.prove.separable.margin import Separator, radius_square
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import smallest_product, whole_entries, whole_points

Floats = NDArray[np.float64]

# What may be missing where products are rounded floats, relative to the numbers compared.
FLOAT64 = 1e-9


class Row(NamedTuple):
    """A vector in whole numbers: where it is not 0, and what it is there."""

    places: Sequence[int]
    values: Sequence[int]

    def times(self, w: Any) -> int:
        return sum(map(mul, self.values, map(w.__getitem__, self.places)))


class Rows(NamedTuple):
    """Vectors to take products with, and the same vectors as they are added to w.

    A product of two of them counts `unit`s, and one with a whole vector `along`s.
    """

    rows: list[Row]
    added: list[Row]
    unit: Fraction
    along: Fraction


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors that are known by their coordinates: `per_row` of them for every row, or with names for columns."""

    points: Points
    per_row: int = 1
    names: Mapping[Any, int] | None = None
    arithmetic = "exact"
    slack = Fraction(0)

    @property
    def n_points(self) -> int:
        return self.points.n_points

    def called(self, place: int) -> str:
        return f"row {place // self.per_row}" if self.names is None else f"the vector of mistake {place + 1}"

    def rows(self, which: NDArray[np.int64]) -> Rows:
        """Some of the vectors, as they are added."""
        if not self.points.is_sparse:
            written, exponent = whole_points(self.points, which)
            found = [Row(range(self.points.dimension), row) for row in written]
            return Rows(found, found, power_of_two(2 * exponent), power_of_two(exponent))
        columns, values, lengths, exponent = whole_entries(self.points, which)
        constant = int(Fraction(self.points.constant) / power_of_two(exponent))
        bias = [self.points.dimension - 1] if constant else []
        places, numbers = iter(columns), iter(values)
        found = []
        for n, sign in zip(lengths, self.points.signs[which].tolist(), strict=True):
            row = [sign * value for value in islice(numbers, n)]
            found.append(Row([*islice(places, n), *bias], [*row, sign * constant] if bias else row))
        return Rows(found, found, power_of_two(2 * exponent), power_of_two(exponent))

    @cached_property
    def longest(self) -> Fraction:
        """R^2."""
        return radius_square(self.points.rows, fit_intercept=self.points.constant == 1.0)

    def smallest(self, u: Sequence[int]) -> tuple[Fraction, int]:
        """The smallest product with u, and the vector that has it."""
        return smallest_product(self.points, u[: self.points.dimension])

    def square(self, u: Sequence[int]) -> Fraction:
        return Fraction(sum(map(mul, u, u)))

    def doubt(self, k: int) -> float:
        """How far from 0 a float64 learner may see a score after k mistakes, as a multiple of the largest ||z||^2.

        A sum of n products is off by n u ||w|| ||z||, each of k additions to w by u ||w||, and ||w|| <= sqrt(k) R.
        """
        return 4.0 * UNIT_ROUNDOFF * (self.points.widest + 2 + k) * math.sqrt(k)

    def vector(self, separator: Any) -> list[int]:
        """A separator in whole numbers; what it has in columns that no vector has counts in its length."""
        n = self.points.dimension
        if isinstance(separator, Mapping):
            if self.names is None:
                raise ValueError("the separator has names, but the columns of X have none; give its numbers in order")
            known = [separator.get(name, 0.0) for name in self.names]
            others = [value for name, value in separator.items() if name not in self.names]
            return _in_whole_numbers([*known, 0.0, *others])
        if isinstance(separator, Separator):
            if separator.bias != 0 and self.points.constant == 0:
                raise ValueError(f"the separator has bias {separator.bias}, but without an intercept it must be 0")
            if len(separator.weights) != n - 1:
                raise ValueError(f"the separator is for rows of {len(separator.weights)} numbers, not of {n - 1}")
            separator = separator.folded
        elif hasattr(separator, "biases"):
            separator = np.column_stack([separator.weights, separator.biases]).ravel()
        u = _in_whole_numbers(separator)
        if len(u) not in (n - 1, n):
            raise ValueError(f"the separator has {len(u)} numbers, but there are {n} coordinates, the bias last")
        return [*u, *([0] * (n - len(u)))]


@dataclass(frozen=True, eq=False)
class Gram:
    """Vectors of which only the products are known. A separator is a combination of them, and has a number for each."""

    products: Floats
    arithmetic = "float64"
    slack = Fraction(FLOAT64)

    @property
    def n_points(self) -> int:
        return len(self.products)

    def called(self, place: int) -> str:
        return f"row {place}"

    def rows(self, which: NDArray[np.int64]) -> Rows:
        exponent = lowest_exponent(self.products)
        everywhere = range(self.n_points)
        found = [Row(everywhere, row) for row in as_integers(self.products[which], exponent).tolist()]
        unit = power_of_two(exponent)
        return Rows(found, [Row((place,), (1,)) for place in which.tolist()], unit, unit)

    @cached_property
    def longest(self) -> Fraction:
        return Fraction(float(self.products.diagonal().max(initial=0.0)))

    def _along(self, u: Sequence[int]) -> list[Fraction]:
        everything = self.rows(np.arange(self.n_points))
        return [row.times(u) * everything.along for row in everything.rows]

    def smallest(self, u: Sequence[int]) -> tuple[Fraction, int]:
        return min((product, place) for place, product in enumerate(self._along(u)))

    def square(self, u: Sequence[int]) -> Fraction:
        return Fraction(sum(map(mul, u, self._along(u))))

    def doubt(self, k: int) -> float:
        return FLOAT64 * k

    def vector(self, separator: Any) -> list[int]:
        if isinstance(separator, Separator | Mapping) or hasattr(separator, "biases"):
            raise ValueError("in feature space a separator has a number for every row, as certificate.coefficients")
        u = _in_whole_numbers(separator)
        if len(u) != self.n_points:
            raise ValueError(f"the separator has {len(u)} numbers, but there are {self.n_points} rows: one each")
        return u


def _in_whole_numbers(numbers: Any) -> list[int]:
    """A vector of the same direction, in whole numbers."""
    given = list(np.asarray(numbers).ravel()) if isinstance(numbers, np.ndarray) else list(numbers)
    if all(isinstance(value, int | np.integer) for value in given):
        u = [int(value) for value in given]
    else:
        floats = np.array(given, dtype=np.float64)
        u = as_integers(floats, lowest_exponent(floats)).tolist()
    if not any(u):
        raise ValueError("the separator is 0 everywhere, and every example lies on it")
    return u
