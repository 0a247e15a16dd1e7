"""Weights with which all points cancel: those of the gradient of logistic regression, where it vanishes.

Where points overlap, the loss sum of log(1 + exp(-<z, b>)) has a minimum, and there the points add up to 0, each with a
weight 1 / (1 + exp(<z, b>)) > 0: an obstruction of all of them. Newton's method finds it with products alone, in
thousands of dimensions, where linear programs take long.
"""

from typing import Any

import numpy as np

from novikoff.prove.exact.clock import Clock
from novikoff.prove.separable.points import Floats

# Rounds, what may be left of the sum, and a margin that no point has at a minimum that can be seen.
ROUNDS = 60
NOTHING = 1e-5
FAR = 30.0
# How well a step is solved for: better is of no use, and what is left in the end is rounding, which no step removes.
ROUGH = 1e-3


def balanced(Z: Any, E: Any, clock: Clock) -> Floats | None:
    """Positive weights of the rows of Z, and some of those of E, that add up to nearly 0; None if there are none.

    Newton's method stops where the sum gets no smaller: what is left of it is rounding.
    """
    from scipy.sparse import csr_array, vstack
    from scipy.sparse.linalg import LinearOperator, cg

    A = vstack([csr_array(Z), csr_array(E), -csr_array(E)], format="csr")
    At = csr_array(A.T)
    squares = csr_array((At.data**2, At.indices, At.indptr), shape=At.shape)
    b, best, least = np.zeros(A.shape[1]), None, np.inf
    for _ in range(ROUNDS):
        margins = A @ b
        weights = 1.0 / (1.0 + np.exp(np.minimum(margins, 2 * FAR)))
        gradient = At @ weights
        size = float(np.abs(gradient).max(initial=0.0))
        if size >= least and least <= NOTHING:
            break
        if size < least:
            best, least = weights, size
        if margins.max() > FAR or clock.is_over():
            return None
        curvature = weights * (1.0 - weights)
        scales = 1.0 / np.maximum(squares @ curvature, 1e-300)
        hessian = LinearOperator((len(b), len(b)), matvec=lambda v, c=curvature: At @ (c * (A @ v)), dtype=np.float64)
        inverse = LinearOperator((len(b), len(b)), matvec=lambda v, s=scales: s * v, dtype=np.float64)
        with np.errstate(all="ignore"):
            step, _ = cg(hessian, gradient, rtol=ROUGH, maxiter=500, M=inverse)
        if not np.isfinite(step).all():
            break
        b = b + step * min(1.0, 4.0 / max(np.abs(A @ step).max(initial=0.0), 1e-300))
    if best is None or least > NOTHING:
        return None
    of_rows, up, down = np.split(best, [Z.shape[0], Z.shape[0] + E.shape[0]])
    return np.concatenate([of_rows, up - down])
