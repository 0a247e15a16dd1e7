"""One question behind separability and the existence of estimates: which points lie on every weak separator?

Given points z and rows e that must vanish, a *weak separator* is a vector b with <z, b> >= 0 for every point,
<e, b> = 0 for every such row, and <z, b> > 0 for at least one point. The *face* is what all of them leave at 0.
Everything is proved in exact arithmetic before it is returned; what could not be proved is None.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import null_vectors
from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.certificate import Divergence
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import whole_points
from novikoff.prove.separable.search.divergences import divergences
from novikoff.prove.separable.search.faces import Face, Obstruction, ReducedFaces, decide, reduce_faces

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FaceProof:
    """What was proved of points z (the rows of Z) and rows e that must vanish (the rows of E).

    `on_face` says of every point whether every weak separator has product 0 with it. `weak` is a weak separator, in
    whole numbers, that has a positive product with all other points; None if there are none.

    `rows` with their positive `weights`, and `zero_rows` with their `zero_weights` of any sign but 0, add up to 0, and
    `rows` with all rows of E span the points on the face (Stiemke).

    `directions` has, for every column in which some weak separator differs from 0, the signs that weak separators
    have there, and why (as `Divergence` in a certificate; its rows are rows of Z off the face, and the combination
    equals a multiple of the unit vector up to something in the span of `rows` and `zero_rows`). None if not asked for,
    or not proved in time. Columns that are `unidentified` are not among them: those have a vector, given here, that is
    0 on every row of Z and E and not 0 in that column, so that no data can tell what stands there.
    """

    on_face: NDArray[np.bool_]
    weak: tuple[int, ...] | None
    rows: tuple[int, ...]
    weights: tuple[int, ...]
    zero_rows: tuple[int, ...]
    zero_weights: tuple[int, ...]
    unidentified: Mapping[int, tuple[int, ...]]
    directions: Mapping[int, Divergence] | None


def find_face(Z: Any, E: Any = None, *, clock: Clock | None = None, directions: bool = True) -> FaceProof | None:
    """The face of points Z (rows of a float64 matrix, dense or CSR) under <e, b> = 0 for the rows of E; None if the
    time was used up, or if the answer could not be proved.

    >>> proof = find_face(np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]]))
    >>> proof.on_face.tolist(), proof.weak, proof.rows, proof.weights
    ([True, False, True], (0, 1), (0, 2), (1, 1))
    >>> {column: direction.sign for column, direction in proof.directions.items()}
    {1: '+inf'}
    """
    clock = clock or Clock(None)
    every = _with_both_signs(Z, E)
    n_points, n_zero = Z.shape[0], 0 if E is None else E.shape[0]
    reduced = _reduced(every, n_points, clock)
    if reduced is None:
        return None
    on_face = np.ones(every.n_points, dtype=bool)
    on_face[reduced.left] = False
    weak = reduced.weak_separator
    rows, weights = _of_points(reduced.obstruction, n_points)
    zero_rows, zero_weights = _of_zero_rows(reduced.obstruction, n_points, n_zero)
    unidentified = _unidentified(every, clock)
    if unidentified is None:
        return None
    found: dict[int, Divergence] | None = {}
    if weak is not None and directions:
        found = _directions(every, reduced, unidentified, clock)
    return FaceProof(
        on_face[:n_points],
        None if weak is None else tuple(weak[:-1]),
        rows,
        weights,
        zero_rows,
        zero_weights,
        unidentified,
        found if directions else None,
    )


def _with_both_signs(Z: Any, E: Any) -> Points:
    """All points, then the rows that must vanish, then their opposites."""
    if hasattr(Z, "tocsr"):
        from scipy.sparse import csr_matrix, vstack

        rows = csr_matrix(Z, dtype=np.float64) if E is None else vstack([Z, E, -E], format="csr", dtype=np.float64)
    else:
        plain = np.asarray(Z, dtype=np.float64)
        rows = plain if E is None else np.vstack([plain, E, -np.asarray(E, dtype=np.float64)])
    return Points(rows, np.ones(rows.shape[0], dtype=np.int8), 0.0)


def _reduced(every: Points, n_points: int, clock: Clock) -> ReducedFaces | None:
    numbers = np.arange(every.n_points)
    if every.n_points > n_points:
        reduced = reduce_faces(every, Obstruction(numbers[n_points:], [1] * (every.n_points - n_points)), clock)
        return reduced if reduced.settled else None
    answer = decide(Face(every, numbers), clock)
    if answer.vector is not None:
        return ReducedFaces(Obstruction(numbers[:0], []), numbers, answer.vector, settled=True)
    if answer.obstruction is None:
        return None
    reduced = reduce_faces(every, answer.obstruction, clock)
    return reduced if reduced.settled else None


def _of_points(found: Obstruction, n_points: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    own = sorted((row, w) for row, w in zip(found.rows.tolist(), found.weights, strict=True) if row < n_points)
    return tuple(row for row, _ in own), tuple(w for _, w in own)


def _of_zero_rows(found: Obstruction, n_points: int, n_zero: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The rows that must vanish, each with its weight minus that of its opposite, unless that is 0."""
    total: dict[int, int] = {}
    for row, weight in zip(found.rows.tolist(), found.weights, strict=True):
        if row >= n_points:
            sign = 1 if row < n_points + n_zero else -1
            total[(row - n_points) % n_zero] = total.get((row - n_points) % n_zero, 0) + sign * weight
    named = sorted(row for row, weight in total.items() if weight)
    return tuple(named), tuple(total[row] for row in named)


def _unidentified(every: Points, clock: Clock) -> dict[int, tuple[int, ...]] | None:
    """The columns in which some vector that is 0 on all points differs from 0, each with one."""
    rows, _ = whole_points(every)
    kernel = null_vectors([row[:-1] for row in rows], every.dimension - 1, clock)
    if kernel is None:
        return None
    found: dict[int, tuple[int, ...]] = {}
    for vector in kernel:
        for column, value in enumerate(vector):
            if value:
                found.setdefault(column, tuple(vector))
    return dict(sorted(found.items()))


def _directions(
    every: Points, reduced: ReducedFaces, unidentified: Mapping[int, Any], clock: Clock
) -> dict[int, Divergence] | None:
    weak = reduced.weak_separator
    assert weak is not None
    found = divergences(every, weak, reduced.obstruction.rows, reduced.left, clock)
    if found is None:
        return None
    return {
        int(column): direction._replace(witnesses=tuple(witness[:-1] for witness in direction.witnesses))
        for column, direction in found.items()
        if column not in unidentified
    }
