"""Exact geometry of finitely many points: which of them a half-space, a ball, a box or a polygon can hold.

Points are whole numbers here, and a subset is a *mask*: the whole number whose bit i says that point i belongs to it.
Nothing is rounded, and nothing is found by trying all subsets.

Two constructions carry everything. In any dimension, hyperplanes are enumerated one point at a time, by deletion and
restriction (Zaslavsky, 1975). In the plane, the directions that are normal to the line through two points divide the
circle into *cells*: two directions of one cell see the points in the same order (Goodman and Pollack, 1980).
"""

import math
from collections.abc import Iterator, Sequence
from functools import cmp_to_key
from itertools import combinations

from novikoff.prove.exact.algebra import dot

Whole = Sequence[int]
Point = tuple[int, ...]
Arc = tuple[int, int]  # its first cell, and how many cells it has


def halfspaces(points: Sequence[Point]) -> set[int]:
    """The masks that a half-space cuts out.

    >>> sorted(halfspaces([(0,), (1,), (2,)]))
    [0, 1, 3, 4, 6, 7]
    """
    if len(points[0]) == 2:
        return set(halfplanes(points))
    everything = (1 << len(points)) - 1
    masks = set(sides_of_hyperplanes([(*point, 1) for point in points]))
    return masks | {everything ^ mask for mask in masks}


def balls(points: Sequence[Point]) -> set[int]:
    """The masks that a ball cuts out: the half-spaces below the points (x, ||x||^2) of a paraboloid.

    The first vector stands for the coefficient of ||x||^2, which must be positive: without it, the outside of a ball
    would count as one.

    >>> sorted(balls([(0,), (1,), (2,)]))
    [0, 1, 2, 3, 4, 6, 7]
    """
    dimension = len(points[0])
    upwards = (*[0] * dimension, 1, 0)
    lifted = [(*(-v for v in point), -dot(point, point), -1) for point in points]
    return {mask >> 1 for mask in sides_of_hyperplanes([upwards, *lifted])}


def boxes(points: Sequence[Whole]) -> set[int]:
    """The masks that an axis-parallel box cuts out: one run of values in every coordinate.

    >>> sorted(boxes([(0, 0), (1, 1), (2, 2)]))
    [0, 1, 2, 3, 4, 6, 7]
    """
    found = {(1 << len(points)) - 1}
    for values in zip(*points, strict=True):
        runs = set(_runs(values))
        found = {mask & run for mask in found for run in runs}
    return found | {0}


def rectangles(points: Sequence[Point]) -> set[int]:
    """The masks that a rectangle in the plane, turned by any angle, cuts out.

    A rectangle that holds a finite set and keeps off the others can be turned by a little, so one direction of each
    cell is enough, and the cells of a quarter of the circle, because the other three see the same rectangles.

    >>> square = [(0, 0), (1, 0), (0, 1), (1, 1)]
    >>> len(boxes(square)), len(rectangles(square))
    (10, 16)
    """
    cells = directions(points)
    found: set[int] = set()
    for a, b in cells[: len(cells) // 4]:
        found |= boxes([(a * x + b * y, a * y - b * x) for x, y in points])
    return found


def polygons(points: Sequence[Point], sides: int) -> set[int]:
    """The masks that a convex polygon with at most so many sides cuts out.

    A polygon is a triangle and sides - 3 more half-planes: if no two of its sides are parallel, as one may assume for
    finitely many points, then three of its normals hold 0 inside their convex hull.

    >>> square = [(0, 0), (2, 0), (0, 2), (2, 2), (1, 1)]
    >>> len(polygons(square, 3)), len(polygons(square, 4))
    (25, 25)
    """
    arcs = halfplanes(points)
    found = newest = triangles(arcs)
    for _ in range(sides - 3):
        newest = {mask & half for mask in newest for half in arcs} - found
        if not newest:
            break
        found = found | newest
    return found


def sides_of_hyperplanes(vectors: Sequence[Whole]) -> dict[int, Whole]:
    """The masks of vectors that may lie on the positive side of a hyperplane through 0 that holds none of them.

    The first vector is always on the positive side: turning a hyperplane around gives the complement. Each mask comes
    with a normal that proves it.

    One more vector that is independent of those before splits every mask. Otherwise it splits those masks that a
    hyperplane through that vector shows, too: they are found in one dimension less. A mask that is not split goes where
    its normal says.

    >>> sides_of_hyperplanes([(1, 0), (0, 1), (1, 1)])
    {7: [1, 1], 5: [3, -1], 1: [1, -3]}
    """
    if not all(map(any, vectors)):
        return {}
    first, dimension = vectors[0], len(vectors[0])
    if dimension == 1:
        return {sum(1 << k for k, (value,) in enumerate(vectors) if value * first[0] > 0): first}
    found: dict[int, Whole] = {1: first}
    _, free = _independent(first, [[int(i == j) for j in range(dimension)] for i in range(dimension)])
    for k, vector in enumerate(vectors[1:], start=1):
        extra, free = _independent(vector, free)
        if extra is not None:
            found = _split_all(found, 1 << k, vector, extra)
        else:
            found = _split(found, 1 << k, vector, vectors[:k])
    return found


def _split_all(found: dict[int, Whole], bit: int, vector: Whole, extra: Whole) -> dict[int, Whole]:
    """Every mask with and without the vector: so much of `extra`, which only the vector feels, decides its side."""
    extended: dict[int, Whole] = {}
    for mask, normal in found.items():
        times = 1 + abs(dot(normal, vector)) // dot(extra, vector)
        extended[mask | bit] = _primitive([v + times * e for v, e in zip(normal, extra, strict=True)])
        extended[mask] = _primitive([v - times * e for v, e in zip(normal, extra, strict=True)])
    return extended


def _split(found: dict[int, Whole], bit: int, vector: Whole, before: Sequence[Whole]) -> dict[int, Whole]:
    """The masks with the vector, without it, or both, where the vector depends on those before."""
    pivot = next(j for j, v in enumerate(vector) if v)
    through = sides_of_hyperplanes([_restricted(other, vector, pivot) for other in before])
    changes = [abs(dot(vector, other)) for other in before]
    extended: dict[int, Whole] = {}
    for mask, normal in found.items():
        if mask in through:
            within = _lifted(through[mask], vector, pivot)
            # Turned towards the vector, but so little that none of those before changes its side.
            times = 1 + max(c // abs(dot(within, other)) for c, other in zip(changes, before, strict=True))
            extended[mask | bit] = _primitive([times * w + v for w, v in zip(within, vector, strict=True)])
            extended[mask] = _primitive([times * w - v for w, v in zip(within, vector, strict=True)])
        else:
            extended[mask | bit if dot(normal, vector) > 0 else mask] = normal
    return extended


def _independent(vector: Whole, free: list[list[int]]) -> tuple[list[int] | None, list[list[int]]]:
    """Of the directions that no vector felt so far, one that this vector feels, and those that it leaves."""
    products = [dot(direction, vector) for direction in free]
    at = next((i for i, product in enumerate(products) if product), None)
    if at is None:
        return None, free
    sign = 1 if products[at] > 0 else -1
    extra, product = [sign * v for v in free[at]], abs(products[at])
    left = [
        _primitive([product * v - other * e for v, e in zip(direction, extra, strict=True)])
        for i, (direction, other) in enumerate(zip(free, products, strict=True))
        if i != at
    ]
    return extra, left


def directions(points: Sequence[Point]) -> list[tuple[int, int]]:
    """One direction from each cell of the circle, counterclockwise.

    The cells are bounded by the normals of the lines through two points, and by what a quarter turn makes of these, so
    that a cell and its quarter turns, its antipode among them, are cells. No direction sees two points at one height.

    >>> directions([(0, 0), (1, 1)])
    [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]
    """
    quarter = {(1, 0)}
    for (x, y), (u, v) in combinations(points, 2):
        a, b = _primitive([u - x, v - y])
        while not (a > 0 and b >= 0):
            a, b = -b, a
        quarter.add((a, b))
    bounds = sorted(quarter, key=cmp_to_key(_orientation))
    inside = [(a + u, b + v) for (a, b), (u, v) in zip(bounds, [*bounds[1:], (0, 1)], strict=True)]
    cells = []
    for _ in range(4):
        cells += inside
        inside = [(-b, a) for a, b in inside]
    return cells


def halfplanes(points: Sequence[Point]) -> dict[int, Arc]:
    """The masks that a half-plane cuts out, each with the cells of the directions in which its border can face.

    >>> halfplanes([(0, 0), (1, 1)])[0b01]
    (7, 4)
    """
    cells = directions(points)
    everything = (1 << len(points)) - 1
    seen: dict[int, list[int]] = {}
    for cell, (a, b) in enumerate(cells):
        mask = 0
        for i in sorted(range(len(points)), key=lambda i: a * points[i][0] + b * points[i][1])[:-1]:
            mask |= 1 << i
            seen.setdefault(mask, []).append(cell)
    arcs = {0: (0, len(cells)), everything: (0, len(cells))}
    for mask, where in seen.items():
        # The directions form a convex cone, so the cells follow each other, perhaps across the last one.
        start = where[0]
        if where[0] == 0 and where[-1] == len(cells) - 1:
            start = next(cell for cell, last in zip(where[1:], where, strict=False) if cell != last + 1)
        arcs[mask] = (start, len(where))
    return arcs


def triangles(arcs: dict[int, Arc]) -> set[int]:
    """The masks that a triangle cuts out: intersections of three half-planes that leave no way to infinity.

    They leave none if 0 is inside the convex hull of the three directions: if the third one lies opposite to the two
    others or to a direction between them. All three may move within their cells, so lying in opposite cells is enough.
    """
    everything, around = max(arcs), arcs[0][1]
    items = sorted(arcs.items())
    found: set[int] = set()
    for i, (one, first) in enumerate(items):
        for j, (other, second) in enumerate(items[i:], start=i):
            both, facing = one & other, _opposite(first, second, around)
            if facing[1] == around:
                found.update(both & third for third, _ in items[j:])
            else:
                found.update(both & third for third, arc in items[j:] if _arcs_intersect(arc, facing, around))
    return found | {0, everything}


def _orientation(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Negative, 0 or positive, as the first direction of a quarter comes before, with or after the second one."""
    return one[1] * other[0] - one[0] * other[1]


def _opposite(first: Arc, second: Arc, around: int) -> Arc:
    """The cells opposite to those of two arcs and to those between them; all cells if the arcs have opposite ones."""
    half = around // 2
    if _arcs_intersect(first, (second[0] + half, second[1]), around):
        return 0, around
    ahead = (second[0] - first[0] + half) % around - half
    start, end = min(0, ahead), max(first[1], ahead + second[1])
    return first[0] + start + half, end - start


def _arcs_intersect(one: Arc, other: Arc, around: int) -> bool:
    """Whether two arcs of a circle of cells have a cell in common."""
    return (one[0] - other[0]) % around < other[1] or (other[0] - one[0]) % around < one[1]


def _runs(values: Whole) -> Iterator[int]:
    """The masks of the values between two of them, both included."""
    at: dict[int, int] = {}
    for i, value in enumerate(values):
        at[value] = at.get(value, 0) | 1 << i
    levels = [at[value] for value in sorted(at)]
    for start in range(len(levels)):
        mask = 0
        for level in levels[start:]:
            mask |= level
            yield mask


def _restricted(other: Whole, vector: Whole, pivot: int) -> Whole:
    """What a vector is to the hyperplane orthogonal to another one, in its coordinates without the pivot."""
    p, q = vector[pivot], other[pivot]
    return _primitive([p * v - u * q for j, (u, v) in enumerate(zip(vector, other, strict=True)) if j != pivot])


def _lifted(inside: Whole, vector: Whole, pivot: int) -> Whole:
    """A normal given in the coordinates of a hyperplane, in the whole space."""
    rest = [*vector[:pivot], *vector[pivot + 1 :]]
    normal = [vector[pivot] * v for v in inside]
    return [*normal[:pivot], -dot(rest, inside), *normal[pivot:]]


def _primitive(vector: Whole) -> list[int]:
    divisor = math.gcd(*vector) or 1
    return [v // divisor for v in vector]
