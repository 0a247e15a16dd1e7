"""`novikoff serve`: models that predict while they learn, over HTTP."""

import sys

import click

from novikoff.cli import documents, options
from novikoff.cli.options import Result, is_quiet
from novikoff.cli.render import show
from novikoff.options import Number

# How many days, or all.
DAYS = options.OfKind(Number("a number of days of at least 1", low=1.0, high=1e6, is_open=False), all=None)


@click.command()
@options.option(
    "--store", None, "DIR|URL", "The folder of the logs (created if missing), or postgresql://USER@HOST/DATABASE.",
    required=True,
)  # fmt: skip
@options.option("--host", None, "ADDRESS", "The address to listen on.", "127.0.0.1")
@options.option("--port", click.IntRange(0, 65535), "N", "The port; 0 is any.", 8151)
@options.option(
    "--token-file",
    options.PATH,
    "FILE",
    "A file with the token that clients must send. Without one, only local requests are allowed.",
)
@options.option("--keep-log", DAYS, "all|DAYS", "How long to keep events that two snapshots cover.", "all")
@options.option(
    "--models", options.AT_LEAST_ONE, "N", "Keep this many models in memory; others are loaded on use.", 1000
)
@options.option(
    "--url",
    None,
    "URL",
    "The URL at which other servers on the same PostgreSQL store reach this one. By default, where it listens.",
)
@options.option(
    "--lease",
    click.FloatRange(min=1, max=3600),
    "SECONDS",
    "Let other servers on that store take over after this many seconds without a heartbeat.",
    10.0,
)
@options.answering
def serve(
    store: str,
    host: str,
    port: int,
    token_file: str | None,
    keep_log: float | None,
    models: int,
    url: str | None,
    lease: float,
) -> None:
    """Serve models that predict while they learn, until Ctrl-C or SIGTERM.

    Answered requests are on disk: a crash loses nothing. The address is also that of a page, which shows the models
    while they learn. The API is described at /docs. Each request is a line on stderr: method, path, status,
    milliseconds; --quiet omits them.
    """
    from novikoff.serve.run import check_address, check_installed, open_store, reached_at, read_token, shown

    check_installed()
    token = None if token_file is None else read_token(token_file)
    check_address(host, token)

    from novikoff.serve.app import App
    from novikoff.serve.run import serve as run
    from novikoff.serve.service import Service, ServiceOptions
    from novikoff.web import address_of, listen

    listener = listen(port, host)
    address = address_of(listener)
    opened = open_store(store, reached_at(url, address, store), lease)
    document = documents.document("serve", address=address, store=shown(store))
    rows = [("address", address), ("store", shown(store)), ("end it with", "Ctrl-C")]
    show(Result(document, "", lambda: rows))
    seconds = None if keep_log is None else 86400.0 * keep_log
    service = Service(opened, ServiceOptions(models, keep_log=seconds))
    run(listener, App(service, token, log=None if is_quiet() else sys.stderr))
