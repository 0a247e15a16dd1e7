"""Certificate files: a certificate, and how the table that it speaks of becomes numbers."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from novikoff.prove.certificate import Certificate
from novikoff.prove.document import CertificateError

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

FORMAT = "novikoff certificate of a table, version 1"


@dataclass(frozen=True)
class TableCertificate:
    """A certificate with the column of labels and the encoding; both None for svmlight text."""

    certificate: Certificate
    label: str | None
    encoding: "Encoding | None"


def to_json(certificate: Certificate, label: str | None, encoding: "Encoding | None") -> str:
    """A certificate file."""
    parts = {
        "format": FORMAT,
        "label": label,
        "encoding": None if encoding is None else encoding.to_dict(),
        "certificate": json.loads(certificate.to_json()),
    }
    return json.dumps(parts) + "\n"


def read_certificate(path: Path) -> TableCertificate:
    """The certificate in a file that `novikoff certify --out` wrote."""
    from novikoff.features.encode import Encoding

    try:
        parts = json.loads(path.read_bytes())
        if parts["format"] != FORMAT:
            raise CertificateError(f"{path} has another format than {FORMAT!r}; a newer version may have written it")
        encoding = None if parts["encoding"] is None else Encoding.from_dict(parts["encoding"])
        return TableCertificate(Certificate.from_json(json.dumps(parts["certificate"])), parts["label"], encoding)
    except CertificateError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise CertificateError(
            f"{path} is no certificate, or is cut off ({error}); make it with novikoff certify --out"
        ) from error
