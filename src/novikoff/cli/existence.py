"""`novikoff certify FILE --formula ...`: does the maximum likelihood estimate exist?"""

from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents
from novikoff.cli.options import Output, Result, TableOptions, column_names, grouped
from novikoff.cli.progress import progress

if TYPE_CHECKING:
    from novikoff.cli.files import Target
    from novikoff.cli.progress import ProgressBar
    from novikoff.prove.existence.certificate import Existence
    from novikoff.prove.existence.finite import FiniteEstimate

CODES = {"exists": 0, "infinite": 10, "no start": 11, "undecided": 12}

FAMILIES = (
    *("binomial", "log-binomial", "poisson", "negative-binomial", "multinomial", "ordinal", "cox", "conditional"),
    *("logit", "probit", "cloglog", "cauchit", "ppml"),
)
# The options that are for formulas alone; all but the first two name columns, ties or a class.
COLUMNS = {
    "weights": "The column of weights; a weight of 0 drops its row.",
    "offset": "The column of offsets; only log-binomial uses them.",
    "strata": "The column of strata, for cox and conditional.",
}


def _asked(**said: Any) -> dict[str, Any]:
    """Return the given options of a formula."""
    return {name: value for name, value in said.items() if value is not None}


formula_options = grouped(
    "asked",
    _asked,
    click.option("--formula", metavar="F", help="A model formula, such as 'y ~ x1 + C(x2)': does its estimate exist?"),
    click.option("--family", type=click.Choice(FAMILIES), help="The family of the formula.  [default: binomial]"),
    *(
        click.option(f"--{name}", metavar="COL", shell_complete=column_names, help=f"With --formula. {what}")
        for name, what in COLUMNS.items()
    ),
    click.option(
        "--ties",
        type=click.Choice(["efron", "breslow", "exact"]),
        help="With --formula. How cox treats ties.  [default: efron]",
    ),
    click.option("--reference", metavar="L", help="With --formula. The first class of multinomial."),
    click.option("--success", metavar="L", help="With --formula. The level of the response that counts as success."),
    click.option(
        "--finite",
        is_flag=True,
        default=None,
        help="With --formula. Also fit Firth's estimate, which is finite (binomial and cox; extra firth).",
    ),
    names=("formula", "family", *COLUMNS, "ties", "reference", "success", "finite"),
)


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


def answer_formula(
    file: str, table: TableOptions, asked: dict[str, Any], target: "Target | None", output: Output, **options: Any
) -> Result:
    """Answer whether the estimate exists."""
    from novikoff.cli.render import warn
    from novikoff.prove.existence.search.existence import existence
    from novikoff.say import estimates as say

    formula, is_finite = asked.pop("formula"), asked.pop("finite", False)
    with progress(output.quiet) as bar:
        columns = read_table(file, table, bar)
        bar.close()
        with bar.during("proving"):
            found = existence(formula, columns, progress=bar.rename, **asked, **options)
        fitted, missing = _fitted(found) if is_finite else (None, None)
    if target is not None:
        target.write(found)
    more = {} if fitted is None else {"finite": asdict(fitted)}
    described = documents.described_estimates(found)
    document = documents.document("certify", file=file, existence=described, **more, out=target)
    if missing:
        warn(output, missing)
    shown = [("Firth", None if fitted is None else say.finite_in_brief(fitted)), ("certificate", document["out"])]
    return Result(document, lambda: panel(f"novikoff certify {file}", found, *shown), CODES[found.estimate.value])


def _fitted(found: "Existence") -> tuple["FiniteEstimate | None", str | None]:
    """Return Firth's estimate, or why there is none: the proof must not be lost with it."""
    try:
        return found.finite(), None
    except (ImportError, ValueError) as error:
        return None, str(error)


def check_formula(
    claimed: "Existence", file: str, table: TableOptions, formula: str | None, output: Output
) -> dict[str, Any]:
    """Check claims about a formula on a table, and describe them; nothing of the file's formula is evaluated.

    Which columns are used is inferred here, from the table.
    """
    from novikoff.prove.existence.formulas import used_columns

    said = claimed.about["formula"]
    if said is None:
        raise ValueError("the certificate is about arrays, not about a table; check it in Python, by its method check")
    with progress(output.quiet) as bar:
        frame = read_table(file, table, bar)
        if formula is None:
            claimed.check(frame)
        else:
            claimed.check(formula, frame, **said["options"])
    names = [str(name) for name in frame.columns]
    used = used_columns(said["text"], names, said["options"])
    columns = {"used": [n for n in names if n in used], "not_used": [n for n in names if n not in used]}
    found = documents.described_estimates(claimed)
    return documents.document("check", file=file, rows=claimed.n_rows, columns=columns, holds=True, existence=found)


def read_table(file: str, table: TableOptions, bar: "ProgressBar") -> Any:
    """Read all columns of a file into a data frame for formulas."""
    import pyarrow as pa

    from novikoff.data.reading import read

    if find_spec("formulaic") is None:
        raise ImportError("formulas require formulaic; install it with: pip install 'novikoff[formula]'")
    reader = read(file, format=table.format, **table.form)
    if not reader.is_table:
        raise ValueError(f"{file} has no named columns, and a formula needs names")
    batches = [pa.Table.from_batches([records.columns]) for records in bar.over(reader, "reading")]
    if not batches:
        raise ValueError(f"{file} has no rows")
    return pa.concat_tables(batches, promote_options="default").to_pandas()


def panel(title: str, found: "Existence", *more: tuple[str, Any]) -> Any:
    """Show which coefficients are infinite, which are finite, which rows, and what to do."""
    from novikoff.cli.render import facts
    from novikoff.say import estimates as say

    formula = found.about["formula"]
    return facts(
        title,
        [
            ("model", f"{formula['text']} ({found.family}), {found.n_rows:,} rows"),
            *say.question(found),
            ("omitted", say.omitted(found)),
            ("estimate", say.verdict(found)),
            *say.fates(found),
            ("separated", say.separated(found)),
            ("what to do", say.what_to_do(found)),
            *more,
        ],
    )
