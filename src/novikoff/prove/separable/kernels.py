"""Kernels with provable values: exact where they are rational, otherwise in balls of any precision.

The linear and the polynomial kernel of floats are rational numbers. The Gaussian and the Laplacian are powers of e, and
are computed in ball arithmetic: a number with a bound on its error, of any precision. A given matrix is used unchanged:
all proofs are about that matrix.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.prove.exact.algebra import as_matrix
from novikoff.prove.exact.codec import written_part
from novikoff.prove.exact.floats import as_integers, longest_square, lowest_exponent, power_of_two
from novikoff.say.words import kernel_in_words

Form = Literal["linear", "poly", "rbf", "laplacian", "precomputed"]
FORMS: tuple[Form, ...] = ("linear", "poly", "rbf", "laplacian", "precomputed")
HIGHEST_DEGREE = 64

# A power of e below e^-4096 is only known to lie between 0 and 2^-5900, far below the square of any float.
SMALLEST_EXPONENT = 4096
SMALLEST_POWER = Fraction(1, 1 << 5900)

# Products computed between two checks of the clock; fewer if they have many bits.
BLOCK = 10_000
# Bits of all products at a time: more may not fit into memory, and GMP then aborts the process.
MOST_BITS = 4_000_000_000

Whole = list[list[int]]


# A lower and an upper bound of a number; equal if it is known exactly.
Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class ExactKernel:
    """A kernel and its parameters: linear <x, z>; poly (gamma <x, z> + coef0)^degree; rbf exp(-gamma ||x - z||^2);
    laplacian exp(-gamma ||x - z||_1); or "precomputed", a matrix.

    >>> ExactKernel("poly", degree=2, gamma=1.0, coef0=1.0).to_dict()
    {'form': 'poly', 'gamma': 1.0, 'degree': 2, 'coef0': 1.0}
    """

    form: Form
    gamma: float | None = None
    degree: int | None = None
    coef0: float | None = None

    def __post_init__(self) -> None:
        form, gamma, degree, coef0 = self.form, self.gamma, self.degree, self.coef0
        if form not in FORMS:
            raise ValueError(
                f"kernel={form!r} is not one of {', '.join(FORMS)}; for another one pass its matrix with "
                'kernel="precomputed"'
            )
        needed = {"poly": ("gamma", "degree", "coef0"), "rbf": ("gamma",), "laplacian": ("gamma",)}.get(form, ())
        for name, value in {"gamma": gamma, "degree": degree, "coef0": coef0}.items():
            if (name in needed) != (value is not None):
                raise ValueError(f"kernel={form!r} {'needs' if name in needed else 'has no'} {name}=")
        if gamma is not None and not (_is_real(gamma) and 0 < gamma < math.inf):
            raise ValueError(f"gamma={gamma!r} must be a positive number")
        if degree is not None and not (type(degree) is int and 1 <= degree <= HIGHEST_DEGREE):
            raise ValueError(f"degree={degree!r} must be a whole number from 1 to {HIGHEST_DEGREE}")
        if coef0 is not None and not (_is_real(coef0) and 0 <= coef0 < math.inf):
            raise ValueError(
                f"coef0={coef0!r} must be a number of at least 0: below, the polynomial is not a positive "
                "semidefinite kernel, and has no feature space"
            )
        for name, number in (("gamma", gamma), ("coef0", coef0)):
            object.__setattr__(self, name, None if number is None else float(number))

    @property
    def is_rational(self) -> bool:
        """Whether its values on floats are fractions."""
        return self.form in ("linear", "poly", "precomputed")

    def to_dict(self) -> dict[str, Any]:
        return written_part(self)

    def __str__(self) -> str:
        return kernel_in_words(self.form, {name: value for name, value in self.to_dict().items() if name != "form"})


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class Products:
    """The products of the points z_i = y_i (phi(x_i), constant) with each other, for examples and a kernel.

    Long computations check the clock, and raise OutOfTimeError.
    """

    kernel: ExactKernel
    X: NDArray[Any]  # the rows, or the matrix itself
    signs: NDArray[np.int8]
    constant: int
    clock: Clock = UNLIMITED

    @property
    def n_points(self) -> int:
        return len(self.signs)

    # -- rational kernels ---------------------------------------------------------------------------------------------

    @cached_property
    def _exponent(self) -> int:
        lowest = lowest_exponent(self.X)
        return min(lowest, 0) if self.kernel.form == "precomputed" else lowest

    @cached_property
    def _polynomial(self) -> tuple[int, int, int, int]:
        """a, b, denominator, degree: the kernel is ((a D + b)/denominator)^degree, with whole products D."""
        gamma, coef0 = Fraction(self.kernel.gamma or 1), Fraction(self.kernel.coef0 or 0)
        gamma *= power_of_two(2 * self._exponent)
        denominator = math.lcm(gamma.denominator, coef0.denominator)
        return int(gamma * denominator), int(coef0 * denominator), denominator, self.kernel.degree or 1

    @cached_property
    def scale(self) -> Fraction:
        """The unit of the whole numbers of `whole`."""
        if self.kernel.form == "precomputed":
            return power_of_two(self._exponent)
        _, _, denominator, degree = self._polynomial
        return Fraction(1, denominator**degree)

    def whole(self, rows: Sequence[int], columns: Sequence[int]) -> Whole:
        """<z_i, z_j> of a rational kernel as whole numbers, in units of `scale`."""
        if len(rows) * len(columns) * self.bits > MOST_BITS:
            raise MemoryError(f"{len(rows)} times {len(columns)} products of {self.bits} bits do not fit into memory")
        return [line for some in self._blocks(rows, columns) for line in self._whole(some, columns)]

    @cached_property
    def bits(self) -> int:
        """An upper bound on the bits of the whole numbers of a rational kernel."""
        own = math.frexp(float(np.abs(self.X).max(initial=0.0)))[1] - self._exponent
        if self.kernel.form == "precomputed":
            return max(own, 1 - self._exponent) + 2
        a, b, denominator, degree = self._polynomial
        inner = max(a.bit_length() + 2 * own + self.X.shape[1].bit_length(), b.bit_length(), denominator.bit_length())
        return degree * (inner + 1) + 2

    def _blocks(self, rows: Sequence[int], columns: Sequence[int]) -> Iterator[Sequence[int]]:
        """The rows, a few at a time."""
        size = max(1, BLOCK // max(len(columns) * (1 + (self.bits >> 10 if self.kernel.is_rational else 0)), 1))
        return (rows[start : start + size] for start in self.clock.through(range(0, len(rows), size)))

    def _whole(self, rows: Sequence[int], columns: Sequence[int]) -> Whole:
        constant = self.constant * int(1 / self.scale)
        if self.kernel.form == "precomputed":
            values = as_integers(self.X[np.ix_(list(rows), list(columns))], self._exponent).tolist()
        else:
            values = self._powers(rows, columns)
        left, right = self.signs[list(rows)].tolist(), self.signs[list(columns)].tolist()
        return [
            [s * t * (v + constant) for t, v in zip(right, row, strict=True)]
            for s, row in zip(left, values, strict=True)
        ]

    def _powers(self, rows: Sequence[int], columns: Sequence[int]) -> Whole:
        a, b, _, degree = self._polynomial
        left, right = (as_integers(self.X[list(which)], self._exponent).tolist() for which in (rows, columns))
        if not left or not right or not left[0]:
            return [[b**degree] * len(right) for _ in left]
        products = (as_matrix(left) * as_matrix(right).transpose()).tolist()
        return [[(a * int(product) + b) ** degree for product in line] for line in products]

    # -- powers of e --------------------------------------------------------------------------------------------------

    def exponents(self, rows: Sequence[int], columns: Sequence[int]) -> list[list[Fraction]]:
        """-log K(x_i, x_j), which is rational."""
        left, right = (as_integers(self.X[list(which)], self._exponent).tolist() for which in (rows, columns))
        squared = self.kernel.form == "rbf"
        unit = Fraction(self.kernel.gamma or 1) * power_of_two((2 if squared else 1) * self._exponent)

        def distance(x: list[int], z: list[int]) -> int:
            return sum((a - b) ** 2 if squared else abs(a - b) for a, b in zip(x, z, strict=True))

        return [[distance(x, z) * unit for z in right] for x in left]

    def combination(
        self, rows: Sequence[int], columns: Sequence[int], weights: Sequence[int], bits: int
    ) -> list[Interval]:
        """sum_j weights_j <z_i, z_j> for every row: exact, or between two fractions computed with these bits."""
        if not rows or not columns:
            return [(Fraction(0), Fraction(0)) for _ in rows]
        if self.kernel.is_rational:
            whole = as_matrix([weights]).transpose()
            parts = (as_matrix(self._whole(some, columns)) * whole for some in self._blocks(rows, columns))
            exact = [int(value) * self.scale for part in parts for value in part.entries()]
            return list(zip(exact, exact, strict=True))
        signed = [weight * int(sign) for weight, sign in zip(weights, self.signs[list(columns)], strict=True)]
        return [
            _signed(_power_sum(line, signed, self.constant * sum(signed), bits), int(self.signs[row]))
            for some in self._blocks(rows, columns)
            for row, line in zip(some, self.exponents(some, columns), strict=True)
        ]

    def square(self, rows: Sequence[int], weights: Sequence[int], bits: int) -> Interval:
        """||sum weights_i z_i||^2."""
        parts = self.combination(rows, rows, weights, bits)
        low = sum((w * (part[0] if w > 0 else part[1]) for w, part in zip(weights, parts, strict=True)), Fraction(0))
        high = sum((w * (part[1] if w > 0 else part[0]) for w, part in zip(weights, parts, strict=True)), Fraction(0))
        return low, high

    @cached_property
    def radius_square(self) -> Fraction:
        """R^2: the largest squared length of a point. For powers of e all are 1; for a polynomial the longest row
        has it."""
        if not self.kernel.is_rational:
            return Fraction(1 + self.constant)
        if self.kernel.form == "precomputed":
            return Fraction(float(self.X.diagonal().max())) + self.constant
        inner = Fraction(self.kernel.gamma or 1) * longest_square(self.X) + Fraction(self.kernel.coef0 or 0)
        return inner ** (self.kernel.degree or 1) + self.constant

    @cached_property
    def first_equals(self) -> list[int]:
        """The number of the first row that equals each row: distinct points have distinct numbers."""
        floats = np.asarray(self.X, dtype=np.float64) + 0.0
        first: dict[bytes, int] = {}
        return [first.setdefault(row.tobytes(), number) for number, row in enumerate(floats)]


def _signed(value: Interval, sign: int) -> Interval:
    return value if sign > 0 else (-value[1], -value[0])


def _power_sum(exponents: Sequence[Fraction], weights: Sequence[int], constant: int, bits: int) -> Interval:
    """constant + sum of weights e^-exponent, in balls of these bits. Equal exponents are first added up exactly."""
    from flint import arb, ctx, fmpq

    together: dict[Fraction, int] = {}
    for exponent, weight in zip(exponents, weights, strict=True):
        together[exponent] = together.get(exponent, 0) + weight
    exact = constant + together.pop(Fraction(0), 0)
    tiny = [together.pop(exponent) for exponent in list(together) if exponent > SMALLEST_EXPONENT]
    low, high = (sum(pick(weight, 0) for weight in tiny) * SMALLEST_POWER for pick in (min, max))
    before = ctx.prec
    ctx.prec = bits
    try:
        total = arb(0)
        for exponent, weight in together.items():
            if weight:
                total += weight * (-arb(fmpq(exponent.numerator, exponent.denominator))).exp()
        return exact + low + _fraction(total.lower()), exact + high + _fraction(total.upper())
    finally:
        ctx.prec = before


def _fraction(number: Any) -> Fraction:
    """The end of a ball, a whole number times a power of two."""
    mantissa, exponent = number.mid().man_exp()
    return int(mantissa) * power_of_two(int(exponent))
