"""How many examples Hypothesis draws for a property: some of them every time, all where `THOROUGH` is set."""

import os

SHARE = 1.0 if os.environ.get("THOROUGH") else 0.4


def draws(number: int) -> int:
    """How many to draw instead of a number, now; few stay as they are."""
    return max(min(number, 4), round(SHARE * number))
