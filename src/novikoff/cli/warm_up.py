"""`novikoff warm-up`: compile everything once."""

import click

from novikoff.cli import documents, options
from novikoff.cli.options import Result
from novikoff.cli.progress import progress


@click.command(name="warm-up")
@options.answering
def warm_up() -> Result:
    """Compile all kernels in advance.

    Small tables need no compilation; larger ones do, for some seconds, the first time on a machine. This does it in
    advance, for example while an image is built, and reports the time of each part; if already compiled, it only loads.
    """
    from novikoff.warming import warm_up as compile_all

    with progress() as bar, bar.during("compiling"):
        seconds = compile_all(bar.rename)
    rows = [(what, f"{spent:.1f} s") for what, spent in (*seconds.items(), ("total", sum(seconds.values())))]
    return Result(documents.document("warm-up", seconds=seconds), "", lambda: rows)
