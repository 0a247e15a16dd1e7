"""Memory, queues, clocks, failures: what a service does when there is too much of something."""

import asyncio
import tracemalloc
from pathlib import Path

import pytest

import novikoff
from novikoff.serve.jobs import Token
from novikoff.serve.messages import RefusedError
from novikoff.serve.service import steady_clock
from novikoff.serve.store import FILE, Store, StoreError
from novikoff.serve.writer import MOST_EVENTS
from tests.serve.serving import DOWN, UP, Caller, Clock, Failure, run, serving, started

SOURCE = Path(novikoff.__file__).parent


def test_models_that_are_not_used_leave_memory_and_come_back_the_same(where):
    async def test():
        async with serving(where, most_models=3) as service:
            callers = [Caller(service, f"m{i}") for i in range(10)]
            for i, caller in enumerate(callers):
                await caller.create(classes=["down", "up"])
                await caller.learn(({"a": float(i), "b": 1.0}, "up"), DOWN)
            for round_number in range(3):
                for i, caller in enumerate(callers):
                    await caller.learn(({"a": -float(i), "b": 1.0}, "up"))
                    assert caller.state.seq == 3 + round_number
            assert len(service.models.loaded) <= 4
            files = [await caller.file() for caller in callers]
        async with serving(where) as service:
            callers = [Caller(service, f"m{i}") for i in range(10)]
            assert [await caller.file() for caller in callers] == files

    run(test())


def test_a_thousand_models_are_served_by_one_process(where):
    async def test():
        async with serving(where, most_models=100) as service:
            callers = [Caller(service, f"m{i}") for i in range(1000)]
            for start in range(0, 1000, 100):
                await asyncio.gather(*[caller.create() for caller in callers[start : start + 100]])
                await asyncio.gather(*[caller.learn(UP, DOWN) for caller in callers[start : start + 100]])
            assert len(service.models.loaded) <= 200
            for caller in callers[::50]:
                assert (await caller.predict({"a": 2.0}, remember=False))["label"] == "up"

    run(test())


def test_a_model_in_use_stays_in_memory(where):
    async def test():
        async with serving(where, most_models=1) as service:
            for name in ("a", "b", "c"):
                await Caller(service, name).create()
            held = await service.use("a")
            await asyncio.gather(*[Caller(service, name).learn(UP) for name in ("a", "b", "c")])
            assert service.models.loaded["a"] is held
            service.models.release(held)

    run(test())


def test_a_full_queue_is_refused_and_nothing_is_changed(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create()
            service.writer.most_waiting = 10
            asked = [asyncio.create_task(caller.learn(UP)) for _ in range(100)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
            full = [answer for answer in answers if isinstance(answer, RefusedError)]
            assert {(answer.status, answer.retry_after) for answer in full} == {(429, 1)}
            assert caller.state.seq == 100 - len(full) > 0

    run(test())


def test_a_batch_larger_than_a_transaction_takes_is_one_transaction(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create()
            before = service.writer.commits
            await caller.learn(*[UP, DOWN] * MOST_EVENTS)
            assert service.writer.commits == before + 1

    run(test())


def test_requests_that_wait_together_are_one_row_with_an_answer_each(where):
    async def test():
        async with serving(where) as service:
            caller, other = Caller(service), Caller(service, "n")
            await asyncio.gather(caller.create(), other.create())
            key = Token.of("key", b"x")
            asked = [caller.learn(UP), caller.learn(DOWN, UP), caller.learn(UP), other.learn(UP), caller.learn(DOWN)]
            answers = await asyncio.gather(*asked, caller.learn(UP, token=key), caller.learn(UP))
            assert [(answer["seq"], answer["examples"]) for answer in answers] == [
                (1, 1), (3, 2), (4, 1), (1, 1), (5, 1), (6, 1), (7, 1),
            ]  # fmt: skip
            (number,) = {held.number for name, held in service.models.loaded.items() if name == "m"}
            rows = service.store.rows(number, 1, 100)
            assert [(row.first, row.size) for row in rows] == [(1, 4), (5, 1), (6, 1), (7, 1)]
            assert sum(answer["mistakes"] for answer in answers) == sum(
                held.state.learner.mistakes for held in service.models.loaded.values()
            )
            assert (await caller.learn(UP, token=key)) == answers[5]

    run(test())


def test_requests_that_wait_together_for_a_model_that_is_deleted_are_all_refused(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create()
            asked = [caller.delete(), caller.learn(UP), caller.learn(DOWN)]
            _, *answers = await asyncio.gather(*asked, return_exceptions=True)
            assert [answer.status for answer in answers] == [404, 404]

    run(test())


def test_nothing_is_seen_or_answered_before_the_commit(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create()
            seen, commit = [], service.store.commit

            def watching():
                seen.append((caller.state.seq, asked.done()))
                commit()
                seen.append((caller.state.seq, asked.done()))

            service.store.commit = watching
            asked = asyncio.create_task(caller.learn(UP))
            await asked
            assert seen == [(0, False), (0, False)]
            assert caller.state.seq == 1

    run(test())


def test_a_commit_that_fails_ends_the_service_and_acknowledges_nothing(where):
    async def test():
        failure = Failure()
        service = await started(where, on_failure=failure)
        caller = Caller(service)
        await caller.create()
        await caller.learn(UP)

        def fail():
            raise StoreError("disk I/O error")

        service.store.commit = fail
        asked = asyncio.create_task(caller.learn(DOWN))
        await service.writer._task
        assert [str(error) for error in failure.errors] == ["disk I/O error"]
        assert not asked.done()
        assert caller.state.seq == 1
        asked.cancel()
        service.store.close()
        async with serving(where) as service:
            assert Caller(service).state.seq == 1

    run(test())


def test_two_processes_cannot_have_one_store_in_a_folder(folder):
    store = Store(folder)
    with pytest.raises(ValueError, match="is in use by another process"):
        Store(folder)
    store.close()
    Store(folder).close()


def test_a_file_that_is_no_store_is_refused(folder):
    (folder / FILE).write_bytes(b"no database" * 1000)
    with pytest.raises(ValueError, match="is not a store of novikoff"):
        Store(folder)


def test_a_clock_that_jumps_changes_nothing_but_times(where):
    async def test():
        clock = Clock()
        for now in (2e9, 1e9, 3e9, 5.0, 2.5e9):
            clock.now = now
            service = await started(where)
            service.clock = service.writer.now = steady_clock(service.store.latest(), wall=clock, steady=lambda: 0.0)
            caller = Caller(service)
            if now == 2e9:
                await caller.create()
            await caller.learn(UP, DOWN)
            assert (await caller.predict({"a": 1.0}))["label"] == "up"
            await service.stop()
        async with serving(where) as service:
            rows = service.store.rows(1, 0, 100)
            assert [row.first for row in rows] == [0, 1, 3, 5, 7, 9]
            assert [row.at for row in rows] == sorted(row.at for row in rows)
            assert Caller(service).state.learner.examples == 10

    run(test())


def test_requests_leave_nothing_in_memory(folder):
    async def test():
        async with serving(folder) as service:
            caller = Caller(service)
            await caller.create(classes=["down", "up"])

            async def ask(start, stop):
                for i in range(start, stop):
                    said = await caller.predict({"a": 1.0})
                    await caller.reveal((said["id"], "up" if i % 2 else "down"), token=Token.of(f"key {i}", b"x"))
                    await caller.learn(UP, DOWN)
                held = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, f"{SOURCE}/*")])
                return sum(trace.size for trace in held.traces)  # other threads of the tests may hold what they like

            tracemalloc.start()
            try:
                before = await ask(0, 500)
                after = await ask(500, 1500)
            finally:
                tracemalloc.stop()
            assert after - before < 100_000

    run(test())
