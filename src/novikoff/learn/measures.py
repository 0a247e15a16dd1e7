"""How well predictions find a class: precision, recall, F1, and the area under the ROC curve, from counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from novikoff.learn.model import Decided


@dataclass(frozen=True)
class Retrieval:
    """How many there are in truth, how many were found, and how many of those are correct: rows of a class, or chunks.

    A quotient 0/0 is 0.

    >>> counts = Retrieval(gold=4, found=5, correct=3)
    >>> counts.precision, counts.recall, round(counts.f1, 4)
    (0.6, 0.75, 0.6667)
    """

    gold: int
    found: int
    correct: int

    @property
    def precision(self) -> float:
        """The fraction of those found that are correct."""
        return self.correct / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The fraction of all that were found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, which is 2 correct / (found + gold)."""
        return 2 * self.correct / (self.found + self.gold) if self.correct else 0.0


def by_class(classes: Sequence[Any], pairs: Mapping[tuple[Any, Any], int]) -> list[Retrieval]:
    """The counts of every class, from how often which true label was predicted as which.

    >>> by_class(["no", "yes"], {("no", "no"): 7, ("yes", "no"): 1, ("yes", "yes"): 2})[1]
    Retrieval(gold=3, found=2, correct=2)
    """
    gold, found = dict.fromkeys(classes, 0), dict.fromkeys(classes, 0)
    for (truth, guess), count in pairs.items():
        found[guess] += count
        if truth in gold:
            gold[truth] += count
    return [Retrieval(gold[name], found[name], pairs.get((name, name), 0)) for name in classes]


def area_under_curve(scores: ArrayLike, positive: ArrayLike) -> float | None:
    """The area under the ROC curve: how often a positive row has a higher score than a negative one; ties count half.

    The counts are whole numbers, so nothing but the quotient is rounded. None if one of the two classes has no rows.

    >>> area_under_curve([-1.0, 0.5, 0.5, 2.0], [False, True, False, True])
    0.875
    """
    values, places = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
    is_positive = np.asarray(positive, dtype=bool)
    above = np.bincount(places[is_positive], minlength=len(values)).tolist()
    below = np.bincount(places[~is_positive], minlength=len(values)).tolist()
    pairs, halves, passed = sum(above) * sum(below), 0, 0
    for n_positive, n_negative in zip(above, below, strict=True):
        halves += n_positive * (2 * passed + n_negative)
        passed += n_negative
    return halves / (2 * pairs) if pairs else None


@dataclass
class RocScores:
    """The scores of the rows of two classes, for the area under their curve; of more classes none are kept."""

    classes: Sequence[Any]
    parts: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = field(default_factory=list)

    def add(self, decided: "Decided", labels: NDArray[Any]) -> None:
        """Keep the scores of more rows; those with a label that is neither of the two have no part in the curve."""
        if len(self.classes) == 2:
            positive = labels == self.classes[1]
            known = positive | (labels == self.classes[0])
            self.parts.append((decided.scores[known], positive[known]))

    def area(self) -> float | None:
        """The area under the curve; None if there are more than two classes, or one of them has no rows."""
        if not self.parts:
            return None
        scores, positive = (np.concatenate(parts) for parts in zip(*self.parts, strict=True))
        return area_under_curve(scores, positive)
