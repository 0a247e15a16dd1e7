"""Who watches: each watcher is told what changed, some times a second, as server-sent events.

All changes in between go into one message, which is made when the one before it has been taken. So the cost does not
grow with the load, and of a watcher that does not read only the names of the models that changed are kept.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable

from novikoff.serve.events import ENCODER
from novikoff.serve.messages import Brief, Changes, RefusedError
from novikoff.serve.models import Models

MOST_WATCHERS = 64
GAP = 0.2  # seconds between messages
SHARE = 0.1  # of the time that may go into making messages
HEARTBEAT = 15.0
BEAT = b": still here\n\n"


class Watcher:
    """One who watches, and the models that changed since it was last told; None are all."""

    def __init__(self) -> None:
        self.changed: set[str] | None = None
        self.came = asyncio.Event()
        self.came.set()


class Watchers:
    """All who watch these models."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._all: set[Watcher] = set()
        self._ended = asyncio.Event()

    def __len__(self) -> int:
        return len(self._all)

    def join(self) -> Watcher:
        if len(self) >= MOST_WATCHERS:
            raise RefusedError(429, f"{MOST_WATCHERS} watch already; ask again later", retry_after=5)
        watcher = Watcher()
        self._all.add(watcher)
        return watcher

    def leave(self, watcher: Watcher) -> None:
        self._all.discard(watcher)

    def end(self) -> None:
        """Tell all who watch that this is the end."""
        self._ended.set()
        self.changed(())

    def changed(self, names: Iterable[str]) -> None:
        """Tell, soon, that these models changed."""
        names = list(names)
        for watcher in self._all:
            if watcher.changed is not None:
                watcher.changed.update(names)
            watcher.came.set()

    async def messages(self, watcher: Watcher) -> AsyncIterator[bytes]:
        """What a watcher is told: first all models, then those that changed, until the end."""
        while not self._ended.is_set():
            try:
                async with asyncio.timeout(HEARTBEAT):
                    await watcher.came.wait()
            except TimeoutError:
                yield BEAT
                continue
            watcher.came.clear()
            if self._ended.is_set():
                return
            names, watcher.changed = watcher.changed, set()
            started = time.monotonic()
            news = ENCODER.encode(await self._news(names))
            pause = max(GAP, len(self) * (time.monotonic() - started) / SHARE)
            yield b"event: models\ndata: %b\n\n" % news
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ended.wait()

    async def _news(self, names: set[str] | None) -> Changes:
        """How the models of these names are now; without names, all of them."""

        def read() -> Changes:
            there = set(self._models.store.names())
            found = there if names is None else names & there
            return Changes([self._brief(name) for name in sorted(found)], sorted((names or set()) - there))

        return await asyncio.to_thread(read)

    def _brief(self, name: str) -> Brief:
        known = self._models.figures(name)
        if known is None:
            return Brief(name, None)
        number, figures = known
        return Brief(name, {**figures, "waiting": self._models.store.waiting(number)})
