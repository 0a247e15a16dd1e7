"""Models and their challengers: created, gone on with, compared, deleted."""

import asyncio

from novikoff.serve.events import Challenge, Settings
from novikoff.serve.refused import RefusedError
from tests.serve.serving import DOWN, UP, Caller, refused, run, serving


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
            await refused(
                422, Caller(service, "bad").create(file=await old.file(), tie="predict"), "brings its own tie"
            )
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
