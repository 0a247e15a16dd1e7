"""Write certificates of separation as JSON, and read them strictly.

Reading tests only the form; `check` tests whether the claims are true.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from novikoff.prove.exact.codec import Label, read_part, read_value, written_part
from novikoff.prove.exact.document import CertificateError, ProofFields, integers, read_proof, written
from novikoff.prove.existence import certificate as existence_files
from novikoff.prove.separable.certificate import Bracket, Certificate, Obstruction, Support, Witnesses
from novikoff.prove.separable.kernels import FORMS, ExactKernel
from novikoff.prove.separable.question import Problem, Verdict
from novikoff.prove.separable.subject import Table, same

KIND = "separation"
ARITHMETICS = ("exact", "balls", "float64")


# -- writing ----------------------------------------------------------------------------------------------------------


def to_json(certificate: Certificate) -> str:
    """A certificate as JSON."""
    return written(KIND, **to_dict(certificate))


def to_dict(certificate: Certificate) -> dict[str, Any]:
    """The parts of a certificate as values of JSON; fields without a value are omitted."""
    c = certificate
    return {
        "data": _filled({**c.data, "sha256": c.data_hash}),
        "question": _filled(c.question),
        "claims": _claims(c),
        "witnesses": _witnesses(c.witnesses, c.verdict),
        **({} if c.estimates is None else {"estimates": existence_files.to_dict(c.estimates)}),
    }


def _claims(c: Certificate) -> dict[str, Any]:
    lower, upper = c.margin
    known = absent_margin(c.verdict)
    has_separator = c.witnesses.vector is not None or c.witnesses.coefficients is not None
    claims = {
        "verdict": c.verdict.value,
        "arithmetic": c.arithmetic,
        "margin_at_least": None if lower == known.lower and not has_separator else lower,
        "margin_at_most": None if upper == known.upper else upper,
        "geometric_margin": c.geometric_margin or None,
        "mistake_bound": None if c.mistake_bound is None else integers([c.mistake_bound])[0],
    }
    return {**_filled(claims), "radius": None if math.isinf(c.radius) else c.radius}


def absent_margin(verdict: Verdict) -> Bracket:
    """The bracket where no margin is claimed: 0 if nothing separates, else unknown."""
    return Bracket(0.0, math.inf if verdict in (Verdict.SEPARABLE, Verdict.UNDECIDED) else 0.0)


VECTORS = ("vector", "coefficients", "weak_separator")


def _witnesses(found: Witnesses, verdict: Verdict) -> dict[str, Any]:
    parts = written_part(replace(found, spans=False))
    if found.obstruction is not None:
        parts["obstruction"]["spans"] = verdict is Verdict.OVERLAPPING
    return parts


def _filled(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if value is not None}


# -- reading ----------------------------------------------------------------------------------------------------------


def from_json(text: str | bytes) -> Certificate:
    """The certificate in a JSON text; raises `CertificateError` if it is malformed."""
    fields = read_proof(text, KIND)
    data, question = fields.part("data"), fields.part("question")
    claims, witnesses = fields.part("claims"), fields.part("witnesses")
    verdict = Verdict(claims.choice("verdict", tuple(verdict.value for verdict in Verdict)))
    certificate = Certificate(
        verdict=verdict,
        witnesses=_read_witnesses(witnesses, verdict),
        **_read_data(data),
        **_read_question(question),
        **_read_claims(claims, verdict),
        estimates=_optional(fields, "estimates", lambda part, name: existence_files.read(fields.inside(part, name))),
    )
    for part in (fields, data, question, claims, witnesses):
        part.close()
    for name in ("margin_at_least", "margin_at_most", "geometric_margin"):
        if claims.has(name) != (name in _claims(certificate)):
            claims.fail(f"has {name} though it says nothing, or lacks it")
    return certificate


def _read_data(data: ProofFields) -> dict[str, Any]:
    return {
        "n_rows": data.whole("rows", least=1),
        "n_columns": data.whole("columns"),
        "classes": data.each("classes", partial(read_value, data, kind=Label)),
        "feature_names": _optional(data, "feature_names", lambda _, name: data.texts(name)),
        "table": _optional(data, "table", lambda table, name: _read_table(data.inside(table, name))),
        "data_hash": data.text("sha256", longest=64),
    }


def _read_table(table: ProofFields) -> Table:
    from novikoff.features.encode import Encoding

    label = table.value("label")
    plain = table.value("encoding")
    table.close()
    try:
        encoding = Encoding.from_dict(plain)
    except ValueError as error:
        raise CertificateError(f"{table.name} has a wrong encoding: {error}") from None
    if not same(encoding.to_dict(), plain):
        raise CertificateError(f"{table.name} has an encoding that is not in canonical form")
    return Table(None if label is None else table.as_text(label, "label"), encoding)


def _read_question(question: ProofFields) -> dict[str, Any]:
    problem = Problem(question.choice("problem", tuple(each.value for each in Problem)))
    kernel = _read_kernel(question.part("kernel")) if problem is Problem.KERNEL else None
    return {"problem": problem, "fit_intercept": question.flag("fit_intercept"), "kernel": kernel}


def _read_kernel(part: ProofFields) -> ExactKernel:
    form = part.choice("form", FORMS)
    gamma, coef0 = (_optional(part, name, part.as_number) for name in ("gamma", "coef0"))
    degree = _optional(part, "degree", part.as_whole)
    part.close()
    try:
        return ExactKernel.of(form, gamma=gamma, degree=degree, coef0=coef0)
    except ValueError as error:
        raise CertificateError(f"{part.name} is wrong: {error}") from None


def _read_claims(claims: ProofFields, verdict: Verdict) -> dict[str, Any]:
    known, radius = absent_margin(verdict), claims.value("radius")
    at_least_0 = partial(claims.as_number, least=0.0)
    return {
        "arithmetic": claims.choice("arithmetic", ARITHMETICS),
        "radius": math.inf if radius is None else at_least_0(radius, "radius"),
        "margin": Bracket(
            _optional(claims, "margin_at_least", at_least_0, known.lower),
            _optional(claims, "margin_at_most", at_least_0, known.upper),
        ),
        "geometric_margin": _optional(claims, "geometric_margin", at_least_0, 0.0),
        "mistake_bound": _optional(claims, "mistake_bound", partial(claims.as_integer, least=0)),
    }


def _read_witnesses(witnesses: ProofFields, verdict: Verdict) -> Witnesses:
    spans = verdict is Verdict.OVERLAPPING

    def read_obstruction(value: Any, name: str) -> Obstruction:
        part = witnesses.inside(value, name)
        if part.flag("spans") != spans:
            part.fail("spans all points exactly if the verdict is overlapping, and this one says otherwise")
        return read_part(part, Obstruction)

    def read_vector(_: Any, name: str) -> tuple[int, ...]:
        return witnesses.each(name, witnesses.as_integer)

    return Witnesses(
        **{name: _optional(witnesses, name, read_vector) for name in VECTORS},
        support=_optional(witnesses, "support", lambda part, name: read_part(witnesses.inside(part, name), Support)),
        obstruction=_optional(witnesses, "obstruction", read_obstruction),
        spans=spans,
    )


def _optional(part: ProofFields, name: str, read: Callable[[Any, str], Any], otherwise: Any = None) -> Any:
    """A field that may be absent; null is not allowed for an absent one."""
    if not part.present(name):
        return otherwise
    value = part.value(name)
    if value is None:
        part.fail(f"has {name} = null; what has no value is left out")
    return read(value, name)
