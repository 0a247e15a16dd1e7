"""Fractions with a common denominator, as in exact solutions, and rows of floats to multiply them with."""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import quotient
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.exact.floats import as_integers, lowest_exponent, lowest_exponents, power_of_two
from novikoff.prove.exact.refined import WholeMatrix

Vector = NDArray[np.float64]

# The most bits of all numerators over a common denominator; more do not fit into memory.
MOST_BITS = 2**33
NONE = np.iinfo(np.int64).max


class Ratios(Sequence[Fraction]):
    """Fractions n/d with a common d, not necessarily in lowest terms.

    An exact solution of equations has numbers of thousands of digits and one denominator. Reducing all of them to
    lowest terms takes longer than finding them, so a number is reduced when it is accessed.

    >>> Ratios([1, 2], 4)[1], list(Ratios.of([0.5, 2.0]))
    (Fraction(1, 2), [Fraction(1, 2), Fraction(2, 1)])
    """

    def __init__(self, numerators: Iterable[int], denominator: int = 1) -> None:
        self.numerators, self.denominator = tuple(numerators), denominator

    @classmethod
    def of(cls, values: Iterable[Any]) -> "Ratios":
        """Convert floats or fractions; `Ratios` are returned as they are."""
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
        """The nearest floats; infinite if out of range."""
        return np.array([nearest(numerator, self.denominator) for numerator in self.numerators])

    def over(self, denominator: int) -> list[int]:
        """The numerators over `denominator`, a multiple of the own one."""
        times = denominator // self.denominator
        return [times * numerator for numerator in self.numerators] if times != 1 else list(self.numerators)


def nearest(numerator: int, denominator: int) -> float:
    """The float nearest to a fraction; infinite if out of range."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def common_denominator(*parts: Ratios) -> int:
    return _lcm([part.denominator for part in parts])


def _lcm(numbers: list[int]) -> int:
    """The least common multiple; raises `CertificateError` if numerators over it would fill memory."""
    from flint import fmpz

    found, count = fmpz(1), len(numbers)
    for number in sorted(set(numbers), reverse=True):
        if found % number:
            found = found.lcm(fmpz(number))
        if found.bit_length() * count > MOST_BITS:
            raise CertificateError(f"the {count:,} fractions of a part have a common denominator that is too long")
    return int(found)


class WholeRows(NamedTuple):
    """Rows of floats and their limits as whole numbers, those of row i in units of 2^exponents[i]."""

    matrix: WholeMatrix
    limits: list[int]
    exponents: list[int]

    @classmethod
    def of(cls, A: Any, limits: Vector, most: int = NONE) -> "WholeRows":
        """Convert a CSR matrix, with exponents of at most `most`; an infinite limit counts as 0."""
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
        """A x minus the limits, row by row, in units of 2^exponent over the denominator of x."""
        products = self.matrix.times(x.numerators).astype(object)
        return np.asarray(products - np.array(self.limits, dtype=object) * x.denominator)


def dot(floats: Vector, x: Ratios) -> Fraction:
    """The inner product with floats; infinite ones count as 0."""
    finite = np.where(np.isfinite(floats), floats, 0.0)
    exponent = lowest_exponent(finite)
    pairs = zip(as_integers(finite, exponent).tolist(), x.numerators, strict=True)
    return Fraction(sum(a * b for a, b in pairs if a and b), x.denominator) * power_of_two(exponent)
