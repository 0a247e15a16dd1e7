"""When the weights of a kernel perceptron return, and whether its mistakes in between cancel.

The coefficient of a row only ever grows, so what returns are the scores of all rows. The mistakes cancel if the sum w
of phi(x), each with its sign and as often as it was made, has ||w||^2 = 0. On whole numbers, with a linear or a
polynomial kernel of whole parameters, that is a sum of whole numbers.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from novikoff.learn.cycles import Cycle, never
from novikoff.learn.kernel.kernels import Kernel, Points, Vectors
from novikoff.learn.kernel.memory import Numbers

if TYPE_CHECKING:
    from novikoff.learn.kernel.expansion import Expansion

# With more mistaken rows than this, all their products are too many to be added up one by one.
MOST_ROWS = 2000


class CountedMistakes:
    """How often each row was a mistake, of two classes."""

    def __init__(self, space: "Expansion") -> None:
        self.space = space
        self.counts = np.zeros(len(space.points), dtype=np.int64)

    @classmethod
    def of(cls, space: "Expansion") -> "CountedMistakes | None":
        """None if a return could not be proved, or does not decide what follows."""
        memory = space.memory
        in_order = not space.shuffle and memory.budget is None and memory.n_classes == 2
        in_order = in_order and memory.class_weights is None
        return cls(space) if in_order and _is_whole(memory.kernel, space.points) else None

    def count(self, rows: Numbers) -> None:
        np.add.at(self.counts, rows, 1)

    def weights_hash(self) -> int:
        self.space.catch_up()
        assert self.space.known is not None
        return hash(self.space.known[0].tobytes())

    def count_anew(self) -> None:
        self.counts[:] = 0

    def cancelled(self, since: int, until: int, is_late: Callable[[], bool] = never) -> Cycle | None:
        rows = np.flatnonzero(self.counts)
        points = self.space.points.take(rows)
        if len(rows) > MOST_ROWS or not isinstance(points, Vectors):
            return None
        kernel, times = self.space.memory.kernel, self.counts[rows].tolist()
        signed = [int(label) * count for label, count in zip(self.space.labels[0, rows], times, strict=True)]
        products = Kernel("linear").between(points, points).tolist()
        square = 0
        for a, line in zip(signed, products, strict=True):
            if is_late():
                return None
            square += a * sum(b * _power(kernel, int(product)) for b, product in zip(signed, line, strict=True))
        return None if square else Cycle(since, until, tuple(rows.tolist()), tuple(times))


def _is_whole(kernel: Kernel, points: Points) -> bool:
    """Whether every value of the kernel is a whole number, and the products are not rounded."""
    if kernel.form not in ("linear", "poly") or not isinstance(points, Vectors) or not points.rows.is_whole():
        return False
    whole = kernel.form == "linear" or (kernel.is_definite and kernel.gamma % 1 == 0 == kernel.coef0 % 1)
    return bool(whole and points.squares.max(initial=0.0) < 2.0**53)


def _power(kernel: Kernel, product: int) -> int:
    if kernel.form == "linear":
        return product
    value: int = (int(kernel.gamma) * product + int(kernel.coef0)) ** kernel.degree
    return value
