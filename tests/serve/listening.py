"""A service that listens, in a thread of this process."""

import contextlib
import threading
import time

import uvicorn

from novikoff.serve import run
from novikoff.serve.app import App
from novikoff.serve.service import Options, Service
from novikoff.web import address_of, listen


@contextlib.contextmanager
def listening(where, token=None, lease=10.0, **options):
    """The address of a service, and the service."""
    listener = listen()
    service = Service(run.open_store(str(where), address_of(listener), lease), Options(**options))
    config = uvicorn.Config(
        App(service, token), http=run._protocol(), log_level="error", ws="none", lifespan="on", access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not service.ready:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield address_of(listener), service
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
