"""Balls, and proofs that there is none: written, read again, and tampered with in every way."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings

from novikoff import Ball, CertificateError, NoBall, separating_ball
from novikoff.prove.expressivity.ball import Labelled, read_ball
from tests.draws import draws
from tests.mutants import survivors
from tests.prove.expressivity.test_separating_ball import labelled_points

POINTS = [[0, 0], [1, 1], [3, 0], [0, 4], [-3, -3]]
RING = [[2, 0], [-2, 0], [0, 2], [0, -2], [0.5, 0]]
EXAMPLES = {
    "a ball": (POINTS, ["red", "red", "blue", "blue", "blue"], "red"),
    "a ball of numbers": ([[0.1], [0.7], [5.0]], [0, 0, 1], 0),
    "no ball": (RING, ["red", "red", "red", "red", "blue"], "red"),
    "no ball, of truths": ([[0.0], [1.0], [2.0]], [True, False, True], True),
}
ANSWERS = {name: separating_ball(X, y, inside=inside) for name, (X, y, inside) in EXAMPLES.items()}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_was_written_and_read_proves_the_same(name):
    (X, y, _), answer = EXAMPLES[name], ANSWERS[name]
    assert bool(answer) == name.startswith("a ball")
    answer.check(X, y)
    again = read_ball(answer.to_json())
    again.check(X, y)
    assert type(again) is type(answer)
    assert again.to_json() == answer.to_json()
    assert str(again) == str(answer)


@pytest.mark.parametrize("name", ANSWERS)
def test_no_tampered_answer_is_believed(name):
    (X, y, _), answer = EXAMPLES[name], ANSWERS[name]

    def read(text):
        found = read_ball(text)
        found.check(X, y)
        return found.to_json()

    assert survivors(answer.to_json(), read, CertificateError, words=["red", "blue", "ball"]) == []


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize(
    "change",
    [
        {"inside": "green"},
        {"inside": 0.0},
        {"inside": None},
        {"about": None},
        {"claims": None},
        {"ball": 1},
        {"center": ()},
        {"center": (Fraction(100), Fraction(100))},
        {"center": (0.0, 0.0)},
        {"center": np.array([math.nan])},
        {"radius_square": Fraction(-1)},
        {"radius_square": 1e-100},
        {"rows": ()},
        {"rows": (0, 0)},
        {"rows": (-1, 1)},
        {"rows": (0, 99)},
        {"rows": (0.0, 1.0)},
        {"weights": (Fraction(1),)},
        {"weights": (1, 1, 1)},
        {"lift_weight": Fraction(-1)},
        {"lift_weight": Fraction(7)},
    ],
)
def test_an_answer_made_by_hand_is_not_believed(name, change):
    (X, y, _), answer = EXAMPLES[name], ANSWERS[name]
    parts = [part for part in ("claims", "witnesses") if set(change) <= set(getattr(answer, part)._fields)]
    if not parts and not all(hasattr(answer, field) for field in change):
        return
    change = {part: getattr(answer, part)._replace(**change) for part in parts} or change
    with pytest.raises(CertificateError):
        replace(answer, **change).check(X, y)


def test_a_ball_is_not_read_as_its_contrary():
    with pytest.raises(CertificateError, match="has no field 'rows'"):
        NoBall.from_json(ANSWERS["a ball"].to_json())
    with pytest.raises(CertificateError, match="has no field 'center'"):
        Ball.from_json(ANSWERS["no ball"].to_json())


def test_an_answer_speaks_of_its_own_examples_only():
    X, y, _ = EXAMPLES["a ball"]
    others = (
        ([[0, 0.5], *X[1:]], y),
        (X, ["red", *y[:-1]]),
        (X, ["blue" if label == "red" else "red" for label in y]),
        (X[:-1], y[:-1]),
        ([[*x, 0] for x in X], y),
    )
    for X_other, y_other in others:
        with pytest.raises(CertificateError):
            ANSWERS["a ball"].check(X_other, y_other)


def test_the_same_examples_in_other_types_are_the_same():
    X, y, _ = EXAMPLES["a ball"]
    ANSWERS["a ball"].check(np.array(X, dtype=np.float32), np.array(y, dtype=object))
    X, y, _ = EXAMPLES["a ball of numbers"]
    ANSWERS["a ball of numbers"].check(X, np.array(y, dtype=float))


@settings(max_examples=draws(30))
@given(labelled_points())
def test_every_answer_passes_its_own_check(data):
    X, held = data
    assume(len(set(held.tolist())) == 2)
    answer = separating_ball(X, held)
    read_ball(answer.to_json()).check(X, held)


@pytest.mark.parametrize(
    "X",
    [
        [[1e308, 1e308], [1.1e308, 1e308], [-1e308, 0.0]],
        [[1.7e308], [1.75e308], [-1.7e308]],
        [[5e-324], [1e-323], [1.0]],
        [[1e200], [1e200 + 1e184], [1e-200]],
    ],
)
def test_numbers_at_the_ends_of_the_range_do_not_overflow(X):
    y = [0, 0, 1]
    for inside in (0, 1):
        answer = separating_ball(X, y, inside=inside)
        answer.check(X, y)
        read_ball(answer.to_json()).check(X, y)
        assert str(answer)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1.0], [2.0]], [0.0, math.nan], "label of row 1 is missing"),
        ([[1.0], [2.0]], [None, 1], "label of row 0 is missing"),
        ([[1.0], [2.0]], ["a", 1], "of different types"),
        ([[1.0], [2.0]], [[1], [0]], "2 dimensions"),
        ([[2**53 + 1], [0]], [0, 1], "which float64 cannot represent"),
        ([[0.5], [2**53 + 1]], [0, 1], "row 1, column 0 of X is 9007199254740993"),
        ([["a"], ["b"]], [0, 1], "X is not an array of numbers"),
    ],
)
def test_labels_and_numbers_that_are_none_are_refused_with_a_sentence(X, y, words):
    with pytest.raises(ValueError, match=words):
        separating_ball(X, y)


def test_labels_are_what_json_has():
    def labels(*y):
        return Labelled.of([[0.0], [1.0]], y).labels

    assert labels(1.0, 2.5) == [1, 2.5]
    assert labels(np.True_, np.False_) == [True, False]
    assert labels(2**60, 2**60 + 1) == [2**60, 2**60 + 1]
    assert [type(label) for label in labels(np.float64(1.0), np.float64(2.5))] == [int, float]
