"""A linear program as SciPy's `linprog` is given it: minimise c.x where A_ub x <= b_ub, A_eq x = b_eq, and bounds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.given_numbers import exact_floats

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise c.x where A_ub x <= b_ub, A_eq x = b_eq and lower <= x <= upper, in float64."""

    c: Vector
    A_ub: Vector
    b_ub: Vector
    A_eq: Vector
    b_eq: Vector
    lower: Vector
    upper: Vector

    @property
    def rows(self) -> Vector:
        """The inequalities, then the equations: what every multiplier belongs to."""
        return np.vstack([self.A_ub, self.A_eq])

    @property
    def limits(self) -> Vector:
        """The right-hand sides of `rows`."""
        return np.concatenate([self.b_ub, self.b_eq])

    def with_cost(self, c: Vector) -> "Program":
        """The same constraints with another cost; with cost 0 only feasibility is asked."""
        return Program(c, self.A_ub, self.b_ub, self.A_eq, self.b_eq, self.lower, self.upper)


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


def _constraints(A: Any, b: Any, which: str, n: int) -> tuple[Vector, Vector]:
    if A is None and b is None:
        return np.zeros((0, n)), np.zeros(0)
    if A is None or b is None:
        given, missing = ("b", "A") if A is None else ("A", "b")
        raise ValueError(f"{given}_{which} was given without {missing}_{which}: pass both, or neither")
    matrix = exact_floats(A, f"A_{which}")
    limits = exact_floats(b, f"b_{which}").ravel()
    if matrix.size == 0 and limits.size == 0:
        return np.zeros((0, n)), np.zeros(0)
    if matrix.ndim != 2 or matrix.shape[1] != n:
        raise ValueError(f"A_{which} has shape {matrix.shape}, but c has {n} entries: A_{which} needs {n} columns")
    if len(limits) != len(matrix):
        raise ValueError(f"A_{which} has {len(matrix)} rows, but b_{which} has {len(limits)} entries")
    return matrix, limits


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
