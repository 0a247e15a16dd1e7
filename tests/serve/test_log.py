"""The log, its snapshots, what is trimmed, and what is found when something is damaged."""

import asyncio

from novikoff.serve.fold import to_file
from novikoff.serve.store import Store
from tests.serve.serving import DAY, DOWN, UP, Caller, Clock, refused, run, serving, started, tamper


def test_every_commit_is_synced_and_the_file_is_held_alone(folder):
    store = Store(folder)
    asked = ("journal_mode", "synchronous", "locking_mode")
    found = [store.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in asked]
    assert found == ["wal", 2, "exclusive"]
    store.close()


def test_a_damaged_newest_snapshot_is_passed_over(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create()
            for _ in range(3):
                await caller.learn(UP, DOWN)
                await caller.snapshot()
            expected = to_file(caller.state.learner)
        tamper(where, ("snapshots", "content", "seq = 6"), lambda content: bytes(100))
        tamper(where, ("snapshots", "content", "seq = 4"), lambda content: content[:50])
        async with serving(where) as service:
            assert to_file(Caller(service).state.learner) == expected

    run(test())


async def aged(where, clock):
    """A model whose log was trimmed: snapshots at 2 and 4 and 6, events since 5."""
    service = await started(where, clock, keep_log=30 * DAY)
    caller = Caller(service)
    await caller.create()
    for _ in range(3):
        await caller.learn(UP, DOWN)
        clock.now += 40 * DAY
        service.save(service.models.loaded.values())
        while service._snapshots:
            await asyncio.sleep(0.001)
    return service, caller


def test_the_log_is_trimmed_only_before_the_older_of_two_whole_snapshots(where):
    async def test():
        service, caller = await aged(where, Clock())
        assert [snapshot.seq for snapshot in service.store.snapshots(1)] == [6, 4]
        assert [row.first for row in service.store.rows(1, 0, 100)] == [5]
        await caller.file(4)
        await caller.file(5)
        for seq in (0, 1, 3):
            await refused(410, caller.file(seq), "no longer in the log")
        await refused(410, caller.roll_back(3), "no longer in the log")
        await refused(422, caller.roll_back(7), "the last event of 'm' is 6")
        assert caller.state.seq == 6
        await service.stop()

    run(test())


def test_after_trimming_a_damaged_newest_snapshot_still_loses_nothing(where):
    async def test():
        clock = Clock()
        service, caller = await aged(where, clock)
        expected = to_file(caller.state.learner)
        await service.stop()
        tamper(where, ("snapshots", "content", "seq = 6"), lambda content: bytes(100))
        async with serving(where, clock) as service:
            assert to_file(Caller(service).state.learner) == expected

    run(test())


def test_a_snapshot_can_be_gone_back_to_when_the_log_before_it_is_gone(where):
    async def test():
        clock = Clock()
        service, caller = await aged(where, clock)
        expected = await caller.file(4)
        await caller.roll_back(4)
        assert to_file(caller.state.learner) == expected
        await caller.learn(UP)
        head = to_file(caller.state.learner)
        await service.stop()
        async with serving(where, clock) as service:
            assert to_file(Caller(service).state.learner) == head

    run(test())


def test_snapshots_are_taken_by_themselves_and_old_ones_go(where):
    async def test():
        async with serving(where, snapshot_every=1000) as service:
            caller = Caller(service)
            await caller.create()
            for _ in range(50):
                await caller.learn(*[UP, DOWN] * 50)
            while service._snapshots:
                await asyncio.sleep(0.001)
            found = service.store.snapshots(1)
            assert len(found) == 2
            assert found[0].seq - found[1].seq >= 1000

    run(test())


def test_a_log_that_folds_to_other_mistakes_than_it_made_is_not_served(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create()
            await caller.learn(UP, DOWN, UP)
            await caller.learn(UP)
            await Caller(service, "other").create()
        tamper(where, ("log", "body", "first = 1"), lambda body: body.replace(b'"down"', b'"up"'))
        async with serving(where) as service:
            caller, other = Caller(service), Caller(service, "other")
            for answer in (caller.learn(UP), caller.predict({"a": 1.0}), caller.create(), caller.file()):
                await refused(500, answer, "cannot be replayed.*makes 0 mistakes and made 2")
            assert (await other.learn(UP))["seq"] == 1

    run(test())
