"""A service in this process, on a store; it can be ended in good order, or as by a kill."""

import asyncio
import contextlib
import json

import pytest

from novikoff.serve import events, jobs, messages
from novikoff.serve.events import Settings
from novikoff.serve.messages import RefusedError
from novikoff.serve.run import open_store
from novikoff.serve.service import Service, ServiceOptions


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now=1e9):
        self.now = now

    def __call__(self):
        return self.now


class Failure:
    """What the writer does when a commit fails, instead of ending the process."""

    def __init__(self):
        self.errors = []

    def __call__(self, error):
        self.errors.append(error)


def run(test):
    """Run an asynchronous test; one that hangs fails."""
    return asyncio.run(asyncio.wait_for(test, 300))


async def started(where, clock=None, on_failure=None, store=None, **options):
    failure = Failure() if on_failure is None else on_failure
    service = Service(store or opened(where), ServiceOptions(**options), clock, failure)
    await service.start()
    if service.store.lease is not None:
        await service.models.open()  # each model is held as if somebody had asked for it
    return service


def opened(where, url="http://127.0.0.1:1", lease=600.0):
    return open_store(str(where), url, lease)


async def killed(service):
    """As a kill would leave it: what is committed is there, and nothing else."""
    for task in (service.writer._task, *service._tasks):
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    service.store.close()


@contextlib.asynccontextmanager
async def serving(where, clock=None, **options):
    service = await started(where, clock, **options)
    try:
        yield service
    finally:
        await service.stop()
        assert service.writer.on_failure.errors == []


class Caller:
    """Asks a service about one model, and reads its answers."""

    def __init__(self, service, name="m"):
        self.service, self.name = service, name

    async def _with(self, do):
        model = await self.service.use(self.name)
        try:
            answer = await do(model)
        finally:
            self.service.models.release(model)
        return json.loads(answer) if isinstance(answer, bytes) and answer[:1] == b"{" else answer

    async def create(self, **settings):
        return await self.service.create_model(self.name, Settings(**settings))

    async def delete(self):
        return await self.service.delete_model(self.name)

    async def learn(self, *pairs, token=None):
        examples = [events.Example(dict(x), y) for x, y in pairs]
        return await self._with(lambda model: self.service.learn(model, examples, None, token))

    async def predict(self, x, remember=True, token=None):
        asked = [messages.ToPredict(x, remember)]
        return await self._with(lambda model: self.service.predict(model, asked, token))

    async def reveal(self, *labels, token=None):
        given = [messages.ToReveal(name, label) for name, label in labels]
        return await self._with(lambda model: self.service.reveal(model, given, token))

    async def roll_back(self, seq, token=None):
        return await self._with(lambda model: self.service.roll_back(model, events.Rollback(seq), token))

    async def snapshot(self):
        keep_log = self.service.options.keep_log
        return await self._with(lambda model: self.service.writer.submit(jobs.TakeSnapshot(model, keep_log)))

    async def record(self, margin=None):
        return await self._with(lambda model: self.service.show_record(model, margin))

    async def why(self, name, top=1000):
        return await self._with(lambda model: self.service.show_why(model, name, top))

    async def explain(self, x, top=1000):
        return await self._with(lambda model: self.service.explain(model, messages.ToExplain(x), top))

    async def file(self, seq=None):
        return await self._with(lambda model: self.service.get_file(model, seq))

    @property
    def state(self):
        return self.service.models.loaded[self.name].state


DAY = 86400.0
UP, DOWN = ({"a": 1.0}, "up"), ({"a": -1.0}, "down")


async def refused(status, answer, match):
    """What is said when something is refused, which it must be, with this status."""
    with pytest.raises(RefusedError, match=match) as error:
        await answer
    assert error.value.status == status
    return error.value


def tamper(where, place, change):
    """Change bytes in the store: those of a table, in a column, where something holds."""
    table, column, row = place
    store = opened(where)
    store.begin([])
    for (before,) in store._all(f"SELECT {column} FROM {table} WHERE {row}"):
        store._run(f"UPDATE {table} SET {column} = ? WHERE {row}", change(before))
    store.commit()
    store.close()
