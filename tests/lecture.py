"""The lecture's own loops, in plain Python: oracles that share nothing with the code they check."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Seen(NamedTuple):
    """What one example did: its row, whether it was a mistake, and the weights after it (the bias last)."""

    row: int
    mistake: bool
    weights: list


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    total = 0.0
    for left, right in zip(a, b, strict=True):
        total += left * right
    return total


def perceptron(X, y, rows: Iterable[int], *, bias: bool, tie: str = "mistake") -> Iterator[Seen]:
    """Two classes, -1 and +1."""
    X = [[float(v) for v in x] + [1.0 if bias else 0.0] for x in X]
    w = [0.0] * len(X[0])
    for row in rows:
        score, label = dot(X[row], w), int(y[row])
        mistake = label * score <= 0 if tie == "mistake" else (1 if score >= 0 else -1) != label
        if mistake:
            w = [weight + label * value for weight, value in zip(w, X[row], strict=True)]
        yield Seen(row, mistake, list(w))


def multiclass_perceptron(X, y, rows: Iterable[int], n_classes: int, *, bias: bool, tie: str = "mistake"):
    """Classes 0, 1, ...; one weight vector each."""
    X = [[float(v) for v in x] + [1.0 if bias else 0.0] for x in X]
    W = [[0.0] * len(X[0]) for _ in range(n_classes)]
    for row in rows:
        scores, right = [dot(X[row], w) for w in W], int(y[row])
        if tie == "mistake":
            rival = max((c for c in range(n_classes) if c != right), key=lambda c: (scores[c], -c))
            mistake = scores[rival] >= scores[right]
        else:
            rival = max(range(n_classes), key=lambda c: (scores[c], -c))
            mistake = rival != right
        if mistake:
            W[right] = [weight + value for weight, value in zip(W[right], X[row], strict=True)]
            W[rival] = [weight - value for weight, value in zip(W[rival], X[row], strict=True)]
        yield Seen(row, mistake, [list(w) for w in W])


def mistakes(run: Iterable[Seen]) -> list[int]:
    return [seen.row for seen in run if seen.mistake]
