"""What a read-out of the weights so far has to know of the past: one more sum, to which only mistakes add.

The weights after n examples are w, the sum of the mistakes. A mean of the weights after each example lacks a part of
every mistake, the more the later it came: it is w - share(n) P, with P the sum of age(b) z over the mistakes z, of
which b examples came before. So nothing happens on the examples that are right.
"""

import math
from decimal import Decimal, localcontext
from functools import cache

OLD = 32  # half-lives


class Average:
    """The mean of the weights after each example (Freund & Schapire 1999): a mistake lacks b of n parts."""

    origin, old_after = 0, math.inf

    def age(self, before: int) -> float:
        return float(before)

    def share(self, examples: int) -> float:
        return 1.0 / examples

    def lacks(self, before: int, examples: int) -> float:
        """The part of a mistake that is missing: share times age."""
        return before / examples

    def whole(self, examples: int) -> float:
        """The sum of the parts of a mistake that has been there from the start."""
        return 1.0

    def begin(self, origin: int) -> None:
        """Nothing moves: ages are numbers of examples."""


class Fading:
    """The mean in which the weights after an example count half as much as those that came `half_life` later.

    With g = 2^(1/half_life), the weights after example s of n have the part g^(s - n), so a mistake lacks g^(b - n).
    Ages are counted from `origin`, which moves with the mistakes, so that none is too large to be told from the others.

    >>> fading = Fading(half_life=10)
    >>> round(fading.age(30) * fading.share(40), 12)
    0.5
    """

    def __init__(self, half_life: float, origin: int = 0) -> None:
        self.half_life = half_life
        self.begin(origin)

    def begin(self, origin: int) -> None:
        """Count ages from here on; after `old_after` examples the origin has to move."""
        self.origin, self.old_after = origin, origin + OLD * self.half_life

    def age(self, before: int) -> float:
        return _power(self.half_life, before - self.origin)

    def share(self, examples: int) -> float:
        return 1.0 / _power(self.half_life, examples - self.origin)

    def lacks(self, before: int, examples: int) -> float:
        """The part of a mistake that is missing: share times age."""
        return 1.0 / _power(self.half_life, examples - before)

    def whole(self, examples: int) -> float:
        """The sum of the parts of a mistake that has been there from the start, against one without end."""
        return 1.0 - 1.0 / _power(self.half_life, examples)


@cache
def _growth(half_life: float) -> float:
    """2^(1/half_life), the same on every machine, which powers of floats are not."""
    with localcontext() as context:
        context.prec = 40
        return float(Decimal(2) ** (1 / Decimal(half_life)))


def _power(half_life: float, exponent: int) -> float:
    """The growth to a power, by squaring: products of floats are the same everywhere. It may be infinite."""
    result, square = 1.0, _growth(half_life)
    while exponent:
        if exponent & 1:
            result *= square
        square *= square
        exponent >>= 1
    return result
