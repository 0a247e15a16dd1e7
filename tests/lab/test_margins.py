"""The page Tiny margins: the notes' own counts, and solutions that rescaling widens."""

import numpy as np
import pytest

from novikoff.lab.margins import SIZES, answer_margins, counts, rows_of
from novikoff.lab.state import StateError


def mistakes_of_the_lecture(rows):
    """The perceptron as the lecture has it."""
    w, made, mistakes = np.zeros(rows.shape[1]), True, 0
    while made:
        made = False
        for row in rows:
            if row @ w <= 0:
                w, made, mistakes = w + row, True, mistakes + 1
    return mistakes


def test_the_counts_are_those_of_the_note_for_every_n():
    assert [count["n"] for count in counts()] == list(SIZES)
    for count in counts():
        assert count["mistakes"] == (4 ** count["n"] - 1) // 3
        assert count["floor"] <= count["mistakes"] <= count["bound"]


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_plain_run_is_the_lectures(n):
    assert answer_margins({"scene": "chain", "n": n})["plain"]["mistakes"] == mistakes_of_the_lecture(
        rows_of("chain", n)
    )


@pytest.mark.parametrize(("scene", "mistakes"), [("cars", 234_591), ("mended", 4_015)])
def test_the_two_cars_take_as_many_mistakes_as_the_documentation_says(scene, mistakes):
    shown = answer_margins({"scene": scene, "n": 2})
    assert shown["plain"]["mistakes"] == mistakes
    assert [one["mistakes"] for one in shown["compared"]] == [234_591, 4_015, 2, 1]
    curve, plain = shown["plain"]["curve"], shown["plain"]
    k = np.array(curve["k"])
    assert (np.array(curve["length"]) <= np.sqrt(k) * plain["radius"] * (1 + 1e-9)).all()
    assert (np.array(curve["progress"]) >= k * plain["margin"] * (1 - 1e-9)).all()


@pytest.mark.parametrize("n", SIZES)
def test_the_last_phase_solves_the_system_that_the_first_could_not(n):
    rescaled = answer_margins({"scene": "chain", "n": n})["rescaled"]
    phases = rescaled["phases"]
    assert (rows_of("chain", n) @ rescaled["solution"] > 0).all()
    assert [phase["stretched"] for phase in phases] == [True] * (len(phases) - 1) + [False]
    assert phases[-1]["opening"] >= phases[0]["opening"]
    assert all(phase["region"] for phase in phases), "the middle of the solutions is in its slice"


@pytest.mark.parametrize(
    "asked", [{}, {"scene": "boats"}, {"scene": "chain", "n": 11}, {"scene": "chain", "n": True}, None]
)
def test_what_is_not_there_is_refused(asked):
    with pytest.raises(StateError):
        answer_margins(asked)
