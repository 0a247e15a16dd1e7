"""`novikoff lp`: solve a linear program, with proof."""

import click

from novikoff.cli import documents, options
from novikoff.cli.options import Result
from novikoff.cli.progress import progress
from novikoff.cli.render import outcome, solution

# SciPy's statuses, and the exit codes of this command.
CODES = {0: 0, 1: 22, 2: 20, 3: 21}
WORDS = {0: "optimal", 1: "undecided", 2: "infeasible", 3: "unbounded"}


@click.command()
@click.argument("file", type=click.Path())
@options.option(
    "--method", ("highs", "perceptron"), None, "The solver that finds the answer, which is then proved.", "highs"
)
@options.proof_out("Where to write the certificate, for `novikoff check`.")
@options.time_limit("Give up as undecided after this many seconds.", default=60.0)
@options.answering
def lp(file: str, method: str, time_limit: float) -> Result:
    """Solve the linear program FILE, with proof.

    FILE is MPS, or .npz with c, and perhaps A_ub, b_ub, A_eq, b_eq and bounds, as for SciPy's linprog. The exit code is
    the outcome: 0 optimal, 20 infeasible, 21 unbounded, each proved in exact arithmetic; 22 undecided.
    """
    from novikoff.data.programs import read_program
    from novikoff.prove.programs.search.linprog import linprog
    from novikoff.say.words import counted

    program = read_program(file)
    with progress() as bar, bar.during("solving"):
        result = linprog(**program.arguments, method=method, options={"time_limit": time_limit})
    proof, status, n_variables = result.certificate, WORDS[result.status], len(program.names)
    x = None if result.x is None else dict(zip(program.names, result.x.tolist(), strict=True))
    objective = None if result.fun is None else program.objective(result.fun)
    document = documents.document(
        "lp",
        file=file,
        variables=n_variables,
        constraints=program.n_constraints,
        status=status,
        objective=objective,
        x=x,
        arithmetic=None if proof is None else proof.arithmetic,
        message=program.restated(result.message),
        iterations=result.nit,
        pivots=result.pivots,
    )
    return Result(
        document,
        file,
        lambda: [
            ("read", f"{counted(n_variables, 'variable')}, {counted(program.n_constraints, 'constraint')}"),
            ("outcome", outcome(status, "optimal")),
            ("objective", None if objective is None else f"{objective:.12g}"),
            ("solution", solution([(name, f"{value:.10g}") for name, value in (x or {}).items() if value])),
            ("proof", document["message"]),
            ("work", f"{counted(result.nit, 'iteration')}, {counted(result.pivots, 'exact pivot')}"),
        ],
        CODES[result.status],
        certificate=proof,
    )
