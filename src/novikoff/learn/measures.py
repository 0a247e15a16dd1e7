"""How well predictions find a class, or chunks: precision, recall, F1, the area under the ROC curve, from counts."""

import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.chunks import chunks

if TYPE_CHECKING:
    from novikoff.learn.model import Decided


@dataclass(frozen=True)
class Retrieval:
    """The numbers of true, found and correct items: rows of a class, or chunks.

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
    """The counts of every class, from the counts of pairs (true label, predicted label).

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
    _, places, counts = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True, return_counts=True)
    is_positive, n_up_to = np.asarray(positive, dtype=bool), np.cumsum(counts)
    n = int(is_positive.sum())
    pairs, twice_ranks = n * (len(is_positive) - n), int((2 * n_up_to - counts + 1)[places][is_positive].sum())
    return (twice_ranks - n * (n + 1)) / (2 * pairs) if pairs else None


@dataclass
class RocScores:
    """The scores of the rows of two classes, for the area under the curve; of more classes none are kept."""

    classes: Sequence[Any]
    parts: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = field(default_factory=list)

    def add(self, decided: "Decided", labels: NDArray[Any]) -> None:
        """Keep the scores of more rows, except those with a label that is neither of the two."""
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


@dataclass(frozen=True)
class ChunkScores:
    """The counts of all chunks and of each type, and how many tokens have the right label; prints as a table."""

    overall: Retrieval
    by_type: dict[str, Retrieval]
    tokens: int
    correct_tokens: int

    @property
    def precision(self) -> float:
        """The precision over chunks of all types."""
        return self.overall.precision

    @property
    def recall(self) -> float:
        """The recall over chunks of all types."""
        return self.overall.recall

    @property
    def f1(self) -> float:
        """The F1 over chunks of all types."""
        return self.overall.f1

    @property
    def accuracy(self) -> float:
        """The fraction of tokens whose label is right; 0 if there are no tokens."""
        return self.correct_tokens / self.tokens if self.tokens else 0.0

    def __str__(self) -> str:
        named = [(name or "(no type)", counts) for name, counts in self.by_type.items()]
        width = max(len(name) for name, _ in [*named, ("(no type)", self.overall)])
        lines = [f"{'':{width}}  precision   recall       F1     gold    found  correct"]
        for name, counts in [*named, ("all", self.overall)]:
            shares = f"{counts.precision:11.2%}{counts.recall:9.2%}{counts.f1:9.2%}"
            lines.append(f"{name:{width}}{shares}{counts.gold:9,}{counts.found:9,}{counts.correct:9,}")
        lines.append(f"{self.correct_tokens:,} of {self.tokens:,} tokens have the right label: {self.accuracy:.2%}.")
        return "\n".join(lines)


def score_chunks(
    gold_sequences: Iterable[Sequence[str]], predicted_sequences: Iterable[Sequence[str]], scheme: str = "IOB2"
) -> ChunkScores:
    """Precision, recall and F1 of chunks, as the script conlleval of the CoNLL shared tasks computes them.

    A chunk is correct when its type, its first and its last token agree with a gold chunk. No chunk crosses the end of
    a sentence. `chunks` in `data/chunks.py` defines how labels, legal or not, become chunks. A quotient 0/0 is 0.

    >>> print(score_chunks([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]]))
               precision   recall       F1     gold    found  correct
    NP            50.00%  100.00%   66.67%        1        2        1
    VP             0.00%    0.00%    0.00%        1        0        0
    all           50.00%   50.00%   50.00%        2        2        1
    3 of 4 tokens have the right label: 75.00%.
    """
    gold_counts, found_counts, correct_counts = Counter[str](), Counter[str](), Counter[str]()
    tokens = correct_tokens = 0
    for number, (gold_labels, predicted_labels) in enumerate(_paired(gold_sequences, predicted_sequences)):
        try:
            gold, predicted = chunks(gold_labels, scheme), chunks(predicted_labels, scheme)
        except ValueError as error:
            raise ValueError(f"sentence {number} (counting from 0): {error}") from None
        gold_counts.update(chunk.type for chunk in gold)
        found_counts.update(chunk.type for chunk in predicted)
        correct_counts.update(chunk.type for chunk in set(gold).intersection(predicted))
        tokens += len(gold_labels)
        correct_tokens += sum(map(operator.eq, gold_labels, predicted_labels))

    by_type = {
        name: Retrieval(gold_counts[name], found_counts[name], correct_counts[name])
        for name in sorted(gold_counts.keys() | found_counts.keys())
    }
    overall = Retrieval(gold_counts.total(), found_counts.total(), correct_counts.total())
    return ChunkScores(overall, by_type, tokens, correct_tokens)


def _paired(
    gold_sequences: Iterable[Sequence[str]], predicted_sequences: Iterable[Sequence[str]]
) -> Iterable[tuple[Sequence[str], Sequence[str]]]:
    gold_list, predicted_list = list(gold_sequences), list(predicted_sequences)
    if len(gold_list) != len(predicted_list):
        raise ValueError(f"{len(gold_list)} sentences of gold labels, but {len(predicted_list)} of predicted ones")
    for number, (gold, predicted) in enumerate(zip(gold_list, predicted_list, strict=True)):
        if isinstance(gold, str) or isinstance(predicted, str):
            raise ValueError("one list of labels is not a list of sentences; for a single sentence pass [labels]")
        if len(gold) != len(predicted):
            raise ValueError(
                f"sentence {number} (counting from 0) has {len(gold)} gold labels, but {len(predicted)} predicted; "
                "a prediction has one label for every token"
            )
    return zip(gold_list, predicted_list, strict=True)
