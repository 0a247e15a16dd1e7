"""`novikoff inspect`: what is in a model file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents, options
from novikoff.cli.options import Result, Rows
from novikoff.cli.render import encoded_columns, listed, rows_of_run
from novikoff.options import Whole

if TYPE_CHECKING:
    from novikoff.learn.run import Run
    from novikoff.prove.separable.certificate import Certificate


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "--weights",
    "most",
    type=options.OfKind(Whole(none="all")),
    default=20,
    show_default=True,
    metavar="N|none",
    help="Show this many of the largest weights.",
)
@options.answering
def inspect(model: str, most: int | None) -> Result:
    """Show what is in the model file MODEL: weights by name, the record of the run, the proof, and where it is from.

    A model file holds no code: to look into it is safe.
    """
    from novikoff.keep.layout import read_header
    from novikoff.keep.models import load_plain

    header = read_header(model)
    loaded = load_plain(model)
    certificate, problem = _claimed(header.get("certificate"))
    run = getattr(loaded, "record", None) or getattr(loaded, "run", None)
    document = documents.document(
        "inspect",
        model=model,
        bytes=Path(model).stat().st_size,
        learner=header["learner"],
        written_by=header["novikoff"],
        format=header["format"],
        sha256=header["sha256"],
        parameters=header.get("parameters", {}),
        classes=getattr(loaded, "classes", getattr(loaded, "labels", None)),
        columns=documents.described_columns(getattr(loaded, "encoding", None)),
        run=None if run is None else documents.described_run(run),
        weights=documents.described_weights(loaded, most),
        kernel=documents.described_kernel(loaded),
        certificate=documents.described_certificate(certificate),
        certificate_is_checked=False,
        certificate_problem=problem,
        training_data=header.get("fingerprint"),
        **documents.described_model(loaded),
    )
    return Result(document, model, lambda: rows_of(document, run, certificate))


def _claimed(text: Any) -> "tuple[Certificate | None, str | None]":
    """Return the certificate in a model file, or why it is none: a file is not trusted without the data."""
    from novikoff.prove.exact.document import CertificateError
    from novikoff.prove.separable.certificate import Certificate

    try:
        return (None if text is None else Certificate.from_json(str(text))), None
    except CertificateError as error:
        return None, str(error)


def rows_of(document: dict[str, Any], run: "Run | None", certificate: "Certificate | None") -> Rows:
    """Show the parts of a model file that matter to a reader."""
    classes = document["classes"]
    parameters = [f"{name}={json.dumps(value)}" for name, value in document["parameters"].items()]
    claims = None if (problem := document["certificate_problem"]) is None else f"unproved: {problem}"
    if certificate is not None:
        claims = f"claims {certificate.verdict.value}; verify it with novikoff check {document['model']} FILE"
    return [
        ("model", f"{document['learner']}, written by novikoff {document['written_by']}"),
        ("parameters", ", ".join(parameters) or None),
        ("classes", listed(classes, 24) if classes else None),
        ("columns", encoded_columns(document["columns"])),
        *([] if run is None else rows_of_run(document, run, classes or ())),
        ("certificate", claims),
        ("data", None if document["training_data"] is None else f"SHA-256 {document['training_data'][:16]}..."),
    ]
