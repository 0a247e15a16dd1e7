"""One of the weight vectors of a pass, chosen by what came after it (Cesa-Bianchi, Conconi and Gentile 2004)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.examples import Examples
from novikoff.engine.chances import check_confidence, clopper_pearson
from novikoff.learn.linear.memory import Memory, predicted, scores
from novikoff.learn.linear.space import learn_online
from novikoff.options import Tie


@dataclass(frozen=True, eq=False)
class PenalisedChoice:
    """The weights after some of the mistakes, the bias last, with their errors on the rows that came after.

    `at_most` bounds the share of errors on new rows, with the confidence that was asked for.
    """

    weights: NDArray[np.float64]
    after_mistakes: int
    errors: int
    rows: int
    at_most: float
    confidence: float


def penalised_choice(
    X: Any, y: ArrayLike, *, confidence: float = 0.95, fit_intercept: bool = True, tie: Tie = "mistake"
) -> PenalisedChoice:
    """Pass over the rows once, in the order given, and take the weights with the smallest bound.

    Weights that were there after t of n rows have not seen the other n - t, which judge them. The penalty is that of
    the binomial tail (Clopper and Pearson) at 1/n of the doubt, because n predictors compete. That holds if rows are
    independent draws, in an order that has nothing to do with what is in them. Two classes.

    >>> rows = np.random.default_rng(0).normal(size=(500, 2))
    >>> choice = penalised_choice(rows, rows[:, 0] > 0)
    >>> choice.after_mistakes, choice.errors, choice.rows, round(choice.at_most, 3)
    (22, 1, 361, 0.032)
    """
    check_confidence(confidence)
    examples = Examples.of(X, y)
    if len(examples.classes) != 2:
        raise ValueError(f"there are {len(examples.classes)} classes, and a choice is made among planes between two")
    rows, labels, _ = examples.block(0)
    memory = Memory.empty(examples.n_columns, fit_intercept=fit_intercept)
    mistakes = learn_online(memory, rows, labels, tie=tie, record_mistakes=True)
    assert mistakes is not None
    n, doubt = rows.n_rows, (1.0 - confidence) / examples.n_rows
    weights = np.zeros((1, examples.n_columns + 1))
    best = None
    born = np.concatenate([[0], mistakes.rows + 1])
    for number, first in enumerate(born.tolist()):
        if number:
            weights += labels[first - 1] * np.append(rows.part(first - 1, first).as_array(), memory.constant)
        if first == n:
            break
        after = rows.part(first, n)
        wrong = predicted(scores(after, weights, memory.constant)) != examples.places_of(labels[first:])
        bound = clopper_pearson(int(wrong.sum()), n - first, 1.0 - 2.0 * doubt)[1]
        if best is None or bound < best.at_most:
            best = PenalisedChoice(weights[0].copy(), number, int(wrong.sum()), n - first, bound, confidence)
    assert best is not None
    return best
