"""`novikoff lab`: the lab, an interactive demo."""

from pathlib import Path

import click

from novikoff.cli import documents, options
from novikoff.cli.options import Result
from novikoff.cli.render import show

# The year of the theorem. A link to a scene works as long as the port stays the same.
PORT = 1962


@click.command()
@click.argument("link", required=False)
@options.option("--port", click.IntRange(1, 65535), "N", f"The port to serve on [default: {PORT} if free].")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in a browser.")
@click.option(
    "--export",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write the lab to a folder as a static site instead of serving it.",
)
@options.answering
def lab(link: str | None, port: int | None, browser: bool, folder: Path | None) -> Result | None:
    """Serve the lab, an interactive demo of the perceptron and its proof, until Ctrl-C.

    Place red and blue points, or choose a scene, and step through the algorithm. The page is served to this machine
    only, on 127.0.0.1. LINK is a link from the page: its scene is opened.
    """
    if folder is not None:
        from novikoff.lab.export import export

        files = len(export(folder))
        document = documents.document("lab", folder=str(folder), files=files)
        rows = [("written to", str(folder)), ("files", f"{files:,}")]
        return Result(document, "", lambda: rows)

    from novikoff.lab.server import check_installed, serve
    from novikoff.web import address_of, listen, listen_preferably

    check_installed()
    listener = listen_preferably(PORT) if port is None else listen(port)
    address = opened(address_of(listener), link or "")
    document = documents.document("lab", address=address)
    rows = [("address", address), ("end it with", "Ctrl-C")]
    show(Result(document, "", lambda: rows))
    if browser:
        import webbrowser

        webbrowser.open(address)
    serve(listener)
    return None


def opened(address: str, link: str) -> str:
    """Return a link made at another port, at this one.

    >>> opened("http://127.0.0.1:1962/", "http://127.0.0.1:40123/margins.html#scene=cars")
    'http://127.0.0.1:1962/margins.html#scene=cars'
    """
    from urllib.parse import urlsplit

    parts = urlsplit(link)
    return f"{address}{parts.path.lstrip('/')}{f'#{parts.fragment}' if parts.fragment else ''}"
