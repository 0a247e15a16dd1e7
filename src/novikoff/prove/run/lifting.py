"""The hypothetical projection behind the bound for data that no plane separates (Freund and Schapire 1999, Theorem 2).

Give example i a coordinate of its own, with the value Delta: (x_i, Delta e_i), in d + m dimensions for m examples. In
one pass a perceptron makes the same mistakes there as on the x_i: the coordinates of two examples do not meet, so no
score changes. But there the examples are separable. For a unit vector u, a margin gamma and d_i = max(0, gamma -
y_i <u, x_i>), the vector (u, y_1 d_1/Delta, y_2 d_2/Delta, ...) has a product of at least gamma with every y_i (x_i,
Delta e_i), and the length Z = sqrt(1 + D^2/Delta^2), where D^2 is the sum of the d_i^2. So the margin is gamma/Z, the
longest example has R^2 + Delta^2, and Novikoff's theorem says k <= (R^2 + Delta^2)(1 + D^2/Delta^2)/gamma^2. That is
smallest, ((R + D)/gamma)^2, for Delta = sqrt(R D).

In T passes every visit is an example of its own: T m coordinates, and sqrt(T) D in the place of D.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.prove.exact.floats import length_of
from novikoff.prove.run.steps import Steps
from novikoff.prove.separable.margin import Separator, margins, radius
from novikoff.prove.separable.points import Points


@dataclass(frozen=True, eq=False)
class Lifted:
    """Examples with a coordinate for every visit, which `separator` separates with the margin gamma/Z.

    `X` is sparse, with the visits of the first pass first, and `y` has their labels. `delta` is the value of the new
    coordinates, 0 if nothing lacks the margin; `stretch` is Z.
    """

    X: Any
    y: NDArray[Any]
    separator: Separator
    delta: float
    stretch: float
    passes: int
    fit_intercept: bool

    def steps(self, mistake_rows: ArrayLike, mistakes_per_pass: ArrayLike | None = None) -> Steps:
        """The steps of a run, from the rows of its mistakes in order, and how many each pass made if there are more."""
        rows = np.asarray(mistake_rows, dtype=np.int64)
        counts = np.array([len(rows)]) if mistakes_per_pass is None else np.asarray(mistakes_per_pass, dtype=np.int64)
        if len(counts) > self.passes or counts.sum() != len(rows):
            raise ValueError(
                f"{len(rows)} mistakes cannot be those of {len(counts)} passes with {counts.sum()}, of {self.passes} "
                "that were lifted: say in mistakes_per_pass how many each made"
            )
        visits = rows + np.repeat(np.arange(len(counts)), counts) * (len(self.y) // self.passes)
        return Steps.of_rows(self.X, self.y, visits, fit_intercept=self.fit_intercept)


def lift_inseparable(
    X: Any, y: ArrayLike, separator: Separator, margin: float, *, passes: int = 1, fit_intercept: bool = True
) -> Lifted:
    """Examples in the space in which they are separable, for any plane and any margin that one would have liked.

    XOR, with the plane x = 1/2 and the margin 1/4, in one pass:

    >>> from novikoff import follow_proof, freund_schapire_bound, lift_inseparable
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, -1, -1]
    >>> plane = Separator([-1.0, 0.0], 0.5)
    >>> lifted = lift_inseparable(X, y, plane, 0.25)
    >>> lifted.X.shape
    (4, 6)
    >>> proof = follow_proof(lifted.steps([0, 2, 3]), lifted.separator)    # rows 0, 2 and 3 were the mistakes
    >>> proof.holds, proof.bound == freund_schapire_bound(X, y, separator=plane, margin=0.25).bound
    (True, True)
    """
    from scipy import sparse

    if isinstance(passes, bool) or not isinstance(passes, int | np.integer) or passes < 1:
        raise ValueError(f"passes={passes!r} is not a number of passes: a whole number from 1 on")
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin={margin!r} is not a positive finite number")
    points = Points.of(X, y, fit_intercept)
    lack = np.maximum(margin - margins(points.rows, y, separator, fit_intercept), 0.0)
    deviation = math.sqrt(passes) * length_of(lack)
    delta = math.sqrt(radius(points.rows, fit_intercept) * deviation)
    unit = separator.folded / length_of(separator.folded)
    own = points.signs * lack / delta if delta else np.zeros(points.n_points)
    visits = passes * points.n_points
    rows = sparse.vstack([sparse.csr_array(points.rows)] * passes)
    return Lifted(
        X=sparse.hstack([rows, delta * sparse.eye_array(visits)], format="csr"),
        y=np.tile(np.asarray(y), passes),
        separator=Separator(np.concatenate([unit[:-1], np.tile(own, passes)]), float(unit[-1])),
        delta=delta,
        stretch=math.hypot(1.0, deviation / delta if delta else 0.0),
        passes=int(passes),
        fit_intercept=fit_intercept,
    )
