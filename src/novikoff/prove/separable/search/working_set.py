"""Certify examples that do not fit into memory: cutting planes over blocks.

A *working set* of rows is in memory, at first an even sample. Its certificate implies claims about all rows: that a
hyperplane classifies them correctly with some margin, that a weak separator has none on its wrong side, or that they
lie in the span of an obstruction. One pass over the blocks tests that, row by row, and adds the rows that contradict it
to the working set. When none does, the certificate of the working set is that of all rows: a point of its hull is a
point of the hull of all, an obstruction in it is an obstruction of all, and the rest was just proved for every row.

A sample of r rows leaves about a fraction d/r of all rows on the wrong side (Clarkson), so few passes are needed. For
data that fit into memory, the working set has every row, and there is nothing to test.
"""

import math
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import stacked
from novikoff.data.examples import Block, Examples
from novikoff.engine.clock import UNLIMITED, Clock, OutOfTimeError
from novikoff.engine.rows import Rows
from novikoff.prove.exact.algebra import null_vectors
from novikoff.prove.exact.floats import fraction_root_up, root_down, scaled_floats
from novikoff.prove.separable.certificate import Certificate, Support, Witnesses
from novikoff.prove.separable.conclude import InMemory, off_points, on_points
from novikoff.prove.separable.in_blocks import InBlocks, in_float64, matrix_of
from novikoff.prove.separable.kesler import KeslerPoints, point_numbers
from novikoff.prove.separable.points import Floats, Points, as_bytes
from novikoff.prove.separable.products import approximate_products, signs_near, smallest_product, whole_points
from novikoff.prove.separable.proofs import lower_square, upper_square
from novikoff.prove.separable.search.certify import MEMORY, concluded, find_witnesses
from novikoff.prove.separable.search.cutting_planes import MOST_FOR_CUTTING
from novikoff.prove.separable.search.gordan import LARGEST_COMPLEMENT, Whole
from novikoff.prove.separable.subject import check_not_rounded, check_width, plain_classes

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Direction:
    """A vector of whole numbers, and the same in floats, scaled to a largest entry of 1."""

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
    """A subset of the examples, by their numbers among all, ascending.

    A smaller urgency comes first; it is infinite for examples that never contradicted a claim.
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
        """The union of subsets, by ascending numbers."""
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
        """The subset without duplicates."""
        first: dict[Any, int] = {}
        for place, key in enumerate(self.contents()):
            first.setdefault(key, place)
        return self if len(first) == len(self) else self.chosen(np.array(list(first.values())))

    def without(self, known: Container[tuple[bytes, Any]]) -> "Subset | None":
        """The examples whose contents are not in `known`; None if there are none."""
        new = [place for place, key in enumerate(self.contents()) if key not in known]
        return self.chosen(np.array(new)) if new else None

    def contents(self) -> Iterator[tuple[bytes, Any]]:
        return zip(as_bytes(matrix_of(self.rows)), self.labels.tolist(), strict=True)

    def most_urgent(self, most: int) -> "Subset":
        return self.chosen(np.sort(np.argsort(self.urgency, kind="stable")[:most]))


class MostUrgent:
    """The most urgent of all added rows, at most `most`, without duplicates."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._parts: list[Subset] = []

    def add(self, some: Subset) -> None:
        self._parts.append(some.without_copies())
        if sum(map(len, self._parts)) > 2 * self.most:
            self._parts = [Subset.joined(self._parts).without_copies().most_urgent(self.most)]

    def rows(self) -> Subset | None:
        """The rows kept; None if none were added."""
        return Subset.joined(self._parts).without_copies().most_urgent(self.most) if self._parts else None


@dataclass(frozen=True, eq=False)
class Claims:
    """Claims about every point, none of which is longer than `longest`.

    Its product with the unit vector of `plane` is at least `least`. Its product with the `weak` vector is not negative.
    If that is 0, or if there is no `weak`, the point is orthogonal to all `normals`.
    """

    longest: float
    plane: Direction | None = None
    least: float = 0.0
    weak: Direction | None = None
    normals: tuple[Direction, ...] = ()

    @property
    def are_empty(self) -> bool:
        return self.plane is None and self.weak is None and not self.normals

    def test(self, points: Points) -> tuple[NDArray[np.bool_], Floats, Fraction | None]:
        """Which points contradict a claim, their urgency, and the smallest product with the plane."""
        wrong, urgency = np.zeros(points.n_points, dtype=bool), np.full(points.n_points, math.inf)
        smallest: Fraction | None = None
        if self.plane is not None:
            near = self.plane.products(points, self.longest)
            urgency, (smallest, _) = near[0], smallest_product(points, self.plane.whole, near)
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
        return wrong, urgency, smallest

    def urgency(self, points: Points) -> Floats:
        """The slack of points in claims that a product is positive, or not negative."""
        urgency = np.full(points.n_points, math.inf)
        for direction in (self.plane, self.weak):
            if direction is not None:
                urgency = np.fmin(urgency, direction.products(points, self.longest)[0])
        return urgency


# -- rounds -----------------------------------------------------------------------------------------------------------


# The most passes before returning the best result so far.
MOST_PASSES = 100


def certify_examples(
    examples: Examples,
    *,
    fit_intercept: bool = True,
    tolerance: float = 1e-6,
    time_limit: float | None = None,
    data: InBlocks | None = None,
    passes: "Passes | None" = None,
    progress: Callable[[str], None] | None = None,
) -> Certificate:
    """The certificate of examples, with the options of `certify` and the same result as for the rows in one array.

    For examples outside this process, `data` gives access to them and `passes` makes the passes. `progress` is called
    with a description of every step.
    """
    check_width(examples.n_columns, examples.n_entries)
    check_not_rounded(examples.rounded)
    plain_classes(examples.classes)
    data = InBlocks(examples, fit_intercept) if data is None else data
    passes = passes or Passes()
    clock = Clock(time_limit, told=progress)
    working = passes.sample(data, _rows_to_begin_with(data))
    found = _Rounds(data, passes, tolerance, clock).run(working)
    if len(working) < data.n_rows:
        return concluded(data, found, clock)
    points, labels = data.points(working.rows, working.labels), examples.labels_of(working.labels)
    return concluded(InMemory(labels, points, data.subject, data.radius_square), found, clock)


def _rows_to_begin_with(data: InBlocks) -> Numbers:
    """An even sample, and a row of every class."""
    share = data.bytes_per_row * data.n_rows / MEMORY
    step = 1 if share <= 1 else math.ceil(2 * share)
    return np.union1d(np.arange(0, data.n_rows, step), data.first_of_each)


class Passes:
    """Passes over all rows, in this process."""

    def sample(self, data: InBlocks, chosen: Numbers) -> Subset:
        """Some rows, from the same pass as `survey`."""
        sample = list[Subset]()

        def visit(block: Block) -> None:
            first, last = np.searchsorted(chosen, [block.first, block.first + block.rows.n_rows])
            if first < last:
                sample.append(Subset.of(block, chosen[first:last] - block.first))

        data.survey(visit)
        return Subset.joined(sample)

    def look(
        self, data: InBlocks, claims: Claims, working: Subset, most: int, clock: Clock
    ) -> tuple[Subset | None, Fraction | None]:
        """The `most` urgent rows that contradict claims, and the square of the margin of the plane.

        Raises OutOfTimeError if time runs out during the pass.
        """
        worst, square = look_at(data, claims, working.numbers, set(working.contents()), most, clock)
        return worst.rows(), square


def look_at(
    data: InBlocks,
    claims: Claims,
    numbers: Numbers,
    known: Container[tuple[bytes, Any]],
    most: int,
    clock: Clock = UNLIMITED,
) -> tuple[MostUrgent, Fraction | None]:
    """One pass for rows that contradict claims, except those with these `numbers` or `known` contents; and the square
    of the margin of the plane, as `proofs.lower_square`, None if it does not separate."""
    worst, products = MostUrgent(most), list[Fraction]()
    for block in clock.through(data.blocks()):
        wrong, urgency, smallest = claims.test(data.points(block.rows, block.labels))
        products += [] if smallest is None else [smallest]
        rows = np.flatnonzero(wrong.reshape(block.rows.n_rows, -1).any(axis=1))
        rows = rows[~np.isin(block.first + rows, numbers)]
        if len(rows):
            some = Subset.of(block, rows, urgency.reshape(block.rows.n_rows, -1).min(axis=1)[rows])
            # A copy of a known row adds nothing, even if floats cannot show that the claim holds for it.
            if (new := some.without(known)) is not None:
                worst.add(new)
    if claims.plane is None or not min(products) > 0:
        return worst, None
    return worst, min(products) ** 2 / sum(v * v for v in claims.plane.whole)


@dataclass
class _Rounds:
    """Rounds of witnesses for the working set and a pass over all rows, and the best bracket so far."""

    data: InBlocks
    passes: Passes
    tolerance: float
    clock: Clock
    vector: Whole | None = None  # the best hyperplane that classifies every row correctly
    lower: Fraction = Fraction(0)
    support: Support | None = None
    upper: Fraction | None = None

    def run(self, working: Subset) -> Witnesses:
        data = self.data
        if len(working) == data.n_rows:
            return self._renumbered(find_witnesses(self._in_memory(working), self.tolerance, self.clock), working)
        working = self._with_two_classes(working)
        for number in range(MOST_PASSES):
            self.clock.tell(f"pass {number + 1} over all rows")
            question = self._in_memory(working)
            points, found = question.points, find_witnesses(question, self.tolerance / 4, self.clock)
            if points.dimension > LARGEST_COMPLEMENT:
                # A proof that it spans all rows would be too large.
                found = found.without_span()
            self._note_support(found, points, working)
            here, found = found, self._renumbered(found, working)
            if found.vector is None and found.weak_separator is None and not found.spans:
                break
            try:
                claims = self._claims(here, points, working.labels)
                new = self._contradicting(claims, working)
            except (OutOfTimeError, MemoryError):
                break
            if new is None:
                return found if found.vector is None else self._bracketed()
            working = self._exchange(working, new, found, claims, points)
            if self.clock.is_over():
                break
        return self._unsettled(found)

    def _with_two_classes(self, working: Subset) -> Subset:
        """The same with the rows of the two most similar classes, as many as fit into memory, if two of many are likely
        to decide: a sample of all may be separable even if they are not."""
        points = self._in_memory(working).points
        if not isinstance(points, KeslerPoints) or points.dimension <= MOST_FOR_CUTTING:
            return working
        rows = self.data.rows_of(points.pairs()[0])
        step = math.ceil(len(rows) * self.data.bytes_per_row / (MEMORY / 2))
        rows = np.setdiff1d(rows[::step], working.numbers)
        if len(rows) == 0:
            return working
        taken = self.data.examples.take(rows)
        more = Subset(rows, in_float64(taken.rows), taken.labels, np.full(len(rows), math.inf))
        return Subset.joined([working, more])

    def _in_memory(self, working: Subset) -> InMemory:
        points = self.data.points(working.rows, working.labels)
        return InMemory(working.labels, points, self.data.subject, self.data.radius_square)

    def _note_support(self, found: Witnesses, points: Points, working: Subset) -> None:
        """Keep the convex combination with the smallest upper bound."""
        if found.support is None:
            return
        rows, weights, rivals = found.support
        square = upper_square(points, point_numbers(working.labels, rows, rivals), weights)
        if self.upper is None or square < self.upper:
            self.support, self.upper = self._renumbered(found, working).support, square

    def _claims(self, found: Witnesses, points: Points, labels: NDArray[Any]) -> Claims:
        """The claims about all points that the witnesses of a working set imply."""
        subject = self.data.subject
        longest = fraction_root_up(self.data.radius_square * subject.factor)
        if found.vector is not None:
            plane = list(on_points(subject, found.vector))
            lower = lower_square(points, plane) or Fraction(0)
            return Claims(longest, Direction(plane), root_down(lower) * (1 - self.tolerance / 4))
        if found.obstruction is None or (found.weak_separator is None and not found.spans):
            return Claims(longest)
        normals: list[Whole] = []
        if points.dimension <= LARGEST_COMPLEMENT:
            numbers = point_numbers(labels, found.obstruction.rows, found.obstruction.rivals)
            normals = null_vectors(whole_points(points, numbers)[0], points.dimension, self.clock)
        weak = found.weak_separator
        beyond = None if weak is None else Direction(list(on_points(subject, weak)))
        return Claims(longest, weak=beyond, normals=tuple(map(Direction, normals)))

    def _contradicting(self, claims: Claims, working: Subset) -> Subset | None:
        """The rows that contradict the claims, from one pass over all; stores the plane if it separates all."""
        if claims.are_empty:
            return None
        most = max(1, int(MEMORY / 4 / self.data.bytes_per_row))
        worst, square = self.passes.look(self.data, claims, working, most, self.clock)
        if claims.plane is not None and square is not None and square > self.lower:
            self.vector, self.lower = claims.plane.whole, square
        return worst

    def _exchange(self, working: Subset, new: Subset, found: Witnesses, claims: Claims, points: Points) -> Subset:
        """Add new rows. If there are too many, remove those farthest from contradicting the claims.

        Rows of the first sample are removed before those that once contradicted a claim, which prevents cycling.
        """
        most = int(MEMORY * 3 / 4 / self.data.bytes_per_row)
        if points.dimension <= LARGEST_COMPLEMENT:  # a proof must always fit
            most = max(most, 2 * points.dimension)
        if len(working) > most:
            urgency = claims.urgency(points).reshape(len(working), -1).min(axis=1)
            named = [part.rows for part in (found.support, found.obstruction) if part is not None]
            pinned = np.isin(working.numbers, np.concatenate([self.data.first_of_each, *map(np.array, named)]))
            order = np.lexsort((urgency, np.isinf(working.urgency), ~pinned))
            working = working.chosen(np.sort(order[: max(most, int(pinned.sum()))])).without_copies()
        return Subset.joined([working, new])

    # -- certificates -------------------------------------------------------------------------------------------------

    def _renumbered(self, found: Witnesses, working: Subset) -> Witnesses:
        """The witnesses of a working set, with row numbers among all rows."""

        def part(of: Any) -> Any:
            if of is None:
                return None
            rivals = None if of.rivals is None else tuple(self.data.classes[list(of.rivals)].tolist())
            return of._replace(rows=tuple(working.numbers[list(of.rows)].tolist()), rivals=rivals)

        return replace(found, support=part(found.support), obstruction=part(found.obstruction))

    def _unsettled(self, found: Witnesses) -> Witnesses:
        """What is proved when time or passes run out, or when floats fail."""
        if found.obstruction is not None:
            return Witnesses(obstruction=found.obstruction).without_span()
        return self._bracketed()

    def _bracketed(self) -> Witnesses:
        """Separable by the best hyperplane that classifies every row correctly, or undecided if there is none."""
        if self.vector is None:
            return Witnesses(support=self.support)
        vector = tuple(off_points(self.data.subject, self.vector))
        return Witnesses(vector=vector, support=self.support)
