"""Held-out rows.

Whether a row is held out depends on its number alone, so every pass over a source, and every way to read it, holds out
the same rows, and none is kept in memory.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Records
from novikoff.data.tables import as_numbers

# Holding out and shuffling use different random streams.
STREAM = 0x4E4F56494B


@dataclass(frozen=True)
class HeldOut:
    """Which rows are held out: those whose random number, from 0 to 1, lies between `lower` and `upper`.

    >>> HeldOut(seed=0, upper=0.3).which(0, 8).tolist()
    [True, False, False, True, False, False, False, True]
    """

    seed: int
    upper: float
    lower: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.lower < self.upper <= 1.0 or self.upper - self.lower >= 1.0:
            share = self.upper - self.lower
            raise ValueError(f"held_out={share!r} must be a fraction between 0 and 1, such as 0.2")

    @classmethod
    def share(cls, share: float, random_state: int | np.random.Generator | None) -> "HeldOut":
        """Hold out a fraction of the rows, drawn from a seed or by a generator."""
        return cls(_seed(random_state), float(share))

    @classmethod
    def folds(cls, number: int, random_state: int | np.random.Generator | None) -> "list[HeldOut]":
        if isinstance(number, bool) or int(number) != number or number < 2:
            raise ValueError(f"folds={number!r} must be a whole number of at least 2")
        seed = _seed(random_state)
        return [cls(seed, (fold + 1) / number, fold / number) for fold in range(number)]

    def which(self, first: int, n_rows: int) -> NDArray[np.bool_]:
        """Return whether each of the rows from number `first` on is held out."""
        source = np.random.PCG64([self.seed, STREAM])
        drawn = np.random.Generator(source.advance(first)).random(n_rows)
        return np.asarray((self.lower <= drawn) & (drawn < self.upper))

    def parted(self, n_rows: int, row: str = "row") -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of the training rows, and of the held-out rows; raise an error if either is empty."""
        held = self.which(0, n_rows)
        check_parts(n_rows, int(held.sum()), row)
        return np.flatnonzero(~held), np.flatnonzero(held)


def kept_records(held_out: HeldOut | None, parts: Iterable[Records]) -> Iterator[Records]:
    """Yield the records of a table that are not held out: an encoding is fitted on these."""
    first = 0
    for part in parts:
        if held_out is None:
            yield part
            continue
        kept = ~held_out.which(first, part.columns.num_rows)
        first += part.columns.num_rows
        labels = None if part.labels is None else part.labels[kept]
        yield replace(part, columns=part.columns.take(as_numbers(np.flatnonzero(kept))), labels=labels)


def check_parts(n_rows: int, n_held: int, row: str = "row") -> None:
    """Raise an error if one part of a split is empty."""
    if not 0 < n_held < n_rows:
        raise ValueError(
            f"of {n_rows} {row}s, {n_held} were held out by chance, which leaves nothing to learn from or nothing to "
            "judge by; choose a different held-out fraction"
        )


def _seed(random_state: Any) -> int:
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**62))
    if hasattr(random_state, "getrandbits"):  # of the standard library
        return int(random_state.getrandbits(62))
    return int(np.random.default_rng().integers(2**62)) if random_state is None else int(random_state)
