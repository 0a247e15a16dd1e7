"""From a basis in floats to the answer: the program refined (Gleixner, Steffy and Wolter 2016), then exact pivots.

The basis that HiGHS ends with is exactly right for two programs in three. If not, it fails by very little: about its
tolerances. Then the exact point becomes the origin and its multipliers are taken off the costs, what fails is scaled up
to size 1, and HiGHS solves that program from the same basis. The basis it ends with is the next one.
"""

import math

import numpy as np

from novikoff.prove.exact.clock import Clock
from novikoff.prove.programs.search.highs import BASIC, LOWER, States, solved_in_floats
from novikoff.prove.programs.search.pivots import Decision, decide_exactly
from novikoff.prove.programs.search.vertex import Form, SingularError, Vertex

MOST_REFINEMENTS = 12


def decided_from(form: Form, states: States, clock: Clock) -> Decision:
    """What the program is, from a basis that is believed to be nearly right."""
    try:
        return _refined(form, form.settled(states), clock)
    except SingularError:
        return decide_exactly(form, form.slack_basis(), clock)


def _refined(form: Form, states: States, clock: Clock) -> Decision:
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
    """The states with which HiGHS ends on what is left when the vertex is taken off, and whether they are optimal."""
    from scipy.sparse import eye_array, hstack

    form = vertex.form
    lower, upper = vertex.distances()
    costs = vertex.reduced_costs()
    gap = max((lower[j] if sign > 0 else -upper[j] for j, sign in vertex.broken.items()), default=0.0)
    slope = max((abs(costs[j]) for j in vertex.promising), default=0.0)
    with np.errstate(over="ignore"):
        bounds = np.ldexp(lower, _scale(gap)), np.ldexp(upper, _scale(gap))
        scaled = np.ldexp(costs, _scale(slope))
    A = hstack([form.program.rows, -eye_array(form.m)], format="csr")
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
    """The power of two that takes a size to about 1; what fails by nothing stays as it is."""
    return -math.frexp(size)[1] if size < math.inf else 0
