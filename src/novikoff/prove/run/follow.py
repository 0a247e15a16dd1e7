"""The proof of the mistake bound, followed along a run, mistake by mistake.

Let u be a unit vector that separates with margin gamma, R the length of the longest example, and w_k the weights after
k mistakes. The notes prove the theorem three times over, and all three are followed here:

- *Progress and length* (second, fifth note): <w_k, u> >= k gamma, because every mistake adds at least gamma; and
  ||w_k|| <= sqrt(k) R, because a mistake adds a vector that does not point along w_k. Cauchy and Schwarz say
  <w_k, u> <= ||w_k||, so k gamma <= sqrt(k) R.
- *The cosine* (first, fourth note): <w_k, u>/||w_k|| is at most 1 and at least sqrt(k) gamma/R. It starts as 0/0, which
  is 0 here. The cosine itself may fall from one mistake to the next; its floor rises.
- *The distance* (third note): alpha_k = ||w_k - (R^2/gamma) u||^2 starts at R^4/gamma^2, falls by at least R^2 with
  every mistake, and cannot become negative.

Comparisons are made in floats where these are clearly apart, and in exact arithmetic where they are not, so an
equality is never reported as a violation. One thing rounding can do: a learner in float64 may count a mistake whose
exact score is positive, though by less than the rounding of a score. Such an *excess* is measured exactly and granted.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.features.fold import signs
from novikoff.prove.exact.floats import as_integers, lowest_exponent, power_of_two, root_down
from novikoff.prove.run.bounds import mistake_bound
from novikoff.prove.separable.margin import Separator, margins, radius

# Mistakes whose weights are held in memory at a time.
BLOCK = 1024

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FollowedProof:
    """Every quantity of the proof, and whether every inequality held.

    Arrays over k = 0, 1, ..., mistakes: `progress` <w_k, u> and its floor k gamma; `length` ||w_k|| and its ceiling
    sqrt(k) R; `cosine` and its floor sqrt(k) gamma/R; `distance` alpha_k and its ceiling R^4/gamma^2 - k R^2.

    Arrays over the mistakes: `score_before` y <w_k, x> and `score_after` y <w_k+1, x>, which is larger by ||x||^2: the
    step in the right direction.

    Truths: `was_mistake` (y <w_k, x> <= 0, up to the rounding of a score), `progress_held`, `length_held`,
    `cosine_held` (at most 1: Cauchy and Schwarz; and above its floor), `distance_held` (it fell by at least R^2),
    `step_held` (the score rose).
    """

    margin: float
    radius: float
    progress: Floats
    progress_floor: Floats
    length: Floats
    length_ceiling: Floats
    cosine: Floats
    cosine_floor: Floats
    distance: Floats
    distance_ceiling: Floats
    score_before: Floats
    score_after: Floats
    was_mistake: Truths
    progress_held: Truths
    length_held: Truths
    cosine_held: Truths
    distance_held: Truths
    step_held: Truths

    @property
    def mistakes(self) -> int:
        """k, at the end of the run."""
        return len(self.score_before)

    @property
    def bound(self) -> int:
        """The whole part of (R/gamma)^2."""
        return mistake_bound(self.radius, self.margin)

    @property
    def holds(self) -> bool:
        """Whether the rows were mistakes and every inequality held."""
        names = ("was_mistake", "progress_held", "length_held", "cosine_held", "distance_held", "step_held")
        return self.mistakes <= self.bound and all(bool(getattr(self, name).all()) for name in names)

    def __str__(self) -> str:
        head = f"{'k':>9}  {'k gamma':>10} <= {'<w,u>':>10} <= {'||w||':>10} <= {'sqrt(k) R':>10}"
        columns = (self.progress_floor, self.progress, self.length, self.length_ceiling)
        body = [
            f"{k:>9,}  " + " <= ".join(f"{column[k]:>10.4g}" for column in columns)
            for k in _worth_showing(self.mistakes)
        ]
        end = f"{self.mistakes:,} mistakes; the bound (R/gamma)^2 allows {self.bound:,}. {self._verdict()}"
        return "\n".join([head, *body, end])

    def _verdict(self) -> str:
        if self.holds:
            return "Every inequality held."
        if not self.was_mistake.all():
            first = int(np.flatnonzero(~self.was_mistake)[0])
            return f"Mistake number {first + 1} was none: its example had a positive score."
        return "Not every inequality held."


def follow_proof(
    X: Any, y: ArrayLike, mistake_rows: ArrayLike, separator: Separator, *, fit_intercept: bool = True
) -> FollowedProof:
    """Follow the proof of Block and Novikoff along a run on two classes that started from zero weights.

    `mistake_rows` has the row of every mistake in order (`Perceptron(record_mistakes=True)` keeps them), `separator` is
    any plane that separates the data; the proof works for each, and the bound is best for the widest.

    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> print(follow_proof(X, y, [0, 2, 4], Separator([1.0, 0.0]), fit_intercept=False))
            k     k gamma <=      <w,u> <=      ||w|| <=  sqrt(k) R
            0           0 <=          0 <=          0 <=          0
            1           1 <=          1 <=      2.236 <=      2.236
            2           2 <=          2 <=      2.236 <=      3.162
            3           3 <=          3 <=      3.162 <=      3.873
    3 mistakes; the bound (R/gamma)^2 allows 5. Every inequality held.
    """
    R = radius(X, fit_intercept)
    labels = signs(y)
    gamma = _exact_margin(X, labels, separator, fit_intercept)
    rows = np.asarray(mistake_rows, dtype=np.int64).ravel()
    if len(rows) and not (rows.min() >= 0 and rows.max() < len(labels)):
        raise ValueError(f"mistake_rows must be row numbers from 0 to {len(labels) - 1}")
    distinct, which = np.unique(rows, return_inverse=True)
    examples = _folded(X, labels, distinct, fit_intercept)
    return _Walk(examples, which, separator.folded, gamma, R).follow()


def _folded(X: Any, labels: NDArray[np.int8], rows: NDArray[np.int64], fit_intercept: bool) -> Floats:
    """Some examples as the proof sees them: the bias folded in (0 if there is none), the label folded in."""
    matrix = X.tocsr()[rows].toarray() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)[rows]
    constant = np.full((len(rows), 1), float(fit_intercept))
    return np.hstack([matrix.astype(np.float64), constant]) * labels[rows, None]


def _exact_margin(X: Any, labels: NDArray[np.int8], separator: Separator, fit_intercept: bool) -> float:
    """The margin of the data: the exact minimum over the rows that could have it, rounded down once."""
    u = separator.folded
    approximate = margins(X, labels, separator, fit_intercept)
    error = 8 * (len(u) + 8) * UNIT_ROUNDOFF * max(radius(X, fit_intercept), 1.0)
    candidates = np.flatnonzero(approximate <= approximate.min() + error)
    points = _folded(X, labels, candidates, fit_intercept)
    low_u, low_points = lowest_exponent(u), lowest_exponent(points)
    whole_u = as_integers(u, low_u)
    scores = as_integers(points, low_points) @ whole_u
    smallest = min(scores)
    if smallest <= 0:
        row = int(candidates[int(np.argmin(scores))])
        raise ValueError(
            f"the separator does not separate: row {row} has margin {approximate[row]:.3g}; "
            "the proof needs every example strictly on its side"
        )
    return root_down(Fraction(smallest**2, whole_u @ whole_u) * power_of_two(2 * low_points))


class _Walk:
    """The sum of the mistakes, in floats block by block, and in whole numbers where floats are too close to call."""

    def __init__(self, examples: Floats, which: NDArray[np.int64], u: Floats, gamma: float, R: float) -> None:
        self.examples, self.which, self.u = examples, which, u / np.linalg.norm(u)
        self.gamma, self.R = gamma, R
        self.exponent, self.u_exponent = lowest_exponent(examples), lowest_exponent(u)
        self.whole_u = as_integers(u, self.u_exponent)
        self.u_square = Fraction(int(self.whole_u @ self.whole_u)) * power_of_two(2 * self.u_exponent)
        self.whole_w = as_integers(np.zeros(len(u)), 0)
        self.reached = 0
        self.excess = Fraction(0)  # twice the sum of the scores that only rounding made mistakes

    def follow(self) -> FollowedProof:
        K = len(self.which)
        k = np.arange(K + 1.0)
        numbers = {name: np.zeros(K + 1) for name in ("progress", "square", "distance")}
        before, after = np.zeros(K), np.zeros(K)
        numbers["distance"][0] = self.R**4 / self.gamma**2
        target = (self.R**2 / self.gamma) * self.u
        w = np.zeros(len(self.u))
        for start in range(0, K, BLOCK):
            steps = self.examples[self.which[start : start + BLOCK]]
            now = slice(start, start + len(steps))
            then = slice(start + 1, start + len(steps) + 1)
            sums = w + np.cumsum(steps, axis=0)
            before[now] = np.einsum("ij,ij->i", np.vstack([w, sums[:-1]]), steps)
            after[now] = np.einsum("ij,ij->i", sums, steps)
            numbers["progress"][then] = sums @ self.u
            numbers["square"][then] = np.einsum("ij,ij->i", sums, sums)
            numbers["distance"][then] = ((sums - target) ** 2).sum(axis=1)
            w = sums[-1]
        length = np.sqrt(numbers["square"])
        cosine = np.divide(numbers["progress"], length, out=np.zeros(K + 1), where=length > 0)
        truths = self._judge(k, numbers["progress"], length, before, after)
        return FollowedProof(
            margin=self.gamma,
            radius=self.R,
            progress=numbers["progress"],
            progress_floor=k * self.gamma,
            length=length,
            length_ceiling=np.sqrt(k) * self.R,
            cosine=cosine,
            cosine_floor=np.sqrt(k) * (self.gamma / self.R),
            distance=numbers["distance"],
            distance_ceiling=self.R**4 / self.gamma**2 - k * self.R**2,
            score_before=before,
            score_after=after,
            **truths,
        )

    def _judge(self, k: Floats, progress: Floats, length: Floats, before: Floats, after: Floats) -> dict[str, Truths]:
        """Every inequality, by floats where they are clearly apart, exactly where they are not."""
        R, gamma = self.R, self.gamma
        near = 1e-9 + 1e-14 * k  # relative; far above the rounding of k additions
        gains = (self.examples @ self.u)[self.which]
        squares = after - before
        fall = 2 * before + squares + R * R - 2 * (R * R / gamma) * gains

        truths = {
            "was_mistake": before <= 0,
            "progress_held": progress >= k * gamma,
            "length_held": length <= np.sqrt(k) * R,
            "cosine_held": (progress <= length) & (progress * np.sqrt(k) * R >= k * gamma * length),
            "distance_held": fall <= 0,
            "step_held": np.asarray(np.any(self.examples != 0, axis=1))[self.which],
        }
        close = {
            "progress_held": np.abs(progress - k * gamma) <= near * np.abs(progress),
            "length_held": np.abs(length - np.sqrt(k) * R) <= near * np.sqrt(k) * R,
            "cosine_held": (np.abs(progress - length) <= near * length)
            | (np.abs(progress * np.sqrt(k) * R - k * gamma * length) <= near * np.sqrt(k) * R * length),
            "distance_held": np.abs(fall) <= near[:-1] * (R * R + np.abs(before) + R * R / gamma * np.abs(gains)),
            "was_mistake": np.abs(before) <= np.sqrt(k[:-1]) * R * R * near[:-1],
        }
        exactly = {
            "progress_held": self._exactly_progress_held,
            "length_held": self._exactly_length_held,
            "cosine_held": self._exactly_cosine_held,
            "distance_held": self._exactly_distance_held,
            "was_mistake": self._exactly_was_mistake,  # last: its excess belongs to the weights after it
        }
        for at in sorted(set().union(*(np.flatnonzero(unsure).tolist() for unsure in close.values()))):
            for name, unsure in close.items():
                if at < len(unsure) and unsure[at]:
                    truths[name][at] = exactly[name](at)
        return truths

    # -- in whole numbers ---------------------------------------------------------------------------------------------

    def _weights(self, k: int) -> NDArray[np.object_]:
        """w_k, in units of 2^exponent; k never goes back."""
        if k > self.reached:
            rows, counts = np.unique(self.which[self.reached : k], return_counts=True)
            self.whole_w = self.whole_w + counts.astype(object) @ as_integers(self.examples[rows], self.exponent)
            self.reached = k
        return self.whole_w

    def _example(self, k: int) -> NDArray[np.object_]:
        return as_integers(self.examples[self.which[k]], self.exponent)

    def _product(self, left: NDArray[np.object_], right: NDArray[np.object_]) -> Fraction:
        """The product of two sums of examples."""
        return Fraction(int(left @ right)) * power_of_two(2 * self.exponent)

    def _along_u(self, vector: NDArray[np.object_]) -> Fraction:
        """||u|| times the progress that a sum of examples makes along the unit vector."""
        return Fraction(int(vector @ self.whole_u)) * power_of_two(self.exponent + self.u_exponent)

    def _exactly_was_mistake(self, k: int) -> bool:
        score = self._product(self._weights(k), self._example(k))
        granted = self._granted(score, k)
        self.excess += 2 * granted
        return score <= granted

    def _granted(self, score: Fraction, k: int) -> Fraction:
        """What a float64 learner cannot tell from zero of a positive score; 0 of a score that it can."""
        rounding = 4 * (len(self.u) + 2) * Fraction(UNIT_ROUNDOFF) * Fraction(math.sqrt(k)) * Fraction(self.R) ** 2
        return score if 0 < score <= rounding else Fraction(0)

    def _exactly_progress_held(self, k: int) -> bool:
        progress = self._along_u(self._weights(k))
        return progress >= 0 and progress**2 >= (k * Fraction(self.gamma)) ** 2 * self.u_square

    def _exactly_length_held(self, k: int) -> bool:
        w = self._weights(k)
        return self._product(w, w) <= k * Fraction(self.R) ** 2 + self.excess

    def _exactly_cosine_held(self, k: int) -> bool:
        w = self._weights(k)
        square, progress = self._product(w, w), self._along_u(w)
        below_one = progress <= 0 or progress**2 <= square * self.u_square
        ceiling = k * Fraction(self.R) ** 2 + self.excess
        floor = (k * Fraction(self.gamma)) ** 2 * square * self.u_square
        return below_one and (k == 0 or (progress > 0 and progress**2 * ceiling >= floor))

    def _exactly_distance_held(self, k: int) -> bool:
        """2 y<w,x> + ||x||^2 + R^2 <= 2 (R^2/gamma) y<u,x>, with what rounding added to the score granted."""
        x = self._example(k)
        score = self._product(self._weights(k), x)
        score -= self._granted(score, k)
        R_square = Fraction(self.R) ** 2
        left = (2 * score + self._product(x, x) + R_square) * Fraction(self.gamma)
        right = 2 * R_square * self._along_u(x)
        return left <= 0 or (right > 0 and left**2 * self.u_square <= right**2)


def _worth_showing(mistakes: int) -> list[int]:
    """A few k from 0 to the last: all of up to a dozen, else powers of two."""
    if mistakes <= 12:
        return list(range(mistakes + 1))
    return sorted({0, mistakes, *(2**i for i in range(mistakes.bit_length()))})
