"""`novikoff check`: prove a saved certificate again, from the data."""

from pathlib import Path
from typing import Any

import click

from novikoff.cli import options
from novikoff.cli.options import Output


@click.command()
@click.argument("certificate", type=click.Path(), metavar="CERT")
@click.argument("file", type=options.FILE)
@options.file_format
@options.answering
def check(certificate: str, file: str, format: str | None, output: Output) -> None:
    """Prove every claim of the certificate CERT again, from the table FILE.

    CERT is what `novikoff certify --out` wrote. The check shares nothing with the solvers that found the proof. The
    exit code is 0 if every claim holds, and 1 if one fails or the table is another.
    """
    from novikoff.cli import documents
    from novikoff.cli.certificates import read_certificate
    from novikoff.cli.progress import progress
    from novikoff.cli.render import answer
    from novikoff.data.reading import read

    saved = read_certificate(Path(certificate))
    types = None if saved.encoding is None else saved.encoding.types
    reader = read(file, label=saved.label, format=format, types=types)
    claims = saved.certificate
    with progress(output.quiet) as bar:
        claims.check(bar.over(reader, "checking", claims.n_rows), encoding=saved.encoding)
    said = documents.document(
        "check", file=file, rows=claims.n_rows, holds=True, certificate=documents.described_certificate(claims)
    )
    answer(output, said, lambda: panel(said, certificate))


def panel(said: dict[str, Any], certificate: str) -> Any:
    """That every claim holds, and what they are."""
    from novikoff.cli import sayings
    from novikoff.cli.render import facts

    found = said["certificate"]
    return facts(
        f"novikoff check {certificate}",
        [
            ("data", f"{said['file']}: {said['rows']:,} rows, the same as those certified"),
            ("verdict", sayings.verdict(found)),
            ("margin", sayings.margin(found)),
            ("bound", sayings.allowed(found)),
            ("checked", "every claim holds; it was proved again from the data"),
        ],
    )
