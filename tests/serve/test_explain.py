"""An example that nobody remembers is explained as one that is remembered."""

import tempfile

import msgspec
import pytest
from hypothesis import given, settings

from novikoff.serve.messages import RefusedError
from tests.draws import draws
from tests.serve.serving import Caller, run, serving
from tests.serve.streams import FEATURES, SETTINGS, STREAMS


@settings(deadline=None, max_examples=draws(30))
@given(SETTINGS, STREAMS, FEATURES)
def test_why_is_the_same_whether_or_not_the_example_is_remembered(chosen, stream, x):
    async def play(folder):
        async with serving(folder) as service:
            caller = Caller(service)
            await service.create_model("m", chosen)
            for example in stream:
                await caller.learn((example.x, example.y))
            why = await caller.explain(x)  # at once: the last mistakes are hardly on the disk
            said = await caller.predict(x)
            remembered = await caller.why(said["id"])
            assert why == msgspec.structs.replace(remembered, id=None)
            assert (await caller.record()).waiting == 1

    with tempfile.TemporaryDirectory() as folder:
        run(play(folder))


def test_what_is_no_example_is_refused(folder):
    async def play():
        async with serving(folder) as service:
            caller = Caller(service)
            await caller.create()
            with pytest.raises(RefusedError, match="scale it down"):
                await caller.explain({"a": 1e300})

    run(play())


def test_a_flag_is_a_number_in_an_explanation(folder):
    async def play():
        async with serving(folder) as service:
            caller = Caller(service)
            await caller.create()
            await caller.learn(({"a": 1.0}, "u"), ({"a": 2.0}, "v"))
            why = await caller.explain({"a": True})
            assert [type(part.value) for part in why.features] == [float, float]

    run(play())
