"""A model as it was after any event, from a store: the newest snapshot that is whole, and the log from there on.

A snapshot is a state as bytes: its learners as model files, and what is counted beside them.
"""

import hashlib
import logging
from collections.abc import Iterator

import msgspec

from novikoff.serve import fold
from novikoff.serve.events import Row, Settings, decode
from novikoff.serve.files import from_file, to_file
from novikoff.serve.fold import FOR_EVER, Counts, Line, Mistake, Part, Path, Rival, State, path_to
from novikoff.serve.store import Snapshot, Store

ROWS_AT_ONCE = 1000
PARTS_AT_ONCE = 100

_MISTAKES = msgspec.msgpack.Decoder(list[Mistake])
_LOG = logging.getLogger("novikoff.serve")


class ReplayError(ValueError):
    """A log makes another model than it made."""


class TrimmedError(ValueError):
    """The events that lead to a state are no longer in the log."""


def encode_mistakes(mistakes: list[Mistake]) -> bytes:
    """A part of the index of mistakes."""
    return msgspec.msgpack.encode(mistakes)


def state_at(store: Store, model: int, seq: int) -> State:
    """The model after the event `seq`. A damaged snapshot is passed over, as long as the log makes up for it."""
    parts = path_to(seq, rollbacks_of(store, model))
    with store.lock:
        found = store.snapshots(model)
    state = _newest_whole(store, model, parts, [snapshot for snapshot in found if snapshot.seq <= seq])
    start = -1 if state is None else state.seq
    for i, part in enumerate(parts):
        if part.end <= start:
            continue
        if state is not None and state.seq < part.start:
            state.seq, state.path = part.start, _path(parts[: i + 1], state.path.promoted)
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
    """The number of every rollback, and of the event that it went back to."""
    with store.lock:
        return [(row.first, decode("rollback", row.body)[0].seq) for row in store.rollbacks(model)]


def _newest_whole(store: Store, model: int, parts: tuple[Part, ...], found: list[Snapshot]) -> State | None:
    """The newest snapshot on the path that is not damaged."""
    for snapshot in found:
        if not any(part.start <= snapshot.seq <= part.end for part in parts):
            continue
        with store.lock:
            content = store.snapshot(model, snapshot.seq)
        try:
            return load_snapshot(content or b"", snapshot.sha256, snapshot.mistakes)
        except (ValueError, TypeError, msgspec.MsgspecError) as error:
            _LOG.warning("snapshot %d of model %d is damaged (%s); an older one is taken", snapshot.seq, model, error)
    return None


def _path(parts: tuple[Part, ...], promoted: int) -> Path:
    """The path of a state in the last of these parts, which goes on."""
    return Path((*parts[:-1], Part(parts[-1].start, FOR_EVER)), promoted)


def _rows(store: Store, model: int, after: int, end: int) -> Iterator[Row]:
    """The rows that follow an event, up to the one that holds the event `end`."""
    while after < end:
        with store.lock:
            rows = store.rows(model, after + 1, ROWS_AT_ONCE)
        if not rows or rows[0].first != after + 1:
            raise TrimmedError(f"event {after + 1} is no longer in the log")
        for row in rows:
            if row.first > end:
                return
            yield row
        after = rows[-1].last


def _compare(store: Store, model: int, state: State, start: int) -> None:
    """Whether the log made the same mistakes again as when it was learned; what is not in the index yet is kept."""
    for line in state.all_lines():
        indexed, end = mistakes_of(store, model, line, state.path, start + 1)
        again = [mistake for mistake in line.mistakes if mistake.seq <= end]
        first_time = [mistake for mistake in indexed if mistake.seq <= state.seq]
        if again != first_time:
            raise ReplayError(
                f"the log from event {start + 1} on makes {len(again)} mistakes and made "
                f"{len(first_time)} when it was learned; the store is damaged, or another version of novikoff wrote it"
            )
        line.mistakes = [mistake for mistake in line.mistakes if mistake.seq > end]


def mistakes_of(store: Store, model: int, line: Line, path: Path, start: int) -> tuple[list[Mistake], int]:
    """The mistakes of a line from the event `start` on, as far as they are in the index, and how far that is."""
    found: list[Mistake] = []
    end = start - 1
    while True:
        with store.lock:
            parts = store.mistakes(model, line.number, end + 1, PARTS_AT_ONCE)
        if not parts:
            return found, end
        for last, body in parts:
            found += [mistake for mistake in _MISTAKES.decode(body) if mistake.seq >= start and path.has(mistake.seq)]
            end = last


class SavedLine(msgspec.Struct):
    number: int
    settings: Settings
    counts: Counts
    file: bytes


class SavedRival(msgspec.Struct):
    line: SavedLine
    wrong: int
    model_wrong: int
    examples: int


class Saved(msgspec.Struct):
    """What a snapshot holds."""

    seq: int
    line: SavedLine
    challengers: dict[str, SavedRival]
    parts: list[Part]
    promoted: int


def take_snapshot(state: State) -> tuple[bytes, str]:
    """The state as bytes, and their SHA-256. It is loaded again before it counts."""
    saved = _saved(state)
    content = msgspec.msgpack.encode(saved)
    digest = hashlib.sha256(content).hexdigest()
    again = load_snapshot(content, digest, state.learner.mistakes)
    if _saved(again) != saved:
        raise ValueError("a snapshot does not come back as it was written; nothing is trimmed")
    return content, digest


def load_snapshot(content: bytes, sha256: str, mistakes: int) -> State:
    """The state of a snapshot; a ValueError if it is damaged."""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ValueError("its SHA-256 is wrong")
    saved = msgspec.msgpack.decode(content, type=Saved)
    rivals = {
        name: Rival(_line(rival.line), rival.wrong, rival.model_wrong, rival.examples)
        for name, rival in saved.challengers.items()
    }
    path = Path(tuple(saved.parts), saved.promoted)
    state = State(saved.seq, _line(saved.line), rivals, path)
    if state.learner.mistakes != mistakes:
        raise ValueError(f"it has {state.learner.mistakes} mistakes and should have {mistakes}")
    return state


def _saved(state: State) -> Saved:
    rivals = {
        name: SavedRival(_saved_line(rival.line), rival.wrong, rival.model_wrong, rival.examples)
        for name, rival in state.challengers.items()
    }
    parts, promoted = list(state.path.parts), state.path.promoted
    return Saved(state.seq, _saved_line(state.line), rivals, parts, promoted)


def _saved_line(line: Line) -> SavedLine:
    return SavedLine(line.number, line.settings, line.counts, to_file(line.learner))


def _line(saved: SavedLine) -> Line:
    return Line(saved.number, saved.settings, from_file(saved.file), saved.counts)
