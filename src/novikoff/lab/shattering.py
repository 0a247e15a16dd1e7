"""What shapes cut out of a few points: all subsets, each with a shape that proves it, or why there is none."""

import math
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.lab.shapes import Point, plane_shape
from novikoff.lab.state import KNOWN, Floats, StateError, View, checked
from novikoff.lab.state import coordinate as read_coordinate
from novikoff.options import Choice
from novikoff.prove.expressivity.ball import Ball, NoBall
from novikoff.prove.expressivity.search.separating_ball import separating_ball
from novikoff.prove.expressivity.shattering import dichotomies, vc_dimension
from novikoff.say.words import counted

FEWEST, MOST = 2, 6
NAMES = "pqrsta"
ASPECT = 1.25

# The page's name of a family, the library's name, and how many sides its shapes have.
FAMILIES: dict[str, tuple[str, str, int | None]] = {
    "circle": ("circles", "balls", None),
    "half-plane": ("half-planes", "halfspaces", None),
    "box": ("boxes", "boxes", None),
    "triangle": ("triangles", "polygons", 3),
}

ARRANGEMENTS = {one["name"]: one["points"] for one in KNOWN["arrangements"]}

Subset = tuple[int, ...]


def answer_shattering(document: Any) -> dict[str, Any]:
    """Return the subsets of {"points": [[x, y], ...], "family": ...}, the small ones first."""
    asked = document if isinstance(document, dict) else {}
    family, given = checked("family", asked.get("family"), Choice(words=tuple(FAMILIES))), asked.get("points")
    if not isinstance(given, list) or not FEWEST <= len(given) <= MOST:
        raise StateError("points", f"there must be {FEWEST} to {MOST} points [x, y]")
    if not all(isinstance(point, list) and len(point) == 2 for point in given):
        raise StateError("points", "a point is [x, y]")
    points = np.array([[read_coordinate("points", value) for value in point] for point in given])
    if len({tuple(point) for point in points.tolist()}) < len(points):
        raise StateError("points", "two points are the same; move one of them")
    return shattering_as_json(points, family)


def shattering_as_json(points: Floats, family: str) -> dict[str, Any]:
    """Return every subset with its name, whether it is cut out, and the shape or the reason."""
    plural, known, sides = FAMILIES[family]
    n, view = len(points), view_of(points)
    cut_out = set(dichotomies(points, known, sides=sides))
    sides_of = Sides(points)
    subsets = []
    for subset in (chosen for size in range(n + 1) for chosen in combinations(range(n), size)):
        is_cut = subset in cut_out
        subsets.append({
            "rows": list(subset),
            "name": named(subset),
            "shape": shape_of(points, subset, family, view, sides_of) if is_cut else None,
            "why": "" if is_cut else why_missing(points, subset, family),
            "cut": is_cut,
        })  # fmt: skip
    missing = [str(subset["name"]) for subset in subsets if not subset["cut"]]
    return {
        "subsets": subsets,
        "view": [view.x, view.y, view.half],
        "count": len(cut_out),
        "words": _words(plural, n, len(cut_out), missing),
        "dimension": f"The VC dimension of {plural} is {vc_dimension(known, 2, sides)}.",
    }


def named(subset: Subset) -> str:
    """Return a subset as the note writes it.

    >>> named((2, 3)), named(())
    ('{r, s}', '{}')
    """
    return "{" + ", ".join(NAMES[row] for row in subset) + "}"


def _words(plural: str, n: int, count: int, missing: list[str]) -> str:
    if not missing:
        return f"{plural.capitalize()} cut out all {2**n} subsets: these {counted(n, 'point')} are shattered."
    left_out = f"{missing[0]} is missing" if len(missing) == 1 else f"{len(missing)} are missing"
    return f"{plural.capitalize()} cut out {count} of {2**n} subsets: {left_out}."


def view_of(points: Floats) -> View:
    """Return a view of the points with some room around them."""
    low, high = points.min(axis=0), points.max(axis=0)
    x, y = ((low + high) / 2).tolist()
    width, height = (high - low).tolist()
    return View(x, y, 0.95 * max(height, width / ASPECT, 1e-6), ASPECT)


# ---------------------------------------------------------------------------------------------------------------------
# Shapes that cut out
# ---------------------------------------------------------------------------------------------------------------------


class Sides:
    """Directions in which a side of a shape may face: a few from each cell between the normals of two points' lines."""

    def __init__(self, points: Floats) -> None:
        pairs = [points[j] - points[i] for i, j in combinations(range(len(points)), 2)]
        bounds = sorted({math.atan2(*pair[::-1]) % math.pi + turn for pair in pairs for turn in (0.0, math.pi)})
        gaps = [(low, high - low) for low, high in zip(bounds, [*bounds[1:], bounds[0] + 2 * math.pi], strict=True)]
        shares = (0.08, 0.5, 0.92)
        self.angles = np.array([low + share * gap + math.pi / 2 for low, gap in gaps for share in shares if gap > 1e-9])
        self.normals = np.column_stack([np.cos(self.angles), np.sin(self.angles)])
        self.heights = self.normals @ points.T
        self.triples = self._triples()

    def _triples(self) -> NDArray[np.int64]:
        """Return triples of directions that bound a triangle, the most even ones first."""
        n = len(self.angles)
        i, j, k = (part.ravel() for part in np.meshgrid(*[np.arange(n)] * 3, indexing="ij"))
        triples = np.column_stack([i, j, k])[(i < j) & (j < k)]
        turned = np.sort(self.angles[triples] % (2 * math.pi), axis=1)
        gaps = np.diff(np.column_stack([turned, turned[:, 0] + 2 * math.pi]), axis=1)
        widest = gaps.max(axis=1)
        order = np.argsort(widest, kind="stable")
        return np.asarray(triples[order][widest[order] < math.pi - 0.02])

    def cuts(self, subset: Subset) -> tuple[NDArray[np.int64], Floats]:
        """Return, for every direction, the others beyond the subset as bits, and where a side goes between."""
        others = [row for row in range(self.heights.shape[1]) if row not in subset]
        own = self.heights[:, list(subset)].max(axis=1)
        beyond = self.heights[:, others] > own[:, None] + 1e-12
        nearest = np.where(beyond, self.heights[:, others], np.inf).min(axis=1, initial=np.inf)
        spread = np.ptp(self.heights, axis=1)
        return beyond @ (1 << np.arange(len(others))), np.minimum((own + nearest) / 2, own + 0.15 * spread)


def shape_of(points: Floats, subset: Subset, family: str, view: View, sides: Sides) -> list[list[Point]]:
    """Return polygons, clipped to the view, of a shape that holds the subset and none of the others."""
    if not subset:
        return [_aside(points, view, {"circle": 48, "half-plane": 4, "box": 4, "triangle": 3}[family])]
    everything = (1 << len(points) - len(subset)) - 1
    if family == "circle":
        return _circle(points, subset, view)
    if family == "box":
        return [_box(points, subset, view)]
    beyond, places = sides.cuts(subset)
    if family == "half-plane":
        best = max(np.flatnonzero(beyond == everything), key=lambda i: places[i] - sides.heights[i, list(subset)].max())
        a, b = sides.normals[best].tolist()
        return plane_shape([-a, -b, float(places[best])], view).positive
    held = beyond[sides.triples]
    whole = np.flatnonzero((held[:, 0] | held[:, 1] | held[:, 2]) == everything)
    return [_triangle(sides.normals[chosen], places[chosen]) for chosen in sides.triples[whole[:1]]]


def _circle(points: Floats, subset: Subset, view: View) -> list[list[Point]]:
    inside = np.isin(np.arange(len(points)), subset)
    if inside.all():
        center, radius = points.mean(axis=0), 1.12 * float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
    else:
        ball = separating_ball(points, inside, inside=True)
        assert isinstance(ball, Ball)  # as the subset is cut out
        center = np.asarray(ball.center)
        distances = np.linalg.norm(points - center, axis=1)
        radius = float(distances[inside].max() + distances[~inside].min()) / 2
    a, b = center.tolist()
    return plane_shape([2 * a, 2 * b, -1.0, radius**2 - a * a - b * b], view).positive


def _box(points: Floats, subset: Subset, view: View) -> list[Point]:
    low, high = points[list(subset)].min(axis=0), points[list(subset)].max(axis=0)
    others = np.delete(points, subset, axis=0)
    gaps = np.maximum(low - others, others - high).max(axis=1)
    room = min(0.12 * view.half, 0.5 * float(gaps.min(initial=math.inf)))
    (left, below), (right, above) = (low - room).tolist(), (high + room).tolist()
    return [(left, below), (right, below), (right, above), (left, above)]


def _triangle(normals: Floats, places: Floats) -> list[Point]:
    pairs = ((0, 1), (1, 2), (2, 0))
    corners = [np.linalg.solve(normals[list(pair)], places[list(pair)]).tolist() for pair in pairs]
    return [(x, y) for x, y in corners]


def _aside(points: Floats, view: View, corners: int) -> list[Point]:
    """Return a small shape that holds nothing, where there is most room."""
    (left, low), (right, high) = view.corners[0], view.corners[2]
    spots = np.stack(np.meshgrid(np.linspace(left, right, 13)[1:-1], np.linspace(low, high, 11)[1:-1]), axis=-1)
    spots = spots.reshape(-1, 2)
    room = np.linalg.norm(spots[:, None] - points, axis=2).min(axis=1)
    x, y = spots[int(np.argmax(room))].tolist()
    size = min(0.4 * float(room.max()), 0.14 * view.half)
    turns = [2 * math.pi * (i + 0.5) / corners - math.pi / 2 for i in range(corners)]
    return [(x + size * math.cos(turn), y + size * math.sin(turn)) for turn in turns]


# ---------------------------------------------------------------------------------------------------------------------
# Why there is none
# ---------------------------------------------------------------------------------------------------------------------


def why_missing(points: Floats, subset: Subset, family: str) -> str:
    """Return the argument of the third note's example, in words."""
    own, others = points[list(subset)], [row for row in range(len(points)) if row not in subset]
    if family == "box":
        low, high = own.min(axis=0), own.max(axis=0)
        within = next(row for row in others if (low <= points[row]).all() and (points[row] <= high).all())
        return f"A box that holds {_listed(subset)} holds {NAMES[within]}, too, which is between them both ways."
    held = next((row for row in others if _is_among(points[row], own)), None)
    if held is not None:
        own_hull = f"the convex hull of {_listed(subset)}"
        return f"{NAMES[held]} lies in {own_hull}: every convex set that holds these holds {NAMES[held]}, too."
    rest = tuple(others)
    if family == "half-plane":
        inside = next((row for row in subset if _is_among(points[row], points[others])), None)
        if inside is not None:
            return f"{NAMES[inside]} lies in the convex hull of {_listed(rest)}: no line goes between them."
        return f"The convex hulls of {_listed(subset)} and of {_listed(rest)} cross: no line goes between them."
    # Of up to six points a triangle misses only those that have another one among them.
    return _why_no_circle(points, subset, rest)


def _why_no_circle(points: Floats, subset: Subset, rest: Subset) -> str:
    """Show two combinations that are the same point, where the outer one has no more of x^2 + y^2."""
    inside = np.isin(np.arange(len(points)), subset)
    proof = separating_ball(points, inside, inside=True)
    assert isinstance(proof, NoBall)  # as the subset is not cut out
    shares = dict(zip(proof.rows, proof.weights, strict=True))

    held, used = (tuple(row for row in rows if row in shares) for rows in (subset, rest))

    def combined(rows: Subset) -> str:
        return " + ".join(f"{'' if shares[row] == 1 else f'{shares[row]}·'}{NAMES[row]}" for row in rows)

    return (
        f"{combined(used)} = {combined(held)} as points, and x² + y² adds up to no more on the left. So "
        f"x² + y² + ax + by + c, which is negative inside a circle and positive outside, cannot be negative at "
        f"{_listed(held)} and positive at {_listed(used)}."
    )


def _is_among(point: Floats, corners: Floats) -> bool:
    """Whether a point of the plane is in a triangle of others (Caratheodory), or on its edge."""
    for chosen in combinations(corners, min(3, len(corners))):
        turns = [
            (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
            for a, b in zip(chosen, [*chosen[1:], chosen[0]], strict=True)
        ]
        inside = min(turns) >= 0 or max(turns) <= 0
        low, high = np.min(chosen, axis=0), np.max(chosen, axis=0)
        if inside and (low <= point).all() and (point <= high).all():
            return True
    return False


def _listed(subset: Subset) -> str:
    names = [NAMES[row] for row in subset]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
