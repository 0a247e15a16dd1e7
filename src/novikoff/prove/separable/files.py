"""Write certificates of separation as JSON, and read them strictly.

Reading tests only the form; `check` tests whether the claims are true.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

from novikoff.prove.exact.codec import Label, Whole, read_part, written_part
from novikoff.prove.exact.document import CertificateError, ProofFields, read_proof, written
from novikoff.prove.exact.proof import same
from novikoff.prove.existence.certificate import Existence
from novikoff.prove.separable.certificate import Bracket, Certificate, Witnesses
from novikoff.prove.separable.kernels import ExactKernel
from novikoff.prove.separable.question import Problem, Verdict
from novikoff.prove.separable.subject import Table

KIND = "separation"


@dataclass(frozen=True)
class _Data:
    rows: int
    columns: int
    classes: tuple[Label, ...]
    sha256: str
    feature_names: tuple[str, ...] | None = None
    table: dict[str, Any] | None = None


@dataclass(frozen=True)
class _Question:
    problem: Problem
    fit_intercept: bool
    kernel: ExactKernel | None = None


@dataclass(frozen=True)
class _Claims:
    verdict: Verdict
    arithmetic: Literal["exact", "balls", "float64"]
    radius: float | None
    margin_at_least: float | None = None
    margin_at_most: float | None = None
    geometric_margin: float | None = None
    mistake_bound: Whole | None = None

    @classmethod
    def of(cls, c: Certificate) -> "_Claims":
        (lower, upper), known = c.margin, absent_margin(c.verdict)
        has_separator = c.witnesses.vector is not None or c.witnesses.coefficients is not None
        return cls(
            verdict=c.verdict,
            arithmetic=c.arithmetic,  # type: ignore[arg-type]
            radius=None if math.isinf(c.radius) else c.radius,
            margin_at_least=None if lower == known.lower and not has_separator else lower,
            margin_at_most=None if upper == known.upper else upper,
            geometric_margin=c.geometric_margin or None,
            mistake_bound=c.mistake_bound,
        )


def absent_margin(verdict: Verdict) -> Bracket:
    """The bracket where no margin is claimed: 0 if nothing separates, else unknown."""
    return Bracket(0.0, math.inf if verdict in (Verdict.SEPARABLE, Verdict.UNDECIDED) else 0.0)


def to_json(certificate: Certificate) -> str:
    """A certificate as JSON."""
    return written(KIND, **to_dict(certificate))


def to_dict(certificate: Certificate) -> dict[str, Any]:
    """The parts of a certificate as values of JSON; fields without a value are omitted."""
    c = certificate
    return {
        "data": {**{name: value for name, value in c.data.items() if value is not None}, "sha256": c.data_hash},
        "question": written_part(_Question(c.problem, c.fit_intercept, c.kernel)),
        "claims": written_part(_Claims.of(c)),
        "witnesses": written_part(c.witnesses),
        **({} if c.estimates is None else {"estimates": c.estimates.to_dict()}),
    }


def from_json(text: str | bytes) -> Certificate:
    """The certificate in a JSON text; raises `CertificateError` if it is malformed."""
    fields = read_proof(text, KIND)
    data, question = read_part(fields.part("data"), _Data), read_part(fields.part("question"), _Question)
    claims, witnesses = read_part(fields.part("claims"), _Claims), read_part(fields.part("witnesses"), Witnesses)
    estimates = Existence.read(fields.part("estimates")) if fields.present("estimates") else None
    fields.close()
    known = absent_margin(claims.verdict)
    certificate = Certificate(
        problem=question.problem,
        fit_intercept=question.fit_intercept,
        classes=data.classes,
        n_rows=data.rows,
        n_columns=data.columns,
        data_hash=data.sha256,
        feature_names=data.feature_names,
        table=None if data.table is None else _read_table(fields.part("data").part("table")),
        kernel=question.kernel,
        verdict=claims.verdict,
        arithmetic=claims.arithmetic,
        margin=Bracket(
            known.lower if claims.margin_at_least is None else claims.margin_at_least,
            known.upper if claims.margin_at_most is None else claims.margin_at_most,
        ),
        geometric_margin=claims.geometric_margin or 0.0,
        radius=math.inf if claims.radius is None else claims.radius,
        mistake_bound=claims.mistake_bound,
        witnesses=witnesses,
        estimates=estimates,
    )
    if _Claims.of(certificate) != claims or (question.kernel is None) is (question.problem is Problem.KERNEL):
        raise CertificateError("the certificate has a claim or a kernel that says nothing, or lacks one")
    return certificate


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
