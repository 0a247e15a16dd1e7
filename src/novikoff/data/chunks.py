"""Chunks: what label sequences such as B-NP I-NP O encode, and which labels may follow which.

A label is a letter, or a letter, a hyphen and a type ("B-NP", "I-a-b" of type "a-b", or just "B"). Four schemes:

    IOB1    I inside a chunk; B only where a chunk follows another of the same type
    IOB2    B at the first token of every chunk, I at the others (also called BIO)
    IOBES   B, I and E at the first, inner and last tokens of a chunk, S for a chunk of one token
    BILOU   the same with the letters L for E and U for S

O is outside of all chunks.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Letter: whether it always begins a chunk, and whether it always ends one.
_IOB = {"B": (True, False), "I": (False, False)}
SCHEMES = {
    "IOB1": _IOB,
    "IOB2": _IOB,
    "IOBES": _IOB | {"E": (False, True), "S": (True, True)},
    "BILOU": _IOB | {"L": (False, True), "U": (True, True)},
}


class Chunk(NamedTuple):
    """The tokens from `start` up to, not including, `stop`; the type is "" if the labels have none."""

    type: str
    start: int
    stop: int


class _LabelPart(NamedTuple):
    """One label, parsed. The type is None outside of all chunks."""

    type: str | None
    begins: bool
    ends: bool


@lru_cache(maxsize=1 << 12)
def _part(label: str, scheme: str) -> _LabelPart:
    if scheme not in SCHEMES:
        raise ValueError(
            f"unknown scheme {scheme!r}; use one of {', '.join(SCHEMES)} (BIO is IOB2, and BIOES is IOBES)"
        )
    letter, _, kind = label.partition("-") if isinstance(label, str) else ("", "", "")
    letters = SCHEMES[scheme]
    if letter == "O":
        return _LabelPart(None, False, False)
    if letter in letters:
        return _LabelPart(kind, *letters[letter])
    raise ValueError(
        f"label {label!r} is not {scheme}: a label is O, or one of {', '.join(letters)}, alone or with a hyphen and a "
        "type, like B-NP; correct the label, or pass the scheme= that the labels follow"
    )


def chunks(labels: Iterable[str], scheme: str = "IOB2") -> list[Chunk]:
    """Return the chunks of one sentence, from left to right.

    The rule for all schemes, and for illegal sequences too, is that of the script conlleval of the CoNLL shared tasks:
    a chunk ends before an O, before a B or S, before a label of another type, after an E or S, and with the sentence.
    Any label but O that does not continue a chunk begins one, so IOB1 and IOB2 are read alike.

    >>> chunks(["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-NP"])  # doctest: +NORMALIZE_WHITESPACE
    [Chunk(type='NP', start=0, stop=2), Chunk(type='NP', start=2, stop=3), Chunk(type='VP', start=4, stop=5),
     Chunk(type='NP', start=5, stop=6)]
    """
    found = []
    open_type: str | None = None
    start = position = 0
    for position, label in enumerate(labels):
        kind, begins, ends = _part(label, scheme)
        if begins or kind != open_type:
            if open_type is not None:
                found.append(Chunk(open_type, start, position))
            open_type, start = kind, position
        if ends and kind is not None:
            found.append(Chunk(kind, start, position + 1))
            open_type = None
    if open_type is not None:
        found.append(Chunk(open_type, start, position + 1))
    return found


class Transitions(NamedTuple):
    """Which label may follow which: `allowed[i, j]` for label j after label i; which may come first, and last."""

    allowed: NDArray[np.bool_]
    start: NDArray[np.bool_]
    end: NDArray[np.bool_]


def allowed_transitions(labels: Sequence[str], scheme: str = "IOB2") -> Transitions:
    """Return what a scheme allows. Beyond both ends of a sentence is O.

    IOB2: an I-X only after B-X or I-X. IOB1: a B-X only after B-X or I-X, because elsewhere the scheme writes I-X.
    IOBES: I-X and E-X only after B-X or I-X, and after these nothing else.

    >>> allowed, start, end = allowed_transitions(["O", "B-NP", "I-NP", "B-VP"])
    >>> allowed.astype(int).tolist()
    [[1, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1]]
    >>> start.tolist(), end.tolist()
    ([True, True, False, True], [True, True, True, True])
    """
    if len(set(labels)) < len(labels):
        raise ValueError("a label occurs twice; pass each label once, in the order of the tagger's columns")
    known, outside = [_part(label, scheme) for label in labels], _part("O", scheme)
    allowed = [_may_follow(before, after, scheme) for before in known for after in known]
    return Transitions(
        np.array(allowed, dtype=np.bool_).reshape(len(known), len(known)),
        np.array([_may_follow(outside, after, scheme) for after in known], dtype=np.bool_),
        np.array([_may_follow(before, outside, scheme) for before in known], dtype=np.bool_),
    )


def _may_follow(before: _LabelPart, after: _LabelPart, scheme: str) -> bool:
    same_type = before.type is not None and before.type == after.type
    if scheme == "IOB1":
        return same_type or not after.begins
    if after.type is not None and not after.begins:
        return same_type and not before.ends
    # Only IOB2 leaves the last token of a chunk unmarked, so only there may a chunk end after any of its labels.
    return scheme == "IOB2" or before.type is None or before.ends
