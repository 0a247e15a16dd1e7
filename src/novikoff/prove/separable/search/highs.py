"""HiGHS solves a linear program in floats: its result is the start of a proof, not part of one."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock
from novikoff.prove.exact.ratios import Vector

# The tolerances for HiGHS, whose default is 1e-7; and the numbers that it treats as infinite, or rejects as a cost.
TOLERANCE = 1e-9
INFINITE, MOST_COST = 1e20, 1e15

# For rows with a largest entry of about 1, a program cannot distinguish a product below this from 0.
ZERO = 1e-7

States = NDArray[np.int8]
# The states of a variable in HiGHS' order.
LOWER, BASIC, UPPER, FREE = range(4)


class Guess(NamedTuple):
    """The result of HiGHS: a state for every variable and row, a point, and multipliers of the rows."""

    states: States
    x: Vector
    y: Vector
    iterations: int
    is_optimal: bool
    cost: float = 0.0


def solved_in_floats(
    c: Vector,
    A: Any,
    row_bounds: tuple[Vector, Vector],
    bounds: tuple[Vector, Vector],
    clock: Clock,
    states: States | None = None,
) -> Guess | None:
    """Minimise c.x with A x and x within their bounds, optionally from given states; None if HiGHS has no basis."""
    import highspy

    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = A.shape
    model.col_cost_ = np.clip(c, -MOST_COST, MOST_COST)
    model.col_lower_, model.col_upper_ = bounds
    model.row_lower_, model.row_upper_ = row_bounds
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = A.indptr, A.indices, A.data
    highs = highspy.Highs()
    options: dict[str, Any] = {"output_flag": False, "solver": "simplex"}
    options |= {f"{side}_feasibility_tolerance": TOLERANCE for side in ("primal", "dual")}
    for name, value in options.items():
        highs.setOptionValue(name, value)
    if highs.passModel(model) == highspy.HighsStatus.kError:
        return None
    if states is not None:
        highs.setBasis(_as_basis(states, A.shape[1]))
    # A problem that presolve alone decides has no basis.
    for presolve in ("choose", "off") if states is None else ("off",):
        highs.setOptionValue("presolve", presolve)
        if np.isfinite(clock.left()):
            highs.setOptionValue("time_limit", highs.getRunTime() + clock.left())
        if highs.run() == highspy.HighsStatus.kError or clock.is_over():
            return None
        basis = highs.getBasis()
        if basis.valid and highs.getModelStatus() != highspy.HighsModelStatus.kTimeLimit:
            break
    else:
        return None
    found = highs.getSolution()
    return Guess(
        np.array([int(state) for part in (basis.col_status, basis.row_status) for state in part], dtype=np.int8),
        np.array(found.col_value),
        np.array(found.row_dual),
        max(int(highs.getInfo().simplex_iteration_count), 0),
        highs.getModelStatus() == highspy.HighsModelStatus.kOptimal,
        highs.getInfo().objective_function_value,
    )


def _as_basis(states: States, n_columns: int) -> Any:
    import highspy

    kinds = [highspy.HighsBasisStatus(kind) for kind in range(4)]
    basis = highspy.HighsBasis()
    basis.valid = True
    basis.col_status = [kinds[state] for state in states[:n_columns]]
    basis.row_status = [kinds[state] for state in states[n_columns:]]
    return basis
