"""A certificate: whether data are separable, in a form that anyone can check.

It has *claims* and *witnesses*. Every claim can be derived from the data and the witnesses alone, in exact arithmetic
(for kernels that are powers of e, in ball arithmetic): that is how a certificate is made, and how `check` tests it. The
checker does not depend on the search for the witnesses. `docs/certificates.md` has the format and the rules.
"""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import at_least, at_most
from novikoff.prove.exact.codec import Label, Positive, Whole
from novikoff.prove.exact.floats import scaled_floats
from novikoff.prove.separable.margin import Separator
from novikoff.prove.separable.question import Verdict
from novikoff.prove.separable.subject import Subject
from novikoff.say.certificates import in_arithmetic
from novikoff.say.words import cancelling, counted, no_margin_above, radius_in_words, whole_at_most

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding
    from novikoff.prove.existence.certificate import Existence


class Bracket(NamedTuple):
    """A lower and an upper bound of a number."""

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """The difference of the bounds, relative to the upper one."""
        lower, upper = self
        return (upper - lower) / upper if 0 < upper < math.inf else (0.0 if upper == 0 else 1.0)

    @property
    def words(self) -> str:
        """The bounds in words, rounded outwards, with the gap if it is wider than usual.

        >>> Bracket(1.0, 1.0).words, Bracket(0.1, 0.1).words
        ('= 1', 'lies between 0.1 and 0.10000001')
        """
        lowest, highest = at_least(self.lower, 8), at_most(self.upper, 8)
        if lowest == highest:  # rounded to opposite sides: both are the number itself
            return f"= {lowest}"
        wide = f" (known to within {at_most(100 * self.gap, 2)} %)" if self.gap > USUAL_GAP else ""
        return f"lies between {lowest} and {highest}{wide}"


class Support(NamedTuple):
    """The rows that determine the margin, weights of sum 1 (up to rounding), and for many classes the rivals."""

    rows: tuple[int, ...]
    weights: tuple[float, ...]
    rivals: tuple[Label, ...] | None = None


class Obstruction(NamedTuple):
    """Rows whose combination y x, with these positive whole weights, is 0: nothing separates them.

    If it `spans` all points, no weak separator exists either: the verdict is overlapping.
    """

    rows: tuple[int, ...]
    weights: tuple[Positive, ...]
    spans: bool
    rivals: tuple[Label, ...] | None = None


class Planes(NamedTuple):
    """One weight vector and bias per class, with ||(W, b)|| = 1; the largest score wins."""

    weights: NDArray[np.float64]
    biases: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Witnesses:
    """What a search found and a check needs: witnesses prove nothing until they are tested on the data.

    `vector` separates; for a kernel, the combination of the points with `coefficients` does. The `support` is a convex
    combination of points, the `obstruction` a combination that is 0, the `weak_separator` has no point on its wrong
    side (for a kernel: coefficients).
    """

    vector: tuple[Whole, ...] | None = None
    coefficients: tuple[Whole, ...] | None = None
    weak_separator: tuple[Whole, ...] | None = None
    support: Support | None = None
    obstruction: Obstruction | None = None

    @property
    def spans(self) -> bool:
        """Whether the obstruction is to span all points."""
        return self.obstruction is not None and self.obstruction.spans

    def without_span(self) -> "Witnesses":
        """The same without the claim that the obstruction spans all points."""
        return self if self.obstruction is None else replace(self, obstruction=self.obstruction._replace(spans=False))


def _witness(name: str) -> Any:
    return property(lambda certificate: getattr(certificate.witnesses, name))


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate(Subject):
    """Whether the data are linearly separable, with what margin, and the proof.

    The claims follow from the `witnesses`, which are attributes here, too: `vector` is the separator in the folded
    space, in whole numbers and of any length; `separator` is the same in floats, of length 1. `coefficients` are those
    of a separator in feature space. `estimates`, if requested, is the result of `existence` for the regression of the
    labels on the same columns. `arithmetic` is "exact", or "balls" for margins in the space of a kernel whose values
    are powers of e; "float64" where a time limit ended the search before anything was proved.
    """

    verdict: Verdict
    arithmetic: str
    margin: Bracket
    geometric_margin: float
    radius: float
    mistake_bound: int | None
    witnesses: Witnesses
    estimates: "Existence | None" = None

    vector = _witness("vector")
    coefficients = _witness("coefficients")
    support = _witness("support")
    obstruction = _witness("obstruction")
    weak_separator = _witness("weak_separator")

    # -- claims -------------------------------------------------------------------------------------------------------

    @property
    def separator(self) -> Separator | Planes | None:
        """The hyperplane with the largest margin found, unit length in the folded space; for many classes, one each."""
        if self.vector is None:
            return None
        unit = as_unit(self.vector)
        if self.problem.has_one_plane:
            return Separator(unit[:-1], unit[-1])
        table = unit.reshape(len(self.classes), self.n_columns + 1)
        return Planes(table[:, :-1], table[:, -1])

    @property
    def gap(self) -> float:
        """The difference of the bounds of the margin, relative to the upper one."""
        return self.margin.gap

    @property
    def diverging(self) -> Mapping[str, str] | None:
        """The infinite coefficients of the regression of the labels on the columns, with their signs; None if they were
        not requested, or not found in time."""
        return None if self.estimates is None else self.estimates.diverging

    def __str__(self) -> str:
        parts = (self._what(), self._how_wide(), self._why_not(), self.diverging_in_words)
        return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts if part)

    @property
    def space(self) -> str:
        """The space of the separator, in words."""
        if self.kernel is None:
            return ""
        if self.kernel.form == "precomputed":
            return "in the feature space of the kernel matrix as given"
        return f"in the feature space of the {self.kernel}"

    def _what(self) -> str:
        data = f"These {self.n_rows:,} rows" + ("" if self.kernel is not None else f" of {self.n_columns:,} columns")
        space = f"{self.space} " if self.space else ""
        return f"{data} are {space}{self.verdict_in_words}: {self.meaning}"

    @property
    def verdict_in_words(self) -> str:
        """The verdict, and the arithmetic of its proof."""
        return in_arithmetic(self.verdict.value, self.arithmetic)

    @property
    def meaning(self) -> str:
        """The meaning of the verdict, in words."""
        return self.meaning_of("hyperplane")

    def meaning_of(self, plane: str) -> str:
        """The same, where a hyperplane is drawn as something else and has its name."""
        if self.verdict is Verdict.SEPARABLE and self.margin.lower == 0 and self.is_by_theorem:
            return "different points are always separable there, and no two with different labels are equal"
        return self.problem.meaning(self.verdict, plane)

    @property
    def consequence(self) -> str | None:
        """What the verdict implies, in words; None if it is undecided."""
        return self.problem.consequence(self.verdict, None if self.estimates is None else self.estimates.exists)

    @property
    def is_by_theorem(self) -> bool:
        """Whether the kernel separates all distinct points, so that the verdict needs no witness."""
        return self.kernel is not None and not self.kernel.is_rational

    @property
    def margin_in_words(self) -> str | None:
        """The bounds of the margin; None if there are none, or if nothing separates."""
        if self.margin.lower:
            return f"gamma {self.margin.words}"
        return no_margin_above(self.margin.upper) if 0 < self.margin.upper < math.inf else None

    @property
    def bound_in_words(self) -> str | None:
        """The mistake bound of the theorem."""
        if self.mistake_bound is None:
            return None
        return f"{self.problem.formula} = {whole_at_most(self.mistake_bound)}"

    @property
    def promise(self) -> str | None:
        """What the theorem guarantees for a perceptron on these data."""
        if self.mistake_bound is None:
            return None
        noun = "mistake" if self.mistake_bound == 1 else "mistakes"
        given = ", if the matrix is that of a kernel" if self.kernel and self.kernel.form == "precomputed" else ""
        return f"a perceptron makes at most {self.bound_in_words} {noun}{given}"

    def update_bound(self, lead: float = 0.0) -> int | None:
        """The most updates of a learner with this lead: (1 + 2 lead) times the mistake bound before it was rounded
        down, which is below `mistake_bound + 1`."""
        if self.mistake_bound is None or not lead:
            return self.mistake_bound
        return math.ceil((1 + 2 * Fraction(lead)) * (self.mistake_bound + 1)) - 1

    def against_bound(self, mistakes: int, narrow: int = 0, lead: float = 0.0) -> str | None:
        """The mistakes of a run, and the narrow examples it learned, compared with the bound of the theorem."""
        if self.mistake_bound is None:
            return None
        if not lead:
            return f"{counted(mistakes, 'mistake')} made; the theorem allows {self.bound_in_words}"
        made = f"{counted(mistakes, 'mistake')} and {counted(narrow, 'narrow one')} made"
        return f"{made}; with a lead of {lead:g} the theorem allows {self._bound_with(lead)}"

    def promise_with(self, lead: float) -> str | None:
        """What the theorem guarantees for a perceptron with a lead on these data."""
        if self.mistake_bound is None or not lead:
            return self.promise
        return f"a perceptron with a lead of {lead:g} makes at most {self._bound_with(lead)} updates"

    def _bound_with(self, lead: float) -> str:
        most = whole_at_most(self.update_bound(lead) or 0)
        return f"{1 + 2 * lead:g} {self.problem.formula} = {most}"

    def _how_wide(self) -> str | None:
        if self.promise is not None:
            longest = f"the longest example has length {radius_in_words(self.radius)}"
            margin = f"{'is ' if self.margin.words.startswith('=') else ''}{self.margin_in_words}"
            return f"the margin {margin}, and {longest}, so {self.promise}{self._how_to_get_there()}"
        tiny = self.verdict is Verdict.UNDECIDED and self.problem.has_one_plane
        return f"{self.margin_in_words}{_TRY_INEQUALITIES if tiny else ''}" if self.margin_in_words else None

    def _how_to_get_there(self) -> str:
        if not self.problem.has_one_plane or self.mistake_bound is None or self.mistake_bound < MANY_MISTAKES:
            return ""
        return (
            ". It may need so many; solve_inequalities on the rows y (x, 1) does not: it is designed for tiny margins"
        )

    @property
    def obstruction_in_words(self) -> str | None:
        """The rows that rule out a separator."""
        if self.obstruction is None:
            return None
        rows, weights, _, rivals = self.obstruction
        return cancelling(rows, weights, rivals, as_points=f" {self.problem.as_points}")

    def _why_not(self) -> str | None:
        return None if self.obstruction is None else f"The proof: {self.obstruction_in_words}"

    @property
    def diverging_in_words(self) -> str | None:
        """Which estimates of the regression are infinite; None if that was not requested."""
        from novikoff.say.estimates import in_brief

        return None if self.estimates is None else in_brief(self.estimates)

    def _repr_html_(self) -> str:
        facts = {
            "verdict": self.verdict_in_words,
            "margin": self.margin_in_words or "none",
            "longest example": radius_in_words(self.radius),
            "mistakes at most": self.bound_in_words or "no bound",
        }
        rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in facts.items())
        return f"<table><caption>{html.escape(str(self))}</caption>{rows}</table>"

    # -- proof and files ----------------------------------------------------------------------------------------------

    def check(self, X: Any, y: ArrayLike | None = None, *, encoding: "Encoding | None" = None) -> None:
        """Derive every claim again from the data and the witnesses; raises `CertificateError` naming a difference.

        X and y as they were certified, or the reader or batches alone. A table is encoded as in the certificate; an
        encoding, if given, must be the same.
        """
        from novikoff.prove.separable.check import check_certificate

        check_certificate(self, X, y, encoding)

    def to_json(self) -> str:
        """The certificate as JSON; whole numbers of any length are strings."""
        from novikoff.prove.separable.files import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Certificate":
        """Read what `to_json` wrote; raises `CertificateError` for anything else. It is not yet checked."""
        from novikoff.prove.separable.files import from_json

        return from_json(text)

    @classmethod
    def from_mistakes(cls, X: Any, y: ArrayLike, rows: ArrayLike, *, fit_intercept: bool = True) -> "Certificate":
        """The certificate that follows from a perceptron's run on two classes.

        The counts of its mistakes are weights of a convex combination of length ||w||/k: an upper bound on the margin.
        If it converged, its weights separate, and give a lower one. If w is 0, the counts are an obstruction, and so
        are those of a cycle (`run_.cycle`), after which w returns. `rows` has the row of every mistake, in any order.
        """
        from novikoff.prove.separable.conclude import certificate_from_mistakes

        return certificate_from_mistakes(X, y, rows, fit_intercept)


def as_unit(vector: Sequence[int]) -> NDArray[np.float64]:
    """Whole numbers as floats, scaled to length 1."""
    floats = scaled_floats(vector)
    return floats / np.linalg.norm(floats)


# Above this many mistakes, waiting for a perceptron is impractical.
MANY_MISTAKES = 10**9

# A bracket with a larger gap, the default tolerance of `certify`, is printed with it.
USUAL_GAP = 1e-6

_TRY_INEQUALITIES = (
    ". solve_inequalities on the rows y (x, 1) may still find a separator: its rescaled perceptron is designed for "
    "tiny margins"
)
