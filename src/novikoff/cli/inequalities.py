"""`novikoff inequalities`: is there an x with <a, x> > 0 for every row a?"""

from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import options
from novikoff.cli.options import Output

if TYPE_CHECKING:
    from novikoff.cli.numbers import Numbers
    from novikoff.data.svmlight import ZeroBased

CODES = {"solved": 0, "no solution": 40, "margin ruled out": 41, "undecided": 42}
METHODS = ("auto", "perceptron", "rescaled", "dunagan-vempala")
SHOWN = 20


@click.command()
@click.argument("file", type=options.FILE)
@options.label
@options.ignore
@options.file_format
@options.zero_based
@options.form
@options.learning("fit_intercept")
@click.option("--method", type=click.Choice(METHODS), default="auto", show_default=True, help="How to look for x.")
@options.learning("min_margin", "random_state", random_state=0)
@click.option("--out", type=click.Path(), metavar="CERT", help="Where to write the proof.")
@options.force
@options.time_limit("Seconds after which to give up as undecided.")
@options.answering
def inequalities(
    file: str,
    label: str | None,
    ignore: tuple[str, ...],
    format: str | None,
    zero_based: "ZeroBased",
    form: dict[str, Any],
    fit_intercept: bool,
    method: str,
    min_margin: float | None,
    random_state: int,
    out: str | None,
    force: bool,
    time_limit: float | None,
    output: Output,
) -> int:
    """Find x with a.x > 0 for every row a of FILE, or prove that there is none, also if the margin is tiny.

    The columns are the coefficients of the unknowns. With a column of labels, rows are examples x, and the inequalities
    those of a plane that separates them: y (x, 1), or y x with --no-fit-intercept. The exit code is the outcome: 0
    solved, 40 no solution, 41 margin ruled out, 42 undecided.
    """
    from novikoff.cli import documents
    from novikoff.cli.numbers import read_numbers
    from novikoff.cli.outputs import check_free
    from novikoff.cli.progress import progress
    from novikoff.cli.render import answer
    from novikoff.data.whole_file import WholeFile
    from novikoff.prove.inequalities.search.solve import solve_inequalities

    target = None if out is None else check_free(out, force)
    names, A = system(read_numbers(file, label, format, ignore, zero_based, form), fit_intercept)
    limits: dict[str, Any] = {"min_margin": min_margin, "time_limit": time_limit, "random_state": random_state}
    with progress(output.quiet) as bar, bar.during("solving"):
        found = solve_inequalities(A, method=method, **limits)
    if target is not None:
        with WholeFile(target) as file_out:
            file_out.write(found.to_json().encode() + b"\n")
    document = documents.document(
        "inequalities",
        file=file,
        rows=len(A),
        verdict=found.outcome.value,
        arithmetic=found.arithmetic,
        x=None if found.x is None else dict(zip(names, found.x.tolist(), strict=True)),
        margin=found.margin,
        margin_at_most=found.margin_at_most,
        obstruction_rows=None if found.combination is None else found.combination.rows,
        message=str(found),
        iterations=found.iterations,
        rescalings=found.rescalings,
        out=None if target is None else str(target),
    )
    answer(output, document, lambda: panel(document))
    return CODES[found.outcome.value]


def system(table: "Numbers", fit_intercept: bool) -> tuple[tuple[str, ...], Any]:
    """The unknowns and the rows; those of labelled examples are folded."""
    from novikoff.features.fold import fold_bias, fold_labels

    if table.labels is None:
        return table.names, table.X
    names = (*table.names, "(bias)") if fit_intercept else table.names
    return names, fold_labels(fold_bias(table.X) if fit_intercept else table.X, table.labels)


def panel(document: dict[str, Any]) -> Any:
    """The outcome, the solution, and how it was found."""
    from rich.text import Text

    from novikoff.cli.render import BAD, GOOD, columns, facts, stacked

    verdict, x = document["verdict"], document["x"] or {}
    shown = [(name, f"{value:.6g}") for name, value in list(x.items())[:SHOWN]]
    more = f"and {len(x) - SHOWN:,} more; --json has all" if len(x) > SHOWN else None
    return facts(
        f"novikoff inequalities {document['file']}",
        [
            ("outcome", Text(verdict, style=f"bold {GOOD if verdict == 'solved' else BAD}")),
            ("solution", stacked(columns(("", ""), shown), more) if shown else None),
            ("proof", document["message"]),
            ("certificate", document["out"]),
        ],
    )
