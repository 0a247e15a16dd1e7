"""Numbers that are bounds, rounded and printed to their safe side."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction

UNIT_ROUNDOFF = 2.0**-53

# Covers the rounding error of a compensated sum; up to `WHOLE_UP_TO`, integers need no compensation.
OUTWARDS = 1.0 + 2.0**-50
WHOLE_UP_TO = 2.0**53


def up(value: float) -> float:
    """Return the next float above: at least the exact result of one correctly rounded operation."""
    return math.nextafter(value, math.inf)


def down(value: float) -> float:
    """Return the next float below: at most the exact result of one correctly rounded operation."""
    return math.nextafter(value, -math.inf)


def root_up(value: float) -> float:
    """Return the smallest float that is not below the square root.

    >>> root_up(25.0), root_up(2.0) ** 2 >= 2
    (5.0, True)
    """
    root = math.sqrt(value)
    return root if Fraction(root) ** 2 >= Fraction(value) else up(root)


def at_most(value: float, digits: int = 6) -> str:
    """Write a number in `digits` significant digits, rounded up.

    >>> at_most(0.12345601), at_most(2.0)
    ('0.123457', '2')
    """
    return _in_words(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 6) -> str:
    """Write a number in `digits` significant digits, rounded down.

    >>> at_least(0.12345699)
    '0.123456'
    """
    return _in_words(value, digits, ROUND_FLOOR)


def _in_words(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return str(value)
    rounded = Context(prec=digits, rounding=rounding).create_decimal(value).normalize()
    plain = -5 < rounded.adjusted() < 12
    return f"{rounded:f}" if plain else f"{rounded:e}"


def decimal_digits(whole: int) -> int:
    """Return how many digits a positive integer has; Python itself refuses to print very long ones.

    >>> decimal_digits(999), decimal_digits(10**5000)
    (3, 5001)
    """
    digits = math.floor((whole.bit_length() - 1) * math.log10(2)) + 1
    return digits + (whole >= 10**digits)
