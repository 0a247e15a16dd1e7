"""`novikoff lab`: a page on which one sees the perceptron learn."""

from typing import Any

import click

from novikoff.cli import options
from novikoff.cli.options import Output


@click.command()
@click.option(
    "--port", type=click.IntRange(1, 65535), metavar="N", help="The port to serve on; any free one if left out."
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Whether to open the page in a browser.")
@options.answering
def lab(port: int | None, browser: bool, output: Output) -> None:
    """Serve a page on which one sees the perceptron learn, and its proof beside it, until Ctrl-C.

    Put red and blue points, or choose a scene; then step through the algorithm. The page is served to this machine
    only, on 127.0.0.1.
    """
    from novikoff.cli import documents
    from novikoff.cli.render import answer
    from novikoff.lab.server import check_installed, serve
    from novikoff.web import address_of, listen

    check_installed()
    listener = listen(port or 0)
    address = address_of(listener)
    document = documents.document("lab", address=address)
    answer(output, document, lambda: panel(document))
    if browser:
        import webbrowser

        webbrowser.open(address)
    serve(listener)


def panel(document: dict[str, Any]) -> Any:
    """Where the lab is."""
    from novikoff.cli.render import facts

    return facts("novikoff lab", [("address", document["address"]), ("end it with", "Ctrl-C")])
