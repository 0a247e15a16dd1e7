"""Some of the rows of all shards."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novikoff.data.examples import Examples
from novikoff.data.held_out import HeldOut


@dataclass(frozen=True, eq=False)
class Part:
    """The rows that are held out, by their numbers among all, or all others.

    `starts` has the number of the first row of every shard, and the number of all rows.
    """

    held_out: HeldOut
    wanted: bool
    starts: NDArray[np.int64]

    def size(self, shard: int) -> int:
        """How many rows of a shard are in the part."""
        first, stop = self.starts[shard : shard + 2].tolist()
        return int((self.held_out.which(first, stop - first) == self.wanted).sum())

    def of(self, examples: Examples, shard: int) -> Examples:
        """Those of the examples of a shard, numbered from 0."""
        return examples.only(self.held_out, self.wanted, int(self.starts[shard]))
