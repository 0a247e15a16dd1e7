"""Write certificates of separation as JSON, and read them strictly.

Reading tests only the form; `check` tests whether the claims are true.
"""

import math
from collections.abc import Mapping
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
    data = {
        "rows": c.n_rows,
        "columns": c.n_columns,
        "classes": list(c.classes),
        "feature_names": None if c.feature_names is None else list(c.feature_names),
        "table": None if c.table is None else c.table.to_dict(),
        "sha256": c.data_hash,
    }
    question = {
        "problem": c.problem.value,
        "fit_intercept": c.fit_intercept,
        "kernel": None if c.kernel is None else c.kernel.to_dict(),
    }
    return {
        "data": _filled(data),
        "question": _filled(question),
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
    found = _read_witnesses(witnesses, verdict)
    subject = {**_read_data(data), **_read_question(question)}
    claimed = _read_claims(claims, verdict)
    estimates = existence_files.read(fields.part("estimates")) if _present(fields, "estimates") else None
    for part in (fields, data, question, claims, witnesses):
        part.close()
    certificate = Certificate(verdict=verdict, **subject, **claimed, witnesses=found, estimates=estimates)
    for name in ("margin_at_least", "margin_at_most", "geometric_margin"):
        if claims.has(name) != (name in _claims(certificate)):
            claims.fail(f"has {name} though it says nothing, or lacks it")
    return certificate


def _read_data(data: ProofFields) -> dict[str, Any]:
    names = data.each("feature_names", data.as_text) if _present(data, "feature_names") else None
    return {
        "n_rows": data.whole("rows", least=1),
        "n_columns": data.whole("columns"),
        "classes": data.each("classes", partial(read_value, data, kind=Label)),
        "feature_names": names,
        "table": _read_table(data.part("table")) if _present(data, "table") else None,
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
    kernel = None
    if problem is Problem.KERNEL:
        part = question.part("kernel")
        form = part.choice("form", FORMS)
        numbers: dict[str, Any] = {name: part.number(name) for name in ("gamma", "coef0") if _present(part, name)}
        if _present(part, "degree"):
            numbers["degree"] = part.whole("degree", least=1)
        part.close()
        try:
            kernel = ExactKernel.of(form, **numbers)
        except ValueError as error:
            raise CertificateError(f"{part.name} is wrong: {error}") from None
    return {"problem": problem, "fit_intercept": question.flag("fit_intercept"), "kernel": kernel}


def _read_claims(claims: ProofFields, verdict: Verdict) -> dict[str, Any]:
    known = absent_margin(verdict)
    radius = claims.value("radius")
    return {
        "arithmetic": claims.choice("arithmetic", ARITHMETICS),
        "radius": math.inf if radius is None else claims.as_number(radius, "radius", least=0.0),
        "margin": Bracket(
            claims.number("margin_at_least", least=0.0) if _present(claims, "margin_at_least") else known.lower,
            claims.number("margin_at_most", least=0.0) if _present(claims, "margin_at_most") else known.upper,
        ),
        "geometric_margin": claims.number("geometric_margin", 0.0) if _present(claims, "geometric_margin") else 0.0,
        "mistake_bound": claims.integer("mistake_bound", least=0) if _present(claims, "mistake_bound") else None,
    }


def _read_witnesses(witnesses: ProofFields, verdict: Verdict) -> Witnesses:
    found: dict[str, Any] = {
        name: witnesses.each(name, witnesses.as_integer) for name in VECTORS if _present(witnesses, name)
    }
    if _present(witnesses, "support"):
        found["support"] = read_part(witnesses.part("support"), Support)
    if _present(witnesses, "obstruction"):
        part = witnesses.part("obstruction")
        if part.flag("spans") != (verdict is Verdict.OVERLAPPING):
            part.fail("spans all points exactly if the verdict is overlapping, and this one says otherwise")
        found["obstruction"] = read_part(part, Obstruction)
    return Witnesses(**found, spans=verdict is Verdict.OVERLAPPING)


def _present(part: ProofFields, name: str) -> bool:
    """Whether the field is present; null is not allowed for an absent one."""
    if not part.has(name) and name in part:
        part.fail(f"has {name} = null; what has no value is left out")
    return part.has(name)
