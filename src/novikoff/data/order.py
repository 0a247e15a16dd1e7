"""The order in which a learner visits the rows.

A uniformly random order is slow in memory: every row is a cache miss and often a page miss. Here rows are divided into
runs of `RUN` consecutive ones; the runs are permuted at random, and `POOL` rows' worth of runs at a time are shuffled.
The order depends only on the number of rows and the generator, and up to `POOL` rows it is uniformly random.

Rows that come in blocks, because they are read from a file, are visited block by block: the blocks in random order,
and the rows of each in random order too. A file sorted by class should be shuffled once before training.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RUN = 64
POOL = 1024


class Order(NamedTuple):
    """Rows to visit, step by step."""

    visit: NDArray[np.unsignedinteger]


def given_order(n_rows: int, epochs: int = 1) -> Order:
    """Return every row once per epoch, from the first to the last."""
    return Order(np.tile(np.arange(n_rows, dtype=_index_type(n_rows)), epochs))


def random_order(n_rows: int, generator: np.random.Generator, epochs: int = 1) -> Order:
    """Return every row once per epoch, in random order; several epochs at a time only up to `POOL` rows.

    >>> order = random_order(6, np.random.default_rng(0))
    >>> sorted(order.visit.tolist())
    [0, 1, 2, 3, 4, 5]
    """
    kind = _index_type(n_rows)
    if n_rows <= POOL:
        return Order(generator.permuted(np.tile(np.arange(n_rows, dtype=kind), (epochs, 1)), axis=1).ravel())
    runs = generator.permutation(-(-n_rows // RUN)).astype(kind)
    dealt = (runs[:, None] * kind.type(RUN) + np.arange(RUN, dtype=kind)).ravel()
    if n_rows % RUN:
        dealt = dealt[dealt < n_rows]

    whole = n_rows - n_rows % POOL
    mixed = np.take(dealt[:whole].reshape(-1, POOL), generator.permutation(POOL), axis=1).ravel()
    return Order(np.concatenate([mixed, generator.permutation(dealt[whole:])]))


def block_order(n_blocks: int, generator: np.random.Generator | None) -> list[int]:
    """Return every block once, in random order; without a generator, from the first to the last.

    >>> block_order(4, np.random.default_rng(0)), block_order(4, None)
    ([2, 0, 1, 3], [0, 1, 2, 3])
    """
    return list(range(n_blocks)) if generator is None or n_blocks == 1 else generator.permutation(n_blocks).tolist()


def _index_type(n_rows: int) -> np.dtype[np.unsignedinteger]:
    return np.dtype(np.uint32 if n_rows < 2**32 - RUN else np.uint64)
