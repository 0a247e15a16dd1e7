"""The expressive power of a class of shapes: the subsets that it cuts out of points (third note, 30.3), and how many
examples are therefore enough.

A class *shatters* points if it cuts out every subset of them. Its VC dimension (Vapnik and Chervonenkis, 1971) is the
size of the largest set that it shatters. Sauer's lemma (1972): a class that shatters no more than d points cuts out at
most C(m,0) + C(m,1) + ... + C(m,d) subsets of m points, a polynomial in m instead of 2^m.

Everything here is exact: floats are rational numbers.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from numbers import Integral

from numpy.typing import ArrayLike

from novikoff.engine.chances import check_confidence, compressed_chance_at_most
from novikoff.prove.exact.algebra import rank
from novikoff.prove.exact.floats import as_integers, lowest_exponent
from novikoff.prove.exact.given_numbers import exact_floats
from novikoff.prove.expressivity import shapes
from novikoff.prove.expressivity.shapes import Point

FAMILIES = ("halfspaces", "balls", "boxes", "rectangles", "polygons")
PLANE_FAMILIES = ("rectangles", "polygons")

# The largest number of subsets times points that is accepted. It allows 16 points in every family.
MOST_ENTRIES = 1 << 20


def dichotomies(points: ArrayLike, family: str, *, sides: int | None = None) -> tuple[tuple[int, ...], ...]:
    """Return all subsets of the points that a family of shapes cuts out, exactly, sorted by size, then by rows.

    A subset is a sorted tuple of row numbers, and it is cut out if some shape contains these rows and no others.

    ============  ===================================================================================================
    halfspaces    half-spaces of any dimension, with their border or without
    balls         balls of any dimension (circles in the plane)
    boxes         boxes of any dimension, parallel to the axes
    rectangles    rectangles in the plane, turned by any angle
    polygons      bounded convex polygons in the plane with at most `sides` sides
    ============  ===================================================================================================

    Copies of a point are never separated: they are inside together or outside together. The empty subset is always
    cut out, and so is the set of all points.

    Subsets are enumerated by geometry, not by 2^m tests (see `prove.expressivity.shapes`). More than `most_points`
    points are refused.

    The note's example, circles and four points in the plane, "We got only 15 sets. There is one set which is not
    there. Which one?" Where the points are the corners of a convex quadrangle, it is one of its diagonals:

    >>> corners = [[0, 0], [3, 0], [2, 2], [0, 3]]
    >>> circles = dichotomies(corners, "balls")
    >>> len(circles), (0, 2) in circles, (1, 3) in circles
    (15, True, False)

    In a square both diagonals are missing:

    >>> len(dichotomies([[0, 0], [1, 0], [1, 1], [0, 1]], "balls"))
    14
    >>> dichotomies([[0.0], [1.0], [2.0]], "halfspaces")
    ((), (0,), (2,), (0, 1), (1, 2), (0, 1, 2))
    """
    distinct, rows = _distinct(_exact(points, family, sides))
    masks = _masks(distinct, family, sides)
    subsets = [sorted(row for i, copies in enumerate(rows) if mask >> i & 1 for row in copies) for mask in masks]
    return tuple(sorted(map(tuple, subsets), key=lambda subset: (len(subset), subset)))


def growth(points: ArrayLike, family: str, *, sides: int | None = None) -> int:
    """Return how many subsets of the points a family cuts out: |U(X, R)| in the third note.

    In general position, half-spaces cut out as many as Cover (1965) counted, and circles as many as Sauer's lemma
    allows:

    >>> points = [[0, 0], [5, 1], [4, 5], [1, 3], [2, 7]]
    >>> growth(points, "halfspaces"), cover_count(5, 2)
    (22, 22)
    >>> growth(points, "balls"), sauer_bound(5, 3)
    (26, 26)
    """
    distinct, _ = _distinct(_exact(points, family, sides))
    return len(_masks(distinct, family, sides))


def is_shattered(points: ArrayLike, family: str, *, sides: int | None = None) -> bool:
    """Whether a family cuts out every subset of the points.

    Half-spaces and balls shatter points that are affinely independent, and no others: dependent points split into two
    parts whose convex hulls meet (Radon, 1921), and no hyperplane separates these; if each of two balls contained one
    part only, their radical hyperplane would. Boxes shatter points of which none is in the others' bounding box.
    For rectangles and polygons the subsets are counted, at most those of one point more than the VC dimension.

    >>> is_shattered([[0, 0], [1, 0], [0, 1]], "halfspaces"), is_shattered([[0, 0], [1, 1], [2, 2]], "halfspaces")
    (True, False)
    """
    rows = _exact(points, family, sides)
    if len(set(rows)) < len(rows):
        return False
    if family in ("halfspaces", "balls"):
        return _are_independent(rows)
    if family == "boxes":
        return not any(_is_in_the_box(row, [*rows[:i], *rows[i + 1 :]]) for i, row in enumerate(rows))
    # A family that shatters all points shatters every subset of them.
    part = rows[: vc_dimension(family, 2, sides) + 1]
    return len(_masks(part, family, sides)) == 1 << len(part) and len(part) == len(rows)


def vc_dimension(family: str, dim: int, sides: int | None = None) -> int:
    """Return the size of the largest set of points that a family shatters, in a space of `dim` dimensions.

    ============  =======  =========================================================================================
    halfspaces    dim + 1  Cover (1965); no more by Radon's theorem (1921)
    balls         dim + 1  Dudley (1979): "Balls in R^k do not cut all subsets of k + 2 points"
    boxes         2 dim    Wenocur and Dudley (1981): of more points, 2 dim already have the bounding box of all
    rectangles    7        folklore, an exercise in textbooks; the seven corners of a regular heptagon are shattered
    polygons      2 k + 1  folklore, see Blumer, Ehrenfeucht, Haussler and Warmuth (1989); k sides, in the plane
    ============  =======  =========================================================================================

    They are stated, not computed. A simplex attains them for half-spaces and balls, the unit vectors and their
    negatives for boxes, and the corners of a regular polygon for rectangles and polygons.

    >>> vc_dimension("balls", 2), vc_dimension("boxes", 2), vc_dimension("polygons", 2, sides=4)
    (3, 4, 9)
    """
    _check_family(family, dim, sides)
    if family == "polygons" and sides is not None:
        return 2 * sides + 1
    return {"halfspaces": dim + 1, "balls": dim + 1, "boxes": 2 * dim, "rectangles": 7}[family]


def sauer_bound(m: int, d: int) -> int:
    """Return the most subsets of m points that a class of VC dimension d can cut out: C(m,0) + ... + C(m,d).

    Sauer (1972), Shelah (1972), Vapnik and Chervonenkis (1971). It is 2^m up to m = d and less than (em/d)^d beyond.

    >>> sauer_bound(3, 3), sauer_bound(4, 3), sauer_bound(100, 3)
    (8, 15, 166751)
    """
    _check_counts(m=m, d=d)
    return sum(math.comb(m, i) for i in range(min(m, d) + 1))


def cover_count(m: int, dim: int) -> int:
    """Return how many subsets of m points in general position half-spaces cut out: 2 (C(m-1,0) + ... + C(m-1,dim)).

    Cover (1965). In special position, such as three points on a line of the plane, there are fewer.

    >>> cover_count(3, 2), cover_count(4, 2), cover_count(100, 2)
    (8, 14, 9902)
    """
    _check_counts(m=m, dim=dim)
    return 2 * sum(math.comb(m - 1, i) for i in range(min(m - 1, dim) + 1)) if m else 1


def most_points(family: str, dim: int, sides: int | None = None) -> int:
    """Return the most distinct points that `dichotomies` accepts, whatever their position.

    >>> [most_points(family, 2) for family in ("halfspaces", "balls", "boxes", "rectangles")]
    [101, 50, 30, 17]
    """
    _check_family(family, dim, sides)
    m = 1
    while (m + 1) * _most_subsets(m + 1, family, dim, sides) <= MOST_ENTRIES:
        m += 1
    return m


def _most_subsets(m: int, family: str, dim: int, sides: int | None) -> int:
    return cover_count(m, dim) if family == "halfspaces" else sauer_bound(m, vc_dimension(family, dim, sides))


def _masks(points: Sequence[Point], family: str, sides: int | None) -> set[int]:
    """Return the subsets of distinct points that a family cuts out, as masks."""
    if not points:
        return {0}
    dim = len(points[0])
    subsets = _most_subsets(len(points), family, dim, sides)
    if len(points) * subsets > MOST_ENTRIES:
        raise ValueError(
            f"{len(points)} points of dimension {dim} can have {subsets} subsets that {family} cut out, too many to "
            f"enumerate; take at most {most_points(family, dim, sides)} different points"
        )
    if family == "polygons" and sides is not None:
        return shapes.polygons(points, sides)
    if family in ("halfspaces", "balls") and _are_independent(points):
        return set(range(1 << len(points)))
    return {
        "halfspaces": shapes.halfspaces,
        "balls": shapes.balls,
        "boxes": shapes.boxes,
        "rectangles": shapes.rectangles,
    }[family](points)


def _are_independent(points: Sequence[Point]) -> bool:
    return rank([[*point, 1] for point in points]) == len(points)


def _exact(points: ArrayLike, family: str, sides: int | None) -> list[Point]:
    """Return the points as integers, all scaled by the same factor, which changes no subset of any family."""
    table = exact_floats(points, "points")
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(
            f"points have shape {table.shape}; they must be the rows of a matrix with at least one column, "
            f"for points on a line [[1.0], [2.0], ...]"
        )
    _check_family(family, table.shape[1], sides)
    return [tuple(row) for row in as_integers(table, lowest_exponent(table)).tolist()]


def _distinct(points: Sequence[Point]) -> tuple[list[Point], list[list[int]]]:
    """Return the distinct points, and the rows of each."""
    rows: dict[Point, list[int]] = {}
    for i, point in enumerate(points):
        rows.setdefault(point, []).append(i)
    return list(rows), list(rows.values())


def _is_in_the_box(point: Point, others: Sequence[Point]) -> bool:
    columns = zip(*others, strict=True)
    return bool(others) and all(min(c) <= v <= max(c) for v, c in zip(point, columns, strict=True))


def _check_family(family: str, dim: int, sides: int | None) -> None:
    if family not in FAMILIES:
        raise ValueError(f"family={family!r} is unknown; it is one of {', '.join(FAMILIES)}")
    if dim < 1:
        raise ValueError(f"dim={dim} is not positive: points have at least one coordinate")
    if family in PLANE_FAMILIES and dim != 2:
        raise ValueError(
            f"{family} are shapes in the plane, but the dimension is {dim}; "
            f"give points with two columns, or take halfspaces, balls or boxes"
        )
    if family != "polygons" and sides is not None:
        raise ValueError(f"sides={sides} belongs to polygons only; leave it out for {family}")
    if family == "polygons" and not (isinstance(sides, Integral) and sides >= 3):
        raise ValueError(f"sides={sides!r}: say how many sides the polygons have at most, a whole number from three on")


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if isinstance(count, bool) or int(count) != count or count < 0:
            raise ValueError(f"{name}={count!r} must be a whole number of at least 0: it counts something")


def enough_examples(
    error: float, *, mistakes: int | None = None, dimension: int | None = None, confidence: float = 0.95
) -> int:
    """Return how many independent rows suffice for at most this error rate on new ones, with this confidence.

    With `mistakes`, the bound (R/gamma)^2 of `mistake_bound`: the last weights of a perceptron that has converged are
    determined by at most that many rows, in any dimension (compression). With `dimension`, the number of coordinates of
    a row without the bias: it holds for *every* hyperplane that separates the rows (Vapnik and Chervonenkis 1971;
    Blumer, Ehrenfeucht, Haussler and Warmuth 1989), with Cover's count of the dichotomies. Both assume that some
    hyperplane separates all rows, future ones included; for `mistakes`, with the margin gamma.

    >>> enough_examples(0.05, dimension=2), enough_examples(0.05, mistakes=25)
    (1102, 2977)
    """
    check_confidence(confidence)
    if not 0.0 < error < 1.0:
        raise ValueError(f"error={error!r} must be a fraction between 0 and 1")
    if (mistakes is None) == (dimension is None):
        raise ValueError("pass mistakes, the bound (R/gamma)^2, or dimension, the number of coordinates; one of them")
    doubt = 1.0 - confidence
    if mistakes is not None:
        _check_counts(mistakes=mistakes)
        most = int(mistakes)  # up to half of the rows, a bound grows with the number of those that count
        return _first(lambda n: compressed_chance_at_most(n, most, 0, doubt) <= error, 2 * most + 1)
    d = dimension or 0
    _check_counts(dimension=d)
    return _first(lambda n: _log2_of_bad(n, d, error) <= math.log2(doubt), math.ceil(8.0 / error))


def _log2_of_bad(n: int, dimension: int, error: float) -> float:
    """Return log2 of 2 growth(2n) 2^(-error n/2), which bounds the probability that some hyperplane with a larger error
    rate classifies n rows correctly, if n >= 8/error."""
    return 1.0 + math.log2(cover_count(2 * n, dimension)) - error * n / 2.0


def _first(holds: Callable[[int], bool], least: int) -> int:
    """Return the first integer, at least `least`, for which a monotone property holds."""
    high = least
    while not holds(high):
        high *= 2
    return bisect_left(range(high), True, least, key=holds)
