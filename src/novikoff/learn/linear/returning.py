"""When the weights of a linear perceptron return, and whether its mistakes in between cancel."""

import hashlib
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from novikoff.data.examples import Examples
from novikoff.data.narrow import narrow, used_columns
from novikoff.engine.rows import Rows
from novikoff.learn.cycles import MOST_COUNTED, Cycle, never, vanishes
from novikoff.learn.linear.memory import Memory

Numbers = NDArray[np.int64]


class CountedMistakes:
    """How often each row was a mistake; with more than two classes, against each rival."""

    def __init__(self, examples: Examples, memory: Memory) -> None:
        self.examples, self.memory = examples, memory
        self.n_rivals = 1 if memory.n_classes <= 2 else memory.n_classes
        self.counts = np.zeros(examples.n_rows * self.n_rivals, dtype=np.int64)

    @classmethod
    def of(cls, examples: Examples, memory: Memory) -> "CountedMistakes | None":
        """None if there are too many to count."""
        return cls(examples, memory) if examples.n_rows * memory.n_classes <= MOST_COUNTED else None

    def count(self, rows: Numbers, rivals: Numbers) -> None:
        np.add.at(self.counts, rows if self.n_rivals == 1 else rows * self.n_rivals + rivals, 1)

    def weights_hash(self) -> int:
        digest = hashlib.blake2b(self.memory.weights.tobytes(), digest_size=8).digest()
        return int.from_bytes(digest, "big")  # the same in every process, so that a run can go on in another

    def count_anew(self) -> None:
        self.counts[:] = 0

    def cancelled(self, since: int, until: int, is_late: Callable[[], bool] = never) -> Cycle | None:
        places = np.flatnonzero(self.counts)
        times, (rows, rivals) = self.counts[places], np.divmod(places, self.n_rivals)
        block = self.examples.take(rows)
        labels = block.labels.astype(np.int64)
        if self.n_rivals == 1:
            is_zero, names = self._vanish(block.rows, labels * times, is_late), None
        else:  # for the weights of each class: added where it is the right one, subtracted where it is the rival
            signs = ((labels == c).astype(np.int64) - (rivals == c) for c in range(self.n_rivals))
            is_zero = all(self._vanish(block.rows, sign * times, is_late) for sign in signs)
            names = tuple(self.examples.classes[rivals].tolist())
        return Cycle(since, until, tuple(rows.tolist()), tuple(times.tolist()), names) if is_zero else None

    def _vanish(self, rows: Rows, times: Numbers, is_late: Callable[[], bool]) -> bool:
        """Whether rows, each so many times, add up to exactly 0, and it is known before it gets late."""
        if self.memory.constant and times.sum() != 0:
            return False
        if not rows.is_sparse:
            return all(not is_late() and vanishes(column, times.tolist()) for column in rows.as_array().T.tolist())
        columns = narrow(rows, used_columns([rows])).as_scipy().tocsc()
        parts = (slice(*ends) for ends in pairwise(columns.indptr.tolist()))
        return all(
            not is_late() and vanishes(columns.data[part].tolist(), times[columns.indices[part]].tolist())
            for part in parts
        )
