"""The format of proofs: strict JSON, whole numbers of any length as decimal text, fractions as pairs of them.

Every kind of proof has the same outer form: an object with `format`, `kind`, `claims`, `witnesses`, and the data that
the claims are about. `docs/certificates.md` specifies each; this file only reads and writes.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novikoff.data.strict_json import Fields, JSONError, parse
from novikoff.prove.exact.algebra import decimal, from_decimal, quotient

FORMAT = 2

# Longer numbers are rejected: proofs found in practice have none, and arithmetic on them takes hours.
MOST_DIGITS = 1_000_000

_WHOLE = re.compile(r"0|-?[1-9][0-9]*")


class CertificateError(ValueError):
    """A claim of a certificate is not true of the data, or the certificate is malformed."""


class ProofFields(Fields):
    """A JSON object of a proof, with readers for exact numbers."""

    def as_integer(self, value: Any, name: str, least: int | None = None) -> int:
        """A whole number of any length, from canonical decimal text."""
        if type(value) is not str or len(value) > MOST_DIGITS or not _WHOLE.fullmatch(value):
            self.fail(f"has {name} = {value!r:.60}, which is not a whole number in decimal text")
        whole = from_decimal(value)
        if least is not None and whole < least:
            self.fail(f"has {name} = {value:.60}, which is less than {least}")
        return whole

    def positive(self, value: Any, name: str) -> int:
        return self.as_integer(value, name, least=1)

    def fraction(self, value: Any, name: str) -> Fraction:
        """A fraction in lowest terms: `["3", "4"]`, the second number positive."""
        if type(value) is not list or len(value) != 2:
            self.fail(f"has {name} = {value!r:.60}, which is not a fraction [numerator, denominator]")
        above, below = self.as_integer(value[0], name), self.as_integer(value[1], name, least=1)
        fraction = quotient(above, below)
        if fraction.denominator != below:
            self.fail(f"has {name} = {value!r:.60}, which is not in lowest terms")
        return fraction


def read_proof(text: str | bytes, *kinds: str) -> ProofFields:
    """The fields of a proof of one of these kinds; raises `CertificateError` for anything else."""
    try:
        content = parse(text)
    except JSONError as error:
        raise CertificateError(f"this is not a certificate: {error}") from None
    fields = ProofFields(content, "the certificate", CertificateError)
    found = fields.value("format")
    if type(found) is not int or found != FORMAT:
        older = " Format 1 cannot be checked in full; certify the data again." if found == 1 else ""
        raise CertificateError(f"the certificate has the format {found!r:.60}; this version reads {FORMAT}.{older}")
    fields.choice("kind", kinds)
    return fields


def written(kind: str, **parts: Any) -> str:
    """A proof as JSON."""
    return json.dumps({"format": FORMAT, "kind": kind, **parts}, allow_nan=False)


def canonical(value: Any) -> str:
    """Canonical JSON: keys sorted, no spaces, ASCII.

    >>> canonical({"b": [1, 1.0, True], "a": "é"})
    '{"a":"\\\\u00e9","b":[1,1.0,true]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def fraction_pair(value: Fraction) -> list[str]:
    return [decimal(value.numerator), decimal(value.denominator)]


def claim(holds: bool, name: str, why: str) -> None:
    """Raise `CertificateError` if a claim does not hold."""
    if not holds:
        raise CertificateError(f"the claim {name} is not true of these data: {why}")


# -- the fingerprint of numbers ---------------------------------------------------------------------------------------


def numbers_sha256(
    kind: str, shape: Iterable[int], arrays: Iterable[ArrayLike], labels: Sequence[Any] | None = None
) -> str:
    """The SHA-256 of the line `novikoff KIND SHAPE...`, the arrays in float64, and any labels in JSON.

    >>> numbers_sha256("inequalities", (1, 2), [[[1.0, -0.0]]])[:16]
    '6a4ef33655992bf6'
    >>> import struct
    >>> hashlib.sha256(b"novikoff inequalities 1 2\\n" + struct.pack("<2d", 1.0, 0.0)).hexdigest()[:16]
    '6a4ef33655992bf6'
    """
    digest = hashlib.sha256(f"novikoff {kind} {' '.join(map(str, shape))}\n".encode("ascii"))
    for array in arrays:
        numbers = np.asarray(array, dtype=np.float64) + 0.0  # -0.0 is 0.0
        digest.update(np.ascontiguousarray(numbers, dtype="<f8").tobytes())
    if labels is not None:
        digest.update(canonical(list(labels)).encode())
    return digest.hexdigest()
