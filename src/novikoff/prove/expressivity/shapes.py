"""Exact geometry of finitely many points: which subsets a half-space, a ball, a box or a polygon cuts out.

Points are integers here, and a subset is a *mask*: the integer whose bit i is set if point i belongs to it. Nothing is
rounded, and subsets are not tried one by one.

There are two constructions. In any dimension, hyperplanes are enumerated one point at a time, by deletion and
restriction (Zaslavsky, 1975). In the plane, the directions that are normal to the line through two points divide the
circle into *cells*: all directions of a cell order the points alike (Goodman and Pollack, 1980).
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from novikoff.prove.exact.algebra import dot

Whole = Sequence[int]
Point = tuple[int, ...]
Arc = tuple[int, int]  # its first cell, and how many cells it has


def halfspaces(points: Sequence[Point]) -> set[int]:
    """Return the masks that half-spaces cut out.

    >>> sorted(halfspaces([(0,), (1,), (2,)]))
    [0, 1, 3, 4, 6, 7]
    """
    if len(points[0]) == 2:
        return set(halfplanes(points))
    everything = (1 << len(points)) - 1
    masks = set(sides_of_hyperplanes([(*point, 1) for point in points]))
    return masks | {everything ^ mask for mask in masks}


def balls(points: Sequence[Point]) -> set[int]:
    """Return the masks that balls cut out: those of half-spaces below the points (x, ||x||^2) of a paraboloid.

    The first vector represents the coefficient of ||x||^2, which must be positive: without it, the outside of a ball
    would count as a ball.

    >>> sorted(balls([(0,), (1,), (2,)]))
    [0, 1, 2, 3, 4, 6, 7]
    """
    dimension = len(points[0])
    upwards = (*[0] * dimension, 1, 0)
    lifted = [(*(-v for v in point), -dot(point, point), -1) for point in points]
    return {mask >> 1 for mask in sides_of_hyperplanes([upwards, *lifted])}


def boxes(points: Sequence[Whole]) -> set[int]:
    """Return the masks that axis-parallel boxes cut out: an interval of values in every coordinate.

    >>> sorted(boxes([(0, 0), (1, 1), (2, 2)]))
    [0, 1, 2, 3, 4, 6, 7]
    """
    found = {(1 << len(points)) - 1}
    for values in zip(*points, strict=True):
        runs = set(_runs(values))
        found = {mask & run for mask in found for run in runs}
    return found | {0}


def rectangles(points: Sequence[Point]) -> set[int]:
    """Return the masks that rectangles in the plane, turned by any angle, cut out.

    A rectangle that contains some of finitely many points and excludes the others can be turned a little, so one
    direction of each cell is enough, and the cells of a quarter of the circle, as the others give the same rectangles.

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
    """Return the masks that convex polygons with at most this many sides cut out.

    A polygon is a triangle and sides - 3 more half-planes: if no two of its sides are parallel, as one may assume for
    finitely many points, then the convex hull of some three of its normals has 0 in its interior.

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
    """Return the masks of vectors on the positive side of a hyperplane through 0 that contains none of them.

    The first vector is always on the positive side: reversing a hyperplane gives the complement. Each mask comes
    with a normal that proves it.

    A further vector splits the masks of hyperplanes through that vector: they are found in one dimension less. For
    other masks, the normal determines its side.

    >>> sides_of_hyperplanes([(1, 0), (0, 1), (1, 1)])
    {7: [1, 1], 5: [3, -1], 1: [1, -3]}
    """
    if not all(map(any, vectors)):
        return {}
    first, dimension = vectors[0], len(vectors[0])
    if dimension == 1:
        return {sum(1 << k for k, (value,) in enumerate(vectors) if value * first[0] > 0): first}
    found: dict[int, Whole] = {1: first}
    for k, vector in enumerate(vectors[1:], start=1):
        found = _split(found, 1 << k, vector, vectors[:k])
    return found


def _split(found: dict[int, Whole], bit: int, vector: Whole, before: Sequence[Whole]) -> dict[int, Whole]:
    """Extend masks with the vector, without it, or both."""
    pivot = next(j for j, v in enumerate(vector) if v)
    through = sides_of_hyperplanes([_restricted(other, vector, pivot) for other in before])
    changes = [abs(dot(vector, other)) for other in before]
    extended: dict[int, Whole] = {}
    for mask, normal in found.items():
        if mask in through:
            within = _lifted(through[mask], vector, pivot)
            # Turned slightly towards the vector, so that none of those before changes sides.
            times = 1 + max(c // abs(dot(within, other)) for c, other in zip(changes, before, strict=True))
            extended[mask | bit] = _primitive([times * w + v for w, v in zip(within, vector, strict=True)])
            extended[mask] = _primitive([times * w - v for w, v in zip(within, vector, strict=True)])
        else:
            extended[mask | bit if dot(normal, vector) > 0 else mask] = normal
    return extended


def directions(points: Sequence[Point]) -> list[tuple[int, int]]:
    """Return one direction from each cell of the circle, counterclockwise.

    The cells are bounded by the normals of the lines through two points, and by their quarter turns, so that quarter
    turns map cells to cells. No direction has equal products with two points.

    >>> directions([(0, 0), (1, 1)])
    [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]
    """
    quarter = {(1, 0)}
    for (x, y), (u, v) in combinations(points, 2):
        a, b = _primitive([u - x, v - y])
        while not (a > 0 and b >= 0):
            a, b = -b, a
        quarter.add((a, b))
    bounds = sorted(quarter, key=lambda direction: Fraction(direction[1], direction[0]))
    inside = [(a + u, b + v) for (a, b), (u, v) in zip(bounds, [*bounds[1:], (0, 1)], strict=True)]
    cells = []
    for _ in range(4):
        cells += inside
        inside = [(-b, a) for a, b in inside]
    return cells


def halfplanes(points: Sequence[Point]) -> dict[int, Arc]:
    """Return the masks that half-planes cut out, each with the cells that the normals can lie in.

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
        # The directions form a convex cone, so the cells are consecutive, possibly wrapping around.
        start = where[0]
        if where[0] == 0 and where[-1] == len(cells) - 1:
            start = next(cell for cell, last in zip(where[1:], where, strict=False) if cell != last + 1)
        arcs[mask] = (start, len(where))
    return arcs


def triangles(arcs: dict[int, Arc]) -> set[int]:
    """Return the masks that triangles cut out: bounded intersections of three half-planes.

    They are bounded if 0 is inside the convex hull of the three directions: if the third one lies opposite to the two
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


def _opposite(first: Arc, second: Arc, around: int) -> Arc:
    """Return the cells opposite to those of two arcs and those between; all cells if the arcs have opposite ones."""
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
    """Yield the masks of the intervals of values, ends included."""
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
    """Restrict a vector to the hyperplane orthogonal to another one, in coordinates without the pivot."""
    p, q = vector[pivot], other[pivot]
    return _primitive([p * v - u * q for j, (u, v) in enumerate(zip(vector, other, strict=True)) if j != pivot])


def _lifted(inside: Whole, vector: Whole, pivot: int) -> Whole:
    """Return a normal, given in the coordinates of a hyperplane, in those of the whole space."""
    rest = [*vector[:pivot], *vector[pivot + 1 :]]
    normal = [vector[pivot] * v for v in inside]
    return [*normal[:pivot], -dot(rest, inside), *normal[pivot:]]


def _primitive(vector: Whole) -> list[int]:
    divisor = math.gcd(*vector) or 1
    return [v // divisor for v in vector]
