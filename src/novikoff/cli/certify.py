"""`novikoff certify`: is there a separator, with what margin, and why?"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import options
from novikoff.cli.options import Output

if TYPE_CHECKING:
    from novikoff.data.svmlight import ZeroBased
    from novikoff.prove.run.inseparable import FreundSchapireBound
    from novikoff.prove.separable.certificate import Certificate

CODES = {"separable": 0, "quasi-separable": 10, "overlapping": 11, "undecided": 12}


@click.command()
@click.argument("file", type=options.FILE)
@options.table
@click.option("--out", type=click.Path(), metavar="CERT", help="Where to write the certificate, for `novikoff check`.")
@options.report
@options.report_features
@options.force
@options.fit_intercept
@options.number("--tolerance", options.SHARE, "T", "The largest relative gap between the bounds of the margin.", 1e-6)
@options.time_limit("Seconds after which to give up as undecided.")
@click.option(
    "--diverging/--no-diverging",
    default=None,
    help="Whether to find the coefficients that logistic regression sends to infinity.  [default: where it is quick]",
)
@options.answering
def certify(
    file: str,
    label: str | None,
    categorical: tuple[str, ...],
    text: tuple[str, ...],
    ignore: tuple[str, ...],
    format: str | None,
    zero_based: "ZeroBased",
    out: str | None,
    report: str | None,
    report_features: tuple[str, str] | None,
    force: bool,
    fit_intercept: bool,
    tolerance: float,
    time_limit: float | None,
    diverging: bool | None,
    output: Output,
) -> int:
    """Is the table FILE linearly separable, with what margin, and why?

    The exit code is the verdict: 0 separable, 10 quasi-separable, 11 overlapping, 12 undecided.
    """
    from novikoff.cli import documents
    from novikoff.cli.outputs import check_free
    from novikoff.cli.progress import progress
    from novikoff.cli.render import answer
    from novikoff.cli.tables import encoding_of, open_labelled
    from novikoff.data.whole_file import WholeFile
    from novikoff.prove.run.search.freund_schapire import allowance
    from novikoff.prove.separable.in_blocks import exactly
    from novikoff.prove.separable.search.working_set import certify_examples
    from novikoff.show.report.writing import report_on

    target = None if out is None else check_free(out, force)
    page = options.report_path(report, report_features, force)
    reader = open_labelled(file, label, format, zero_based)
    wishes = {"categorical": categorical, "text": text, "ignore": ignore}
    with progress(output.quiet) as bar:
        encoding = encoding_of(bar.over(reader, "looking"), None, **wishes)
        with exactly(bar.over(reader, "reading", bar.done or None), encoding) as examples:
            bar.close()
            asked = {**wishes, "format": format}
            reported = report_on(page, examples, report_features, (file, reader.files, label), asked)
            questions: dict[str, Any] = {"tolerance": tolerance, "time_limit": time_limit, "diverging": diverging}
            with bar.during("proving"):
                certificate = certify_examples(examples, fit_intercept=fit_intercept, **questions)
            left = allowance(examples, certificate, fit_intercept=fit_intercept)
            if reported is not None:
                reported.on_certificate(certificate, target)
    if target is not None:
        with WholeFile(target) as file_out:
            file_out.write(certificate.to_json().encode() + b"\n")
    document = documents.document(
        "certify",
        data=documents.described_data(
            reader.files,
            label,
            encoding,
            (certificate.n_rows, certificate.n_columns),
            certificate.classes,
            examples.counts,
        ),
        certificate=documents.described_certificate(certificate),
        out=None if target is None else str(target),
    )
    answer(output, document, lambda: panel(document, certificate, page, left))
    return CODES[certificate.verdict.value]


def panel(
    document: dict[str, Any],
    certificate: "Certificate",
    page: Path | None = None,
    left: "FreundSchapireBound | None" = None,
) -> Any:
    """The verdict, the margin and the bound, or the rows that stand in the way."""
    from novikoff.cli import wording
    from novikoff.cli.render import facts

    return facts(
        f"novikoff certify {document['data']['files'][0]}",
        [
            ("read", wording.what_was_read(document["data"])),
            ("verdict", wording.verdict(certificate)),
            ("margin", wording.margin(certificate)),
            ("bound", certificate.promise or wording.allowed(left)),
            ("proof", certificate.obstruction_in_words),
            ("regression", certificate.diverging_in_words),
            ("certificate", document["out"]),
            ("report", None if page is None else str(page)),
        ],
    )
