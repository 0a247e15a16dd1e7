"""Models: created, gone on with, deleted."""

import asyncio
import base64
import contextlib
import sys
import threading

import pytest

import novikoff
from novikoff.serve import fold
from novikoff.serve.api import metrics
from novikoff.serve.messages import RefusedError
from tests.keep.test_hostile_files import forged
from tests.serve.serving import DOWN, UP, Caller, refused, run, serving, tamper


def test_creating_the_same_again_changes_nothing_and_something_else_is_refused(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            assert (await caller.create(readout="last"))[1]
            await caller.learn(UP)
            about, is_new = await caller.create(readout="last")
            assert (about.examples, is_new) == (1, False)
            await refused(409, caller.create(), "a different model")
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
            await refused(422, Caller(service, "bad").create(file=b"no file"), "the file is not a model file")
            await refused(422, Caller(service, "bad").create(file=await old.file(), tie="predict"), "has its own tie")
        async with serving(where) as service:
            assert await Caller(service, "old").file() == await Caller(service, "new").file()

    run(test())


# -- files from strangers, and logs that cannot be replayed ------------------------------------------------------------


def a_file(path, change=lambda header: None, **parameters):
    learner = novikoff.OnlinePerceptron(**parameters)
    learner.learn_many([{"a": 1.0}, {"a": -1.0}, {"a": 2.0}], ["up", "down", "up"])
    novikoff.save(learner, path, force=True)
    return forged(path.read_bytes(), path, change)


def later(header):
    header["memory"]["waited"] = 10**6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (later, "labels came later than there were mistakes"),
        (lambda header: header["memory"].update(labels=["up", {"scalar": ["bytes_", 4 * 10**9]}]), "cannot be made of"),
        (lambda header: header["parameters"].update({f"p{i}": LONG for i in range(9)}), "require arrays"),
        (lambda header: header["memory"].update(examples=int("9" * 5000)), "5,000 digits"),
        (lambda header: header.update(encoding={"columns": {}}), "field 'encoding', which is unknown"),
        (
            lambda header: header["memory"].update(labels=[{"tuple": ["up"]}, "down"]),
            "labels that a service cannot store",
        ),
        (lambda header: header["memory"].update(labels=[1.5, {"float": "inf"}]), "an infinite label"),
        (lambda header: header["memory"].update(labels=[1.5, {"float": "nan"}]), "stands for none at all"),
        (lambda header: header["parameters"].update(lead=2.0**52), "lead"),
        (lambda header: header["memory"].update(longest=1e300), "too long"),
        (lambda header: header["memory"].update(mistakes=1, longest=1e-9), "larger than the sum of all mistakes"),
    ],
)
def test_a_file_that_asks_for_too_much_is_refused(folder, tmp_path, change, words):
    async def test():
        with monkeypatched_digits():
            content = a_file(tmp_path / "m", change)
            async with serving(folder) as service:
                await refused(422, Caller(service).create(file=content), words)

    run(test())


LONG = {"array": {"type": "<U6000000", "shape": [1], "values": ["a"]}}


@contextlib.contextmanager
def monkeypatched_digits():
    """As in the command line, which lifts Python's limit."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def test_files_are_read_while_others_are_served(folder, tmp_path, monkeypatch):
    async def test():
        async with serving(folder) as service:
            await Caller(service).create()
            read, may_end = fold.from_file, threading.Event()

            def slowly(content):
                assert may_end.wait(60)
                return read(content)

            monkeypatch.setattr(fold, "from_file", slowly)
            content = a_file(tmp_path / "m")
            slow = asyncio.create_task(Caller(service, "slow").create(file=content))
            assert (await Caller(service).learn(UP))["seq"] == 1
            assert not slow.done()
            may_end.set()
            assert (await slow)[1]

    run(test())


def test_a_model_that_cannot_be_replayed_is_set_aside_and_the_others_are_served(where, tmp_path, caplog):
    """As one whose file was taken before files were looked at so closely."""

    async def test():
        content = a_file(tmp_path / "m")
        async with serving(where) as service:
            await Caller(service).create(file=content)
            await Caller(service).learn(UP)
            await Caller(service, "other").create()
            (number,) = (held.number for name, held in service.models.loaded.items() if name == "m")
        hostile = a_file(tmp_path / "m", later)
        good, bad = (base64.b64encode(each) for each in (content, hostile))
        tamper(where, ("log", "body", f"model = {number} AND first = 0"), lambda body: body.replace(good, bad))
        for _ in range(2):  # a restart makes no difference
            async with serving(where) as service:
                caller, other = Caller(service), Caller(service, "other")
                for answer in (caller.learn(UP), caller.create(), caller.record()):
                    await refused(500, answer, "'m' cannot be replayed.*set aside.*labels came later")
                await other.learn(UP)
                assert service.store.names() == ["m", "other"]
                assert "novikoff_models_set_aside 1" in metrics(service, 2)
        assert "model 'm' is set aside" in caplog.text
        async with serving(where) as service:
            caller = Caller(service)
            await service.delete_model("m")
            assert (await caller.create())[1]
            assert (await caller.learn(UP))["seq"] == 1

    run(test())
