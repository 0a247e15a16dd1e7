"""A linear program as SciPy's `linprog` is given it: minimise c.x where A_ub x <= b_ub, A_eq x = b_eq, and bounds.

Its numbers are floats, and exact. Answers are fractions with one denominator, and so are their products with it.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.csr import as_csr, without_repeats
from novikoff.prove.exact.algebra import quotient
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.exact.floats import as_integers, lowest_exponent, lowest_exponents, power_of_two
from novikoff.prove.exact.given_numbers import exact_floats
from novikoff.prove.exact.refined import WholeMatrix

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise c.x where A_ub x <= b_ub, A_eq x = b_eq and lower <= x <= upper, in float64.

    The matrices are CSR, without zeros and repeated entries, and with columns in order.
    """

    c: Vector
    A_ub: Any
    b_ub: Vector
    A_eq: Any
    b_eq: Vector
    lower: Vector
    upper: Vector

    @cached_property
    def rows(self) -> Any:
        """The inequalities, then the equations: what every multiplier belongs to."""
        from scipy.sparse import vstack

        return vstack([self.A_ub, self.A_eq], format="csr")

    @property
    def limits(self) -> Vector:
        """The right-hand sides of `rows`."""
        return np.concatenate([self.b_ub, self.b_eq])


def read_program(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None)
) -> Program:
    """SciPy's arguments as a `Program`; raises ValueError for shapes that do not fit and for numbers that are none.

    Floats are taken as the fractions that they are; a whole number that float64 cannot represent is refused.

    >>> program = read_program([1, 2], A_ub=[[1, 1]], b_ub=[3], bounds=(None, 4))
    >>> program.lower.tolist(), program.upper.tolist(), program.A_eq.shape
    ([-inf, -inf], [4.0, 4.0], (0, 2))
    """
    costs = exact_floats(c, "c").ravel()
    if costs.size == 0:
        raise ValueError("c is empty: a linear program has at least one variable")
    rows_ub, limits_ub = _constraints(A_ub, b_ub, "ub", len(costs))
    rows_eq, limits_eq = _constraints(A_eq, b_eq, "eq", len(costs))
    lower, upper = _bounds(bounds, len(costs))
    return Program(costs, rows_ub, limits_ub, rows_eq, limits_eq, lower, upper)


def _constraints(A: Any, b: Any, which: str, n: int) -> tuple[Any, Vector]:
    from scipy.sparse import csr_array

    if A is None and b is None:
        return csr_array((0, n)), np.zeros(0)
    if A is None or b is None:
        given, missing = ("b", "A") if A is None else ("A", "b")
        raise ValueError(f"{given}_{which} was given without {missing}_{which}: pass both, or neither")
    matrix, limits = _matrix(A, f"A_{which}"), exact_floats(b, f"b_{which}").ravel()
    if 0 in matrix.shape and limits.size == 0:
        return csr_array((0, n)), np.zeros(0)
    if len(matrix.shape) != 2 or matrix.shape[1] != n:
        raise ValueError(f"A_{which} has shape {matrix.shape}, but c has {n} entries: A_{which} needs {n} columns")
    if len(limits) != matrix.shape[0]:
        raise ValueError(f"A_{which} has {matrix.shape[0]} rows, but b_{which} has {len(limits)} entries")
    rows = csr_array(matrix)
    rows.eliminate_zeros()
    rows.sort_indices()
    return rows, limits


def _matrix(A: Any, name: str) -> Any:
    """A matrix of floats, as it was given; a sparse one stays sparse."""
    if not hasattr(A, "tocsr"):
        return exact_floats(A, name)
    rows = without_repeats(as_csr(A))

    def place(index: tuple[int, ...]) -> tuple[int, ...]:
        return int(np.searchsorted(rows.indptr, index[0], side="right")) - 1, int(rows.indices[index[0]])

    data = exact_floats(rows.data, name, finite=False, place=place)
    if not np.isfinite(data).all():
        row, column = place((int(np.argmin(np.isfinite(data))),))
        raise ValueError(
            f"{name} has a value that is not finite in row {row}, column {column}; every number must be finite"
        )
    return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)


def _bounds(bounds: Any, n: int) -> tuple[Vector, Vector]:
    """Lower and upper bounds from one pair for all variables, or from one pair for each."""
    if bounds is None or np.size(bounds) == 0:
        return np.zeros(n), np.full(n, np.inf)
    table = np.array(bounds, dtype=object)
    if table.shape == (2,):
        table = table[None, :]
    if table.ndim != 2 or table.shape[1] != 2 or len(table) not in (1, n):
        raise ValueError(f"bounds has shape {table.shape}; give one pair (lower, upper), or {n} of them")
    missing = np.array([[value is None for value in pair] for pair in table])
    table[missing] = 0.0
    pairs = np.broadcast_to(exact_floats(table, "bounds", finite=False), (n, 2)).copy()
    missing = np.broadcast_to(missing, (n, 2))
    pairs[missing[:, 0], 0], pairs[missing[:, 1], 1] = -np.inf, np.inf
    lower, upper = pairs[:, 0].copy(), pairs[:, 1].copy()
    for values, name, impossible in ((lower, "lower", np.inf), (upper, "upper", -np.inf)):
        wrong = np.flatnonzero(np.isnan(values) | (values == impossible))
        if wrong.size:
            raise ValueError(f"the {name} bound of variable {wrong[0]} is {values[wrong[0]]}; use None for no bound")
    return lower, upper


# Numbers with a common denominator of more bits, all together, do not fit into memory.
MOST_BITS = 2**33
NONE = np.iinfo(np.int64).max


class Ratios(Sequence[Fraction]):
    """Fractions n/d with one d, which need not be in lowest terms.

    An exact solution of equations has numbers of thousands of digits and one denominator. To bring every one of them to
    lowest terms takes longer than to find them, so it is done only for a number that somebody looks at.

    >>> Ratios([1, 2], 4)[1], list(Ratios.of([0.5, 2.0]))
    (Fraction(1, 2), [Fraction(1, 2), Fraction(2, 1)])
    """

    def __init__(self, numerators: Iterable[int], denominator: int = 1) -> None:
        self.numerators, self.denominator = tuple(numerators), denominator

    @classmethod
    def of(cls, values: Iterable[Any]) -> "Ratios":
        """Floats, fractions, or what has a common denominator already."""
        from flint import fmpz

        if isinstance(values, Ratios):
            return values
        if isinstance(values, np.ndarray):
            exponent = min(lowest_exponent(values), 0)
            return cls(as_integers(values, exponent).tolist(), 1 << -exponent)
        exact = [value if isinstance(value, Fraction) else Fraction(value) for value in values]
        denominator = _lcm([value.denominator for value in exact])
        times = {below: int(fmpz(denominator) // below) for below in {value.denominator for value in exact}}
        return cls([value.numerator * times[value.denominator] for value in exact], denominator)

    def __len__(self) -> int:
        return len(self.numerators)

    @overload
    def __getitem__(self, place: int) -> Fraction: ...
    @overload
    def __getitem__(self, place: slice) -> "Ratios": ...
    def __getitem__(self, place: int | slice) -> "Fraction | Ratios":
        if isinstance(place, slice):
            return Ratios(self.numerators[place], self.denominator)
        return quotient(self.numerators[place], self.denominator)

    def __iter__(self) -> Iterator[Fraction]:
        return (quotient(numerator, self.denominator) for numerator in self.numerators)

    def __repr__(self) -> str:
        return repr(list(self))

    def floats(self) -> Vector:
        """The nearest floats; infinite beyond their range."""
        return np.array([nearest(numerator, self.denominator) for numerator in self.numerators])

    def over(self, denominator: int) -> list[int]:
        """The numerators over a multiple of the denominator."""
        times = denominator // self.denominator
        return [times * numerator for numerator in self.numerators] if times != 1 else list(self.numerators)


def nearest(numerator: int, denominator: int) -> float:
    """The float nearest to a fraction; infinite beyond their range."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def common_denominator(*parts: Ratios) -> int:
    return _lcm([part.denominator for part in parts])


def _lcm(numbers: list[int]) -> int:
    """The least common multiple, unless numbers over it would fill the memory: a file may claim anything."""
    from flint import fmpz

    found, count = fmpz(1), len(numbers)
    for number in sorted(set(numbers), reverse=True):
        if found % number:
            found = found.lcm(fmpz(number))
        if found.bit_length() * count > MOST_BITS:
            raise CertificateError(f"the {count:,} fractions of a part have a common denominator that is too long")
    return int(found)


class WholeRows(NamedTuple):
    """Rows of floats and their limits as whole numbers: both of row i are to be multiplied by 2^exponents[i]."""

    matrix: WholeMatrix
    limits: list[int]
    exponents: list[int]

    @classmethod
    def of(cls, A: Any, limits: Vector, most: int = NONE) -> "WholeRows":
        """Of a CSR matrix, with exponents that are at most as large as asked; an infinite limit counts as 0."""
        rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        finite = np.where(np.isfinite(limits), limits, 0.0)
        exponents = np.where(finite != 0, lowest_exponents(finite[:, None]), most)
        np.minimum.at(exponents, rows, lowest_exponents(A.data[:, None]))
        exponents = np.where(exponents == NONE, 0, np.minimum(exponents, most))
        data = as_integers(A.data, exponents[rows])
        return cls(
            WholeMatrix.of(data, A.indices, A.indptr, A.shape[1]),
            as_integers(finite, exponents).tolist(),
            exponents.tolist(),
        )

    def excesses(self, x: Ratios) -> NDArray[Any]:
        """A x less the limits, row by row, in units of 2^exponent over the denominator of x."""
        products = self.matrix.times(x.numerators).astype(object)
        return np.asarray(products - np.array(self.limits, dtype=object) * x.denominator)

    def size_of(self, excess: int, row: int, denominator: int) -> Fraction:
        """An excess as a number."""
        return excess * power_of_two(self.exponents[row]) / denominator


def dot(floats: Vector, x: Ratios) -> Fraction:
    """The product with floats, of which infinite ones count nothing."""
    finite = np.where(np.isfinite(floats), floats, 0.0)
    exponent = lowest_exponent(finite)
    pairs = zip(as_integers(finite, exponent).tolist(), x.numerators, strict=True)
    return Fraction(sum(a * b for a, b in pairs if a and b), x.denominator) * power_of_two(exponent)
