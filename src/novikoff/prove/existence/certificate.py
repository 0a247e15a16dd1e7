"""Whether a maximum likelihood estimate exists, in a form that anyone can check.

Like every certificate, it has *claims* and *witnesses*, and each claim follows from the data and the witnesses alone.
Files are parsed strictly, and nothing in them is trusted.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.prove.exact.document import ProofFields
from novikoff.prove.exact.proof import Proof, field_of
from novikoff.prove.existence.conclude import Estimate, EstimateClaims, EstimateWitnesses, conclude
from novikoff.prove.existence.families import check_different, names_of
from novikoff.prove.existence.finite import FiniteEstimate, firth
from novikoff.prove.existence.likelihood import Likelihood, LikelihoodFacts, given_positions
from novikoff.say import estimates as say
from novikoff.say.estimates import UNIDENTIFIED

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class Existence(Proof):
    """Whether the maximum likelihood estimate of a model exists, which coefficients are infinite, and why.

    `coefficients` has all names in order, `diverging` those that are not finite: `"+inf"`, `"-inf"`,
    `"sign undetermined"` (both signs are possible), `"infinite"` (its sign was not computed) or `"not identified"` (the
    columns are collinear, and the estimate is not unique). `separated` are the rows of the design, counted from 0, that
    some direction separates strictly: their likelihood tends to its supremum, and they carry no information about the
    other coefficients. Both are None if only part of the answer was found in time. `likelihood` has the data; a
    certificate from a file has none.
    """

    about: LikelihoodFacts
    claims: EstimateClaims
    witnesses: EstimateWitnesses
    likelihood: Likelihood | None = field(default=None, repr=False)

    KIND = "existence"
    estimate, separated = field_of("claims", "estimate"), field_of("claims", "separated_rows")
    family, n_rows = field_of("about", "family"), field_of("about", "rows")
    omitted, sha256 = field_of("about", "omitted"), field_of("about", "sha256")

    @classmethod
    def of(cls, likelihood: Likelihood, witnesses: EstimateWitnesses, clock: Clock = UNLIMITED) -> "Existence":
        """Return the certificate that follows from witnesses; raise CertificateError if they prove nothing."""
        return cls(likelihood.about, conclude(likelihood, witnesses, clock), witnesses, likelihood)

    @classmethod
    def read(cls, fields: ProofFields) -> "Existence":
        found = super().read(fields)
        try:
            check_different(found.coefficients)
        except ValueError as error:
            fields.fail(str(error))
        if any(place >= len(found.coefficients) for place, _ in found.claims.diverging or ()):
            fields.fail("has a diverging coefficient that is not there")
        return found

    @cached_property
    def coefficients(self) -> tuple[str, ...]:
        return names_of(self.about.family, self.about.columns, self.about.classes)

    @cached_property
    def diverging(self) -> Mapping[str, str] | None:
        pairs = self.claims.diverging
        return None if pairs is None else {self.coefficients[place]: sign for place, sign in pairs}

    # -- claims -------------------------------------------------------------------------------------------------------

    @property
    def exists(self) -> bool | None:
        """True, False, or None if undecided."""
        return None if self.estimate is Estimate.UNDECIDED else self.estimate is Estimate.EXISTS

    @property
    def separated_rows(self) -> tuple[Any, ...] | None:
        """The separated rows by the labels of the frame's index, if there was one; else by their positions.

        A certificate from a file has no labels, and so positions here.
        """
        if self.separated is None or self.likelihood is None:
            return self.separated_positions
        return self.likelihood.labels_of(self.separated)

    @property
    def separated_positions(self) -> tuple[int, ...] | None:
        """The separated rows by their positions, counted from 0, in the data as given, before any rows were dropped."""
        return None if self.separated is None else given_positions(self.separated, self.omitted)

    @property
    def response(self) -> tuple[str, list[str]]:
        """The left side of the formula, and the columns it names."""
        from novikoff.prove.existence.formulas import FormulaParts, response_columns

        formula = self.about.formula
        left = "y" if formula is None else FormulaParts.of(formula.text).left
        return left, response_columns(left) or [left]

    @property
    def arithmetic(self) -> str:
        return "float64" if self.estimate is Estimate.UNDECIDED else "exact"

    def fate(self, coefficient: str) -> str:
        """Return the status of a coefficient: one of the values of `diverging`, or `"finite"`."""
        if coefficient not in self.coefficients:
            raise KeyError(f"there is no coefficient {coefficient!r}; there are {', '.join(self.coefficients[:20])}")
        if self.diverging is None:
            raise ValueError("this certificate does not tell which coefficients are finite")
        return self.diverging.get(coefficient, say.FINITE)

    # -- uses ---------------------------------------------------------------------------------------------------------

    def finite(self, level: float = 0.95) -> FiniteEstimate:
        """Return Firth's estimate on the same design, which is finite, with profile-likelihood intervals; `print` it.

        For `binomial` (with the logit link) and `cox` models, by the package firthmodels (`pip install
        'novikoff[firth]'`). Weights count as numbers of cases. For other families the error names alternatives.

        >>> from novikoff import existence
        >>> rows = [[1, 30], [1, 40], [1, 50], [1, 60], [0, 30], [0, 40]]
        >>> print(existence(rows, [1, 0, 1, 0, 0, 0]).finite())
        Firth's logistic regression (firthmodels), with 95 % profile-likelihood intervals
                     estimate    lower    upper
          intercept    0.1551   -6.255    6.932
          x0            2.098   -1.257    7.465
          x1         -0.05007  -0.2452  0.08966
        """
        if UNIDENTIFIED in (self.diverging or {}).values():
            raise ValueError("some coefficients are not identified; drop collinear columns until each of them is")
        if self.likelihood is None:
            raise ValueError("a certificate from a file has no data: ask existence(...) again, and then finite()")
        return firth(self.likelihood, level)

    def to_frame(self, finite: bool = False) -> "pandas.DataFrame":
        """Return one row per coefficient, by name, whose `estimate` is its value in `diverging`, or "finite".

        With `finite=True` also Firth's estimate, as `firth`, `lower` and `upper`; see the method `finite`.
        """
        columns: dict[str, Any] = {"estimate": [self.fate(name) for name in self.coefficients]}
        if finite:
            found = self.finite()
            columns |= {"firth": found.estimate, "lower": found.lower, "upper": found.upper}
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame requires pandas; install it with: pip install pandas") from None
        return pd.DataFrame(columns, index=pd.Index(self.coefficients, name="coefficient"))

    def __bool__(self) -> bool:
        """Whether the estimate is known to exist."""
        return self.estimate is Estimate.EXISTS

    def __str__(self) -> str:
        return say.in_words(self)

    def __repr__(self) -> str:
        return f"<Existence: {say.verdict(self)}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    # -- proof and files ----------------------------------------------------------------------------------------------

    def check(self, model: Any, data: Any = None, **options: Any) -> None:
        """Derive every claim again from the data and the witnesses; raise `CertificateError` naming what differs.

        Pass the data as to `existence`, with the same options. For a formula that only names columns, the table is
        enough; any other is not evaluated unless you pass it, too: `check(formula, table)`.
        """
        from novikoff.prove.existence.inputs import likelihood_of

        claimed = self.well_formed()
        formula = claimed.about.formula
        if formula is not None and data is None and hasattr(model, "columns"):
            options = {**formula.options, **options, "is_from_file": True}
            model, data = formula.text, model
        claimed.check_likelihood(likelihood_of(model, data, **{"family": claimed.family, **options}))

    def check_likelihood(self, likelihood: Likelihood) -> None:
        """Like `check`, for a likelihood already made from the data."""
        self.check_claims(likelihood.about, lambda witnesses: conclude(likelihood, witnesses))
