"""Certificates in the feature space of a kernel."""

import numpy as np
from numpy.typing import ArrayLike

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.prove.bounds import mistake_bound
from novikoff.prove.certificate import Bracket, Certificate, Support, Verdict
from novikoff.prove.clock import Clock
from novikoff.prove.fingerprint import fingerprint
from novikoff.prove.gram import checked_gram, kernel_bracket, kernel_radius
from novikoff.prove.hull import nearest_in_feature_space


def certify_kernel(
    K: ArrayLike, y: ArrayLike, *, fit_intercept: bool, tolerance: float, deadline: Clock
) -> Certificate:
    """Whether a plane in feature space separates the examples, with a bracket of its margin; all in float64."""
    gram, labels = checked_gram(K, y)
    constant = float(fit_intercept)
    nearest = nearest_in_feature_space(gram, labels, constant, tolerance=tolerance, deadline=deadline)
    lower, upper = kernel_bracket(gram, labels, constant, nearest.alpha, nearest.weights)
    radius = kernel_radius(gram, constant)
    vanished = upper**2 <= 32 * len(labels) * UNIT_ROUNDOFF * radius**2
    verdict = Verdict.SEPARABLE if lower > 0 else Verdict.OVERLAPPING if vanished else Verdict.UNDECIDED
    rows = np.flatnonzero(nearest.weights > 0)
    return Certificate(
        verdict,
        "float64",
        Bracket(max(lower, 0.0), upper),
        geometric_margin=0.0,
        radius=radius,
        mistake_bound=mistake_bound(radius, lower) if lower > 0 else None,
        problem="kernel",
        fit_intercept=fit_intercept,
        classes=tuple(np.unique(np.asarray(y)).tolist()),
        n_rows=len(labels),
        n_columns=len(labels),
        data_hash=fingerprint(np.asarray(K), y),
        coefficients=tuple(nearest.alpha.tolist()),
        support=Support(tuple(rows.tolist()), tuple(nearest.weights[rows].tolist())),
    )
