"""What a service promises, without HTTP: keys, ids, limits, time, memory."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.serve.clock import Clock as Steady
from novikoff.serve.events import Challenge, Settings
from novikoff.serve.files import to_file
from novikoff.serve.jobs import Token
from novikoff.serve.refused import RefusedError
from novikoff.serve.sqlite import FILE, SqliteStore
from novikoff.serve.store import StoreError, StoreInUseError
from novikoff.serve.writer import MOST_EVENTS
from tests.serve.serving import Caller, Clock, Failure, killed, opened, run, serving, started
from tests.serve.streams import EXAMPLES, FEATURES, SETTINGS

DAY = 86400.0
UP, DOWN = ({"a": 1.0}, "up"), ({"a": -1.0}, "down")


async def refused(status, answer, match):
    with pytest.raises(RefusedError, match=match) as error:
        await answer
    assert error.value.status == status
    return error.value


def tamper(where, place, change):
    """Change bytes in the store: those of a table, in a column, where something holds."""
    store = opened(where)
    store.begin([])
    table, column, row = place
    for (before,) in store._all(f"SELECT {column} FROM {table} WHERE {row}"):
        store._run(f"UPDATE {table} SET {column} = ? WHERE {row}", change(before))
    store.commit()
    store.close()


# ---------------------------------------------------------------------------------------------------------------------
# Idempotency
# ---------------------------------------------------------------------------------------------------------------------


def test_the_same_key_and_request_are_learned_once_and_answered_alike(where):
    async def test():
        async with serving(where) as service:
            caller, token = Caller(service), Token.of("key", b"a request")
            await caller.create()
            await caller.learn(UP)
            first = await caller.learn(UP, DOWN, token=token)
            assert await caller.learn(UP, DOWN, token=token) == first
            together = await asyncio.gather(*[caller.learn(DOWN, token=Token.of("other", b"x")) for _ in range(5)])
            assert together == [together[0]] * 5
            assert caller.state.learner.examples == 4

    run(test())


def test_the_same_key_with_another_request_is_refused(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create()
            await caller.learn(UP, token=Token.of("key", b"a request"))
            await refused(422, caller.learn(DOWN, token=Token.of("key", b"another")), "came before")
            assert caller.state.learner.examples == 1

    run(test())


@pytest.mark.parametrize("later", [0, 1])
def test_a_key_is_known_after_a_kill_with_the_answer_that_was_given_or_would_have_been(where, later):
    """Right after the commit the answer is not in the store yet, and is found by folding the log again."""

    async def test():
        service = await started(where)
        caller = Caller(service)
        await caller.create()
        tokens = [Token.of(name, name.encode()) for name in ("learn", "reveal", "roll back")]
        ids = [(await caller.predict({"a": 1.0}))["id"] for _ in range(2)]
        ask = [
            lambda caller: caller.learn(UP, DOWN, UP, token=tokens[0]),
            lambda caller: caller.reveal(*[(name, "down") for name in ids], token=tokens[1]),
            lambda caller: caller.roll_back(2, token=tokens[2]),
        ]
        answers = [await each(caller) for each in ask]
        for _ in range(later):
            await caller.learn(UP)
        await killed(service)
        service = await started(where)
        caller = Caller(service)
        before = caller.state.seq
        assert [await each(caller) for each in ask] == answers
        assert caller.state.seq == before
        await service.stop()

    run(test())


# ---------------------------------------------------------------------------------------------------------------------
# Predictions that wait for their labels
# ---------------------------------------------------------------------------------------------------------------------


def test_an_id_survives_a_kill_and_is_revealed_once(where):
    async def test():
        service = await started(where)
        caller = Caller(service)
        await caller.create()
        said = await caller.predict({"a": 1.0})
        await killed(service)
        async with serving(where) as service:
            caller = Caller(service)
            assert (await caller.reveal((said["id"], "up")))["examples"] == 1
            await refused(409, caller.reveal((said["id"], "up")), "revealed already")
            await refused(404, caller.reveal(("unknown", "up")), "no prediction 'unknown'")
            record = await caller.record()
            assert (record.revealed, record.wrong, record.waiting) == (1, 1, 0)

    run(test())


def test_many_labels_are_revealed_all_or_none(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create(classes=["down", "up"])
            ids = [(await caller.predict({"a": float(i)}))["id"] for i in range(3)]
            error = await refused(404, caller.reveal((ids[0], "up"), ("unknown", "up")), "unknown")
            assert error.field == "line 2: id"
            await refused(409, caller.reveal((ids[0], "up"), (ids[0], "up")), "revealed already")
            await refused(422, caller.reveal((ids[0], "up"), (ids[1], "sideways")), "not among the classes")
            assert caller.state.seq == 0
            await caller.reveal(*[(name, "up") for name in reversed(ids)])
            assert caller.state.seq == 3
            (row,) = service.store.rows(1, 1, 10)
            assert [line.count(b'"x":{"a":2.0}') for line in row.body.splitlines()] == [1, 0, 0]

    run(test())


def test_an_id_is_forgotten_after_the_time_that_was_set(where):
    async def test():
        clock = Clock()
        async with serving(where, clock) as service:
            caller = Caller(service)
            await caller.create(remember_for=100.0)
            early, late = (await caller.predict({"a": 1.0}))["id"], None
            clock.now += 60
            late = (await caller.predict({"a": 1.0}))["id"]
            clock.now += 60
            await refused(404, caller.reveal((early, "up")), "too long ago")
            await refused(404, caller.why(early), "too long ago")
            await caller.reveal((late, "up"))
            clock.now += 1000
            await caller.learn(UP)
            assert service.store.remembered(1, early) is None

    run(test())


def test_ten_thousand_ids_that_are_never_revealed_take_no_memory_and_go_when_their_time_is_over(where):
    async def test():
        clock = Clock()
        async with serving(where, clock) as service:
            caller = Caller(service)
            await caller.create(remember_for=100.0)
            for _ in range(100):
                await asyncio.gather(*[caller.predict({"a": 1.0}) for _ in range(100)])
            assert (await caller.record()).waiting == 10_000
            model = service.models.loaded["m"]
            assert not model.answers
            assert model.users == service.writer.waiting == 0
            clock.now += 101
            for _ in range(20):
                await caller.learn(UP)
            assert service.store.waiting(1) == 0

    run(test())


def test_the_features_and_the_mistakes_that_speak_for_an_answer_add_up_to_its_lead(kind):
    async def test(where, chosen, stream, x):
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create(
                readout=chosen.readout, tie=chosen.tie, fit_intercept=chosen.fit_intercept, classes=chosen.classes
            )
            if stream:
                await caller.learn(*[(each.x, each.y) for each in stream])
            said = await caller.predict(x)
            why = await caller.why(said["id"])
            size = 1 + sum(abs(part.contribution) for part in why.past)
            assert why.rest == pytest.approx(0, abs=1e-9 * size)
            assert sum(part.contribution for part in why.features) == pytest.approx(why.lead, abs=1e-9 * size)
            assert why.mistakes == len(why.past) == caller.state.learner.mistakes
            assert why.lead >= 0

    @settings(deadline=None, max_examples=kind.examples)
    @given(SETTINGS, st.lists(EXAMPLES, max_size=25), FEATURES)
    def law(chosen, stream, x):
        with kind.empty() as where:
            run(test(where, chosen, stream, x))

    law()


def test_why_speaks_of_the_moment_of_the_answer_whatever_came_after(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create(classes=["down", "up"])
            await caller.learn(UP, DOWN)
            said = await caller.predict({"a": 2.0})
            before = await caller.why(said["id"])
            await caller.challenge(Challenge("rival", Settings(readout="last")))
            await caller.learn(*[({"a": 5.0}, "down")] * 3)
            await caller.roll_back(1)
            await caller.challenge(Challenge("second"))
            await caller.promote("second")
            assert await caller.why(said["id"]) == before
            assert sorted(past.seq for past in before.past) == [1, 2]

    run(test())


# ---------------------------------------------------------------------------------------------------------------------
# The log, snapshots, rollbacks
# ---------------------------------------------------------------------------------------------------------------------


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
    service = await started(where, clock, keep_log=30)
    caller = Caller(service)
    await caller.create()
    for _ in range(3):
        await caller.learn(UP, DOWN)
        clock.now += 40 * DAY
        service.save_all()
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


def test_a_snapshot_that_was_asked_for_can_be_gone_back_to_when_the_log_before_it_is_gone(where):
    async def test():
        clock = Clock()
        async with serving(where, clock, keep_log=1) as service:
            caller = Caller(service)
            await caller.create()
            await caller.learn(UP, DOWN)
            await caller.snapshot()
            expected = to_file(caller.state.learner)
            for _ in range(3):
                await caller.learn(DOWN)
                clock.now += 2 * DAY
                await caller.snapshot()
            assert [row.first for row in service.store.rows(1, 0, 100)] == [5]
            await caller.roll_back(2)
            assert to_file(caller.state.learner) == expected
            await caller.learn(UP)
            head = to_file(caller.state.learner)
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
        tamper(where, ("log", "body", "first = 1"), lambda body: body.replace(b'"down"', b'"up"'))
        with pytest.raises(StoreError, match="makes 0 mistakes and made 2"):
            await started(where)

    run(test())


# ---------------------------------------------------------------------------------------------------------------------
# Memory, limits, time, failure
# ---------------------------------------------------------------------------------------------------------------------


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
    store = SqliteStore(folder)
    with pytest.raises(StoreInUseError, match="is in use by another process"):
        SqliteStore(folder)
    store.close()
    SqliteStore(folder).close()


def test_a_file_that_is_no_store_is_refused(folder):
    (folder / FILE).write_bytes(b"no database" * 1000)
    with pytest.raises(ValueError, match="is no store of novikoff"):
        SqliteStore(folder)


def test_a_clock_that_jumps_changes_nothing_but_times(where):
    async def test():
        clock = Clock()
        for now in (2e9, 1e9, 3e9, 5.0, 2.5e9):
            clock.now = now
            service = await started(where)
            service.clock = service.writer.now = Steady(service.store.latest(), wall=clock, steady=lambda: 0.0)
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


# ---------------------------------------------------------------------------------------------------------------------
# Models and challengers
# ---------------------------------------------------------------------------------------------------------------------


def test_creating_the_same_again_changes_nothing_and_something_else_is_refused(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            assert (await caller.create(readout="last"))[1]
            await caller.learn(UP)
            about, is_new = await caller.create(readout="last")
            assert (about.examples, is_new) == (1, False)
            await refused(409, caller.create(), "it is another one")
            await refused(422, caller.create(judge="served"), "needs classes")
            await caller.delete()
            await refused(404, caller.learn(UP), "there is no model")
            assert (await caller.create())[1]
            assert caller.state.seq == 0

    run(test())


def test_two_who_create_at_once_get_one_model(where):
    async def test():
        async with serving(where) as service:
            asked = [Caller(service).create() for _ in range(3)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
            assert [answer.status for answer in answers if isinstance(answer, RefusedError)] == [409, 409]
            assert service.store.names() == ["m"]

    run(test())


def test_a_model_goes_on_from_a_file(where):
    async def test():
        async with serving(where) as service:
            old, new = Caller(service, "old"), Caller(service, "new")
            await old.create(classes=["down", "up"])
            await old.learn(UP, DOWN, ({"a": 3.0}, "down"))
            await new.create(file=await old.file())
            for caller in (old, new):
                await caller.learn(UP, ({"b": 1.0}, "down"))
            assert await old.file() == await new.file()
            await refused(422, Caller(service, "bad").create(file=b"no file"), "the file is no model file")
            await refused(422, Caller(service, "bad").create(file=await old.file(), tie="predict"), "brings readout")
        async with serving(where) as service:
            assert await Caller(service, "old").file() == await Caller(service, "new").file()

    run(test())


def test_challengers_are_refused_where_they_make_no_sense(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create(classes=["down", "up"])
            await caller.challenge(Challenge("rival"))
            await refused(409, caller.challenge(Challenge("rival")), "already")
            await refused(422, caller.challenge(Challenge("b", Settings(classes=["a", "b"]))), "classes of the model")
            await refused(404, caller.promote("nobody"), "no challenger 'nobody'")
            await refused(404, caller.retire("nobody"), "no challenger 'nobody'")
            for i in range(7):
                await caller.challenge(Challenge(f"c{i}"))
            await refused(409, caller.challenge(Challenge("one-more")), "retire one")
            assert len((await caller.record()).challengers) == 8

    run(test())
