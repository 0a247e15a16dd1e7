"""Examples in blocks, for proofs: a few points at a time, or the few that a proof names.

A claim about all points is proved block by block, and for a claim about some points their rows are loaded. So neither
needs all examples in memory.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch, Records
from novikoff.data.cache import DENSE_COST, SPARSE_COST
from novikoff.data.examples import Block, Examples
from novikoff.engine.rows import Rows, as_rows, csr_rows
from novikoff.features.examples import cached, learned_encoding, rounded_column
from novikoff.prove.exact.given_numbers import exact_numbers
from novikoff.prove.separable.conclude import Data
from novikoff.prove.separable.kesler import KeslerPoints, point_numbers
from novikoff.prove.separable.margin import radius_square
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.question import Problem
from novikoff.prove.separable.subject import Subject, Table, plain_classes

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

# Bytes per point that is not stored: its product, its sign, its urgency.
POINT_COST = 64


@dataclass(frozen=True, eq=False)
class InBlocks(Data):
    """Examples of two or more classes as points, block by block, as `InMemory` for a matrix."""

    examples: Examples
    fit_intercept: bool

    @property
    def classes(self) -> NDArray[Any]:
        return self.examples.classes

    @property
    def n_rows(self) -> int:
        return self.examples.n_rows

    @property
    def rivals(self) -> int:
        """The number of points per row: one for every other class."""
        return self.problem.points_per_row(len(self.classes))

    @property
    def problem(self) -> Problem:
        return Problem.of(len(self.classes))

    @cached_property
    def _facts(self) -> tuple[Subject, Fraction]:
        """The subject and R^2, from one pass."""
        return self.survey(lambda block: None)

    @property
    def subject(self) -> Subject:
        return self._facts[0]

    @property
    def radius_square(self) -> Fraction:
        return self._facts[1]

    @property
    def about(self) -> Subject:
        """The subject without the fingerprint."""
        examples, encoding = self.examples, self.examples.encoding
        return Subject(
            problem=self.problem,
            fit_intercept=self.fit_intercept,
            classes=plain_classes(examples.classes),
            n_rows=examples.n_rows,
            n_columns=examples.n_columns,
            feature_names=None if encoding is None else encoding.feature_names,
            table=None if encoding is None else Table(examples.label, encoding),
        )

    def survey(self, visit: Callable[[Block], None]) -> tuple[Subject, Fraction]:
        """The subject and R^2, from one pass over all examples that also visits every block."""
        examples, about = self.examples, self.about
        digest, longest = about.fingerprint(), Fraction(0)
        for block in self.blocks():
            matrix = matrix_of(block.rows)
            digest.add(matrix)
            longest = max(longest, radius_square(matrix, self.fit_intercept))
            visit(block)
        places = (examples.places_of(block.labels) for block in examples.blocks())
        return self.known_to_be(replace(about, data_hash=digest.with_labels(places)), longest)

    def known_to_be(self, subject: Subject, radius_square: Fraction) -> tuple[Subject, Fraction]:
        """Store the result of a pass."""
        facts = subject, radius_square
        self.__dict__["_facts"] = facts
        return facts

    @property
    def bytes_per_row(self) -> float:
        """The mean memory of a row and its points: many classes need some numbers for every rival."""
        return self._bytes_of_row + (self.rivals * POINT_COST if self.problem.has_rivals else 0)

    @property
    def _bytes_of_row(self) -> float:
        examples = self.examples
        if examples.is_sparse:
            return SPARSE_COST * (examples.n_entries + examples.n_rows) / examples.n_rows
        return float(max(examples.n_columns, 1) * DENSE_COST)

    # -- passes and rows ----------------------------------------------------------------------------------------------

    def blocks(self) -> Iterator[Block]:
        """One pass over all examples, in blocks whose points need about as much memory as a block of the cache."""
        share = self._bytes_of_row / self.bytes_per_row
        for block in self.examples.blocks():
            size = math.ceil(block.rows.n_rows * share)
            for start in range(0, block.rows.n_rows, size):
                yield block.part(start, min(start + size, block.rows.n_rows))

    def label_of(self, rows: Sequence[int]) -> list[Any]:
        """The labels of some rows, as in the source."""
        numbers, places = np.unique(np.array(rows, dtype=np.int64), return_inverse=True)
        return list(self.examples.labels_of(self.take(numbers)[1])[places].tolist())

    def points(self, rows: Rows, labels: NDArray[Any]) -> Points:
        """Rows as points; with many classes, one for every rival, row by row."""
        if not self.problem.has_rivals:
            return Points(matrix_of(rows), labels, float(self.fit_intercept))
        places = self.examples.places_of(labels)
        return KeslerPoints.of_places(matrix_of(rows), places, len(self.classes), self.fit_intercept)

    def _with_every_class(self, labels: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([labels, self.one_of_each[1]])

    def rows_of(self, places: Sequence[int]) -> NDArray[np.int64]:
        """The numbers of all examples of some classes, ascending."""
        blocks = ((block.first, self.examples.places_of(block.labels)) for block in self.examples.blocks())
        return np.concatenate([first + np.flatnonzero(np.isin(own, places)) for first, own in blocks])

    @cached_property
    def first_of_each(self) -> NDArray[np.int64]:
        """The number of the first example of every class, ascending."""
        found: dict[int, int] = {}
        for block in self.examples.blocks():
            labels, rows = np.unique(block.labels, return_index=True)
            found = {**dict(zip(labels.tolist(), (block.first + rows).tolist(), strict=True)), **found}
            if len(found) == len(self.classes):
                break
        return np.array(sorted(found.values()), dtype=np.int64)

    @cached_property
    def one_of_each(self) -> tuple[Rows, NDArray[Any]]:
        return self.take(self.first_of_each)

    def take(self, numbers: NDArray[np.int64]) -> tuple[Rows, NDArray[Any]]:
        """A copy of some examples, by ascending numbers."""
        taken = self.examples.take(numbers)
        return in_float64(taken.rows), taken.labels

    # -- points for proofs --------------------------------------------------------------------------------------------

    def all_points(self) -> Iterator[Points]:
        """One pass over all points."""
        return (self.points(block.rows, block.labels) for block in self.blocks())

    def named(self, rows: Sequence[int], rivals: Sequence[Any] | None) -> tuple[Points, NDArray[np.int64]]:
        """Points, at least one, and the numbers among them of some rows, alone or against rivals."""
        numbers, places = np.unique(np.array(rows, dtype=np.int64), return_inverse=True)
        chosen, labels = self.take(numbers if len(numbers) else np.zeros(1, dtype=np.int64))
        points = self.points(chosen, labels)
        if rivals is None:
            return points, places
        others = np.searchsorted(self.classes, np.asarray(rivals, dtype=self.classes.dtype))
        return points, point_numbers(self._with_every_class(labels), places.tolist(), others.tolist())


@contextlib.contextmanager
def exactly(source: Iterable[Any], encoding: "Encoding | None" = None, label: str | None = None) -> Iterator[Examples]:
    """The examples of a reader or of batches, as from `cached`, but raises ValueError instead of rounding a number.

    >>> with exactly([([[1.0], [2.0]], ["no", "yes"]), ([[3.0]], ["yes"])]) as examples:
    ...     [points.take(np.arange(3)).tolist() for points in InBlocks(examples, fit_intercept=True).all_points()]
    [[[-1.0, -1.0], [2.0, 1.0], [3.0, 1.0]]]
    """
    encoding = learned_encoding(source, encoding, scale="mixed")
    given = source if isinstance(source, Examples) else _as_given(source, encoding)
    with cached(given, encoding=encoding, label=label or getattr(source, "label", None)) as examples:
        yield examples


def _as_given(source: Iterable[Any], encoding: "Encoding | None") -> Iterator[Any]:
    """The same, but raises ValueError for a number that float64 cannot represent."""
    for item in source:
        if isinstance(item, Records) and (why := rounded_column(item, encoding)) is not None:
            raise ValueError(why)
        if isinstance(item, tuple) and len(item) == 2 and not isinstance(item, Batch):
            item = (exact_numbers(item[0]), item[1])
        yield item


def matrix_of(rows: Rows) -> Any:
    """Rows as a NumPy or SciPy array that shares their entries."""
    return rows.as_scipy() if rows.is_sparse else rows.matrix


def in_float64(rows: Rows) -> Rows:
    """The same rows in float64, the precision of the search."""
    if not rows.is_sparse:
        return as_rows(rows.matrix.astype(np.float64))
    data, indices, indptr = rows.matrix
    return csr_rows(data.astype(np.float64), indices, indptr, rows.n_columns)
