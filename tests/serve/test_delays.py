"""Labels that come late, through the log: both judges keep their bounds, and the record says so."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.engine.rounding import down
from novikoff.serve import answering, events, fold
from novikoff.serve.events import Example, LogRow, Revealed, Settings
from tests.draws import draws
from tests.late import as_example, late_streams, rounds, squares
from tests.serve.serving import Caller, run, serving
from tests.serve.streams import created, same


def played(points, delays, chosen):
    """The state after all labels have come, and for each update the updates learned while its label was awaited."""
    state, said, waited = fold.start(created(chosen)), {}, []
    for comes, i, x, y in rounds(points, delays):
        if not comes:
            example = as_example(x)
            said[i] = answering.to_remember(str(i), state, example, *answering.predict(state.learner, example))
            continue
        before = state.learner.updates
        fold.apply(state, LogRow(state.seq + 1, 1, 0.0, "reveal", events.encode([Revealed(said[i], y)])))
        if state.learner.updates > before:
            waited.append(before - said[i].mistakes)
    return state, waited


@settings(deadline=None, max_examples=draws(40))
@given(
    st.data(),
    st.integers(2, 4),
    st.sampled_from(["arrival", "served"]),
    st.sampled_from(["last", "average"]),
    st.sampled_from([0.0, 0.5]),
)
def test_with_random_delays_the_mistakes_stay_below_the_bound_in_the_record(data, n_classes, judge, readout, lead):
    W, points, delays = data.draw(late_streams(n_classes))
    chosen = Settings(readout, fit_intercept=False, classes=list(range(n_classes)), judge=judge, lead=lead)
    state, waited = played(points, delays, chosen)
    step, margin_square, u_square = squares(W, points)
    k = state.learner.updates
    assert k == len(waited)
    assert k * k * margin_square <= ((1 + 2 * lead) * k + 2 * sum(waited) * (judge == "served")) * step * u_square
    margin = down(down(math.sqrt(margin_square)) / math.sqrt(u_square) * (1 - 1e-15))
    record = answering.record(state, 0, margin)
    assert record.mistakes + record.narrow == k <= record.bound.holds_for_this_model
    assert not record.bound.ruled_out
    assert record.delay.mean == (sum(waited) / k if k else 0)
    assert record.delay.longest == max(waited, default=0)
    assert record.bound.on_arrival <= record.bound.as_served
    # With examples that were learned at once among them, the mean is over all mistakes.
    fold.apply(state, LogRow(state.seq + 1, 1, 0.0, "learn", events.encode([Example({"new": 1.0}, n_classes - 1)])))
    after = answering.record(state, 0, None)
    updates = after.mistakes + after.narrow
    assert after.delay.mean == (sum(waited) / updates if updates else 0)
    expected = record.bound.as_served if judge == "served" else record.bound.on_arrival
    assert record.bound.holds_for_this_model == expected


@settings(deadline=None, max_examples=draws(30))
@given(late_streams(3))
def test_judged_on_arrival_a_late_label_is_an_example_like_any_other(stream):
    _, points, delays = stream
    chosen = Settings(classes=[0, 1, 2])
    state, _ = played(points, delays, chosen)
    arrivals = [Example(as_example(x), y) for comes, _, x, y in rounds(points, delays) if comes]
    plain = fold.start(created(chosen))
    if arrivals:
        fold.apply(plain, LogRow(1, len(arrivals), 0.0, "learn", events.encode(arrivals)))
    assert same(state.learner, plain.learner)


def test_what_was_served_by_weights_that_were_taken_back_is_judged_on_arrival(where):
    async def test():
        async with serving(where) as service:
            caller = Caller(service)
            await caller.create(classes=["down", "up"], judge="served", fit_intercept=False)
            await caller.learn(({"a": 1.0}, "down"))
            on_the_path = await caller.predict({"a": 1.0})
            await caller.learn(({"a": 2.0}, "up"), ({"a": 2.0}, "up"))
            taken_back = await caller.predict({"a": 1.0})
            assert (on_the_path["label"], taken_back["label"]) == ("down", "up")
            await caller.roll_back(1)
            assert (await caller.reveal((taken_back["id"], "down")))["mistakes"] == 0
            assert (await caller.reveal((on_the_path["id"], "up")))["mistakes"] == 1
            assert caller.state.learner.waited == 0

    run(test())
