"""To which infinity coefficients go, with the proof: a direction of either sign, or rows that rule one sign out.

All questions are asked in the null space of the face, which has few dimensions, and falls apart into components that no
row connects. In a component of one dimension the answer is plain; in larger ones a linear program finds it, and it is
made exact. Where floats cannot tell, exact pivoting does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.engine.clock import Clock, OutOfTimeError
from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.existence.conclude import SignProof, lineality
from novikoff.prove.existence.families import Cone
from novikoff.prove.existence.rows import Numbers, Sparse, combination, rational, with_scale
from novikoff.prove.existence.search.face import ConeFace
from novikoff.prove.separable.points import Floats
from novikoff.prove.separable.search.highs import ZERO, Guess, solved_in_floats
from novikoff.prove.separable.search.scaled import LEAST, largest_of_rows, mantissas_of
from novikoff.prove.separable.search.simplex import SingularError, largest_product

# Programs times their entries: beyond, signs are found only if that is asked for.
QUICK = 2_000_000
# How much of the inner direction is added to one on the border, as powers of two, until it is exactly in the cone.
INWARD = (-2, -6, -12, -20, -30, -40)


@dataclass
class _Component:
    """Free numbers that rows connect, and these rows."""

    free: list[int]
    rows: list[int]


@dataclass
class Signs:
    """Directions, the first of which is positive wherever any is, and proofs of signs."""

    directions: list[list[int]]
    proofs: list[SignProof] = field(default_factory=list)


def find_signs(cone: Cone, face: ConeFace, wanted: bool | None, clock: Clock) -> Signs:
    """What proves the signs of all coefficients that diverge; less, if that would take long or the time is over."""
    found = Signs([face.direction] if face.direction is not None else [])
    if face.direction is None or wanted is False:
        return found
    try:
        search = _SignSearch(cone, face, found, clock)
        if wanted is None and search.effort() > QUICK:
            return found
        for number, place in enumerate(clock.through(search.open)):
            clock.tell(f"signs of coefficients, {number + 1:,} of {len(search.open):,}")
            search.settle(place, clock)
    except (OutOfTimeError, SingularError):
        pass
    return found


class _SignSearch:
    def __init__(self, cone: Cone, face: ConeFace, found: Signs, clock: Clock) -> None:
        self.cone, self.null_space, self.found = cone, face.null_space, found
        self.inner = face.free
        beyond = np.flatnonzero(face.is_strict)
        self.numbers = beyond.tolist()
        part = cone.whole.in_rows(beyond)
        self.rows: list[Sparse] = [self.null_space.times(part.row(i)) for i in clock.through(range(part.n_rows))]
        self.P, self.units = projected(self.rows, self.null_space.dimension)
        lines = lineality(cone, self.null_space, face.is_strict, clock)
        varying = (place for place in range(cone.size) if not self.null_space.is_fixed(place))
        self.open = [place for place in varying if not lines.times(self.null_space.expressions[place])]
        self.components, self.of_free = self._components()

    def _components(self) -> tuple[list[_Component], list[int]]:
        from scipy.sparse.csgraph import connected_components

        links = self.P.copy()
        links.data = np.ones_like(links.data)
        _, labels = connected_components(links.T @ links, directed=False)
        parts = [_Component([], []) for _ in range(int(labels.max(initial=-1)) + 1)]
        for k, label in enumerate(labels.tolist()):
            parts[label].free.append(k)
        for i, row in enumerate(self.rows):
            parts[labels[next(iter(row))]].rows.append(i)
        return parts, labels.tolist()

    def effort(self) -> int:
        """Entries that linear programs would have, in all."""
        large = {c for c, part in enumerate(self.components) if len(part.free) > 1}
        asked = sum(any(self.of_free[k] in large for k in self.null_space.expressions[place]) for place in self.open)
        return asked * int(sum(len(self.rows[i]) for c in large for i in self.components[c].rows))

    def settle(self, place: int, clock: Clock) -> None:
        """Find a direction for the sign that no direction has yet, or rule that sign out."""
        goal = self.null_space.expressions[place]
        ways = {(d[place] > 0) - (d[place] < 0) for d in self.found.directions} - {0}
        ways |= {sign for sign in {1, -1} - ways if self._direction(goal, sign, clock, self._on_the_border)}
        proofs = {-sign: self._proof(place, goal, -sign, clock) for sign in {1, -1} - ways}
        for sign, proof in proofs.items():
            if proof is not None:
                self.found.proofs.append(proof)
            else:
                self._direction(goal, -sign, clock, self._exactly_there)

    def _parts(self, goal: Sparse) -> dict[int, Sparse]:
        parts: dict[int, Sparse] = {}
        for k, value in goal.items():
            parts.setdefault(self.of_free[k], {})[k] = value
        return parts

    def _direction(self, goal: Sparse, sign: int, clock: Clock, search: "_Way") -> bool:
        """Whether some direction with this sign has been found, and kept."""
        for label, part in self._parts(goal).items():
            component = self.components[label]
            inner = {k: self.inner[k] for k in component.free}
            way = inner if sign * _product(part, inner) > 0 else None
            if way is None and len(component.free) > 1:
                way = search(component, part, inner, sign, clock)
            if way is None:
                continue
            free = [*self.inner]
            own = sign * _product(part, way)
            rest = abs(_product(goal, dict(enumerate(self.inner))) - _product(part, inner))
            times = int(rest / own) + 1
            for k, value in way.items():
                free[k] = value * times
            self.found.directions.append(as_whole(self.null_space.vector(free)))
            return True
        return False

    def _on_the_border(
        self, component: _Component, goal: Sparse, inner: Sparse, sign: int, clock: Clock
    ) -> Sparse | None:
        """Free numbers of a component, in its cone exactly, with this sign along the goal."""
        answer = self._program(component, goal, sign, clock)
        if answer is None or answer.cost > -ZERO:
            return None
        units = self.units[component.free]
        edge = rounded(answer.x, units, 50)
        size = max(abs(value) * _two(unit) for value, unit in zip(inner.values(), units.tolist(), strict=True))
        for power in INWARD:
            way = {k: e + inner[k] / size * _two(power) for k, e in zip(component.free, edge, strict=True)}
            if sign * _product(goal, way) > 0 and all(_product(self.rows[i], way) >= 0 for i in component.rows):
                return way
        return None

    def _exactly_there(
        self, component: _Component, goal: Sparse, inner: Sparse, sign: int, clock: Clock
    ) -> Sparse | None:
        """The same, by exact pivoting."""
        way, _ = self._exactly(component, goal, sign, clock)
        return way

    def _exactly(
        self, component: _Component, goal: Sparse, sign: int, clock: Clock
    ) -> tuple[Sparse | None, dict[int, Any]]:
        """Free numbers with this sign along the goal; or rows that give the goal with the other sign."""
        free = component.free
        rows = [with_scale([self.rows[i].get(k, 0) for k in free]) for i in component.rows]
        target, scale = with_scale([sign * goal.get(k, 0) for k in free])
        table, none = (WholeMatrix.of_table(part, len(free)) for part in ([row for row, _ in rows], []))
        way, multiples = largest_product(target, table, none, clock)
        if way is not None:
            return {k: rational(value) for k, value in zip(free, way, strict=True)}, {}
        own = zip(component.rows, multiples, rows, strict=True)
        return None, {i: rational(times) * own_scale / scale for i, times, (_, own_scale) in own if times}

    def _program(self, component: _Component, goal: Sparse, sign: int, clock: Clock) -> Guess | None:
        P = self.P[component.rows][:, component.free]
        scaled, _ = projected([goal], self.null_space.dimension, self.units)
        target = sign * scaled.toarray()[0, component.free]
        n_rows, box = P.shape[0], np.ones(P.shape[1])
        rows_at_least = (np.zeros(n_rows), np.full(n_rows, np.inf))
        answer = solved_in_floats(-target, P, rows_at_least, (-box, box), clock)
        if answer is None and clock.is_over():
            raise OutOfTimeError
        return answer

    def _proof(self, place: int, goal: Sparse, sign: int, clock: Clock) -> SignProof | None:
        """Rows that give the coefficient with its sign, component by component."""
        unit = _two(-int(self.cone.exponents[place]))
        weights: dict[int, Any] = {}
        for label, part in self._parts(goal).items():
            found = self._rows_that_give(self.components[label], part, sign, clock)
            if found is None:
                return None
            weights.update({row: weight * unit for row, weight in found.items()})
        rows = sorted(weights, key=self.numbers.__getitem__)
        *whole, scale = as_whole([*(weights[row] for row in rows), Fraction(1)])
        return SignProof(place, tuple(self.numbers[row] for row in rows), tuple(whole), scale)

    def _rows_that_give(self, component: _Component, goal: Sparse, sign: int, clock: Clock) -> dict[int, Any] | None:
        target = {k: sign * value for k, value in goal.items()}
        if len(component.free) == 1:
            row = component.rows[0]
            (k,) = component.free
            return {row: rational(target[k]) / self.rows[row][k]}
        found = self._by_program(component, goal, sign, target, clock)
        if found is not None:
            return found
        way, rows = self._exactly(component, goal, -sign, clock)
        return rows if way is None else None

    def _by_program(
        self, component: _Component, goal: Sparse, sign: int, target: Sparse, clock: Clock
    ) -> dict[int, Any] | None:
        answer = self._program(component, goal, -sign, clock)
        if answer is None:
            return None
        used = np.flatnonzero(answer.y > ZERO)
        chosen = [component.rows[i] for i in used[np.argsort(-answer.y[used], kind="stable")].tolist()]
        places = {k: i for i, k in enumerate(component.free)}
        table = [{places[k]: value for k, value in self.rows[i].items()} for i in chosen]
        found = combination(table, {places[k]: value for k, value in target.items()}, len(places), clock)
        if found is None or any(weight < 0 for weight in found.values()):
            return None
        return {chosen[i]: weight for i, weight in found.items() if weight != 0}


_Way = Callable[[_Component, Sparse, Sparse, int, Clock], Sparse | None]


def _product(a: Sparse, b: Sparse) -> Any:
    return sum(value * b[k] for k, value in a.items() if k in b)


def _two(exponent: int) -> Any:
    from flint import fmpq

    return fmpq(1 << exponent) if exponent >= 0 else fmpq(1, 1 << -exponent)


def projected(rows: Sequence[Sparse], size: int, units: Numbers | None = None) -> tuple[Any, Numbers]:
    """Rows of fractions as CSR floats near 1, and the exponents of the units of the columns, if not given."""
    from scipy.sparse import csr_array

    indptr = np.append(0, np.cumsum([len(row) for row in rows], dtype=np.int64))
    indices = np.array([k for row in rows for k in row], dtype=np.int64)
    values = np.empty(len(indices), dtype=object)
    values[:] = [value for row in rows for value in row.values()]
    mantissas, exponents = mantissas_of(values)
    if units is None:
        units = np.full(size, LEAST)
        np.maximum.at(units, indices, exponents)
        units[units == LEAST] = 0
    shifted = exponents - units[indices]
    data = np.ldexp(mantissas, shifted - np.repeat(largest_of_rows(shifted, indptr), np.diff(indptr)))
    return csr_array((data, indices, indptr), shape=(len(rows), size)), units


def rounded(free: Floats, units: Numbers, bits: int) -> list[Any]:
    """Free numbers as fractions, in their own units, rounded to so many bits after the point."""
    from flint import fmpq

    values = []
    for value, unit in zip(free.tolist(), units.tolist(), strict=True):
        above, below = float(value).as_integer_ratio()
        shift = -bits - unit
        whole = ((above << bits) + below // 2) // below
        values.append(fmpq(whole << shift) if shift >= 0 else fmpq(whole, 1 << -shift))
    return values
