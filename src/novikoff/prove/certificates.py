"""Read a certificate of any kind from its text.

Every kind has the same interface: `check` takes the data and raises `CertificateError` if a claim does not follow from
them, `to_json` writes the claims with their proofs, `from_json` reads them strictly.
"""

from collections.abc import Callable

from novikoff.prove.exact.document import read_proof
from novikoff.prove.existence.certificate import Existence
from novikoff.prove.expressivity.ball import Ball, NoBall, read_ball
from novikoff.prove.inequalities.check import Inequalities
from novikoff.prove.programs.check import ProgramCertificate
from novikoff.prove.separable.certificate import Certificate

AnyCertificate = Certificate | Existence | ProgramCertificate | Inequalities | Ball | NoBall

KINDS: dict[str, Callable[[str | bytes], AnyCertificate]] = {
    "separation": Certificate.from_json,
    "existence": Existence.from_json,
    "program": ProgramCertificate.from_json,
    "inequalities": Inequalities.from_json,
    "ball": read_ball,
}


def read_certificate(text: str | bytes) -> AnyCertificate:
    """Read what `to_json` of any certificate wrote; raises `CertificateError` for anything else. It is not yet checked.

    >>> from novikoff import solve_inequalities
    >>> read_certificate(solve_inequalities([[1, 0], [-1, 1]]).to_json()).outcome
    <Outcome.SOLVED: 'solved'>
    """
    return KINDS[read_proof(text, *KINDS).text("kind")](text)
