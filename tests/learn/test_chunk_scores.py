"""The scores of chunks, against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import score_chunks
from tests.chunks import LETTERS, labels_of, slow_chunks


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
        (lambda: score_chunks([["O"], ["O"]], [["O"], ["S-X"]]), r"sentence 1 \(counting from 0\): label 'S-X'"),
        (lambda: score_chunks([["O"], ["O", "O"]], [["O"], ["O"]]), r"sentence 1 .* has 2 gold labels, but 1 pred"),
        (lambda: score_chunks([["O"]], []), "1 sentences of gold labels, but 0"),
        (lambda: score_chunks(["O", "B-X"], ["O", "B-X"]), r"pass \[labels\]"),
    ],
)
def test_errors_say_what_is_wrong_and_where(call, message):
    with pytest.raises(ValueError, match=message):
        call()
