"""Whatever happens, in whatever order, the model is what a learner makes of the events on its path."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from novikoff.serve import replay
from novikoff.serve.fold import to_file
from tests.serve.serving import Caller, killed, run, started
from tests.serve.streams import EXAMPLES, FEATURES, LABELS, SETTINGS, learner_after

STEPS = st.one_of(
    st.tuples(st.just("learn"), st.lists(EXAMPLES, min_size=1, max_size=4)),
    st.tuples(st.just("predict"), FEATURES),
    st.tuples(st.just("reveal"), LABELS),
    st.tuples(st.just("roll back"), st.integers(0, 50)),
    st.tuples(st.sampled_from(["snapshot", "kill", "stop", "evict", "wait"]), st.none()),
)


class Oracle:
    """For every event, from which examples the model had learned then."""

    def __init__(self):
        self.states = [()]
        self.waiting = []

    def learn(self, example):
        self.states.append((*self.states[-1], example))


def test_the_model_is_the_fold_of_the_events_on_its_path(kind):
    @settings(deadline=None, max_examples=kind.examples)
    @given(SETTINGS, st.lists(STEPS, max_size=25))
    def law(chosen, steps):
        with kind.empty() as where:
            run(play(where, chosen, steps, "arrival"))

    law()


def test_a_kill_changes_nothing_where_labels_are_judged_as_served(kind):
    @settings(deadline=None, max_examples=kind.examples)
    @given(SETTINGS, st.lists(STEPS, max_size=25))
    def law(chosen, steps):
        chosen = replace(chosen, classes=["u", "v", "w"])
        with kind.empty() as where:
            run(play(where, chosen, [*steps, ("kill", None)], "served"))

    law()


async def play(where, chosen, steps, judge):
    oracle = Oracle()
    service = await started(where)
    caller = Caller(service)
    await service.create_model(caller.name, replace(chosen, judge=judge))
    for what, how in steps:
        if what == "learn":
            answer = await caller.learn(*[(each.x, each.y) for each in how])
            for each in how:
                oracle.learn(each)
            assert answer["seq"] == len(oracle.states) - 1
        elif what == "predict":
            answer = await caller.predict(how)
            if judge == "arrival":
                assert answer["label"] == learner_after(chosen, oracle.states[-1]).predict_one(how)
            oracle.waiting.append((answer["id"], how))
        elif what == "reveal" and oracle.waiting:
            name, x = oracle.waiting.pop(0)
            await caller.reveal((name, how))
            oracle.learn(type("Example", (), {"x": x, "y": how}))
        elif what == "roll back":
            target = how % len(oracle.states)
            await caller.roll_back(target)
            oracle.states.append(oracle.states[target])
        elif what == "snapshot":
            await caller.snapshot()
        elif what in ("kill", "stop", "evict"):
            before, _ = replay.take_snapshot(caller.state)
            if what == "evict":
                service.models.evict(service.models.loaded["m"])
                service.models.release(await service.models.use("m"))
            else:
                await (killed(service) if what == "kill" else service.stop())
                service = await started(where)
                caller = Caller(service)
            assert replay.take_snapshot(caller.state)[0] == before
        if judge == "arrival":
            assert to_file(caller.state.learner) == to_file(learner_after(chosen, oracle.states[-1])), what
    await killed(service)
    service = await started(where)
    caller = Caller(service)
    for seq, examples in enumerate(oracle.states if judge == "arrival" else ()):
        assert await caller.file(seq) == to_file(learner_after(chosen, examples)), seq
    assert service.writer.on_failure.errors == []
    await service.stop()
