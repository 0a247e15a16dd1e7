"""A linear program as one cone: nonnegative form, and the self-dual form of Goldman and Tucker (1956).

In nonnegative form a program is: minimise c.x where A x = b and x >= 0. Its optimality is one system,

    A x = b t,    s = c t - A'y,    k = b.y - c.x,    (x, t, s, k) >= 0,

with a solution in which of every pair (x_j, s_j) and of (t, k) exactly one number is positive. If t > 0, then x/t and
y/t are optimal. If k > 0, then y or x proves that the program has no solution, or no least one. Write q = (x, t),
p = (s, k), M = [A, -b] and C = [[0, c], [-c', 0]]. The system reads: q in ker M, p in C q + im M', q and p >= 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from novikoff.prove.programs.program import Program, Vector

Places = NDArray[np.intp]
RANK_TOLERANCE = 1e-11
NOWHERE = -1
BEYOND = 1e9  # beyond the exponent of any float


@dataclass(frozen=True, eq=False)
class NonnegativeForm:
    """Minimise c.v where A v = b and v >= 0; the program's own variables are x = shift + unfold v.

    `lower_slack[j]`, `upper_slack[j]` and `row_slack[i]` are the places in v that measure how far a bound or an
    inequality is from holding with equality; -1 where there is no such bound. The rows are the program's inequalities,
    its equations, and one row for every variable with two bounds.
    """

    c: Vector
    A: Vector
    b: Vector
    shift: Vector
    unfold: Vector
    lower_slack: Places
    upper_slack: Places
    row_slack: Places


def nonnegative_form(program: Program) -> NonnegativeForm:
    """Shift or mirror every variable to one that is at least 0, split the free ones, drop the fixed ones."""
    low, high = np.isfinite(program.lower), np.isfinite(program.upper)
    fixed = program.lower == program.upper
    free = np.flatnonzero(~low & ~high)
    kept = np.flatnonzero(~fixed)
    m_ub, n = program.A_ub.shape
    shift = np.where(low, program.lower, np.where(high, program.upper, 0.0))
    S = np.zeros((n, len(kept) + len(free)))
    S[kept, np.arange(len(kept))] = np.where(low[kept] | ~high[kept], 1.0, -1.0)
    S[free, len(kept) + np.arange(len(free))] = -1.0
    boxed = np.flatnonzero(low & high & ~fixed)
    rows, width = program.rows, S.shape[1]
    place = np.full(n, NOWHERE)
    place[kept] = np.arange(len(kept))
    A = np.zeros((len(rows) + len(boxed), width + m_ub + len(boxed)))
    A[: len(rows), :width] = rows @ S
    A[np.arange(m_ub), width + np.arange(m_ub)] = 1.0
    box_rows, box_slacks = len(rows) + np.arange(len(boxed)), width + m_ub + np.arange(len(boxed))
    A[box_rows, place[boxed]] = A[box_rows, box_slacks] = 1.0
    b = np.concatenate([program.limits - rows @ shift, (program.upper - program.lower)[boxed]])
    c = np.concatenate([program.c @ S, np.zeros(m_ub + len(boxed))])
    lower_slack = np.where(low, place, NOWHERE)
    upper_slack = np.where(high & ~low, place, NOWHERE)
    upper_slack[boxed] = box_slacks
    return NonnegativeForm(c, A, b, shift, S, lower_slack, upper_slack, width + np.arange(m_ub))


def equilibrate(A: Vector, rounds: int = 8) -> tuple[Vector, Vector]:
    """Powers of two for rows and columns that bring the entries near 1: geometric means, in turn."""
    nonzero = A != 0
    size = np.log2(np.abs(A), where=nonzero, out=np.zeros_like(A))
    r, k = np.zeros(A.shape[0]), np.zeros(A.shape[1])
    for _ in range(rounds):
        r = -_middle(size + k, nonzero, axis=1)
        k = -_middle(size + r[:, None], nonzero, axis=0)
    return 2.0 ** np.rint(r), 2.0 ** np.rint(k)


def _middle(size: Vector, nonzero: NDArray[np.bool_], axis: int) -> Vector:
    """Halfway between the largest and the smallest in every line; 0 for a line without entries."""
    largest = size.max(axis=axis, where=nonzero, initial=-BEYOND)
    smallest = size.min(axis=axis, where=nonzero, initial=BEYOND)
    middle: Vector = (largest + smallest) / 2
    return middle


@dataclass(frozen=True, eq=False)
class SelfDualCone:
    """The subspace of (q, p) for an equilibrated program, and how to read its nonnegative points as answers."""

    form: NonnegativeForm
    M: Vector
    c: Vector
    rank: int
    row_scale: Vector
    column_scale: Vector
    b_size: float
    c_size: float

    @property
    def partner(self) -> Places:
        """The place of s_j for x_j, and the other way round; of k for t."""
        half = len(self.c) + 1
        return np.roll(np.arange(2 * half), half)

    def stretched(self, stretch: Vector) -> Vector:
        """An orthonormal basis of the subspace after every coordinate has been multiplied by its stretch.

        It is computed from M and c themselves: a basis of the subspace before stretching has already lost the digits
        that matter in coordinates that are stretched much.
        """
        q_stretch, p_stretch = np.split(stretch, 2)
        kernel = kernel_basis(self.M / q_stretch, self.rank)
        image = _image(self.M * p_stretch, self.rank)
        q = kernel / q_stretch[:, None]
        p = p_stretch[:, None] * np.vstack([np.outer(self.c, q[-1]), -(self.c @ q[:-1])])
        p -= image @ (image.T @ p)
        tied = _image(np.vstack([kernel, p]).T, kernel.shape[1])
        return np.hstack([tied, np.vstack([np.zeros_like(image), image])])

    def read(self, point: Vector) -> tuple[float, Vector, Vector, Vector]:
        """t, and x, s and y in the form's own units, not yet divided by t."""
        q, p = np.split(point, 2)
        x, t = q[:-1] * self.column_scale * self.b_size, float(q[-1])
        s = p[:-1] * self.c_size / self.column_scale
        right = np.append(self.c * t, -(self.c @ q[:-1])) - p
        y = np.linalg.lstsq(self.M.T, right, rcond=RANK_TOLERANCE)[0] if len(self.M) else np.zeros(0)
        return t, x, s, y * self.row_scale * self.c_size


def self_dual_cone(form: NonnegativeForm) -> SelfDualCone:
    """The self-dual form of the equilibrated program."""
    r, k = equilibrate(form.A)
    A, b, c = form.A * r[:, None] * k, form.b * r, form.c * k
    b_size, c_size = _power_of_two(b), _power_of_two(c)
    M = np.column_stack([A, -b / b_size])
    return SelfDualCone(form, M, c / c_size, rank_of(M), r, k, b_size, c_size)


def rank_of(M: Vector) -> int:
    """The number of independent rows, as far as float64 can tell."""
    if M.size == 0:
        return 0
    diagonal = np.abs(np.diag(linalg.qr(_unit_rows(M).T, mode="r", pivoting=True)[0]))
    return int((diagonal > RANK_TOLERANCE * max(diagonal[0], 1e-300)).sum())


def kernel_basis(M: Vector, rank: int) -> Vector:
    """An orthonormal basis of ker M."""
    if rank == 0:
        return np.eye(M.shape[1])
    Q, _, _ = linalg.qr(_unit_rows(M).T, pivoting=True)
    return Q[:, rank:]


def _image(M: Vector, rank: int) -> Vector:
    """An orthonormal basis of im M'. Large rows of M' come first: then QR is precise in small ones (Powell, Reid)."""
    if rank == 0:
        return np.zeros((M.shape[1], 0))
    columns = _unit_rows(M).T
    order = np.argsort(-np.abs(columns).max(axis=1), kind="stable")
    Q, _, _ = linalg.qr(columns[order], mode="economic", pivoting=True)
    basis = np.empty((M.shape[1], rank))
    basis[order] = Q[:, :rank]
    return basis


def _unit_rows(M: Vector) -> Vector:
    largest = np.abs(M).max(axis=1)
    return M / np.where(largest > 0, largest, 1.0)[:, None]


def _power_of_two(values: Vector) -> float:
    largest = float(np.abs(values).max(initial=0.0))
    return float(2.0 ** np.rint(np.log2(largest))) if largest > 0 else 1.0
