"""The question that a certificate answers: what it is about, and the words for it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from novikoff import Verdict, certify
from novikoff.prove.separable.question import Problem
from tests.prove.separable.certificates import forged

CORNERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])


def test_the_problem_equals_the_text_that_files_have():
    certificate = certify(CORNERS, ["a", "b", "c"])
    assert certificate.problem is Problem.ARGMAX
    assert certificate.problem == "argmax"
    assert json.loads(certificate.to_json())["question"]["problem"] == "argmax"
    assert certify(CORNERS, [0, 1, 1]).problem == "binary"
    assert certify(CORNERS, [0, 1, 1], kernel="linear").problem == "kernel"


def test_a_text_becomes_the_problem_that_it_stands_for_and_any_other_is_refused():
    certificate = certify(CORNERS, [0, 1, 1])
    replace(certificate, problem="binary").check(CORNERS, [0, 1, 1])
    with pytest.raises(ValueError, match="'trinary' is not a valid Problem"):
        replace(certificate, problem="trinary")


@pytest.mark.parametrize(("problem", "factor", "points", "vectors"), [("binary", 1, 1, 1), ("argmax", 2, 3, 4)])
def test_a_problem_knows_its_factor_and_how_many_points_a_row_has(problem, factor, points, vectors):
    problem = Problem(problem)
    assert (problem.factor, problem.points_per_row(4), problem.vectors(4)) == (factor, points, vectors)


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict is not Verdict.UNDECIDED])
def test_many_classes_are_told_apart_by_weights_and_not_by_a_plane(verdict):
    assert "plane" in Problem.BINARY.meaning(verdict)
    assert "plane" not in Problem.ARGMAX.meaning(verdict)


def test_an_obstruction_of_many_classes_speaks_of_rivals():
    X = [[0.0], [0.0], [1.0]]
    certificate = certify(X, ["a", "b", "c"])
    assert certificate.obstruction is not None
    said = str(certificate)
    assert "as Kesler's vectors cancel exactly: 1 x row 0 against b + 1 x row 1 against a = 0" in said
    assert "plane" not in said
    open_still = forged(certificate, verdict=Verdict.NOT_SEPARABLE, weak_separator=None)
    assert "no weights give every row's own class strictly the largest score; whether the data" in open_still.meaning
