"""How many examples are enough? Sample sizes for half-spaces, from the mistake bound and from the dimension."""

import math
from collections.abc import Callable

from novikoff.engine.chances import check_confidence, compressed_chance_at_most
from novikoff.prove.expressivity.shattering import cover_count


def enough_examples(
    error: float, *, mistakes: int | None = None, dimension: int | None = None, confidence: float = 0.95
) -> int:
    """So many independent rows are enough for at most this share of errors on new ones, with this confidence.

    With `mistakes`, the bound (R/gamma)^2 of `mistake_bound`: then the last weights of a perceptron that has converged
    are determined by at most so many rows, whatever the dimension (compression). With `dimension`, the number of
    coordinates of a row, the bias not counted: then *every* plane that has all rows on their side will do (Vapnik and
    Chervonenkis 1971; Blumer, Ehrenfeucht, Haussler and Warmuth 1989), with Cover's count of the dichotomies. Both
    assume that some plane separates all rows there ever will be, the first one with the margin gamma.

    >>> enough_examples(0.05, dimension=2), enough_examples(0.05, mistakes=25)
    (1102, 2977)
    """
    check_confidence(confidence)
    if not 0.0 < error < 1.0:
        raise ValueError(f"error={error!r} must be a share between 0 and 1")
    if (mistakes is None) == (dimension is None):
        raise ValueError("pass mistakes, the bound (R/gamma)^2, or dimension, the number of coordinates; one of them")
    doubt = 1.0 - confidence
    if mistakes is not None:
        most = _whole("mistakes", mistakes)
        # Up to half of the rows, a bound grows with the number of rows that determine the weights.
        return _first(lambda n: compressed_chance_at_most(n, most, 0, doubt) <= error, 2 * most + 1)
    d = _whole("dimension", dimension or 0)
    return _first(lambda n: _log2_of_bad(n, d, error) <= math.log2(doubt), math.ceil(8.0 / error))


def _log2_of_bad(n: int, dimension: int, error: float) -> float:
    """log2 of 2 growth(2n) 2^(-error n/2), which bounds the chance that some plane with more than this share of errors
    has n rows on their side, if n >= 8/error."""
    return 1.0 + math.log2(cover_count(2 * n, dimension)) - error * n / 2.0


def _first(holds: Callable[[int], bool], least: int) -> int:
    """The first whole number from `least` on from which on a property holds: it fails before, and then holds."""
    low, high = least - 1, least
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or int(value) != value or value < 0:
        raise ValueError(f"{name}={value!r} must be a whole number of at least 0")
    return int(value)
