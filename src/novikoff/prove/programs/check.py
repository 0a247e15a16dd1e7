"""What proves an answer to a linear program, checked in exact arithmetic by code that knows no solver.

Multipliers are SciPy's marginals of a minimum: those of inequalities and of upper bounds are at most 0, those of lower
bounds at least 0. Every x that obeys the constraints then has

    y.(A x) + lower.x + upper.x  >=  y.b + lower.l + upper.u.

If the multipliers combine the constraints to the cost, the right side is a lower bound of c.x; reached by some x, it is
the optimum. If they combine them to 0 and the right side is positive, there is no such x (Farkas 1902).
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from novikoff.engine.rounding import at_most, up
from novikoff.engine.words import counted
from novikoff.prove.exact.document import (
    CertificateError,
    ProofFields,
    check_fractions,
    claim,
    fraction_pair,
    fraction_pairs,
    read_parts,
    written,
)
from novikoff.prove.exact.floats import as_integers, lowest_exponent, nearest_float, power_of_two
from novikoff.prove.exact.numbers_hash import numbers_sha256
from novikoff.prove.programs.program import Program, Vector, read_program

Numbers = Sequence[Fraction]
ZERO = Fraction(0)
CLAIMS = ("optimal", "infeasible", "unbounded", "approximate")


class Multipliers(NamedTuple):
    """One number for every inequality, equation, lower bound and upper bound."""

    ub: Numbers
    eq: Numbers
    lower: Numbers
    upper: Numbers


class About(NamedTuple):
    """The program that a certificate is about: its size, and the fingerprint of its numbers."""

    variables: int
    inequalities: int
    equations: int
    sha256: str

    @property
    def size(self) -> str:
        """How large the program is, in words."""
        inequalities = counted(self.inequalities, "inequality", "inequalities")
        return f"{counted(self.variables, 'variable')}, {inequalities} and {counted(self.equations, 'equation')}"

    @classmethod
    def of(cls, program: Program) -> "About":
        shape = (len(program.c), len(program.b_ub), len(program.b_eq))
        p = program
        return cls(*shape, numbers_sha256("program", shape, (p.c, p.A_ub, p.b_ub, p.A_eq, p.b_eq, p.lower, p.upper)))


@dataclass(frozen=True, eq=False, repr=False)
class ProgramCertificate:
    """The proof of an answer, in fractions.

    An `optimal` program has an optimum `x`, and `multipliers` that combine its constraints to the cost. An `infeasible`
    one has multipliers that combine them to a contradiction. An `unbounded` one has a point `x` and a `ray` along which
    the cost falls forever. All of it holds exactly, and `violation` is 0. The claim `approximate` is no such proof: it
    says that x and the multipliers obey everything up to `violation`, relative to the cost or limit in question and
    rounded up. Such a program may have no solution at all.
    """

    claim: str
    violation: float
    about: About
    x: Numbers | None = None
    multipliers: Multipliers | None = None
    ray: Numbers | None = None
    value: Fraction | None = None

    def __repr__(self) -> str:
        return f"ProgramCertificate({self.claim}, {self.arithmetic}, violation={self.violation:.3g})"

    def __str__(self) -> str:
        cost = "" if self.value is None else f", which has {nearest_float(self.value):.12g}"
        return f"Of the program with {self.about.size} ({self.about.sha256[:12]}): {self.meaning}{cost}."

    @property
    def meaning(self) -> str:
        """What the claim says, in words."""
        if self.claim == "approximate":
            return (
                f"a point and multipliers obey everything up to {at_most(self.violation, 3)}, which proves no optimum"
            )
        return {
            "optimal": "no point has a smaller cost than x",
            "infeasible": "no point obeys all constraints",
            "unbounded": "the cost falls forever along a ray",
        }.get(self.claim, "nothing")

    @property
    def sentence(self) -> str:
        """The claim, how it is proved, and what it says."""
        return f"{self.claim.capitalize()} ({self.arithmetic}): {self.meaning}."

    @property
    def arithmetic(self) -> str:
        """`exact` if the claim is proved in the rational numbers, `float64` if it only holds up to `violation`."""
        return "float64" if self.claim == "approximate" else "exact"

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
        about = About.of(program)
        if about != self.about:
            raise CertificateError(f"the certificate is about another program: {self.about}, and this is {about}")
        check_parts(self)
        derived = CHECKS[self.claim](program, self)
        if not derived < math.inf:
            raise CertificateError(f"{self.claim}: what the certificate has proves nothing")
        if derived != self.violation:
            raise CertificateError(f"{self.claim}: the proof fails by {derived!r}, and not by {self.violation!r}")
        if self.claim == "optimal":
            claim(self.value == dot(program.c, self.x or ()), "value", "it is not the cost of x")

    def to_json(self) -> str:
        """The certificate as text; `docs/certificates.md` says what it has."""
        claims: dict[str, Any] = {"answer": self.claim}
        if self.claim == "optimal" and self.value is not None:
            claims["value"] = fraction_pair(self.value)
        if self.claim == "approximate":
            claims["violation"] = self.violation
        witnesses: dict[str, Any] = {}
        if self.x is not None:
            witnesses["x"] = fraction_pairs(self.x)
        if self.multipliers is not None:
            witnesses["multipliers"] = {k: fraction_pairs(v) for k, v in self.multipliers._asdict().items()}
        if self.ray is not None:
            witnesses["ray"] = fraction_pairs(self.ray)
        return written("program", data=self.about._asdict(), claims=claims, witnesses=witnesses)

    @classmethod
    def from_json(cls, text: str | bytes) -> "ProgramCertificate":
        """What `to_json` wrote; raises `CertificateError` for anything else."""
        data, claims, witnesses = read_parts(text, "program")
        about = _read_about(data)
        what = claims.choice("answer", CLAIMS)
        value = claims.fraction(claims.value("value"), "value") if what == "optimal" else None
        violation = claims.number("violation", least=0.0) if what == "approximate" else 0.0
        claims.close()
        parts: dict[str, Any] = {}
        if "x" in PARTS[what]:
            parts["x"] = witnesses.each("x", witnesses.fraction)
        if "multipliers" in PARTS[what]:
            given = witnesses.part("multipliers")
            parts["multipliers"] = Multipliers(*(given.each(name, given.fraction) for name in Multipliers._fields))
            given.close()
        if "ray" in PARTS[what]:
            parts["ray"] = witnesses.each("ray", witnesses.fraction)
        witnesses.close()
        certificate = cls(what, violation, about, value=value, **parts)
        check_parts(certificate)
        return certificate


def _read_about(fields: ProofFields) -> About:
    variables, inequalities, equations = (fields.whole(name, most=10**7) for name in About._fields[:3])
    about = About(variables, inequalities, equations, fields.text("sha256", longest=64))
    fields.close()
    return about


# What each claim needs; it may have nothing else.
PARTS = {
    "optimal": ("x", "multipliers"),
    "infeasible": ("multipliers",),
    "unbounded": ("x", "ray"),
    "approximate": ("x", "multipliers"),
}


def check_parts(certificate: ProgramCertificate) -> None:
    """Refuse a certificate that lacks something, has too much, or numbers that do not fit its program."""
    if not isinstance(certificate.claim, str) or certificate.claim not in PARTS:
        raise CertificateError(f"the claim {certificate.claim!r:.60} is none of {', '.join(CLAIMS)}")
    n, m_ub, m_eq, _ = certificate.about
    for name in ("x", "multipliers", "ray"):
        if (getattr(certificate, name) is not None) != (name in PARTS[certificate.claim]):
            has = "lacks" if name in PARTS[certificate.claim] else "has"
            raise CertificateError(f"the certificate says {certificate.claim}, but {has} the part {name}")
    if (certificate.value is not None) != (certificate.claim == "optimal"):
        raise CertificateError(
            f"the certificate says {certificate.claim}; a value belongs to an optimum, and to it alone"
        )
    for name in ("x", "ray"):
        if name in PARTS[certificate.claim]:
            check_fractions(name, getattr(certificate, name), n)
    if certificate.multipliers is not None:
        if not isinstance(certificate.multipliers, Multipliers):
            raise CertificateError("the part multipliers of the certificate does not consist of four lists")
        for part, values, size in zip(Multipliers._fields, certificate.multipliers, (m_ub, m_eq, n, n), strict=True):
            check_fractions(f"multipliers.{part}", values, size)


# -- by how much a claim fails ------------------------------------------------------------------------------------


def optimality_violation(program: Program, x: Numbers, multipliers: Multipliers) -> float:
    """The largest amount by which x and the multipliers fail to prove an optimum, rounded up."""
    value = dot(program.c, x)
    least = _least_size(program.c)
    gap = abs(value - _bound(program, multipliers)) / (least + abs(value))
    missed = zip(_misses(program, multipliers, program.c), fractions(program.c), strict=True)
    dual = [miss / (least + abs(cost)) for miss, cost in missed]
    signs = [wrong / least for wrong in _wrong_signs(program, multipliers)]
    return _rounded_up([gap, *dual, *signs, *_infeasibilities(program, x)])


def contradiction_violation(program: Program, multipliers: Multipliers) -> float:
    """By how much multipliers fail to combine the constraints to 0 >= 1; infinite if to nothing positive."""
    strength = _bound(program, multipliers)
    fails = [*_misses(program, multipliers, np.zeros_like(program.c)), *_wrong_signs(program, multipliers)]
    return _rounded_up([fail / strength for fail in fails]) if strength > 0 else math.inf


def point_violation(program: Program, x: Numbers) -> float:
    """By how much a point breaks the constraints, relative to their limits."""
    return _rounded_up(_infeasibilities(program, x))


def ray_violation(program: Program, ray: Numbers) -> float:
    """By how much the ray leaves the constraints while the cost falls by 1; infinite if it does not fall."""
    fall = -dot(program.c, ray)
    return _rounded_up([fail / fall for fail in _infeasibilities(_recession(program), ray)]) if fall > 0 else math.inf


def _check_optimal(program: Program, certificate: ProgramCertificate) -> float:
    assert certificate.x is not None  # `check_parts` has seen to it
    assert certificate.multipliers is not None
    return optimality_violation(program, certificate.x, certificate.multipliers)


def _check_approximate(program: Program, certificate: ProgramCertificate) -> float:
    violation = _check_optimal(program, certificate)
    claim(violation > 0, "approximate", "x and the multipliers are exact, so that they prove an optimum")
    return violation


def _check_infeasible(program: Program, certificate: ProgramCertificate) -> float:
    assert certificate.multipliers is not None
    return contradiction_violation(program, certificate.multipliers)


def _check_unbounded(program: Program, certificate: ProgramCertificate) -> float:
    assert certificate.x is not None
    assert certificate.ray is not None
    return max(ray_violation(program, certificate.ray), point_violation(program, certificate.x))


CHECKS = {
    "optimal": _check_optimal,
    "infeasible": _check_infeasible,
    "unbounded": _check_unbounded,
    "approximate": _check_approximate,
}


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
    """The program whose points are the directions in which one may walk forever: all finite limits 0."""
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


def dot(c: Vector, x: Numbers) -> Fraction:
    """c.x, exactly."""
    return products(c[None, :], x)[0]


def _least_size(values: Vector) -> Fraction:
    """What an error is compared with where the number itself is 0: 1, or less if all numbers are smaller."""
    largest = float(np.abs(values).max(initial=0.0))
    return Fraction(min(largest, 1.0)) if largest > 0 else Fraction(1)


def _rounded_up(values: Iterable[Fraction]) -> float:
    """The smallest float that is not below the largest of the values; infinite beyond the range of floats."""
    largest = max(values, default=ZERO)
    if largest > Fraction(sys.float_info.max):
        return math.inf
    nearest = float(largest)
    return nearest if Fraction(nearest) >= largest else up(nearest)
