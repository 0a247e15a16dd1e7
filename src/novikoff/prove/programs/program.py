"""A linear program in SciPy's form: minimise c.x where A_ub x <= b_ub, A_eq x = b_eq, and x is within bounds.

Its numbers are floats, taken as exact.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.csr import as_csr, without_repeats
from novikoff.prove.exact.given_numbers import exact_floats, place_in

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
        """The inequalities, then the equations, in the order of the multipliers."""
        from scipy.sparse import vstack

        return vstack([self.A_ub, self.A_eq], format="csr")

    @property
    def limits(self) -> Vector:
        """The right-hand sides of `rows`."""
        return np.concatenate([self.b_ub, self.b_eq])


def read_program(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None, bounds: Any = (0, None)
) -> Program:
    """Return SciPy's arguments as a `Program`; raise ValueError for mismatched shapes and invalid numbers.

    Floats are taken as exact fractions; an integer that float64 cannot represent is refused.

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
    """Return a matrix as exact floats; a sparse one stays sparse."""
    if not hasattr(A, "tocsr"):
        return exact_floats(A, name)
    rows = without_repeats(as_csr(A))
    data = exact_floats(rows.data, name, place=place_in(rows))
    return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)


def _bounds(bounds: Any, n: int) -> tuple[Vector, Vector]:
    """Return lower and upper bounds from one pair for all variables, or from one pair for each."""
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
