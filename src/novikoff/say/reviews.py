"""Reviews in words: what is guaranteed for the rows that are not reviewed, `novikoff.learn.review.Review`."""

from typing import Any

from novikoff.say.words import counted

HOW = "call review(...) with held-out rows, or learn with novikoff fit --review 0.02 --held-out 0.2"
VOID = "void, because the weights that predict have changed since; review the model again on held-out rows"

SAME_ROWS = "the held-out rows are the training rows, which prove nothing; use labelled rows not used in training"


def promise(review: Any) -> str:
    """State what is proved, and by which counts."""
    rows, of = f"{review.row}s", f"of {counted(review.n_rows, f'held-out {review.row}')}"
    if review.is_void:
        return VOID
    if review.threshold is None:
        first = f"{counted(review.wrong[0], 'error')} among the {review.accepted[0]:,} with the highest scores"
        return f"all {rows} go to review: {allowed(review)} is not proved for any threshold; {of}, {first}"
    share = 100 * review.n_accepted / review.n_rows
    scored = f"{review.n_accepted:,} ({share:.1f} %) score at least {review.threshold:.6g} and are accepted"
    return (
        f"at most {percent(review.error)} of the accepted {rows} are wrong ({percent(review.confidence)} confidence): "
        f"{of}, {scored}, {review.n_wrong:,} of them wrong"
    )


def allowed(review: Any) -> str:
    """State the allowed error, and the confidence."""
    return f"an error of at most {percent(review.error)} ({percent(review.confidence)} confidence)"


def sent(n_sent: int, n_rows: int, row: str = "row") -> str:
    """State how many predictions go to review."""
    return f"{n_sent:,} of {counted(n_rows, row)} go to review ({100 * n_sent / max(n_rows, 1):.1f} %)"


def too_few(n_rows: int, needed: int, error: float, confidence: float, row: str) -> str:
    """State that there are too few held-out rows, and how many are needed."""
    return (
        f"{counted(n_rows, f'held-out {row}')} cannot prove an error of at most {percent(error)} with "
        f"{percent(confidence)} confidence: at least {needed:,} are needed, and more if any of them is wrong; hold out "
        "more, or allow more errors"
    )


def difference(name: str, mine: Any, other: Any) -> str:
    """State how a review differs from the recomputed one; for a list, where it first does."""
    if isinstance(mine, tuple) and len(mine) == len(other):
        place = next(place for place, pair in enumerate(zip(mine, other, strict=True)) if pair[0] != pair[1])
        name, mine, other = f"{name}[{place}]", mine[place], other[place]
    elif isinstance(mine, tuple):
        name, mine, other = f"the number of {name}", len(mine), len(other)
    return f"{name} is {mine}, but these rows give {other}"


def percent(share: float) -> str:
    """Return a fraction in percent, with the digits as given.

    >>> percent(0.02), percent(0.005), percent(0.999)
    ('2 %', '0.5 %', '99.9 %')
    """
    return f"{100 * share:.10g} %"
