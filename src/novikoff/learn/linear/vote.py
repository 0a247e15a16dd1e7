"""The voted perceptron (Freund & Schapire 1999): every weight vector has one vote for each example that it survived.

It is said to be memory intensive, because it keeps all weight vectors. It need not be: they are the partial sums of the
mistakes, so the rows that were mistaken, each kept once, and their order are enough. A row's score under the k-th
weight vector is its score under the one before plus one product of two rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import stacked
from novikoff.data.examples import Examples
from novikoff.data.narrow import FEW, narrow, used_columns
from novikoff.engine.linear import Replay, binary_votes, multiclass_votes
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.rows import Rows, as_rows, longest_square
from novikoff.engine.scoring import TINY
from novikoff.learn.run import Mistakes

# How many products of two rows to hold at a time.
PRODUCTS = 1 << 22


@dataclass(frozen=True)
class LinearMistakes(Mistakes):
    """The mistakes in order: the row, the number of examples before it, its class, the class predicted instead, and the
    weight of the row."""

    rows: NDArray[np.int64]
    times: NDArray[np.int64]
    right: NDArray[np.int64]
    wrong: NDArray[np.int64]
    amounts: NDArray[np.float64]

    FLOATS = ("amounts",)

    def renamed(self, places: Sequence[int]) -> "LinearMistakes":
        """The same mistakes after class c has become class `places[c]`."""
        names = np.asarray(places, dtype=np.int64)
        return replace(self, right=names[self.right], wrong=names[self.wrong])


@dataclass(frozen=True)
class Ballot:
    """What a vote needs: the mistaken rows, each once, and the order in which they were added (`mistakes.rows` counts
    in `support`)."""

    support: Rows
    mistakes: LinearMistakes

    @classmethod
    def of(cls, examples: Examples, mistakes: LinearMistakes) -> "Ballot":
        distinct, which = np.unique(mistakes.rows, return_inverse=True)
        return cls(examples.take(distinct).rows.in_order(), replace(mistakes, rows=which.astype(np.int64)))

    @classmethod
    def joined(cls, parts: "Sequence[Ballot]") -> "Ballot":
        """Join ballots in the order in which they were learned."""
        offsets = np.cumsum([0, *(part.support.n_rows for part in parts)])
        moved = [
            replace(part.mistakes, rows=part.mistakes.rows + offset)
            for part, offset in zip(parts, offsets[:-1], strict=True)
        ]
        return cls(stacked([part.support for part in parts]), LinearMistakes.joined(moved))


def votes(
    ballot: Ballot, X: Any, *, examples: int, n_classes: int, constant: float, lead: float = 0.0
) -> NDArray[np.float64]:
    """The fraction of the votes, out of `examples`: from -1 to 1 for two classes, rows x classes for more.

    Every weight vector, including the zero vector before the first mistake, votes for the class that it predicts, once
    for each example after which it was current.
    """
    rows = as_rows(X)
    if rows.is_sparse and ballot.support.is_sparse and rows.n_columns > FEW:
        # Columns that no mistake has contribute nothing.
        columns = used_columns([ballot.support])
        ballot, rows = replace(ballot, support=narrow(ballot.support, columns)), narrow(rows, columns)
    mistakes = ballot.mistakes
    amounts = np.where(mistakes.right == 1, mistakes.amounts, -mistakes.amounts) if n_classes == 2 else mistakes.amounts
    lives = np.diff(mistakes.times, prepend=0, append=examples).astype(np.float64)
    own = ballot.support.in_float64, mistakes.rows.astype(np.uint64), mistakes.right, mistakes.wrong
    replay = Replay(*own, amounts, lives, _doubts(ballot, rows, constant, lead))
    binary = n_classes == 2
    counts = np.zeros(rows.n_rows if binary else (rows.n_rows, n_classes))
    block = max(1, PRODUCTS // max(1, ballot.support.n_rows))
    for start in range(0, rows.n_rows, block):
        part = rows.part(start, min(start + block, rows.n_rows))
        part = part.as_sparse() if ballot.support.is_sparse else as_rows(part.as_array()) if part.is_sparse else part
        products = _products(ballot.support, part) + constant
        count = counts[start : start + part.n_rows]
        if binary:
            binary_votes(replay, products, part.in_float64, constant, np.zeros(rows.n_columns + 1), count)
        else:
            shape = (rows.n_columns + 1, n_classes) if part.is_sparse else (n_classes, rows.n_columns + 1)
            multiclass_votes(replay, products, part.in_float64, constant, np.zeros(shape), count)
    return counts / examples


def _doubts(ballot: Ballot, rows: Rows, constant: float, lead: float) -> NDArray[np.float64]:
    """How close to zero (or to each other) running scores must be for their rounding to matter, after each mistake.

    After k mistakes a running score has k products, each off by at most n u R R', and k additions to partial sums of at
    most sqrt(k) R R', with a lead sqrt(k (1 + 2 lead)) R R'. Whole numbers that stay below 2^53 are not rounded at all:
    then there is no doubt.
    """
    k = np.arange(1.0, len(ballot.mistakes.rows) + 1.0)
    lengths = math.sqrt(longest_square(ballot.support, constant)) * math.sqrt(longest_square(rows, constant))
    if (ballot.mistakes.amounts != 1.0).any():
        lengths *= float(ballot.mistakes.amounts.max())
    elif len(k) * lengths < 2.0**53 and ballot.support.is_whole() and rows.is_whole():
        return np.full(len(k), -1.0)
    terms = min(ballot.support.widest, rows.widest) + 2
    return 8.0 * UNIT_ROUNDOFF * k * (terms + np.sqrt(k * (1.0 + 2.0 * lead))) * lengths + TINY


def _products(support: Rows, part: Rows) -> NDArray[np.float64]:
    """The product of every support row with every row of the part."""
    if not support.is_sparse:
        return support.as_array() @ part.as_array().T
    left, right = support.as_scipy(), part.as_scipy()
    return np.asarray((left.astype(np.float64) @ right.astype(np.float64).T).toarray())
