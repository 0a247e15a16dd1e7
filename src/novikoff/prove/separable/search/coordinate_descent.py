"""Coordinate descent on the multipliers of the points, which needs one row at a time."""

import itertools
import math
from dataclasses import replace

import numpy as np

from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.search.cutting_planes import MOST_FOR_CUTTING, Search, cut, is_late
from novikoff.prove.separable.search.hull_points import Coordinates, Floats, Numbers, Source

# Seconds for who sets no clock: on points that no plane separates it would never end.
PATIENCE = 40.0
# Seconds that an attempt may take even if the descent up to it took less.
LEAST_ATTEMPT = 2.0


def descend_by_coordinates(source: Source, tolerance: float, clock: Clock | None, patience: float = math.inf) -> Search:
    """Epochs of coordinate descent in random order, with a look at the bracket now and then.

    On points that no plane separates the multipliers grow forever, and fastest on the points that are to blame. So
    after some epochs cutting planes try those, and also finish what is nearly finished if few points carry it. As long
    as nothing separates, each part of the points that might cancel has its turn, too, the likeliest before all else.
    It ends after about `patience` epochs if nothing separates then.
    """
    clock = clock or Clock(PATIENCE)
    started = clock.now()
    search, parts = Search(np.zeros(1, dtype=np.int64), np.ones(1)), source.parts()
    cancelling = _cancelling(next(parts, None), tolerance, clock, clock.within(LEAST_ATTEMPT))
    if cancelling is not None:
        return cancelling
    descent = source.descent()
    generator = np.random.default_rng(0)
    alpha_before = descent.alpha.copy()
    next_try = 50
    for epoch in itertools.count(1):
        off = descent.epoch(generator.permutation(source.n_points))
        if off > tolerance and epoch % 10 and not is_late(clock):
            continue
        search = _with_multipliers(source, search, descent.alpha)
        if search.agrees(tolerance):
            return replace(search, settled=True)
        if is_late(clock) or (search.lower <= 0 and epoch >= patience):
            break
        # An attempt that fails may cost about as much as the descent up to it.
        until = clock.within(max(LEAST_ATTEMPT, clock.now() - started))
        cancelling = _cancelling(next(parts, None), tolerance, clock, until) if search.lower <= 0 else None
        if cancelling is not None:
            return cancelling
        if epoch >= next_try:
            next_try *= 4
            search = _try_few(source, search, descent.alpha, descent.alpha - alpha_before, tolerance, until)
            alpha_before = descent.alpha.copy()
            if search.settled:
                break
    return search


def _cancelling(part: tuple[Source, Numbers] | None, tolerance: float, clock: Clock, until: Clock) -> Search | None:
    """The points of a part that carry the origin, by their numbers among all; None if none do.

    Cutting planes come to an end by themselves; descent has to be told when.
    """
    if part is None:
        return None
    source, numbers = part
    is_small = min(source.n_points, source.dimension) <= MOST_FOR_CUTTING
    found = cut(source, tolerance, clock)[0] if is_small else descend_by_coordinates(source, tolerance, until)
    if not found.settled or found.lower > 0:
        return None
    return Search(numbers[found.rows], found.weights, upper=found.upper, settled=True)


def _with_multipliers(source: Source, search: Search, alpha: Floats) -> Search:
    rows = np.flatnonzero(alpha)
    weights = alpha[rows] / alpha[rows].sum()
    coordinates = Coordinates(np.zeros((0, 0)), None)
    separator = source.separator(rows, weights, coordinates, np.zeros(0))
    search = search.with_point(rows, weights, source.length(rows, weights))
    return search.with_separator(separator, float(source.margins(separator).min()))


def _try_few(
    source: Source, search: Search, alpha: Floats, growth: Floats, tolerance: float, clock: Clock | None
) -> Search:
    """Cutting planes from the points that carry the nearest one, or from the fastest growers if none separates."""
    rows = np.flatnonzero(alpha)
    if search.lower > 0 and (len(rows) > 3 * MOST_FOR_CUTTING or search.lower < 0.9 * search.upper):
        return search
    if search.lower <= 0 and len(rows) > MOST_FOR_CUTTING:
        rows = np.sort(rows[np.argpartition(-growth[rows], MOST_FOR_CUTTING)[:MOST_FOR_CUTTING]])
    start = replace(search, rows=rows, weights=alpha[rows] / alpha[rows].sum(), upper=math.inf)
    found = cut(source, tolerance, clock, start)[0]
    if found.upper <= search.upper:
        return found
    found = replace(found, rows=search.rows, weights=search.weights, upper=search.upper)
    return replace(found, settled=found.agrees(tolerance))
