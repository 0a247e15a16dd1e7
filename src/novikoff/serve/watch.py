"""Watchers: each is sent what changed, a few times a second, as server-sent events.

All changes in between go into one message, which is made when the previous one has been read. So the cost does not grow
with the load, and for a watcher that does not read, only the names of changed models are kept.
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
SHARE = 0.1  # fraction of the time that may go into making messages
HEARTBEAT = 15.0
BEAT = b": still here\n\n"


class Watcher:
    """A watcher, and the models that changed since its last message; None means all."""

    def __init__(self) -> None:
        self.changed: set[str] | None = None
        self.came = asyncio.Event()
        self.came.set()


class Watchers:
    """All watchers of these models."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._all: set[Watcher] = set()
        self._ended = asyncio.Event()

    def __len__(self) -> int:
        return len(self._all)

    def join(self) -> Watcher:
        if len(self) >= MOST_WATCHERS:
            raise RefusedError(429, f"too many watchers: there are {MOST_WATCHERS} already; retry later", retry_after=5)
        watcher = Watcher()
        self._all.add(watcher)
        return watcher

    def leave(self, watcher: Watcher) -> None:
        self._all.discard(watcher)

    def end(self) -> None:
        """End the streams of all watchers."""
        self._ended.set()
        self.changed(())

    def changed(self, names: Iterable[str]) -> None:
        """Notify all watchers, soon, that these models changed."""
        names = list(names)
        for watcher in self._all:
            if watcher.changed is not None:
                watcher.changed.update(names)
            watcher.came.set()

    async def messages(self, watcher: Watcher) -> AsyncIterator[bytes]:
        """Yield the messages to a watcher: first all models, then those that changed, until the end."""
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
        """Return these models as they are now; without names, all of them."""

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
