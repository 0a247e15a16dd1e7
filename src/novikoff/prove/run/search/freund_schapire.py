"""The hyperplane and the margin that minimise the bound of Freund and Schapire (1999).

It is the hyperplane of some support vector machine with squared slack, which Newton's method finds.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.examples import Examples
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.prove.run.bounds import FreundSchapireBound, ScaledPoints, check_passes_and_margin
from novikoff.prove.separable.margin import Separator

if TYPE_CHECKING:
    from novikoff.prove.separable.certificate import Certificate

Floats = NDArray[np.float64]

# The search ends when value and lower are this close, relatively; rounding may end it before.
GOAL = 1e-10

# Beyond this many numbers the search is slow.
SEARCHED_NUMBERS = 200_000

# The search for log(mu) ends here (points have length at most 1): below, Newton's equations are numerically singular.
LEAST = math.log(1e-10)
# The step, and the largest log(mu), of the search for a change of sign.
STRIDE, MOST = 2.0, 100.0

# Newton's equations are solved directly up to this size, and by conjugate gradients above.
DIRECT = 1024


def freund_schapire_bound(
    X: Any,
    y: ArrayLike,
    *,
    separator: Separator | None = None,
    margin: float | None = None,
    passes: int = 1,
    fit_intercept: bool = True,
) -> FreundSchapireBound:
    """Bound the mistakes of a perceptron in `passes` passes over data that need not be separable.

    With a separator and a margin: the theorem's bound for them. With a separator alone: for its best margin. With
    neither: for the best hyperplane and margin, which is never more than (R/gamma)^2 on separable data, nor than the
    number of examples seen. A margin alone is refused: the best hyperplane for one margin is not a convex problem, and
    never better than the best of all.

    >>> X, y = [[1.0, 3.0], [2.0, -1.0], [1.0, 0.0], [-2.0, 1.0], [-1.0, -2.0], [0.5, 0.5]], [1, 1, 1, -1, -1, -1]
    >>> print(freund_schapire_bound(X, y, passes=8))  # doctest: +NORMALIZE_WHITESPACE
    At most 31 mistakes in 8 passes: ((R + sqrt(T) D)/gamma)^2 <= 31.862 with R = 3.31662, D = 3.23823 and
    gamma = 2.21019. No hyperplane and margin give less than 31.8619.
    >>> freund_schapire_bound(X, y, passes=8, separator=Separator([1.0, 0.0]), margin=1.0).bound
    57
    """
    check_passes_and_margin(passes, 1.0 if margin is None else margin)
    if margin is not None and separator is None:
        raise ValueError("margin= was given without separator=; give both, the separator alone, or neither")
    problem = ScaledPoints.of(X, y, int(passes), fit_intercept)
    if separator is None:
        v, a = _smallest(problem)
    else:
        v = problem.folded(separator, margin)
        a = problem.slack(problem.Z @ v)
    return problem.result(v, a, margin)


def allowance(
    examples: Examples, certificate: "Certificate | None", *, passes: int = 1, fit_intercept: bool = True
) -> FreundSchapireBound | None:
    """Return the bound for two classes that no hyperplane is known to separate, if the search is quick."""
    if certificate is None or certificate.mistake_bound is not None or len(examples.classes) > 2:
        return None
    if certificate.kernel is not None:
        return None
    if examples.n_rows * examples.n_columns > SEARCHED_NUMBERS:
        return None
    X, y = examples.in_one_piece()
    return freund_schapire_bound(X, y, passes=passes, fit_intercept=fit_intercept)


class _Best:
    """The best v and the best a seen so far."""

    def __init__(self, problem: ScaledPoints) -> None:
        n, d = problem.Z.shape
        self.problem = problem
        self.v, self.value = np.zeros(d), problem.root * math.sqrt(n)
        self.a = np.ones(n)
        self.lower = problem.at_least(self.a)

    def consider(self, v: Floats, products: Floats, a: Floats) -> None:
        """Keep v at its best length, and a, if better."""
        length = float(np.linalg.norm(v))
        if length > 0:
            # Slightly longer than best, so that `at_most` adds no slack by rounding up: sqrt(T) may be huge.
            doubt = 2 * (self.problem.terms + 8) * UNIT_ROUNDOFF * (1 + self.problem.radius * length)
            v = v * self.problem.best_length(products - doubt, length)
            value, _ = self.problem.at_most(v)
            if value < self.value:
                self.v, self.value = v, value
        if a.any() and (lower := self.problem.at_least(a)) > self.lower:
            self.a, self.lower = a, lower

    @property
    def gap(self) -> float:
        return (self.value - self.lower) / self.value


def _smallest(problem: ScaledPoints) -> tuple[Floats, Floats]:
    """Return the v of the smallest f, or nearly, and the a that proves it.

    Where f is smooth its gradient vanishes exactly at the minimum of mu/2 ||v||^2 + 1/2 ||xi||^2, a support vector
    machine with squared slack, for mu = R ||xi|| / (sqrt(T) ||v||). Then xi, suitably scaled, is the solution of the
    dual. The ratio of ||v|| mu to ||xi|| grows with mu, since it is the slope of a convex curve (the least ||xi|| for
    every ||v||), so the search is for one number. f is not smooth at v = 0, where the search starts, and where xi = 0,
    at the hyperplane of the largest margin, which `_widen` finds.
    """
    n, d = problem.Z.shape
    if hasattr(problem.Z, "indices") and len(used := np.unique(problem.Z.indices)) < d:
        v = np.zeros(d)  # columns that no row has stay 0
        v[used], a = _smallest(replace(problem, Z=problem.Z[:, used]))
        return v, a
    best, ones = _Best(problem), np.ones(n)
    direction = problem.total(ones)
    if problem.nothing_helps or not direction.any():
        return best.v, best.a
    svm = SquaredSlack(problem.Z)
    v = direction / np.linalg.norm(direction)
    v = v * problem.best_length(problem.Z @ v, 1.0)
    if not v.any():
        return best.v, best.a
    mu = problem.radius * np.linalg.norm(problem.slack(problem.Z @ v)) / (problem.root * np.linalg.norm(v))

    def slope(x: float) -> float:
        found = _slope(problem, svm, math.exp(x), ones, best)
        if found > 0 and svm.products.min() > 0:  # it may never get to 0
            _widen(problem, svm, math.exp(x), best)
        return 0.0 if best.gap <= GOAL else found

    low = high = math.log(max(float(mu), math.exp(LEAST)))
    below = above = slope(low)
    while below > 0 and low > LEAST:
        low = max(low - STRIDE, LEAST)
        below = slope(low)
    while above < 0 and high < MOST:
        high += STRIDE
        above = slope(high)
    if below < 0 < above:
        from scipy.optimize import brentq

        brentq(slope, low, high, maxiter=60, disp=False)
    return best.v, best.a


def _slope(problem: ScaledPoints, svm: "SquaredSlack", mu: float, ones: Floats, best: _Best) -> float:
    """Return log of mu ||v|| sqrt(T) / (R ||xi||) for the v of this mu: negative if mu is too small."""
    gap = best.gap
    v, products = svm.minimise(mu, ones, gap)
    xi = problem.slack(products)
    best.consider(v, products, xi)
    if not xi.any():
        return math.inf
    slope = math.log(mu * np.linalg.norm(v) * problem.root / (problem.radius * np.linalg.norm(xi)))
    if abs(slope) < 0.01 * gap and best.gap < 0.5 * gap:  # too close to 0 for its sign to be reliable
        return _slope(problem, svm, mu, ones, best)
    return slope


def _widen(problem: ScaledPoints, svm: "SquaredSlack", mu: float, best: _Best) -> None:
    """Maximise the margin by the method of multipliers: raise the target of a row by its shortfall, and repeat.

    It stops when this no longer helps, which is soon if some slack is better than none.
    """
    alpha = problem.slack(svm.products) / mu
    idle = 0
    while best.gap > GOAL and idle < 2:
        gap = best.gap
        v, products = svm.minimise(mu, 1 + mu * alpha, best.gap)
        alpha = np.maximum(alpha + (1 - products) / mu, 0.0)
        best.consider(v, products, alpha)
        idle = 0 if best.gap < 0.7 * gap else idle + 1


# -- support vector machines with squared slack ------------------------------------------------------------------------


class SquaredSlack:
    """The minimum of mu/2 ||v||^2 + 1/2 ||(targets - Zv)_+||^2, by Newton's method from the last v.

    The function is quadratic as long as the same rows are active (below their targets), so that a full step that does
    not change them ends at the minimum.
    """

    def __init__(self, Z: Any) -> None:
        n, d = Z.shape
        self.Z = Z
        self.v, self.products = np.zeros(d), np.zeros(n)

    def minimise(self, mu: float, targets: Floats, gap: float) -> tuple[Floats, Floats]:
        """Return v and <z, v> for every row, precise enough to make a gap a thousand times smaller."""
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
            # The limit of rounding: steps this small that do not reduce the gradient make no progress.
            lost = np.linalg.norm(step) <= 1e-9 * np.linalg.norm(self.v) and size > 0.5 * smallest
            idle = idle + 1 if lost else 0
            if idle > 3 or not np.isfinite(step).all():
                break
            smallest = min(size, smallest)
            self._move_along(step, mu, targets)
        return self.v, self.products

    def _newton(self, mu: float, active: NDArray[np.bool_], targets: Floats, gradient: Floats) -> Floats:
        k, d = int(np.count_nonzero(active)), len(self.v)
        rows = self.Z if active.all() else self.Z[np.flatnonzero(active)]
        if d <= DIRECT and k > d:
            return _solve(_plain(rows.T @ rows), mu, -gradient)
        if k <= DIRECT:  # fewer rows than columns: the same equations, written for the rows
            weights = _solve(_plain(rows @ rows.T), mu, targets[active])
            return np.asarray(rows.T @ weights).ravel() - self.v
        from scipy.sparse.linalg import LinearOperator, cg

        apply = LinearOperator((d, d), lambda x: mu * x.ravel() + rows.T @ (rows @ x.ravel()), dtype=np.float64)
        step, _ = cg(apply, -gradient, rtol=1e-3, maxiter=300)
        return np.asarray(step, dtype=np.float64)

    def _move_along(self, step: Floats, mu: float, targets: Floats) -> None:
        """Move along the step, to its end or to where the function starts to rise."""
        along = np.asarray(self.Z @ step).ravel()
        missing = targets - self.products
        level, square = mu * float(self.v @ step), mu * float(step @ step)

        def rise(t: float) -> float:
            return level + t * square - float(along @ np.maximum(missing - t * along, 0.0))

        end = 1.0
        if rise(0.0) < 0 and rise(1.0) > 1e-3 * abs(rise(0.0)):
            from scipy.optimize import brentq

            end = float(brentq(rise, 0.0, 1.0, xtol=1e-12, rtol=1e-3))
        self.v = self.v + end * step
        # Recomputed, not by adding `along`: the rounding errors of many steps would accumulate in the small slacks.
        self.products = np.asarray(self.Z @ self.v).ravel()


def _solve(products: Floats, mu: float, right: Floats) -> Floats:
    """Solve (products + mu I) x = right; if rounding made that indefinite, by eigenvalues raised to at least mu."""
    from scipy import linalg

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
