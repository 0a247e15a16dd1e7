"""What a server on a shared store holds, and for how long."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from novikoff.serve.models import Models
from novikoff.serve.refused import ElsewhereError
from novikoff.serve.store import Store


async def keep_renewing(store: Store, models: Models, every: float, on_failure: Callable[[Exception], None]) -> None:
    """Renew the lease of this server. If that is too late, others may hold its models, and it forgets them."""
    with ThreadPoolExecutor(1, "lease") as thread:
        while True:
            try:
                in_time = await asyncio.get_running_loop().run_in_executor(thread, store.renew)
            except Exception as error:
                on_failure(error)
                return
            if in_time:
                await asyncio.sleep(every)
            else:
                models.lose(list(models.loaded.values()))


def holder(store: Store, name: str) -> str | None:
    """The URL of the other server that holds a model. If nobody does any more, this one does now."""
    try:
        with store.lock:
            store.hold(name)
    except ElsewhereError as error:
        return error.url
    return None
