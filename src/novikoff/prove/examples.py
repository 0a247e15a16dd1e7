"""Labelled examples in blocks, as the proofs see them: a few points at a time, or the few that a proof names.

A proof speaks of all points, or of some that it names. The first kind of claim is proved block by block, and for the
second the rows that are named are fetched. So neither needs all examples in memory.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.blocks import stacked
from novikoff.data.cache import DENSE_COST, SPARSE_COST
from novikoff.data.labels import Labels
from novikoff.engine.rows import Rows, as_rows, csr_rows
from novikoff.features.spool import Labelled, batches_of, encoding_for, spooled
from novikoff.prove.algebra import null_vectors
from novikoff.prove.fingerprint import Fingerprint
from novikoff.prove.kesler import kesler_points, point_numbers
from novikoff.prove.points import Points
from novikoff.prove.products import signs_of_products, whole_points
from novikoff.prove.proofs import lower_square

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding


class Piece(NamedTuple):
    """Some examples that follow each other: the number of the first, their rows and their labels."""

    start: int
    rows: Rows
    labels: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Examples:
    """Examples of two or more classes, in blocks.

    Labels are -1 and +1 for two classes, and places among the sorted `classes` for more.
    """

    blocks: Labelled
    classes: NDArray[Any]
    fit_intercept: bool
    feature_names: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows

    @property
    def n_columns(self) -> int:
        return self.blocks.n_columns

    @property
    def rivals(self) -> int:
        """How many points a row becomes: one for every other class."""
        return len(self.classes) - 1

    @property
    def problem(self) -> str:
        return "binary" if self.rivals == 1 else "argmax"

    @property
    def bytes_per_row(self) -> float:
        """What the points of a row take in memory, on average."""
        entries = self.blocks.cache.entries
        if self.problem == "argmax":  # a point has the row twice
            return 2 * self.rivals * SPARSE_COST * sum(e.entries + e.rows for e in entries) / self.n_rows
        if not all(e.index_bytes for e in entries):
            return float(max(self.n_columns, 1) * DENSE_COST)
        return SPARSE_COST * sum(e.entries + e.rows for e in entries) / self.n_rows

    # -- as they come -------------------------------------------------------------------------------------------------

    def pieces(self) -> Iterator[Piece]:
        """One pass over all examples, in pieces whose points take about as much memory as a block."""
        parts = 1 if self.problem == "binary" else 2 * self.rivals
        for number, start in enumerate(self.blocks.starts[:-1].tolist()):
            rows, labels = self.blocks.block(number)
            size = -(-rows.n_rows // parts)
            for first in range(0, rows.n_rows, size):
                last = min(first + size, rows.n_rows)
                yield Piece(start + first, rows.part(first, last), labels[first:last])

    def labels_as_given(self) -> Iterator[list[Any]]:
        """The labels as the source has them, block by block."""
        places = self.blocks.labels if self.problem == "argmax" else (self.blocks.labels + 1) // 2
        for number in range(len(self.blocks)):
            _, codes = self.blocks.cache.block(number)
            yield self.classes[places[codes]].tolist()

    def points(self, rows: Rows, labels: NDArray[Any]) -> Points:
        """Rows as points; of many classes as many points a row as it has rivals, one row after the other."""
        if self.problem == "binary":
            return Points(matrix_of(rows), labels, float(self.fit_intercept))
        # The construction looks at the labels for how many classes there are, so each is shown to it once.
        shown, classes = stacked([rows, self._one_of_each[0]]), self._with_every_class(labels)
        points = kesler_points(matrix_of(shown).copy(), classes, self.fit_intercept)
        n_points = rows.n_rows * self.rivals
        return Points(points.rows[:n_points], points.signs[:n_points], points.constant)

    def _with_every_class(self, labels: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([labels, self._one_of_each[1]])

    @cached_property
    def first_of_each(self) -> NDArray[np.int64]:
        """The number of the first example of every class, ascending."""
        found: dict[int, int] = {}
        for number, start in enumerate(self.blocks.starts[:-1].tolist()):
            labels, first = np.unique(self.blocks.block(number)[1], return_index=True)
            found = {**dict(zip(labels.tolist(), (start + first).tolist(), strict=True)), **found}
            if len(found) == len(self.classes):
                break
        return np.array(sorted(found.values()), dtype=np.int64)

    @cached_property
    def _one_of_each(self) -> tuple[Rows, NDArray[Any]]:
        return self.take(self.first_of_each)

    def take(self, numbers: NDArray[np.int64]) -> tuple[Rows, NDArray[Any]]:
        """A copy of some examples, whose numbers ascend."""
        starts = self.blocks.starts
        parts, labels = [], []
        for number, (first, last) in enumerate(pairwise(np.searchsorted(numbers, starts).tolist())):
            if first < last:
                its_rows, its_labels = self.blocks.block(number)
                which = numbers[first:last] - starts[number]
                parts.append(its_rows.take(which))
                labels.append(its_labels[which])
        return in_float64(stacked(parts)), np.concatenate(labels)

    # -- what can be proved of them -----------------------------------------------------------------------------------

    def all_points(self) -> Iterator[Points]:
        """One pass over all points."""
        return (self.points(rows, labels) for _, rows, labels in self.pieces())

    def fingerprint(self) -> str:
        digest = Fingerprint((self.n_rows, self.n_columns))
        for _, rows, _ in self.pieces():
            digest.add(matrix_of(rows))
        return digest.with_labels(self.labels_as_given())

    def matrices(self) -> Iterator[Any]:
        """One pass over the rows as they are, without their labels."""
        return (matrix_of(rows) for _, rows, _ in self.pieces())

    def named(self, rows: Sequence[int], rivals: Sequence[Any] | None) -> tuple[Points, NDArray[np.int64]]:
        """Points, never none, and which of them some rows are, by themselves or against rivals."""
        numbers, places = np.unique(np.array(rows, dtype=np.int64), return_inverse=True)
        chosen, labels = self.take(numbers if len(numbers) else np.zeros(1, dtype=np.int64))
        points = self.points(chosen, labels)
        if rivals is None:
            return points, places
        others = np.searchsorted(self.classes, np.asarray(rivals, dtype=self.classes.dtype))
        return points, point_numbers(self._with_every_class(labels), places.tolist(), others.tolist())

    def lower_square(self, vector: Sequence[int]) -> Fraction | None:
        """As `proofs.lower_square`, of all points."""
        smallest: Fraction | None = None
        for points in self.all_points():
            square = lower_square(points, vector)
            if square is None:
                return None
            smallest = square if smallest is None else min(smallest, square)
        return smallest

    def weakly_separates(self, vector: Sequence[int]) -> bool:
        """As `proofs.weakly_separates`, of all points."""
        has_positive = False
        for points in self.all_points():
            signs = signs_of_products(points, vector)
            if signs.min() < 0:
                return False
            has_positive = has_positive or bool(signs.max() > 0)
        return has_positive

    def spans_all(self, points: Points, numbers: NDArray[np.int64]) -> bool:
        """As `proofs.spans_all`, of all points."""
        normals = null_vectors(whole_points(points, numbers)[0], points.dimension)
        if not normals:
            return True
        return not any(np.any(signs_of_products(p, normal)) for p in self.all_points() for normal in normals)


@contextlib.contextmanager
def examples_from(
    source: Iterable[Any], encoding: "Encoding | None" = None, fit_intercept: bool = True
) -> Iterator[Examples]:
    """The examples of a reader or of batches, spooled into a temporary cache; records are encoded on the way.

    >>> with examples_from([([[1.0], [2.0]], ["no", "yes"]), ([[3.0]], ["yes"])]) as examples:
    ...     [points.take(np.arange(3)).tolist() for points in examples.all_points()]
    [[[-1.0, -1.0], [2.0, 1.0], [3.0, 1.0]]]
    """
    encoding = encoding_for(source, encoding)
    labels = Labels()
    with spooled(batches_of(source, encoding), labels, _check_finite) as cache:
        names = None if encoding is None else encoding.feature_names
        blocks = Labelled(cache, labels.inner(), cache.n_columns)
        yield Examples(blocks, labels.classes(), fit_intercept, names)


def matrix_of(rows: Rows) -> Any:
    """Rows as NumPy or SciPy have them, sharing their entries."""
    return rows.as_scipy() if rows.is_sparse else rows.matrix


def in_float64(rows: Rows) -> Rows:
    """The same rows, in the precision in which the search for a separator works."""
    if not rows.is_sparse:
        return as_rows(rows.matrix.astype(np.float64))
    data, indices, indptr = rows.matrix
    return csr_rows(data.astype(np.float64), indices, indptr, rows.n_columns)


def _check_finite(rows: Rows) -> None:
    if np.isfinite(rows.entries).all():
        return
    place = int(np.argmin(np.isfinite(rows.entries)))
    if rows.is_sparse:
        row, column = int(np.searchsorted(rows.matrix.indptr, place, side="right")) - 1, rows.matrix.indices[place]
    else:
        row, column = divmod(place, rows.n_columns)
    raise ValueError(f"X contains NaN or infinity in row {row}, column {column}; impute or drop it before certifying")
