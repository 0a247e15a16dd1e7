"""Small tables of labelled examples, among them every kind of separation and everything that makes it hard to see."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

NUMBERS = {
    "whole": st.integers(-3, 3).map(float),
    "decimal": st.integers(-30, 30).map(lambda v: v / 10),
    "wild": st.sampled_from([s * v for v in (1.0, 0.1, 3.0, 1e17, 1e-17, 1e300, 1e-300) for s in (1, -1)] + [0.0]),
}
SCALES = ("whole", "whole", "decimal", "wild")
KINDS = ("by a plane",) * 3 + ("touching a plane", "by chance", "contradictory") * 2


def expand(table):
    """One row for each one counted: of pairs (how many -1, how many +1), one pair for each row of columns."""
    X = [row for row, counts in table for _ in range(sum(counts))]
    y = [label for _, counts in table for label, count in zip((-1, 1), counts, strict=True) for _ in range(count)]
    return np.array(X, dtype=np.float64), np.array(y)


def zero_cell_table():
    """A trial in three age groups: treated, middle, old (young is the reference), and +1 for who recovered.

    Nobody who was treated failed to recover, so the coefficient of the treatment is plus infinity. The untreated of
    every age went either way, so the other coefficients are finite.
    """
    return expand(
        [
            ((0, 0, 0), (2, 3)),
            ((0, 1, 0), (3, 2)),
            ((0, 0, 1), (3, 1)),
            ((1, 0, 0), (0, 4)),
            ((1, 1, 0), (0, 3)),
            ((1, 0, 1), (0, 2)),
        ]
    )


@st.composite
def categorical_tables(draw):
    """One factor of two to four levels in dummy columns, or two factors of two levels; at least one cell is empty."""
    if draw(st.booleans()):
        columns = [(0, 0), (1, 0), (0, 1), (1, 1)]
    else:
        columns = [tuple(row) for row in np.eye(draw(st.integers(2, 4)))[:, 1:]]
    count = st.integers(0, 2)
    counts = [[draw(count), draw(count)] for _ in columns]
    level, label = draw(st.integers(0, len(columns) - 1)), draw(st.integers(0, 1))
    counts[level] = [0, 0]
    counts[level][label] = draw(st.integers(1, 2))
    if not sum(pair[1 - label] for pair in counts):
        counts[level - 1][1 - label] = 1
    return expand(list(zip(columns, counts, strict=True)))


def sides(X, plane):
    """+1, -1 or 0 for each row, without rounding."""
    scores = [sum(Fraction(v) * weight for v, weight in zip([*x, 1], plane, strict=True)) for x in X]
    return [(score > 0) - (score < 0) for score in scores]


@st.composite
def any_planes(draw, d):
    """Weights, the bias last: small whole numbers."""
    return [*(draw(st.integers(-3, 3)) for _ in range(d)), draw(st.sampled_from((0, 0, 0, -2, -1, 1, 2)))]


@st.composite
def plain_planes(draw, d):
    """Planes on which points like to lie: x_j = 0, x_j = 1, x_j = x_k."""
    j, k = draw(st.integers(0, d - 1)), draw(st.integers(0, d - 1))
    if j == k:
        return [*(int(i == j) for i in range(d)), draw(st.sampled_from((0, 0, -1)))]
    return [*((i == j) - (i == k) for i in range(d)), 0]


def onto(x, plane):
    """The row moved onto a plain plane, without rounding."""
    j = next(i for i, weight in enumerate(plane) if weight)
    others = [v * weight for v, weight in zip([*x, 1.0], plane, strict=True)]
    return [-plane[j] * sum(others[:j] + others[j + 1 :]) if i == j else v for i, v in enumerate(x)]


@st.composite
def rows(draw, n, d):
    """Rows of numbers of one kind; sometimes a column is twice another, a row is zero, a row comes twice."""
    number, row = NUMBERS[draw(st.sampled_from(SCALES))], st.integers(0, n - 1)
    X = draw(st.lists(st.lists(number, min_size=d, max_size=d), min_size=n, max_size=n))
    if d > 1 and draw(st.integers(0, 3)) == 3:
        of, to = draw(st.permutations(range(d)))[:2]
        for x in X:
            x[to] = 2 * x[of]
    if draw(st.integers(0, 3)) == 3:
        X[draw(row)] = [0.0] * d
    if draw(st.integers(0, 3)) == 3:
        X[draw(row)] = list(X[draw(row)])
    return X


@st.composite
def numeric_tables(draw, both_classes=True):
    """Labels by chance, by a plane, by a plane with a point of both labels on it, or both labels for every point."""
    n, d = draw(st.integers(1 + both_classes, 9)), draw(st.integers(1, 4))
    X, chance = draw(rows(n, d)), st.sampled_from((-1, 1))
    kind = draw(st.sampled_from(KINDS))
    if kind == "by a plane":
        plane = draw(any_planes(d) | plain_planes(d))
    elif kind == "touching a plane":
        plane = draw(plain_planes(d))
        X = [onto(X[0], plane), onto(X[0], plane), *X[1:]]
    else:
        plane = [0] * (d + 1)
    y = [side or draw(chance) for side in sides(X, plane)]
    if kind == "touching a plane":
        y[:2] = [1, -1]
    if kind == "contradictory":
        X, y = X[:5] + X[:5], y[:5] + [-label for label in y[:5]]
    if both_classes and len(set(y)) == 1:
        y[draw(st.integers(0, n - 1))] *= -1
    return np.array(X), np.array(y)


@st.composite
def tables(draw, both_classes=True):
    """Pairs of X (float64, one to four columns) and y (-1 and +1; perhaps only one of them if not both_classes).

    At most ten rows of numbers, or fourteen of dummy columns.
    """
    return draw(categorical_tables() if draw(st.integers(0, 4)) == 4 else numeric_tables(both_classes))
