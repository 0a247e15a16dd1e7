"""Shapes to draw: where a score is positive in a view, and the curve along which it is zero.

A line or a circle is cut out exactly; anything else is found on a grid, by contourpy.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from novikoff.lab.state import Floats, View

Point = tuple[float, float]

# Nodes of the grid across the width and the height of a view.
NODES = (145, 109)
BISECTIONS = 6

# Corners of a polygon that is drawn as a circle; above so many times the view's height, only an arc is drawn.
CORNERS = 180
LARGE = 25


@dataclass(frozen=True)
class Shape:
    """`curves` are open or closed polylines; the score is positive in `positive`, polygons filled even-odd."""

    curves: list[list[Point]] = field(default_factory=list)
    positive: list[list[Point]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {"curves": self.curves, "positive": self.positive}


def plane_shape(weights: Sequence[float], view: View) -> Shape:
    """Return where a hyperplane cuts the view: weights (a, b, bias) in a line, (a, b, c, bias) in a circle.

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
    """Return the arc that passes near the view: a polygon of the whole circle would be too coarse there."""
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


def clipped(polygon: Iterable[Point], a: float, b: float, c: float) -> list[Point]:
    """Return the part of a convex polygon where a x + b y + c >= 0 (Sutherland & Hodgman 1974).

    >>> clipped([(0, 0), (2, 0), (2, 2), (0, 2)], -1, 0, 1)
    [(0, 0), (1.0, 0.0), (1.0, 2.0), (0, 2)]
    """
    corners = list(polygon)
    kept: list[Point] = []
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        before, after = a * x0 + b * y0 + c, a * x1 + b * y1 + c
        if before >= 0:
            kept.append((x0, y0))
        if (before >= 0) != (after >= 0):
            t = before / (before - after)
            kept.append((x0 + t * (x1 - x0), y0 + t * (y1 - y0)))
    return kept


def edge_on(polygon: Sequence[Point], a: float, b: float, c: float, size: float) -> list[Point]:
    """Return the two corners of a clipped polygon, of about this size, that lie on the line, if it has such an edge."""
    near = 1e-9 * math.hypot(a, b) * size
    on = [(x, y) for x, y in polygon if abs(a * x + b * y + c) <= near]
    return sorted(on)[:: max(1, len(on) - 1)] if len(on) >= 2 else []


def area(polygon: Sequence[Point]) -> float:
    """Return the area of a polygon whose corners go counter-clockwise; 0 for what rounding leaves of an empty one.

    >>> area([(0, 0), (2, 0), (2, 1), (0, 1)])
    2.0
    """
    if len(polygon) < 3:
        return 0.0
    twice = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True))
    size = max(max(abs(x), abs(y)) for x, y in polygon)
    return twice / 2 if twice > 1e-12 * size * size else 0.0


def hull(points: Iterable[Point]) -> list[Point]:
    """Return the corners of the convex hull, counter-clockwise (Andrew 1979).

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


def grid_shape(score: Callable[[Floats], Floats], view: View, *, jumps: bool = False) -> Shape:
    """Return where a score of points is positive, from its values at the nodes of a grid.

    Between two nodes the score is taken to be linear, unless it `jumps`, as a vote does: then the jump is searched for.
    """
    from contourpy import FillType, LineType, contour_generator

    (left, low), (right, high) = view.corners[0], view.corners[2]
    xs, ys = np.linspace(left, right, NODES[0]), np.linspace(low, high, NODES[1])
    values = score(np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)).reshape(len(ys), len(xs))
    contours = contour_generator(xs, ys, values, line_type=LineType.Separate, fill_type=FillType.OuterOffset)
    filled: Any = contours.filled(0.0, np.inf)
    lines: Any = contours.lines(0.0)
    rings = [corners[a:b] for corners, ends in zip(*filled, strict=True) for a, b in pairwise(ends.tolist())]
    if jumps:
        nodes = (view.corners[0], (xs[1] - xs[0], ys[1] - ys[0]))
        rings, lines = ([_bisected(line, score, *nodes) for line in part] for part in (rings, lines))
    curves, positive = ([[(x, y) for x, y in line.tolist()] for line in part] for part in (lines, rings))
    return Shape(curves, positive)


def _bisected(line: Floats, score: Callable[[Floats], Floats], origin: Point, cell: Point) -> Floats:
    """Return places on the edges of a grid, each moved along its edge to where the score changes its sign."""
    places = (line - origin) / cell
    nodes = np.isclose(places, np.round(places), atol=1e-6)
    low, high = (np.where(nodes, line, origin + side(places) * np.asarray(cell)) for side in (np.floor, np.ceil))
    is_positive = score(high) >= 0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        same = ((score(middle) >= 0) == is_positive)[:, None]
        low, high = np.where(same, low, middle), np.where(same, middle, high)
    return np.asarray((low + high) / 2)
