"""What proves an answer to a linear program, checked in exact arithmetic by code that knows no solver.

Multipliers are SciPy's marginals of a minimum: those of inequalities and of upper bounds are at most 0, those of lower
bounds at least 0. Every x that obeys the constraints then has

    y.(A x) + lower.x + upper.x  >=  y.b + lower.l + upper.u.

If the multipliers combine the constraints to the cost, the right side is a lower bound of c.x; reached by some x, it is
the optimum. If they combine them to 0 and the right side is positive, there is no such x (Farkas 1902).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from novikoff.engine.rounding import up
from novikoff.prove.document import CertificateError
from novikoff.prove.exact import as_integers, lowest_exponent, power_of_two
from novikoff.prove.program import Program, Vector, read_program

Numbers = Sequence[Fraction]
ZERO = Fraction(0)


class Multipliers(NamedTuple):
    """One number for every inequality, equation, lower bound and upper bound."""

    ub: Numbers
    eq: Numbers
    lower: Numbers
    upper: Numbers


@dataclass(frozen=True, eq=False, repr=False)
class ProgramCertificate:
    """The proof of an answer, in fractions.

    An `optimal` program has an optimum `x` and `multipliers` that combine its constraints to the cost. An `infeasible`
    one has multipliers that combine them to a contradiction. An `unbounded` one has a point `x` and a `ray` along which
    the cost falls for ever. `violation` is the largest amount by which any of this fails, relative to the cost or limit
    in question and rounded up: at 0 the proof is exact.
    """

    claim: str
    violation: float
    x: Numbers | None = None
    multipliers: Multipliers | None = None
    ray: Numbers | None = None

    def __repr__(self) -> str:
        return f"ProgramCertificate({self.claim}, {self.arithmetic}, violation={self.violation:.3g})"

    @property
    def arithmetic(self) -> str:
        """`exact` if every claim holds in the rational numbers, `float64` if up to `violation`."""
        return "exact" if self.violation == 0 else "float64"

    def check(
        self,
        c: Any,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = (0, None),
    ) -> None:
        """Prove it again from the program as `linprog` was given it; raises `CertificateError` if it fails."""
        program = read_program(c, A_ub, b_ub, A_eq, b_eq, bounds)
        found = violation(self, program)
        if not found <= self.violation:
            raise CertificateError(f"{self.claim}: the proof fails by {found:.3g}, more than {self.violation:.3g}")


def optimal(program: Program, x: Iterable[Any], y: Iterable[Any]) -> ProgramCertificate:
    """The certificate that x is an optimum, from it and the multipliers of the rows, measured.

    >>> program = read_program([1, 1], A_ub=[[-1, -2]], b_ub=[-4])
    >>> optimal(program, [0, 2], [-0.5]).arithmetic
    'exact'
    """
    return _measured(program, "optimal", x=fractions(x), multipliers=_completed(program, y, program.c))


def infeasible(program: Program, y: Iterable[Any]) -> ProgramCertificate:
    """The certificate that no x obeys the constraints, from multipliers of the rows, measured."""
    return _measured(program, "infeasible", multipliers=_completed(program, y, np.zeros_like(program.c)))


def contradictory_bounds(program: Program, j: int) -> ProgramCertificate:
    """The certificate of a variable whose lower bound is above its upper one."""
    rows, unit = [ZERO] * len(program.limits), [Fraction(int(i == j)) for i in range(len(program.c))]
    m_ub = len(program.b_ub)
    both = Multipliers(rows[:m_ub], rows[m_ub:], unit, [-v for v in unit])
    return _measured(program, "infeasible", multipliers=both)


def unbounded(program: Program, x: Iterable[Any], ray: Iterable[Any]) -> ProgramCertificate:
    """The certificate that the cost falls for ever along the ray from x, measured."""
    return _measured(program, "unbounded", x=fractions(x), ray=fractions(ray))


def _measured(program: Program, claim: str, **proof: Any) -> ProgramCertificate:
    found = violation(ProgramCertificate(claim, math.inf, **proof), program)
    return ProgramCertificate(claim, found, **proof)


def _completed(program: Program, y: Iterable[Any], target: Vector) -> Multipliers:
    """Multipliers of the rows, with those of the bounds that take what is missing to the target."""
    rows = fractions(y)
    rest = [want - got for want, got in zip(fractions(target), products(program.rows.T, rows), strict=True)]
    m_ub = len(program.b_ub)
    return Multipliers(rows[:m_ub], rows[m_ub:], [max(v, ZERO) for v in rest], [min(v, ZERO) for v in rest])


# -- the check ----------------------------------------------------------------------------------------------------


def violation(certificate: ProgramCertificate, program: Program) -> float:
    """The largest amount by which a claim fails of the program, rounded up; infinite if it proves nothing."""
    x, multipliers, ray = certificate.x, certificate.multipliers, certificate.ray
    if certificate.claim == "optimal" and x is not None and multipliers is not None:
        value = _dot(program.c, x)
        least = _least_size(program.c)
        gap = abs(value - _bound(program, multipliers)) / (least + abs(value))
        missed = zip(_misses(program, multipliers, program.c), fractions(program.c), strict=True)
        dual = [miss / (least + abs(cost)) for miss, cost in missed]
        signs = [wrong / least for wrong in _wrong_signs(program, multipliers)]
        return _rounded_up([gap, *dual, *signs, *_infeasibilities(program, x)])
    if certificate.claim == "infeasible" and multipliers is not None:
        strength = _bound(program, multipliers)
        misses = _misses(program, multipliers, np.zeros_like(program.c))
        fails = [*misses, *_wrong_signs(program, multipliers)]
        return _rounded_up([fail / strength for fail in fails]) if strength > 0 else math.inf
    if certificate.claim == "unbounded" and x is not None and ray is not None:
        return max(ray_violation(program, ray), _rounded_up(_infeasibilities(program, x)))
    return math.inf


def ray_violation(program: Program, ray: Numbers) -> float:
    """By how much the ray leaves the constraints while the cost falls by 1; infinite if it does not fall."""
    fall = -_dot(program.c, ray)
    return _rounded_up([fail / fall for fail in _infeasibilities(_recession(program), ray)]) if fall > 0 else math.inf


def _bound(program: Program, multipliers: Multipliers) -> Fraction:
    """y.b + lower.l + upper.u, where an infinite bound counts nothing: its multiplier is a wrong sign."""
    values = [value for part in multipliers for value in part]
    limits = np.concatenate([program.limits, program.lower, program.upper])
    return sum(
        (y * Fraction(float(b)) for y, b in zip(values, limits, strict=True) if y != 0 and math.isfinite(b)), ZERO
    )


def _misses(program: Program, multipliers: Multipliers, target: Vector) -> list[Fraction]:
    """By how much the multipliers miss the target, coordinate by coordinate."""
    combined = products(program.rows.T, [*multipliers.ub, *multipliers.eq])
    columns = zip(fractions(target), combined, multipliers.lower, multipliers.upper, strict=True)
    return [abs(want - got - low - high) for want, got, low, high in columns]


def _wrong_signs(program: Program, multipliers: Multipliers) -> list[Fraction]:
    """What of the multipliers has the wrong sign, or belongs to no bound."""
    wrong = [max(y, ZERO) for y in (*multipliers.ub, *multipliers.upper)] + [max(-y, ZERO) for y in multipliers.lower]
    for values, bounds in ((multipliers.lower, program.lower), (multipliers.upper, program.upper)):
        wrong += [abs(y) for y, bound in zip(values, bounds, strict=True) if not math.isfinite(bound)]
    return wrong


def _infeasibilities(program: Program, x: Numbers) -> list[Fraction]:
    """By how much x breaks every constraint, relative to its limit."""
    broken = []
    m_ub, least = len(program.b_ub), _least_size(program.limits)
    for i, (got, limit) in enumerate(zip(products(program.rows, x), fractions(program.limits), strict=True)):
        excess = got - limit
        broken.append((max(excess, ZERO) if i < m_ub else abs(excess)) / (least + abs(limit)))
    for value, low, high in zip(x, program.lower, program.upper, strict=True):
        for sign, bound in ((1, low), (-1, high)):
            if math.isfinite(bound):
                limit = Fraction(float(bound))
                broken.append(max(sign * (limit - value), ZERO) / (1 + abs(limit)))
    return broken


def _recession(program: Program) -> Program:
    """The program whose points are the directions in which one may walk for ever: all finite limits 0."""
    lower = np.where(np.isfinite(program.lower), 0.0, -np.inf)
    upper = np.where(np.isfinite(program.upper), 0.0, np.inf)
    no_ub, no_eq = np.zeros_like(program.b_ub), np.zeros_like(program.b_eq)
    return Program(program.c, program.A_ub, no_ub, program.A_eq, no_eq, lower, upper)


# -- exact arithmetic ---------------------------------------------------------------------------------------------


def fractions(values: Iterable[Any]) -> list[Fraction]:
    """Floats as the fractions that they are."""
    return [value if isinstance(value, Fraction) else Fraction(float(value)) for value in values]


def products(A: Vector, v: Numbers) -> list[Fraction]:
    """A v, exactly.

    >>> products(np.array([[0.5, 1.0]]), [Fraction(1, 3), Fraction(1, 2)])
    [Fraction(2, 3)]
    """
    if A.size == 0:
        return [ZERO] * len(A)
    denominator = math.lcm(*(value.denominator for value in v))
    whole = np.array([value.numerator * (denominator // value.denominator) for value in v], dtype=object)
    exponent = lowest_exponent(A)
    scale = power_of_two(exponent) / denominator
    return [Fraction(int(value)) * scale for value in as_integers(A, exponent) @ whole]


def _least_size(values: Vector) -> Fraction:
    """What an error is compared with where the number itself is 0: 1, or less if all numbers are smaller."""
    largest = float(np.abs(values).max(initial=0.0))
    return Fraction(min(largest, 1.0)) if largest > 0 else Fraction(1)


def _dot(c: Vector, x: Numbers) -> Fraction:
    return products(c[None, :], x)[0]


def _rounded_up(values: Iterable[Fraction]) -> float:
    largest = max(values, default=ZERO)
    if largest <= 0:
        return 0.0
    try:
        return up(float(largest))
    except OverflowError:
        return math.inf
