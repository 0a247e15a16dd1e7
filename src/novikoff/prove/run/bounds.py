"""How many mistakes at most."""

import math
from fractions import Fraction


def mistake_bound(
    radius: float | Fraction,
    margin: float | Fraction,
    *,
    n_classes: int = 2,
    lead: float | Fraction = 0,
    delay: float | Fraction = 0,
) -> int:
    """The most mistakes that a perceptron can make: the whole part of (R/gamma)^2, computed exactly.

    Block (1962), Novikoff (1962). It does not depend on the number of examples, their dimension, or their order. For
    more than two classes it is 2 (R/gamma)^2, with the margin of `multiclass_margins`: Kesler's construction turns a
    mistake into one on a vector of length sqrt(2) ||x||.

    With a `lead` of tau an example is also added if it is right by no more than tau R^2, or 2 tau R^2 ahead of the best
    other class: then there are at most (1 + 2 tau) times as many updates, mistakes and narrow ones together.

    If labels come late, and an example is added if the answer that was served was wrong, it is
    (1 + 2 `delay`) (R/gamma)^2, where the delay is the number of mistakes learned between serving and learning, in the
    mean over the mistakes. With both it is 1 + 2 `lead` + 2 `delay`.

    A radius that is too large or a margin that is too small keeps it true; `radius` and `margins` err to that side.

    >>> mistake_bound(5.0, 1.5)
    11
    >>> mistake_bound(5.0, 1.5, lead=1)
    33
    >>> mistake_bound(5.0, 1.5, delay=2)
    55
    """
    for name, value in (("radius", radius), ("margin", margin), ("lead", lead), ("delay", delay)):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name}={value!r} is not a finite number")
    if margin <= 0:
        raise ValueError(f"margin={margin!r} is not positive: data that no plane separates have no mistake bound")
    if radius < 0:
        raise ValueError(f"radius={radius!r} is negative; it is the length of the longest example")
    if lead < 0:
        raise ValueError(f"lead={lead!r} is negative; it is the lead of the learner, in units of R^2")
    if delay < 0:
        raise ValueError(f"delay={delay!r} is negative; it is the mean number of mistakes between serving and learning")
    ratio = (1 + 2 * Fraction(lead) + 2 * Fraction(delay)) * (Fraction(radius) / Fraction(margin)) ** 2
    return math.floor(ratio if n_classes <= 2 else 2 * ratio)
