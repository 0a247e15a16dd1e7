"""Candidates for the answer to a linear program, each with the amount by which its proof fails."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from novikoff.prove.programs.check import (
    About,
    Multipliers,
    ProgramCertificate,
    contradiction_violation,
    optimality_violation,
    point_violation,
    ray_violation,
)
from novikoff.prove.programs.program import Program, Vector
from novikoff.prove.programs.ratios import Ratios, WholeRows, dot


class Candidate(NamedTuple):
    """A claim with what should prove it; it does if the violation, as the check measures it, is 0."""

    claim: str
    violation: float
    x: Ratios | None = None
    multipliers: Multipliers | None = None
    ray: Ratios | None = None

    def certificate(self, program: Program) -> ProgramCertificate:
        """The certificate of the claim, or of a point and multipliers that obey everything only approximately."""
        about = About.of(program)
        if self.violation > 0:
            return ProgramCertificate("approximate", self.violation, about, self.x, self.multipliers)
        value = dot(program.c, self.x) if self.claim == "optimal" and self.x is not None else None
        return ProgramCertificate(self.claim, 0.0, about, self.x, self.multipliers, self.ray, value)


def optimal(program: Program, x: Iterable[Any], y: Iterable[Any]) -> Candidate:
    """That x is an optimum, from it and the multipliers of the rows.

    >>> from novikoff.prove.programs.program import read_program
    >>> program = read_program([1, 1], A_ub=[[-1, -2]], b_ub=[-4])
    >>> optimal(program, [0, 2], [-0.5]).violation
    0.0
    """
    point, multipliers = Ratios.of(x), _completed(program, y, program.c)
    return Candidate("optimal", optimality_violation(program, point, multipliers), point, multipliers)


def infeasible(program: Program, y: Iterable[Any]) -> Candidate:
    """That no x obeys the constraints, from multipliers of the rows."""
    multipliers = _completed(program, y, np.zeros_like(program.c))
    return Candidate("infeasible", contradiction_violation(program, multipliers), multipliers=multipliers)


def contradictory_bounds(program: Program, j: int) -> Candidate:
    """That the lower bound of a variable is above its upper one."""
    n, m_ub, m_eq = len(program.c), len(program.b_ub), len(program.b_eq)
    unit = [int(i == j) for i in range(n)]
    both = Multipliers(Ratios([0] * m_ub), Ratios([0] * m_eq), Ratios(unit), Ratios([-v for v in unit]))
    return Candidate("infeasible", contradiction_violation(program, both), multipliers=both)


def unbounded(program: Program, x: Iterable[Any], ray: Iterable[Any]) -> Candidate:
    """That the cost falls forever along the ray from x."""
    point, direction = Ratios.of(x), Ratios.of(ray)
    violation = max(ray_violation(program, direction), point_violation(program, point))
    return Candidate("unbounded", violation, point, ray=direction)


def _completed(program: Program, y: Iterable[Any], target: Vector) -> Multipliers:
    """Multipliers of the rows, with those of the bounds that take what is missing to the target."""
    rows = Ratios.of(y)
    columns = WholeRows.of(program.rows.T.tocsr(), target, most=0)
    least = min(columns.exponents, default=0)
    pairs = zip(columns.excesses(rows).tolist(), columns.exponents, strict=True)
    rest = [-value << exponent - least for value, exponent in pairs]
    m_ub, denominator = len(program.b_ub), rows.denominator << -least
    lower, upper = [max(v, 0) for v in rest], [min(v, 0) for v in rest]
    return Multipliers(rows[:m_ub], rows[m_ub:], Ratios(lower, denominator), Ratios(upper, denominator))
