"""Balls, and proofs that there is none: written, read again, and tampered with in every way."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings

from novikoff import Ball, CertificateError, NoBall, separating_ball
from novikoff.prove.expressivity.ball import nearest_root, read_ball, read_labels
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
        {"exact_center": ()},
        {"exact_center": (Fraction(100), Fraction(100))},
        {"exact_center": (0.0, 0.0)},
        {"exact_radius_square": Fraction(-1)},
        {"exact_radius_square": 4},
        {"center": np.array([math.nan])},
        {"radius": 1e-100},
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
    if not all(hasattr(answer, field) for field in change):
        return
    with pytest.raises(CertificateError):
        replace(answer, **change).check(X, y)


def test_a_ball_is_not_read_as_its_contrary():
    with pytest.raises(CertificateError, match="is read as the contrary"):
        NoBall.from_json(ANSWERS["a ball"].to_json())
    with pytest.raises(CertificateError, match="is read as the contrary"):
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
    ("square", "root"),
    [
        (Fraction(25), 5.0),
        (Fraction(2), math.sqrt(2)),
        (Fraction(0), 0.0),
        (Fraction(10) ** 700, math.inf),
        (Fraction(1, 10**700), 0.0),
        (Fraction(1 + 2.0**-52) ** 2, 1 + 2.0**-52),
        ((1 + Fraction(1, 2**53)) ** 2, 1.0),
        ((1 + Fraction(1, 2**53)) ** 2 + Fraction(1, 2**200), 1 + 2.0**-52),
    ],
)
def test_the_radius_is_the_nearest_float(square, root):
    assert nearest_root(square) == root


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1.0], [2.0]], [0.0, math.nan], "label in row 1 is nan"),
        ([[1.0], [2.0]], [None, 1], "label in row 0 is None"),
        ([[1.0], [2.0]], ["a", 1], "several kinds"),
        ([[1.0], [2.0]], [True, 2], "several kinds"),
        ([[1.0], [2.0]], [[1], [0]], "labels are text, numbers"),
        ([[2**53 + 1], [0]], [0, 1], "which float64 cannot represent"),
        ([[0.5], [2**53 + 1]], [0, 1], "row 1, column 0 of X is 9007199254740993"),
        ([["a"], ["b"]], [0, 1], "X is not an array of numbers"),
    ],
)
def test_labels_and_numbers_that_are_none_are_refused_with_a_sentence(X, y, words):
    with pytest.raises(ValueError, match=words):
        separating_ball(X, y)


def test_labels_are_what_json_has():
    assert read_labels(np.array([1.0, 2.5])) == [1, 2.5]
    assert read_labels(np.array([True, False])) == [True, False]
    assert read_labels([2**60, 2**60 + 1]) == [2**60, 2**60 + 1]
