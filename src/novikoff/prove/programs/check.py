"""Proofs of answers to linear programs, checked in exact arithmetic by code that does not depend on a solver.

Multipliers are SciPy's marginals of a minimum: those of inequalities and of upper bounds are at most 0, those of lower
bounds at least 0. Every feasible x then has

    y.(A x) + lower.x + upper.x  >=  y.b + lower.l + upper.u.

If the multipliers combine the constraints to the cost, the right side is a lower bound of c.x; attained by some x, it
is the optimum. If they combine them to 0 and the right side is positive, no x is feasible (Farkas 1902).
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from novikoff.engine.rounding import at_most, up
from novikoff.prove.exact.codec import read_part, read_value, written_part, written_value
from novikoff.prove.exact.document import (
    CertificateError,
    check_fractions,
    claim,
    fraction_pair,
    numbers_sha256,
    read_parts,
    written,
)
from novikoff.prove.exact.floats import nearest_float
from novikoff.prove.exact.ratios import Ratios, Vector, WholeRows, common_denominator, dot
from novikoff.prove.programs.program import Program, read_program
from novikoff.say.certificates import in_arithmetic
from novikoff.say.words import counted

Numbers = Sequence[Fraction]
CLAIMS = ("optimal", "infeasible", "unbounded", "approximate")


class Multipliers(NamedTuple):
    """One number for every inequality, equation, lower bound and upper bound."""

    ub: Numbers
    eq: Numbers
    lower: Numbers
    upper: Numbers


class ProgramData(NamedTuple):
    """The program of a certificate: its size, and the fingerprint of its numbers."""

    variables: int
    inequalities: int
    equations: int
    sha256: str

    @property
    def size(self) -> str:
        """The size of the program, in words."""
        inequalities = counted(self.inequalities, "inequality", "inequalities")
        return f"{counted(self.variables, 'variable')}, {inequalities} and {counted(self.equations, 'equation')}"

    @classmethod
    def of(cls, program: Program) -> "ProgramData":
        p, shape = program, (len(program.c), len(program.b_ub), len(program.b_eq))
        numbers = (p.c, _entries(p.A_ub), p.b_ub, _entries(p.A_eq), p.b_eq, p.lower, p.upper)
        return cls(*shape, numbers_sha256("program", (*shape, p.A_ub.nnz, p.A_eq.nnz), numbers))


def _entries(A: Any) -> Vector:
    """Return row, column and value of every nonzero entry, row by row."""
    entries = A.tocoo()
    return np.column_stack([entries.row, entries.col, entries.data])


@dataclass(frozen=True, eq=False, repr=False)
class ProgramCertificate:
    """The proof of an answer, in fractions.

    An `optimal` program has an optimum `x`, and `multipliers` that combine its constraints to the cost. An `infeasible`
    one has multipliers that combine them to a contradiction. An `unbounded` one has a point `x` and a `ray` along which
    the cost falls without bound. All of these hold exactly, and `violation` is 0. The claim `approximate` is not such a
    proof: x and the multipliers satisfy all conditions up to `violation`, relative to the cost or limit in question and
    rounded up. Such a program may have no solution.
    """

    claim: str
    violation: float
    about: ProgramData
    x: Numbers | None = None
    multipliers: Multipliers | None = None
    ray: Numbers | None = None
    value: Fraction | None = None

    @classmethod
    def of(
        cls,
        program: Program,
        claim: str,
        x: Numbers | None = None,
        multipliers: Multipliers | None = None,
        ray: Numbers | None = None,
    ) -> "ProgramCertificate":
        """Verify a claim: an optimum that fails becomes approximate; for other claims that fail, `violation` is inf."""
        point, y = Ratios.of(x or ()), Combined(program, multipliers)
        if claim == "unbounded":
            proves = _is_ray(program, Ratios.of(ray or ())) and not _infeasibilities(program, point)
            violation = 0.0 if proves else math.inf
        elif claim == "infeasible":
            violation = 0.0 if y.is_contradiction() else math.inf
        else:
            violation = optimality_violation(program, point, y)
            claim = "approximate" if violation > 0 else claim
        value = dot(program.c, point) if claim == "optimal" else None
        return cls(claim, violation, ProgramData.of(program), x, multipliers, ray, value)

    def __repr__(self) -> str:
        return f"ProgramCertificate({self.claim}, {self.arithmetic}, violation={self.violation:.3g})"

    def __str__(self) -> str:
        cost = "" if self.value is None else f", which has {nearest_float(self.value):.12g}"
        return f"Of the program with {self.about.size} ({self.about.sha256[:12]}): {self.meaning}{cost}."

    @property
    def meaning(self) -> str:
        """The meaning of the claim, in words."""
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
        """The claim, how it is proved, and its meaning."""
        return f"{in_arithmetic(self.claim.capitalize(), self.arithmetic)}: {self.meaning}."

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
        """Prove it again from the program as passed to `linprog`; raise `CertificateError` if it fails."""
        program = read_program(c, A_ub, b_ub, A_eq, b_eq, bounds)
        about = ProgramData.of(program)
        if about != self.about:
            raise CertificateError(f"the certificate is about another program: {self.about}, and this is {about}")
        check_parts(self)
        asked = "optimal" if self.claim == "approximate" else self.claim
        found = ProgramCertificate.of(program, asked, self.x, self.multipliers, self.ray)
        if not found.violation < math.inf:
            raise CertificateError(f"{self.claim}: what the certificate has proves nothing")
        if found.violation != self.violation:
            raise CertificateError(f"{self.claim}: the proof fails by {found.violation!r}, not by {self.violation!r}")
        why = "x and the multipliers are exact, so that they prove an optimum"
        claim(self.claim == found.claim, self.claim, why)
        claim(self.value == found.value, "value", "it is not the cost of x")

    def to_json(self) -> str:
        """Return the certificate as JSON; see `docs/certificates.md`."""
        claims: dict[str, Any] = {"answer": self.claim}
        if self.claim == "optimal" and self.value is not None:
            claims["value"] = fraction_pair(self.value)
        if self.claim == "approximate":
            claims["violation"] = self.violation
        given = {name: (getattr(self, name), kind) for name, kind in WITNESSES.items()}
        witnesses = {name: written_value(value, kind) for name, (value, kind) in given.items() if value is not None}
        return written("program", data=written_part(self.about), claims=claims, witnesses=witnesses)

    @classmethod
    def from_json(cls, text: str | bytes) -> "ProgramCertificate":
        """Parse what `to_json` wrote; raise `CertificateError` for anything else."""
        data, claims, witnesses = read_parts(text, "program")
        about = read_part(data, ProgramData)
        what = claims.choice("answer", CLAIMS)
        value = claims.fraction(claims.value("value"), "value") if what == "optimal" else None
        violation = claims.number("violation", least=0.0) if what == "approximate" else 0.0
        claims.close()
        parts = {name: read_value(witnesses, witnesses.value(name), name, WITNESSES[name]) for name in PARTS[what]}
        witnesses.close()
        certificate = cls(what, violation, about, value=value, **parts)
        check_parts(certificate)
        return certificate


# The witnesses, and those that each claim needs; it may have no others.
WITNESSES = {"x": Numbers, "multipliers": Multipliers, "ray": Numbers}
PARTS = {
    "optimal": ("x", "multipliers"),
    "infeasible": ("multipliers",),
    "unbounded": ("x", "ray"),
    "approximate": ("x", "multipliers"),
}


def check_parts(certificate: ProgramCertificate) -> None:
    """Refuse a certificate with missing or extra parts, or with numbers that do not fit its program."""
    if not isinstance(certificate.claim, str) or certificate.claim not in PARTS:
        raise CertificateError(f"the claim {certificate.claim!r:.60} is not one of {', '.join(CLAIMS)}")
    n, m_ub, m_eq, _ = certificate.about
    for name in WITNESSES:
        if (getattr(certificate, name) is not None) != (name in PARTS[certificate.claim]):
            has = "lacks" if name in PARTS[certificate.claim] else "has"
            raise CertificateError(f"the certificate says {certificate.claim}, but {has} the part {name}")
    if (certificate.value is not None) != (certificate.claim == "optimal"):
        raise CertificateError(
            f"the certificate says {certificate.claim}; a value belongs to an optimum, and to it alone"
        )
    for name in ("x", "ray"):
        if name in PARTS[certificate.claim]:
            _check_numbers(name, getattr(certificate, name), n)
    if certificate.multipliers is not None:
        if not isinstance(certificate.multipliers, Multipliers):
            raise CertificateError("the part multipliers of the certificate does not consist of four lists")
        for part, values, size in zip(Multipliers._fields, certificate.multipliers, (m_ub, m_eq, n, n), strict=True):
            _check_numbers(f"multipliers.{part}", values, size)


def _check_numbers(name: str, values: Any, size: int) -> None:
    if not isinstance(values, Ratios) or len(values) != size:
        check_fractions(name, list(values) if isinstance(values, Ratios) else values, size)


# -- violations ---------------------------------------------------------------------------------------------------


def optimality_violation(program: Program, x: Ratios, y: "Combined") -> float:
    """Return the largest amount by which x and the multipliers fail to prove an optimum, rounded up."""
    value, least = dot(program.c, x), _least_size(program.c)
    gap = abs(value - y.bound()) / (least + abs(value))
    dual = [miss / (least + abs(Fraction(program.c[j]))) for j, miss in y.misses(program.c)]
    signs = [wrong / least for wrong in y.wrong_signs()]
    return _rounded_up([gap, *dual, *signs, *_infeasibilities(program, x)])


def _is_ray(program: Program, ray: Ratios) -> bool:
    """Whether the ray stays feasible forever, and the cost falls: all finite limits count as 0."""
    lower = np.where(np.isfinite(program.lower), 0.0, -np.inf)
    upper = np.where(np.isfinite(program.upper), 0.0, np.inf)
    no_ub, no_eq = np.zeros_like(program.b_ub), np.zeros_like(program.b_eq)
    directions = Program(program.c, program.A_ub, no_ub, program.A_eq, no_eq, lower, upper)
    return dot(program.c, ray) < 0 and not _infeasibilities(directions, ray)


class Combined:
    """Multipliers over one denominator, and the combination of constraints that they give."""

    def __init__(self, program: Program, multipliers: Multipliers | None) -> None:
        parts = [Ratios.of(part) for part in multipliers or ((),) * 4]
        self.program, self.denominator = program, common_denominator(*parts)
        self.ub, self.eq, self.lower, self.upper = (part.over(self.denominator) for part in parts)

    def bound(self) -> Fraction:
        """Return y.b + lower.l + upper.u without infinite bounds, whose multipliers count as wrong signs."""
        p = self.program
        limits = np.concatenate([p.b_ub, p.b_eq, p.lower, p.upper])
        return dot(limits, Ratios([*self.ub, *self.eq, *self.lower, *self.upper], self.denominator))

    def is_contradiction(self) -> bool:
        """Whether they combine the constraints to 0 > 0."""
        return self.bound() > 0 and not self.misses(np.zeros_like(self.program.c)) and not self.wrong_signs()

    def misses(self, target: Vector) -> list[tuple[int, Fraction]]:
        """Return where the multipliers miss the target, and by how much."""
        columns = WholeRows.of(self.program.rows.T.tocsr(), target, most=0)
        excesses = columns.excesses(Ratios([*self.ub, *self.eq], self.denominator)).tolist()
        for j, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            if low or high:
                excesses[j] += low + high << -columns.exponents[j]
        return [(j, abs(columns.size_of(v, j, self.denominator))) for j, v in enumerate(excesses) if v]

    def wrong_signs(self) -> list[Fraction]:
        """Return the sizes of multipliers that have the wrong sign, or belong to an infinite bound."""
        wrong = [y for y in (*self.ub, *self.upper) if y > 0] + [-y for y in self.lower if y < 0]
        for values, bounds in ((self.lower, self.program.lower), (self.upper, self.program.upper)):
            wrong += [abs(values[j]) for j in np.flatnonzero(~np.isfinite(bounds))]
        return [Fraction(y, self.denominator) for y in wrong if y]


def _infeasibilities(program: Program, x: Ratios) -> list[Fraction]:
    """Return by how much x violates constraints, relative to their limits."""
    broken = []
    m_ub, least = len(program.b_ub), _least_size(program.limits)
    rows = WholeRows.of(program.rows, program.limits)
    for i, excess in enumerate(rows.excesses(x).tolist()):
        if excess > 0 or (excess and i >= m_ub):
            limit = abs(Fraction(program.limits[i]))
            broken.append(abs(rows.size_of(excess, i, x.denominator)) / (least + limit))
    for sign, bounds in ((1, program.lower), (-1, program.upper)):
        limits = Ratios.of(np.where(np.isfinite(bounds), bounds, 0.0))
        pairs = zip(x.numerators, limits.numerators, strict=True)
        missing = [sign * (low * x.denominator - value * limits.denominator) for value, low in pairs]
        for j in np.flatnonzero(np.isfinite(bounds)):
            if missing[j] > 0:
                miss = Fraction(missing[j], x.denominator * limits.denominator)
                broken.append(miss / (1 + abs(Fraction(bounds[j]))))
    return broken


def _least_size(values: Vector) -> Fraction:
    """Return the scale for errors of numbers that are 0: 1, or less if all numbers are smaller."""
    largest = float(np.abs(values).max(initial=0.0))
    return Fraction(min(largest, 1.0)) if largest > 0 else Fraction(1)


def _rounded_up(values: Iterable[Fraction]) -> float:
    """Return the smallest float that is not below the largest value; infinite beyond the range of floats."""
    largest = max(values, default=Fraction(0))
    if largest > Fraction(sys.float_info.max):
        return math.inf
    nearest = float(largest)
    return nearest if Fraction(nearest) >= largest else up(nearest)
