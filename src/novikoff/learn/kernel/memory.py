"""What a kernel perceptron remembers."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF, down, root_up, up
from novikoff.learn.class_weights import ExampleWeights
from novikoff.learn.history import History, Mistakes
from novikoff.learn.kernel.kernels import Floats, GrowingArray, GrowingPoints, KernelFunction

Numbers = NDArray[np.int64]

# How many kernel values to hold at a time when predicting.
VALUES = 1 << 22


@dataclass(frozen=True)
class KernelMistakes(Mistakes):
    """The mistakes in order: the row, how many examples went before it, the class that was mistaken, and its sign,
    times the weight of the example's class if classes have weights.

    `rows` count from the first row ever seen, `support` in the support rows. One example can be a mistake of several
    classes.
    """

    rows: Numbers
    times: Numbers
    classes: Numbers
    signs: Floats
    support: Numbers

    @classmethod
    def joined(cls, parts: "list[KernelMistakes]") -> "KernelMistakes":
        none = np.empty(0, dtype=np.int64)

        def column(name: str) -> Any:
            return np.concatenate([none, *(getattr(part, name) for part in parts)])

        return cls(column("rows"), column("times"), column("classes"), column("signs").astype(float), column("support"))


@dataclass
class KernelMemory(History):
    """What a kernel perceptron remembers.

    `support` has the rows, `coefficients` their a_j, a column a class (one column for two classes); `drift` is of the
    same shape, and (examples x coefficients - drift) is the sum of the coefficients after each example. `by_class` has
    the updates, mistakes and narrow ones, and `squares` ||w||^2, a number a class. `longest` is R^2 = max K(x, x),
    `largest` the largest |K| met, `doubt` how much rounding may change a kernel value. `kept` has the mistakes for a
    vote, if there is to be one. `class_weights`, one a class, multiply the examples of each class before they are
    learned: R, ||w|| and margins are then those of the multiplied examples. With a full `budget`, `gram` has the
    products of the support rows, and `projector` its pseudoinverse."""

    kernel: KernelFunction
    n_classes: int
    by_class: Numbers
    squares: Floats
    coefficients: GrowingArray
    drift: GrowingArray
    support: GrowingPoints = field(default_factory=GrowingPoints)
    rows: GrowingArray = field(default_factory=lambda: GrowingArray.empty(np.int64))
    passes: int = 0
    largest: float = 0.0
    doubt: float = 0.0
    n_columns: int | None = None
    kept: list[KernelMistakes] | None = None
    budget: int | None = None
    gram: Floats = field(default_factory=lambda: np.empty((0, 0)))
    projector: Floats | None = None
    class_weights: ExampleWeights = None

    @classmethod
    def empty(
        cls,
        kernel: KernelFunction,
        n_classes: int = 2,
        *,
        vote: bool = False,
        budget: int | None = None,
        class_weights: ExampleWeights = None,
    ) -> "KernelMemory":
        n = n_classes if n_classes > 2 else 1
        memory = cls(
            kernel,
            n_classes,
            by_class=np.zeros(n, dtype=np.int64),
            squares=np.zeros(n),
            coefficients=GrowingArray.empty(np.float64, n),
            drift=GrowingArray.empty(np.float64, n),
        )
        return replace(memory, kept=[] if vote else None, budget=budget, class_weights=class_weights)

    def copy(self) -> "KernelMemory":
        """A memory to learn into while this one stays as it is, as long as learning fails; arrays are shared."""
        return replace(self)

    @property
    def makes_claims(self) -> bool:
        """Whether the theorem speaks of this run: a kernel that is a product, and no mistake ever forgotten."""
        return self.kernel.is_definite and self.budget is None

    @property
    def heaviest(self) -> float:
        """The largest number by which an example is multiplied."""
        return 1.0 if self.class_weights is None else float(self.class_weights.max())

    @property
    def weights_length(self) -> float:
        """||w||, or ||W|| of all classes."""
        if self.projector is None:
            return math.sqrt(max(float(self.squares.sum()), 0.0))
        a = self.coefficients.array
        return math.sqrt(max(float(np.sum(a * (self.gram @ a))), 0.0))

    @property
    def mistakes(self) -> int:
        """Those of all classes together."""
        return int(self.by_class.sum()) - self.narrow

    @property
    def radius(self) -> float:
        """R, rounded up; without a space in which the kernel is a product there is no length."""
        doubt = self.heaviest * self.heaviest * self.doubt
        return root_up(self.longest + doubt) if self.kernel.is_definite else math.inf

    def lengths(self) -> Iterable[tuple[int, float]]:
        """Every class has its own separator, against the rest; nothing is claimed where the theorem does not speak.

        If ||w||^2 comes out negative the kernel is no product in any space, and nothing is claimed, either.
        """
        squares = self.squares + self.slack(0)
        if not self.makes_claims or np.any(squares < 0):
            return
        for k, square in zip(self.by_class.tolist(), squares.tolist(), strict=True):
            yield k, math.sqrt(square) * (1.0 + 4.0 * UNIT_ROUNDOFF)

    def rounding(self, k: float) -> float:
        return 0.0  # it is in the slack of the squares

    def margin_at_least(self, lead: float) -> float:
        """As everywhere; a score may be off by its doubt, and every class has its own separator."""
        if not lead:
            return 0.0
        found = zip(self.lengths(), (self.heaviest * self.doubts(0)).tolist(), strict=False)
        margins = [down((lead * self.longest - doubt) / up(length)) for (k, length), doubt in found if k]
        return max(0.0, down(min(margins, default=0.0)))

    def renumber(self, rows: Numbers) -> None:
        self.rows = GrowingArray.of(rows[self.rows.array])
        if self.kept is not None:
            self.kept = [replace(part, rows=rows[part.rows]) for part in self.kept]

    def doubts(self, more: int) -> Floats:
        """How far from zero a score is certain, class by class, for the next `more` examples.

        k mistakes are k kernel values, each off by at most `doubt`; m rows summed in any order, in a few parts, are off
        by m u times the sum of the absolute values, at most k `largest`; all that times the weight of a class.
        """
        terms = self.coefficients.length + more + 4 * self.passes + 16
        each = UNIT_ROUNDOFF * terms * self.largest + self.doubt
        return np.asarray(2.0 * self.heaviest * (self.by_class + more) * each, dtype=np.float64)

    def slack(self, more: int) -> float:
        """How much ||w||^2 may be off: every mistake added 2 y s, with the doubt of s, and y^2 K(x, x)."""
        k, c = int(self.by_class.max()) + more, self.heaviest
        own = 8.0 * UNIT_ROUNDOFF * k * self.largest + self.doubt
        return k * (2.0 * c * float(self.doubts(more).max()) + c * c * own)

    def recorded(self, *asked: Any, **more: Any) -> Any:
        return super().recorded(*asked, **{"weighted": self.class_weights is not None, **more})

    def summed(self) -> Floats:
        """The sum of the coefficients after each example."""
        last = self.coefficients.array
        return self.examples * last - self.drift.array if self.examples else last.copy()

    def average(self) -> Floats:
        """The mean of these coefficients."""
        return self.summed() / max(self.examples, 1)


def blocks_of(n: int, n_support: int) -> Iterator[Numbers]:
    """The numbers from 0 to n in parts, so that the kernel of each part with the support rows is not too large."""
    block = max(1, VALUES // max(1, n_support))
    for start in range(0, n, block):
        yield np.arange(start, min(start + block, n))
