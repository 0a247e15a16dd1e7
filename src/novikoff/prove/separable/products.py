"""Exact products of points and vectors: by floats where their error bound decides, else by whole numbers."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two, scaled_floats
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.separable.kesler import KeslerPoints
from novikoff.prove.separable.points import Floats, Points

# Whole numbers stored at a time; each takes about 50 bytes.
BLOCK = 1_000_000
# The most digits per coordinate.
MOST_DIGITS = 8
# Vectors multiplied with the points at once.
TOGETHER = 32


def whole_matrix(points: Points, which: NDArray[np.int64]) -> tuple[WholeMatrix, int]:
    """Some points as sparse rows of whole numbers, in units of a power of two, and its exponent."""
    part = points.written_out(which)
    if part.is_sparse:
        few = part.signed()
        few.eliminate_zeros()
        entries, columns, starts = few.data, few.indices, few.indptr
    else:
        table = part.take(np.arange(len(which)))
        entries, columns = table[table != 0], np.nonzero(table)[1]
        starts = np.append(0, np.cumsum(np.count_nonzero(table, axis=1)))
    exponent = lowest_exponent(entries)
    return WholeMatrix.of(as_integers(entries, exponent), columns, starts, points.dimension), exponent


def whole_points(points: Points, which: NDArray[np.int64] | None = None) -> tuple[list[list[int]], int]:
    """Some points (by default all) as whole numbers, in units of a power of two, and its exponent."""
    written = points.take(np.arange(points.n_points) if which is None else which)
    exponent = lowest_exponent(written)
    return as_integers(written, exponent).tolist(), exponent


def exact_sum(points: Points, which: NDArray[np.int64], weights: Sequence[int]) -> tuple[list[int], int]:
    """The sum of some points, each times a whole number, in units of a power of two, and its exponent."""
    if isinstance(points, KeslerPoints):
        parts = [exact_sum(*part) for part in points.by_class(which, weights)]
        exponent = min(lowest for _, lowest in parts)
        return [*(value << lowest - exponent for part, lowest in parts for value in part), 0], exponent
    sums = []
    for block in _blocks(points, len(which)):
        rows, lowest = whole_matrix(points, which[block])
        sums.append((rows.transposed().times(np.array(weights[block], dtype=object)).astype(object), lowest))
    exponent = min((lowest for _, lowest in sums), default=0)
    total = sum((part << lowest - exponent for part, lowest in sums), np.zeros(points.dimension, dtype=object))
    return total.tolist(), exponent


def _blocks(points: Points, count: int, used: int | None = None) -> Iterator[slice]:
    """Slices of `count` points into blocks that fit into memory, given the number of coordinates used, if known."""
    size = max(1, BLOCK // min(points.widest, used or points.widest))
    return (slice(start, start + size) for start in range(0, count, size))


def signs_of_products(points: Points, w: Sequence[int]) -> NDArray[np.int8]:
    """The exact sign of <z, w> for every point, with whole w."""
    return next(signs_of_many_products(points, [w]))


def signs_of_many_products(points: Points, vectors: Sequence[Sequence[int]]) -> Iterator[NDArray[np.int8]]:
    """The same for many vectors, in turn, computed a few at a time."""
    for start in range(0, len(vectors), TOGETHER):
        some = vectors[start : start + TOGETHER]
        near = [approximate_products(points, scaled_floats(w), points.radius) for w in some]
        yield from signs_near(points, some, near)


def signs_near(
    points: Points, vectors: Sequence[Sequence[int]], near: Sequence[tuple[Floats, float]]
) -> list[NDArray[np.int8]]:
    """The exact signs of the products of points with vectors, given products in floats with error bounds."""
    signs = [np.sign(np.nan_to_num(approximate)).astype(np.int8) for approximate, _ in near]
    is_doubtful = [~(np.abs(approximate) > error) for approximate, error in near]
    which = np.flatnonzero(np.logical_or.reduce(is_doubtful))
    if len(which) == 0:  # the number of digits is not needed
        return signs
    digits = _digits(points)
    used = None if digits is None else 1 + sum(map(any, zip(*vectors, strict=True)))
    for block in _blocks(points, len(which), used):
        rows = which[block]
        for own, doubtful, found in zip(signs, is_doubtful, _exact_signs(points, rows, vectors, digits), strict=True):
            own[rows] = np.where(doubtful[rows], found, own[rows])
    return signs


def _digits(points: Points) -> tuple[int, int] | None:
    """The bits of a digit and the number of digits per coordinate; None if these are too many."""
    lowest, highest = points.exponents
    base = (52 - points.widest.bit_length()) // 2
    n_digits = max(1, -(-(highest - lowest) // base))
    return (base, n_digits) if n_digits <= MOST_DIGITS and abs(lowest) < 900 else None


def _exact_signs(
    points: Points, which: NDArray[np.int64], vectors: Sequence[Sequence[int]], digits: tuple[int, int] | None
) -> list[NDArray[np.int8]]:
    """The exact signs of the products of some points with vectors."""
    if digits is not None:
        base, n_digits = digits
        tables = [_digits_of_whole(w, base) for w in vectors]
        return [_carried(sums, base) for sums in _sums_of_digits(points, which, tables, base, n_digits)]
    rows, _ = whole_matrix(points, which)
    return [np.sign(rows.times(w)).astype(np.int8) for w in vectors]


def _sums_of_digits(
    points: Points, which: NDArray[np.int64], tables: Sequence[Floats], base: int, n_digits: int
) -> list[NDArray[np.int64]]:
    """The products of some points with vectors, digit by digit, by products of float matrices that do not round.

    The base of the digits is a power of two, so small that a sum of products of two digits is a whole number below
    2^53. Digits have the sign of their number. Returns for every place the sum of products of digits whose places add
    up to it, before carrying.
    """
    if isinstance(points, KeslerPoints):
        return points.differences_of(
            which, lambda some, rows, parts: _sums_of_digits(some, rows, parts, base, n_digits), tables
        )
    exponent, _ = points.exponents
    table = np.hstack(tables)
    used = np.flatnonzero(table[:-1].any(axis=1))
    few, table = points.part(which).in_columns(used), table[np.append(used, len(table) - 1)]
    sums = [np.zeros((len(which), n_digits + one.shape[1] - 1), dtype=np.int64) for one in tables]
    entries = np.asarray(few.rows.data if few.is_sparse else few.rows, dtype=np.float64)
    left, constant = np.ldexp(entries, -exponent), math.ldexp(points.constant, -exponent)
    for place in range(n_digits - 1, -1, -1):
        unit = 2.0 ** (base * place)
        digits, of_constant = np.trunc(left / unit), math.trunc(constant / unit)
        left, constant = left - digits * unit, constant - of_constant * unit
        products = (few.with_entries(digits) @ table[:-1] + of_constant * table[-1]).astype(np.int64)
        begin = 0
        for one, total in zip(tables, sums, strict=True):
            total[:, place : place + one.shape[1]] += products[:, begin : begin + one.shape[1]]
            begin += one.shape[1]
    return [few.signs[:, None].astype(np.int64) * total for total in sums]


def _carried(sums: NDArray[np.int64], base: int) -> NDArray[np.int8]:
    """The signs of numbers from digits of any size, the lowest first."""
    has_rest = np.zeros(len(sums), dtype=bool)
    for place in range(sums.shape[1] - 1):
        has_rest |= sums[:, place] & ((1 << base) - 1) != 0
        sums[:, place + 1] += sums[:, place] >> base
    return np.where(sums[:, -1] == 0, has_rest, np.sign(sums[:, -1])).astype(np.int8)


def _digits_of_whole(w: Sequence[int], base: int) -> Floats:
    """The digits of whole numbers, the lowest first, each with the sign of its number."""
    left, sign = np.array([abs(int(v)) for v in w], dtype=object), np.array([-1.0 if v < 0 else 1.0 for v in w])
    digits, mask = list[Floats](), (1 << base) - 1
    while not digits or left.any():
        digits.append((left & mask).astype(np.float64) * sign)
        left = left >> base
    return np.column_stack(digits)


def smallest_product(
    points: Points, w: Sequence[int], near: tuple[Floats, float] | None = None
) -> tuple[Fraction, int]:
    """The exact minimum of <z, w> over all points, with whole w, and a point that attains it; given products in floats
    with an error bound, if known."""
    approximate, error = near or approximate_products(points, scaled_floats(w), points.radius)
    smallest = np.fmin.reduce(approximate, initial=math.inf)
    candidates = np.flatnonzero(~(approximate > smallest + 2 * error))
    best: tuple[Fraction, int] | None = None
    for block in _blocks(points, len(candidates)):
        which = candidates[block]
        rows, exponent = whole_matrix(points, which)
        products = rows.times(w)
        place = int(np.argmin(products))
        found = (int(products[place]) * power_of_two(exponent), int(which[place]))
        best = found if best is None else min(best, found)
    assert best is not None  # there is a point, and the minimum is among the candidates
    return best


def approximate_products(points: Points, scaled: Floats, longest: float) -> tuple[Floats, float]:
    """Products in floats with a vector scaled to about 1, and a bound on their error (infinite where floats fail).

    Rounding w and adding n products in any order has an error of at most 2 (n + 4) u ||z|| ||w||; the errors of the
    squares of the scaled lengths are below the slack in the factor 4. Products below 2^-1000 may have underflowed. No
    point is longer than `longest`. A sum that overflowed in between has not even a certain sign: it is NaN, which is
    within no bound.
    """
    with np.errstate(all="ignore"):
        products = points.products(scaled)
        products[~np.isfinite(products)] = math.nan
        length = float(np.linalg.norm(scaled))
        error = 4.0 * (points.widest + 4) * UNIT_ROUNDOFF * longest * length + 2.0**-1000
    return products, error if math.isfinite(error) else math.inf
