"""Convex polygons in the plane, cut by lines."""

import math
from collections.abc import Iterable, Sequence

Point = tuple[float, float]


def clipped(polygon: Iterable[Point], a: float, b: float, c: float) -> list[Point]:
    """The part of a convex polygon where a x + b y + c >= 0 (Sutherland & Hodgman 1974).

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
    """The two corners of a clipped polygon, of about this size, that lie on the line, if it has such an edge."""
    near = 1e-9 * math.hypot(a, b) * size
    on = [(x, y) for x, y in polygon if abs(a * x + b * y + c) <= near]
    return sorted(on)[:: max(1, len(on) - 1)] if len(on) >= 2 else []
