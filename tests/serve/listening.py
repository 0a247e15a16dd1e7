"""A service that listens, in a thread of this process."""

import contextlib
import time

from novikoff.serve import run
from novikoff.serve.app import App
from novikoff.serve.limits import Limited
from novikoff.serve.service import Service, ServiceOptions
from tests.browser import served
from tests.serve.nursery import free_port


@contextlib.contextmanager
def listening(where, token=None, port=0, **options):
    """The address of a service, and the service."""
    port = port or free_port()
    service = Service(run.open_store(str(where), f"http://127.0.0.1:{port}/", 10.0), ServiceOptions(**options))
    app = App(service, token)
    with served(app, port, lifespan="on", http=Limited, access_log=False, timeout_keep_alive=75) as address:
        while not service.ready:
            time.sleep(0.01)
        yield address, service
