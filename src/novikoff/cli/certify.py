"""`novikoff certify`: is there a separator, with what margin, and why? With --formula: does the estimate exist?"""

from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import cluster, documents, options
from novikoff.cli.files import report_on
from novikoff.cli.options import Result, Rows, TableOptions, grouped
from novikoff.cli.progress import progress
from novikoff.cli.render import verdict, warn, what_was_read
from novikoff.cli.spaces import SpaceOptions, space_options

if TYPE_CHECKING:
    from novikoff.cli.progress import ProgressBar
    from novikoff.prove.run.bounds import FreundSchapireBound
    from novikoff.prove.separable.certificate import Certificate

CODES = {"separable": 0, "quasi-separable": 10, "overlapping": 11, "undecided": 12, "not separable": 13}
CODES_OF_ESTIMATES = {"exists": 0, "infinite": 10, "no start": 11, "undecided": 12}

FAMILIES = (
    *("binomial", "log-binomial", "poisson", "negative-binomial", "multinomial", "ordinal", "cox", "conditional"),
    *("logit", "probit", "cloglog", "cauchit", "ppml"),
)


# The options of formulas that name columns.
COLUMNS = {
    "weights": "The column of weights; a weight of 0 drops its row.",
    "offset": "The column of offsets; only log-binomial uses them.",
    "strata": "The column of strata, for cox and conditional.",
}


def _of_formula(name: str, kind: Any, metavar: str | None, help_text: str) -> Callable[[Any], Any]:
    return options.option(f"--{name}", kind, metavar, f"With --formula. {help_text}", is_flag=kind is bool or None)


formula_options = grouped(
    "asked",
    lambda **said: {name: value for name, value in said.items() if value is not None},
    options.option("--formula", None, "F", "A model formula, such as 'y ~ x1 + C(x2)': does its estimate exist?"),
    options.option("--family", FAMILIES, None, "The family of the formula.  [default: binomial]"),
    *(_of_formula(name, None, "COL", what) for name, what in COLUMNS.items()),
    _of_formula("ties", ("efron", "breslow", "exact"), None, "How cox treats ties.  [default: efron]"),
    _of_formula("reference", None, "L", "The first class of multinomial."),
    _of_formula("success", None, "L", "The level of the response that counts as success."),
    _of_formula("finite", bool, None, "Also fit Firth's estimate, which is finite (binomial and cox; extra firth)."),
    names=("formula", "family", *COLUMNS, "ties", "reference", "success", "finite"),
)


@click.command()
@click.argument("file", type=options.FILE)
@options.table
@formula_options
@options.proof_out("Where to write the certificate, for `novikoff check`.")
@options.report
@space_options
@options.learning("fit_intercept")
@options.option("--tolerance", options.SHARE, "T", "The largest relative gap between the bounds of the margin.", 1e-6)
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
    report: str | None,
    space: SpaceOptions,
    diverging: bool | None,
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
    from novikoff.engine.clock import Clock
    from novikoff.features.examples import learned_encoding
    from novikoff.prove.run.search.freund_schapire import allowance
    from novikoff.prove.separable.in_blocks import exactly
    from novikoff.prove.separable.search.certify import check_regression, with_estimates

    questions["fit_intercept"] = fit_intercept = space.has_bias(questions["fit_intercept"])
    if check_goes_together(asked, {"label": table.label, **table.columns, "report": report, **space.given}):
        limits = {"fit_intercept": fit_intercept, "signs": diverging, "time_limit": questions["time_limit"]}
        return answer_formula(file, table, asked, **limits)
    reader = table.open(file)
    with progress() as bar:
        encoding = learned_encoding(bar.over(reader, "scanning"), lift=space.lift, scale="mixed", **table.columns)
        with exactly(bar.over(reader, "reading", bar.done or None), encoding) as examples:
            bar.close()
            page = report_on(report, examples, file, reader, table)
            if diverging:
                check_regression(examples, fit_intercept, space.exact_kernel(examples))
            clock = Clock(questions["time_limit"], told=bar.rename)
            with bar.during("proving"):
                certificate = space.certify(examples, progress=bar.rename, **questions)
                if diverging:
                    certificate = with_estimates(certificate, reader, None, clock)
            left = allowance(examples, certificate, fit_intercept=fit_intercept)
            if page is not None:
                out = click.get_current_context().params["out"]
                page.on_certificate(certificate, None if out is None else Path(out))
    return answered(certificate, reader, examples.counts, report, left)


def regression(certificate: "Certificate") -> list[tuple[str, str | None]]:
    """Return what is known of the regression's estimates, if requested; else, if some are infinite, why nothing is."""
    from novikoff.prove.existence.regression import why_none
    from novikoff.say import estimates as say

    c, found = certificate, certificate.estimates
    if found is not None:
        formula = found.about.formula
        model = [] if formula is None else [("model", f"{formula.text} ({found.family})")]
        return [*model, ("regression", say.in_brief(found)), ("separated", say.separated(found))]
    if c.verdict.value not in ("separable", "quasi-separable") or c.kernel is not None:
        return []
    why = why_none(c.classes, c.fit_intercept, c.table)
    return [
        ("regression", f"infinite estimates: not {'requested (--diverging)' if why is None else f'computed: {why}'}")
    ]


def answered(
    certificate: "Certificate",
    reader: Any,
    counts: tuple[int, ...],
    report: str | None = None,
    left: "FreundSchapireBound | None" = None,
) -> Result:
    """Answer with the verdict, margin and bound, or the rows that rule out a separator."""
    encoding = None if certificate.table is None else certificate.table.encoding
    size = (certificate.n_rows, certificate.n_columns)
    document = documents.document(
        "certify",
        data=documents.described_data(reader.files, reader.label, encoding, size, certificate.classes, counts),
        certificate=documents.described_certificate(certificate),
    )

    def rows() -> Rows:
        from novikoff.say import certificates as say

        return [
            ("read", what_was_read(document["data"])),
            ("space", certificate.space or None),
            ("verdict", verdict(certificate)),
            ("implies", certificate.consequence),
            ("margin", say.margin(certificate)),
            ("bound", certificate.promise or say.allowed(left)),
            ("proof", certificate.obstruction_in_words),
            *regression(certificate),
            ("report", report),
        ]

    return Result(document, reader.files[0], rows, CODES[certificate.verdict.value], certificate=certificate)


# -- formulas ---------------------------------------------------------------------------------------------------------


def check_goes_together(asked: dict[str, Any], others: dict[str, Any]) -> bool:
    """Whether a formula was given; raise ValueError if it came with options for labels, or its options without it."""
    if "formula" in asked:
        for name, value in others.items():
            if value:
                raise ValueError(f"--{name} cannot be combined with --formula, which names its own columns")
        return True
    for name in asked:
        raise ValueError(f"--{name} requires --formula")
    return False


def answer_formula(file: str, table: TableOptions, asked: dict[str, Any], **options: Any) -> Result:
    """Answer whether the estimate exists."""
    from novikoff.prove.existence.search.existence import existence
    from novikoff.say import estimates as say

    formula, is_finite = asked.pop("formula"), asked.pop("finite", False)
    with progress() as bar:
        columns = read_table(file, table, bar)
        bar.close()
        with bar.during("proving"):
            found = existence(formula, columns, progress=bar.rename, **asked, **options)
        fitted = None
        if is_finite:
            try:
                fitted = found.finite()
            except (ImportError, ValueError) as error:  # the proof must not be lost with it
                warn(str(error))
    more = {} if fitted is None else {"finite": asdict(fitted)}
    described = documents.described_estimates(found)
    document = documents.document("certify", file=file, existence=described, **more)
    shown = ("Firth", None if fitted is None else say.finite_in_brief(fitted))
    code = CODES_OF_ESTIMATES[found.estimate.value]
    return Result(document, file, lambda: rows_of_formula(found, shown), code, certificate=found)


def read_table(file: str, table: TableOptions, bar: "ProgressBar") -> Any:
    """Read all columns of a file into a data frame for formulas."""
    import pyarrow as pa

    from novikoff.data.reading import read

    if find_spec("formulaic") is None:
        raise ImportError("formulas require formulaic; install it with: pip install 'novikoff[formula]'")
    reader = read(file, **table.read_with)
    if not reader.is_table:
        raise ValueError(f"{file} has no named columns, and a formula needs names")
    batches = [pa.Table.from_batches([records.columns]) for records in bar.over(reader, "reading")]
    if not batches:
        raise ValueError(f"{file} has no rows")
    return pa.concat_tables(batches, promote_options="default").to_pandas()


def rows_of_formula(found: Any, *more: tuple[str, Any]) -> Rows:
    """Show which coefficients are infinite, which are finite, which rows, and what to do."""
    from novikoff.say import estimates as say

    return [
        ("model", f"{found.about.formula.text} ({found.family}), {found.n_rows:,} rows"),
        *say.question(found),
        ("omitted", say.omitted(found)),
        ("estimate", say.verdict(found)),
        *say.fates(found),
        ("separated", say.separated(found)),
        ("what to do", say.what_to_do(found)),
        *more,
    ]
