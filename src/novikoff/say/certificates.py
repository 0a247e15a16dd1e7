"""The meaning of a verdict on separability, and its consequences; keyed by the name of the verdict.

Each meaning comes twice: for two classes, which a hyperplane separates, and for many, which weights separate.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from novikoff.say.runs import made_rule_out
from novikoff.say.words import listed, radius_in_words, whole_at_most

FINITE, NOT_FINITE = "logistic regression has a finite estimate", "logistic regression has no finite estimate"

NO_HYPERPLANE = "no hyperplane separates strictly"
NO_WEIGHTS = "no weights give every row's own class strictly the largest score"

MEANINGS = {
    "SEPARABLE": (
        "a hyperplane classifies every row correctly",
        "weights, one vector per class, give every row's own class the largest score",
    ),
    "QUASI_SEPARABLE": (
        f"{NO_HYPERPLANE}, but one has rows exactly on it and none on the wrong side",
        f"{NO_WEIGHTS}, but some never give it less than another",
    ),
    "OVERLAPPING": (
        "every hyperplane misclassifies some row, or has all rows on it",
        "all weights give some row's class less than the largest score, or all classes the same",
    ),
    "NOT_SEPARABLE": (
        f"{NO_HYPERPLANE}; whether the data are quasi-separable or overlapping was not decided",
        f"{NO_WEIGHTS}; whether the data are quasi-separable or overlapping was not decided",
    ),
    "UNDECIDED": ("not decided within the time limit and the precision",) * 2,
}

# The consequences for the perceptron, and for logistic regression on the same columns.
_TIES = "a perceptron that counts ties as mistakes never converges"
CONSEQUENCES: dict[str, tuple[str, str | None]] = {
    "SEPARABLE": ("the perceptron converges", NOT_FINITE),
    "QUASI_SEPARABLE": (f'{_TIES}; with tie="predict" it may', NOT_FINITE),
    "OVERLAPPING": ("the perceptron never converges", FINITE),
    "NOT_SEPARABLE": (_TIES, None),
}


def of_all_rows(n_rows: int, held_out: int) -> str:
    """State that a certificate covers more rows than were learned; empty if it does not."""
    return f" (of all {n_rows:,} rows, {held_out:,} of which were held out)" if held_out else ""


def consequence(certificate: Any, run: Any) -> str | None:
    """State the consequence of the verdict, and for which rows, if the run saw fewer; None without a certificate."""
    known: str | None = None if certificate is None else certificate.consequence
    return f"on all rows, {known}" if known is not None and run.held_out_rows else known


def margin(certificate: Any) -> str | None:
    """State what is known of the margin, and R."""
    known = None if certificate is None else certificate.margin_in_words
    return None if known is None else f"{known}; {radius_in_words(certificate.radius)}"


def bound(certificate: Any, run: Any) -> str | None:
    """Compare the mistakes made with the theorem's bound, or state the margins that they rule out."""
    if certificate is None or run.weighted:
        return made_rule_out(run)
    return certificate.against_bound(run.mistakes, run.narrow, run.lead) or made_rule_out(run)


def weighted(labels: Sequence[str], weights: Sequence[float] | None, bound: int | None) -> str | None:
    """State the class weights, and how many updates the theorem allows with them, if it allows `bound` without."""
    if weights is None:
        return None
    shown = listed([f"{label} times {number:.3g}" for label, number in zip(labels, weights, strict=True)])
    if bound is None:
        return shown
    square = (Fraction(max(weights)) / Fraction(min(weights))) ** 2
    most = whole_at_most(math.floor(bound * square))
    return f"{shown}; the theorem then allows {float(square):.3g} times as many updates, {most}"


def allowed(left: Any) -> str | None:
    """State the bound for inseparable data, `novikoff.prove.run.bounds.FreundSchapireBound`."""
    if left is None:
        return None
    return f"Freund and Schapire (1999): {left.promise}{f'; {left.projection}' if left.projection else ''}"


def in_arithmetic(verdict: str, arithmetic: str) -> str:
    """Return a verdict, and whether it is proved.

    >>> in_arithmetic("separable", "exact"), in_arithmetic("undecided", "float64")
    ('separable (proved)', 'undecided (float64)')
    """
    return f"{verdict} ({'proved' if arithmetic == 'exact' else arithmetic})"
