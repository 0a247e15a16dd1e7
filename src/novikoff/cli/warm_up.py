"""`novikoff warm-up`: compile everything once."""

import click

from novikoff.cli import documents, options
from novikoff.cli.options import Output, Result
from novikoff.cli.progress import progress


@click.command(name="warm-up")
@options.answering
def warm_up(output: Output) -> Result:
    """Compile all kernels in advance.

    Small tables need no compiler; larger ones do, for some seconds, the first time on a machine. This does it in
    advance, for example while an image is built, and tells what took how long. Where it was done already, it takes no
    more than the loading.
    """
    from novikoff.cli.render import facts
    from novikoff.warming import warm_up as compile_all

    with progress(output.quiet) as bar, bar.during("preparing the engine"):
        seconds = compile_all(bar.rename)
    document = documents.document("warm-up", seconds=seconds)
    lines = [(what, f"{spent:.1f} s") for what, spent in (*seconds.items(), ("in all", sum(seconds.values())))]
    return Result(document, lambda: facts("novikoff warm-up", lines))
