"""`novikoff lp`: solve a linear program, with proof."""

from typing import Any

import click

from novikoff.cli import documents, options
from novikoff.cli.files import out_target
from novikoff.cli.options import Output, Result
from novikoff.cli.progress import progress

# SciPy's statuses, and the exit codes of this command.
CODES = {0: 0, 1: 22, 2: 20, 3: 21}
WORDS = {0: "optimal", 1: "undecided", 2: "infeasible", 3: "unbounded"}


@click.command()
@click.argument("file", type=click.Path())
@click.option(
    "--method",
    type=click.Choice(("highs", "perceptron")),
    default="highs",
    show_default=True,
    help="The solver that finds the answer, which is then proved.",
)
@options.out("Where to write the certificate, for `novikoff check`.")
@options.force
@options.time_limit("Give up as undecided after this many seconds.", default=60.0)
@options.answering
def lp(file: str, method: str, out: str | None, force: bool, time_limit: float, output: Output) -> Result:
    """Solve the linear program FILE, with proof.

    FILE is MPS, or .npz with c, and perhaps A_ub, b_ub, A_eq, b_eq and bounds, as for SciPy's linprog. The exit code is
    the outcome: 0 optimal, 20 infeasible, 21 unbounded, each proved in exact arithmetic; 22 undecided.
    """
    from novikoff.data.programs import read_program
    from novikoff.prove.programs.search.linprog import linprog

    target = out_target(out, force)
    program = read_program(file)
    with progress(output.quiet) as bar, bar.during("solving"):
        result = linprog(**program.arguments, method=method, options={"time_limit": time_limit})
    proof = result.certificate
    if target is not None and proof is not None:
        target.write(proof)
    x = None if result.x is None else dict(zip(program.names, result.x.tolist(), strict=True))
    document = documents.document(
        "lp",
        file=file,
        variables=len(program.names),
        constraints=program.n_constraints,
        status=WORDS[result.status],
        objective=None if result.fun is None else program.objective(result.fun),
        x=x,
        arithmetic=None if proof is None else proof.arithmetic,
        message=program.restated(result.message),
        iterations=result.nit,
        pivots=result.pivots,
        out=None if proof is None else target,
    )
    return Result(document, lambda: panel(document), CODES[result.status])


def panel(document: dict[str, Any]) -> Any:
    """Show the outcome, and the variables that are not 0."""
    from novikoff.cli.render import facts, outcome, solution
    from novikoff.say.words import counted

    used = [(name, f"{value:.10g}") for name, value in (document["x"] or {}).items() if value]
    size = f"{counted(document['variables'], 'variable')}, {counted(document['constraints'], 'constraint')}"
    work = f"{counted(document['iterations'], 'iteration')}, {counted(document['pivots'], 'exact pivot')}"
    return facts(
        f"novikoff lp {document['file']}",
        [
            ("read", size),
            ("outcome", outcome(document["status"], "optimal")),
            ("objective", None if document["objective"] is None else f"{document['objective']:.12g}"),
            ("solution", solution(used)),
            ("proof", document["message"]),
            ("work", work),
            ("certificate", document["out"]),
        ],
    )
