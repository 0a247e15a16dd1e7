"""`novikoff check`: prove a saved certificate again, from the data."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import options
from novikoff.cli.options import Output

if TYPE_CHECKING:
    from novikoff.prove.separable.certificate import Certificate


@click.command()
@click.argument("certificate", type=click.Path(), metavar="CERT")
@click.argument("file", type=options.FILE)
@options.file_format
@options.answering
def check(certificate: str, file: str, format: str | None, output: Output) -> None:
    """Prove every claim of the certificate CERT again, from the table FILE.

    CERT is what `novikoff certify --out` wrote, or a model that `novikoff fit` certified. The check shares nothing with
    the search that found the proof. A proof is about certain columns, labels and classes: they are shown, so that you
    can see whether it answers your question. The exit code is 0 if every claim holds, and 1 if one fails or the table
    is another.
    """
    from novikoff.cli import documents
    from novikoff.cli.progress import progress
    from novikoff.cli.render import answer
    from novikoff.data.reading import read
    from novikoff.keep.certificates import read_certificate

    claimed = read_certificate(Path(certificate))
    label = None if claimed.table is None else claimed.table.label
    types = None if claimed.table is None else claimed.table.encoding.types
    reader = read(file, label=label, format=format, types=types)
    with progress(output.quiet) as bar:
        claimed.check(bar.over(reader, "checking", claimed.n_rows))
    document = documents.document(
        "check",
        file=file,
        rows=claimed.n_rows,
        holds=True,
        data=described_subject(claimed),
        certificate=documents.described_certificate(claimed),
    )
    answer(output, document, lambda: panel(document, certificate))


def described_subject(claimed: "Certificate") -> dict[str, Any]:
    """What the certificate speaks of, as far as a person must know it to believe it."""
    notes = () if claimed.table is None else claimed.table.encoding.describe()
    return {
        "label": None if claimed.table is None else claimed.table.label,
        "classes": list(claimed.classes),
        "columns": [{"name": note.column, "kind": note.kind, "detail": note.detail} for note in notes],
        "features": claimed.n_columns,
        "sha256": claimed.data_hash,
    }


def panel(document: dict[str, Any], certificate: str) -> Any:
    """That every claim holds, what they are, and what they are about."""
    from novikoff.cli import wording
    from novikoff.cli.render import columns, facts, listed

    found, data = document["certificate"], document["data"]
    encoded = [(column["name"], column["kind"], column["detail"]) for column in data["columns"]]
    used = sum(column["kind"] != "ignored" for column in data["columns"])
    of = f" from {used} of {len(encoded)} columns" if encoded else ""
    return facts(
        f"novikoff check {certificate}",
        [
            ("data", f"{document['file']}: {document['rows']:,} rows, the same as those certified"),
            ("labels", wording.labels_told_apart(data, found)),
            ("features", f"{data['features']:,}{of}"),
            ("columns", columns(("", "", ""), encoded, left=3) if encoded else None),
            ("question", wording.question(found)),
            ("verdict", wording.verdict(found)),
            ("margin", wording.margin(found)),
            ("bound", wording.allowed(found)),
            ("regression", wording.diverging(found)),
            ("fingerprint", f"SHA-256 {listed([data['sha256'][:16] + '...'])}"),
            ("checked", "every claim holds; it was proved again from the data"),
        ],
    )
