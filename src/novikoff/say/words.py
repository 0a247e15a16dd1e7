"""The wording of counts, lists and bounds in all messages, pages and pictures."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from novikoff.engine.rounding import at_most, decimal_digits, up

# With at least this many distinct numbers, a label may be continuous.
CONTINUOUS = 100


def listed(items: Sequence[Any], most: int = 12, *, total: int | None = None) -> str:
    """Return at most `most` items, separated by commas. There may be more, `total`, than are given.

    >>> listed([1, 2000]), listed("abcd", 2)
    ('1, 2,000', 'a, b, ... (4 in all)')
    """
    n = len(items) if total is None else total
    shown = ", ".join(f"{item:,}" if type(item) is int else str(item) for item in items[:most])
    return f"{shown}, ... ({n:,} in all)" if n > most else shown


def label_in_words(label: Any) -> str:
    """Return a label as text; a whole number without its .0.

    >>> label_in_words(-1.0), label_in_words(0.1), label_in_words("yes")
    ('-1', '0.1', 'yes')
    """
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def whole_at_most(value: int) -> str:
    """Return an integer in full, or a short number that is not below it.

    >>> whole_at_most(1234), whole_at_most(10**12 + 1), whole_at_most(10**400)
    ('1,234', '1.00001e+12', '10^401')
    """
    if value < 10**9:
        return f"{value:,}"
    digits = decimal_digits(value)
    return at_most(up(float(value))) if digits < 300 else f"10^{digits}"


def counted(number: float, noun: str, nouns: str | None = None) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> counted(1, "epoch"), counted(2000, "mistake"), counted(2, "inequality", "inequalities")
    ('1 epoch', '2,000 mistakes', '2 inequalities')
    """
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def no_margin_above(margin: float) -> str:
    """State the margins that mistakes, or a combination of examples, rule out."""
    return f"no separator has a margin above {at_most(margin)}"


def radius_in_words(radius: float) -> str:
    """R, the length of the longest example."""
    return f"R <= {at_most(radius)}" if math.isfinite(radius) else "R is not finite"


KERNEL_NAMES = {"poly": "polynomial", "rbf": "Gaussian", "laplacian": "Laplacian"}


def kernel_in_words(form: str, numbers: Mapping[str, float]) -> str:
    """Return the name of a kernel with its parameters.

    >>> kernel_in_words("rbf", {"gamma": 0.5}), kernel_in_words("linear", {})
    ('Gaussian kernel (gamma=0.5)', 'linear kernel')
    """
    told = ", ".join(f"{name}={value:g}" for name, value in numbers.items())
    return f"{KERNEL_NAMES.get(form, form)} kernel" + (f" ({told})" if told else "")


def cancelling(
    rows: Sequence[int], weights: Sequence[int], rivals: Sequence[Any] | None = None, *, as_points: str = ""
) -> str:
    """State that rows, times integer weights, sum to 0; with many classes, each against a rival.

    >>> cancelling([0, 2], [1, 3])
    'rows (the first is 0) cancel exactly: 1 x row 0 + 3 x row 2 = 0'
    """
    digits = decimal_digits(max(weights))
    if digits > 7 or len(rows) > 8:
        weighed = f"with integer weights of up to {counted(digits, 'digit')}"
        return f"{counted(len(rows), 'row')} (the first is 0){as_points}, {weighed}, cancel exactly: {listed(rows)}"
    terms = [f"{weight:,} x row {row}" for row, weight in zip(rows, weights, strict=True)]
    if rivals is not None:
        terms = [f"{term} against {rival}" for term, rival in zip(terms, rivals, strict=True)]
    return f"rows (the first is 0){as_points} cancel exactly: {' + '.join(terms)} = 0"


def unknown_values(unseen: Mapping[str, int], missing: Mapping[str, int]) -> list[str]:
    """Return warnings about values not seen in training, and about missing values if training had none, by column.

    >>> unknown_values({"colour": 1}, {})
    ["column 'colour': 1 value was not seen in training; treated as 0"]
    """
    new = {name: counted(count, "value was", "values were") for name, count in unseen.items()}
    none = {name: counted(count, "value is", "values are") for name, count in missing.items()}
    return [f"column {name!r}: {were} not seen in training; treated as 0" for name, were in new.items()] + [
        f"column {name!r}: {are} missing, and none was in training; treated as average" for name, are in none.items()
    ]


def looks_continuous(classes: Sequence[Any]) -> str | None:
    """Return a warning if labels look continuous; None if they do not.

    >>> looks_continuous(range(1990, 2012))
    >>> looks_continuous(range(312))
    'the label looks continuous (312 values); only classification is supported: was a regression meant?'
    """
    if len(classes) < CONTINUOUS or not all(isinstance(label, int | float) for label in classes):
        return None
    return (
        f"the label looks continuous ({len(classes):,} values); only classification is supported: "
        "was a regression meant?"
    )
