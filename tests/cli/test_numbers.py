"""`ball` and `inequalities` say what the library says of the same numbers, and their proofs can be checked."""

import numpy as np
import pytest

from novikoff import Inequalities, separating_ball, solve_inequalities
from novikoff.data.samples import sample
from novikoff.prove.expressivity.ball import read_ball
from tests.cli.calling import call


def test_the_ball_is_the_librarys_and_its_proof_is_checked(folder):
    line = ["circle.csv", "--label", "where", "--ignore", "z"]
    done = call("ball", *line, "--inside", "inside", "--out", "c.cert", "--force", "--json", folder=folder)
    rows = [text.split(",") for text in sample("circle.csv").splitlines()[1:]]
    X, y = [[float(x), float(y)] for x, y, _, _ in rows], [where for *_, where in rows]
    expected = separating_ball(X, y, inside="inside")
    assert (done.code, done.json["center"], done.json["radius"]) == (0, expected.center.tolist(), expected.radius)
    assert read_ball((folder / "c.cert").read_text()).exact_center == expected.exact_center
    assert call("check", "c.cert", *line, folder=folder).code == 0
    other = call("check", "c.cert", *line[:3], folder=folder)
    assert (other.code, "certified" in other.err or "columns" in other.err) == (1, True)


def test_where_no_ball_is_the_exit_code_says_so(folder):
    done = call("ball", "xor.csv", "--label", "bits", "--json", folder=folder)
    assert (done.code, done.json["verdict"], done.json["obstruction_rows"]) == (30, "no ball", [0, 1, 2, 3])


@pytest.mark.parametrize("bias", [True, False])
def test_labelled_rows_are_the_inequalities_of_a_plane(folder, bias):
    flag = "--fit-intercept" if bias else "--no-fit-intercept"
    done = call("inequalities", "six_points.svm", flag, "--out", "i.cert", "--force", "--json", folder=folder)
    X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
    y = np.array([-1, 1, 1, -1, -1, 1])
    A = y[:, None] * (np.hstack([X, np.ones((6, 1))]) if bias else X)
    assert done.code == 0
    assert list(done.json["x"].values()) == solve_inequalities(A).x.tolist()
    assert list(done.json["x"])[2:] == (["(bias)"] if bias else [])
    Inequalities.from_json((folder / "i.cert").read_text()).check(A)
    assert call("check", "i.cert", "six_points.svm", flag, folder=folder).code == 0
    assert call("check", "i.cert", "xor.csv", "--label", "bits", folder=folder).code == 1


def test_rows_without_labels_are_taken_as_they_are(folder):
    (folder / "rows.csv").write_text("a,b,note\n1,0,x\n-1,1,y\n-1,-2,z\n")
    done = call("inequalities", "rows.csv", "--ignore", "note", "--json", folder=folder)
    assert (done.code, done.json["obstruction_rows"]) == (40, [0, 1, 2])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("ball rows.csv --label note", "3 classes; a ball tells two apart"),
        ("ball plain.csv", "name the label column with --label"),
        (
            "ball xor.csv --label bits --inside neither",
            "not among the labels different, same|among the labels same",
        ),
        ("inequalities rows.csv", "the column 'note' of rows.csv has no numbers; omit it with --ignore note"),
        ("inequalities rows.csv --ignore nota", "has no column 'nota'"),
        ("inequalities holes.csv", "is missing"),
        ("inequalities huge.csv", "float64 would round"),
        ("check cars.cert cars.csv --label sport_car", "this proof names its columns"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(folder, line, what):
    (folder / "rows.csv").write_text("a,b,note\n1,0,x\n-1,1,y\n-1,-2,z\n")
    (folder / "plain.csv").write_text("a,b\n1,0\n2,1\n")
    (folder / "holes.csv").write_text("a,b\n1,0\n,1\n")
    (folder / "huge.csv").write_text(f"a,b\n1,{2**53 + 1}\n2,1\n")
    call("certify", "cars.csv", "--label", "sport_car", "--out", "cars.cert", "--force", folder=folder)
    done = call(*line.split(), folder=folder)
    assert done.code == 1
    assert any(part in done.err for part in what.split("|")), done.err
