"""`novikoff certify`: is there a separator, with what margin, and why?"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import cluster, options
from novikoff.cli.existence import answer_formula, check_goes_together, formula_options
from novikoff.cli.options import Output, Table
from novikoff.cli.spaces import Space, space_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from novikoff.data.examples import Examples
    from novikoff.prove.run.bounds import FreundSchapireBound
    from novikoff.prove.separable.certificate import Certificate

CODES = {"separable": 0, "quasi-separable": 10, "overlapping": 11, "undecided": 12, "not separable": 13}


@click.command()
@click.argument("file", type=options.FILE)
@options.table
@formula_options
@click.option("--out", type=click.Path(), metavar="CERT", help="Where to write the certificate, for `novikoff check`.")
@options.report
@options.report_features
@options.force
@space_options
@options.learning("fit_intercept")
@options.number("--tolerance", options.SHARE, "T", "The largest relative gap between the bounds of the margin.", 1e-6)
@options.time_limit("Seconds after which to give up as undecided.")
@click.option(
    "--diverging/--no-diverging",
    default=None,
    help="Find which estimates of the regression are infinite, and their signs; it may take long.  [default: no; "
    "with --formula, signs where it is quick]",
)
@options.jobs
@options.answering
@cluster.certify
def certify(
    file: str,
    table: Table,
    out: str | None,
    report: str | None,
    report_features: tuple[str, str] | None,
    force: bool,
    fit_intercept: bool,
    tolerance: float,
    time_limit: float | None,
    diverging: bool | None,
    space: Space,
    asked: dict[str, Any],
    output: Output,
) -> int:
    """Is the table FILE linearly separable, with what margin, and why?

    With --lift the plane is among the lifted features. With --kernel it is in the space of the kernel, and has a bias
    only if you say --fit-intercept, because a kernel perceptron has none; there are two classes then.

    The exit code is the verdict: 0 separable, 10 quasi-separable, 11 overlapping, 13 not separable (which of these two
    is open), 12 undecided.

    With --formula: does the maximum likelihood estimate of that model exist, and which coefficients are infinite? The
    exit code is 0 if it exists, 10 if it is infinite, 11 if no start exists, 12 if that is undecided.
    """
    from novikoff.cli import documents
    from novikoff.cli.again import names_of
    from novikoff.cli.outputs import check_free
    from novikoff.cli.progress import progress
    from novikoff.cli.render import answer
    from novikoff.cli.tables import encoding_of
    from novikoff.data.whole_file import WholeFile
    from novikoff.prove.exact.clock import Clock
    from novikoff.prove.run.search.freund_schapire import allowance
    from novikoff.prove.separable.in_blocks import exactly
    from novikoff.prove.separable.search.certify import check_regression, with_estimates
    from novikoff.show.report.writing import report_on

    fit_intercept = space.has_bias(fit_intercept)
    target = None if out is None else check_free(out, force)
    if check_goes_together(asked, {"label": table.label, **table.columns, "report": report, **space.given}):
        limits: dict[str, Any] = {"fit_intercept": fit_intercept, "signs": diverging, "time_limit": time_limit}
        return answer_formula(file, table, asked, target, output, **limits)
    page = options.report_path(report, report_features, force)
    reader = table.open(file, output)
    wishes = {**table.columns, "lift": space.lift}
    with progress(output.quiet) as bar:
        encoding = encoding_of(bar.over(reader, "looking"), None, **wishes)
        with exactly(bar.over(reader, "reading", bar.done or None), encoding) as examples:
            bar.close()
            reported = report_on(page, examples, report_features, lambda: names_of(file, reader, table))
            questions = {"fit_intercept": fit_intercept, "tolerance": tolerance, "time_limit": time_limit}
            if diverging:
                check_regression(examples, fit_intercept, space.exact_kernel(examples))
            clock = Clock(time_limit, told=bar.rename)
            with bar.during("proving"):
                certificate = _certified(examples, space, bar.rename, questions)
                if diverging:
                    certificate = with_estimates(certificate, reader, None, clock)
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
            reader.label,
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


def _certified(
    examples: "Examples",
    space: Space,
    progress: "Callable[[str], None]",
    questions: dict[str, Any],
) -> "Certificate":
    """The certificate in the space that was chosen."""
    from novikoff.prove.separable.search.kernel import certify_kernel
    from novikoff.prove.separable.search.working_set import certify_examples

    if space.kernel is not None and len(examples.classes) > 2:
        raise ValueError(f"--kernel is for two classes, and there are {len(examples.classes)}: {examples.classes}")
    space.check_size(examples)
    if (kernel := space.exact_kernel(examples)) is None:
        return certify_examples(examples, progress=progress, **questions)
    return certify_kernel(examples, None, kernel, progress=progress, **questions)


def regression(certificate: "Certificate") -> list[tuple[str, str | None]]:
    """What is known of the estimates of the regression, if they were asked for; else, where some are infinite, why
    nothing is."""
    from novikoff.prove.existence import words
    from novikoff.prove.existence.regression import why_none

    c, found = certificate, certificate.estimates
    if found is not None:
        formula = found.about["formula"]
        model = [] if formula is None else [("model", f"{formula['text']} ({found.family})")]
        return [*model, ("regression", words.in_brief(found)), ("separated", words.separated(found))]
    if c.verdict.value not in ("separable", "quasi-separable") or c.kernel is not None:
        return []
    why = why_none(c.classes, c.fit_intercept, c.table)
    return [
        ("regression", f"infinite estimates: not {'requested (--diverging)' if why is None else f'computed: {why}'}")
    ]


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
            ("space", certificate.space or None),
            ("verdict", wording.verdict(certificate)),
            ("so", certificate.consequence),
            ("margin", wording.margin(certificate)),
            ("bound", certificate.promise or wording.allowed(left)),
            ("proof", certificate.obstruction_in_words),
            *regression(certificate),
            ("certificate", document["out"]),
            ("report", None if page is None else str(page)),
        ],
    )
