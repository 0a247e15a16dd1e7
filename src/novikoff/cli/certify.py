"""`novikoff certify`: is there a separator, with what margin, and why?"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import cluster, documents, options
from novikoff.cli.existence import answer_formula, check_goes_together, formula_options
from novikoff.cli.files import out_target
from novikoff.cli.options import Output, Page, Result, TableOptions
from novikoff.cli.progress import progress
from novikoff.cli.spaces import SpaceOptions, space_options

if TYPE_CHECKING:
    from novikoff.prove.run.bounds import FreundSchapireBound
    from novikoff.prove.separable.certificate import Certificate

CODES = {"separable": 0, "quasi-separable": 10, "overlapping": 11, "undecided": 12, "not separable": 13}


@click.command()
@click.argument("file", type=options.FILE)
@options.table
@formula_options
@options.out("Where to write the certificate, for `novikoff check`.")
@options.page
@options.force
@space_options
@options.learning("fit_intercept")
@options.number("--tolerance", options.SHARE, "T", "The largest relative gap between the bounds of the margin.", 1e-6)
@options.time_limit("Give up as undecided after this many seconds.")
@click.option(
    "--diverging/--no-diverging",
    default=None,
    help="Determine which estimates of the regression are infinite, and their signs; may be slow.  [default: no; "
    "with --formula, signs where it is quick]",
)
@options.jobs
@options.answering
@cluster.certify
def certify(
    file: str,
    table: TableOptions,
    asked: dict[str, Any],
    out: str | None,
    page: Page,
    force: bool,
    space: SpaceOptions,
    diverging: bool | None,
    output: Output,
    **questions: Any,
) -> Result:
    """Is the table FILE linearly separable, with what margin, and why?

    With --lift the hyperplane is in the lifted features. With --kernel it is in the space of the kernel, and has an
    intercept only with --fit-intercept, because a kernel perceptron has none; there are two classes then.

    The exit code is the verdict: 0 separable, 10 quasi-separable, 11 overlapping, 13 not separable (which of these two
    is open), 12 undecided.

    With --formula: does the maximum likelihood estimate of that model exist, and which coefficients are infinite? The
    exit code is 0 if it exists, 10 if it is infinite, 11 if no start exists, 12 if that is undecided.
    """
    from novikoff.cli.again import report_on
    from novikoff.engine.clock import Clock
    from novikoff.features.examples import learned_encoding
    from novikoff.prove.run.search.freund_schapire import allowance
    from novikoff.prove.separable.in_blocks import exactly
    from novikoff.prove.separable.search.certify import check_regression, with_estimates

    questions["fit_intercept"] = fit_intercept = space.has_bias(questions["fit_intercept"])
    target = out_target(out, force)
    if check_goes_together(asked, {"label": table.label, **table.columns, "report": page.report, **space.given}):
        limits = {"fit_intercept": fit_intercept, "signs": diverging, "time_limit": questions["time_limit"]}
        return answer_formula(file, table, asked, target, output, **limits)
    path, reader = page.path(force), table.open(file, output)
    with progress(output.quiet) as bar:
        encoding = learned_encoding(bar.over(reader, "scanning"), lift=space.lift, scale="mixed", **table.columns)
        with exactly(bar.over(reader, "reading", bar.done or None), encoding) as examples:
            bar.close()
            report = report_on(path, page, examples, file, reader, table)
            if diverging:
                check_regression(examples, fit_intercept, space.exact_kernel(examples))
            clock = Clock(questions["time_limit"], told=bar.rename)
            with bar.during("proving"):
                certificate = space.certify(examples, progress=bar.rename, **questions)
                if diverging:
                    certificate = with_estimates(certificate, reader, None, clock)
            left = allowance(examples, certificate, fit_intercept=fit_intercept)
            if report is not None:
                report.on_certificate(certificate, None if target is None else target.path)
    if target is not None:
        target.write(certificate)
    document = described(certificate, reader, examples.counts, target)
    return Result(document, lambda: panel(document, certificate, path, left), CODES[certificate.verdict.value])


def described(certificate: "Certificate", reader: Any, counts: tuple[int, ...], target: Any) -> dict[str, Any]:
    """Describe what was read and proved."""
    encoding = None if certificate.table is None else certificate.table.encoding
    size = (certificate.n_rows, certificate.n_columns)
    return documents.document(
        "certify",
        data=documents.described_data(reader.files, reader.label, encoding, size, certificate.classes, counts),
        certificate=documents.described_certificate(certificate),
        out=target,
    )


def regression(certificate: "Certificate") -> list[tuple[str, str | None]]:
    """Return what is known of the regression's estimates, if requested; else, if some are infinite, why nothing is."""
    from novikoff.prove.existence.regression import why_none
    from novikoff.say import estimates as say

    c, found = certificate, certificate.estimates
    if found is not None:
        formula = found.about["formula"]
        model = [] if formula is None else [("model", f"{formula['text']} ({found.family})")]
        return [*model, ("regression", say.in_brief(found)), ("separated", say.separated(found))]
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
    """Show the verdict, the margin and the bound, or the rows that rule out a separator."""
    from novikoff.cli import wording
    from novikoff.cli.render import facts
    from novikoff.say import certificates as say

    return facts(
        f"novikoff certify {document['data']['files'][0]}",
        [
            ("read", wording.what_was_read(document["data"])),
            ("space", certificate.space or None),
            ("verdict", wording.verdict(certificate)),
            ("implies", certificate.consequence),
            ("margin", say.margin(certificate)),
            ("bound", certificate.promise or say.allowed(left)),
            ("proof", certificate.obstruction_in_words),
            *regression(certificate),
            ("certificate", document["out"]),
            ("report", None if page is None else str(page)),
        ],
    )
