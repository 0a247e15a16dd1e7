"""A model as it was after any event, from a store: the newest intact snapshot, and the log from there on.

A snapshot is a state as bytes: its learner as a model file, and the counts beside it.
"""

import hashlib
import logging
from collections.abc import Iterator

import msgspec

from novikoff.serve import fold
from novikoff.serve.events import LogRow, Settings, decode
from novikoff.serve.fold import FOR_EVER, Counts, Mistake, ModelState, Path, from_file, is_on, path_to, to_file
from novikoff.serve.messages import RefusedError
from novikoff.serve.store import Snapshot, Store

ROWS_AT_ONCE = 1000
PARTS_AT_ONCE = 100

_MISTAKES = msgspec.msgpack.Decoder(list[Mistake])
_LOG = logging.getLogger("novikoff.serve")


class ReplayError(ValueError):
    """Replaying a log gives other mistakes than when it was learned."""


class TrimmedError(RefusedError):
    """The events that lead to a state are no longer in the log."""

    def __init__(self, message: str) -> None:
        super().__init__(410, message, "seq")


def state_at(store: Store, model: int, seq: int) -> ModelState:
    """Return the model after the event `seq`. A damaged snapshot is skipped, if the log makes up for it."""
    parts = path_to(seq, rollbacks_of(store, model))
    on_path = (each for each in store.snapshots(model) if each.seq <= seq and is_on(parts, each.seq))
    state = next(filter(None, (intact(store, model, snapshot) for snapshot in on_path)), None)
    start = -1 if state is None else state.seq
    for part in parts:
        if part.end <= start:
            continue
        if state is not None and state.seq < part.start:
            state.go_on_from(part.start)
        for row in _rows(store, model, -1 if state is None else state.seq, part.end):
            if state is None:
                state = fold.start(row)
            else:
                fold.apply(state, row, upto=part.end)
    if state is None or state.seq != seq:
        raise TrimmedError(f"event {seq} is no longer in the log, and no snapshot has it")
    _compare(store, model, state, start)
    return state


def rollbacks_of(store: Store, model: int) -> list[tuple[int, int]]:
    """Return the number of every rollback, and the event that it went back to."""
    return [(row.first, decode("rollback", row.body)[0].seq) for row in store.rollbacks(model)]


def intact(store: Store, model: int, snapshot: Snapshot) -> ModelState | None:
    """Return the state of a snapshot, or None if that is damaged."""
    try:
        return load_snapshot(store.snapshot(model, snapshot.seq), snapshot)
    except (ValueError, TypeError, msgspec.MsgspecError) as error:
        _LOG.warning("snapshot %d of model %d is damaged (%s); an older one is taken", snapshot.seq, model, error)
        return None


def _rows(store: Store, model: int, after: int, end: int) -> Iterator[LogRow]:
    """Yield the rows after an event, up to the one that holds the event `end`."""
    while after < end:
        rows = store.rows(model, after + 1, ROWS_AT_ONCE)
        if not rows or rows[0].first != after + 1:
            raise TrimmedError(f"event {after + 1} is no longer in the log")
        for row in rows:
            if row.first > end:
                return
            yield row
        after = rows[-1].last


def _compare(store: Store, model: int, state: ModelState, start: int) -> None:
    """Check that the log made the same mistakes as when it was learned; keep those not in the index yet."""
    indexed, end = mistakes_of(store, model, state.parts, start + 1)
    again = [mistake for mistake in state.mistakes if mistake.seq <= end]
    first_time = [mistake for mistake in indexed if mistake.seq <= state.seq]
    if again != first_time:
        raise ReplayError(
            f"the log from event {start + 1} on makes {len(again)} mistakes and made {len(first_time)} when it was "
            "learned; the store is damaged, or another version of novikoff wrote it"
        )
    state.mistakes = [mistake for mistake in state.mistakes if mistake.seq > end]


def mistakes_of(store: Store, model: int, path: Path, start: int, upto: int = FOR_EVER) -> tuple[list[Mistake], int]:
    """Return the mistakes of a path from an event to another, as far as the index has them, and how far that is."""
    found: list[Mistake] = []
    end = start - 1
    while end < upto and (parts := store.mistakes(model, end + 1, PARTS_AT_ONCE)):
        for last, body in parts:
            found += [
                mistake for mistake in _MISTAKES.decode(body) if mistake.seq >= start and is_on(path, mistake.seq)
            ]
            end = last
    return found, end


class Saved(msgspec.Struct):
    """What a snapshot holds of a state: its learner as a model file, and no mistakes, which are in the index."""

    seq: int
    settings: Settings
    counts: Counts
    parts: Path
    file: bytes


_SAVED = msgspec.msgpack.Decoder(Saved)


def _content(state: ModelState) -> bytes:
    saved = Saved(state.seq, state.settings, state.counts, state.parts, to_file(state.learner))
    return msgspec.msgpack.encode(saved)


def take_snapshot(state: ModelState) -> tuple[bytes, Snapshot]:
    """Return the state as bytes, and what is known of them, after a trial load."""
    content = _content(state)
    snapshot = Snapshot(state.seq, hashlib.sha256(content).hexdigest(), state.learner.mistakes)
    again = _content(load_snapshot(content, snapshot))
    if msgspec.msgpack.decode(again) != msgspec.msgpack.decode(content):
        raise ValueError("a snapshot does not reload as written; nothing is trimmed")
    return content, snapshot


def load_snapshot(content: bytes, snapshot: Snapshot) -> ModelState:
    """Load the state of a snapshot; raise ValueError if it is damaged."""
    if hashlib.sha256(content).hexdigest() != snapshot.sha256:
        raise ValueError("its SHA-256 is wrong")
    saved = _SAVED.decode(content)
    state = ModelState(saved.seq, saved.settings, from_file(saved.file), saved.counts, saved.parts)
    if state.learner.mistakes != snapshot.mistakes:
        raise ValueError(f"it has {state.learner.mistakes} mistakes and should have {snapshot.mistakes}")
    return state
