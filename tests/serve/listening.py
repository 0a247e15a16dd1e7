"""A service that listens, in a thread of this process."""

import contextlib
import time

from novikoff.serve import run
from novikoff.serve.app import App
from novikoff.serve.service import Options, Service
from novikoff.serve.sqlite import SqliteStore
from tests.browser import served


@contextlib.contextmanager
def listening(folder, token=None, port=0, **options):
    """The address of a service, and the service."""
    service = Service(SqliteStore(folder), Options(**options))
    app = App(service, token)
    with served(app, port, lifespan="on", http=run.protocol(app), access_log=False) as address:
        while not service.ready:
            time.sleep(0.01)
        yield address, service
