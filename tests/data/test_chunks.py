"""Chunks, against a slow transcription of the rules."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.chunks import Chunk, allowed_transitions, chunks
from tests.chunks import LETTERS, labels_of, slow_chunks


@given(st.data(), st.sampled_from(list(LETTERS)))
def test_chunks_are_those_of_the_rules_pair_by_pair_legal_or_not(data, scheme):
    labels = data.draw(st.lists(labels_of(scheme), max_size=12))
    assert chunks(labels, scheme) == slow_chunks(labels)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("O O", []),
        ("B-X I-X O B-X", [("X", 0, 2), ("X", 3, 4)]),
        ("B-X B-X I-X", [("X", 0, 1), ("X", 1, 3)]),
        ("I-X I-X", [("X", 0, 2)]),
        ("O I-X O", [("X", 1, 2)]),
        ("B-X I-Y I-Y", [("X", 0, 1), ("Y", 1, 3)]),
        ("I-X I-Y I-X", [("X", 0, 1), ("Y", 1, 2), ("X", 2, 3)]),
        ("I-X B-X I-X", [("X", 0, 1), ("X", 1, 3)]),
        ("B I O I B", [("", 0, 2), ("", 3, 4), ("", 4, 5)]),
        ("B-a-b I-a-b I-a", [("a-b", 0, 2), ("a", 2, 3)]),
    ],
)
def test_iob_sequences_have_the_chunks_that_a_person_reads(labels, expected):
    assert chunks(labels.split(), "IOB1") == chunks(labels.split(), "IOB2") == [Chunk(*chunk) for chunk in expected]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("S-X B-X E-X", [("X", 0, 1), ("X", 1, 3)]),
        ("B-X I-X E-X E-X", [("X", 0, 3), ("X", 3, 4)]),
        ("O E-X I-X O", [("X", 1, 2), ("X", 2, 3)]),
        ("B-X S-X I-X", [("X", 0, 1), ("X", 1, 2), ("X", 2, 3)]),
        ("B-X E-Y", [("X", 0, 1), ("Y", 1, 2)]),
        ("B-X B-X O", [("X", 0, 1), ("X", 1, 2)]),
        ("B E S", [("", 0, 2), ("", 2, 3)]),
    ],
)
def test_iobes_sequences_have_the_chunks_that_a_person_reads(labels, expected):
    assert chunks(labels.split(), "IOBES") == expected
    bilou = labels.replace("E", "L").replace("S", "U")
    assert chunks(bilou.split(), "BILOU") == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: chunks(["O"], "BIO"), "unknown scheme 'BIO'.*BIO is IOB2"),
        (lambda: chunks(["E-X"]), "label 'E-X' is not IOB2.*scheme="),
        (lambda: chunks(["NP"]), "label 'NP' is not IOB2"),
        (lambda: chunks([None]), "label None is not IOB2"),
        (lambda: allowed_transitions(["O", "O"]), "a label occurs twice"),
    ],
)
def test_errors_say_what_is_wrong_and_where(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def written_in(scheme, found, length):
    """The one legal way to write chunks in a scheme."""
    labels = ["O"] * length
    begin, inside, end, single = {"BILOU": "BILU", "IOBES": "BIES"}.get(scheme, "BIIB")
    ends_at = {}
    for kind, start, stop in found:
        letters = single if stop == start + 1 else begin + inside * (stop - start - 2) + end
        if scheme == "IOB1":
            letters = ("B" if ends_at.get(start) == kind else "I") + "I" * (stop - start - 1)
        labels[start:stop] = [f"{letter}-{kind}" for letter in letters]
        ends_at[stop] = kind
    return labels


@given(st.data(), st.sampled_from(list(LETTERS)))
def test_a_sequence_is_allowed_exactly_if_it_is_how_the_scheme_writes_its_chunks(data, scheme):
    names = ["O", *(f"{letter}-{kind}" for letter in LETTERS[scheme] for kind in ("X", "Y"))]
    labels = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=6))
    allowed, start, end = allowed_transitions(names, scheme)
    steps = [names.index(label) for label in labels]
    legal = start[steps[0]] and end[steps[-1]] and all(allowed[a, b] for a, b in pairwise(steps))
    assert legal == (written_in(scheme, chunks(labels, scheme), len(labels)) == labels)


def test_a_sentence_begins_and_ends_outside_of_chunks():
    _, start, end = allowed_transitions(["O", "B-X", "I-X", "E-X", "S-X", "I-Y"], "IOBES")
    assert start.tolist() == [True, True, False, False, True, False]
    assert end.tolist() == [True, False, False, True, True, False]
