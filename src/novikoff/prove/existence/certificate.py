"""Whether a maximum likelihood estimate exists, in a form that anyone can check.

Like every certificate, it has *claims* and *witnesses*, and each claim follows from the data and the witnesses alone.
Files are parsed strictly, and nothing in them is trusted.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.prove.exact.codec import Label, read_part, read_value, written_part
from novikoff.prove.exact.document import CertificateError, ProofFields, claim, read_proof, written
from novikoff.prove.existence.conclude import SIGNS, Estimate, EstimateWitnesses, conclude
from novikoff.prove.existence.families import check_different, coefficients_of, names_of
from novikoff.prove.existence.finite import FiniteEstimate, firth
from novikoff.prove.existence.likelihood import COLUMNS, NUMBERS, TIES, Likelihood, given_positions
from novikoff.say import estimates as say
from novikoff.say.estimates import UNIDENTIFIED

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Existence:
    """Whether the maximum likelihood estimate of a model exists, which coefficients are infinite, and why.

    `coefficients` has all names in order, `diverging` those that are not finite: `"+inf"`, `"-inf"`,
    `"sign undetermined"` (both signs are possible), `"infinite"` (its sign was not computed) or `"not identified"` (the
    columns are collinear, and the estimate is not unique). `separated` are the rows of the design, counted from 0, that
    some direction separates strictly: their likelihood tends to its supremum, and they carry no information about the
    other coefficients. Both are None if only part of the answer was found in time. `likelihood` has the data; a
    certificate from a file has none.
    """

    estimate: Estimate
    coefficients: tuple[str, ...]
    diverging: Mapping[str, str] | None
    separated: tuple[int, ...] | None
    about: Mapping[str, Any]
    sha256: str
    witnesses: EstimateWitnesses
    likelihood: Likelihood | None = field(default=None, repr=False)

    @classmethod
    def of(cls, likelihood: Likelihood, witnesses: EstimateWitnesses, clock: Clock = UNLIMITED) -> "Existence":
        """Return the certificate that follows from witnesses; raise CertificateError if they prove nothing."""
        claims = conclude(likelihood, witnesses, clock)
        names = coefficients_of(likelihood)
        named = None if claims.diverging is None else {names[place]: sign for place, sign in claims.diverging.items()}
        about, sha256 = likelihood.about(), likelihood.sha256
        return cls(claims.estimate, names, named, claims.separated_rows, about, sha256, witnesses, likelihood)

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
        return None if self.separated is None else given_positions(self.separated, self.n_rows, self.omitted)

    @property
    def omitted(self) -> tuple[int, ...]:
        """The positions of given rows that are not in the design: they have missing values, or a model of another
        library dropped them."""
        return tuple(self.about["omitted"] or ())

    @property
    def family(self) -> str:
        return str(self.about["family"])

    @property
    def response(self) -> tuple[str, list[str]]:
        """The left side of the formula, and the columns it names."""
        from novikoff.prove.existence.formulas import FormulaParts, response_columns

        formula = self.about["formula"]
        left = "y" if formula is None else FormulaParts.of(formula["text"]).left
        return left, response_columns(left) or [left]

    @property
    def n_rows(self) -> int:
        return int(self.about["rows"])

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

        claimed = self._well_formed()
        formula = claimed.about["formula"]
        if formula is not None and data is None and hasattr(model, "columns"):
            options = {**formula["options"], **options, "is_from_file": True}
            model, data = formula["text"], model
        claimed.check_likelihood(likelihood_of(model, data, **{"family": claimed.family, **options}))

    def _well_formed(self) -> "Existence":
        """Return the certificate as parsed from its own file: objects made in Python are not trusted, either."""
        try:
            text = self.to_json()
        except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
            raise CertificateError(f"the certificate is malformed: {error}") from None
        again = Existence.from_json(text)
        claim(again.coefficients == self.coefficients, "coefficients", "they have other names than the columns")
        return again

    def check_likelihood(self, likelihood: Likelihood) -> None:
        """Like `check`, for a likelihood already made from the data."""
        about = likelihood.about()
        for name in ("formula", *about):
            said, value = self.about.get(name), about[name]
            if not _same(said, value):
                raise CertificateError(f"the certificate is about {name} = {said!r:.200}, and these are {value!r:.200}")
        claim(self.sha256 == likelihood.sha256, "data", "the data differ from those certified")
        derived = Existence.of(likelihood, self.witnesses)
        for name in ("estimate", "coefficients", "separated", "diverging"):
            said, found = getattr(self, name), getattr(derived, name)
            shown = [value.value if isinstance(value, Estimate) else value for value in (said, found)]
            claim(_same(said, found), name, f"it says {shown[0]!r:.200}, and {shown[1]!r:.200} follows")

    def to_json(self) -> str:
        """Return the claims with their proof; see `docs/certificates.md`."""
        return written(KIND, **to_dict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> "Existence":
        """Parse what `to_json` wrote, without checking the proof; raise `CertificateError` for anything else."""
        return read(read_proof(text, KIND))


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of the same type, at every depth: 1, 1.0 and true differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other


KIND = "existence"


def to_dict(found: Existence) -> dict[str, Any]:
    """Return the parts of a certificate as JSON values; omit those without a value."""
    claims: dict[str, Any] = {"estimate": found.estimate.value}
    if found.separated is not None and found.diverging is not None:
        places = {name: place for place, name in enumerate(found.coefficients)}
        claims["separated_rows"] = list(found.separated)
        claims["diverging"] = [[places[name], sign] for name, sign in found.diverging.items()]
    data = {name: value for name, value in found.about.items() if value is not None}
    return {"data": {**data, "sha256": found.sha256}, "claims": claims, "witnesses": written_part(found.witnesses)}


# -- reading ----------------------------------------------------------------------------------------------------------


def read(fields: ProofFields) -> Existence:
    """Return the certificate in these fields; raise CertificateError if there are others."""
    data, claims, witnesses = (fields.part(name) for name in ("data", "claims", "witnesses"))
    fields.close()
    about, sha256 = _read_about(data)
    names = names_of(about["family"], tuple(about["columns"]), about["classes"])
    try:
        check_different(names)
    except ValueError as error:
        raise CertificateError(f"this is not a certificate: {error}") from None
    estimate = Estimate(claims.choice("estimate", tuple(value.value for value in Estimate)))
    rows = diverging = None
    if "separated_rows" in claims or "diverging" in claims:
        rows = claims.rows("separated_rows")
        pairs = claims.each("diverging", lambda value, name: _read_pair(claims, value, name, len(names)))
        diverging = {names[place]: sign for place, sign in pairs}
        if [place for place, _ in pairs] != sorted({place for place, _ in pairs}):
            claims.fail("has coefficients in diverging that do not ascend")
    claims.close()
    return Existence(estimate, names, diverging, rows, about, sha256, read_part(witnesses, EstimateWitnesses))


def _read_about(data: ProofFields) -> tuple[dict[str, Any], str]:
    family = data.choice("family", tuple(NUMBERS))
    about: dict[str, Any] = {
        "family": family,
        "rows": data.whole("rows", most=10**9),
        "columns": list(data.each("columns", data.as_text)),
        "classes": list(data.each("classes", partial(read_value, data, kind=Label))) if "classes" in data else None,
        "ties": data.choice("ties", TIES) if "ties" in data else None,
        "effects": [list(e) for e in data.each("effects", partial(read_value, data, kind=tuple[str, int, int]))],
        "numbers": list(data.each("numbers", data.as_text)),
        "formula": _read_formula(data.part("formula")) if "formula" in data else None,
        "omitted": list(data.rows("omitted")) if "omitted" in data else None,
    }
    omitted = about["omitted"]
    if omitted is not None and (not omitted or omitted != sorted({*omitted})):
        data.fail("has omitted rows that do not ascend")
    if omitted is not None and omitted[-1] >= about["rows"] + len(omitted):
        data.fail("has omitted rows beyond the last")
    if family in ("multinomial", "ordinal") and not about["classes"]:
        data.fail("has no classes")
    sha256 = data.text("sha256", longest=64)
    data.close()
    return about, sha256


def _read_formula(formula: ProofFields) -> dict[str, Any]:
    text, part = formula.text("text"), formula.part("options")
    formula.close()
    options: dict[str, Any] = {name: part.text(name) for name in COLUMNS if part.present(name)}
    options |= {"ties": part.choice("ties", TIES)} if part.present("ties") else {}
    for name in ("reference", "success"):
        if part.present(name):
            options[name] = read_value(part, part.value(name), name, Label)
    options |= {"fit_intercept": part.flag("fit_intercept")} if part.present("fit_intercept") else {}
    part.close()
    # In the order of the file: the fingerprint does not depend on it, but the comparison does.
    return {"text": text, "options": {name: options[name] for name in part.content}}


def _read_pair(claims: ProofFields, value: Any, name: str, size: int) -> tuple[int, str]:
    if type(value) is not list or len(value) != 2 or value[1] not in SIGNS:
        claims.fail(f"has {name} = {value!r:.60}, which is not a coefficient with a valid status")
    return claims.as_whole(value[0], name, most=size - 1), value[1]
