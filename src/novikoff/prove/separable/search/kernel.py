"""The search for a separator in the feature space of a kernel: first in floats, then exactly.

Witnesses from floats are tested by the rules of `feature_space`. If there are none and the kernel is rational, the
points are the rows of the matrix G of all products, in independent columns of G: for a polynomial kernel in few
dimensions these are few, and their face in whole numbers decides.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.examples import Examples
from novikoff.engine.clock import Clock, OutOfTimeError
from novikoff.prove.exact.algebra import as_matrix
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.exact.modular import independent
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.separable.certificate import Certificate, Obstruction, Support, Witnesses
from novikoff.prove.separable.feature_space import InFeatureSpace, conclude_kernel
from novikoff.prove.separable.kernels import ExactKernel, Products
from novikoff.prove.separable.proofs import as_whole_floats
from novikoff.prove.separable.search.cutting_planes import Nearest
from novikoff.prove.separable.search.gordan import of_face
from novikoff.prove.separable.search.minimum_norm import nearest_in_feature_space
from novikoff.prove.separable.search.scaled import ScaledRows

# The first precision of coefficients, short and nearly always enough; the next is that of floats.
FEW_BITS = 40

# Negative squared lengths down to this, relative to R^2, are attributed to the rounding of the matrix.
ROUNDING = Fraction(1, 10**8)

# The most powers of e in balls for which a margin is proved.
MOST_POWERS = 2_000_000

# The most numbers of the matrix, and of its independent columns, for which the face is found in whole numbers.
MOST_PRODUCTS, SMALL = 160_000, 40_000

# The most rows read into memory, as the products are their number squared, and the most numbers in all.
MOST_ROWS, MOST_NUMBERS = 10_000, 50_000_000


def certify_kernel(
    X: Any,
    y: Any,
    kernel: ExactKernel,
    *,
    fit_intercept: bool,
    tolerance: float,
    time_limit: float | None,
    progress: Callable[[str], None] | None = None,
) -> Certificate:
    """Certify whether a hyperplane in feature space separates the examples, and with what margin.

    `Examples` contain their labels, and are read into memory. `progress` is called with a description of every step.
    """
    if isinstance(X, Examples):
        _check_size(X)
    clock = Clock(time_limit, told=progress)
    data = InFeatureSpace.of(X, y, kernel, fit_intercept, clock)
    clock.tell("searching for a separator")
    if any(data.contradicted) and not kernel.is_rational:
        return conclude_kernel(data, Witnesses(obstruction=_contradictions(data)))
    with suppress(OutOfTimeError, MemoryError):
        return _proved(data, tolerance, clock)
    return conclude_kernel(data, Witnesses())


def _proved(data: InFeatureSpace, tolerance: float, clock: Clock) -> Certificate:
    """The certificate of what can be proved; raises OutOfTimeError if time runs out."""
    kernel, nearest = data.products.kernel, _nearest(data.products, tolerance, clock)
    support = None if nearest is None else _support(nearest)
    clock.tell("proving what was found")
    for coefficients in () if nearest is None else _candidates(nearest):
        found = _certificate_if_proved(data, Witnesses(coefficients=coefficients, support=support))
        if found is not None:
            return found
    if not kernel.is_rational:
        return conclude_kernel(data, Witnesses())
    exactly = _decided_exactly(data, clock)
    clock.tell("proving what was found")
    if exactly.coefficients is not None:
        exactly = Witnesses(coefficients=exactly.coefficients, support=support or _shortest_point(data.products))
    found = _certificate_if_proved(data, exactly) if exactly.coefficients or exactly.obstruction else None
    return found or _bounded(data, support)


def _check_size(examples: Examples) -> None:
    """Raise ValueError for examples that are too large for a kernel matrix."""
    if examples.n_rows > MOST_ROWS or examples.n_entries > MOST_NUMBERS:
        raise ValueError(
            f"{examples.n_rows:,} rows of {examples.n_entries:,} numbers are too many for a kernel, whose proof has "
            f"them in memory and compares each with all others: at most {MOST_ROWS:,} rows of {MOST_NUMBERS:,} numbers "
            "in all are read; ask about fewer rows, or lift the features and ask without a kernel"
        )


def _bounded(data: InFeatureSpace, support: Support | None) -> Certificate:
    """Undecided, with the upper bound of the support; without one if the matrix is too inexact."""
    if support is None:
        return conclude_kernel(data, Witnesses())
    whole = as_whole_floats(support.weights)
    square = data.products.square(support.rows, whole, bits=0)[1] / sum(whole) ** 2
    if square < -ROUNDING * data.products.radius_square:
        raise ValueError(
            f"this is not a valid kernel matrix: a combination of the rows {list(support.rows)[:8]} has a negative "
            f"squared length, {float(square):.3g}; a kernel matrix is positive semidefinite"
        )
    return conclude_kernel(data, Witnesses(support=support if square >= 0 else None))


def _certificate_if_proved(data: InFeatureSpace, found: Witnesses) -> Certificate | None:
    """The certificate, if the witnesses prove one."""
    try:
        return conclude_kernel(data, found)
    except CertificateError:
        return None


def _contradictions(data: InFeatureSpace) -> Obstruction:
    """For every point with both labels, one row of each."""
    signs = data.products.signs.tolist()
    chosen: dict[tuple[int, int], int] = {}
    for row, is_contradicted in enumerate(data.contradicted):
        if is_contradicted:
            chosen.setdefault((data.products.first_equals[row], signs[row]), row)
    rows = sorted(chosen.values())
    return Obstruction(tuple(rows), (1,) * len(rows), spans=all(data.contradicted))


# -- by floats --------------------------------------------------------------------------------------------------------


def _nearest(products: Products, tolerance: float, clock: Clock) -> Nearest | None:
    if not products.kernel.is_rational and products.n_points**2 > MOST_POWERS:
        return None
    with np.errstate(all="ignore"):
        gram = float_gram(products)
    if not np.isfinite(gram).all():
        return None
    return nearest_in_feature_space(gram, products.signs, float(products.constant), tolerance=tolerance, clock=clock)


def float_gram(products: Products) -> NDArray[np.float64]:
    """The kernel matrix in floats, for the search only."""
    X, kernel = products.X, products.kernel
    if kernel.form == "precomputed":
        return X
    if kernel.form == "laplacian":
        distances = np.abs(X[:, None, :] - X[None, :, :]).sum(axis=2)
        return np.asarray(np.exp(-(kernel.gamma or 1.0) * distances))
    inner = X @ X.T
    if kernel.form == "rbf":
        squares = np.diagonal(inner)
        distances = np.maximum(squares[:, None] + squares[None, :] - 2 * inner, 0.0)
        return np.asarray(np.exp(-(kernel.gamma or 1.0) * distances))
    if kernel.form == "linear":
        return np.asarray(inner)
    return np.asarray(((kernel.gamma or 1.0) * inner + (kernel.coef0 or 0.0)) ** (kernel.degree or 1))


def _candidates(nearest: Nearest) -> list[tuple[int, ...]]:
    """The coefficients of the separator found in floats, rounded to few bits and unrounded."""
    if not nearest.lower > 0:
        return []
    largest = float(np.abs(nearest.separator).max())
    few = np.rint(nearest.separator / largest * 2.0**FEW_BITS)
    return [tuple(int(v) for v in few), tuple(as_whole_floats(nearest.separator))]


def _support(nearest: Nearest) -> Support:
    order = [place for place in np.argsort(nearest.rows).tolist() if nearest.weights[place] > 0]
    return Support(tuple(nearest.rows[order].tolist()), tuple(nearest.weights[order].tolist()))


def _shortest_point(products: Products) -> Support:
    """The shortest point alone, which gives an upper bound."""
    squares = [products.whole([row], [row])[0][0] for row in range(products.n_points)]
    return Support((min(range(len(squares)), key=squares.__getitem__),), (1.0,))


# -- exactly ----------------------------------------------------------------------------------------------------------


def _decided_exactly(data: InFeatureSpace, clock: Clock) -> Witnesses:
    """What the face of the rows of G, in independent columns of G, proves; no witnesses if G is too large, or time runs
    out."""
    n = data.products.n_points
    if n * n > MOST_PRODUCTS:
        return Witnesses()
    everything = list(range(n))
    gram = data.products.whole(everything, everything)
    chosen = independent(as_matrix(gram), clock)
    if chosen is None:
        return Witnesses()
    pivots = chosen.columns
    # A matrix of rounded numbers has full rank because of its rounding errors, so a proof would mean nothing.
    if n * len(pivots) > SMALL or (data.products.kernel.form == "precomputed" and len(pivots) == n):
        return Witnesses()
    table = WholeMatrix.of_table([[line[j] for j in pivots] for line in gram], len(pivots))
    answer = of_face(ScaledRows.of_rows(table), clock, exactly=True)
    if answer is None:
        return Witnesses()
    if answer.vector is not None:
        return Witnesses(coefficients=_in_places(n, pivots, answer.vector))
    assert answer.obstruction is not None
    rows, weights = answer.obstruction.rows.tolist(), answer.obstruction.weights
    obstruction = Obstruction(tuple(rows), tuple(weights), spans=answer.weak_separator is None)
    if answer.weak_separator is None:
        return Witnesses(obstruction=obstruction)
    return Witnesses(obstruction=obstruction, weak_separator=_in_places(n, pivots, answer.weak_separator))


def _in_places(n: int, pivots: Sequence[int], vector: Sequence[int]) -> tuple[int, ...]:
    """Coefficients of some points as coefficients of all."""
    coefficients = [0] * n
    for place, value in zip(pivots, vector, strict=True):
        coefficients[place] = value
    return tuple(coefficients)
