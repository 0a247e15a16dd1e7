"""`novikoff inspect`: what is in a model file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents, options
from novikoff.cli.options import Output, Result
from novikoff.options import Whole

if TYPE_CHECKING:
    from novikoff.learn.run import Run
    from novikoff.prove.separable.certificate import Certificate


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "--weights",
    type=options.OfKind(Whole(none="all")),
    default=20,
    show_default=True,
    metavar="N|none",
    help="Show this many of the largest weights.",
)
@options.answering
def inspect(model: str, weights: int | None, output: Output) -> Result:
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
        parameters=header["parameters"],
        classes=getattr(loaded, "classes", getattr(loaded, "labels", None)),
        columns=documents.described_columns(getattr(loaded, "encoding", None)),
        run=None if run is None else documents.described_run(run),
        weights=documents.described_weights(loaded, weights),
        kernel=documents.described_kernel(loaded),
        certificate=documents.described_certificate(certificate),
        certificate_is_checked=False,
        certificate_problem=problem,
        training_data=header.get("fingerprint"),
        **documents.described_class_weights(loaded),
        **documents.described_review(loaded),
    )
    return Result(document, lambda: panel(document, run, certificate))


def _claimed(text: Any) -> "tuple[Certificate | None, str | None]":
    """Return the certificate in a model file, or why it is none: a file is not trusted without the data."""
    from novikoff.prove.exact.document import CertificateError
    from novikoff.prove.separable.certificate import Certificate

    try:
        return (None if text is None else Certificate.from_json(str(text))), None
    except CertificateError as error:
        return None, str(error)


def panel(document: dict[str, Any], run: "Run | None", certificate: "Certificate | None") -> Any:
    """Show the parts of a model file that matter to a reader."""
    from novikoff.cli import wording
    from novikoff.cli.render import columns, facts, in_words, listed
    from novikoff.say import runs as say
    from novikoff.say.certificates import weighted

    classes = document["classes"]
    parameters = [f"{name}={json.dumps(value)}" for name, value in document["parameters"].items()]
    encoded = [(column["name"], column["kind"], column["detail"]) for column in document["columns"]]
    claims = None if (problem := document["certificate_problem"]) is None else f"unproved: {problem}"
    if certificate is not None:
        claims = f"claims {certificate.verdict.value}; verify it with novikoff check {document['model']} FILE"
    made = f"{document['learner']}, written by novikoff {document['written_by']}"
    return facts(
        f"novikoff inspect {document['model']}",
        [
            ("model", made),
            ("parameters", ", ".join(parameters) or None),
            ("classes", listed(classes, 24) if classes else None),
            ("columns", columns(("", "", ""), encoded, left=3) if encoded else None),
            ("weights", wording.weights(document["weights"], run, classes) if run and document["weights"] else None),
            ("learned", document["kernel"] and document["kernel"]["in_words"]),
            ("ended", wording.ending(run) if run and run.stopped else None),
            ("mistakes", say.made(run) if run else None),
            ("scaled", say.scales(run) if run else None),
            ("lead", say.lead(run, bool(run.leads_tried)) if run else None),
            ("weighted", weighted(list(map(in_words, classes or ())), document.get("class_weights"), None)),
            ("validation", say.validated(run) if run else None),
            ("errors", say.wrong(run) if run else None),
            ("expected error", run.generalisation().in_words if run else None),
            ("review", document.get("review", {}).get("in_words")),
            ("bound", say.made_rule_out(run) if run else None),
            ("certificate", claims),
            ("data", None if document["training_data"] is None else f"SHA-256 {document['training_data'][:16]}..."),
        ],
    )
