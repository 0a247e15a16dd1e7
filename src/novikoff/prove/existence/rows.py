"""Sparse rows of whole numbers, and what is orthogonal to all of them, exactly: also where columns are thousands.

Every coefficient has its own power of two: entries n stand for n 2^e, where e depends on the coefficient alone, so that
columns of very different units still give short whole numbers.

A null space is found by elimination. Columns with few entries, most of them indicators, are eliminated one after the
other, in fractions: a row of indicators stays a difference of two of them, whatever is subtracted from it. What is left
are a few full columns, for which whole matrices are faster: some rows are taken at first, and those that they do not
span join them, until there are none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.clock import Clock, OutOfTimeError
from novikoff.prove.exact.floats import as_integers
from novikoff.prove.exact.modular import independent, lifted, taken


def fraction(value: Any) -> Fraction:
    """A number of either kind as one of Python's fractions.

    >>> from flint import fmpq
    >>> fraction(fmpq(1, 2)), fraction(3)
    (Fraction(1, 2), Fraction(3, 1))
    """
    return Fraction(int(value.p), int(value.q)) if hasattr(value, "p") else Fraction(value)


def rational(value: Any) -> Any:
    """A whole number or one of Python's fractions as one of FLINT's."""
    from flint import fmpq

    return fmpq(value.numerator, value.denominator) if isinstance(value, int | Fraction) else value


Numbers = NDArray[np.int64]

# Sums below this are taken in 64 bits, without overflow.
SAFE = 2**62


@dataclass(frozen=True, eq=False)
class WholeRows:
    """Rows in compressed form; entries n mean n 2^exponent.

    `given` are floats, which become whole numbers when they are needed, or whole numbers: of 64 bits where they fit,
    else Python's.
    """

    indptr: Numbers
    indices: Numbers
    given: NDArray[Any]
    size: int
    exponents: Numbers

    @classmethod
    def of(cls, rows: Any, coefficient: Numbers, size: int) -> "WholeRows":
        """From CSR floats; `coefficient` says to which coefficient each column belongs."""
        used = rows.data != 0
        kept = np.concatenate([[0], np.cumsum(used)])[rows.indptr]
        values, places = rows.data[used], coefficient[rows.indices[used]]
        none = np.iinfo(np.int64).max
        exponents = np.full(size, none)
        np.minimum.at(exponents, places, _lowest_exponents(values))
        exponents[exponents == none] = 0
        return cls(kept.astype(np.int64), places.astype(np.int64), values, size, exponents)

    @cached_property
    def data(self) -> NDArray[Any]:
        """The entries as whole numbers."""
        return self._whole(slice(None))

    def _whole(self, part: slice) -> NDArray[Any]:
        given, exponents = self.given[part], self.exponents[self.indices[part]]
        return given if given.dtype != np.float64 else whole_numbers(given, exponents)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def largest(self) -> int:
        """The largest entry, without its sign."""
        return max(abs(int(self.data.min())), abs(int(self.data.max()))) if len(self.data) else 0

    @cached_property
    def widest(self) -> int:
        """The most entries of a row."""
        return int(np.diff(self.indptr).max(initial=0))

    def products(self, vector: Sequence[int]) -> NDArray[Any]:
        """The product of every row with a vector in the units of the entries, exactly."""
        most = max(map(abs, vector), default=0)
        fits = most < SAFE and most * self.largest * max(self.widest, 1) < SAFE
        numbers = np.array(vector, dtype=np.int64 if fits and self.data.dtype != object else object)
        terms = self.data * numbers[self.indices]
        sums = np.zeros(self.n_rows, dtype=terms.dtype)
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            sums[filled] = np.add.reduceat(terms, self.indptr[filled])
        return sums

    def signs(self, vector: Sequence[int]) -> NDArray[np.int8]:
        """The sign of every product."""
        products = self.products(vector)
        return (products > 0).astype(np.int8) - (products < 0).astype(np.int8)

    def combined(self, rows: Sequence[int], weights: Sequence[int]) -> dict[int, int]:
        """The sum of some rows, each times a whole number, in the units of the entries; zeros are left out."""
        total: dict[int, int] = {}
        for row, weight in zip(rows, weights, strict=True):
            for place, value in self.entries(row):
                total[place] = total.get(place, 0) + weight * value
        return {place: value for place, value in total.items() if value}

    def entries(self, row: int) -> list[tuple[int, int]]:
        """The coefficients and numbers of a row; a coefficient may stand several times."""
        part = slice(int(self.indptr[row]), int(self.indptr[row + 1]))
        return list(zip(self.indices[part].tolist(), self._whole(part).tolist(), strict=True))

    def row(self, row: int) -> dict[int, int]:
        """The entries of a row that are not 0."""
        return self.combined([row], [1])

    def written_out(self, rows: Sequence[int]) -> list[list[int]]:
        """Some rows with their zeros."""
        table = [[0] * self.size for _ in rows]
        for full, row in zip(table, rows, strict=True):
            for place, value in self.entries(row):
                full[place] += value
        return table

    def take(self, rows: Numbers) -> "WholeRows":
        """Some of the rows."""
        counts = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(self.indptr[rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        return WholeRows(indptr, self.indices[places], self.given[places], self.size, self.exponents)

    # -- units --------------------------------------------------------------------------------------------------------

    def in_units(self, vector: Sequence[int]) -> list[int]:
        """A vector that multiplies the floats, as one that multiplies the entries; times a power of two."""
        lowest = int(self.exponents.min(initial=0))
        return [value << (int(e) - lowest) for value, e in zip(vector, self.exponents, strict=True)]

    def from_units(self, vector: Sequence[int]) -> list[int]:
        """The way back; times a power of two."""
        highest = int(self.exponents.max(initial=0))
        return [value << (highest - int(e)) for value, e in zip(vector, self.exponents, strict=True)]

    def as_floats(self) -> tuple[Any, Numbers, Numbers]:
        """The rows as CSR floats near 1: entries divided by 2^rows and times 2^columns, which are returned."""
        from scipy.sparse import csr_array

        mantissas, exponents = _as_floats(self.given)
        columns = np.full(self.size, np.iinfo(np.int64).min)
        np.maximum.at(columns, self.indices, exponents)
        exponents = exponents - columns[self.indices]
        rows = np.zeros(self.n_rows, dtype=np.int64)
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            rows[filled] = np.maximum.reduceat(exponents, self.indptr[filled])
        data = np.ldexp(mantissas, exponents - np.repeat(rows, np.diff(self.indptr)))
        matrix = csr_array((data, self.indices.copy(), self.indptr.copy()), shape=(self.n_rows, self.size))
        matrix.sum_duplicates()
        columns[columns == np.iinfo(np.int64).min] = 0
        return matrix, rows, (self.exponents if self.given.dtype == np.float64 else 0) - columns


def _lowest_exponents(values: NDArray[np.float64]) -> Numbers:
    """For every float the largest e for which it is a whole number times 2^e."""
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    return exponents.astype(np.int64) - 53 + np.log2(np.maximum(whole & -whole, 1)).astype(np.int64)


def whole_numbers(values: NDArray[np.float64], exponents: Numbers) -> NDArray[Any]:
    """Whole numbers n with values = n 2^exponent, in 64 bits if all fit.

    >>> whole_numbers(np.array([0.5, -3.0]), np.array([-1, 0])).tolist()
    [1, -3]
    """
    mantissas, powers = np.frexp(values)
    if (powers - exponents).max(initial=0) > 62:
        return as_integers(values, exponents)
    whole, shifts = np.ldexp(mantissas, 53).astype(np.int64), powers - 53 - exponents
    return np.where(shifts >= 0, whole << np.maximum(shifts, 0), whole >> np.maximum(-shifts, 0))


def _as_floats(data: NDArray[Any]) -> tuple[NDArray[np.float64], Numbers]:
    """Mantissas and exponents of floats, or of whole numbers of any length."""
    if data.dtype != object:
        mantissas, powers = np.frexp(data.astype(np.float64))
        return mantissas, powers.astype(np.int64)
    lengths = np.array([int(value).bit_length() for value in data], dtype=np.int64)
    shifts = np.maximum(lengths - 60, 0)
    short = np.array([int(value) >> int(shift) for value, shift in zip(data, shifts, strict=True)], dtype=np.float64)
    mantissas, powers = np.frexp(short)
    return mantissas, powers.astype(np.int64) + shifts


# Up to so many columns, all count as full.
FULL = 300
# Beyond, a column is full if so many of the rows, as a share, have an entry there.
FULL_SHARE = 0.05

Sparse = dict[int, Any]


@dataclass(frozen=True, eq=False)
class NullSpace:
    """All vectors that are orthogonal to some rows: every coefficient as a combination of `dimension` free numbers.

    `rows` are as many of the rows as are linearly independent.
    """

    dimension: int
    expressions: tuple[Sparse, ...]
    rows: tuple[int, ...]

    @classmethod
    def of(cls, whole: WholeRows, which: Numbers | None = None, clock: Clock | None = None) -> "NullSpace":
        """Of some rows (all, if not said); raises OutOfTimeError when the clock is over."""
        clock = clock or Clock(None)
        chosen = np.arange(whole.n_rows) if which is None else which
        found = _Elimination(whole.take(chosen), clock).null_space()
        return cls(found.dimension, found.expressions, tuple(int(chosen[i]) for i in found.rows))

    def is_fixed(self, coefficient: int) -> bool:
        """Whether all these vectors have 0 there: the unit vector lies in the span of the rows."""
        return not self.expressions[coefficient]

    def vector(self, free: Sequence[Any]) -> list[Any]:
        """The vector with these free numbers, in fractions."""
        from flint import fmpq

        return [sum((value * free[k] for k, value in part.items()), fmpq(0)) for part in self.expressions]

    def free_numbers(self, vector: Sequence[Any]) -> list[Any]:
        """The free numbers of one of these vectors."""
        from flint import fmpq

        free = [fmpq(0)] * self.dimension
        for value, part in zip(vector, self.expressions, strict=True):
            if len(part) == 1:
                (k,) = part
                free[k] = fmpq(value) / part[k]
        return free

    def times(self, row: Sparse) -> Sparse:
        """The product of a vector, given by its entries, with every basis vector; empty if it lies in the span."""
        total: Sparse = {}
        for place, value in row.items():
            for k, factor in self.expressions[place].items():
                total[k] = total.get(k, 0) + value * factor
        return {k: value for k, value in total.items() if value != 0}


class Echelon:
    """Rows in fractions, each without the leading columns of those before it; what they give is traced back to them."""

    def __init__(self, order: Sequence[int]) -> None:
        self._order = order
        self._pivots: dict[int, int] = {}
        self.rows: list[Sparse] = []
        self._names: list[int] = []
        self._steps: list[list[tuple[int, Any]]] = []

    def reduced(self, row: Sparse, most: int | None = None) -> tuple[Sparse, list[tuple[int, Any]]]:
        """A row minus multiples of those that are in, until its leading column is new; and which multiples.

        Columns whose place in the order is at least `most` do not lead.
        """
        from flint import fmpq

        left = {place: fmpq(value) if type(value) is int else value for place, value in row.items() if value != 0}
        steps: list[tuple[int, Any]] = []
        while left:
            first = min(left, key=self._order.__getitem__)
            if (most is not None and self._order[first] >= most) or first not in self._pivots:
                break
            number = self._pivots[first]
            pivot = self.rows[number]
            factor = left[first] / pivot[first]
            steps.append((number, factor))
            for place, value in pivot.items():
                new = left.get(place, 0) - factor * value
                if new == 0:
                    left.pop(place, None)
                else:
                    left[place] = new
        return left, steps

    def insert(self, row: Sparse, name: int, most: int | None = None) -> Sparse | None:
        """Add a row; returns what is left of one that cannot be added because no column leads it."""
        left, steps = self.reduced(row, most)
        if not left:
            return None
        first = min(left, key=self._order.__getitem__)
        if most is not None and self._order[first] >= most:
            return left
        self._pivots[first] = len(self.rows)
        self.rows.append(left)
        self._names.append(name)
        self._steps.append(steps)
        return None

    def combination(self, target: Sparse) -> dict[int, Any] | None:
        """How many times each of the inserted rows gives the target; None if it is not in their span."""
        left, steps = self.reduced(target)
        if left:
            return None
        numbers: dict[int, Any] = {}
        for number, factor in steps:
            numbers[number] = numbers.get(number, 0) + factor
        for number in range(len(self.rows) - 1, -1, -1):
            times = numbers.get(number, 0)
            if times != 0:
                for before, factor in self._steps[number]:
                    numbers[before] = numbers.get(before, 0) - times * factor
        return {self._names[number]: factor for number, factor in numbers.items() if factor != 0}

    def back_substituted(self, expressions: list[Sparse]) -> None:
        """Fill in the expressions of all leading columns, those of the others being known."""
        for first in sorted(self._pivots, key=self._order.__getitem__, reverse=True):
            row = self.rows[self._pivots[first]]
            total: Sparse = {}
            for place, value in row.items():
                if place != first:
                    for k, factor in expressions[place].items():
                        total[k] = total.get(k, 0) - value * factor / row[first]
            expressions[first] = {k: value for k, value in total.items() if value != 0}

    @property
    def leading(self) -> set[int]:
        return set(self._pivots)

    @property
    def names(self) -> list[int]:
        return self._names


class _Elimination:
    """First the columns with few entries, in fractions; then the full ones, as matrices."""

    def __init__(self, whole: WholeRows, clock: Clock) -> None:
        self.whole, self.clock = whole, clock
        counts = np.bincount(whole.indices, minlength=whole.size)
        is_full = np.ones(whole.size, dtype=bool) if whole.size <= FULL else counts > FULL_SHARE * whole.n_rows
        self.full = np.flatnonzero(is_full)
        order = np.lexsort((counts, is_full))
        self.order: list[int] = np.argsort(order).tolist()
        self.n_thin = whole.size - len(self.full)

    def null_space(self) -> NullSpace:
        if self.n_thin == 0:
            basis, rows = _null_of_full(self.whole, self.clock)
            return NullSpace(len(basis), _by_column(basis, self.whole.size), tuple(rows))
        echelon = Echelon(self.order)
        leftovers, names = [], []
        for row in range(self.whole.n_rows):
            if row % 256 == 0 and self.clock.is_over():
                raise OutOfTimeError
            left = echelon.insert(self.whole.row(row), row, self.n_thin)
            if left is not None:
                leftovers.append(left)
                names.append(row)
        places = {place: i for i, place in enumerate(self.full.tolist())}
        core = whole_of([{places[p]: value for p, value in left.items()} for left in leftovers], len(places))
        basis, rows = _null_of_full(core, self.clock)
        expressions: list[Sparse] = [{} for _ in range(self.whole.size)]
        for place, part in zip(self.full.tolist(), _by_column(basis, len(self.full)), strict=True):
            expressions[place] = part
        free = [place for place in np.argsort(self.order)[: self.n_thin].tolist() if place not in echelon.leading]
        for k, place in enumerate(free, start=len(basis)):
            expressions[place] = {k: 1}
        echelon.back_substituted(expressions)
        return NullSpace(len(basis) + len(free), tuple(expressions), (*echelon.names, *(names[row] for row in rows)))


def whole_of(rows: Sequence[Sparse], size: int) -> WholeRows:
    """Rows of fractions as whole rows, each times what it takes."""
    indptr, indices, data = [0], list[int](), list[int]()
    for row in rows:
        values = [fraction(value) for value in row.values()]
        indices += row.keys()
        data += as_whole(values) if values else []
        indptr.append(len(indices))
    numbers = np.array(data, dtype=object)
    if all(abs(value) < SAFE for value in data):
        numbers = numbers.astype(np.int64)
    exponents = np.zeros(size, dtype=np.int64)
    return WholeRows(np.array(indptr), np.array(indices, dtype=np.int64), numbers, size, exponents)


def _by_column(basis: list[list[int]], size: int) -> tuple[Sparse, ...]:
    return tuple({k: vector[place] for k, vector in enumerate(basis) if vector[place]} for place in range(size))


def _null_of_full(whole: WholeRows, clock: Clock) -> tuple[list[list[int]], list[int]]:
    """A basis of what is orthogonal to all rows, and as many rows as are independent.

    Each vector of the basis has a number other than 0 in one column that no other has, and in the leading columns.
    """
    random = np.random.default_rng(0)
    few = np.unique(np.linspace(0, whole.n_rows - 1, min(whole.n_rows, 2 * whole.size)).astype(np.int64))
    while True:
        rows, basis = _null_of_few(whole, few, clock)
        outside = _outside(whole, basis, random)
        if len(outside) == 0:
            return basis, rows
        few = np.union1d(np.array(rows, dtype=np.int64), random.permutation(outside)[: 2 * whole.size])


def _null_of_few(whole: WholeRows, few: Numbers, clock: Clock) -> tuple[list[int], list[list[int]]]:
    """Independent rows among a few, and a basis of what is orthogonal to them."""
    from flint import fmpz_mat

    if len(few) == 0 or whole.size == 0:
        return [], [[int(i == k) for i in range(whole.size)] for k in range(whole.size)]
    matrix = fmpz_mat(whole.written_out(few.tolist()))
    chosen = independent(matrix, clock)
    if chosen is None:
        raise OutOfTimeError
    free = sorted(set(range(whole.size)) - set(chosen.columns))
    found = lifted(taken(matrix, *chosen[:2]), taken(matrix, chosen.rows, free), chosen.prime, clock)
    if found is None:
        raise OutOfTimeError
    basis = []
    for k, column in enumerate(free):
        vector = [0] * whole.size
        vector[column] = int(found.denominator)
        for i, leading in enumerate(chosen.columns):
            vector[leading] = -int(found.numerators[i, k])
        basis.append(vector)
    return few[chosen.rows].tolist(), basis


def _outside(whole: WholeRows, basis: list[list[int]], random: Any) -> Numbers:
    """Rows with which some basis vector has a product other than 0: all those of a random combination, or of one."""
    outside = np.zeros(0, dtype=np.int64)
    if not basis or not whole.n_rows:
        return outside
    times = [int(v) for v in random.integers(1, 2**20, len(basis))]
    mixed = [sum(t * v for t, v in zip(times, column, strict=True)) for column in zip(*basis, strict=True)]
    for vector in (mixed, *basis):
        outside = np.flatnonzero(whole.products(vector) != 0)
        if len(outside):
            break
    return outside
