"""Who watches: each watcher is told what changed, some times a second, as server-sent events.

All changes in between go into one message, so the cost does not grow with the load. What a watcher is told waits
in a short queue; one that does not read is dropped, not waited for.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable

from novikoff.serve.events import ENCODER
from novikoff.serve.messages import Brief, Changes, RefusedError
from novikoff.serve.models import Models

MOST_WATCHERS = 64
MOST_MESSAGES = 32  # that wait for one watcher
GAP = 0.2  # seconds between messages
SHARE = 0.1  # of the time that may go into making messages
HEARTBEAT = 15.0
BEAT = b": still here\n\n"


class Watcher:
    """One who watches. `drop` ends the answer to it, which only the application can do."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_MESSAGES)
        self.drop: Callable[[], object] = lambda: None

    def tell(self, message: bytes | None) -> None:
        """Let it know; None is the end."""
        try:
            self.messages.put_nowait(message)
        except asyncio.QueueFull:
            self.drop()


class Watchers:
    """All who watch these models."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._old: set[Watcher] = set()
        self._new: set[Watcher] = set()  # they have to be told of all models
        self._changed: set[str] = set()
        self._came = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._old) + len(self._new)

    def join(self) -> Watcher:
        if len(self) >= MOST_WATCHERS:
            raise RefusedError(429, f"{MOST_WATCHERS} watch already; ask again later", retry_after=5)
        watcher = Watcher()
        self._new.add(watcher)
        self._came.set()
        if self._pump is None:
            self._pump = asyncio.create_task(self._run())
        return watcher

    def leave(self, watcher: Watcher) -> None:
        self._old.discard(watcher)
        self._new.discard(watcher)
        if not len(self) and self._pump is not None:
            self._pump.cancel()
            self._pump = None
            self._changed.clear()

    def end(self) -> None:
        """Tell all who watch that this is the end."""
        for watcher in (*self._old, *self._new):
            watcher.tell(None)

    def changed(self, names: Iterable[str]) -> None:
        """Tell, soon, that these models changed."""
        if len(self):
            self._changed.update(names)
            self._came.set()

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT):
                    await self._came.wait()
            if not self._came.is_set():
                self._tell(self._old, BEAT)
                continue
            self._came.clear()
            started = time.monotonic()
            changed, self._changed = self._changed, set()
            if changed and self._old:
                self._tell(self._old, _event(await self._news(changed)))
            if self._new:
                new, self._new = self._new, set()
                self._old |= new
                everything = _event(await self._news(None))
                self._tell(new & self._old, everything)
            await asyncio.sleep(max(GAP, (time.monotonic() - started) / SHARE))

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

    @staticmethod
    def _tell(watchers: set[Watcher], message: bytes) -> None:
        for watcher in list(watchers):
            watcher.tell(message)


def _event(changes: Changes) -> bytes:
    return b"event: models\ndata: %b\n\n" % ENCODER.encode(changes)
