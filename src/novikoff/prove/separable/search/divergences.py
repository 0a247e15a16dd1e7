"""Which coefficients logistic regression sends to infinity, and with which sign.

The likelihood never falls along a weak separator w: it has its maximum at infinity there, in the direction of w. A
coefficient stays finite if every weak separator has 0 in its place, which is a matter of linear algebra: the unit
vector lies in the span of the whole obstruction. If some weak separator has a positive number there and none a negative
one, it goes to +infinity.

That some weak separator has a positive number in a place is the question whether the points, together with the unit
vector of that place, can be strictly separated in the complement of the face; and the answer comes with its proof.
"""

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import null_vectors
from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.certificate import Divergence
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import whole_points
from novikoff.prove.separable.proofs import places_that_vary
from novikoff.prove.separable.search.faces import MOST_COORDINATES, Face, Whole, decide


def divergences(
    points: Points, weak: Whole, face: NDArray[np.int64], left: NDArray[np.int64], clock: Clock
) -> dict[int | str, Divergence] | None:
    """The diverging columns, and "intercept"; None if some sign could not be proved.

    `face` are the points of the whole obstruction, and `weak` is a weak separator that has every point of `left`, which
    are all that the face does not span, strictly on its side.
    """
    if points.dimension * max(len(face), points.dimension - len(face)) > MOST_COORDINATES:
        return None
    places = places_that_vary(points, face, clock)
    complement = null_vectors(whole_points(points, face)[0], points.dimension, clock) if len(face) else None
    if places is None or (len(face) and complement is None):
        return None
    found: dict[int | str, Divergence] = {}
    for place in places:
        if clock.is_over():
            return None
        divergence = _sign(points, weak, complement, left, place, clock)
        if divergence is None:
            return None
        found["intercept" if place == points.dimension - 1 else place] = divergence
    return found


def _sign(
    points: Points, weak: Whole, complement: list[Whole] | None, left: NDArray[np.int64], place: int, clock: Clock
) -> Divergence | None:
    witnesses: list[tuple[int, ...]] = []
    proof: tuple[tuple[int, ...], tuple[int, ...], int] | None = None
    for sign in (1, -1):
        if sign * weak[place] > 0:
            witnesses.append(tuple(weak))
            continue
        unit = [0] * points.dimension
        unit[place] = sign
        answer = decide(Face(points, left, complement, [unit]), clock)
        if answer.vector is not None:
            witnesses.append(tuple(answer.vector))
        elif answer.obstruction is not None:
            proof = _farkas(left, answer.obstruction.rows, answer.obstruction.weights)
        else:
            return None
    if len(witnesses) == 2:
        return Divergence("sign undetermined", witnesses=tuple(witnesses))
    if proof is None or not witnesses:
        return None
    rows, weights, scale = proof
    return Divergence("+inf" if witnesses[0][place] > 0 else "-inf", rows, weights, scale, tuple(witnesses))


def _farkas(
    left: NDArray[np.int64], rows: NDArray[np.int64], weights: Whole
) -> tuple[tuple[int, ...], tuple[int, ...], int] | None:
    """An obstruction that contains the unit vector of the sign that was ruled out, as a combination that gives the
    opposite unit vector: the rows, their weights, and how many times the unit vector they give."""
    extra = [weight for row, weight in zip(rows, weights, strict=True) if row == len(left)]
    if not extra:
        return None
    own = [(int(left[row]), weight) for row, weight in zip(rows, weights, strict=True) if row < len(left)]
    return tuple(row for row, _ in own), tuple(weight for _, weight in own), extra[0]
