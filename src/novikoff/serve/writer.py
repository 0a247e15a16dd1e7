"""The one writer. Jobs wait in a bounded queue; a transaction takes all that wait, up to a limit, with one commit.

Then they are applied to memory in the same order, and answered. Nothing is acknowledged or visible before it is on the
disk. If a commit fails, what is on the disk is unknown, so the process exits; the next one reads it.
"""

import asyncio
import os
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from novikoff.serve.jobs import MOST_EVENTS, Job, Learn
from novikoff.serve.messages import ElsewhereError, RefusedError
from novikoff.serve.models import LoadedModel, Models
from novikoff.serve.store import Store, StoreError

MOST_WAITING = 16_384  # events
MOST_BYTES = 64 << 20
TIDY_EVERY = 60.0
EXIT_CODE = 74  # EX_IOERR


def end_process(error: BaseException) -> None:
    """Exit at once, so that nothing is acknowledged that may be lost."""
    if not isinstance(error, StoreError):
        traceback.print_exception(error)
    print(f"novikoff: {error}; cannot guarantee durability; shutting down", file=sys.stderr, flush=True)  # noqa: T201
    os._exit(EXIT_CODE)


class Writer:
    """Writes what the jobs plan, and applies it."""

    def __init__(
        self,
        store: Store,
        models: Models,
        now: Callable[[], float],
        on_failure: Callable[[BaseException], None] = end_process,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self.store, self.models, self.now, self.on_failure = store, models, now, on_failure
        self.most_waiting = most_waiting
        self.waiting = 0  # events
        self.waiting_bytes = 0
        self.commits = 0
        self.seconds = 0.0
        self._jobs: deque[Job] = deque()
        self._came = asyncio.Event()
        self._closing = False
        self._tidy_at = 0.0
        self._thread = ThreadPoolExecutor(1, "writer")
        self._task: asyncio.Task[None] | None = None
        self.after_commit: Callable[[], None] = lambda: None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Write what is queued, and stop."""
        self._closing = True
        self._came.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown()

    def submit(self, job: Job, own: bool = False) -> "asyncio.Future[Any]":
        """Queue a job; its answer comes after its commit. The service's `own` jobs are never refused."""
        if self._closing and not own:
            raise RefusedError(503, "the service is shutting down", retry_after=5)
        too_many = self.waiting + job.size > self.most_waiting or self.waiting_bytes + job.weight > MOST_BYTES
        # A job that alone is larger than the queue may wait in an empty one.
        if self.waiting and too_many and not own:
            raise RefusedError(429, f"{self.waiting:,} events wait to be written; send again later", retry_after=1)
        self.waiting += job.size
        self.waiting_bytes += job.weight
        last = self._jobs[-1] if self._jobs else None
        if not (isinstance(job, Learn) and isinstance(last, Learn) and last.join(job)):
            self._jobs.append(job)
            self._came.set()
        return job.callers[0]

    async def _run(self) -> None:
        try:
            await self._write_all()
        except Exception as error:
            self.on_failure(error)

    async def _write_all(self) -> None:
        while True:
            while not self._jobs and not self._closing:
                self._came.clear()
                await self._came.wait()
            if not self._jobs:
                return
            jobs = self._next()
            for job in jobs:
                await self._prepare(job)
            unsaved, loop = self.models.take_unsaved(), asyncio.get_running_loop()
            lost = await loop.run_in_executor(self._thread, self._commit, jobs, unsaved)
            if lost:
                self.models.lose(lost)
            for job in jobs:
                job.settle()
                if job.refused is None:
                    self.models.touched.add(job.model)
            self.after_commit()

    def _next(self) -> list[Job]:
        """Return the jobs of the next transaction."""
        jobs = [self._jobs.popleft()]
        events = jobs[0].size
        while self._jobs and not (jobs[0].alone or self._jobs[0].alone) and events + self._jobs[0].size <= MOST_EVENTS:
            jobs.append(self._jobs.popleft())
            events += jobs[-1].size
        self.waiting -= events
        self.waiting_bytes -= sum(job.weight for job in jobs)
        return jobs

    async def _prepare(self, job: Job) -> None:
        if job.alone:
            try:
                await asyncio.to_thread(job.prepare)
            except ValueError as error:
                job.refused = RefusedError(422, str(error))

    def _commit(self, jobs: list[Job], unsaved: list[Any]) -> set[LoadedModel]:
        """Write all, except for models that another server holds; return these."""
        now, store = self.now(), self.store
        models = {job.model for job in jobs if job.model.number} | {model for model, _, _ in unsaved}
        with store.lock:
            started = time.perf_counter()
            taken = store.begin([(model.number, model.fence) for model in models])
            lost = {model for model in models if (model.number, model.fence) in taken}
            for model, last, mistakes in unsaved:
                if model not in lost:
                    store.add_mistakes(model.number, last, msgspec.msgpack.encode(mistakes))
            for job in jobs:
                try:
                    if job.model in lost:
                        raise ElsewhereError(job.model.name)
                    if job.refused is None:
                        job.plan(store, now)
                except RefusedError as refused:
                    job.refused = refused
            if now >= self._tidy_at and store.forget(now, MOST_EVENTS) < MOST_EVENTS:
                self._tidy_at = now + TIDY_EVERY
            store.commit()
            self.commits += 1
            self.seconds += time.perf_counter() - started
        return lost
