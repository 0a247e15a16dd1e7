"""Gordan's alternative (1873), decided exactly: a separator or an obstruction; and the points beyond an obstruction.

A positive combination of points that is 0 (an *obstruction*) proves that nothing separates. Its points lie on every
weak separator; all points that do are the *face*. `face.py` finds it, with a weak separator if there are points beyond
(quasi-separable), or with an obstruction that spans all points (overlapping).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock
from novikoff.prove.exact.algebra import only_null_vector
from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import signs_of_products, whole_points
from novikoff.prove.separable.proofs import as_whole_floats, spanning
from novikoff.prove.separable.search.cutting_planes import Nearest
from novikoff.prove.separable.search.face import find_face
from novikoff.prove.separable.search.minimum_norm import nearest_point
from novikoff.prove.separable.search.scaled import Scaled

# The most dimensions in which the complement of a face is computed.
LARGEST_COMPLEMENT = 2_000

# The most coordinates stored as whole numbers.
MOST_COORDINATES = 5_000_000
# Coordinates in all up to which a face is found in whole numbers alone, which is faster than loading SciPy.
TINY = 2_000
# Epochs of coordinate descent after which, if nothing separates, an obstruction is more likely.
EPOCHS = 50

Whole = list[int]


@dataclass(frozen=True)
class Contradiction:
    """Points and positive whole numbers whose combination is 0."""

    rows: NDArray[np.int64]
    weights: Whole


@dataclass(frozen=True)
class Answer:
    """A vector with a positive product with every point, or an obstruction, or neither: then floats failed.

    If it is `settled`, the obstruction spans the face; if there are points beyond, there is a `weak_separator`, which
    has a positive product with these and 0 with all others.
    """

    nearest: Nearest | None = None
    vector: Whole | None = None
    obstruction: Contradiction | None = None
    weak_separator: Whole | None = None
    settled: bool = False


def decide(points: Points, clock: Clock, tolerance: float = 1e-6) -> Answer:
    """Decide strict separability, with an exact proof: by the nearest point of the hull, or by the face."""
    clock.tell("searching for a separator")
    nearest, is_by_rivals = None, isinstance(points, KeslerPoints)
    if math.isfinite(points.radius):
        patience = math.inf if is_by_rivals else EPOCHS
        nearest = nearest_point(points, tolerance=tolerance, clock=clock, patience=patience)
        answer = _from_floats(points, nearest, clock)
        if answer is not None:
            return answer
    if points.dimension > LARGEST_COMPLEMENT and is_by_rivals:
        return Answer(nearest)
    found = _at_once(points, clock)
    if found is not None and (found.obstruction is not None or found.vector is not None):
        return replace(found, nearest=nearest)
    if nearest is None or nearest.settled or is_by_rivals:
        return Answer(nearest)
    nearest = nearest_point(points, tolerance=tolerance, clock=clock)  # without the limit of its patience
    return _from_floats(points, nearest, clock) or Answer(nearest)


def _from_floats(points: Points, nearest: Nearest, clock: Clock) -> Answer | None:
    """The answer that a float solution suggests, if it can be proved."""
    if nearest.lower > 0:
        vector = as_whole_floats(nearest.separator)
        vector[-1] *= int(points.constant != 0)
        return Answer(nearest, vector=vector) if np.all(signs_of_products(points, vector) > 0) else None
    carriers = np.sort(nearest.rows)
    n_columns = len(points.columns_of(carriers))
    is_hopeless = n_columns + 2 < len(carriers) and not nearest.settled  # many combinations of them are 0
    if is_hopeless or n_columns * len(carriers) > MOST_COORDINATES or len(carriers) == 0:
        return None
    found = cancelling(carriers, whole_points(points.narrow(carriers))[0], clock)
    return None if found is None else Answer(nearest, obstruction=found)


def cancelling(numbers: NDArray[np.int64], rows: Sequence[Whole], clock: Clock) -> Contradiction | None:
    """The obstruction of points that carry the origin in floats, given as whole numbers."""
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    weights = only_null_vector(columns, len(rows), clock)
    if weights is None:
        return None
    weights = weights if weights[0] > 0 else [-weight for weight in weights]
    return Contradiction(numbers, weights) if min(weights) > 0 else None


def reduce_faces(points: Points, obstruction: Contradiction, clock: Clock) -> Answer:
    """Extend an obstruction until a weak separator or a spanning obstruction is found; not for many classes in many
    dimensions."""
    dimension, found = points.dimension, Answer(obstruction=obstruction)
    is_wide = dimension > LARGEST_COMPLEMENT or len(obstruction.rows) * dimension > MOST_COORDINATES
    if isinstance(points, KeslerPoints) and is_wide:
        return found
    span = spanning(points, obstruction.rows, clock)
    if span is not None and len(span.rows) == dimension - (points.constant == 0):  # nothing can be beyond
        return replace(found, settled=True)
    return _at_once(points, clock) or found


def _at_once(points: Points, clock: Clock) -> Answer | None:
    return of_face(Scaled.of(points), clock, exactly=points.n_points * points.dimension <= TINY)


def of_face(rows: Scaled, clock: Clock, exactly: bool) -> Answer | None:
    """A separator; or an obstruction that spans the face, and a weak separator if there is one. None if there is no
    time, or `exactly` is False and floats fail."""
    found = find_face(rows, clock, exactly=exactly)
    if found is None or found.rows is None:
        return None
    if len(found.beyond) == rows.n_points:
        return Answer(vector=found.weak)
    obstruction = Contradiction(found.rows, found.weights or [])
    return Answer(obstruction=obstruction, weak_separator=found.weak, settled=True)
