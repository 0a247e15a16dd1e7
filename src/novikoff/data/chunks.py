"""Chunks: what label sequences such as B-NP I-NP O say, and how well a prediction finds them.

A label is a letter, or a letter, a hyphen and a type ("B-NP", "I-a-b" of type "a-b", or just "B"). Four schemes:

    IOB1    I inside a chunk; B only where a chunk follows another of the same type
    IOB2    B at the first token of every chunk, I at the others (also called BIO)
    IOBES   B, I and E at the first, inner and last tokens of a chunk, S for a chunk of one token
    BILOU   the same with the letters L for E and U for S

O is outside of all chunks.
"""

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


class _Part(NamedTuple):
    """What one label says. The type is None outside of all chunks."""

    type: str | None
    begins: bool
    ends: bool


class _Parts(dict[str, _Part]):
    """The parts of each label, taken apart when it is first met: a corpus has few labels and many tokens."""

    def __init__(self, scheme: str) -> None:
        super().__init__()
        if scheme not in SCHEMES:
            raise ValueError(
                f"unknown scheme {scheme!r}; use one of {', '.join(SCHEMES)} (BIO is IOB2, and BIOES is IOBES)"
            )
        self.scheme = scheme

    def __missing__(self, label: str) -> _Part:
        letter, _, kind = label.partition("-") if isinstance(label, str) else ("", "", "")
        letters = SCHEMES[self.scheme]
        if letter == "O":
            part = _Part(None, False, False)
        elif letter in letters:
            part = _Part(kind, *letters[letter])
        else:
            raise ValueError(
                f"label {label!r} is not {self.scheme}: a label is O, or one of {', '.join(letters)}, alone or with a "
                "hyphen and a type, like B-NP; correct the label, or pass the scheme= that the labels follow"
            )
        self[label] = part
        return part


def chunks(labels: Iterable[str], scheme: str = "IOB2") -> list[Chunk]:
    """The chunks of one sentence, from left to right.

    One rule for all schemes, and for illegal sequences too, is that of the script conlleval of the CoNLL shared tasks:
    a chunk goes on as long as the labels carry its type. It ends before an O, before a B or S (of whatever type),
    before a label of another type, after an E or S, and with the sentence. Any label but O that does not continue a
    chunk begins one. So an I-X after O, after I-Y, or at the start of the sentence begins a chunk as B-X would, and
    IOB1 and IOB2 are read alike. (The script itself has no S, and E only as the schemes IOE1 and IOE2 use it.)

    >>> chunks(["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-NP"])  # doctest: +NORMALIZE_WHITESPACE
    [Chunk(type='NP', start=0, stop=2), Chunk(type='NP', start=2, stop=3), Chunk(type='VP', start=4, stop=5),
     Chunk(type='NP', start=5, stop=6)]
    """
    return _chunks(labels, _Parts(scheme))


def _chunks(labels: Iterable[str], parts: _Parts) -> list[Chunk]:
    found = []
    open_type: str | None = None
    start = position = 0
    for position, label in enumerate(labels):
        kind, begins, ends = parts[label]
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


@dataclass(frozen=True)
class ChunkCounts:
    """How many chunks are in the gold labels, how many were found, and how many of those are correct.

    >>> counts = ChunkCounts(gold=4, found=5, correct=3)
    >>> counts.precision, counts.recall, round(counts.f1, 4)
    (0.6, 0.75, 0.6667)
    """

    gold: int
    found: int
    correct: int

    @property
    def precision(self) -> float:
        """The share of the found chunks that are correct; 0 if none was found."""
        return self.correct / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold chunks that were found; 0 if there are none."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, which is 2 correct / (found + gold); 0 if none is correct."""
        return 2 * self.correct / (self.found + self.gold) if self.correct else 0.0


@dataclass(frozen=True)
class ChunkScores:
    """The counts of all chunks and of each type, and how many tokens have the right label; prints as a table."""

    overall: ChunkCounts
    by_type: dict[str, ChunkCounts]
    tokens: int
    correct_tokens: int

    @property
    def precision(self) -> float:
        """The precision over chunks of all types."""
        return self.overall.precision

    @property
    def recall(self) -> float:
        """The recall over chunks of all types."""
        return self.overall.recall

    @property
    def f1(self) -> float:
        """The F1 over chunks of all types."""
        return self.overall.f1

    @property
    def accuracy(self) -> float:
        """The share of the tokens whose label is right; 0 if there are no tokens."""
        return self.correct_tokens / self.tokens if self.tokens else 0.0

    def __str__(self) -> str:
        named = [(name or "(no type)", counts) for name, counts in self.by_type.items()]
        width = max(len(name) for name, _ in [*named, ("(no type)", self.overall)])
        lines = [f"{'':{width}}  precision   recall       F1     gold    found  correct"]
        for name, counts in [*named, ("all", self.overall)]:
            shares = f"{counts.precision:11.2%}{counts.recall:9.2%}{counts.f1:9.2%}"
            lines.append(f"{name:{width}}{shares}{counts.gold:9,}{counts.found:9,}{counts.correct:9,}")
        lines.append(f"{self.correct_tokens:,} of {self.tokens:,} tokens have the right label: {self.accuracy:.2%}.")
        return "\n".join(lines)


def score_chunks(
    gold_sequences: Iterable[Sequence[str]], predicted_sequences: Iterable[Sequence[str]], scheme: str = "IOB2"
) -> ChunkScores:
    """Precision, recall and F1 of chunks, as the script conlleval of the CoNLL shared tasks computes them.

    A chunk is correct when its type, its first and its last token agree with a gold chunk. No chunk crosses the end
    of a sentence. How chunks are read off the labels, legal or not, is the rule of `chunks`. A quotient 0/0 is 0.

    >>> print(score_chunks([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]]))
               precision   recall       F1     gold    found  correct
    NP            50.00%  100.00%   66.67%        1        2        1
    VP             0.00%    0.00%    0.00%        1        0        0
    all           50.00%   50.00%   50.00%        2        2        1
    3 of 4 tokens have the right label: 75.00%.
    """
    parts = _Parts(scheme)
    gold_counts, found_counts, correct_counts = Counter[str](), Counter[str](), Counter[str]()
    tokens = correct_tokens = 0
    for number, (gold_labels, predicted_labels) in enumerate(_paired(gold_sequences, predicted_sequences)):
        try:
            gold, predicted = _chunks(gold_labels, parts), _chunks(predicted_labels, parts)
        except ValueError as error:
            raise ValueError(f"sentence {number} (counting from 0): {error}") from None
        gold_counts.update(chunk.type for chunk in gold)
        found_counts.update(chunk.type for chunk in predicted)
        correct_counts.update(chunk.type for chunk in set(gold).intersection(predicted))
        tokens += len(gold_labels)
        correct_tokens += sum(map(operator.eq, gold_labels, predicted_labels))

    by_type = {
        name: ChunkCounts(gold_counts[name], found_counts[name], correct_counts[name])
        for name in sorted(gold_counts.keys() | found_counts.keys())
    }
    overall = ChunkCounts(gold_counts.total(), found_counts.total(), correct_counts.total())
    return ChunkScores(overall, by_type, tokens, correct_tokens)


def _paired(
    gold_sequences: Iterable[Sequence[str]], predicted_sequences: Iterable[Sequence[str]]
) -> Iterable[tuple[Sequence[str], Sequence[str]]]:
    gold_list, predicted_list = list(gold_sequences), list(predicted_sequences)
    if len(gold_list) != len(predicted_list):
        raise ValueError(f"{len(gold_list)} sentences of gold labels, but {len(predicted_list)} of predicted ones")
    for number, (gold, predicted) in enumerate(zip(gold_list, predicted_list, strict=True)):
        if isinstance(gold, str) or isinstance(predicted, str):
            raise ValueError("one list of labels is not a list of sentences; for a single sentence pass [labels]")
        if len(gold) != len(predicted):
            raise ValueError(
                f"sentence {number} (counting from 0) has {len(gold)} gold labels, but {len(predicted)} predicted; "
                "a prediction has one label for every token"
            )
    return zip(gold_list, predicted_list, strict=True)


class Transitions(NamedTuple):
    """Which label may follow which: `allowed[i, j]` for label j after label i; which may come first, and last."""

    allowed: NDArray[np.bool_]
    start: NDArray[np.bool_]
    end: NDArray[np.bool_]


def allowed_transitions(labels: Sequence[str], scheme: str = "IOB2") -> Transitions:
    """What a scheme allows, for a tagger that shall never predict an illegal sequence.

    IOB2: an I-X only after B-X or I-X. IOB1: a B-X only after B-X or I-X, because elsewhere the scheme writes I-X.
    IOBES: I-X and E-X only after B-X or I-X, and after these nothing else. Beyond both ends of a sentence all is O.

    >>> allowed, start, end = allowed_transitions(["O", "B-NP", "I-NP", "B-VP"])
    >>> allowed.astype(int).tolist()
    [[1, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1]]
    >>> start.tolist(), end.tolist()
    ([True, True, False, True], [True, True, True, True])
    """
    if len(set(labels)) < len(labels):
        raise ValueError("a label occurs twice; pass each label once, in the order of the tagger's columns")
    parts = _Parts(scheme)
    known, outside = [parts[label] for label in labels], parts["O"]
    allowed = [_may_follow(before, after, scheme) for before in known for after in known]
    return Transitions(
        np.array(allowed, dtype=np.bool_).reshape(len(known), len(known)),
        np.array([_may_follow(outside, after, scheme) for after in known], dtype=np.bool_),
        np.array([_may_follow(before, outside, scheme) for before in known], dtype=np.bool_),
    )


def legal_bigram(before: str | None, after: str | None, scheme: str = "IOB2") -> bool:
    """Whether one label may follow another; None stands for what lies beyond the sentence.

    >>> legal_bigram("B-NP", "I-NP"), legal_bigram("B-NP", "I-VP"), legal_bigram(None, "I-NP")
    (True, False, False)
    """
    parts = _Parts(scheme)
    return _may_follow(parts["O" if before is None else before], parts["O" if after is None else after], scheme)


def _may_follow(before: _Part, after: _Part, scheme: str) -> bool:
    same_type = before.type is not None and before.type == after.type
    if scheme == "IOB1":
        return same_type or not after.begins
    if after.type is not None and not after.begins:
        return same_type and not before.ends
    # Only IOB2 leaves the last token of a chunk unmarked, so only there may a chunk end after any of its labels.
    return scheme == "IOB2" or before.type is None or before.ends
