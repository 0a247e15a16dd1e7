"""`novikoff check`: prove a saved certificate again, from the data."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents, existence, options
from novikoff.cli.options import Output, Result, TableOptions
from novikoff.cli.progress import progress

if TYPE_CHECKING:
    from novikoff.cli.tables import NumberTable
    from novikoff.data.reading import Reader
    from novikoff.prove.expressivity.ball import Ball, NoBall
    from novikoff.prove.inequalities.check import Inequalities
    from novikoff.prove.programs.check import ProgramCertificate
    from novikoff.prove.separable.certificate import Certificate


@click.command()
@click.argument("certificate", type=click.Path(), metavar="CERT")
@click.argument("file", type=options.FILE)
@options.proved
@options.learning("fit_intercept")
@click.option("--formula", metavar="F", help="The formula, if the proof is about one that computes columns.")
@options.answering
def check(
    certificate: str,
    file: str,
    table: TableOptions,
    fit_intercept: bool,
    formula: str | None,
    output: Output,
) -> Result:
    """Prove every claim of the certificate CERT again, from the table or the linear program FILE.

    CERT is what --out of `novikoff certify`, `lp`, `ball` or `inequalities` wrote, or a model that `novikoff fit`
    certified. The check shares nothing with the search that found the proof. A proof is about certain columns, labels
    and classes, or about a formula: they are shown, so that you can see whether it answers your question. What `ball`
    and `inequalities` prove is about numbers, which are read with the same --label, --ignore and --fit-intercept as
    then. No code in CERT is evaluated: a formula in it that has more than names of columns has to be given by
    --formula, too, and must be the same.

    The exit code is 0 if every claim holds, and 1 if one fails or the file is another.
    """
    from novikoff.cli.tables import read_numbers
    from novikoff.keep.models import read_certificate
    from novikoff.prove.existence.certificate import Existence
    from novikoff.prove.expressivity.ball import Ball, NoBall
    from novikoff.prove.inequalities.check import Inequalities
    from novikoff.prove.programs.check import ProgramCertificate

    claimed = read_certificate(Path(certificate))
    if isinstance(claimed, Ball | NoBall | Inequalities):
        return check_numbers(claimed, read_numbers(file, table), certificate, file, fit_intercept)
    if table.label is not None or table.ignore:
        raise ValueError(
            "--label and --ignore apply to proofs of ball and inequalities only; this proof names its columns"
        )
    if formula is not None and not isinstance(claimed, Existence):
        raise ValueError("--formula applies to proofs about a formula only")
    if isinstance(claimed, Existence):
        document = existence.check_formula(claimed, file, table, formula, output)
        columns = ("columns", used_in_words(**document["columns"]))
        checked = ("checked", "every claim holds (proved again from the data)")
        return Result(document, lambda: existence.panel(f"novikoff check {certificate}", claimed, columns, checked))
    if isinstance(claimed, ProgramCertificate):
        return check_program(claimed, certificate, file, table.format)
    document = check_table(claimed, certificate, file, table, output)
    return Result(document, lambda: panel(document, claimed, certificate))


def check_numbers(
    claimed: "Ball | NoBall | Inequalities", table: "NumberTable", certificate: str, file: str, fit_intercept: bool
) -> Result:
    """Check claims about the numbers of a table, and describe them."""
    from novikoff.cli.inequalities import system
    from novikoff.cli.render import facts, listed
    from novikoff.prove.inequalities.check import Inequalities

    if isinstance(claimed, Inequalities):
        claimed.check(system(table, fit_intercept)[1])
    elif table.labels is None:
        raise ValueError("name the label column with --label")
    else:
        claimed.check(table.X, table.labels)
    about = {"file": file, "rows": len(table.X), "columns": table.names}
    shown = [
        ("data", f"{file}: {len(table.X):,} rows of {listed(table.names)}"),
        ("claim", str(claimed)),
        ("checked", "the claim holds (proved again from the data)"),
    ]
    document = documents.document("check", **about, holds=True, message=str(claimed))
    return Result(document, lambda: facts(f"novikoff check {certificate}", shown))


def check_program(claimed: "ProgramCertificate", certificate: str, file: str, format: str | None) -> Result:
    """Check claims about a linear program, and describe them."""
    from novikoff.cli.render import facts
    from novikoff.data.programs import read_program
    from novikoff.prove.exact.floats import nearest_float
    from novikoff.say.certificates import in_arithmetic

    if format is not None:
        raise ValueError("--format applies to tables; the certificate is about a linear program")
    program = read_program(file)
    claimed.check(**program.arguments)
    meaning, value = program.restated(claimed.meaning), claimed.value
    objective = None if value is None else program.objective(nearest_float(value))
    found = {"status": claimed.claim, "meaning": meaning, "arithmetic": claimed.arithmetic, "objective": objective}
    shown = [
        ("data", f"{file}: {claimed.about.size}, the same program as the one certified"),
        ("outcome", f"{in_arithmetic(claimed.claim, claimed.arithmetic)}: {meaning}"),
        ("objective", None if objective is None else f"{objective:.12g}"),
        ("fingerprint", f"SHA-256 {claimed.about.sha256[:16]}..."),
        ("checked", "the claim holds (proved again from the program)"),
    ]
    document = documents.document("check", file=file, holds=True, data=claimed.about._asdict(), certificate=found)
    return Result(document, lambda: facts(f"novikoff check {certificate}", shown))


def check_table(
    claimed: "Certificate", certificate: str, file: str, table: TableOptions, output: Output
) -> dict[str, Any]:
    """Check claims about a table, and describe them. A model with the certificate knows how the table is written."""
    from novikoff.cli.tables import as_remembered
    from novikoff.data.reading import read
    from novikoff.keep.layout import ModelFileError
    from novikoff.keep.models import load_plain

    model = None
    with contextlib.suppress(ModelFileError):
        model = load_plain(certificate)
    known = claimed.table if claimed.table is not None and claimed.table.encoding.is_of_table else None
    label, types = (None, None) if known is None else (known.label, known.encoding.types_as_given)
    reader = read(file, label=label, format=table.format, types=types, zero_based=table.zero_based)
    reader = as_remembered(reader, model, table.form)
    names = column_names(reader) if reader.is_table else []
    with progress(output.quiet) as bar:
        claimed.check(bar.over(reader, "checking", claimed.n_rows))
    return documents.document(
        "check",
        file=file,
        rows=claimed.n_rows,
        holds=True,
        data=described_subject(claimed, names),
        certificate=documents.described_certificate(claimed),
    )


def column_names(reader: "Reader") -> list[str]:
    """Return all columns of a table, whether a proof uses them or not."""
    return list(reader.layout().names if reader.is_text else replace(reader, types=None).column_types)


def described_subject(claimed: "Certificate", names: list[str]) -> dict[str, Any]:
    """Describe what the certificate is about, as a reader needs it to judge the proof, and which of all columns in the
    file it does not use.
    """
    label, encoding = (None, None) if claimed.table is None else (claimed.table.label, claimed.table.encoding)
    columns = [column for column in documents.described_columns(encoding) if column["kind"] != "ignored"]
    used = {label, *(column["name"] for column in columns)}
    return {
        "label": label,
        "classes": list(claimed.classes),
        "columns": columns,
        "not_used": [name for name in names if name not in used],
        "features": claimed.n_columns,
        "sha256": claimed.data_hash,
    }


def panel(document: dict[str, Any], claimed: "Certificate", file: str) -> Any:
    """Show that every claim holds, the claims, and what they are about."""
    from novikoff.cli import wording
    from novikoff.cli.certify import regression
    from novikoff.cli.render import columns, facts, listed
    from novikoff.say import certificates as say

    data = document["data"]
    encoded = [(column["name"], column["kind"], column["detail"]) for column in data["columns"]]
    used = sum(column["kind"] not in ("lift", "scaled") for column in data["columns"])
    label = "" if data["label"] is None else f"{data['label']}: "
    of = f" from {used} of {used + len(data['not_used'])} columns" if used else ""
    return facts(
        f"novikoff check {file}",
        [
            ("data", f"{document['file']}: {document['rows']:,} rows, the same as those certified"),
            ("labels", f"{label}{listed(data['classes'], 24)}"),
            ("features", f"{data['features']:,}{of}"),
            ("columns", columns(("", "", ""), encoded, left=3) if encoded else None),
            ("not used", listed(data["not_used"]) or None),
            ("space", claimed.space or None),
            ("question", claimed.problem.question(claimed.fit_intercept)),
            ("verdict", wording.verdict(claimed)),
            ("margin", say.margin(claimed)),
            ("bound", claimed.promise),
            *(regression(claimed) if claimed.estimates is not None else []),
            ("fingerprint", f"SHA-256 {listed([data['sha256'][:16] + '...'])}"),
            ("checked", "every claim holds (proved again from the data)"),
        ],
    )


def used_in_words(used: list[str], not_used: list[str]) -> str:
    """Return how many of the columns of a file are used, and which are not."""
    from novikoff.cli.render import listed

    others = f"; not used: {listed(not_used)}" if not_used else ""
    return f"{len(used)} of {len(used) + len(not_used)} are used{others}"
