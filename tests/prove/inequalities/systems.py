"""Systems of inequalities whose answer is known."""

import numpy as np


def exponential(n):
    """z_1 = e_1, z_j = e_j - e_1 - ... - e_(j-1): solved by (1, 2, 4, ...), with a margin of about 2^-n."""
    return np.eye(n) - np.tril(np.ones((n, n)), -1)


def needle(n_rows, dimension, margin, seed):
    """Unit rows around an axis, each with the product `margin` with it.

    Without their parts along the axis the rows surround the origin, so the axis is the best solution: the margin is
    `margin`, up to rounding, and all solutions lie in a needle.
    """
    generator = np.random.default_rng(seed)
    axis = generator.standard_normal(dimension)
    axis /= np.linalg.norm(axis)
    rows = generator.standard_normal((n_rows, dimension))
    rows -= np.outer(rows @ axis, axis)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.sqrt(1 - margin**2) * rows + margin * axis


def skewed(n_rows, dimension, ratio, seed):
    """Gaussian rows on one side of a plane, seen through a map whose singular values go from 1 down to `ratio`."""
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((n_rows, dimension))
    rows *= np.sign(rows @ generator.standard_normal(dimension))[:, None]
    turned, _ = np.linalg.qr(generator.standard_normal((dimension, dimension)))
    return rows @ (turned * np.geomspace(1, ratio, dimension))


def badly_scaled(rows, seed):
    """The same system with rows and columns multiplied by anything between 1e-6 and 1e6, and 1e-2 and 1e2."""
    generator = np.random.default_rng(seed)
    lengths = 10.0 ** generator.uniform(-6, 6, len(rows))
    return rows * lengths[:, None] * 10.0 ** generator.uniform(-2, 2, rows.shape[1])


def unit(rows):
    rows = np.asarray(rows, dtype=float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
