"""FLINT's fractions, which are fast, and Python's, which the rest of the library speaks."""

from fractions import Fraction
from typing import Any


def fraction(value: Any) -> Fraction:
    """A number of either kind as one of Python's fractions.

    >>> from flint import fmpq
    >>> fraction(fmpq(1, 2)), fraction(3)
    (Fraction(1, 2), Fraction(3, 1))
    """
    return Fraction(int(value.p), int(value.q)) if hasattr(value, "p") else Fraction(value)


def rational(value: Any) -> Any:
    """A whole number or one of Python's fractions as one of FLINT's."""
    from flint import fmpq

    return fmpq(value.numerator, value.denominator) if isinstance(value, int | Fraction) else value
