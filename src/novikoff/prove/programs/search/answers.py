"""Candidates for the answer to a linear program, each with the amount by which its proof fails."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from novikoff.prove.programs.check import (
    ZERO,
    About,
    Multipliers,
    Numbers,
    ProgramCertificate,
    contradiction_violation,
    dot,
    fractions,
    optimality_violation,
    point_violation,
    products,
    ray_violation,
)
from novikoff.prove.programs.program import Program, Vector


class Candidate(NamedTuple):
    """A claim with what should prove it; it does if the violation, as the check measures it, is 0."""

    claim: str
    violation: float
    x: Numbers | None = None
    multipliers: Multipliers | None = None
    ray: Numbers | None = None

    def certificate(self, program: Program) -> ProgramCertificate:
        """The certificate of the claim, or of a point and multipliers that obey everything only approximately."""
        about = About.of(program)
        if self.violation > 0:
            return ProgramCertificate("approximate", self.violation, about, self.x, self.multipliers)
        value = dot(program.c, self.x or ()) if self.claim == "optimal" else None
        return ProgramCertificate(self.claim, 0.0, about, self.x, self.multipliers, self.ray, value)


def optimal(program: Program, x: Iterable[Any], y: Iterable[Any]) -> Candidate:
    """That x is an optimum, from it and the multipliers of the rows.

    >>> from novikoff.prove.programs.program import read_program
    >>> program = read_program([1, 1], A_ub=[[-1, -2]], b_ub=[-4])
    >>> optimal(program, [0, 2], [-0.5]).violation
    0.0
    """
    point, multipliers = fractions(x), _completed(program, y, program.c)
    return Candidate("optimal", optimality_violation(program, point, multipliers), point, multipliers)


def infeasible(program: Program, y: Iterable[Any]) -> Candidate:
    """That no x obeys the constraints, from multipliers of the rows."""
    multipliers = _completed(program, y, np.zeros_like(program.c))
    return Candidate("infeasible", contradiction_violation(program, multipliers), multipliers=multipliers)


def contradictory_bounds(program: Program, j: int) -> Candidate:
    """That the lower bound of a variable is above its upper one."""
    rows, n = fractions(np.zeros(len(program.limits))), len(program.c)
    unit, m_ub = fractions(np.arange(n) == j), len(program.b_ub)
    both = Multipliers(rows[:m_ub], rows[m_ub:], unit, [-v for v in unit])
    return Candidate("infeasible", contradiction_violation(program, both), multipliers=both)


def unbounded(program: Program, x: Iterable[Any], ray: Iterable[Any]) -> Candidate:
    """That the cost falls forever along the ray from x."""
    point, direction = fractions(x), fractions(ray)
    violation = max(ray_violation(program, direction), point_violation(program, point))
    return Candidate("unbounded", violation, point, ray=direction)


def _completed(program: Program, y: Iterable[Any], target: Vector) -> Multipliers:
    """Multipliers of the rows, with those of the bounds that take what is missing to the target."""
    rows = fractions(y)
    rest = [want - got for want, got in zip(fractions(target), products(program.rows.T, rows), strict=True)]
    m_ub = len(program.b_ub)
    return Multipliers(rows[:m_ub], rows[m_ub:], [max(v, ZERO) for v in rest], [min(v, ZERO) for v in rest])
