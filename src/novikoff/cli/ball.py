"""`novikoff ball`: is there a circle, a sphere or a ball that holds one class and keeps the other out?"""

from typing import TYPE_CHECKING, Any

import click

from novikoff.cli import options
from novikoff.cli.options import Output

if TYPE_CHECKING:
    from novikoff.data.svmlight import ZeroBased

CODES = {"ball": 0, "no ball": 30}


@click.command()
@click.argument("file", type=options.FILE)
@options.label
@options.ignore
@options.file_format
@options.zero_based
@options.form
@click.option("--inside", metavar="LABEL", help="The class to be inside.  [default: the second of the two]")
@click.option("--out", type=click.Path(), metavar="CERT", help="Where to write the proof.")
@options.force
@options.time_limit("Seconds after which to give up.")
@options.answering
def ball(
    file: str,
    label: str | None,
    ignore: tuple[str, ...],
    format: str | None,
    zero_based: "ZeroBased",
    form: dict[str, Any],
    inside: str | None,
    out: str | None,
    force: bool,
    time_limit: float | None,
    output: Output,
) -> int:
    """Is there a ball that holds one class of FILE and nothing else?

    The columns are coordinates, taken as they are. The answer is proved in exact arithmetic: a centre and a radius, or
    rows whose lifted points (x, |x|^2) cancel. The exit code is 0 if there is a ball, and 30 if there is none.
    """
    from novikoff.cli import documents
    from novikoff.cli.numbers import read_numbers
    from novikoff.cli.outputs import check_free
    from novikoff.cli.render import answer
    from novikoff.data.whole_file import WholeFile
    from novikoff.engine.words import label_in_words
    from novikoff.prove.expressivity.ball import Ball
    from novikoff.prove.expressivity.search.separating_ball import separating_ball

    target = None if out is None else check_free(out, force)
    table = read_numbers(file, label, format, ignore, zero_based, form)
    if table.labels is None:
        raise ValueError("name the column with the labels by --label")
    words = {label_in_words(name): name for name in table.labels.tolist()}
    if inside is not None and inside not in words:
        raise ValueError(f"--inside {inside} is none of the labels {', '.join(words)}")
    chosen = None if inside is None else words[inside]
    found = separating_ball(table.X, table.labels, inside=chosen, time_limit=time_limit)
    found.check(table.X, table.labels)
    if target is not None:
        with WholeFile(target) as file_out:
            file_out.write(found.to_json().encode() + b"\n")
    is_ball = isinstance(found, Ball)
    document = documents.document(
        "ball",
        file=file,
        rows=len(table.X),
        columns=table.names,
        inside=found.inside,
        verdict="ball" if is_ball else "no ball",
        center=found.center.tolist() if isinstance(found, Ball) else None,
        radius=found.radius if isinstance(found, Ball) else None,
        obstruction_rows=None if isinstance(found, Ball) else found.rows,
        message=str(found),
        out=None if target is None else str(target),
    )
    answer(output, document, lambda: panel(document))
    return CODES["ball" if is_ball else "no ball"]


def panel(document: dict[str, Any]) -> Any:
    """The ball, or the rows that stand in the way."""
    from rich.text import Text

    from novikoff.cli.render import BAD, GOOD, facts, in_words, listed
    from novikoff.engine.words import counted

    verdict, rows = document["verdict"], document["obstruction_rows"]
    center = None if document["center"] is None else ", ".join(f"{value:.6g}" for value in document["center"])
    return facts(
        f"novikoff ball {document['file']}",
        [
            ("read", f"{counted(document['rows'], 'point')} in {listed(document['columns'])}"),
            ("inside", in_words(document["inside"])),
            ("verdict", Text(verdict, style=f"bold {GOOD if verdict == 'ball' else BAD}")),
            ("center", center),
            ("radius", None if document["radius"] is None else f"{document['radius']:.6g}"),
            ("in the way", None if rows is None else f"rows {listed(rows)} (the first is 0)"),
            ("proof", document["message"]),
            ("certificate", document["out"]),
        ],
    )
