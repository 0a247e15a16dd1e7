"""`novikoff check`: prove a saved certificate again, from the data."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import certify, documents, options
from novikoff.cli.options import Result, Rows, TableOptions
from novikoff.cli.progress import progress
from novikoff.cli.render import encoded_columns, listed, verdict

if TYPE_CHECKING:
    from novikoff.prove.existence.certificate import Existence
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
def check(certificate: str, file: str, table: TableOptions, fit_intercept: bool, formula: str | None) -> Result:
    """Prove every claim of the certificate CERT again, from the table or the linear program FILE.

    CERT is what --out of `novikoff certify`, `lp`, `ball` or `inequalities` wrote, or a model that `novikoff fit`
    certified. The check shares nothing with the search that found the proof. A proof is about certain columns, labels
    and classes, or about a formula: they are shown, so that you can see whether it answers your question. What `ball`
    and `inequalities` prove is about numbers, which are read with the same --label, --ignore and --fit-intercept as
    then. No code in CERT is evaluated: a formula in it that has more than names of columns has to be given by
    --formula, too, and must be the same.

    The exit code is 0 if every claim holds, and 1 if one fails or the file is another.
    """
    from novikoff.keep.models import read_certificate
    from novikoff.prove.existence.certificate import Existence
    from novikoff.prove.expressivity.ball import Ball, NoBall
    from novikoff.prove.inequalities.check import Inequalities
    from novikoff.prove.programs.check import ProgramCertificate

    claimed = read_certificate(Path(certificate))
    is_of_numbers = isinstance(claimed, Ball | NoBall | Inequalities)
    if not is_of_numbers and (table.label is not None or table.ignore):
        raise ValueError(
            "--label and --ignore apply to proofs of ball and inequalities only; this proof names its columns"
        )
    if formula is not None and not isinstance(claimed, Existence):
        raise ValueError("--formula applies to proofs about a formula only")
    if isinstance(claimed, Ball | NoBall | Inequalities):
        described, rows = check_numbers(claimed, file, table, fit_intercept)
    elif isinstance(claimed, Existence):
        described, rows = check_formula(claimed, file, table, formula)
    elif isinstance(claimed, ProgramCertificate):
        described, rows = check_program(claimed, file, table.read_with.get("format"))
    else:
        described, rows = check_table(claimed, certificate, file, table)
    document = documents.document("check", file=file, holds=True, **described)
    checked = ("checked", "every claim holds (proved again from the data)")
    return Result(document, certificate, lambda: [*rows(), checked])


# What was checked: the parts of a document, and the rows of a panel.
Checked = tuple[dict[str, Any], Callable[[], Rows]]


def check_numbers(
    claimed: "Ball | NoBall | Inequalities", file: str, table: TableOptions, fit_intercept: bool
) -> Checked:
    """Check claims about the numbers of a table."""
    from novikoff.cli.inequalities import system
    from novikoff.cli.tables import read_numbers
    from novikoff.prove.inequalities.check import Inequalities

    read = read_numbers(file, table)
    if isinstance(claimed, Inequalities):
        claimed.check(system(read, fit_intercept)[1])
    elif read.labels is None:
        raise ValueError("name the label column with --label")
    else:
        claimed.check(read.X, read.labels)
    data = f"{file}: {len(read.X):,} rows of {listed(read.names)}"
    described = {"rows": len(read.X), "columns": read.names, "message": str(claimed)}
    return described, lambda: [("data", data), ("claim", str(claimed))]


def check_formula(claimed: "Existence", file: str, table: TableOptions, formula: str | None) -> Checked:
    """Check claims about a formula on a table; nothing of the file's formula is evaluated.

    Which columns are used is inferred here, from the table.
    """
    from novikoff.prove.existence.formulas import used_columns

    said = claimed.about.formula
    if said is None:
        raise ValueError("the certificate is about arrays, not about a table; check it in Python, by its method check")
    with progress() as bar:
        frame = certify.read_table(file, table, bar)
        if formula is None:
            claimed.check(frame)
        else:
            claimed.check(formula, frame, **said.options)
    names = [str(name) for name in frame.columns]
    used = used_columns(said.text, names, said.options)
    columns = {"used": [n for n in names if n in used], "not_used": [n for n in names if n not in used]}
    others = f"; not used: {listed(columns['not_used'])}" if columns["not_used"] else ""
    about = ("columns", f"{len(columns['used'])} of {len(names)} are used{others}")
    described = {"rows": claimed.n_rows, "columns": columns, "existence": documents.described_estimates(claimed)}
    return described, lambda: certify.rows_of_formula(claimed, about)


def check_program(claimed: "ProgramCertificate", file: str, format: str | None) -> Checked:
    """Check claims about a linear program."""
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
    return {"data": claimed.about._asdict(), "certificate": found}, lambda: [
        ("data", f"{file}: {claimed.about.size}, the same program as the one certified"),
        ("outcome", f"{in_arithmetic(claimed.claim, claimed.arithmetic)}: {meaning}"),
        ("objective", None if objective is None else f"{objective:.12g}"),
        ("fingerprint", f"SHA-256 {claimed.about.sha256[:16]}..."),
    ]


def check_table(claimed: "Certificate", certificate: str, file: str, table: TableOptions) -> Checked:
    """Check claims about a table; show them, what they are about, and which columns of the file they do not use.

    A model that has the certificate knows how the table is written.
    """
    from novikoff.cli.tables import as_remembered
    from novikoff.data.reading import read
    from novikoff.keep.layout import ModelFileError
    from novikoff.keep.models import load_plain

    model = None
    with contextlib.suppress(ModelFileError):
        model = load_plain(certificate)
    label, encoding = (None, None) if claimed.table is None else (claimed.table.label, claimed.table.encoding)
    known: dict[str, Any] = {
        name: table.read_with[name] for name in ("format", "zero_based") if name in table.read_with
    }
    if encoding is not None and encoding.is_of_table:
        known |= {"label": label, "types": encoding.types_as_given}
    reader = as_remembered(read(file, **known), model, table.form)
    names: list[str] = []
    if reader.is_table:  # all columns, whether a proof uses them or not
        names = list(reader.layout().names if reader.is_text else replace(reader, types=None).column_types)
    with progress() as bar:
        claimed.check(bar.over(reader, "checking", claimed.n_rows))
    columns = [column for column in documents.described_columns(encoding) if column["kind"] != "ignored"]
    used = {label, *(column["name"] for column in columns)}
    data = {
        "label": label,
        "classes": list(claimed.classes),
        "columns": columns,
        "not_used": [name for name in names if name not in used],
        "features": claimed.n_columns,
        "sha256": claimed.data_hash,
    }
    described = {"rows": claimed.n_rows, "data": data, "certificate": documents.described_certificate(claimed)}
    return described, lambda: rows_of(file, data, claimed)


def rows_of(file: str, data: dict[str, Any], claimed: "Certificate") -> Rows:
    """Show the claims, and what they are about."""
    from novikoff.say import certificates as say

    used = sum(column["kind"] not in ("lift", "scaled") for column in data["columns"])
    label = "" if data["label"] is None else f"{data['label']}: "
    of = f" from {used} of {used + len(data['not_used'])} columns" if used else ""
    return [
        ("data", f"{file}: {claimed.n_rows:,} rows, the same as those certified"),
        ("labels", f"{label}{listed(data['classes'], 24)}"),
        ("features", f"{data['features']:,}{of}"),
        ("columns", encoded_columns(data["columns"])),
        ("not used", listed(data["not_used"]) or None),
        ("space", claimed.space or None),
        ("question", claimed.problem.question(claimed.fit_intercept)),
        ("verdict", verdict(claimed)),
        ("margin", say.margin(claimed)),
        ("bound", claimed.promise),
        *(certify.regression(claimed) if claimed.estimates is not None else []),
        ("fingerprint", f"SHA-256 {claimed.data_hash[:16]}..."),
    ]
