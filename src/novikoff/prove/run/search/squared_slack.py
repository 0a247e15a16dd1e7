"""Support vector machines with squared slack, by Newton's method: what the search for the best bound is made of."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, cg

Floats = NDArray[np.float64]

# Newton's equations are solved directly up to this size, and by conjugate gradients above.
DIRECT = 1024


class SquaredSlack:
    """The minimum of mu/2 ||v||^2 + 1/2 ||(targets - Zv)_+||^2, by Newton's method from the last v.

    The function is a quadratic as long as the same rows are active (below their targets), so that a full step that
    leaves them as they are ends at the minimum. The products of the columns over the active rows are kept, and only
    the rows that came or went are added or taken away.
    """

    def __init__(self, Z: Any) -> None:
        n, d = Z.shape
        self.Z = Z
        self.v, self.products = np.zeros(d), np.zeros(n)
        self.counted = np.zeros(n, dtype=bool)
        self.columns = np.zeros((d, d) if d <= DIRECT else (0, 0))

    def minimise(self, mu: float, targets: Floats, gap: float) -> tuple[Floats, Floats]:
        """v and <z, v> for every row, precise enough to make a gap a thousand times smaller."""
        precision = max(1e-3 * gap, 1e-12)
        smallest, idle = math.inf, 0
        for _ in range(100):
            missing = np.maximum(targets - self.products, 0.0)
            pull = np.asarray(self.Z.T @ missing).ravel()
            gradient = mu * self.v - pull
            size = float(np.linalg.norm(gradient))
            if size <= precision * np.linalg.norm(pull):
                break
            step = self._newton(mu, missing > 0, targets, gradient)
            # Rounding has the last word: steps this small that bring the gradient no nearer to 0 lead nowhere.
            lost = np.linalg.norm(step) <= 1e-9 * np.linalg.norm(self.v) and size > 0.5 * smallest
            idle = idle + 1 if lost else 0
            if idle > 3 or not np.isfinite(step).all():
                break
            smallest = min(size, smallest)
            self._move_along(step, mu, targets)
        return self.v, self.products

    def _newton(self, mu: float, active: NDArray[np.bool_], targets: Floats, gradient: Floats) -> Floats:
        k, d = int(np.count_nonzero(active)), len(self.v)
        if d <= DIRECT and k > d:
            self._count(active)
            return _solve(self.columns, mu, -gradient)
        rows = self._rows(active)
        if k <= DIRECT:  # fewer rows than columns: the same equations, written for the rows
            weights = _solve(_plain(rows @ rows.T), mu, targets[active])
            return np.asarray(rows.T @ weights).ravel() - self.v
        apply = LinearOperator((d, d), lambda x: mu * x.ravel() + rows.T @ (rows @ x.ravel()), dtype=np.float64)
        step, _ = cg(apply, -gradient, rtol=1e-3, maxiter=300)
        return np.asarray(step, dtype=np.float64)

    def _rows(self, which: NDArray[np.bool_]) -> Any:
        return self.Z if which.all() else self.Z[np.flatnonzero(which)]

    def _count(self, active: NDArray[np.bool_]) -> None:
        came, went = active & ~self.counted, self.counted & ~active
        if 2 * np.count_nonzero(active != self.counted) > np.count_nonzero(active):
            self.columns, came, went = np.zeros_like(self.columns), active, np.zeros_like(active)
        for sign, which in ((1.0, came), (-1.0, went)):
            if which.any():
                rows = self._rows(which)
                self.columns += sign * _plain(rows.T @ rows)
        self.counted = active

    def _move_along(self, step: Floats, mu: float, targets: Floats) -> None:
        """Along the step, to its end or to where the function starts to rise."""
        along = np.asarray(self.Z @ step).ravel()
        missing = targets - self.products
        level, square = mu * float(self.v @ step), mu * float(step @ step)

        def rise(t: float) -> float:
            return level + t * square - float(along @ np.maximum(missing - t * along, 0.0))

        low, high = 0.0, 1.0
        if rise(1.0) > 1e-3 * abs(rise(0.0)):
            while high - low > 1e-3 * high and high > 1e-12:
                middle = (low + high) / 2
                low, high = (middle, high) if rise(middle) < 0 else (low, middle)
        self.v = self.v + high * step
        # Afresh, not by adding `along`: the rounding of many steps would pile up in the small slacks.
        self.products = np.asarray(self.Z @ self.v).ravel()


def _solve(products: Floats, mu: float, right: Floats) -> Floats:
    """(products + mu I) x = right; where rounding has made that indefinite, by its eigenvalues, none below mu."""
    matrix = products + mu * np.eye(len(products))
    try:
        factor = linalg.cho_factor(matrix, check_finite=False)
        x = linalg.cho_solve(factor, right, check_finite=False)
        return np.asarray(x + linalg.cho_solve(factor, right - matrix @ x, check_finite=False))
    except linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray(vectors @ ((vectors.T @ right) / np.maximum(values, mu)))


def _plain(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
