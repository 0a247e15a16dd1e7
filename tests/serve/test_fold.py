"""The model is the fold of its log, bit for bit, however the log is cut into rows and wherever a snapshot is taken."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.serve import fold, replay
from novikoff.serve.events import Example, Settings
from novikoff.serve.fold import path_to
from tests.draws import draws
from tests.serve.streams import SETTINGS, STREAMS, created, folded, learned, learner_after, same

laws = settings(deadline=None, max_examples=draws(30))


@laws
@given(SETTINGS, STREAMS)
def test_the_fold_of_the_log_is_the_online_learner_bit_for_bit(chosen, stream):
    state = folded([created(chosen), *([learned(1, stream)] if stream else [])])
    assert same(state.learner, learner_after(chosen, stream))
    assert state.seq == len(stream)


@laws
@given(SETTINGS, STREAMS, st.data())
def test_how_a_stream_is_cut_into_rows_makes_no_difference(chosen, stream, data):
    whole = folded([created(chosen), *([learned(1, stream)] if stream else [])])
    cuts = sorted(data.draw(st.sets(st.integers(1, len(stream) - 1))) if len(stream) > 1 else [])
    bounds = [0, *cuts, len(stream)]
    parts = [learned(a + 1, stream[a:b]) for a, b in itertools.pairwise(bounds) if a < b]
    assert replay.take_snapshot(folded([created(chosen), *parts])) == replay.take_snapshot(whole)


@laws
@given(SETTINGS, STREAMS, STREAMS)
def test_a_snapshot_changes_nothing(chosen, before, after):
    rows = [created(chosen), *([learned(1, before)] if before else [])]
    straight, saved = folded(rows), folded(rows)
    content, snapshot = replay.take_snapshot(saved)
    loaded = replay.load_snapshot(content, snapshot)
    if after:
        flags = [fold.apply(state, learned(len(before) + 1, after)) for state in (straight, loaded)]
        assert flags[0] == flags[1]
    assert replay.take_snapshot(loaded) == replay.take_snapshot(straight)


@laws
@given(SETTINGS, STREAMS, st.integers(0, 40))
def test_a_row_can_be_folded_in_part(chosen, stream, upto):
    state = folded([created(chosen)])
    if stream:
        fold.apply(state, learned(1, stream), upto=upto)
    assert same(state.learner, learner_after(chosen, stream[:upto]))
    assert state.seq == min(upto, len(stream))


def test_a_gap_in_the_log_is_an_error():
    state = folded([created(Settings())])
    with pytest.raises(ValueError, match="the log has a gap: event 2 follows 0"):
        fold.apply(state, learned(2, [Example({}, "u")]))
    with pytest.raises(ValueError, match="has 1 events and should have 2"):
        fold.apply(state, learned(1, [Example({}, "u")])._replace(size=2))


def test_a_damaged_snapshot_is_an_error():
    state = folded([created(Settings())])
    content, snapshot = replay.take_snapshot(state)
    with pytest.raises(ValueError, match="SHA-256"):
        replay.load_snapshot(content[:-1] + b"x", snapshot)
    with pytest.raises(ValueError, match="0 mistakes and should have 1"):
        replay.load_snapshot(content, snapshot._replace(mistakes=1))


@laws
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=25), st.integers(0, 40))
def test_the_path_is_what_a_list_of_all_states_says(steps, ask):
    """The oracle keeps, for every event, the events that made its state."""
    made, rollbacks = [(0,)], []
    for is_rollback, target in steps:
        seq = len(made)
        if is_rollback:
            target %= seq
            rollbacks.append((seq, target))
            made.append((*made[target], seq))
        else:
            made.append((*made[-1], seq))
    ask %= len(made)
    on_path = [seq for part in path_to(ask, rollbacks) for seq in range(part.start, part.end + 1)]
    assert tuple(on_path) == made[ask]
