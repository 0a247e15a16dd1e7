"""Exact products of points and vectors: by floats where their error bound decides, by whole numbers where it cannot."""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two, scaled_floats
from novikoff.prove.separable.points import Floats, Points

# Numbers that are written out as whole numbers at a time; each takes about 50 bytes.
BLOCK = 1_000_000
# Coordinates with at most so many binary digits, times small whole numbers, are added in floats without rounding.
DIGITS = 20


def whole_points(points: Points, which: NDArray[np.int64] | None = None) -> tuple[list[list[int]], int]:
    """Some points (all, if not said) as whole numbers, and the exponent of the power of two that they count."""
    written = points.take(np.arange(points.n_points) if which is None else which)
    exponent = lowest_exponent(written)
    return as_integers(written, exponent).tolist(), exponent


def exact_sum(points: Points, which: NDArray[np.int64], weights: Sequence[int]) -> tuple[list[int], int]:
    """The sum of some points, each times a whole number, and the exponent of the power of two that it counts."""
    total = [0] * points.dimension
    if not points.is_sparse:
        blocks = list(_blocks(points, len(which)))
        exponent = min((lowest_exponent(points.take(which[block])) for block in blocks), default=0)
        for block in blocks:
            rows = as_integers(points.take(which[block]), exponent).tolist()
            for weight, row in zip(weights[block], rows, strict=True):
                total = [partial + weight * value for partial, value in zip(total, row, strict=True)]
        return total, exponent
    columns, values, lengths, exponent = whole_entries(points, which)
    signed = [weight * int(sign) for weight, sign in zip(weights, points.signs[which], strict=True)]
    each = itertools.chain.from_iterable(itertools.repeat(w, n) for w, n in zip(signed, lengths, strict=True))
    for column, value, weight in zip(columns, values, each, strict=True):
        total[column] += weight * value
    total[-1] = sum(signed) * int(Fraction(points.constant) / power_of_two(exponent))
    return total, exponent


def _blocks(points: Points, count: int) -> Iterator[slice]:
    """So many points in blocks that can be written out."""
    size = max(1, BLOCK // points.widest)
    return (slice(start, start + size) for start in range(0, count, size))


def whole_entries(points: Points, which: NDArray[np.int64]) -> tuple[list[int], list[int], list[int], int]:
    """The entries of some sparse rows, without their labels: columns, whole numbers, how many a row, the exponent."""
    rows = points.rows[which]
    exponent = lowest_exponent(np.append(rows.data, points.constant))
    return rows.indices.tolist(), as_integers(rows.data, exponent).tolist(), np.diff(rows.indptr).tolist(), exponent


def signs_of_products(points: Points, w: Sequence[int]) -> NDArray[np.int8]:
    """The exact sign of <z, w> for every point, w being whole numbers."""
    used = np.array([bool(value) for value in w])
    if points.is_zero_along(used):
        return np.zeros(points.n_points, dtype=np.int8)
    return signs_near(points, w, *approximate_products(points, scaled_floats(w), points.radius))


def signs_near(points: Points, w: Sequence[int], approximate: Floats, error: float) -> NDArray[np.int8]:
    """The exact sign of <z, w> for every point, from products in floats that are off by no more than an error."""
    signs = np.sign(approximate).astype(np.int8)
    doubtful = np.flatnonzero(~(np.abs(approximate) > error))
    if len(doubtful):
        signs[doubtful] = _exact_signs(points, doubtful, w)
    return signs


def _exact_signs(points: Points, which: NDArray[np.int64], w: Sequence[int]) -> NDArray[np.int8]:
    """Of the products of some points; in the columns in which the vector is not 0."""
    columns = np.flatnonzero([bool(value) for value in w[:-1]])
    few = Points(points.rows[which][:, columns], points.signs[which], points.constant)
    v = [*(w[column] for column in columns.tolist()), w[-1]]
    exact = _products_of_few_digits(few, v)
    if exact is not None:
        return np.sign(exact).astype(np.int8)
    signs = np.empty(len(which), dtype=np.int8)
    for block in _blocks(few, len(which)):
        values, _ = _exact_products(few, np.arange(len(which))[block], v)
        signs[block] = [(value > 0) - (value < 0) for value in values]
    return signs


def _products_of_few_digits(points: Points, w: Sequence[int]) -> Floats | None:
    """Multiples of the products, if the coordinates are such small whole numbers, in some unit, that floats do not
    round."""
    entries = points.rows.data if points.is_sparse else points.rows
    largest = max(float(np.abs(entries).max(initial=0.0)), points.constant)
    exponent = DIGITS - math.frexp(largest)[1]
    if abs(exponent) > 500 or not 0 < max(map(abs, w)) < 2 ** (53 - DIGITS) // points.widest:
        return None
    scale = np.float64(2.0**exponent)
    constant = points.constant * float(scale)
    if not np.array_equal(np.rint(entries * scale) / scale, entries) or constant != round(constant):
        return None
    return Points(points.rows * scale, points.signs, constant).products(np.array(w, dtype=np.float64))


def smallest_product(points: Points, w: Sequence[int]) -> tuple[Fraction, int]:
    """The exact minimum of <z, w> over all points, w being whole numbers, and a point that has it."""
    approximate, error = approximate_products(points, scaled_floats(w), points.radius)
    finite = np.where(np.isfinite(approximate), approximate, math.inf)
    candidates = np.flatnonzero(~(approximate > finite.min() + 2 * error))
    best: tuple[Fraction, int] | None = None
    for block in _blocks(points, len(candidates)):
        which = candidates[block]
        products, exponent = _exact_products(points, which, w)
        place = min(range(len(which)), key=products.__getitem__)
        found = (products[place] * power_of_two(exponent), int(which[place]))
        best = found if best is None else min(best, found)
    assert best is not None  # there is a point, and the minimum is among the candidates
    return best


def approximate_products(points: Points, scaled: Floats, longest: float) -> tuple[Floats, float]:
    """Products in floats with a vector scaled to about 1, and a bound on their error (infinite where floats give up).

    Rounding w and adding n products in any order is off by at most 2 (n + 4) u ||z|| ||w||; squares of the scaled
    lengths are off by less than the slack in the factor 4. Products below 2^-1000 may have underflowed. No point is
    longer than `longest`.
    """
    with np.errstate(all="ignore"):
        products = points.products(scaled)
        length = float(np.linalg.norm(scaled))
        error = 4.0 * (points.widest + 4) * UNIT_ROUNDOFF * longest * length + 2.0**-1000
    return products, error if math.isfinite(error) else math.inf


def _exact_products(points: Points, which: NDArray[np.int64], w: Sequence[int]) -> tuple[list[int], int]:
    if not points.is_sparse:
        rows, exponent = whole_points(points, which)
        return [sum(a * b for a, b in zip(row, w, strict=True) if a) for row in rows], exponent
    columns, values, lengths, exponent = whole_entries(points, which)
    terms = (value * w[column] for column, value in zip(columns, values, strict=True))
    bias = w[-1] * int(Fraction(points.constant) / power_of_two(exponent))
    signs = points.signs[which].tolist()
    return [s * (sum(itertools.islice(terms, n)) + bias) for s, n in zip(signs, lengths, strict=True)], exponent
