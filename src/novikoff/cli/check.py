"""`novikoff check`: prove a saved certificate again, from the data."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import options
from novikoff.cli.options import Output

if TYPE_CHECKING:
    from novikoff.prove.programs.check import ProgramCertificate
    from novikoff.prove.separable.certificate import Certificate


@click.command()
@click.argument("certificate", type=click.Path(), metavar="CERT")
@click.argument("file", type=options.FILE)
@options.file_format
@options.answering
def check(certificate: str, file: str, format: str | None, output: Output) -> None:
    """Prove every claim of the certificate CERT again, from the table or the linear program FILE.

    CERT is what `novikoff certify --out` or `novikoff lp --out` wrote, or a model that `novikoff fit` certified. The
    check shares nothing with the search that found the proof. A proof is about certain columns, labels and classes:
    they are shown, so that you can see whether it answers your question. The exit code is 0 if every claim holds, and 1
    if one fails or the file is another.
    """
    from novikoff.cli.render import answer
    from novikoff.keep.certificates import read_certificate
    from novikoff.prove.programs.check import ProgramCertificate
    from novikoff.prove.separable.certificate import Certificate

    claimed = read_certificate(Path(certificate))
    if isinstance(claimed, ProgramCertificate):
        document = check_program(claimed, file, format)
        answer(output, document, lambda: program_panel(document, claimed, certificate))
    elif isinstance(claimed, Certificate):
        document = check_table(claimed, file, format, output)
        answer(output, document, lambda: panel(document, claimed, certificate))
    else:
        raise ValueError(
            f"{certificate} is about no file that this command reads; in Python "
            "novikoff.prove.certificates.read_certificate(text).check(...) takes the arrays that it is about"
        )


def check_program(claimed: "ProgramCertificate", file: str, format: str | None) -> dict[str, Any]:
    """Check what is claimed of a linear program, and say what that is."""
    from novikoff.cli import documents
    from novikoff.data.programs import read_program
    from novikoff.prove.exact.floats import nearest_float

    if format is not None:
        raise ValueError("--format is for tables; the certificate is about a linear program")
    program = read_program(file)
    claimed.check(**program.arguments)
    value = claimed.value
    return documents.document(
        "check",
        file=file,
        holds=True,
        data=claimed.about._asdict(),
        certificate={
            "status": claimed.claim,
            "meaning": program.restated(claimed.meaning),
            "arithmetic": claimed.arithmetic,
            "violation": claimed.violation,
            "objective": None if value is None else program.objective(nearest_float(value)),
        },
    )


def check_table(claimed: "Certificate", file: str, format: str | None, output: Output) -> dict[str, Any]:
    """Check what is claimed of a table, and say what that is."""
    from novikoff.cli import documents
    from novikoff.cli.progress import progress
    from novikoff.data.reading import read

    label = None if claimed.table is None else claimed.table.label
    types = None if claimed.table is None else claimed.table.encoding.types_as_given
    reader = read(file, label=label, format=format, types=types)
    with progress(output.quiet) as bar:
        claimed.check(bar.over(reader, "checking", claimed.n_rows))
    return documents.document(
        "check",
        file=file,
        rows=claimed.n_rows,
        holds=True,
        data=described_subject(claimed),
        certificate=documents.described_certificate(claimed),
    )


def described_subject(claimed: "Certificate") -> dict[str, Any]:
    """What the certificate is about, as far as a person must know it to believe it."""
    notes = () if claimed.table is None else claimed.table.encoding.describe()
    return {
        "label": None if claimed.table is None else claimed.table.label,
        "classes": list(claimed.classes),
        "columns": [{"name": note.column, "kind": note.kind, "detail": note.detail} for note in notes],
        "features": claimed.n_columns,
        "sha256": claimed.data_hash,
    }


def panel(document: dict[str, Any], claimed: "Certificate", file: str) -> Any:
    """That every claim holds, what they are, and what they are about."""
    from novikoff.cli import wording
    from novikoff.cli.render import columns, facts, listed

    data = document["data"]
    encoded = [(column["name"], column["kind"], column["detail"]) for column in data["columns"]]
    used = sum(column["kind"] != "ignored" for column in data["columns"])
    of = f" from {used} of {len(encoded)} columns" if encoded else ""
    return facts(
        f"novikoff check {file}",
        [
            ("data", f"{document['file']}: {document['rows']:,} rows, the same as those certified"),
            ("labels", wording.labels_told_apart(data)),
            ("features", f"{data['features']:,}{of}"),
            ("columns", columns(("", "", ""), encoded, left=3) if encoded else None),
            ("question", claimed.problem.question(claimed.fit_intercept)),
            ("verdict", wording.verdict(claimed)),
            ("margin", wording.margin(claimed)),
            ("bound", claimed.promise),
            ("regression", claimed.diverging_in_words),
            ("fingerprint", f"SHA-256 {listed([data['sha256'][:16] + '...'])}"),
            ("checked", "every claim holds; it was proved again from the data"),
        ],
    )


def program_panel(document: dict[str, Any], claimed: "ProgramCertificate", file: str) -> Any:
    """That the claim holds, what it is, and of which program."""
    from novikoff.cli.render import facts

    found, data = document["certificate"], document["data"]
    return facts(
        f"novikoff check {file}",
        [
            ("data", f"{document['file']}: {claimed.about.size}, the same program as the one certified"),
            ("outcome", f"{found['status']} ({found['arithmetic']}): {found['meaning']}"),
            ("objective", None if found["objective"] is None else f"{found['objective']:.12g}"),
            ("fingerprint", f"SHA-256 {data['sha256'][:16]}..."),
            ("checked", "the claim holds; it was proved again from the program"),
        ],
    )
