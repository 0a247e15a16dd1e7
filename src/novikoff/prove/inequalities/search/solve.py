"""Find x with Ax > 0 in every row, or prove that there is none, even if the margin is tiny.

The rescaled perceptron (Dadush, Vegh and Zambelli 2020): about m^2 log(1/rho) smooth steps in m dimensions.

All solutions of length at most 1 lie in the unit ball. Keep an ellipsoid that contains them: {y: y'Ry <= 1}, at first
the ball. Transform the rows to coordinates in which the ellipsoid is a ball, and run the smooth perceptron there. It
finds a solution, or a convex combination x of the rows with length at most 1/(11 m), which shrinks the ellipsoid by a
constant factor. It always contains the solutions, so the number of rescalings is bounded.

Why. Let c_i be the rows in the new coordinates, of length 1. A solution y in the ellipsoid has 0 <= <c_i, y> <= 1, and
if eps = ||sum x_i c_i||, then sum x_i <c_i, y>^2 <= sum x_i <c_i, y> <= eps. So for every t > 0

    ||y||^2 + t sum x_i <c_i, y>^2 <= 1 + t eps,

which is a new ellipsoid. Its det R has grown by the factor prod (1 + t lambda_j)/(1 + t eps), where the lambda_j are
the eigenvalues of sum x_i c_i c_i', of sum 1. The paper takes t = 1: the factor is at least 2/(1 + eps)^m, which is
above 2 e^(-1/11) once eps <= 1/(11 m). Here t is the best of 1, 2, 4, ...: never worse, and many times better where
the rows bound the solutions on all sides. If some solution has margin rho, the solutions contain a ball of radius
rho/(1 + rho), so log det R is at most 2 m log(1 + 1/rho): there are at most 3.33 m log(1 + 1/rho) rescalings.

The smooth perceptron (Soheili and Pena 2012) needs about sqrt(log n)/rho steps where the perceptron needs 1/rho^2. The
perceptron moves towards one violated row, the smooth one towards a mixture of all rows, the softmin of their products:
weights proportional to exp(-<a_i, y>/mu), with a mu that shrinks. That makes the problem smooth, and Nesterov's
acceleration applies. With n rows of length 1, after k steps either Ay > 0, or the mixture x has
||x A|| <= 2 sqrt(2 log n)/(k + 1): so a solution is found within 2 sqrt(2 log n)/rho steps.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock, check_time_limit
from novikoff.engine.inequalities import perceptron_epochs
from novikoff.prove.exact.codec import Combination
from novikoff.prove.exact.floats import as_integers, lowest_exponent
from novikoff.prove.inequalities.check import (
    Inequalities,
    Outcome,
    SystemData,
    SystemWitnesses,
    conclude,
    read_rows,
)
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import signs_of_products
from novikoff.prove.separable.search.gordan import decide

ROUNDING = 2.0**-52
OUT_OF_TIME = "the time limit was reached"
# The most mistakes of the perceptron with `auto`: most systems need no more.
FEW_MISTAKES, MOST_MISTAKES = 1_000, 1_000_000
# Rows between two checks of the clock.
MOST_PATIENCE = 1_000_000


def solve_inequalities(A: Any, *, method: str = "auto", time_limit: float | None = None) -> Inequalities:
    """Find x with Ax > 0 in every row, or prove that none exists.

    Parameters
    ----------
    A : one inequality per row; dense, or sparse, which is made dense. Its floats are taken as exact.
    method : "perceptron" (about 1/rho^2 steps for margin rho), "rescaled" (Dadush, Vegh and Zambelli, about
        log 1/rho), or "auto": a short perceptron run, then "rescaled", and where float64 is too coarse, `certify`'s
        cutting planes and rationals.
    time_limit : seconds after which to stop as undecided.

    Returns
    -------
    Inequalities : `outcome`, `x` or `combination`, both proved in exact arithmetic on the rows as given, `margin`,
        `iterations`, `rescalings`, `potential`; it prints as a sentence, and `check(A)` proves it again.

    Examples
    --------
    >>> answer = solve_inequalities([[1, 0], [-1, 1], [-3, 2]])
    >>> answer.outcome, answer.x.round(3).tolist()
    (<Outcome.SOLVED: 'solved'>, [0.293, 0.707])

    These rows contradict each other: their sum, with these weights, is 0.

    >>> nothing = solve_inequalities([[1, 0], [-1, 1], [-1, -2]])
    >>> nothing.combination
    Combination(rows=(0, 1, 2), weights=(3, 2, 1))
    >>> nothing.check([[1, 0], [-1, 1], [-1, -2]])
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r} is unknown; choose one of {', '.join(METHODS)}")
    check_time_limit(time_limit)
    system = System(read_rows(A))
    zeros = np.flatnonzero(~system.rows.any(axis=1))
    if len(zeros):
        return system.answer(method, combination=Combination((int(zeros[0]),), (1,)))
    return METHODS[method](system, Clock(time_limit))


# -- the system -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class System:
    """The rows of A, unchanged.

    The methods use `unit`, the rows divided by their lengths. What they find is proved on the rows themselves, which
    are exact: a float is a rational number.
    """

    rows: Floats

    @cached_property
    def unit(self) -> Floats:
        """The rows divided by their lengths."""
        shrunk = self.rows / np.abs(self.rows).max(axis=1, keepdims=True)
        return np.asarray(shrunk / np.linalg.norm(shrunk, axis=1, keepdims=True))

    # -- proofs -------------------------------------------------------------------------------------------------------

    def is_solved_by(self, x: Sequence[Any] | NDArray[Any]) -> bool:
        """Whether every row has a positive product with x, exactly."""
        return self.first_violated(x) is None

    def first_violated(self, x: Sequence[Any] | NDArray[Any]) -> int | None:
        """The first row whose product with x is not positive, exactly; None if x solves all."""
        is_whole = not isinstance(x, np.ndarray) or x.dtype == object
        whole = list(x) if is_whole else as_integers(x, lowest_exponent(x)).tolist()
        violated = signs_of_products(self._points, [*whole, 0]) <= 0
        return int(np.argmax(violated)) if violated.any() else None

    def cancelling(self, weights: Floats, clock: Clock) -> Combination | None:
        """An exact combination that is 0, of rows with approximate weights, if there is one.

        The rows with the largest weights come first: fewer are decided faster.
        """
        count = min(len(self.rows), 3 * (self.rows.shape[1] + 1))
        heaviest = np.sort(np.argpartition(-weights, count - 1)[:count])
        weighed = np.flatnonzero(weights > 1e-9 * weights.max())
        for which in (heaviest, weighed) if len(weighed) > count else (heaviest,):
            if combination := self.decided(which, clock)[1]:
                return combination
        return None

    def decided(self, which: NDArray[np.int64], clock: Clock) -> tuple[Any, Combination | None]:
        """A solution of some rows, a combination of them, or neither."""
        answer = decide(self._points.part(which), clock)
        if answer.obstruction is None:
            return None if answer.vector is None else answer.vector[:-1], None
        ascending = sorted(zip(which[answer.obstruction.rows].tolist(), answer.obstruction.weights, strict=True))
        return None, Combination(tuple(row for row, _ in ascending), tuple(weight for _, weight in ascending))

    def answer(
        self, method: str, x: Any = None, combination: Combination | None = None, stopped: str = "", **record: Any
    ) -> Inequalities:
        """What was found, proved, with the record of the search, which matters if nothing was."""
        witnesses = SystemWitnesses(None if x is None else tuple(map(Fraction, np.asarray(x).tolist())), combination)
        claims = conclude(self.rows, witnesses)
        stopped = stopped if claims.outcome is Outcome.UNDECIDED else ""
        return Inequalities(SystemData.of(self.rows), claims, witnesses, method, stopped=stopped, **record)

    @cached_property
    def _points(self) -> Points:
        return Points(self.rows, np.ones(len(self.rows), dtype=np.int8), 0.0)


# Seconds for the first attempt at an exact proof. With at most FEW_NUMBERS every attempt is quick, and has no time
# limit of its own, so that the answer does not depend on the load of the machine.
FIRST_ATTEMPT = 0.05
FEW_NUMBERS = 10_000


class Proofs:
    """Attempts at an exact proof during a search in floats, so few that they never cost much more than the search.

    An exact combination is tried after `first` steps, and then whenever their number has quadrupled, for about as long
    as the search has taken so far. A candidate for a solution is tried immediately; if exact arithmetic rejects one,
    float64 is near its limits, and the wait for the next doubles every time.
    """

    def __init__(self, system: System, clock: Clock, first: int = 64) -> None:
        self._system, self._clock, self._next = system, clock, first
        self._next_candidate, self._wait = 0, 1
        self._started = clock.now()

    def solves(self, count: int, x: Floats) -> bool:
        if count < self._next_candidate:
            return False
        self._wait *= 2
        self._next_candidate = count + self._wait
        return self._system.is_solved_by(x)

    def attempt(self, count: int, weights: Floats) -> Combination | None:
        if count < self._next:
            return None
        self._next = 4 * count
        clock = self._clock
        if self._system.rows.size > FEW_NUMBERS:
            clock = clock.within(FIRST_ATTEMPT + clock.now() - self._started)
        return self._system.cancelling(weights, clock)


# -- the methods ------------------------------------------------------------------------------------------------------


def perceptron(system: System, clock: Clock, most_mistakes: int = MOST_MISTAKES) -> Inequalities:
    """Rosenblatt's rule: while some row has <a, w> <= 0, add it to w (Block 1962, Novikoff 1962).

    At most 1/rho^2 mistakes. After k of them w/k is a convex combination of the rows, so rho <= ||w||/k. If their hull
    contains the origin there is no solution, and w/k converges to the origin.
    """
    w, counts = np.zeros(system.unit.shape[1]), np.zeros(len(system.unit))
    mistakes, patience = 0, len(system.unit)
    history: list[float] = []
    proofs = Proofs(system, clock)
    while True:
        made, is_free = perceptron_epochs(system.unit, w, counts, most_mistakes - mistakes, patience)
        patience = min(2 * patience, MOST_PATIENCE)
        wrong = system.first_violated(w) if is_free else None
        if is_free and wrong is not None:  # positive in float64 only
            w += system.unit[wrong]
            counts[wrong] += 1
            made += 1
        mistakes += made
        if mistakes >= 2 ** len(history):
            history.append(float(np.linalg.norm(w)) / mistakes)
        x = w if is_free and wrong is None else None
        combination = proofs.attempt(mistakes, counts) if x is None else None
        stopped = f"{mistakes:,} mistakes were made" if mistakes >= most_mistakes else ""
        stopped = OUT_OF_TIME if clock.is_over() else stopped
        if x is not None or combination or stopped:
            record = {"iterations": mistakes, "potential": tuple(history)}
            return system.answer("perceptron", x, combination, stopped, **record)


# -- the rescaled perceptron ----------------------------------------------------------------------------------------


class SmoothStep(NamedTuple):
    """A candidate y with its smallest product, and a convex combination `weights` of the rows with its length."""

    y: Floats
    smallest: float
    weights: Floats
    length: float


def smooth_steps(A: Floats) -> Iterator[SmoothStep]:
    """The smooth perceptron on unit rows, step by step, forever.

    It keeps ||x A||^2/2 <= min_p (<Ay, p> + mu d(p)) - ||y||^2/2, where d is the entropy of p above its minimum: while
    Ay > 0 fails, the right side is at most mu log n, and mu = 4/((k + 1)(k + 2)).
    """
    mu = 2.0
    y = A.mean(axis=0)
    Ay = np.vecdot(A, y)  # BLAS would synchronise its threads for far longer than such a product takes
    x = softmin(Ay, mu)
    xA = pA = np.einsum("i,ij->j", x, A)
    for k in itertools.count():
        yield SmoothStep(y, float(Ay.min()), x, math.sqrt(float(xA @ xA)))
        theta = 2 / (k + 3)
        y = (1 - theta) * (y + theta * xA) + theta**2 * pA
        mu *= 1 - theta
        Ay = np.vecdot(A, y)
        p = softmin(Ay, mu)
        pA = np.einsum("i,ij->j", p, A)
        x = (1 - theta) * x + theta * p
        xA = (1 - theta) * xA + theta * pA


def softmin(products: Floats, mu: float) -> Floats:
    """Weights of sum 1, proportional to exp(-product/mu)."""
    p = np.exp((products.min() - products) / mu)
    return np.asarray(p / p.sum())


# The least that a rescaling adds to log det R.
LEAST_GAIN = math.log(2) - 1 / 11
STEPS = 2.0 ** np.arange(41)
# Seconds for the last attempt at an exact combination.
LAST_ATTEMPT = 10.0


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """The set {axes v: ||v|| <= 1}, with R = (axes axes')^-1. It contains every solution of length at most 1.

    Storing the axes instead of R halves the loss of digits: their condition is 1/rho where R's is 1/rho^2. `rows` are
    the unit rows in its coordinates, divided by their `lengths` there.
    """

    unit: Floats
    axes: Floats
    log_det: float = 0.0

    @classmethod
    def ball(cls, unit_rows: Floats) -> "Ellipsoid":
        return cls(unit_rows, np.eye(unit_rows.shape[1]))

    @cached_property
    def lengths(self) -> Floats:
        return np.asarray(np.linalg.norm(self.unit @ self.axes, axis=1))

    @cached_property
    def rows(self) -> Floats:
        return np.asarray(self.unit @ self.axes / np.maximum(self.lengths, 1e-300)[:, None])

    def squeezed(self, weights: Floats) -> "Ellipsoid":
        """Return the smaller ellipsoid that a convex combination of the rows gives, with the best t."""
        eps = float(np.linalg.norm(weights @ self.rows))
        eigenvalues, vectors = np.linalg.eigh((self.rows.T * weights) @ self.rows)
        spectrum = np.maximum(eigenvalues, 0.0)
        gains = np.log1p(STEPS[:, None] * spectrum).sum(axis=1) - len(spectrum) * np.log1p(STEPS * eps)
        best = int(np.argmax(gains))
        axes = vectors * np.sqrt((1 + STEPS[best] * eps) / (1 + STEPS[best] * spectrum))
        return Ellipsoid(self.unit, self.axes @ axes, self.log_det + float(gains[best]))

    def is_lost_to_rounding(self) -> bool:
        """Whether some row is only rounding error here, or any margin with log det R <= 2 m log(1 + 1/rho) is."""
        exponent = self.log_det / (2 * len(self.axes))
        is_rounding = self.lengths.min() < 64 * ROUNDING * np.linalg.norm(self.axes)
        return bool(is_rounding or math.expm1(exponent) * ROUNDING > 1)


def rescaled(system: System, clock: Clock, last_attempt: float = LAST_ATTEMPT) -> Inequalities:
    """The rescaled perceptron with a smooth inner loop, until a solution, a proof, or the limits of float64.

    At these limits an exact combination is tried once more, for `last_attempt` seconds.
    """
    ellipsoid = Ellipsoid.ball(system.unit)
    potential = [0.0]
    iterations = 0
    proofs = Proofs(system, clock, first=2)
    while True:
        x, weights, smaller, steps = _inner(ellipsoid, clock, proofs, iterations)
        iterations += steps
        weights = weights / ellipsoid.lengths
        if smaller is not None:
            ellipsoid = smaller
            potential.append(ellipsoid.log_det)
        combination = proofs.attempt(len(potential), weights) if x is None else None
        stopped = OUT_OF_TIME if clock.is_over() else ""
        if not stopped and (smaller is None or ellipsoid.is_lost_to_rounding()):
            stopped = "the margin, if there is one, is too small for float64"
            if x is None and combination is None and last_attempt:
                combination = system.cancelling(weights, clock.within(last_attempt))
        if x is not None or combination or stopped:
            record = {"iterations": iterations, "rescalings": len(potential) - 1, "potential": tuple(potential)}
            return system.answer("rescaled", x, combination, stopped, **record)


def _inner(
    ellipsoid: Ellipsoid, clock: Clock, proofs: Proofs, before: int
) -> tuple[Floats | None, Floats, Ellipsoid | None, int]:
    """Smooth steps until a solution or a rescaling that gains enough; returns it, the weights, and the number of steps.

    A rescaling is tried once eps is below 1/(2 m), and whenever it has become a fifth smaller. Below 1/(11 m) it gains
    enough, which happens within 28 m sqrt(2 log n) steps unless float64 is too coarse.
    """
    n, m = ellipsoid.rows.shape
    most = 28 * m * math.sqrt(2 * math.log(n)) + 10
    next_try = 1 / (2 * m)
    for k, step in enumerate(smooth_steps(ellipsoid.rows)):
        if step.smallest > 0 and proofs.solves(before + k, y := ellipsoid.axes @ step.y):
            return y, step.weights, None, k
        if step.length <= next_try:
            smaller = ellipsoid.squeezed(step.weights)
            if smaller.log_det - ellipsoid.log_det >= LEAST_GAIN:
                return None, step.weights, smaller, k + 1
            next_try = 0.8 * step.length
        if k > most or (k % 64 == 0 and clock.is_over()):
            return None, step.weights, None, k
    raise AssertionError("the steps go on forever")


def _auto(system: System, clock: Clock) -> Inequalities:
    """The cheapest method that decides: perceptron, rescaled perceptron, cutting planes and rationals."""
    found = perceptron(system, clock, FEW_MISTAKES)
    if found.outcome is Outcome.UNDECIDED and not clock.is_over():
        found = rescaled(system, clock, last_attempt=0.0)
    if found.outcome is not Outcome.UNDECIDED or clock.is_over():
        return found
    x, combination = system.decided(np.arange(len(system.rows)), clock)
    if x is not None and max(map(abs, x)) < 2**1000 and system.is_solved_by(floats := np.array(x, dtype=np.float64)):
        x = floats
    record = {name: getattr(found, name) for name in ("stopped", "iterations", "rescalings", "potential")}
    return system.answer("cutting-planes", x, combination, **record)


METHODS: dict[str, Callable[[System, Clock], Inequalities]] = {
    "auto": _auto,
    "perceptron": perceptron,
    "rescaled": rescaled,
}
