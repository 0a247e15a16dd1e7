"""A state of a model as bytes, and back: its learners as model files, and what is counted beside them."""

import hashlib
from typing import NamedTuple

import msgspec

from novikoff.serve.events import Settings
from novikoff.serve.files import from_file, to_file
from novikoff.serve.fold import Counts, Line, Rival, State
from novikoff.serve.path import Part, Path


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


class Snapshot(NamedTuple):
    """A state on disk: its number, the SHA-256 of its bytes, and the mistakes of its learner."""

    seq: int
    at: float
    sha256: str
    mistakes: int
    asked: bool  # by somebody: such snapshots are not cleared away


def take(state: State) -> tuple[bytes, str]:
    """The state as bytes, and their SHA-256. It is loaded again before it counts."""
    saved = _saved(state)
    content = msgspec.msgpack.encode(saved)
    digest = hashlib.sha256(content).hexdigest()
    again = load(content, digest, state.learner.mistakes)
    if _saved(again) != saved:
        raise ValueError("a snapshot does not come back as it was written; nothing is trimmed")
    return content, digest


def load(content: bytes, sha256: str, mistakes: int) -> State:
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
