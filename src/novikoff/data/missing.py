"""Labels that are none: what stands for a missing one, in Python, NumPy and pandas."""

from typing import Any


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, or what NumPy and pandas write for a missing value.

    >>> [is_missing(label) for label in (None, float("nan"), 0, "", "nan")]
    [True, True, False, False, False]
    """
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError):  # what is compared otherwise, such as an array, is no missing label
        return False
