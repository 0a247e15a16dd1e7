"""The perceptron as in the lecture notes: a run example by example, and gradient descent on its criterion.

It is descent on max(0, -s), the hinge at 0, with s = y <w, x> (second and fourth note). The perceptron criterion
is J_p(w), the sum of these losses over the examples (Duda and Hart 1973, section 5.5). At s = 0 a loss has a kink, and
of the subgradients there the perceptron takes -y x. A step down along one example at a time is the perceptron; along
the gradient of all examples it is the batch rule. Fold a bias in first (`features.fold`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rows import as_rows
from novikoff.features.fold import fold_labels
from novikoff.say.words import label_in_words

Floats = NDArray[np.float64]

# At most so many steps are printed, and so many numbers in a row.
SHOWN_STEPS = 60
WIDEST = 8


@dataclass(frozen=True)
class Step:
    """An example that was visited: its row, its numbers (a bias last), its label, its score, and what it changed."""

    epoch: int
    row: int
    x: tuple[float, ...]
    label: Any
    score: float
    mistake: bool
    narrow: bool
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def mark(self) -> str:
        """The mark as in the notes, or one for an example that was right, but not by the lead."""
        return "✗" if self.mistake else "≈" if self.narrow else "✓"


class WorkedRun(list[Step]):
    """The steps of a run in the order given, as a list, and as a table if printed.

    >>> from novikoff import Perceptron
    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> model = Perceptron(fit_intercept=False, shuffle=False, record_mistakes=True, max_iter=1).fit(X, y)
    >>> print(model.run_.steps(X, y, model.mistake_rows_, fit_intercept=False))
    epoch  row  x         label  score     w before  w after
        1    0  (-1, 2)      -1      0  ✗  (0, 0)    (1, -2)
        1    1  (1, 0)        1      1  ✓  (1, -2)   (1, -2)
        1    2  (1, 1)        1     -1  ✗  (1, -2)   (2, -1)
        1    3  (-1, 0)      -1     -2  ✓  (2, -1)   (2, -1)
        1    4  (-1, -2)     -1      0  ✗  (2, -1)   (3, 1)
        1    5  (1, -1)       1      2  ✓  (3, 1)    (3, 1)
    """

    HEADER = ("epoch", "row", "x", "label", "score", "", "w before", "w after")
    RIGHT = (True, True, False, True, True, False, False, False)

    def lines(self) -> list[tuple[str, ...]]:
        """The first steps, in words."""
        return [
            (
                f"{step.epoch:,}",
                f"{step.row:,}",
                _vector(step.x),
                label_in_words(step.label),
                f"{step.score:.6g}",
                step.mark,
                _vector(step.before),
                _vector(step.after),
            )
            for step in self[:SHOWN_STEPS]
        ]

    def __str__(self) -> str:
        lines = [self.HEADER, *self.lines()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        cells = [[_padded(*cell) for cell in zip(line, widths, self.RIGHT, strict=True)] for line in lines]
        more = [f"... ({len(self):,} in all)"] if len(self) > SHOWN_STEPS else []
        return "\n".join([*("  ".join(line).rstrip() for line in cells), *more])


def worked(
    X: Any, y: ArrayLike, mistake_rows: Sequence[int], per_epoch: Sequence[int], n_examples: int, fit_intercept: bool
) -> WorkedRun:
    """The steps of a run on two classes that visited the rows in the order given, epoch by epoch."""
    rows, labels = as_rows(X).as_array(), np.asarray(y)
    classes, n = np.unique(labels), len(labels)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; steps can be shown only for two")
    made = np.asarray(mistake_rows, dtype=np.int64)
    if sum(per_epoch) != len(made):
        raise ValueError(f"the run made {sum(per_epoch)} updates in the epochs that it records, not {len(made)}")
    visits = np.repeat(np.arange(len(per_epoch)), per_epoch) * n + made
    if np.any(np.diff(visits) <= 0):
        raise ValueError("the rows were not visited in the order given; learn with shuffle=False to lay out the steps")
    z = np.hstack([rows, np.ones((n, 1))]) if fit_intercept else rows
    sign, updated, w = np.where(labels == classes[1], 1.0, -1.0), set(visits.tolist()), np.zeros(z.shape[1])
    steps, names = WorkedRun(), labels.tolist()
    for visit in range(n_examples):
        epoch, row = divmod(visit, n)
        after = w + sign[row] * z[row] if visit in updated else w
        score = float(w @ z[row])
        added, narrow = visit in updated, visit in updated and score * sign[row] > 0.0
        numbers = tuple(z[row].tolist()), names[row], score, added and not narrow, narrow
        steps.append(Step(epoch + 1, row, *numbers, tuple(w.tolist()), tuple(after.tolist())))
        w = after
    return steps


def _vector(numbers: Sequence[float]) -> str:
    shown = [f"{number + 0.0:.4g}" for number in numbers[:WIDEST]]
    return f"({', '.join(shown)}{', ...' if len(numbers) > WIDEST else ''})"


def _padded(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def perceptron_criterion(X: ArrayLike, y: ArrayLike, weights: ArrayLike) -> Floats:
    """J_p of one weight vector, or of every row of a matrix.

    >>> perceptron_criterion([[1, 0], [0, 2]], [1, -1], [[1, 1], [1, -1], [-3, 1]]).tolist()
    [2.0, 0.0, 5.0]
    """
    scores = np.asarray(weights, dtype=np.float64) @ fold_labels(X, y).T
    return np.asarray(np.maximum(-scores, 0.0).sum(axis=-1))


def stochastic_descent(X: ArrayLike, y: ArrayLike, *, epochs: int = 1, rate: float = 1.0) -> Floats:
    """The weights before the first example and after each: one gradient step per example, from zero weights.

    The mistakes are a perceptron's, whatever the rate: from zero weights a rate multiplies the weights and changes no
    sign, so steps are decided at rate 1 and scaled when they are returned. In floats that matters, as 3 times 0.1 is
    not 0.3.

    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> stochastic_descent(X, y).tolist()
    [[0.0, 0.0], [1.0, -2.0], [1.0, -2.0], [2.0, -1.0], [2.0, -1.0], [3.0, 1.0], [3.0, 1.0]]
    """
    examples = fold_labels(X, y).astype(np.float64)
    path = [np.zeros(examples.shape[1])]
    for example in np.tile(examples, (epochs, 1)):
        gradient = -example if path[-1] @ example <= 0 else np.zeros_like(example)
        path.append(path[-1] - gradient)
    return rate * np.array(path)


def batch_descent(
    X: ArrayLike, y: ArrayLike, *, start: ArrayLike | None = None, rate: float = 1.0, max_steps: int = 100
) -> Floats:
    """The weights before and after each step of the batch rule: add `rate` times the sum of all mistakes.

    It ends when there are none, or after `max_steps`.

    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> batch_descent(X, y, start=[-2, 1], rate=0.5).tolist()
    [[-2.0, 1.0], [1.0, 1.0], [2.0, -0.5]]
    """
    examples = fold_labels(X, y).astype(np.float64)
    path = [np.zeros(examples.shape[1]) if start is None else np.array(start, dtype=np.float64)]
    for _ in range(max_steps):
        mistakes = examples[examples @ path[-1] <= 0]
        if not len(mistakes):
            break
        path.append(path[-1] + rate * mistakes.sum(axis=0))
    return np.array(path)
