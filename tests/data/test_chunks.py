"""Chunks and their scores, against a slow transcription of the rules and against counting by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data.chunks import Chunk, allowed_transitions, chunks, legal_bigram, score_chunks

LETTERS = {"IOB1": "BI", "IOB2": "BI", "IOBES": "BIES", "BILOU": "BILU"}


def labels_of(scheme):
    return st.sampled_from(["O", *(f"{letter}-{kind}" for letter in LETTERS[scheme] for kind in ("X", "Y"))])


def letter_and_type(label):
    letter, _, kind = label.replace("L-", "E-").replace("U-", "S-").partition("-")
    return letter, kind


def starts_here(before, here):
    """Whether a chunk starts between two tokens, pair of letters by pair of letters."""
    (letter_before, type_before), (letter, kind) = before, here
    if letter == "O":
        return False
    pairs = {"BB", "IB", "OB", "EB", "SB", "OI", "EI", "SI", "OE", "EE", "SE", "BS", "IS", "OS", "ES", "SS"}
    return letter_before + letter in pairs or type_before != kind


def ends_here(before, here):
    """Whether a chunk ends between two tokens."""
    (letter_before, type_before), (letter, kind) = before, here
    if letter_before == "O":
        return False
    pairs = {"BB", "BO", "BS", "IB", "IO", "IS", "EB", "EI", "EE", "EO", "ES", "SB", "SI", "SE", "SO", "SS"}
    return letter_before + letter in pairs or type_before != kind


def slow_chunks(labels):
    padded = [("O", ""), *map(letter_and_type, labels), ("O", "")]
    found = []
    for start in range(len(labels)):
        if starts_here(padded[start], padded[start + 1]):
            stop = next(n for n in range(start + 1, len(labels) + 1) if ends_here(padded[n], padded[n + 1]))
            found.append((padded[start + 1][1], start, stop))
    return found


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


def test_scores_are_those_counted_by_hand():
    gold = [["B-NP", "I-NP", "O", "B-VP", "B-NP", "I-NP"], ["B-NP", "O", "B-PP", "B-NP"]]
    predicted = [["B-NP", "I-NP", "O", "B-NP", "B-NP", "O"], ["I-NP", "I-NP", "B-PP", "I-NP"]]
    # Gold NP: 0:0-2, 0:4-6, 1:0-1, 1:3-4. Found NP: 0:0-2, 0:3-4, 0:4-5, 1:0-2, 1:3-4.
    scores = score_chunks(gold, predicted)
    noun = scores.by_type["NP"]
    assert (noun.gold, noun.found, noun.correct) == (4, 5, 2)
    assert (noun.precision, noun.recall, noun.f1) == (2 / 5, 2 / 4, 4 / 9)
    assert (scores.by_type["VP"].precision, scores.by_type["VP"].recall, scores.by_type["VP"].f1) == (0, 0, 0)
    assert (scores.by_type["PP"].precision, scores.by_type["PP"].recall, scores.by_type["PP"].f1) == (1, 1, 1)
    assert (scores.precision, scores.recall, scores.f1) == (3 / 6, 3 / 6, 3 / 6)
    assert (scores.correct_tokens, scores.tokens, scores.accuracy) == (5, 10, 5 / 10)


def test_a_chunk_of_the_right_place_and_the_wrong_type_is_not_correct_nor_one_that_is_too_long():
    assert score_chunks([["B-X", "I-X", "O"]], [["B-Y", "I-Y", "O"]]).overall.correct == 0
    assert score_chunks([["B-X", "I-X", "O"]], [["B-X", "I-X", "I-X"]]).overall.correct == 0
    assert score_chunks([["B-X", "I-X", "O"]], [["I-X", "I-X", "O"]]).overall.correct == 1


def test_no_chunk_crosses_the_end_of_a_sentence():
    assert score_chunks([["B-X"], ["I-X"]], [["B-X"], ["B-X"]]).overall.correct == 2


def test_nothing_found_and_nothing_to_find_score_zero():
    nothing = score_chunks([], [])
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.accuracy) == (0, 0, 0, 0)
    only_outside = score_chunks([["O", "O"]], [["O", "O"]])
    assert (only_outside.f1, only_outside.accuracy) == (0, 1)


@given(st.data(), st.sampled_from(list(LETTERS)))
def test_scores_count_equal_chunks(data, scheme):
    lengths = data.draw(st.lists(st.integers(0, 6), max_size=4))
    gold, predicted = (
        [data.draw(st.lists(labels_of(scheme), min_size=n, max_size=n)) for n in lengths] for _ in range(2)
    )
    scores = score_chunks(gold, predicted, scheme)
    pairs = [(slow_chunks(a), slow_chunks(b)) for a, b in zip(gold, predicted, strict=True)]
    assert scores.overall.correct == sum(chunk in right for right, found in pairs for chunk in found)
    assert scores.overall.gold == sum(len(right) for right, _ in pairs)
    assert scores.overall.found == sum(len(found) for _, found in pairs)
    for kind, counts in scores.by_type.items():
        assert counts.correct == sum(chunk in right and chunk[0] == kind for right, found in pairs for chunk in found)
    assert sum(counts.gold for counts in scores.by_type.values()) == scores.overall.gold
    precision, recall = scores.precision, scores.recall
    assert scores.f1 == pytest.approx(2 * precision * recall / (precision + recall) if precision + recall else 0)


def test_the_table_has_a_line_a_type_and_names_what_has_no_type():
    lines = str(score_chunks([["B", "O", "B-NP"]], [["B", "B", "B-NP"]])).splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["(no", "NP", "all"]
    assert "66.67%" in lines[3]
    assert lines[4] == "2 of 3 tokens have the right label: 66.67%."


def test_numpy_labels_score_like_lists():
    assert score_chunks([np.array(["B-X", "I-X"])], [["B-X", "I-X"]]).f1 == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: chunks(["O"], "BIO"), "unknown scheme 'BIO'.*BIO is IOB2"),
        (lambda: chunks(["E-X"]), "label 'E-X' is not IOB2.*scheme="),
        (lambda: chunks(["NP"]), "label 'NP' is not IOB2"),
        (lambda: chunks([None]), "label None is not IOB2"),
        (lambda: score_chunks([["O"], ["O"]], [["O"], ["S-X"]]), r"sentence 1 \(counting from 0\): label 'S-X'"),
        (lambda: score_chunks([["O"], ["O", "O"]], [["O"], ["O"]]), r"sentence 1 .* has 2 gold labels, but 1 pred"),
        (lambda: score_chunks([["O"]], []), "1 sentences of gold labels, but 0"),
        (lambda: score_chunks(["O", "B-X"], ["O", "B-X"]), r"pass \[labels\]"),
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


def test_legal_bigrams_are_the_allowed_transitions():
    names = ["O", "B-X", "I-X", "E-X", "S-X", "I-Y"]
    allowed, start, end = allowed_transitions(names, "IOBES")
    assert allowed.tolist() == [[legal_bigram(a, b, "IOBES") for b in names] for a in names]
    assert start.tolist() == [legal_bigram(None, b, "IOBES") for b in names] == [True, True, False, False, True, False]
    assert end.tolist() == [legal_bigram(a, None, "IOBES") for a in names] == [True, False, False, True, True, False]
