"""What the certificate of a few rows says about all rows, and the rows that contradict it.

A claim about every point is a vector and what its products may be. Floats with an error bound decide nearly all of
them; what they leave in doubt is decided in whole numbers.
"""

import math
from collections.abc import Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.blocks import stacked
from novikoff.data.examples import Block
from novikoff.engine.rows import Rows
from novikoff.prove.exact.floats import scaled_floats
from novikoff.prove.separable.in_blocks import InBlocks, in_float64
from novikoff.prove.separable.points import Floats, Points
from novikoff.prove.separable.products import approximate_products, signs_near, smallest_product

Whole = list[int]
Numbers = NDArray[np.int64]

# So many rows in doubt are held before whole numbers decide between them.
DOUBTFUL = 4096


@dataclass(frozen=True, eq=False)
class Direction:
    """A whole vector, and the same in floats, scaled to a largest entry of 1."""

    whole: Whole

    @cached_property
    def floats(self) -> Floats:
        return scaled_floats(self.whole)

    @cached_property
    def length(self) -> float:
        return float(np.linalg.norm(self.floats))

    def products(self, points: Points, longest: float) -> tuple[Floats, float]:
        """Products in floats and a bound on their error; no point is longer than `longest`."""
        return approximate_products(points, self.floats, longest)

    def signs(self, points: Points, longest: float) -> NDArray[np.int8]:
        """The exact signs of the products."""
        return signs_near(points, [self.whole], [self.products(points, longest)])[0]


@dataclass(frozen=True, eq=False)
class Subset:
    """Subset of the examples, by their numbers among all, ascending.

    The smaller the urgency of one, the more it matters; it is infinite for those that never contradicted anything.
    """

    numbers: Numbers
    rows: Rows
    labels: NDArray[Any]
    urgency: Floats

    @classmethod
    def of(cls, block: Block, which: Numbers, urgency: Floats | None = None) -> "Subset":
        """A copy of some rows of a block."""
        rows, labels = in_float64(block.rows.take(which)), block.labels[which]
        return cls(block.first + which, rows, labels, np.full(len(which), math.inf) if urgency is None else urgency)

    @classmethod
    def joined(cls, parts: list["Subset"]) -> "Subset":
        """All of them, in ascending order of their numbers."""
        both = cls(
            np.concatenate([part.numbers for part in parts]),
            stacked([part.rows for part in parts]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.urgency for part in parts]),
        )
        order = np.argsort(both.numbers)
        return both if np.array_equal(order, np.arange(len(order))) else both.chosen(order)

    def __len__(self) -> int:
        return len(self.numbers)

    def chosen(self, which: Numbers) -> "Subset":
        return Subset(self.numbers[which], self.rows.take(which), self.labels[which], self.urgency[which])

    def without_copies(self) -> "Subset":
        """One of all examples that are copies of each other: the others say nothing new."""
        first: dict[Any, int] = {}
        for place, key in enumerate(self.contents()):
            first.setdefault(key, place)
        return self if len(first) == len(self) else self.chosen(np.array(list(first.values())))

    def without(self, known: Container[tuple[bytes, Any]]) -> "Subset | None":
        """Those whose contents are not known; None if there are none."""
        new = [place for place, key in enumerate(self.contents()) if key not in known]
        return self.chosen(np.array(new)) if new else None

    def contents(self) -> Iterator[tuple[bytes, Any]]:
        return zip(_as_bytes(self.rows), self.labels.tolist(), strict=True)

    def most_urgent(self, most: int) -> "Subset":
        return self.chosen(np.sort(np.argsort(self.urgency, kind="stable")[:most]))


def _as_bytes(rows: Rows) -> Iterator[bytes]:
    """Every row as bytes: the same for copies."""
    if not rows.is_sparse:
        yield from (row.tobytes() for row in rows.matrix)
        return
    data, indices, indptr = rows.matrix
    for start, stop in pairwise(indptr.tolist()):
        yield indices[start:stop].tobytes() + data[start:stop].tobytes()


class MostUrgent:
    """The most urgent of all rows that are added, no more than `most`, and no copies of each other."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._parts: list[Subset] = []

    def add(self, some: Subset) -> None:
        self._parts.append(some.without_copies())
        if sum(map(len, self._parts)) > 2 * self.most:
            self._parts = [Subset.joined(self._parts).without_copies().most_urgent(self.most)]

    def rows(self) -> Subset | None:
        """Those that are left; None if there never were any."""
        return Subset.joined(self._parts).without_copies().most_urgent(self.most) if self._parts else None


class SmallestProduct:
    """The exact smallest product of all points with a vector, from one pass over them."""

    def __init__(self, data: InBlocks, direction: Direction) -> None:
        self.data = data
        self.direction = direction
        self._floor = math.inf
        self._is_negative = False
        self._doubtful: list[Subset] = []
        self._smallest: Fraction | None = None

    def add(self, block: Block, products: Floats, error: float) -> None:
        """The points of a block with their products in floats, which are off by no more than `error`."""
        self._floor = min(self._floor, products[np.isfinite(products)].min(initial=math.inf))
        self._is_negative = self._is_negative or self._floor < -error
        if self._is_negative:
            return
        rows = np.unique(np.flatnonzero(~(products > self._floor + 2 * error)) // self.data.rivals)
        if len(rows):
            self._doubtful.append(Subset.of(block, rows).without_copies())
        if sum(map(len, self._doubtful)) > DOUBTFUL:
            self._decide()

    def _decide(self) -> None:
        held = Subset.joined(self._doubtful).without_copies()
        smallest, _ = smallest_product(self.data.points(held.rows, held.labels), self.direction.whole)
        self._smallest = smallest if self._smallest is None else min(smallest, self._smallest)
        self._doubtful = []

    def lower_square(self) -> Fraction | None:
        """The square of the margin that the vector has, as in `proofs.lower_square`; None if it does not separate."""
        if self._is_negative:
            return None
        if self._doubtful:
            self._decide()
        if self._smallest is None or self._smallest <= 0:
            return None
        return self._smallest**2 / sum(v * v for v in self.direction.whole)


@dataclass(frozen=True, eq=False)
class Claims:
    """What is said about every point, none of which is longer than `longest`.

    Its product with the unit vector of `plane` is at least `least`. Its product with the `weak` vector is not
    negative. If it lies on that one, or if there is none, it is orthogonal to all `normals`.
    """

    longest: float
    plane: Direction | None = None
    least: float = 0.0
    weak: Direction | None = None
    normals: tuple[Direction, ...] = ()

    @property
    def are_empty(self) -> bool:
        return self.plane is None and self.weak is None and not self.normals

    def test(self, points: Points, block: Block, smallest: SmallestProduct | None) -> tuple[NDArray[np.bool_], Floats]:
        """Which points contradict a claim, and how urgently. `smallest` learns of the products with the plane."""
        wrong, urgency = np.zeros(points.n_points, dtype=bool), np.full(points.n_points, math.inf)
        if self.plane is not None and smallest is not None:
            urgency, error = self.plane.products(points, self.longest)
            smallest.add(block, urgency, error)
            wrong = ~(urgency >= self.least * self.plane.length)
        flat = np.ones(points.n_points, dtype=bool)
        if self.weak is not None:
            signs = self.weak.signs(points, self.longest)
            wrong |= signs < 0
            urgency = np.fmin(urgency, self.weak.products(points, self.longest)[0])
            flat = signs == 0
        if self.normals and np.any(flat):
            which = np.flatnonzero(flat)
            on = points.part(which)
            for normal in self.normals:
                outside = which[normal.signs(on, self.longest) != 0]
                wrong[outside], urgency[outside] = True, np.fmin(urgency[outside], 0.0)
        return wrong, urgency

    def urgency(self, points: Points) -> Floats:
        """How near points are to contradicting a claim about a product that is positive, or not negative."""
        urgency = np.full(points.n_points, math.inf)
        for direction in (self.plane, self.weak):
            if direction is not None:
                urgency = np.fmin(urgency, direction.products(points, self.longest)[0])
        return urgency
