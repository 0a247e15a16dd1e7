"""The one writer. Jobs wait in a bounded queue; a transaction takes all that wait, up to a limit, and one commit.

Then they are applied to memory in the same order, and answered; many at once, while the next ones are being written.
Nothing is acknowledged, and nothing is to be seen, before it is on the disk. If a commit fails, nobody can know what is
on the disk, so the process ends; the next one will read it.
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

from novikoff.serve.jobs import Job
from novikoff.serve.models import DeferredWrite, Model, Models
from novikoff.serve.refused import ElsewhereError, RefusedError
from novikoff.serve.replay import encode_mistakes
from novikoff.serve.store import Store, StoreError

MOST_EVENTS = 2048
WORTH_OVERLAPPING = 256  # events that take as long to apply as others to write
LINGER = 0.002
MOST_WAITING = 16_384  # events
MOST_BYTES = 64 << 20
TIDY_EVERY = 60.0
EXIT_CODE = 74  # EX_IOERR


def end_process(error: BaseException) -> None:
    """End the process at once, so that nothing is acknowledged that may be lost."""
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
        """Write what waits, and end."""
        self._closing = True
        self._came.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown()

    def submit(self, job: Job, own: bool = False) -> "asyncio.Future[Any]":
        """Put a job into the queue; its answer comes after its commit. The service's `own` jobs are never refused."""
        if self._closing and not own:
            raise RefusedError(503, "the service is shutting down", retry_after=5)
        too_many = self.waiting + job.size > self.most_waiting or self.waiting_bytes + job.weight > MOST_BYTES
        # A job that alone is larger than the queue may wait in an empty one.
        if self.waiting and too_many and not own:
            raise RefusedError(429, f"{self.waiting:,} events wait to be written; send again later", retry_after=1)
        self.waiting += job.size
        self.waiting_bytes += job.weight
        self._jobs.append(job)
        self._came.set()
        return job.done

    async def _run(self) -> None:
        try:
            await self._write_all()
        except Exception as error:
            self.on_failure(error)

    async def _write_all(self) -> None:
        written: list[Job] = []  # and not applied yet
        last = 1
        while True:
            if not (self._jobs and self._may_overlap(written, self._jobs[0])):
                self._apply(written)
                written = []
            while not self._jobs and not self._closing:
                self._came.clear()
                await self._came.wait()
            if not self._jobs:
                return
            if last > 1 and not self._closing and not written:
                await self._linger(last)
            jobs = self._next()
            last = len(jobs)
            written = await self._write(jobs, meanwhile=written)

    def _may_overlap(self, written: list[Job], coming: Job) -> bool:
        """Whether the next transaction may begin before what is written is applied, and whether it is worth it."""
        return not (coming.alone or coming.prepares) and sum(job.size for job in written) >= WORTH_OVERLAPPING

    async def _linger(self, expected: int) -> None:
        """Where requests come together, wait for as many as last time, but not long."""
        end = time.monotonic() + LINGER
        while len(self._jobs) < expected and time.monotonic() < end:
            await asyncio.sleep(0.0002)

    def _next(self) -> list[Job]:
        """The jobs of the next transaction."""
        jobs: list[Job] = []
        events = 0
        while self._jobs and (not jobs or events + self._jobs[0].size <= MOST_EVENTS):
            if jobs and (self._jobs[0].alone or jobs[0].alone or self._jobs[0].prepares):
                break
            jobs.append(self._jobs.popleft())
            events += jobs[-1].size
        self.waiting -= events
        self.waiting_bytes -= sum(job.weight for job in jobs)
        return jobs

    async def _write(self, jobs: list[Job], meanwhile: list[Job]) -> list[Job]:
        """Write jobs, and meanwhile apply those that were written before; the jobs that are now on the disk."""
        for job in jobs:
            if job.prepares:
                await self._prepare(job)
        loop = asyncio.get_running_loop()
        commit = loop.run_in_executor(self._thread, self._commit, jobs, self.models.deferred_writes())
        self._apply(meanwhile)
        lost = await commit
        if lost:
            self.models.lose(lost)
        return jobs

    def _apply(self, jobs: list[Job]) -> None:
        """Apply what is on the disk, and answer."""
        if not jobs:
            return
        for job in jobs:
            if job.refused is None:
                answer = job.finish()
                self.models.touched.add(job.model)
                if not job.done.done():
                    job.done.set_result(answer)
            elif not job.done.done():
                job.done.set_exception(job.refused)
        self.after_commit()

    async def _prepare(self, job: Job) -> None:
        try:
            await asyncio.to_thread(job.prepare)
        except ValueError as error:
            job.refused = RefusedError(422, str(error))

    def _commit(self, jobs: list[Job], deferred: list[DeferredWrite]) -> set[Model]:
        """Write it all, but for models that another server holds; which those are."""
        now, store = self.now(), self.store
        models = {*(write.model for write in deferred), *(job.model for job in jobs if job.model.number)}
        with store.lock:
            started = time.perf_counter()
            taken = store.begin([(model.number, model.fence) for model in models])
            lost = {model for model in models if (model.number, model.fence) in taken}
            for write in deferred:
                if write.model not in lost:
                    self._add(write)
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

    def _add(self, write: DeferredWrite) -> None:
        number = write.model.number
        for name, answer in write.answers.items():
            self.store.answer_key(number, name, answer)
        for line, last, mistakes in write.mistakes:
            self.store.add_mistakes(number, line, last, encode_mistakes(mistakes))
