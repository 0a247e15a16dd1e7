"""Which points span what all of them do: by elimination modulo a prime, which needs no tolerance.

Rows of sparse tables are eliminated as they stand: one that has a single column which no row before it leads is led by
that column. Where none has, some columns are set aside, those with the most entries first, and in the end every other
column is a combination of these, as far as the points can tell. So nothing fills up, and only the columns that were
set aside are eliminated as a matrix. Independent modulo a prime means independent; the converse fails once in billions,
and whoever needs it proves it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.clock import Clock
from novikoff.prove.exact.elimination import PANEL, PRIME, centred, eliminated, multiplied, random_residues
from novikoff.prove.separable.points import Floats, Points

Numbers = NDArray[np.int64]

# So many points, times the dimensions that are not spanned yet, are looked at first.
FEW = 2
# Up to so many columns of sparse points, all are eliminated as a matrix; beyond, rows with more new columns than this
# lead none.
FULL = 400
THIN = 24
# So many more rows are eliminated as a matrix than there are columns.
SPARE = 20
# Operations of floats, on a slow machine.
STEPS_PER_SECOND = 1e10


@dataclass(frozen=True, eq=False)
class Spanning:
    """`rows` are independent in the `columns`, as many; the columns of `normals` are random vectors, orthogonal to all
    of them modulo the prime. So many columns as `core` were eliminated as a matrix."""

    rows: Numbers
    columns: Numbers
    normals: Floats
    core: int

    def are_outside(self, points: Points) -> NDArray[np.bool_]:
        """Which points they do not span: certain if so, and nearly certain if not."""
        if not self.normals.any():
            return np.zeros(points.n_points, dtype=bool)
        residues = points.in_residues
        is_outside = _products(residues, self.normals[:, 0]) != 0
        for normal in self.normals[:, 1:].T:
            inside = np.flatnonzero(~is_outside)
            is_outside[inside] = _products(residues, normal)[inside] != 0
        return is_outside


def spanning(points: Points, which: Numbers, clock: Clock, first: Numbers | None = None) -> Spanning | None:
    """Some of the points that span what all of `which` do, from those that come `first` if there are any.

    From a few at first; those that these do not span join them, until there are none. None if there is no time.
    """
    if 4 * len(which) < points.n_points:
        few = None if first is None else np.searchsorted(which, first)
        found = spanning(points.part(which), np.arange(len(which)), clock, few)
        return None if found is None else replace(found, rows=which[found.rows])
    few = which if first is None else first
    few = few[np.unique(np.linspace(0, len(few) - 1, min(len(few), FEW * points.dimension + SPARE)).astype(np.int64))]
    while True:
        found = _spanning_few(points.in_residues, few, clock)
        if found is None:
            return None
        new = which[found.are_outside(points)[which]]
        if len(new) == 0:
            return found
        most = FEW * (points.dimension - len(found.rows))
        few = np.concatenate([found.rows, new[np.unique(np.linspace(0, len(new) - 1, most).astype(np.int64))]])


def _products(residues: Points, w: Floats) -> Floats:
    """The products of points with a vector, modulo the prime, all of them in residues.

    The vector is taken in digits that are so short that sums of products are whole numbers of less than 53 bits.
    """
    bits = min(52 - residues.bits - residues.widest.bit_length(), PRIME.bit_length())
    total = np.zeros(residues.n_points)
    for shift in range(bits * (PRIME.bit_length() // bits), -1, -bits):
        digit = np.rint(np.ldexp(w, -shift))
        w = w - np.ldexp(digit, shift)
        total = centred(np.ldexp(total, bits) + centred(residues.products(digit)))
    return total


def _spanning_few(residues: Points, few: Numbers, clock: Clock) -> Spanning | None:
    if residues.dimension <= FULL or not residues.is_sparse:
        if 2 * len(few) * residues.dimension**2 / STEPS_PER_SECOND > clock.left():
            return None
        found = eliminated(residues.take(few))
        return Spanning(few[found.rows], np.array(found.columns, dtype=np.int64), found.normals, residues.dimension)
    rows = _by_row(residues, few)
    used = np.unique(np.concatenate([few[:0], *(columns for columns, _ in rows)]))
    rows = [(np.searchsorted(used, columns), numbers) for columns, numbers in rows]
    leading, aside = _leading(rows, len(used))
    others = np.setdiff1d(np.arange(len(few)), [row for row, _ in leading])
    others = others[: len(aside) + SPARE]
    if 2 * len(others) * len(aside) ** 2 / STEPS_PER_SECOND > clock.left():
        return None
    expressed = _expressed(rows, leading, aside, len(used))
    core = np.array([_combined(expressed, *rows[row]) for row in others.tolist()])
    found = eliminated(core.reshape(len(others), len(aside)))
    normals = random_residues(residues.dimension)
    normals[used] = multiplied(expressed, found.normals)
    return Spanning(
        few[np.array([*(row for row, _ in leading), *others[found.rows]], dtype=np.int64)],
        used[np.array([*(column for _, column in leading), *aside[found.columns]], dtype=np.int64)],
        normals,
        len(aside),
    )


def _by_row(residues: Points, few: Numbers) -> list[tuple[Numbers, Floats]]:
    """Columns and residues of some points."""
    matrix = residues.written_out(few).signed()
    matrix.eliminate_zeros()
    columns = matrix.indices.astype(np.int64)
    return [(columns[a:b], matrix.data[a:b]) for a, b in pairwise(matrix.indptr.tolist())]


def _leading(rows: Sequence[tuple[Numbers, Floats]], dimension: int) -> tuple[list[tuple[int, int]], Numbers]:
    """Rows and the columns that lead them, in an order in which each has no other new one; and columns set aside."""
    used = [columns.tolist() for columns, _ in rows]
    counts = np.bincount(np.concatenate([[], *(columns for columns, _ in rows)]).astype(np.int64), minlength=dimension)
    is_new = np.ones(dimension, dtype=bool)
    rows_of: list[list[int]] = [[] for _ in range(dimension)]
    for row, columns in enumerate(used):
        for column in columns:
            rows_of[column].append(row)
    left = [len(columns) for columns in used]
    heap = [(n, row) for row, n in enumerate(left)]
    heapify(heap)
    leading: list[tuple[int, int]] = []
    aside: list[int] = []
    while heap:
        n, row = heappop(heap)
        if n != left[row] or n == 0:
            continue
        if n > THIN:
            break
        *heavy, column = sorted((c for c in used[row] if is_new[c]), key=lambda c: -counts[c])
        leading.append((row, column))
        aside += heavy
        for gone in (*heavy, column):
            is_new[gone] = False
            for other in rows_of[gone]:
                left[other] -= 1
                heappush(heap, (left[other], other))
    return leading, np.sort(np.append(np.array(aside, dtype=np.int64), np.flatnonzero(is_new)))


def _expressed(rows: Any, leading: list[tuple[int, int]], aside: Numbers, dimension: int) -> Floats:
    """Every column as a combination of those set aside: what a vector that is orthogonal to the rows has there."""
    table = np.zeros((dimension, len(aside)))
    table[aside, np.arange(len(aside))] = 1.0
    for row, column in leading:
        columns, numbers = rows[row]
        is_other = columns != column
        inverse = pow(-int(numbers[~is_other][0]), -1, PRIME)
        table[column] = centred(_combined(table, columns[is_other], numbers[is_other]) * centred(np.float64(inverse)))
    return table


def _combined(table: Floats, which: Numbers, numbers: Floats) -> Floats:
    """The sum of some rows of a table, each times a number."""
    total = np.zeros(table.shape[1])
    for start in range(0, len(which), PANEL):
        some = slice(start, start + PANEL)
        total = centred(total + centred(numbers[some] @ table[which[some]]))
    return total
