"""Requests that come again count once, and labels that come late find their predictions."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.serve.jobs import Token
from tests.serve.serving import DOWN, UP, Caller, Clock, killed, refused, run, serving, started
from tests.serve.streams import EXAMPLES, FEATURES, SETTINGS


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
            await refused(422, caller.learn(DOWN, token=Token.of("key", b"another")), "was already used")
            assert caller.state.learner.examples == 1

    run(test())


@pytest.mark.parametrize("later", [0, 1])
def test_a_key_is_known_after_a_kill_with_the_answer_that_was_given_or_would_have_been(where, later):
    """Right after the commit the mistakes are not in the index yet, and are found by folding the log again."""

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
            await refused(404, caller.reveal((early, "up")), "it may have expired")
            await refused(404, caller.why(early), "it may have expired")
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
            asked = ("readout", "tie", "fit_intercept", "classes", "lead")
            await caller.create(**{name: getattr(chosen, name) for name in asked})
            if stream:
                await caller.learn(*[(each.x, each.y) for each in stream])
            said = await caller.predict(x)
            why = await caller.why(said["id"])
            size = 1 + sum(abs(part.contribution) for part in why.past)
            assert why.rest == pytest.approx(0, abs=1e-9 * size)
            assert sum(part.contribution for part in why.features) == pytest.approx(why.lead, abs=1e-9 * size)
            assert why.mistakes == len(why.past) == caller.state.learner.updates
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
            await caller.learn(*[({"a": 5.0}, "down")] * 3)
            await caller.roll_back(1)
            assert await caller.why(said["id"]) == before
            later = await caller.predict({"a": 2.0})
            of_later = await caller.why(later["id"])
            await caller.learn(DOWN)
            await caller.roll_back(2)
            assert await caller.why(later["id"]) == of_later
            assert sorted(past.seq for past in before.past) == [1, 2]

    run(test())


@pytest.mark.parametrize("later", [0, 1])
def test_narrow_examples_count_as_no_mistakes_when_a_request_comes_again(where, later):
    async def test():
        async with serving(where) as service:
            caller, token = Caller(service), Token.of("key", b"a request")
            await caller.create(classes=["down", "up"], lead=2.0)
            first = await caller.learn(UP, UP, DOWN, token=token)
            assert first["mistakes"] < caller.state.learner.updates
            for _ in range(later):
                await caller.learn(UP)
            assert await caller.learn(UP, UP, DOWN, token=token) == first

    run(test())
