"""Shapes to draw: where a score is positive in a view, and the curve along which it is zero.

A line or a circle is cut out exactly; anything else is found on a grid of signs, and its curve by bisection.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.lab.state import Floats, View
from novikoff.show.polygons import Point, clipped, edge_on

Signs = NDArray[np.bool_]

# Nodes of the grid across the width and the height of a view, and bisections of an edge that the curve crosses.
NODES = (97, 73)
BISECTIONS = 6

# Corners of a polygon that is drawn as a circle, and from how many times the view's height on only an arc is drawn.
CORNERS = 180
LARGE = 25


@dataclass(frozen=True)
class Shape:
    """`curves` are open or closed polylines; the score is positive in `positive`, polygons filled by even and odd."""

    curves: list[list[Point]] = field(default_factory=list)
    positive: list[list[Point]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {"curves": self.curves, "positive": self.positive}


def plane_shape(weights: Sequence[float], view: View) -> Shape:
    """What a plane cuts out of the view: weights (a, b, bias) a line, weights (a, b, c, bias) above a circle.

    >>> plane_shape([1.0, 0.0, 0.0], View(0.0, 0.0, 1.0, aspect=1.0)).curves
    [[(0.0, -1.0), (0.0, 1.0)]]
    """
    a, b, *lift, bias = (float(value) for value in weights)
    c = lift[0] if lift else 0.0
    if c == 0.0:
        inside = clipped(view.corners, a, b, bias)
        edge = [] if a == b == 0.0 else edge_on(inside, a, b, bias, view.half + abs(view.x) + abs(view.y))
        return Shape([edge] if edge else [], [inside] if inside else [])
    center = (-a / (2 * c), -b / (2 * c))
    square = center[0] ** 2 + center[1] ** 2 - bias / c
    if square <= 0.0:
        return Shape([], [view.corners] if c > 0 else [])
    radius = math.sqrt(square)
    if radius > LARGE * view.half:
        return _large_circle(center, radius, c > 0, view)
    angles = np.linspace(0.0, 2 * math.pi, CORNERS + 1).tolist()
    circle = [(center[0] + radius * math.cos(t), center[1] + radius * math.sin(t)) for t in angles]
    return Shape([circle], [view.corners, circle] if c > 0 else [circle])


def _large_circle(center: Point, radius: float, outside_is_positive: bool, view: View) -> Shape:
    """The arc that passes near the view: a polygon of the whole circle would be too coarse there."""
    reach = 2 * view.half * view.aspect
    gap = math.dist(center, (view.x, view.y)) - radius
    if abs(gap) > reach:
        return Shape([], [view.corners] if (gap > 0) == outside_is_positive else [])
    toward = math.atan2(view.y - center[1], view.x - center[0])
    angles = np.linspace(toward - 2 * reach / radius, toward + 2 * reach / radius, CORNERS).tolist()
    arc = [(center[0] + radius * math.cos(t), center[1] + radius * math.sin(t)) for t in angles]
    depth = 4 * reach if outside_is_positive else -4 * reach
    beyond = [(x + depth * math.cos(t), y + depth * math.sin(t)) for (x, y), t in zip(arc, angles, strict=True)]
    return Shape([arc], [[*arc, *reversed(beyond)]])


def area(polygon: Sequence[Point]) -> float:
    """The area of a polygon whose corners go counter-clockwise; what rounding leaves of an empty one counts as 0.

    >>> area([(0, 0), (2, 0), (2, 1), (0, 1)])
    2.0
    """
    if len(polygon) < 3:
        return 0.0
    twice = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True))
    size = max(max(abs(x), abs(y)) for x, y in polygon)
    return twice / 2 if twice > 1e-12 * size * size else 0.0


def hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the convex hull, counter-clockwise (Andrew 1979).

    >>> hull([(0, 0), (1, 1), (2, 0), (1, 3)])
    [(0, 0), (2, 0), (1, 3)]
    """
    ordered = sorted(set(points))
    if len(ordered) <= 2:
        return ordered

    def half(along: Sequence[Point]) -> list[Point]:
        chain: list[Point] = []
        for point in along:
            while len(chain) >= 2 and _orientation(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return half(ordered) + half(ordered[::-1])


def _orientation(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


# -- anything else, on a grid -----------------------------------------------------------------------------------------


def grid_shape(is_positive: Callable[[Floats], Signs], view: View) -> Shape:
    """Where a rule says "positive", seen at the nodes of a grid; its edge is found by bisection between them."""
    (left, low), (right, high) = view.corners[0], view.corners[2]
    xs, ys = np.linspace(left, right, NODES[0]), np.linspace(low, high, NODES[1])
    nodes = np.stack(np.meshgrid(xs, ys), axis=-1)
    signs = is_positive(nodes.reshape(-1, 2)).reshape(nodes.shape[:2])
    crossings = _Crossings.of(is_positive, nodes, signs)
    shape = Shape([], _full_cells(signs, xs, ys))
    mixed = _count(signs)
    for row, column in np.argwhere((mixed > 0) & (mixed < 4)).tolist():
        polygon, segments = _cell(row, column, signs, xs, ys, crossings)
        shape.positive.append(polygon)
        shape.curves.extend(segments)
    return shape


@dataclass(frozen=True)
class _Crossings:
    """Where the curve crosses the edges of the grid: along a row from (row, column) to the right, or upwards."""

    along: dict[tuple[int, int], Point]
    upward: dict[tuple[int, int], Point]

    @classmethod
    def of(cls, is_positive: Callable[[Floats], Signs], nodes: Floats, signs: Signs) -> "_Crossings":
        along = np.argwhere(signs[:, :-1] != signs[:, 1:])
        upward = np.argwhere(signs[:-1] != signs[1:])
        starts = np.concatenate([along, upward])
        ends = np.concatenate([np.add(along, (0, 1)), np.add(upward, (1, 0))])
        a, b = nodes[starts[:, 0], starts[:, 1]], nodes[ends[:, 0], ends[:, 1]]
        at_a = signs[starts[:, 0], starts[:, 1]]
        for _ in range(BISECTIONS if len(starts) else 0):
            middle = (a + b) / 2
            same = (is_positive(middle) == at_a)[:, None]
            a, b = np.where(same, middle, a), np.where(same, b, middle)
        found = [(float(x), float(y)) for x, y in (a + b) / 2]
        keys = [(row, column) for row, column in starts.tolist()]
        n = len(along)
        return cls(dict(zip(keys[:n], found[:n], strict=True)), dict(zip(keys[n:], found[n:], strict=True)))


def _count(signs: Signs) -> NDArray[np.int64]:
    """How many of its four corners are positive, for every cell."""
    whole = signs.astype(np.int64)
    return whole[:-1, :-1] + whole[1:, :-1] + whole[:-1, 1:] + whole[1:, 1:]


def _full_cells(signs: Signs, xs: Floats, ys: Floats) -> list[list[Point]]:
    """Cells that are positive throughout, row by row in rectangles."""
    rectangles = []
    full = np.pad(_count(signs) == 4, ((0, 0), (1, 1)))
    steps = np.diff(full.astype(np.int8), axis=1)
    for row in range(len(ys) - 1):
        low, high = float(ys[row]), float(ys[row + 1])
        for begin, end in zip(np.flatnonzero(steps[row] == 1), np.flatnonzero(steps[row] == -1), strict=True):
            left, right = float(xs[begin]), float(xs[end])
            rectangles.append([(left, low), (right, low), (right, high), (left, high)])
    return rectangles


def _cell(
    row: int, column: int, signs: Signs, xs: Floats, ys: Floats, crossings: _Crossings
) -> tuple[list[Point], list[list[Point]]]:
    """The positive part of a cell that the curve crosses, and its segments: each goes around negative corners."""
    corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
    edges = [
        crossings.along.get((row, column)),
        crossings.upward.get((row, column + 1)),
        crossings.along.get((row + 1, column)),
        crossings.upward.get((row, column)),
    ]
    polygon: list[Point] = []
    leaving: list[Point] = []
    entering: list[Point] = []
    for (r, c), edge in zip(corners, edges, strict=True):
        if signs[r, c]:
            polygon.append((float(xs[c]), float(ys[r])))
        if edge is not None:
            polygon.append(edge)
            (leaving if signs[r, c] else entering).append(edge)
    if not signs[corners[0]]:
        entering = entering[1:] + entering[:1]
    return polygon, [[out, back] for out, back in zip(leaving, entering, strict=True)]
