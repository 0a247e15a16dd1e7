"""The proof of the mistake bound, followed along a run, mistake by mistake.

Let u be a unit vector that separates with margin gamma, and w_k the sum of the vectors z that k mistakes added. Each
had a score <w, z> that was not positive and a length of at most R, so it added at most S = R^2 to ||w||^2. (A learner
that requires more than a positive score may have added vectors whose score was as large as their loss; then S = R^2 + 2
max loss. With a lead tau the score was at most tau R^2, and S = (1 + 2 tau) R^2.) The notes prove the theorem in three
ways, and all three are followed here:

- *Progress and length* (second, fifth note): <w_k, u> >= k gamma, because every mistake adds at least gamma; and
  ||w_k|| <= sqrt(k S). Cauchy and Schwarz say <w_k, u> <= ||w_k||, so k gamma <= sqrt(k S).
- *The cosine* (first, fourth note): <w_k, u>/||w_k|| is at most 1 and at least sqrt(k) gamma/sqrt(S). It starts as 0/0,
  which is 0 here. The cosine itself may fall from one mistake to the next; its floor rises.
- *The distance* (third note): alpha_k = ||w_k - (S/gamma) u||^2 starts at S^2/gamma^2, falls by at least S with every
  mistake, and cannot become negative.

Everything is computed from products <w, z>, <z, z> and <u, z>, which are integers in some unit: no root is taken and
nothing is rounded before the comparisons. But a learner in float64 may count a mistake whose exact score is positive,
by less than the rounding error of a score. Such an *excess* is measured exactly and allowed. The products of a kernel
are rounded floats from the start, and the proof then states float64.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.floats import float_up, fraction_root_up, nearest_float, root_down
from novikoff.prove.run.steps import FLOAT64, Floats, Steps, Whole, objects
from novikoff.say.words import counted

Truths = NDArray[np.bool_]

_ONE = Fraction(1)


@dataclass(frozen=True, eq=False)
class FollowedProof:
    """Every quantity of the proof, and whether every inequality held.

    Arrays over `made`, k = 0, 1, ..., the mistakes so far: `progress` <w_k, u> and its floor k gamma; `length` ||w_k||
    and its ceiling sqrt(k S); `cosine` and its floor sqrt(k) gamma/sqrt(S); `distance` alpha_k and its ceiling
    S^2/gamma^2 - k S.

    Arrays over the steps: `score_before` <w_k, z> and `score_after` <w_k+1, z>, which is larger by ||z||^2: the step in
    the right direction.

    Booleans: `was_mistake` (the score before was not positive, or not above loss or lead; up to rounding),
    `progress_held`, `length_held`, `cosine_held` (at most 1: Cauchy and Schwarz; and above its floor), `distance_held`
    (it fell by at least S), `step_held` (the score rose).

    `step_square` is S, the most that a mistake can add to ||w||^2: R^2, plus twice the largest loss and 2 `lead` R^2.
    At most `bound` mistakes can be made, the integer part of S/gamma^2. `arithmetic` is "exact", or "float64" if the
    products were rounded beforehand. `near_ties` counts the steps whose exact score was above that of a mistake, by
    less than float64 resolves: their excess was allowed."""

    margin: float
    radius: float
    step_square: float
    bound: int
    arithmetic: str
    made: Floats
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
    has_loss: bool = False
    lead: float = 0.0
    near_ties: int = 0

    @property
    def asks_for_more(self) -> bool:
        """Whether the learner required more than a positive score, so that S exceeds R^2."""
        return self.has_loss or self.lead > 0

    @property
    def formula(self) -> str:
        """The bound."""
        if self.has_loss:
            return "(R^2 + 2 max loss + 2 lead R^2)/gamma^2" if self.lead else "(R^2 + 2 max loss)/gamma^2"
        return f"(1 + 2 * {self.lead:g}) (R/gamma)^2" if self.lead else "(R/gamma)^2"

    @property
    def mistakes(self) -> int:
        """k, at the end of the run."""
        return len(self.made) - 1

    @property
    def holds(self) -> bool:
        """Whether the steps were mistakes and every inequality held."""
        names = ("was_mistake", "progress_held", "length_held", "cosine_held", "distance_held", "step_held")
        return self.mistakes <= self.bound and all(bool(getattr(self, name).all()) for name in names)

    @property
    def verdict(self) -> str:
        """Whether every inequality held, in words."""
        if self.holds:
            rounded = ", up to rounding" if self.arithmetic == "float64" else ""
            ties = counted(self.near_ties, "near-tie")
            return f"Every inequality held{rounded}{f', allowing {ties} in float64' if self.near_ties else ''}."
        if not self.was_mistake.all():
            first = int(np.flatnonzero(~self.was_mistake)[0])
            how = "above its loss" if self.has_loss else "above the lead" if self.lead else "positive"
            return f"Mistake number {first + 1} was not a mistake: its score was {how}."
        return "Not every inequality held."

    def worth_showing(self, few: int = 12) -> list[int]:
        """Return a few steps from 0 to the last: all if there are up to a dozen, else powers of two."""
        last = self.mistakes
        if last <= few:
            return list(range(last + 1))
        return sorted({0, last, *(2**i for i in range(last.bit_length()))})

    def __str__(self) -> str:
        root, S = ("sqrt(k S)", "S") if self.asks_for_more else ("sqrt(k) R", "R^2")
        columns = {
            "k gamma": self.progress_floor,
            "<w,u>": self.progress,
            "||w||": self.length,
            root: self.length_ceiling,
            "alpha_k": self.distance,
            f"alpha_0 - k {S}": self.distance_ceiling,
        }
        line = "{:>9}  {:>9} <= {:>9} <= {:>9} <= {:>9}   {:>11} <= {:>11}"
        lines = [line.format("k", *columns)]
        for k in self.worth_showing():
            digits = [4, 4, 4, 4, 6, 6]
            numbers = (f"{column[k]:.{n}g}" for column, n in zip(columns.values(), digits, strict=True))
            lines.append(line.format(f"{k:,}", *numbers))
        made = counted(self.mistakes, "update" if self.lead else "mistake")
        end = f"{made}; the bound {self.formula} allows {self.bound:,}. {self.verdict}"
        return "\n".join([*lines, end])


def follow_proof(steps: Steps, separator: Any) -> FollowedProof:
    """Follow the three proofs of Block's and Novikoff's theorem along the steps of a run that started from zero.

    `separator` is any separating hyperplane; the bound is best for the one with the largest margin. It is a
    `Separator`; for many classes the hyperplanes of a certificate; in feature space a number for every row, such as
    `certificate.coefficients`; for named features, a mapping from names to numbers.

    The last weights after an epoch without mistakes separate if ties count as mistakes (`tie="mistake"`), or with a
    lead or a cost. Otherwise a score of 0 may have counted as correct, though it is not separated.

    >>> from novikoff import Separator, Steps
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> print(follow_proof(Steps.of_rows(X, y, [0, 2, 4], fit_intercept=False), Separator([1.0, 0.0])))
            k    k gamma <=     <w,u> <=     ||w|| <= sqrt(k) R       alpha_k <= alpha_0 - k R^2
            0          0 <=         0 <=         0 <=         0            25 <=          25
            1          1 <=         1 <=     2.236 <=     2.236            20 <=          20
            2          2 <=         2 <=     2.236 <=     3.162            10 <=          15
            3          3 <=         3 <=     3.162 <=     3.873             5 <=          10
    3 mistakes; the bound (R/gamma)^2 allows 5. Every inequality held.
    """
    u = steps.vector(separator)
    smallest, place = steps.smallest(u)
    if smallest <= 0:
        tie = '; its score is 0, which tie="mistake", a lead or a cost count as a mistake'
        raise ValueError(
            f"the separator does not separate: {steps.called(place)} is not strictly on the correct side, as "
            f"the proof needs every example to be{tie if smallest == 0 else ''}"
        )
    # In integers: scores and squares are in units of products, lengths along u in units of <u, z>.
    (score, square), gain, unit = steps.scores_and_squares, steps.gains(u), steps.unit
    ahead = Fraction(steps.lead) * steps.longest
    S = _plain((steps.longest + 2 * ahead + 2 * max(map(Fraction, steps.allowed or [0]))) / unit)
    gamma = _plain(smallest / steps.along)
    u_square = _plain(steps.square(u) * unit / steps.along**2)
    losses = [0] * len(score) if steps.allowed is None else map(Fraction, steps.allowed)
    allowed = objects(_plain((loss + ahead) / unit) for loss in losses)  # the highest score that a step may have had
    excess = enumerate((score - allowed).tolist())  # float64 cannot detect one below its error
    granted = objects(much if 0 < much <= S * Fraction(steps.doubt(k)) else 0 for k, much in excess)

    k, w_square, progress = objects(range(len(score) + 1)), steps.weights_squares, _summed(gain)
    ceiling = k * S + _summed(2 * granted)
    slack = Fraction(FLOAT64 if steps.in_feature_space else 0)  # of products that were rounded
    below_one = progress**2 <= w_square * u_square * (1 + slack)
    above_floor = (progress >= 0) & (progress**2 * ceiling >= (k * gamma) ** 2 * w_square)
    fall = 2 * S * gain - gamma * (2 * (score - granted) + square)
    alpha = gamma**2 * w_square - 2 * S * gamma * progress + S**2 * u_square  # times gamma^2

    # In floats, each divided by a number of its size, to avoid overflow.
    margin, root = root_down(Fraction(gamma) ** 2 / u_square * unit), fraction_root_up(S * unit)
    bound = Fraction(S) * u_square / gamma**2
    made, first = _floats(k), nearest_float(S * bound * unit)
    progress_shown = margin * _floats(progress, Fraction(gamma))
    length = root * np.sqrt(_floats(w_square, Fraction(S)).clip(0.0))
    return FollowedProof(
        margin=margin,
        radius=steps.radius,
        step_square=float_up(S * unit),
        bound=math.floor(bound),
        arithmetic="float64" if steps.in_feature_space else "exact",
        has_loss=steps.allowed is not None,
        near_ties=int(np.count_nonzero(granted)),
        lead=float(steps.lead),
        made=made,
        progress=progress_shown,
        progress_floor=made * margin,
        length=length,
        length_ceiling=np.sqrt(made) * root,
        cosine=np.divide(progress_shown, length, out=np.zeros(len(k)), where=length > 0),
        cosine_floor=np.sqrt(made) * (margin / root),
        distance=first * _floats(alpha, Fraction(alpha[0])),
        distance_ceiling=first * (1.0 - made * nearest_float(1 / bound)),
        score_before=_floats(score, 1 / unit),
        score_after=_floats(score + square, 1 / unit),
        was_mistake=_truths(score <= allowed + granted),
        progress_held=_truths(progress >= k * gamma),
        length_held=_truths(w_square <= ceiling),
        cosine_held=_truths(below_one) & _truths(above_floor),
        distance_held=_truths(fall >= gamma * S),
        step_held=_truths(square > 0),
    )


def _summed(values: Whole) -> Whole:
    return np.append(0, np.cumsum(values))


def _plain(value: Fraction) -> Any:
    """Return a whole fraction as an integer, which is faster."""
    return value.numerator if value.denominator == 1 else value


def _floats(values: Whole, over: Fraction = _ONE) -> Floats:
    """Return the values divided by a number; infinite beyond the range of floats."""
    many, of = over.denominator, over.numerator
    try:
        return np.array([value * many / of for value in values.tolist()], dtype=np.float64)
    except OverflowError:
        return np.array([nearest_float(Fraction(value * many) / of) for value in values.tolist()])


def _truths(values: Any) -> Truths:
    return np.asarray(values, dtype=np.bool_)
