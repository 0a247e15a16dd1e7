"""The powers of ten that turn decimal digits into the nearest float64 (for `engine/text.py`).

10^q is 5^q 2^q, and the power of two only moves the exponent. So one table of 5^q suffices, each scaled by a power of
two such that it fills 128 bits. It is computed here, from Python's integers, in about a millisecond.
"""

import numpy as np
from numpy.typing import NDArray

# w 10^q with 0 < w < 2^64 rounds to zero for every q below the first, and is infinite for every q above the second.
SMALLEST_POWER, LARGEST_POWER = -342, 308

# Up to here 5^-q is below 2^64, so that w 5^q may be a whole number.
SMALLEST_EXACT_QUOTIENT = -27


def _leading_128_bits_of_five_to(q: int) -> int:
    """5^q scaled into [2^127, 2^128) and rounded down; up where w 5^q may be whole, so that it does not fall short."""
    if q >= 0:
        power = 5**q
        excess = power.bit_length() - 128
        return power >> excess if excess > 0 else power << -excess
    power = 5**-q
    quotient = (1 << (power.bit_length() + 127)) // power
    return quotient + (q >= SMALLEST_EXACT_QUOTIENT)


def powers_of_five() -> NDArray[np.uint64]:
    """Row q - SMALLEST_POWER holds the upper and the lower 64 bits of the scaled 5^q.

    >>> upper, lower = powers_of_five()[1 - SMALLEST_POWER]
    >>> hex(upper), hex(lower)  # 5 is 101 in binary
    ('0xa000000000000000', '0x0')
    """
    scaled = [_leading_128_bits_of_five_to(q) for q in range(SMALLEST_POWER, LARGEST_POWER + 1)]
    return np.array([divmod(power, 1 << 64) for power in scaled], dtype=np.uint64)
