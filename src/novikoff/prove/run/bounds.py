"""Upper bounds on mistakes: on separable data, and on data that need not be separable.

Block (1962) and Novikoff (1962): at most (R/gamma)^2. Freund and Schapire (1999, Theorem 2) need no separator. Take any
unit vector u and any gamma > 0, and let d_i = max(0, gamma - y_i <u, x_i>) be the shortfall of example i from gamma,
D = sqrt(sum d_i^2). In T passes over the examples, in any order, a perceptron makes at most ((R + sqrt(T) D)/gamma)^2
mistakes: every mistake makes progress gamma - d_i, and Cauchy and Schwarz bound the sum of the d_i over k mistakes by
sqrt(k T) D.

With v = u/gamma, z_i = y_i x_i and xi_i = max(0, 1 - <z_i, v>) that is f(v)^2, with f(v) = R ||v|| + sqrt(T) ||xi||: a
convex function, so the best u and gamma can be found. Both norms are suprema of linear functions, and exchanging
minimum and maximum gives the dual: the smallest f is the largest sum of a over all a >= 0 with ||a|| <= sqrt(T) and
||sum a_i z_i|| <= R. Every such a proves that no u and gamma give less:
f(v) >= R ||v|| + sum a_i (1 - <z_i, v>) >= sum a_i.

Their proof is a hypothetical projection. Give example i a coordinate of its own, with the value Delta: (x_i, Delta
e_i), in d + m dimensions for m examples. In one pass a perceptron makes the same mistakes there as on the x_i: the
new coordinates are disjoint, so no score changes. But there the examples are separable. The vector (u,
y_1 d_1/Delta, y_2 d_2/Delta, ...) has a product of at least gamma with every y_i (x_i, Delta e_i), and the length Z =
sqrt(1 + D^2/Delta^2). So the margin is gamma/Z, the squared radius R^2 + Delta^2, and Novikoff's theorem gives
k <= (R^2 + Delta^2)(1 + D^2/Delta^2)/gamma^2. That is smallest, ((R + D)/gamma)^2, for Delta = sqrt(R D). In T passes
every visit is an example of its own: T m coordinates, and sqrt(T) D in place of D.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF, at_least, at_most, down, up
from novikoff.prove.exact.floats import float_up, fraction_root_up, length_of, nearest_float, power_of_two
from novikoff.prove.run.steps import Steps, folded_for
from novikoff.prove.separable.margin import Separator, margins, radius, radius_square
from novikoff.prove.separable.points import Points
from novikoff.say.words import counted


def mistake_bound(
    radius: float | Fraction,
    margin: float | Fraction,
    *,
    n_classes: int = 2,
    lead: float | Fraction = 0,
    delay: float | Fraction = 0,
) -> int:
    """Return the most mistakes that a perceptron can make: the integer part of (R/gamma)^2, computed exactly.

    Block (1962), Novikoff (1962). It does not depend on the number of examples, their dimension, or their order. For
    more than two classes it is 2 (R/gamma)^2, with the margin of `multiclass_margins`: Kesler's construction turns a
    mistake into one on a vector of length sqrt(2) ||x||.

    With a `lead` of tau an example is also added if it is correct by no more than tau R^2, or 2 tau R^2 ahead of the
    best other class: then there are at most (1 + 2 tau) times as many updates, mistakes and narrow ones together.

    If labels are delayed, and an example is added if the served prediction was wrong, the factor is 1 + 2 `delay`,
    where the delay is the mean, over the mistakes, of the number of mistakes learned between serving and learning. With
    both it is 1 + 2 `lead` + 2 `delay`.

    The bound stays valid if the radius is too large or the margin too small; `radius` and `margins` err on that side.

    >>> mistake_bound(5.0, 1.5)
    11
    >>> mistake_bound(5.0, 1.5, lead=1)
    33
    >>> mistake_bound(5.0, 1.5, delay=2)
    55
    """
    for name, value in (("radius", radius), ("margin", margin), ("lead", lead), ("delay", delay)):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name}={value!r} is not a finite number")
        if value < 0 and name != "margin":
            raise ValueError(f"{name}={value!r} is negative")
    if margin <= 0:
        raise ValueError(f"margin={margin!r} is not positive: data that no hyperplane separates have no mistake bound")
    reach = Fraction(radius) ** 2 * (1 if n_classes <= 2 else 2)
    if Fraction(margin) ** 2 > reach:
        longest = "the longest example" if n_classes <= 2 else "sqrt(2) times the longest example"
        raise ValueError(
            f"margin={margin!r} is impossible with radius={radius!r}: no example is further from a plane through the "
            f"origin than it is long, so a margin is at most {longest}"
        )
    return math.floor((1 + 2 * Fraction(lead) + 2 * Fraction(delay)) * reach / Fraction(margin) ** 2)


def check_passes_and_margin(passes: int, margin: float) -> None:
    if isinstance(passes, bool) or not isinstance(passes, int | np.integer) or passes < 1:
        raise ValueError(f"passes={passes!r} is not a number of passes: a whole number from 1 on")
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin={margin!r} is not a positive finite number")


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FreundSchapireBound:
    """The most mistakes that a perceptron can make in `passes` passes over the data, separable or not.

    `value` is ((R + sqrt(T) D)/gamma)^2, rounded up, and `bound` its integer part. It was computed with `separator` (of
    unit length in the folded space), `margin` gamma and `deviation` D; `radius` is R. No unit vector and gamma give
    less than `lower`; after a search the two are close, by `gap`. For a given hyperplane `lower` holds, too, but it may
    be far below.

    If the best gamma is infinite, every example may be a mistake in every pass: `value` is T times their number,
    `separator` is None, and `margin` and `deviation` are infinite.
    """

    bound: int
    value: float
    lower: float
    separator: Separator | None
    margin: float
    deviation: float
    radius: float
    passes: int

    @property
    def gap(self) -> float:
        """How far `value` may be from the minimum, relatively."""
        return (self.value - self.lower) / self.value

    @property
    def promise(self) -> str:
        """The bound, in words."""
        return f"at most {counted(self.bound, 'mistake')} in {counted(self.passes, 'pass', 'passes')}"

    @property
    def projection(self) -> str | None:
        """The space behind it, in which the examples are separable, in words; None if every visit may be a mistake."""
        if self.separator is None:
            return None
        deviation = math.sqrt(self.passes) * self.deviation
        stretch = math.hypot(1.0, math.sqrt(deviation / self.radius)) if self.radius else 1.0
        return (
            "with a coordinate of its own for every visit, the examples are separable with a margin of "
            f"gamma/Z = {self.margin / stretch:.6g}"
        )

    def __str__(self) -> str:
        if self.separator is None:
            why = "one for every example seen"
        else:
            formula = "((R + D)/gamma)^2" if self.passes == 1 else "((R + sqrt(T) D)/gamma)^2"
            why = (
                f"{formula} <= {at_most(self.value)} with R = {self.radius:.6g}, D = {self.deviation:.6g} "
                f"and gamma = {self.margin:.6g}"
            )
        return f"A{self.promise[1:]}: {why}. No hyperplane and margin give less than {at_least(self.lower)}."


@dataclass(frozen=True, eq=False)
class ScaledPoints:
    """The points z_i = y_i (x_i, 1) as the rows of Z, dense or CSR, all divided by 2^exponent so that R is about 1.

    The scaling does not change f, and prevents overflow. f and its dual are computed here, for any v and any a.
    `lowest` is at most the exact R, `radius` at least.
    """

    Z: Any
    terms: int  # of the longest sum in a product with a row
    radius: float
    exponent: int
    passes: int
    fit_intercept: bool

    @classmethod
    def of(cls, X: Any, y: ArrayLike, passes: int, fit_intercept: bool) -> "ScaledPoints":
        points = Points.of(X, y, fit_intercept)
        square = radius_square(points.rows, fit_intercept)
        exponent = (square.numerator.bit_length() - square.denominator.bit_length()) // 2 + 1
        width = points.rows.shape[1] + int(fit_intercept)
        if points.is_sparse:
            Z = points.signed()[:, :width]
            Z.sum_duplicates()
            Z.data = np.ldexp(Z.data, -exponent)
            terms = int(np.diff(Z.indptr).max())
        else:
            Z = np.ldexp(points.take(np.arange(points.n_points))[:, :width], -exponent)
            terms = width
        return cls(Z, terms, fraction_root_up(square / power_of_two(2 * exponent)), exponent, passes, fit_intercept)

    @property
    def lowest(self) -> float:
        return self.radius * (1 - 4 * (self.Z.shape[1] + 8) * UNIT_ROUNDOFF)

    @property
    def root(self) -> float:
        """sqrt(T)"""
        return math.sqrt(self.passes)

    def folded(self, separator: Separator, margin: float | None) -> Floats:
        """Return v = u/gamma, for the best gamma if none is given."""
        width = self.Z.shape[1]
        v = folded_for(separator, width - self.fit_intercept, self.fit_intercept)[:width]
        u = v / np.abs(v).max()
        u = u / np.linalg.norm(u)
        if margin is None:
            return u * self.best_length(self.Z @ u, 1.0)
        fraction, exponent = math.frexp(margin)
        if self.exponent - exponent > 450:
            raise ValueError(f"margin={margin!r} is so small beside the examples that the bound is no finite number")
        return u * math.ldexp(1 / fraction, self.exponent - exponent)

    def slack(self, products: Floats) -> Floats:
        """Return xi, from the products <z, v>."""
        return np.maximum(1.0 - products, 0.0)

    def best_length(self, products: Floats, length: float) -> float:
        """Return the t >= 0 with the smallest f(t v), where the slope changes sign; from <z, v> and ||v||."""

        def slope(t: float) -> float:
            xi = self.slack(t * products)
            missing = float(np.linalg.norm(xi))
            return self.radius * length - (self.root * float(products @ xi) / missing if missing else 0.0)

        if slope(0.0) >= 0:
            return 0.0
        high = self.root * math.sqrt(len(products)) / (self.radius * length)  # there f is above f(0)
        if products.min() > 0 and (end := 1 / float(products.min())) <= high:
            high = end * (1 - 1e-12)
            if slope(high) <= 0:  # it jumps up where the last slack vanishes
                return end
        from scipy.optimize import brentq

        return float(brentq(slope, 0.0, high, xtol=1e-14 * high, rtol=1e-14))

    def total(self, weights: Floats) -> Floats:
        """Return the weighted sum of all points.

        Block by block, because the rounding error of a sum grows with its number of terms; see `_reach`.
        """
        total = np.zeros(self.Z.shape[1])
        for at in range(0, len(weights), self._block):
            total += self.Z[at : at + self._block].T @ weights[at : at + self._block]
        return total

    @property
    def _block(self) -> int:
        return max(1024, math.isqrt(self.Z.shape[0]))

    def at_most(self, v: Floats) -> tuple[float, float]:
        """Return a number not below f(v), and one not below ||xi||.

        A product of m terms, summed in any order, is off by at most m u sum |z_ij v_j| <= m u R ||v|| to
        first order (u the unit roundoff); m + 8 also covers the second order, the subtraction from 1 and underflow. So
        each xi_i is raised by that. Lengths are off by a few u, because `fsum` adds exactly.
        """
        length = length_of(v) * (1 + 8 * UNIT_ROUNDOFF)
        error = (self.terms + 8) * UNIT_ROUNDOFF * (1 + self.radius * length)
        missing = length_of(self.slack(self.Z @ v - error)) * (1 + 8 * UNIT_ROUNDOFF)
        return up(up(self.radius * length) + up(up(up(self.root)) * missing)), missing

    def at_least(self, a: Floats) -> float:
        """Return a lower bound of f, from weights a >= 0 that are not all 0, scaled to be feasible in the dual."""
        reach = self._reach(a)
        scale = min(self.root / length_of(a), self.lowest / reach if reach else math.inf)
        return math.fsum(a) * scale * (1 - 16 * UNIT_ROUNDOFF)

    def _reach(self, a: Floats) -> float:
        """Return a number not below ||sum a_i z_i||.

        The computed sum is off by at most m u sum a_i ||z_i|| <= m u R sum a_i, where m is the length of a block plus
        the number of blocks; m + 8 covers the rest.
        """
        m = self._block + a.size // self._block + 8
        return length_of(self.total(a)) * (1 + 8 * UNIT_ROUNDOFF) + m * UNIT_ROUNDOFF * self.radius * math.fsum(a)

    @property
    def nothing_helps(self) -> bool:
        """Whether v = 0 is provably optimal: weights sqrt(T/n) are feasible in the dual, and their sum is f(0)."""
        n = self.Z.shape[0]
        return self.root * self._reach(np.ones(n)) * (1 + 8 * UNIT_ROUNDOFF) <= math.sqrt(n) * self.lowest

    def result(self, v: Floats, a: Floats, margin: float | None) -> FreundSchapireBound:
        n = self.Z.shape[0]
        examples = self.passes * n
        R = float_up(Fraction(self.radius) * power_of_two(self.exponent))
        if self.nothing_helps:
            lower = float(examples) if float(examples) <= examples else down(float(examples))
        else:
            best = max(self.at_least(weights) for weights in (a, np.ones(n)) if weights.any())
            lower = down(best * best)
        f, missing = self.at_most(v)
        value = up(f * f)
        if not v.any() or (margin is None and value >= examples):
            value = float(examples) if float(examples) >= examples else up(float(examples))
            return FreundSchapireBound(examples, value, lower, None, math.inf, math.inf, R, self.passes)
        length = length_of(v)
        u = v / length
        line = Separator(u[:-1], float(u[-1])) if self.fit_intercept else Separator(u)
        gamma = nearest_float(Fraction(1 / length) * power_of_two(self.exponent)) if margin is None else float(margin)
        deviation = up(missing * gamma) if missing else 0.0
        return FreundSchapireBound(math.floor(value), value, lower, line, gamma, deviation, R, self.passes)


@dataclass(frozen=True, eq=False)
class Lifted:
    """Examples with a coordinate for each, which `separator` separates with the margin gamma/Z.

    `X` is sparse. `delta` is the value of the new coordinates, 0 if all examples have the margin; `stretch` is Z.
    """

    X: Any
    y: NDArray[Any]
    separator: Separator
    delta: float
    stretch: float
    fit_intercept: bool

    def steps(self, mistake_rows: ArrayLike) -> Steps:
        """Return the steps of a run of one pass from the rows of its mistakes, in order."""
        return Steps.of_rows(self.X, self.y, mistake_rows, fit_intercept=self.fit_intercept)


def lift_inseparable(
    X: Any, y: ArrayLike, separator: Separator, margin: float, *, fit_intercept: bool = True
) -> Lifted:
    """Lift examples to a space in which they are separable, for any hyperplane and any desired margin, in one pass.

    In several passes every visit is an example of its own: repeat the rows.

    XOR, with the line x = 1/2 and the margin 1/4:

    >>> from novikoff import follow_proof, freund_schapire_bound, lift_inseparable
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]
    >>> plane = Separator([-1.0, 0.0], 0.5)
    >>> lifted = lift_inseparable(X, y, plane, 0.25)
    >>> lifted.X.shape
    (4, 6)
    >>> proof = follow_proof(lifted.steps([0, 2, 3]), lifted.separator)    # rows 0, 2 and 3 were the mistakes
    >>> proof.holds, proof.bound == freund_schapire_bound(X, y, separator=plane, margin=0.25).bound
    (True, True)
    """
    from scipy import sparse

    check_passes_and_margin(1, margin)
    points = Points.of(X, y, fit_intercept)
    lack = np.maximum(margin - margins(points.rows, y, separator, fit_intercept), 0.0)
    deviation = length_of(lack)
    delta = math.sqrt(radius(points.rows, fit_intercept) * deviation)
    unit = separator.folded / length_of(separator.folded)
    own = points.signs * lack / delta if delta else np.zeros(points.n_points)
    return Lifted(
        X=sparse.hstack([sparse.csr_array(points.rows), delta * sparse.eye_array(points.n_points)], format="csr"),
        y=np.asarray(y),
        separator=Separator(np.concatenate([unit[:-1], own]), float(unit[-1])),
        delta=delta,
        stretch=math.hypot(1.0, deviation / delta if delta else 0.0),
        fit_intercept=fit_intercept,
    )
