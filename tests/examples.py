"""Examples for the tests: separable, inseparable, and what the notes work through."""

import numpy as np
from hypothesis import strategies as st

WORKED_X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], dtype=np.float64)
WORKED_Y = np.array([-1, 1, 1, -1, -1, 1])


def separable(generator, n, d, margin, *, bias=0.0):
    """Gaussian points, none of them closer to a random plane than the margin (in the picture)."""
    w = generator.standard_normal(d)
    w /= np.linalg.norm(w)
    X = generator.standard_normal((n, d))
    distance = X @ w + bias
    X += np.outer(np.where(distance >= 0, margin, -margin), w)
    return X, np.where(distance >= 0, 1, -1), w


@st.composite
def separable_integers(draw, n_classes=2):
    """Integer points, labels by an integer plane (or by the argmax of integer planes); no point lies on it."""
    d = draw(st.integers(1, 4))
    n = draw(st.integers(2, 12))
    coordinate = st.integers(-9, 9)
    points = draw(st.lists(st.lists(coordinate, min_size=d, max_size=d), min_size=n, max_size=n))
    n_planes = 1 if n_classes == 2 else n_classes
    planes = draw(st.lists(st.lists(coordinate, min_size=d + 1, max_size=d + 1), min_size=n_planes, max_size=n_planes))
    X, W = np.array(points, dtype=np.float64), np.array(planes, dtype=np.float64)
    scores = X @ W[:, :-1].T + W[:, -1]
    if n_classes == 2:
        keep = scores[:, 0] != 0
        return X[keep], np.where(scores[keep, 0] > 0, 1, -1), W
    ranked = np.sort(scores, axis=1)
    keep = ranked[:, -1] > ranked[:, -2]
    return X[keep], np.argmax(scores[keep], axis=1), W


def exponential_rows(n):
    """The first note's warning made flesh: z_1 = e_1, z_j = e_j - (e_1 + ... + e_(j-1))."""
    return np.eye(n) - np.tril(np.ones((n, n)), -1)
