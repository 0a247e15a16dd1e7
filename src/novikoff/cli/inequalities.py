"""`novikoff inequalities`: is there an x with <a, x> > 0 for every row a?"""

from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import documents, options
from novikoff.cli.options import Result, TableOptions
from novikoff.cli.progress import progress
from novikoff.cli.render import outcome, solution

if TYPE_CHECKING:
    from novikoff.cli.tables import NumberTable

CODES = {"solved": 0, "no solution": 40, "undecided": 42}
METHODS = ("auto", "perceptron", "rescaled")


@click.command()
@click.argument("file", type=options.FILE)
@options.numbers
@options.learning("fit_intercept")
@options.option("--method", METHODS, None, "The method that searches for x.", "auto")
@options.proof_out("Where to write the proof.")
@options.time_limit("Give up as undecided after this many seconds.")
@options.answering
def inequalities(file: str, table: TableOptions, fit_intercept: bool, **limits: Any) -> Result:
    """Find x with a.x > 0 for every row a of FILE, or prove that there is none, also if the margin is tiny.

    The columns are the coefficients of the unknowns. With a column of labels, rows are examples x, and the inequalities
    those of a separating hyperplane: y (x, 1), or y x with --no-fit-intercept. The exit code is the outcome: 0
    solved, 40 no solution, 42 undecided.
    """
    from novikoff.cli.tables import read_numbers
    from novikoff.prove.inequalities.search.solve import solve_inequalities

    names, A = system(read_numbers(file, table), fit_intercept)
    with progress() as bar, bar.during("solving"):
        found = solve_inequalities(A, **limits)
    verdict, x = found.outcome.value, None if found.x is None else dict(zip(names, found.x.tolist(), strict=True))
    document = documents.document(
        "inequalities",
        file=file,
        rows=len(A),
        verdict=verdict,
        arithmetic=found.arithmetic,
        x=x,
        margin=found.margin,
        obstruction_rows=None if found.combination is None else found.combination.rows,
        message=str(found),
        iterations=found.iterations,
        rescalings=found.rescalings,
    )
    return Result(
        document,
        file,
        lambda: [
            ("outcome", outcome(verdict, "solved")),
            ("solution", solution([(name, f"{value:.6g}") for name, value in (x or {}).items()])),
            ("proof", str(found)),
        ],
        CODES[verdict],
        certificate=found,
    )


def system(table: "NumberTable", fit_intercept: bool) -> tuple[tuple[str, ...], Any]:
    """Return the unknowns and the rows; those of labelled examples are folded."""
    from novikoff.features.fold import fold_bias, fold_labels

    if table.labels is None:
        return table.names, table.X
    names = (*table.names, "(bias)") if fit_intercept else table.names
    return names, fold_labels(fold_bias(table.X) if fit_intercept else table.X, table.labels)
