"""Missing labels, as Python, NumPy and pandas represent them."""

from typing import Any


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, or a missing value of NumPy or pandas.

    >>> [is_missing(label) for label in (None, float("nan"), 0, "", "nan")]
    [True, True, False, False, False]
    """
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError):  # an array, for example, is compared element by element
        return False
