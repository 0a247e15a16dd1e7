"""Streams whose labels come late, with weights that separate them."""

from hypothesis import strategies as st

NAMES = "abc"
VECTORS = st.tuples(*[st.integers(-4, 4)] * len(NAMES))


def product(u, x):
    return sum(a * b for a, b in zip(u, x, strict=True))


def as_example(x):
    return dict(zip(NAMES, x, strict=True))


@st.composite
def late_streams(draw, n_classes):
    """Weights that separate, points with labels, and for each the round at which its label comes."""
    W = draw(st.lists(VECTORS, min_size=n_classes, max_size=n_classes, unique=True))
    points = []
    for x in draw(st.lists(VECTORS, max_size=40)):
        best, next_best = sorted((product(w, x) for w in W), reverse=True)[:2]
        if best > next_best:
            points.append((x, [product(w, x) for w in W].index(best)))
    delays = draw(st.lists(st.integers(0, 12), min_size=len(points), max_size=len(points)))
    return W, points, delays


def rounds(points, delays):
    """What happens, in order: an example is served, or its label comes."""
    events = [(i, 0, i) for i in range(len(points))] + [(i + delay, 1, i) for i, delay in enumerate(delays)]
    for _, comes, i in sorted(events):
        yield bool(comes), i, *points[i]


def squares(W, points):
    """R^2 of a step, the square of the margin times that of the weights that have it, and the square of these weights.

    For two classes the weights are the difference of the two; for more, Kesler's, whose steps have 2 R^2.
    """
    R_square = max((product(x, x) for x, _ in points), default=0)
    if len(W) == 2:
        u = [a - b for a, b in zip(W[1], W[0], strict=True)]
        margin = min((abs(product(u, x)) for x, _ in points), default=1)
        return R_square, margin**2, product(u, u)
    leads = (product(W[y], x) - product(w, x) for x, y in points for c, w in enumerate(W) if c != y)
    return 2 * R_square, min(leads, default=1) ** 2, sum(product(w, w) for w in W)
