"""A certificate: what was found about the separability of data, in a form that anyone can check.

`check` first compares a fingerprint of the data, then proves every claim again from the data, in exact arithmetic where
the certificate says so. It shares nothing with the solvers that found the claims.
"""

import enum
import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import at_least, at_most, decimal_digits
from novikoff.prove.algebra import decimal, from_decimal
from novikoff.prove.document import CertificateError
from novikoff.prove.exact import fraction_root_up, root_down
from novikoff.prove.fingerprint import fingerprint
from novikoff.prove.margin import Separator, radius
from novikoff.prove.points import Points
from novikoff.prove.products import exact_sum
from novikoff.prove.proofs import lower_square, upper_square

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

FORMAT = 1


class Verdict(enum.Enum):
    """Whether a plane separates the data."""

    SEPARABLE = "separable"
    QUASI_SEPARABLE = "quasi-separable"
    OVERLAPPING = "overlapping"
    UNDECIDED = "undecided"


class Bracket(NamedTuple):
    """A number lies between these two."""

    lower: float
    upper: float


class Support(NamedTuple):
    """The rows that fix the margin, with weights of sum 1 (up to rounding); with many classes, against which rival."""

    rows: tuple[int, ...]
    weights: tuple[float, ...]
    rivals: tuple[Any, ...] | None = None


class Obstruction(NamedTuple):
    """Rows whose combination y x, with these positive whole weights, is 0: nothing separates them."""

    rows: tuple[int, ...]
    weights: tuple[int, ...]
    rivals: tuple[Any, ...] | None = None


class Divergence(NamedTuple):
    """A coefficient that logistic regression sends to infinity, and why its sign is what it is.

    `sign` is "+inf", "-inf" or "sign undetermined". `rows` and `weights` combine to the coordinate (Farkas), which
    rules the other sign out; `witnesses` are weak separators with either sign.
    """

    sign: str
    rows: tuple[int, ...] = ()
    weights: tuple[int, ...] = ()
    scale: int = 1
    witnesses: tuple[tuple[int, ...], ...] = ()


class Planes(NamedTuple):
    """One weight vector and bias a class, with ||(W, b)|| = 1; the largest score wins."""

    weights: NDArray[np.float64]
    biases: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Certificate:
    """Whether the data are linearly separable, with what margin, and why one should believe it.

    `problem` is "binary", "argmax" (many classes, Kesler's construction) or "kernel". `vector` is the separator in the
    folded space, in whole numbers and of any length; `separator` is the same in floats, of length 1. `coefficients` are
    those of a separator in feature space. `diverging` tells which coefficients logistic regression sends to infinity.
    """

    verdict: Verdict
    arithmetic: str
    margin: Bracket
    geometric_margin: float
    radius: float
    mistake_bound: int | None
    problem: str
    fit_intercept: bool
    classes: tuple[Any, ...]
    n_rows: int
    n_columns: int
    data_hash: str
    vector: tuple[int, ...] | None = None
    coefficients: tuple[float, ...] | None = None
    support: Support | None = None
    obstruction: Obstruction | None = None
    weak_separator: tuple[int, ...] | None = None
    divergences: Mapping[Any, Divergence] | None = None
    feature_names: tuple[str, ...] | None = None

    # -- what it says -------------------------------------------------------------------------------------------------

    @property
    def separator(self) -> Separator | Planes | None:
        """The widest plane found (unit length in the folded space); for many classes, one plane a class."""
        if self.vector is None:
            return None
        unit = as_unit(self.vector)
        if self.problem == "binary":
            return Separator(unit[:-1], unit[-1])
        table = unit[:-1].reshape(len(self.classes), self.n_columns + 1)
        return Planes(table[:, :-1], table[:, -1])

    @property
    def diverging(self) -> dict[Any, str] | None:
        """The columns whose logistic-regression coefficient is infinite, with its sign; None if not computed."""
        if self.divergences is None:
            return None
        return {self.name_of(column): divergence.sign for column, divergence in self.divergences.items()}

    def name_of(self, column: Any) -> Any:
        """What a column is called: by its name if the data have names, else by its number."""
        if column == "intercept" or self.feature_names is None:
            return column
        return self.feature_names[column]

    def __str__(self) -> str:
        sentences = (self._what(), self._how_wide(), self._why_not(), self._infinite())
        return " ".join(filter(None, sentences))

    def _what(self) -> str:
        kernel = self.problem == "kernel"
        data = f"These {self.n_rows:,} rows" + ("" if kernel else f" of {self.n_columns:,} columns")
        space = "in the feature space of the kernel " if kernel else ""
        words = _WORDS[self.verdict]
        if self.verdict is Verdict.UNDECIDED and self.obstruction is not None:
            words = "no plane has every example strictly on its side, but perhaps one has none on the wrong side"
        return f"{data} are {space}{self.verdict.value} ({self.arithmetic}): {words}."

    def _how_wide(self) -> str:
        if self.verdict is Verdict.UNDECIDED:
            tiny = "" if self.problem == "kernel" or self.obstruction else _TRY_INEQUALITIES
            return f"No margin above {at_most(self.margin.upper)} is possible.{tiny}"
        if self.verdict is not Verdict.SEPARABLE:
            return ""
        times = "2 " if self.problem == "argmax" else ""
        plural = "" if self.mistake_bound == 1 else "s"
        return (
            f"The margin gamma lies between {at_least(self.margin.lower, 8)} and {at_most(self.margin.upper, 8)}, and "
            f"the longest example has length R <= {at_most(self.radius)}, so a perceptron makes at most "
            f"{times}(R/gamma)^2 = {self.mistake_bound:,} mistake{plural}.{self._how_to_get_there()}"
        )

    def _how_to_get_there(self) -> str:
        if self.problem != "binary" or self.mistake_bound is None or self.mistake_bound < MANY_MISTAKES:
            return ""
        return " It may need so many; solve_inequalities on the rows y (x, 1) does not: it is made for tiny margins."

    def _why_not(self) -> str:
        if self.obstruction is None:
            return ""
        rows, weights, _ = self.obstruction
        digits = decimal_digits(max(weights))
        if digits > 12:
            shown = ", ".join(map(str, rows[:12])) + (", ..." if len(rows) > 12 else "")
            weighed = f"times their labels and whole weights of up to {digits} digits"
            return f"The proof: rows {shown}, {weighed}, cancel exactly."
        shown = " + ".join(f"{weight:,} x row {row}" for weight, row in zip(weights[:6], rows[:6], strict=True))
        more = f" + {len(rows) - 6} more" if len(rows) > 6 else ""
        return f"The proof: examples times their labels cancel exactly, {shown}{more} = 0."

    def _infinite(self) -> str:
        if not self.diverging:
            return ""
        signs = ", ".join(f"{name} ({sign})" for name, sign in list(self.diverging.items())[:8])
        more = f", and {len(self.diverging) - 8} more" if len(self.diverging) > 8 else ""
        return f"Logistic regression has infinite estimates for: {signs}{more}."

    def _repr_html_(self) -> str:
        facts = {
            "verdict": f"{self.verdict.value} ({self.arithmetic})",
            "margin": f"{at_least(self.margin.lower, 8)} to {at_most(self.margin.upper, 8)}",
            "radius": f"at most {at_most(self.radius)}",
            "mistakes at most": "no bound" if self.mistake_bound is None else f"{self.mistake_bound:,}",
        }
        rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in facts.items())
        return f"<table><caption>{html.escape(str(self))}</caption>{rows}</table>"

    def check(self, X: Any, y: ArrayLike | None = None, *, encoding: "Encoding | None" = None) -> None:
        """Prove every claim again from the data; raises `CertificateError` naming the first that fails.

        X and y, or a reader or batches alone, as for `certify`; a table is encoded as there.
        """
        from novikoff.prove.check import check_certificate

        check_certificate(self, X, y, encoding)

    # -- files --------------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The certificate as JSON; whole numbers that may be large are strings."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields["verdict"] = self.verdict.value
        for name in ("vector", "weak_separator"):
            fields[name] = None if fields[name] is None else [decimal(v) for v in fields[name]]
        if self.obstruction is not None:
            rows, weights, rivals = self.obstruction
            fields["obstruction"] = [rows, [decimal(v) for v in weights], rivals]
        fields["mistake_bound"] = None if self.mistake_bound is None else decimal(self.mistake_bound)
        fields["margin"] = [None if math.isinf(v) else v for v in self.margin]
        if self.divergences is not None:
            fields["divergences"] = [[column, _divergence_to_json(d)] for column, d in self.divergences.items()]
        return json.dumps({"format": FORMAT, **fields})

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate that `to_json` wrote."""
        try:
            fields = json.loads(text)
            if fields.pop("format") != FORMAT:
                raise CertificateError(f"the certificate has another format than {FORMAT}; a newer version wrote it")
            fields["verdict"] = Verdict(fields["verdict"])
            fields["margin"] = Bracket(*(math.inf if v is None else v for v in fields["margin"]))
            fields["mistake_bound"] = None if fields["mistake_bound"] is None else from_decimal(fields["mistake_bound"])
            for name, read in _READERS.items():
                fields[name] = None if fields[name] is None else read(fields[name])
            if fields["divergences"] is not None:
                fields["divergences"] = {column: _divergence_from_json(d) for column, d in fields["divergences"]}
            return cls(**fields)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, CertificateError):
                raise
            raise CertificateError(f"this is no certificate: {error}") from error

    @classmethod
    def from_mistakes(cls, X: Any, y: ArrayLike, rows: ArrayLike, *, fit_intercept: bool = True) -> "Certificate":
        """The certificate that a perceptron's own run on two classes is.

        The counts of its mistakes are weights of a convex combination, ||w||/k: an upper bound on the margin. If it
        converged, its weights separate, and give a lower one. `rows` has the row of every mistake, in any order.
        """
        points = Points.of(X, y, fit_intercept)
        made, counts = np.unique(np.asarray(rows, dtype=np.int64), return_counts=True)
        if len(made) == 0:
            raise ValueError("a run without mistakes has weights 0 and proves nothing")
        vector, _ = exact_sum(points, made, counts.tolist())
        support = Support(tuple(made.tolist()), tuple((counts / counts.sum()).tolist()))
        return separable_or_undecided(points, facts_about(X, y, fit_intercept), vector, support, made)


def separable_or_undecided(
    points: Points, facts: Mapping[str, Any], vector: Sequence[int], support: Support, numbers: NDArray[np.int64]
) -> Certificate:
    """The certificate of a vector and a convex combination: separable if the vector separates, exactly.

    `facts` are those about the data, see `facts_about`; `numbers` are the points that the support names.
    """
    lower = lower_square(points, vector)
    upper = fraction_root_up(upper_square(points, numbers, support.weights))
    if lower is None:
        undecided = Bracket(0.0, upper)
        return Certificate(
            Verdict.UNDECIDED, "exact", undecided, geometric_margin=0.0, mistake_bound=None, support=support, **facts
        )
    return Certificate(
        Verdict.SEPARABLE,
        "exact",
        Bracket(root_down(lower), upper),
        geometric_margin=geometric_margin(lower, vector, facts["problem"]),
        mistake_bound=bound_from_square(facts["radius"], lower, facts["problem"]),
        vector=tuple(vector),
        support=support,
        **facts,
    )


def facts_about(X: Any, y: ArrayLike, fit_intercept: bool, problem: str = "binary") -> dict[str, Any]:
    """What a certificate says of the data themselves."""
    names = getattr(X, "columns", None)
    return {
        "radius": radius(X, fit_intercept),
        "problem": problem,
        "fit_intercept": fit_intercept,
        "classes": tuple(np.unique(np.asarray(y)).tolist()),
        "n_rows": int(np.shape(X)[0]),
        "n_columns": int(np.shape(X)[1]),
        "data_hash": fingerprint(X, y),
        "feature_names": None if names is None else tuple(map(str, names)),
    }


def bound_from_square(radius: float, lower: Fraction, problem: str) -> int:
    """(R/gamma)^2, or twice that for many classes, from the exact square of the lower bound."""
    return math.floor(Fraction(radius) ** 2 * (2 if problem == "argmax" else 1) / lower)


def geometric_margin(lower: Fraction, vector: Sequence[int], problem: str) -> float:
    """The distance in the picture: the same smallest score over ||w|| without the bias; not for many classes."""
    square = sum(v * v for v in vector[:-1])
    if problem != "binary" or square == 0:
        return 0.0
    return root_down(lower * (square + vector[-1] ** 2) / square)


def as_unit(vector: Sequence[int]) -> NDArray[np.float64]:
    """Whole numbers as floats, scaled to length 1."""
    largest = max(map(abs, vector))
    floats = np.array([float(Fraction(v, largest)) for v in vector])
    return floats / np.linalg.norm(floats)


# Beyond so many mistakes, waiting for a perceptron is no plan.
MANY_MISTAKES = 10**9

_TRY_INEQUALITIES = (
    " solve_inequalities on the rows y (x, 1) may still find a separator: its rescaled perceptron is made for tiny "
    "margins."
)

_WORDS = {
    Verdict.SEPARABLE: "some plane has every example strictly on its side",
    Verdict.QUASI_SEPARABLE: "no plane has every example strictly on its side, but one has none on the wrong side",
    Verdict.OVERLAPPING: "every plane has some example on the wrong side, or all of them on it",
    Verdict.UNDECIDED: "floats could not decide it, and exact arithmetic would take too long",
}

_READERS: dict[str, Any] = {
    "weak_separator": lambda values: tuple(from_decimal(v) for v in values),
    "vector": lambda values: tuple(from_decimal(v) for v in values),
    "coefficients": tuple,
    "classes": tuple,
    "feature_names": tuple,
    "support": lambda parts: Support(tuple(parts[0]), tuple(parts[1]), None if parts[2] is None else tuple(parts[2])),
    "obstruction": lambda parts: Obstruction(
        tuple(parts[0]), tuple(from_decimal(v) for v in parts[1]), None if parts[2] is None else tuple(parts[2])
    ),
}


def _divergence_to_json(divergence: Divergence) -> dict[str, Any]:
    return {
        "sign": divergence.sign,
        "rows": list(divergence.rows),
        "weights": [decimal(v) for v in divergence.weights],
        "scale": decimal(divergence.scale),
        "witnesses": [[decimal(v) for v in witness] for witness in divergence.witnesses],
    }


def _divergence_from_json(fields: dict[str, Any]) -> Divergence:
    return Divergence(
        fields["sign"],
        tuple(fields["rows"]),
        tuple(from_decimal(v) for v in fields["weights"]),
        from_decimal(fields["scale"]),
        tuple(tuple(from_decimal(v) for v in witness) for witness in fields["witnesses"]),
    )
