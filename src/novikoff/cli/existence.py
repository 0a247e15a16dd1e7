"""`novikoff certify FILE --formula ...`: does the maximum likelihood estimate exist?"""

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import Command, Output, Table, column_names

if TYPE_CHECKING:
    from novikoff.cluster.engine import Engine
    from novikoff.prove.existence.certificate import Existence

CODES = {"exists": 0, "infinite": 10, "no start": 11, "undecided": 12}

FAMILIES = (
    *("binomial", "log-binomial", "poisson", "negative-binomial", "multinomial", "ordinal", "cox", "conditional"),
    *("logit", "probit", "cloglog", "cauchit", "ppml"),
)
# The options that are for formulas alone; all but the first two name columns, ties or a class.
COLUMNS = {
    "weights": "The column of weights; a weight of 0 drops its row.",
    "offset": "The column of offsets; they matter for log-binomial alone.",
    "strata": "The column of strata, for cox and conditional.",
    "event": "The column that is 1 where the event was seen, for cox.",
    "entry": "The column that says when a row enters, for cox.",
}


def formula_options(command: Command) -> Command:
    """--formula and what goes with it; the command gets them as `asked`, without those that were not given."""
    decorators: list[Callable[[Any], Any]] = [
        click.option("--formula", metavar="F", help="A model, such as 'y ~ x1 + C(x2)': does its estimate exist?"),
        click.option("--family", type=click.Choice(FAMILIES), help="The family of the formula.  [default: binomial]"),
    ]
    for name, what in COLUMNS.items():
        decorators.append(
            click.option(f"--{name}", metavar="COL", shell_complete=column_names, help=f"With --formula. {what}")
        )
    ties = click.Choice(["efron", "breslow", "exact"])
    decorators.append(click.option("--ties", type=ties, help="With --formula. How cox treats ties.  [default: efron]"))
    decorators.append(click.option("--reference", metavar="L", help="With --formula. The first class of multinomial."))
    names = ("formula", "family", *COLUMNS, "ties", "reference")

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        asked = {name: kwargs.pop(name) for name in names}
        return command(*args, asked={name: value for name, value in asked.items() if value is not None}, **kwargs)

    result: Any = wrapped
    for decorator in reversed(decorators):
        result = decorator(result)
    return result


def check_goes_together(asked: dict[str, Any], others: dict[str, Any]) -> bool:
    """Whether a formula was given; raises ValueError if it came with what is for labels, or its options without it."""
    if "formula" in asked:
        for name, value in others.items():
            if value:
                raise ValueError(f"--{name} does not go with --formula, which names its columns itself")
        return True
    for name in asked:
        raise ValueError(f"--{name} goes with --formula; give a formula, too")
    return False


def answer_formula(
    file: str,
    table: Table,
    asked: dict[str, Any],
    target: Any,
    output: Output,
    engine: "Engine | None" = None,
    **options: Any,
) -> int:
    """Ask whether the estimate exists, say it, and return the exit code; `engine` runs the shards, if there are any."""
    from novikoff.cli import documents
    from novikoff.cli.progress import progress
    from novikoff.cli.render import answer
    from novikoff.data.reading import read
    from novikoff.data.whole_file import WholeFile
    from novikoff.prove.existence.search.existence import existence

    formula, options = asked["formula"], {name: asked[name] for name in asked if name != "formula"} | options
    with progress(output.quiet) as bar:
        columns = read_table(file, table.format, table.form, bar) if engine is None else None
        bar.close()
        with bar.during("proving"):
            if engine is None:
                found = existence(formula, columns, progress=bar.rename, **options)
            else:
                from novikoff.cluster.estimates import existence as existence_on_shards

                reader = read(file, format=table.format, **table.form)
                found = existence_on_shards(formula, reader, engine=engine, progress=bar.rename, **options)
    if target is not None:
        with WholeFile(target) as file_out:
            file_out.write(found.to_json().encode() + b"\n")
    out = None if target is None else str(target)
    document = documents.document("certify", file=file, existence=documents.described_estimates(found), out=out)
    answer(output, document, lambda: panel(f"novikoff certify {file}", found, ("certificate", out)))
    return CODES[found.estimate.value]


def check_formula(
    claimed: "Existence", file: str, format: str | None, form: dict[str, Any], formula: str | None, output: Output
) -> dict[str, Any]:
    """Check what is claimed of a formula on a table, and say what that is; of the file's formula nothing is evaluated.

    Which columns are used is found here, from the table.
    """
    from novikoff.cli import documents
    from novikoff.cli.progress import progress
    from novikoff.prove.existence.formulas import used_columns

    said = claimed.about["formula"]
    if said is None:
        raise ValueError("the certificate is about arrays, not about a table; check it in Python, by its method check")
    with progress(output.quiet) as bar:
        table = read_table(file, format, form, bar)
        if formula is None:
            claimed.check(table)
        else:
            claimed.check(formula, table, **said["options"])
    names = [str(name) for name in table.columns]
    used = used_columns(said["text"], names, said["options"])
    columns = {"used": [n for n in names if n in used], "not_used": [n for n in names if n not in used]}
    found = documents.described_estimates(claimed)
    return documents.document("check", file=file, rows=claimed.n_rows, columns=columns, holds=True, existence=found)


def read_table(file: str, format: str | None, form: dict[str, Any], bar: Any) -> Any:
    """All columns of a file, as a data frame for formulas."""
    import pyarrow as pa

    from novikoff.data.reading import read

    if find_spec("formulaic") is None:
        raise ImportError("formulas are read by formulaic; install it with: pip install 'novikoff[formula]'")
    reader = read(file, format=format, **form)
    if not reader.is_table:
        raise ValueError(f"{file} has no named columns, and a formula needs names")
    batches = [pa.Table.from_batches([records.columns]) for records in bar.over(reader, "reading")]
    if not batches:
        raise ValueError(f"{file} has no rows")
    return pa.concat_tables(batches, promote_options="default").to_pandas()


def panel(title: str, found: "Existence", *more: tuple[str, Any]) -> Any:
    """Which coefficients are infinite, which are finite, which rows, and what to do."""
    from novikoff.cli.render import facts
    from novikoff.prove.existence import words

    formula = found.about["formula"]
    return facts(
        title,
        [
            ("model", f"{formula['text']} ({found.family}), {found.n_rows:,} rows"),
            *words.question(found),
            ("estimate", words.verdict(found)),
            *words.fates(found),
            ("separated", words.separated(found)),
            ("what to do", words.what_to_do(found)),
            *more,
        ],
    )
