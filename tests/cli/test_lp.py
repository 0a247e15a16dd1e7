"""`lp`: programs from files, and the outcome as the exit code."""

import numpy as np
import pytest
from scipy.optimize import linprog

from novikoff.data.programs import read_program
from tests.cli.calling import call

MPS = """\
NAME          SMALL
ROWS
 N  COST
 L  LIM1
 G  LIM2
 E  MYEQN
COLUMNS
    X         COST               1.0   LIM1               1.0
    X         LIM2               1.0
    Y         COST               2.0   LIM1               1.0
    Y         MYEQN             -1.0
    Z         COST              -1.0   MYEQN              1.0
RHS
    RHS       COST              -3.0   LIM1               4.0
    RHS       LIM2               1.0   MYEQN              7.0
RANGES
    RNG       LIM1               2.5
BOUNDS
 UP BND       X                  4.0
 LO BND       Y                 -1.0
 UP BND       Y                  1.0
ENDATA
"""


def test_the_bakery_earns_490(folder):
    answer = call("lp", "bakery.mps", "--json", folder=folder).json
    assert answer["status"] == "optimal"
    assert answer["objective"] == 490
    assert answer["x"] == {"BREAD": 30, "CAKE": 40, "ROLLS": 60}
    assert answer["arithmetic"] == "exact"
    assert "no point has a larger objective" in call("lp", "bakery.mps", folder=folder).out


def test_rows_ranges_bounds_and_the_constant_of_a_file_are_read(tmp_path):
    (tmp_path / "small.mps").write_text(MPS)
    program = read_program(str(tmp_path / "small.mps"))
    assert program.names == ("X", "Y", "Z")
    assert program.n_constraints == 4
    best = linprog(**program.arguments)
    answer = call("lp", "small.mps", "--json", folder=tmp_path).json
    assert answer["objective"] == pytest.approx(best.fun + 3.0)


@pytest.mark.parametrize(
    ("arrays", "code", "status"),
    [
        ({"c": [-1, -2], "A_ub": [[1, 1], [1, 3]], "b_ub": [4, 6]}, 0, "optimal"),
        ({"c": [1, 1], "A_eq": [[1, 1]], "b_eq": [3], "bounds": [[0, 1], [0, np.inf]]}, 0, "optimal"),
        ({"c": [1, 1], "A_ub": [[1, 1]], "b_ub": [-1]}, 20, "infeasible"),
        ({"c": [-1]}, 21, "unbounded"),
    ],
)
def test_the_exit_code_is_the_outcome(tmp_path, arrays, code, status):
    np.savez(tmp_path / "program.npz", **{name: np.array(value, dtype=float) for name, value in arrays.items()})
    done = call("lp", "program.npz", "--json", folder=tmp_path)
    assert (done.code, done.json["status"]) == (code, status)
    assert status in call("lp", "program.npz", folder=tmp_path).out


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("no.mps", None, "there is no file no.mps"),
        ("broken.mps", b"hello\n", "broken.mps, line 1: the section 'hello' is not part of a linear program"),
        ("broken.npz", b"PK\x03\x04", "broken.npz is not a linear program"),
        ("whole.mps", MPS.replace("UP BND       X ", "UI BND       X ").encode(), "whole.mps, line 19"),
    ],
)
def test_what_is_no_linear_program_is_refused(tmp_path, name, content, what):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = call("lp", name, folder=tmp_path)
    assert done.code == 1
    assert what in done.err


def test_an_archive_with_other_arrays_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    done = call("lp", "other.npz", folder=tmp_path)
    assert done.code == 1
    assert "it has x, but needs c" in done.err


def test_the_proof_is_written_and_holds_for_its_own_program_only(folder, tmp_path):
    where = tmp_path / "bakery.cert"
    solved = call("lp", "bakery.mps", "--out", str(where), "--json", folder=folder)
    assert (solved.code, solved.json["out"]) == (0, str(where))
    checked = call("check", str(where), "bakery.mps", "--json", folder=folder)
    assert (checked.code, checked.json["holds"]) == (0, True)
    assert checked.json["certificate"]["objective"] == 490
    assert checked.json["certificate"]["meaning"] == "no point has a larger objective than x"
    assert (
        "every claim holds (proved again from the data)" in call("check", str(where), "bakery.mps", folder=folder).out
    )
    (tmp_path / "small.mps").write_text(MPS)
    refused = call("check", str(where), "small.mps", folder=tmp_path)
    assert refused.code == 1
    assert "about other data" in refused.err


def test_a_certificate_is_not_written_over(folder, tmp_path):
    (tmp_path / "bakery.cert").write_text("mine")
    assert "--force" in call("lp", "bakery.mps", "--out", str(tmp_path / "bakery.cert"), folder=folder).err
    assert (tmp_path / "bakery.cert").read_text() == "mine"


def test_the_command_refuses_a_quadratic_program(tmp_path):
    (tmp_path / "square.mps").write_text(MPS.replace("ENDATA", "QUADOBJ\n    X X 2.0\nENDATA"))
    done = call("lp", "square.mps", folder=tmp_path)
    assert done.code == 1
    assert "square.mps, line 22: the section 'QUADOBJ' is not part of a linear program" in done.err
