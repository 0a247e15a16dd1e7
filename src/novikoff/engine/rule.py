"""What is a mistake: defined once, for kernels and for plain Python.

By how much an example is *ahead*: label times score with two classes, the score of the right class minus that of the
best other one with more, and the score of the gold structure minus that of the prediction for structures. On a mistake
the example is added, and the theorem counts these additions.

With tie="mistake", the theorem's own rule, an example is added unless it is ahead. With tie="predict", a tie predicts
the class that wins ties (the second of two, the first of more), and is a mistake for the others. With a lead, an
example is also added if it is ahead by no more than a threshold; a tie is then always a mistake.
"""


def is_added(ahead, threshold, ties_are_mistakes, wins_ties):  # type: ignore[no-untyped-def]
    """Whether an example is a mistake, or ahead by too little.

    >>> is_added(0.0, 0.0, ties_are_mistakes=True, wins_ties=True), is_added(0.0, 0.0, False, True)
    (True, False)
    >>> is_added(0.5, 1.0, ties_are_mistakes=True, wins_ties=False)
    True
    """
    return ahead <= threshold if ties_are_mistakes or not wins_ties else ahead < 0.0
