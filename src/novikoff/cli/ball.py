"""`novikoff ball`: is there a circle, a sphere or a ball that holds one class and keeps the other out?"""

import click

from novikoff.cli import documents, options
from novikoff.cli.options import Result, TableOptions
from novikoff.cli.progress import progress
from novikoff.cli.render import in_words, listed, outcome

CODES = {"ball": 0, "no ball": 30}


@click.command()
@click.argument("file", type=options.FILE)
@options.numbers
@options.option("--inside", None, "LABEL", "The class to be inside.  [default: whichever fits; the second if both do]")
@options.proof_out("Where to write the proof.")
@options.time_limit("Give up after this many seconds.")
@options.answering
def ball(file: str, table: TableOptions, inside: str | None, time_limit: float | None) -> Result:
    """Is there a ball that holds one class of FILE and nothing else?

    The columns are coordinates, taken as they are. The answer is proved in exact arithmetic: a centre and a radius, or
    rows whose lifted points (x, |x|^2) cancel. The exit code is 0 if there is a ball, and 30 if there is none.
    """
    from novikoff.cli.tables import read_numbers
    from novikoff.prove.expressivity.ball import Ball
    from novikoff.prove.expressivity.search.separating_ball import separating_ball
    from novikoff.say.words import counted, label_in_words

    read = read_numbers(file, table)
    if read.labels is None:
        raise ValueError("name the label column with --label")
    words = {label_in_words(name): name for name in read.labels.tolist()}
    if inside is not None and inside not in words:
        raise ValueError(f"--inside {inside} is not among the labels {', '.join(words)}")
    # Unless one is named, try the second of the two classes; if no ball holds it, the first.
    asked = sorted(words.values(), reverse=True) if inside is None else [words[inside]]
    with progress() as bar, bar.during("proving"):
        answers = (separating_ball(read.X, read.labels, inside=chosen, time_limit=time_limit) for chosen in asked)
        found = next(answers)
        found = found if found else next((other for other in answers if other), found)
        found.check(read.X, read.labels)
    verdict, center, radius, rows = "no ball", None, None, None
    if isinstance(found, Ball):
        verdict, center, radius = "ball", found.center.tolist(), found.radius
    else:
        rows = found.rows
    document = documents.document(
        "ball",
        file=file,
        rows=len(read.X),
        columns=read.names,
        inside=found.inside,
        verdict=verdict,
        center=center,
        radius=radius,
        obstruction_rows=rows,
        message=str(found),
    )
    return Result(
        document,
        file,
        lambda: [
            ("read", f"{counted(len(read.X), 'point')} in {listed(read.names)}"),
            ("inside", in_words(document["inside"])),
            ("verdict", outcome(verdict, "ball")),
            ("center", None if center is None else ", ".join(f"{value:.6g}" for value in center)),
            ("radius", None if radius is None else f"{radius:.6g}"),
            ("obstruction", None if rows is None else f"rows {listed(document['obstruction_rows'])} (the first is 0)"),
            ("proof", str(found)),
        ],
        CODES[verdict],
        certificate=found,
    )
