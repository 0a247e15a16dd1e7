"""Certificates in files: one of its own, or inside a model file."""

from pathlib import Path

from novikoff.keep.layout import read_header
from novikoff.prove.exact.document import CertificateError
from novikoff.prove.separable.certificate import Certificate

# What no certificate file can begin with, and every model file does: the length of its header, in 8 bytes.
JSON_BEGINS = b" \t\r\n{"


def read_certificate(path: Path) -> Certificate:
    """The certificate in a file that `novikoff certify --out` or `novikoff fit` wrote. It is not yet checked."""
    try:
        return Certificate.from_json(certificate_text(path))
    except CertificateError as error:
        raise CertificateError(
            f"{path} is no certificate, or is cut off ({error}); make it with novikoff certify --out"
        ) from None


def certificate_text(path: Path) -> str | bytes:
    """The JSON text of the certificate in a file."""
    with path.open("rb") as file:
        beginning = file.read(1)
    if not beginning or beginning in JSON_BEGINS:
        return path.read_bytes()
    text = read_header(path).get("certificate")
    if text is None:
        raise CertificateError("the model has none")
    return str(text)
