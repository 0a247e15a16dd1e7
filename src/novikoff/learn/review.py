"""Which predictions to hand to a person, so that the others are wrong at most a given fraction of the time, proved.

A prediction has a score of at least 0: of two classes |score|, of more the lead over the second best class, of a label
sequence the margin over the second best. Those with a score of at least the threshold are accepted, the others go to a
person. Thresholds are fixed before anything is counted, and tested from the strictest on by the exact bound of Clopper
and Pearson; the last one before the first failure is chosen. docs/how-to/review.md has the derivation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from novikoff.engine.chances import binomial_chance_at_most, check_confidence, trials_needed
from novikoff.say import reviews as say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The number of thresholds, and the fraction of the held-out rows that the first is to accept at least.
STEPS, FIRST_SHARE = 100, 0.1

# The two best label sequences take longer than the best; so many training sequences space thresholds as well as all.
ENOUGH_SEQUENCES = 1000


@dataclass(frozen=True, kw_only=True)
class Review:
    """A threshold for scores, and the counts that prove it.

    Of new rows whose score is at least `threshold`, at most a fraction `error` is predicted wrong. That holds with this
    confidence, over the draw of `n_rows` held-out rows, for rows of the same source and the weights that the model had.
    For each of the descending `thresholds`, `accepted` counts the held-out rows accepted, and `wrong` the errors among
    them. The threshold is None if none can be proved: then everything goes to review. A review `is_void` once the model
    has learned more. `row` names the independent unit: a row, or a sequence.

    >>> scores, wrong = [0.5 + row % 10 for row in range(400)], [row % 10 < 2 for row in range(400)]
    >>> review = Review.of(scores[300:], scores[:300], wrong[:300], error=0.05, confidence=0.95)
    >>> print(review)  # doctest: +NORMALIZE_WHITESPACE
    at most 5 % of the accepted rows are wrong (95 % confidence): of 300 held-out rows, 240 (80.0 %) score at least 2.5
    and are accepted, 0 of them wrong
    >>> review.to_review([9.0, 1.0]).tolist()
    [False, True]
    >>> review.check(scores[300:], scores[:300], wrong[:300])
    """

    error: float
    confidence: float
    n_rows: int
    thresholds: tuple[float, ...]
    accepted: tuple[int, ...]
    wrong: tuple[int, ...]
    threshold: float | None
    row: str = "row"
    is_void: bool = False

    def __post_init__(self) -> None:
        check_allowed_error(self.error)
        check_confidence(self.confidence)
        counts = zip(self.accepted, self.wrong, strict=True)
        sound = (
            0 < len(self.thresholds) == len(self.accepted) <= STEPS
            and all(high > low for high, low in zip(self.thresholds, self.thresholds[1:], strict=False))
            and self.thresholds[-1] >= 0.0
            and all(0 <= wrong <= accepted <= self.n_rows for accepted, wrong in counts)
            and list(self.accepted) == sorted(self.accepted)
            and list(self.wrong) == sorted(self.wrong)
            and self.row in ("row", "sequence")
        )
        if not sound:
            raise ValueError("the counts of this review contradict each other")
        proved = _last_proved(self.thresholds, self.accepted, self.wrong, self.error, self.confidence)
        if self.threshold != proved:
            raise ValueError(f"the counts of this review prove the threshold {proved}, not {self.threshold}")

    @classmethod
    def of(
        cls, training: Any, scores: Any, wrong: Any, *, error: float, confidence: float = 0.95, row: str = "row"
    ) -> "Review":
        """The review that held-out `scores` prove, given which of them are `wrong`.

        The `training` scores space the thresholds. They may be those of any rows but the held-out ones.
        """
        import numpy as np

        check_allowed_error(error)
        check_confidence(confidence)
        scores, wrong = np.array(scores, dtype=np.float64), np.asarray(wrong, dtype=bool)
        if scores.ndim != 1 or wrong.shape != scores.shape:
            raise ValueError(f"scores and wrong must be lists of one length, not of {scores.shape} and {wrong.shape}")
        scores[np.isnan(scores)] = -np.inf  # which no threshold accepts
        needed = rows_needed(len(scores), error=error, confidence=confidence, row=row)
        grid = thresholds(training, len(scores), needed)
        accepted, errors = (
            tuple((len(some) - np.sort(some).searchsorted(grid)).tolist()) for some in (scores, scores[wrong])
        )
        return cls(
            error=float(error),
            confidence=float(confidence),
            n_rows=len(scores),
            thresholds=tuple(grid.tolist()),
            accepted=accepted,
            wrong=errors,
            threshold=_last_proved(grid.tolist(), accepted, errors, error, confidence),
            row=row,
        )

    def check(self, training: Any, scores: Any, wrong: Any) -> None:
        """Recompute thresholds, counts and conclusion; raise ValueError naming what differs, if anything does.

        The arguments are those of `of`: scores of the model, and which of the held-out ones are wrong.
        """
        if self.is_void:
            raise ValueError(f"this review is {say.VOID}")
        again = Review.of(training, scores, wrong, error=self.error, confidence=self.confidence, row=self.row)
        for field in fields(self):
            mine, other = getattr(self, field.name), getattr(again, field.name)
            if mine != other:
                raise ValueError(f"this review is not proved: {say.difference(field.name, mine, other)}")

    def to_review(self, scores: Any) -> "NDArray[np.bool_]":
        """Whether each prediction goes to a person, by its score."""
        import numpy as np

        scores = np.asarray(scores, dtype=np.float64)
        sent: NDArray[np.bool_] = np.ones(len(scores), bool) if self.threshold is None else ~(scores >= self.threshold)
        return sent

    @property
    def n_accepted(self) -> int:
        """How many held-out rows are accepted."""
        return self._at_threshold(self.accepted)

    @property
    def n_wrong(self) -> int:
        """How many of these are wrong."""
        return self._at_threshold(self.wrong)

    def _at_threshold(self, counts: tuple[int, ...]) -> int:
        return 0 if self.threshold is None else counts[self.thresholds.index(self.threshold)]

    def __str__(self) -> str:
        return say.promise(self)


def _last_proved(
    grid: Sequence[float], accepted: Sequence[int], wrong: Sequence[int], error: float, confidence: float
) -> float | None:
    """The last threshold before the first that the counts do not prove."""
    last = None
    for threshold, n, errors in zip(grid, accepted, wrong, strict=True):
        if binomial_chance_at_most(errors, n, 1.0 - confidence) > error:
            break
        last = threshold
    return last


def thresholds(training: Any, n_rows: int, needed: int) -> "NDArray[np.float64]":
    """The grid for so many held-out rows: quantiles of the training scores, and finally 0.

    The first is to accept twice as many rows as `needed`, as training rows may score higher than others, or half-way to
    all of them if there are not so many; and a tenth of all, because with few rows one error decides.
    """
    import numpy as np

    scores = np.asarray(training, dtype=np.float64)
    if scores.ndim != 1 or not len(scores) or (scores < 0.0).any():
        raise ValueError("training scores must be a list of numbers of at least 0, and not empty, to choose thresholds")
    first = max(FIRST_SHARE * n_rows, min(2.0 * needed, (needed + n_rows) / 2.0)) / n_rows
    shares = np.linspace(first, 1.0, STEPS)[:-1]
    reached = np.quantile(scores, 1.0 - shares, method="lower")
    grid: NDArray[np.float64] = np.unique(np.append(reached[np.isfinite(reached)], 0.0))[::-1]
    return grid


def leads(scores: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """The lead of each decision: |score| of two classes, the lead over the second best of more.

    >>> import numpy as np
    >>> leads(np.array([-2.0, 1.0])).tolist(), leads(np.array([[3.0, 1.0, 2.0]])).tolist()
    ([2.0, 1.0], [1.0])
    """
    import numpy as np

    if scores.ndim == 1:
        return np.abs(scores)
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    best = np.partition(scores, -2, axis=1)
    lead: NDArray[np.float64] = best[:, -1] - best[:, -2]
    return lead


def review_classifier(
    model: Any, training: Iterable[Any], held_out: Iterable[Any], *, error: float, confidence: float
) -> Review:
    """Review a classifier by batches: examples as they were learned, or as they are in a file."""
    import numpy as np

    seen = [model.decide(batch).leads for batch in training]
    found = [(decided.leads, decided.labels != batch.labels) for batch in held_out for decided in [model.decide(batch)]]
    if not found:
        raise ValueError("there are no held-out rows")
    scores, wrong = map(np.concatenate, zip(*found, strict=True))
    return Review.of(np.concatenate(seen), scores, wrong, error=error, confidence=confidence)


def review_tagger(
    tagger: Any, training: Any, held_out: Any, labels: Iterable[Any], *, error: float, confidence: float
) -> Review:
    """Review a tagger: a sequence is wrong if any of its labels is."""
    seen, found = tagger.label_with_scores(training), tagger.label_with_scores(held_out)
    wrong = [one.labels != list(truth) for one, truth in zip(found, labels, strict=True)]
    known, scores = ([one.margin for one in some] for some in (seen, found))
    return Review.of(known, scores, wrong, error=error, confidence=confidence, row="sequence")


def review_of(model: Any) -> Review:
    """Return the review of a model; raise ValueError if it has none that holds for its weights."""
    review: Review | None = model.review
    if review is None:
        raise ValueError(f"this model has no review: {say.HOW}")
    if review.is_void:
        raise ValueError(f"the review of this model is {say.VOID}")
    return review


def voided(review: Review | None) -> Review | None:
    """Mark a review as void: the model has learned more, or predicts with other weights than before."""
    return None if review is None else replace(review, is_void=True)


def rows_needed(n_rows: int, *, error: float, confidence: float, row: str) -> int:
    """Return the fewest held-out rows that can prove anything; raise ValueError if there are fewer."""
    needed = trials_needed(error, 1.0 - confidence)
    if n_rows < needed:
        raise ValueError(say.too_few(n_rows, needed, error, confidence, row))
    return needed


def check_held_out(training: Any, scores: Any) -> None:
    """Refuse training rows passed as held-out ones, which prove nothing: their scores are the same, in order."""
    if len(training) == len(scores) and len(set(scores)) > 1 and list(training) == list(scores):
        raise ValueError(say.SAME_ROWS)


def check_allowed_error(error: float) -> None:
    if not (isinstance(error, Real) and 0.0 < error < 1.0):
        raise ValueError(f"error={error!r} must be a fraction between 0 and 1, such as 0.02")
