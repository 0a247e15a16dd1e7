"""From the final basis of HiGHS to a proof: the simplex method in whole numbers.

Let r = A x. All variables, x and r, have bounds, and a basis names as many of them as there are rows: the others sit at
a bound, or at 0 if they are free, and the rows then determine the basic ones. With R the rows at their limit and S the
basic columns, that is one square system, A_RS x_S = the limits minus the other columns; and its transpose, with the
costs of S, determines the multipliers. If all basic variables are within their bounds, and all reduced costs have the
signs that the bounds require, the point is an optimum.

The final basis of HiGHS is exactly optimal for two programs in three. If not, violations are about its tolerances.
Then the exact point becomes the origin and its multipliers are subtracted from the costs, violations are scaled up to
size 1, and HiGHS solves that program from the same basis (Gleixner, Steffy and Wolter 2016), which gives the next one.

Finally there are exact pivots, which always terminate with a proof. While a basic variable violates its bounds, it
leaves the basis for one that can move; if none can, its row of the tableau proves that the program has no solution
(Dutertre and de Moura 2006). Then the cost decreases step by step, until no variable can lower it, or one can without
bound (Dantzig 1951). First the choice that keeps most reduced costs valid is taken, and after some pivots the smallest
index (Bland 1977), which prevents cycling.

The same pivots find the largest product of a vector with the points of a cone, where floats cannot decide.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock, OutOfTimeError
from novikoff.prove.exact.floats import as_integers, lowest_exponent
from novikoff.prove.exact.ratios import Ratios, Vector, WholeRows, nearest
from novikoff.prove.exact.refined import FEW, Regular, Solution, WholeMatrix, by_elimination
from novikoff.prove.separable.search.highs import BASIC, FREE, LOWER, UPPER, States, solved_in_floats

Places = NDArray[np.intp]
Whole = NDArray[Any]


class SingularError(ArithmeticError):
    """A basis whose system is singular, or that floats cannot solve."""


class WholeProgram:
    """A program as bounds on x and r = A x, in whole numbers.

    The limits of the `rows` are their upper bounds, those of the `columns` are the costs. The bounds are first those of
    x, then those of r: the lower bound of a row equals the upper one, or there is none. `A` is the matrix in floats.
    """

    def __init__(self, rows: WholeRows, columns: WholeRows, lower: Vector, upper: Vector, A: Any = None) -> None:
        self.rows, self.columns, self.lower, self.upper, self.A = rows, columns, lower, upper, A
        self.m, self.n = rows.matrix.n_rows, rows.matrix.n_columns
        self.is_fixed = lower == upper
        finite = [np.where(np.isfinite(side), side, 0.0)[: self.n] for side in (lower, upper)]
        self._unit = min(lowest_exponent(np.concatenate(finite)), 0)
        self.whole_bounds = [as_integers(side, self._unit) for side in finite]

    @property
    def scale(self) -> int:
        """The factor that makes bounds whole."""
        return 1 << -self._unit

    def settled(self, states: States) -> States:
        """The same states, corrected so that no variable is at a bound that it does not have."""
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        settled = states.copy()
        outside = states != BASIC
        settled[outside & ~low & ~high] = FREE
        settled[outside & low & ((states != UPPER) | ~high)] = LOWER
        settled[outside & high & ((states == UPPER) | ~low)] = UPPER
        settled[outside & self.is_fixed] = LOWER
        return settled

    def slack_basis(self) -> States:
        """All rows basic, all columns at a bound."""
        states = np.full(self.n + self.m, LOWER, dtype=np.int8)
        states[self.n :] = BASIC
        return self.settled(states)


class Vertex:
    """The point and the multipliers of a basis, computed on demand."""

    def __init__(self, form: WholeProgram, states: States, clock: Clock) -> None:
        self.form, self.states, self._clock = form, states, clock
        self.S = np.flatnonzero(states[: form.n] == BASIC)
        self.R = np.flatnonzero(states[form.n :] != BASIC)
        if len(self.S) != len(self.R):
            raise SingularError("a basis has as many variables as there are rows")

    # -- the systems of the basis -------------------------------------------------------------------------------------

    @cached_property
    def _kernel(self) -> WholeMatrix:
        return self.form.rows.matrix.in_rows(self.R).in_columns(self.S)

    @cached_property
    def _factors(self) -> Regular | None:
        return None if len(self.S) <= FEW else Regular.of(self._kernel, self._clock)

    def _solve(self, right: list[int], transpose: bool) -> Solution:
        if not right or not any(right):
            return Solution([0] * len(right), 1)
        if self._clock.is_over():
            raise OutOfTimeError
        if self._factors is None:
            matrix = self._kernel.transposed() if transpose else self._kernel
            found = by_elimination(matrix, right, self._clock)
        else:
            found = self._factors.solve(right, self._clock, transpose)
        if self._clock.is_over():
            raise OutOfTimeError
        if found is None:
            raise SingularError("the system of a basis cannot be solved")
        return found

    def _primal(self, right: list[int], others: Ratios) -> Ratios:
        """x with A_RS x_S = right, in units of the rows, over the denominator of the others."""
        found = self._solve(right, transpose=False)
        numbers = [value * found.denominator for value in others.numerators]
        for j, value in zip(self.S.tolist(), found.numerators, strict=True):
            numbers[j] = value
        return Ratios(numbers, found.denominator * others.denominator)

    def _dual(self, right: list[int], exponent: int) -> Ratios:
        """Multipliers of the rows with A_RS' y_R = right 2^exponent; 0 outside R."""
        found = self._solve(right, transpose=True)
        units = [exponent - self.form.rows.exponents[i] for i in self.R.tolist()]
        least = min(units, default=0)
        y = [0] * self.form.m
        for i, value, unit in zip(self.R.tolist(), found.numerators, units, strict=True):
            y[i] = value << unit - least
        if least >= 0:
            return Ratios([value << least for value in y], found.denominator)
        return Ratios(y, found.denominator << -least)

    # -- the point ----------------------------------------------------------------------------------------------------

    @cached_property
    def x(self) -> Ratios:
        form = self.form
        low, high = form.whole_bounds
        columns = self.states[: form.n]
        outside = np.where(columns == LOWER, low, np.where(columns == UPPER, high, 0))
        rows = form.rows.matrix.in_rows(self.R)
        limits = np.array(form.rows.limits, dtype=object)[self.R] * form.scale
        return self._primal((limits - rows.times(outside)).tolist(), Ratios(outside.tolist(), form.scale))

    @cached_property
    def excesses(self) -> Whole:
        """A x minus the limits, in units of the rows over the denominator of x."""
        return self.form.rows.excesses(self.x)

    @cached_property
    def broken(self) -> dict[int, int]:
        """Basic variables that violate their bounds: +1 if one must increase, -1 if it must decrease."""
        form = self.form
        broken = {}
        times = self.x.denominator // form.scale
        low, high = form.whole_bounds
        for j in self.S.tolist():
            value = self.x.numerators[j]
            if np.isfinite(form.lower[j]) and value < low[j] * times:
                broken[j] = 1
            elif np.isfinite(form.upper[j]) and value > high[j] * times:
                broken[j] = -1
        for i in np.flatnonzero(self.states[form.n :] == BASIC).tolist():
            if self.excesses[i] > 0:
                broken[form.n + i] = -1
            elif self.excesses[i] < 0 and form.is_fixed[form.n + i]:
                broken[form.n + i] = 1
        return broken

    # -- the multipliers ----------------------------------------------------------------------------------------------

    @cached_property
    def y(self) -> Ratios:
        costs, exponents, S = self.form.columns.limits, self.form.columns.exponents, self.S.tolist()
        least = min((exponents[j] for j in S), default=0)
        return self._dual([costs[j] << exponents[j] - least for j in S], least)

    @cached_property
    def misses(self) -> Whole:
        """A'y minus the cost, column by column, in units of the columns over the denominator of y."""
        return self.form.columns.excesses(self.y)

    @cached_property
    def promising(self) -> dict[int, int]:
        """Nonbasic variables that would lower the cost: +1 by increasing, -1 by decreasing."""
        form = self.form
        found = {}
        for j in np.flatnonzero((self.states != BASIC) & ~form.is_fixed).tolist():
            rate = -self.misses[j] if j < form.n else self.y.numerators[j - form.n]
            if rate and self.states[j] != (LOWER if rate > 0 else UPPER):
                found[j] = -1 if rate > 0 else 1
        return found

    # -- in floats ----------------------------------------------------------------------------------------------------

    def distances(self) -> tuple[Vector, Vector]:
        """The distances of every variable to its bounds, in floats."""
        form, x = self.form, self.x
        times = x.denominator // form.scale
        unit = [2.0 ** max(exponent, -1022) for exponent in form.rows.exponents]
        slack = [-nearest(int(v), x.denominator) * u for v, u in zip(self.excesses.tolist(), unit, strict=True)]
        sides = []
        for bounds, whole in zip((form.lower, form.upper), form.whole_bounds, strict=True):
            pairs = zip(whole.tolist(), x.numerators, strict=True)
            near = [nearest(bound * times - value, x.denominator) for bound, value in pairs]
            sides.append(np.where(np.isfinite(bounds), np.array([*near, *slack]), bounds))
        return sides[0], sides[1]

    def reduced_costs(self) -> Vector:
        """The reduced costs of all variables, in floats."""
        unit = [2.0 ** max(exponent, -1022) for exponent in self.form.columns.exponents]
        pairs = zip(self.misses.tolist(), unit, strict=True)
        return np.array([*(-nearest(int(v), self.y.denominator) * u for v, u in pairs), *self.y.floats()])

    # -- the tableau --------------------------------------------------------------------------------------------------

    def row_of(self, variable: int) -> tuple[Ratios, dict[int, int]]:
        """Multipliers of the rows that express a basic variable by the others, and its rate with each of these.

        Rates with columns and rows are in different units: only their signs can be compared.
        """
        form = self.form
        right = [int(j == variable) for j in self.S.tolist()]
        if variable < form.n:
            rho, own = self._dual(right, 0), None
        else:
            own = variable - form.n
            row = form.rows.matrix.in_rows(np.array([own]))
            entries = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
            rho = self._dual([int(entries.get(j, 0)) for j in self.S.tolist()], form.rows.exponents[own])
        if own is not None:
            numbers = list(rho.numerators)
            numbers[own] = -rho.denominator
            rho = Ratios(numbers, rho.denominator)
        products = form.columns.matrix.times(rho.numerators).tolist()
        outside = np.flatnonzero(self.states != BASIC).tolist()
        rates = {j: -int(products[j]) if j < form.n else rho.numerators[j - form.n] for j in outside}
        return rho, {j: rate for j, rate in rates.items() if rate}

    def column_of(self, variable: int) -> Ratios:
        """The change of x when one nonbasic variable increases by 1 and the others stay."""
        form = self.form
        if variable < form.n:
            column = form.rows.matrix.in_rows(self.R).in_columns(np.array([variable]))
            right = [0] * len(self.R)
            for i in np.flatnonzero(np.diff(column.indptr)).tolist():
                right[i] = -int(column.data[column.indptr[i]])
            others = [int(j == variable) for j in range(form.n)]
            return self._primal(right, Ratios(others, 1))
        row = variable - form.n
        least = min(form.rows.exponents[row], 0)
        unit = max(form.rows.exponents[row], 0)
        moved = self._primal([int(i == row) << -least for i in self.R.tolist()], Ratios([0] * form.n, 1))
        return Ratios(moved.numerators, moved.denominator << unit) if unit else moved


# Pivots by the better rule before those by Bland's, which terminates.
CHOSEN = 100


class Decision(NamedTuple):
    """The outcome of the program; x, the multipliers y of the rows, or the ray, as its claim needs."""

    claim: str
    x: Ratios | None = None
    y: Ratios | None = None
    ray: Ratios | None = None
    pivots: int = 0


def decide_exactly(form: WholeProgram, states: States, clock: Clock) -> Decision:
    """Decide the program; raises OutOfTimeError if time runs out, SingularError if a basis cannot be solved."""
    pivots = 0
    while True:
        vertex = Vertex(form, states, clock)
        next_states = _repaired(vertex, pivots) if vertex.broken else _lowered(vertex, pivots)
        if isinstance(next_states, Decision):
            return next_states._replace(pivots=pivots)
        states, pivots = next_states, pivots + 1


def _repaired(vertex: Vertex, pivots: int) -> States | Decision:
    """The states after a variable that violates its bounds has left the basis; or the proof that none can enter."""
    variable = min(vertex.broken)
    sign = vertex.broken[variable]
    rho, rates = vertex.row_of(variable)
    able = {j: rate for j, rate in rates.items() if _can_move(vertex, j, sign if rate > 0 else -sign)}
    if not able:
        return Decision("infeasible", y=Ratios([-sign * value for value in rho.numerators], rho.denominator))
    entering = min(able) if pivots >= CHOSEN else min(able, key=lambda j: (_ratio(vertex, j, able[j]), j))
    return _exchanged(vertex.states, entering, variable, LOWER if sign > 0 else UPPER)


def _can_move(vertex: Vertex, variable: int, direction: int) -> bool:
    if vertex.form.is_fixed[variable]:
        return False
    return bool(vertex.states[variable] != (UPPER if direction > 0 else LOWER))


def _ratio(vertex: Vertex, variable: int, rate: int) -> float:
    """The approximate cost of a variable to move another by 1, which only guides the choice."""
    cost = vertex.misses[variable] if variable < vertex.form.n else vertex.y.numerators[variable - vertex.form.n]
    try:
        return abs(int(cost) / rate)
    except OverflowError:
        return float("inf")


def _lowered(vertex: Vertex, pivots: int) -> States | Decision:
    """The states after one step that lowers the cost; or the proof of an optimum, or of an unbounded program."""
    if not vertex.promising:
        return Decision("optimal", x=vertex.x, y=vertex.y)
    entering = min(vertex.promising)
    direction = vertex.promising[entering]
    if pivots < CHOSEN:
        costs = np.abs(vertex.reduced_costs())
        entering = max(vertex.promising, key=lambda j: (costs[j], -j))
        direction = vertex.promising[entering]
    moves = vertex.column_of(entering)
    if direction < 0:
        moves = Ratios([-value for value in moves.numerators], moves.denominator)
    stops = _stops(vertex, entering, direction, moves)
    if not stops:
        return Decision("unbounded", x=vertex.x, ray=moves)
    best = stops[0]
    for stop in stops[1:]:
        ahead = stop[0] * best[1] - best[0] * stop[1]
        if ahead < 0 or (ahead == 0 and stop[2] < best[2]):
            best = stop
    _, _, leaving, bound = best
    if leaving == entering:
        states = vertex.states.copy()
        states[entering] = bound
        return states
    return _exchanged(vertex.states, entering, leaving, bound)


def _stops(vertex: Vertex, entering: int, direction: int, moves: Ratios) -> list[tuple[int, int, int, int]]:
    """The steps at which variables reach bounds, as fractions of two whole numbers, the variable, and the bound."""
    form, x = vertex.form, vertex.x
    low, high = form.whole_bounds
    times = x.denominator // form.scale
    stops = []
    for j in [*vertex.S.tolist(), entering] if entering < form.n else vertex.S.tolist():
        rate = moves.numerators[j]
        kind, whole, bounds = (UPPER, high, form.upper) if rate > 0 else (LOWER, low, form.lower)
        if rate and np.isfinite(bounds[j]):
            stops.append((abs(whole[j] * times - x.numerators[j]), abs(rate), j, kind))
    changes = form.rows.matrix.times(moves.numerators).tolist()
    basic = np.flatnonzero(vertex.states[form.n :] == BASIC).tolist()
    limited = [i for i in basic if changes[i] > 0 or (changes[i] and form.is_fixed[form.n + i])]
    return stops + [(abs(int(vertex.excesses[i])), abs(int(changes[i])), form.n + i, UPPER) for i in limited]


def _exchanged(states: States, entering: int, leaving: int, bound: int) -> States:
    new = states.copy()
    new[entering], new[leaving] = BASIC, bound
    return new


MOST_REFINEMENTS = 12


def decided_from(form: WholeProgram, states: States, clock: Clock) -> Decision:
    """Decide the program from a basis that is probably nearly optimal."""
    try:
        return _refined(form, form.settled(states), clock)
    except SingularError:
        return decide_exactly(form, form.slack_basis(), clock)


def _refined(form: WholeProgram, states: States, clock: Clock) -> Decision:
    seen = set()
    for _ in range(MOST_REFINEMENTS):
        vertex = Vertex(form, states, clock)
        if not vertex.broken and not vertex.promising:
            return Decision("optimal", vertex.x, vertex.y)
        seen.add(states.tobytes())
        better, is_optimal = _next_states(vertex, clock)
        if better is None or better.tobytes() in seen:
            break
        states = better
        if not is_optimal:
            break
    return decide_exactly(form, states, clock)


def _next_states(vertex: Vertex, clock: Clock) -> tuple[States | None, bool]:
    """The final states of HiGHS for the program relative to the vertex, and whether they are optimal."""
    from scipy.sparse import eye_array, hstack

    form = vertex.form
    lower, upper = vertex.distances()
    costs = vertex.reduced_costs()
    gap = max((lower[j] if sign > 0 else -upper[j] for j, sign in vertex.broken.items()), default=0.0)
    slope = max((abs(costs[j]) for j in vertex.promising), default=0.0)
    with np.errstate(over="ignore"):
        bounds = np.ldexp(lower, _scale(gap)), np.ldexp(upper, _scale(gap))
        scaled = np.ldexp(costs, _scale(slope))
    A = hstack([form.A, -eye_array(form.m)], format="csr")
    zeros = np.zeros(form.m)
    start = np.append(vertex.states, np.full(form.m, LOWER, dtype=np.int8))
    found = solved_in_floats(scaled, A, (zeros, zeros), bounds, clock, start)
    if found is None:
        return None, False
    states = found.states[: form.n + form.m]
    if int((states == BASIC).sum()) != form.m:
        return None, False
    return form.settled(states), found.is_optimal


def _scale(size: float) -> int:
    """The exponent of the power of two that scales a size to about 1; 0 for a size of 0."""
    return -math.frexp(size)[1] if size < math.inf else 0


# -- over a cone ------------------------------------------------------------------------------------------------------

# All vertices of such a program are the origin, so every basis is feasible; along a ray the product is unbounded.


def largest_product(
    goal: Sequence[int], Z: WholeMatrix, E: WholeMatrix, clock: Clock, start: tuple[Places, Places] | None = None
) -> tuple[list[int] | None, Ratios]:
    """A vector b with Z b >= 0, E b = 0 and a positive product with a goal; or, if there is none, nonnegative multiples
    of the rows of Z, and multiples of those of E, that cancel the goal.

    Pivots may start from independent rows, of both together, and as many columns.

    >>> Z = WholeMatrix.of_table([[1, 0], [1, 1]], 2)
    >>> largest_product([0, -1], Z, WholeMatrix.of_table([], 2), Clock(None))
    ([1, -1], [])
    >>> largest_product([-2, -1], Z, WholeMatrix.of_table([], 2), Clock(None))
    (None, [Fraction(1, 1), Fraction(1, 1)])
    """
    m, n = Z.n_rows + E.n_rows, Z.n_columns
    numbers, starts = np.concatenate([-Z.data, E.data]), np.append(Z.indptr, Z.indptr[-1] + E.indptr[1:])
    table = WholeMatrix(numbers, np.concatenate([Z.indices, E.indices]), starts, n)
    lower = np.full(n + m, -np.inf)
    lower[n + Z.n_rows :] = 0.0
    upper = np.append(np.full(n, np.inf), np.zeros(m))
    columns = WholeRows(table.transposed(), [-value for value in goal], [0] * n)
    form = WholeProgram(WholeRows(table, [0] * m, [0] * m), columns, lower, upper)
    states = form.slack_basis()
    if start is not None:
        states[n + start[0]], states[start[1]] = LOWER, BASIC
        states = form.settled(states)
    pivots, found = 0, _lowered(Vertex(form, states, clock), 0)
    while not isinstance(found, Decision):
        pivots += 1
        found = _lowered(Vertex(form, found, clock), pivots)
    if found.ray is not None:
        return list(found.ray.numerators), Ratios([])
    y = found.y or Ratios([])
    return None, Ratios([*(-v for v in y.numerators[: Z.n_rows]), *y.numerators[Z.n_rows :]], y.denominator)
