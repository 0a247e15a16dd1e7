"""Certificates in files: one of its own, or inside a model file."""

from pathlib import Path

from novikoff.keep.layout import LENGTH, read_header
from novikoff.prove.certificates import AnyCertificate
from novikoff.prove.certificates import read_certificate as read_text
from novikoff.prove.exact.document import CertificateError

# A model file begins with the length of its header, in 8 bytes, of which the highest are 0: no JSON text has these.
NO_TEXT, JSON_BEGINS = b"\0", b" \t\r\n{"


def read_certificate(path: Path) -> AnyCertificate:
    """The certificate in a file of its own, which `--out` of some commands writes, or in a model. It is not checked."""
    try:
        return read_text(certificate_text(path))
    except CertificateError as error:
        raise CertificateError(
            f"{path} is not a certificate, or is truncated ({error}); novikoff certify --out makes one"
        ) from None


def certificate_text(path: Path) -> str | bytes:
    """The JSON text of the certificate in a file."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; name the certificate or the model in it")
    with path.open("rb") as file:
        beginning = file.read(LENGTH.size)
    if not beginning or (beginning[0] in JSON_BEGINS and NO_TEXT not in beginning):
        return path.read_bytes()
    text = read_header(path).get("certificate")
    if text is None:
        raise CertificateError("the model has none; novikoff fit puts one in unless --no-certify says otherwise")
    return str(text)
