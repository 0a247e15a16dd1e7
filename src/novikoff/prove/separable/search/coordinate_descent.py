"""Coordinate descent on the multipliers of the points, which needs one row at a time."""

import itertools
import math
from dataclasses import replace

import numpy as np

from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.search.cutting_planes import MOST_FOR_CUTTING, Search, cut, is_late
from novikoff.prove.separable.search.hull_points import Coordinates, Floats, Source

# Seconds for who sets no clock: on points that no plane separates it would never end.
PATIENCE = 40.0


def descend_by_coordinates(source: Source, tolerance: float, clock: Clock | None) -> Search:
    """Epochs of coordinate descent in random order, with a look at the bracket now and then.

    On points that no plane separates the multipliers grow forever, and fastest on the points that are to blame. So
    after some epochs cutting planes try those, and also finish what is nearly finished if few points carry it.
    """
    descent = source.descent()
    clock = clock or Clock(PATIENCE)
    started = clock.now()
    generator = np.random.default_rng(0)
    search = Search(np.zeros(1, dtype=np.int64), np.ones(1))
    alpha_before = descent.alpha.copy()
    next_try = 50
    for epoch in itertools.count(1):
        off = descent.epoch(generator.permutation(source.n_points))
        if off > tolerance and epoch % 10 and not is_late(clock):
            continue
        search = _with_multipliers(source, search, descent.alpha)
        if search.agrees(tolerance):
            return replace(search, settled=True)
        if is_late(clock):
            break
        if epoch >= next_try:
            next_try *= 4
            # An attempt that fails may cost about as much as the descent up to it.
            until = clock.within(max(2.0, clock.now() - started))
            search = _try_few(source, search, descent.alpha, descent.alpha - alpha_before, tolerance, until)
            alpha_before = descent.alpha.copy()
            if search.settled:
                break
    return search


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
