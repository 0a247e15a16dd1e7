"""`novikoff ball`: is there a circle, a sphere or a ball that holds one class and keeps the other out?"""

from typing import Any

import click

from novikoff.cli import documents, options
from novikoff.cli.files import out_target
from novikoff.cli.options import Output, Result, TableOptions
from novikoff.cli.progress import progress

CODES = {"ball": 0, "no ball": 30}


@click.command()
@click.argument("file", type=options.FILE)
@options.numbers
@click.option(
    "--inside", metavar="LABEL", help="The class to be inside.  [default: whichever fits; the second if both do]"
)
@options.out("Where to write the proof.")
@options.force
@options.time_limit("Give up after this many seconds.")
@options.answering
def ball(
    file: str,
    table: TableOptions,
    inside: str | None,
    out: str | None,
    force: bool,
    time_limit: float | None,
    output: Output,
) -> Result:
    """Is there a ball that holds one class of FILE and nothing else?

    The columns are coordinates, taken as they are. The answer is proved in exact arithmetic: a centre and a radius, or
    rows whose lifted points (x, |x|^2) cancel. The exit code is 0 if there is a ball, and 30 if there is none.
    """
    from novikoff.cli.tables import read_numbers
    from novikoff.prove.expressivity.ball import Ball
    from novikoff.prove.expressivity.search.separating_ball import separating_ball
    from novikoff.say.words import label_in_words

    target = out_target(out, force)
    read = read_numbers(file, table)
    if read.labels is None:
        raise ValueError("name the label column with --label")
    words = {label_in_words(name): name for name in read.labels.tolist()}
    if inside is not None and inside not in words:
        raise ValueError(f"--inside {inside} is not among the labels {', '.join(words)}")
    # Unless one is named, try the second of the two classes; if no ball holds it, the first.
    asked = sorted(words.values(), reverse=True) if inside is None else [words[inside]]
    with progress(output.quiet) as bar, bar.during("proving"):
        answers = (separating_ball(read.X, read.labels, inside=chosen, time_limit=time_limit) for chosen in asked)
        found = next(answers)
        found = found if found else next((other for other in answers if other), found)
        found.check(read.X, read.labels)
    if target is not None:
        target.write(found)
    is_ball = isinstance(found, Ball)
    document = documents.document(
        "ball",
        file=file,
        rows=len(read.X),
        columns=read.names,
        inside=found.inside,
        verdict="ball" if is_ball else "no ball",
        center=found.center.tolist() if isinstance(found, Ball) else None,
        radius=found.radius if isinstance(found, Ball) else None,
        obstruction_rows=None if isinstance(found, Ball) else found.rows,
        message=str(found),
        out=target,
    )
    return Result(document, lambda: panel(document), CODES[document["verdict"]])


def panel(document: dict[str, Any]) -> Any:
    """Show the ball, or the rows that rule it out."""
    from novikoff.cli.render import facts, in_words, listed, outcome
    from novikoff.say.words import counted

    rows = document["obstruction_rows"]
    center = None if document["center"] is None else ", ".join(f"{value:.6g}" for value in document["center"])
    return facts(
        f"novikoff ball {document['file']}",
        [
            ("read", f"{counted(document['rows'], 'point')} in {listed(document['columns'])}"),
            ("inside", in_words(document["inside"])),
            ("verdict", outcome(document["verdict"], "ball")),
            ("center", center),
            ("radius", None if document["radius"] is None else f"{document['radius']:.6g}"),
            ("obstruction", None if rows is None else f"rows {listed(rows)} (the first is 0)"),
            ("proof", document["message"]),
            ("certificate", document["out"]),
        ],
    )
