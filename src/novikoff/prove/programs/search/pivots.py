"""The simplex method in whole numbers, from a basis that is nearly right: it always ends, with a proof.

While a basic variable is out of its bounds, it changes places with one that can move; if none can, its row of the
tableau proves that the program has no solution (Dutertre and de Moura 2006). Then the cost falls step by step, until no
variable can lower it, or one can forever (Dantzig 1951). At first the choice that keeps most reduced costs right is
taken, and after some pivots the smallest number (Bland 1977), so that it cannot go round in circles.
"""

from typing import NamedTuple

import numpy as np

from novikoff.prove.exact.clock import Clock
from novikoff.prove.programs.ratios import Ratios
from novikoff.prove.programs.search.highs import BASIC, LOWER, UPPER, States
from novikoff.prove.programs.search.vertex import Form, Vertex

# Pivots that are chosen well, before they are chosen so that they end.
CHOSEN = 100


class Decision(NamedTuple):
    """What the program is; x, the multipliers y of the rows, or the ray, as the claim needs them."""

    claim: str
    x: Ratios | None = None
    y: Ratios | None = None
    ray: Ratios | None = None
    pivots: int = 0


def decide_exactly(form: Form, states: States, clock: Clock) -> Decision:
    """What the program is; OutOfTimeError when the clock is over, SingularError if a basis cannot be solved."""
    pivots = 0
    while True:
        vertex = Vertex(form, states, clock)
        next_states = _repaired(vertex, pivots) if vertex.broken else _lowered(vertex, pivots)
        if isinstance(next_states, Decision):
            return next_states._replace(pivots=pivots)
        states, pivots = next_states, pivots + 1


def _repaired(vertex: Vertex, pivots: int) -> States | Decision:
    """The states after a variable that is out of its bounds has left the basis; or the proof that it cannot."""
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
    """How much cost a variable takes to move another by 1: about, for it only guides the choice."""
    cost = vertex.misses[variable] if variable < vertex.form.n else vertex.y.numerators[variable - vertex.form.n]
    try:
        return abs(int(cost) / rate)
    except OverflowError:
        return float("inf")


def _lowered(vertex: Vertex, pivots: int) -> States | Decision:
    """The states after one more step down; or the proof that there is none, or no end of them."""
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
    """Where variables reach their bounds, as a fraction of two whole numbers, the variable, and which bound."""
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
