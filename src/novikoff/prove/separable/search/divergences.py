"""Which coefficients logistic regression sends to infinity, and with which sign.

The likelihood never falls along a weak separator w: it has its maximum at infinity there, in the direction of w. A
coefficient stays finite if every weak separator has 0 in its place, which is a matter of linear algebra: the unit
vector lies in the span of the whole obstruction. If some weak separator has a positive number there and none a negative
one, it goes to +infinity.

That some weak separator has a positive number in a place is the question whether the points, together with the unit
vector of that place, can be strictly separated in the complement of the face; and the answer comes with its proof.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import dot, null_vectors
from novikoff.prove.exact.clock import Clock
from novikoff.prove.exact.floats import scaled_floats
from novikoff.prove.separable.certificate import UNDETERMINED, Divergence
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import whole_points
from novikoff.prove.separable.search.distinct import Distinct
from novikoff.prove.separable.search.faces import MOST_COORDINATES, Answer, Face, Obstruction, Whole, decide

# Any separator of a cone will do, so its margin need not be quite the largest.
TOLERANCE = 0.01
# A separator is rounded to so many bits, if it is one still.
BITS = 12
# Whole numbers below this are floats.
FLOATS = 2**53


def divergences(
    points: Points,
    weak: Whole,
    face: NDArray[np.int64],
    left: NDArray[np.int64],
    clock: Clock,
    most: float = math.inf,
) -> dict[int | str, Divergence] | None:
    """The diverging columns, and "intercept"; None if some sign could not be proved.

    `face` are the points of the whole obstruction, and `weak` is a weak separator that has every point of `left`, which
    are all that the face does not span, strictly on its side. None also if that means to look at more numbers than
    `most`, in all.
    """
    if points.dimension * max(len(face), points.dimension - len(face)) > MOST_COORDINATES:
        return None
    complement = null_vectors(whole_points(points, face)[0], points.dimension, clock) if len(face) else None
    if len(face) and complement is None:
        return None
    last = points.dimension - (points.constant == 0)
    places = [j for j in range(last) if complement is None or any(vector[j] for vector in complement)]
    if len(places) * len(left) * points.dimension > most:
        return None
    cone = _Cone.of(points, left, complement, clock)
    found: dict[int | str, Divergence] = {}
    known = [tuple(weak)]
    for number, place in enumerate(places):
        clock.tell(f"signs of coefficients, {number + 1:,} of {len(places):,}")
        divergence = None if clock.is_over() else _sign(cone, known, place, clock)
        if divergence is None:
            return None
        found["intercept" if place == points.dimension - 1 else place] = divergence
    return found


@dataclass(frozen=True, eq=False)
class _Cone:
    """Points that all vectors of a complement (None: of the space) are asked about: `left` are their numbers.

    They are in coordinates of the complement, in units of a power of two, if `is_inside`. Along `free` vectors of the
    complement none of the points moves.
    """

    points: Points
    left: NDArray[np.int64]
    complement: list[Whole] | None
    is_inside: bool
    exponent: int = 0
    free: Sequence[Whole] = ()

    @classmethod
    def of(cls, points: Points, left: NDArray[np.int64], complement: list[Whole] | None, clock: Clock) -> "_Cone":
        distinct = Distinct.of(points.part(left))
        left = left[distinct.single]
        if complement is None or len(left) * points.dimension > MOST_COORDINATES:
            return cls(points, left, complement, is_inside=False)
        from flint import fmpz_mat

        whole, exponent = whole_points(points, left)
        inside = fmpz_mat(whole) * fmpz_mat(complement).transpose()
        largest = max(max(abs(int(v)) for v in inside.entries()), max(abs(v) for row in complement for v in row))
        if largest >= FLOATS:
            return cls(points, left, complement, is_inside=False)
        rows = np.array([[float(v) for v in row] for row in inside.tolist()])
        kernel = null_vectors([[int(v) for v in row] for row in inside.tolist()], len(complement), clock) or []
        free = (fmpz_mat(kernel) * fmpz_mat(complement)).tolist() if kernel else []
        return cls(
            Points(rows, np.ones(len(rows), dtype=np.int8), 0.0),
            left,
            complement,
            True,
            exponent,
            [[int(v) for v in vector] for vector in free],
        )

    def freely(self, weak: tuple[int, ...], place: int, sign: int) -> tuple[int, ...] | None:
        """A weak separator with this sign in a place, from any, along a free vector."""
        vector = next((vector for vector in self.free if vector[place]), None)
        if vector is None:
            return None
        times = (abs(weak[place]) // abs(vector[place]) + 1) * (sign if vector[place] > 0 else -sign)
        return tuple(w + times * v for w, v in zip(weak, vector, strict=True))

    def along(self, place: int, sign: int, clock: Clock) -> Answer:
        """Whether some vector has positive products with the points, and this sign in a place; the vector itself is
        in the whole space, and an obstruction may contain one point more, the last: the unit vector."""
        if not self.is_inside or self.complement is None:
            unit = [0] * self.points.dimension
            unit[place] = sign
            return decide(Face(self.points, self.left, self.complement, [unit]), clock, TOLERANCE)
        unit = [sign * vector[place] for vector in self.complement]
        rows = np.vstack([self.points.rows, np.array(unit, dtype=np.float64)])
        cone = Points(rows, np.ones(len(rows), dtype=np.int8), 0.0)
        face = Face(cone, np.arange(len(rows)))
        answer = decide(face, clock, TOLERANCE)
        if answer.vector is None:
            return answer
        rounded = [int(v) for v in np.rint(np.ldexp(scaled_floats(answer.vector), BITS))]
        inside = rounded if face.is_separated_by(rounded) else answer.vector
        return Answer(
            answer.nearest, vector=[dot(inside[:-1], column) for column in zip(*self.complement, strict=True)]
        )

    def farkas(self, found: Obstruction) -> tuple[tuple[int, ...], tuple[int, ...], int] | None:
        """An obstruction that contains the unit vector of the sign that was ruled out, as a combination that gives the
        opposite unit vector: the rows, their weights, and how many times the unit vector they give."""
        weights = dict(sorted(zip(found.rows.tolist(), found.weights, strict=True)))
        extra = weights.pop(len(self.left), None)
        if extra is None:
            return None
        shift = max(-self.exponent, 0)
        rows = tuple(int(self.left[row]) for row in weights)
        return rows, tuple(weight << shift for weight in weights.values()), extra << max(self.exponent, 0)


def _sign(cone: _Cone, known: list[tuple[int, ...]], place: int, clock: Clock) -> Divergence | None:
    """The signs that weak separators have in a place; those that were found are known to the next."""
    witnesses: list[tuple[int, ...]] = []
    proof: tuple[tuple[int, ...], tuple[int, ...], int] | None = None
    for sign in (1, -1):
        witness = next((vector for vector in known if sign * vector[place] > 0), None)
        witness = witness or cone.freely(known[0], place, sign)
        if witness is None:
            answer = cone.along(place, sign, clock)
            if answer.vector is not None:
                witness = tuple(answer.vector)
            elif answer.obstruction is not None:
                proof = cone.farkas(answer.obstruction)
            else:
                return None
        if witness is not None:
            witnesses.append(witness)
            known += [] if witness in known else [witness]
    if len(witnesses) == 2:
        return Divergence(UNDETERMINED, witnesses=tuple(witnesses))
    if proof is None or not witnesses:
        return None
    rows, weights, scale = proof
    return Divergence("+inf" if witnesses[0][place] > 0 else "-inf", rows, weights, scale, tuple(witnesses))
