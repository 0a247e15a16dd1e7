"""The plane and the margin for which the bound of Freund and Schapire (1999) is the smallest.

It is the plane of some support vector machine with squared slack, which Newton's method finds.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.examples import Examples
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.prove.run.bounds import FreundSchapireBound, ScaledPoints
from novikoff.prove.separable.margin import Separator

if TYPE_CHECKING:
    from novikoff.prove.separable.certificate import Certificate

Floats = NDArray[np.float64]

# The search ends when value and lower are this close, relatively; rounding may end it before.
GOAL = 1e-10

# Beyond so many numbers the search takes more than a moment.
SEARCHED_NUMBERS = 200_000

# The search for mu ends here (points have length at most 1): smaller ones would make Newton's equations as singular as
# rounding makes them.
SMALLEST_MU = 1e-10

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
    """How many mistakes a perceptron can make in `passes` passes over data that need not be separable.

    With a separator and a margin: what the theorem says for them. With a separator alone: for its best margin. With
    neither: for the best plane and margin, which is never more than (R/gamma)^2 on separable data, nor than the
    number of examples seen. A margin alone is refused: the best plane for one margin is not a convex problem, and
    never better than the best of all.

    >>> X, y = [[1.0, 3.0], [2.0, -1.0], [1.0, 0.0], [-2.0, 1.0], [-1.0, -2.0], [0.5, 0.5]], [1, 1, 1, -1, -1, -1]
    >>> print(freund_schapire_bound(X, y, passes=8))  # doctest: +NORMALIZE_WHITESPACE
    At most 31 mistakes in 8 passes: ((R + sqrt(T) D)/gamma)^2 <= 31.862 with R = 3.31662, D = 3.23823 and
    gamma = 2.21019. No plane and margin promise less than 31.8619.
    >>> freund_schapire_bound(X, y, passes=8, separator=Separator([1.0, 0.0]), margin=1.0).bound
    57
    """
    if isinstance(passes, bool) or not isinstance(passes, int | np.integer) or passes < 1:
        raise ValueError(f"passes={passes!r} is not a number of passes: a whole number from 1 on")
    if margin is not None and not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin={margin!r} is not a positive finite number")
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
    """The bound that is left on two classes that no plane is known to separate, where the search is quick."""
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
        """Take v at its best length, and a."""
        length = float(np.linalg.norm(v))
        if length > 0:
            # A little longer than best, so that no slack is left that only `at_most` sees: sqrt(T) may be huge.
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
    """The v of the smallest f, or nearly, and the a that proves it.

    Where f is smooth its gradient vanishes exactly at the minimum of mu/2 ||v||^2 + 1/2 ||xi||^2, a support vector
    machine with squared slack, for mu = R ||xi|| / (sqrt(T) ||v||). Then xi, suitably scaled, is the solution of the
    dual. The ratio of ||v|| mu to ||xi|| grows with mu, since it is the slope of a convex curve (the least ||xi|| for
    every ||v||): one number is searched for. f is not smooth at v = 0, where the search starts, and where xi = 0, the
    plane of the widest margin, which is what `_widen` finds.
    """
    n, d = problem.Z.shape
    if hasattr(problem.Z, "indices") and len(used := np.unique(problem.Z.indices)) < d:
        v = np.zeros(d)  # and so it stays in the columns that no row has
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
    x, low, high, last = math.log(max(float(mu), SMALLEST_MU)), -math.inf, math.inf, (math.nan, math.nan)
    for turn in range(60):
        slope = _slope(problem, svm, math.exp(x), ones, best)
        steepness = (slope - last[1]) / (x - last[0])
        at_the_end = x <= math.log(SMALLEST_MU)
        if slope > 0 and svm.products.min() > 0 and (at_the_end or steepness < 0.05):  # it may never get to 0
            _widen(problem, svm, math.exp(x), best)
        if best.gap <= GOAL or abs(slope) < 1e-13 or (slope > 0 and at_the_end):
            break
        low, high = (x, high) if slope < 0 else (low, x)
        # Secants from one side can be slow; halving is not.
        slow = turn > 15 and turn % 2 and math.isfinite(high - low)
        last, x = (x, slope), (low + high) / 2 if slow else _following(x, slope, steepness, low, high)
        if not low < x < high:
            break
    return best.v, best.a


def _slope(problem: ScaledPoints, svm: "SquaredSlack", mu: float, ones: Floats, best: _Best) -> float:
    """log of mu ||v|| sqrt(T) / (R ||xi||) for the v of this mu: negative if mu is too small."""
    gap = best.gap
    v, products = svm.minimise(mu, ones, gap)
    xi = problem.slack(products)
    best.consider(v, products, xi)
    if not xi.any():
        return math.inf
    slope = math.log(mu * np.linalg.norm(v) * problem.root / (problem.radius * np.linalg.norm(xi)))
    if abs(slope) < 0.01 * gap and best.gap < 0.5 * gap:  # so near to 0 that v was not precise enough for its sign
        return _slope(problem, svm, mu, ones, best)
    return slope


def _following(x: float, slope: float, steepness: float, low: float, high: float) -> float:
    """The next log(mu), by a secant that is kept between the last two signs.

    Steepness 1, before there is a secant, is the step that never increases f: with ||v|| t <= (||v||^2 + t^2)/2, and
    the same for xi, the support vector machine of that mu is a majorant of f.
    """
    steepness = 1.0 if math.isnan(steepness) else max(steepness, 1e-9)
    following = x + min(max(-slope / steepness, -5.0), 5.0)
    if not low < following < high:
        following = (low + high) / 2
    return max(following, math.log(SMALLEST_MU))


def _widen(problem: ScaledPoints, svm: "SquaredSlack", mu: float, best: _Best) -> None:
    """To the widest margin, by the method of multipliers: raise the target of a row by what it missed, and repeat.

    It ends when it no longer helps, which is soon if some slack is better than none.
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
        from scipy.sparse.linalg import LinearOperator, cg

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
