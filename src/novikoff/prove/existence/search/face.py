"""The face of a cone, as `separable` finds it, and its null space, in which questions about signs are asked."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import Clock
from novikoff.prove.exact.codec import Combination
from novikoff.prove.existence.families import Cone
from novikoff.prove.existence.rows import NullSpace
from novikoff.prove.separable.search import face
from novikoff.prove.separable.search.scaled import ScaledRows

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ConeFace:
    """What proves which rows vanish along every direction.

    `direction`, in the units of the whole rows, is positive on all rows that do not, and 0 on those that do; `free` are
    its free numbers in the null space of the face. The rows, equations included, with their whole weights add up to 0;
    without them it is only proved that the rows beyond are no part of the face.
    """

    is_strict: Mask
    direction: list[int] | None
    free: list[Any]
    obstruction: Combination | None
    null_space: NullSpace


def face_of(cone: Cone, clock: Clock, exactly: bool = False) -> ConeFace | None:
    """The face of a cone with its proof; None if it could not be proved in time. Raises OutOfTimeError."""
    proof = face.find_face(ScaledRows.of_rows(cone.whole), clock, cone.is_equation, exactly=exactly)
    if proof is None:
        return None
    is_strict = np.zeros(cone.whole.n_rows, dtype=bool)
    is_strict[proof.beyond] = True
    null_space = NullSpace.of(cone.whole.in_rows(np.flatnonzero(~is_strict)), clock)
    obstruction = None
    if proof.rows is not None and proof.weights is not None:
        obstruction = Combination(tuple(proof.rows.tolist()), tuple(proof.weights))
    free = [] if proof.weak is None else null_space.free_numbers(proof.weak)
    return ConeFace(is_strict, proof.weak, free, obstruction, null_space)
