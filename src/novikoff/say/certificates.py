"""What a verdict on separability means, and what follows from it; keyed by the name of the verdict.

Each meaning comes twice: for two classes, which a hyperplane separates, and for many, which weights separate.
"""

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

# What follows for the perceptron, and for logistic regression on the same columns.
_TIES = "a perceptron that counts ties as mistakes never converges"
CONSEQUENCES: dict[str, tuple[str, str | None]] = {
    "SEPARABLE": ("the perceptron converges", NOT_FINITE),
    "QUASI_SEPARABLE": (f'{_TIES}; with tie="predict" it may', NOT_FINITE),
    "OVERLAPPING": ("the perceptron never converges", FINITE),
    "NOT_SEPARABLE": (_TIES, None),
}


def in_arithmetic(verdict: str, arithmetic: str) -> str:
    """A verdict, and whether it is proved.

    >>> in_arithmetic("separable", "exact"), in_arithmetic("undecided", "float64")
    ('separable (proved)', 'undecided (float64)')
    """
    return f"{verdict} ({'proved' if arithmetic == 'exact' else arithmetic})"
