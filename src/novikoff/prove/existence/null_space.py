"""What is orthogonal to all of some rows, exactly: also where there are thousands of columns, most of them indicators.

Columns with few entries are eliminated one after the other, in fractions: a row of indicators stays a difference of two
of them, whatever is subtracted from it. What is left are a few full columns, for which whole matrices are faster: some
rows are taken at first, and those that they do not span join them, until there are none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.clock import Clock, OutOfTimeError
from novikoff.prove.exact.modular import independent, lifted, taken
from novikoff.prove.existence.rationals import fraction
from novikoff.prove.existence.whole_rows import SAFE, Numbers, WholeRows

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
