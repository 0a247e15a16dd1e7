"""--lift and --kernel: curved boundaries from the command line, with all that other models have."""

import json

import numpy as np
import pytest

from novikoff import KernelPerceptron
from novikoff.data import read
from novikoff.features.encode import learn_encoding
from novikoff.features.examples import cached
from novikoff.keep.models import load, load_plain
from tests.cli.calling import call

CIRCLE = ("circle.csv", "--label", "where", "--ignore", "z")
SPACES = {
    "paraboloid": ("--lift", "paraboloid"),
    "squares": ("--lift", "squares"),
    "rbf": ("--kernel", "rbf"),
    "poly": ("--kernel", "poly", "--degree", "2"),
    "laplacian": ("--kernel", "laplacian", "--gamma", "0.5"),
}


@pytest.mark.parametrize("words", SPACES.values(), ids=SPACES)
def test_a_circle_is_learned_kept_predicted_scored_and_proved(words, folder):
    fitted = call("fit", *CIRCLE, *words, "--model", "m", "--json", "--max-iter", "100", folder=folder).json
    assert fitted["certificate"]["verdict"] == "separable"
    assert fitted["run"]["stopped"] == "NO_MISTAKES"
    assert fitted["run"]["mistakes"] <= fitted["certificate"]["mistake_bound"]
    assert call("score", "m", "circle.csv", "--json", folder=folder).json["errors"] == 0
    predicted = call("predict", "m", "circle.csv", folder=folder).out.splitlines()[1:]
    assert all(line.split(",")[-2] == line.split(",")[-1] for line in predicted)
    assert call("check", "m", "circle.csv", folder=folder).code == 0
    shown = call("inspect", "m", "--json", folder=folder).json
    assert (shown["kernel"] is None) == ("--lift" in words)
    changed = (folder / "circle.csv").read_text().replace("2.52", "2.53")
    (folder / "circle.csv").write_text(changed)
    assert "not those that were certified" in call("check", "m", "circle.csv", folder=folder).err


@pytest.mark.parametrize("words", [("--lift", "squares"), ("--kernel", "rbf", "--gamma", "0.5")])
def test_svmlight_text_is_lifted_or_goes_through_a_kernel(words, folder):
    xor = "-1 1:1 2:1\n-1 1:-1 2:-1\n1 1:3\n1 2:-3\n1 1:-3 2:1\n"
    (folder / "ring.svm").write_text(xor)
    line = ("fit", "ring.svm", *words, "--readout", "last", "--max-iter", "none", "--report", "r.html", "--json")
    fitted = call(*line, folder=folder).json
    assert fitted["run"]["errors"] == 0
    assert fitted["certificate"]["verdict"] == "separable"
    assert call("check", "ring.novikoff", "ring.svm", folder=folder).code == 0
    assert call("score", "ring.novikoff", "ring.svm", "--json", folder=folder).json["errors"] == 0
    (folder / "wider.svm").write_text("1 1:3 9:5\n")
    assert call("predict", "ring.novikoff", "wider.svm", folder=folder).out.split() == ["prediction", "1.0"]


def test_the_command_line_learns_what_python_learns(folder):
    call("fit", *CIRCLE, "--kernel", "poly", "--coef0", "2", "--random-state", "3", "--quiet", folder=folder)
    path = folder / "circle.csv"
    encoding = learn_encoding(read(path, label="where"), ignore=["z"])
    with cached(read(path, label="where"), encoding=encoding) as examples:
        X, y = examples.in_one_piece()
    ours = KernelPerceptron(kernel="poly", coef0=2.0, random_state=3).fit(X, y)
    model = load(folder / "circle.novikoff")
    assert model.run_.mistakes == ours.run_.mistakes
    assert np.array_equal(model.decision_function(read(path, label="where")), ours.decision_function(X))
    raw = np.column_stack([np.concatenate([batch.columns.column(name) for batch in read(path)]) for name in "xy"])
    assert np.array_equal(model.decision_function(raw), ours.decision_function(X))
    assert load_plain(folder / "circle.novikoff").encoding == encoding


def test_a_kernel_that_was_learned_from_a_table_predicts_tables_in_python(folder):
    pd = pytest.importorskip("pandas")
    call("fit", "cars.csv", "--label", "sport_car", "--kernel", "rbf", "--model", "k", "--quiet", folder=folder)
    model, cars = load(folder / "k"), pd.read_csv(folder / "cars.csv")
    predicted = [line.rpartition(",")[2] for line in call("predict", "k", "cars.csv", folder=folder).out.splitlines()]
    assert model.predict(cars).tolist() == predicted[1:]
    assert model.predict(read(folder / "cars.csv", label="sport_car")).tolist() == predicted[1:]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("--gamma 1", "--gamma requires --kernel"),
        ("--budget 9", "--budget requires --kernel"),
        ("--kernel rbf --degree 3", "the kernel rbf has no --degree"),
        ("--kernel linear --gamma 1", "the kernel linear has no --gamma"),
        ("--kernel rbf --lift squares", "--lift and --kernel cannot be combined"),
        ("--kernel rbf --steps --no-shuffle", "--steps shows weights"),
        ("--kernel rbf --fit-intercept", "a kernel perceptron has no intercept"),
        ("--kernel rbf --budget 5 --readout vote", "--readout vote needs all mistakes, and --budget 5 forgets some"),
        ("--kernel poly --gamma nix", "'nix' must be a positive number, or 'scale', or 'auto'"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(words, what, folder):
    done = call("fit", *CIRCLE, *words.split(), folder=folder)
    assert done.code in (1, 2)
    assert what in done.err
    assert not (folder / "circle.novikoff").exists()


def test_what_is_too_large_for_a_kernel_is_said(folder, monkeypatch):
    monkeypatch.setattr("novikoff.cli.spaces.MOST_ROWS", 50)
    done = call("fit", *CIRCLE, "--kernel", "rbf", folder=folder)
    assert done.code == 1
    assert "60 rows are too many for a kernel" in done.err
    assert "--budget 1000" in done.err
    assert call("fit", *CIRCLE, "--kernel", "rbf", "--budget", "20", "--quiet", folder=folder).code == 0
    monkeypatch.setattr("novikoff.cli.spaces.MOST_NUMBERS", 50)
    done = call("fit", *CIRCLE, "--kernel", "rbf", "--budget", "20", folder=folder)
    assert "which keeps them in memory" in done.err


def test_a_model_that_cannot_be_certified_is_kept_and_says_why(folder):
    words = ("--label", "class", "--ignore", "name", "--kernel", "rbf", "--folds", "3", "--json")
    fitted = call("fit", "animals.csv", *words, folder=folder).json
    assert fitted["certificate"] is None
    assert fitted["certificate_problem"] == "kernels are certified for two classes only"
    (judged,) = (one for one in fitted["run"]["new_rows"]["statements"] if one["name"] == "folds")
    assert 0 <= judged["wrong"] < 1
    negative = call("fit", *CIRCLE, "--kernel", "poly", "--coef0", "-1", "--json", folder=folder).json
    assert "--coef0 -1.0 must be a number of at least 0" in negative["certificate_problem"]


def test_rows_held_out_judge_a_kernel(folder):
    line = ("fit", *CIRCLE, "--kernel", "rbf", "--held-out", "0.3", "--model", "m", "--json")
    run = call(*line, folder=folder).json["run"]
    assert run["new_rows"]["delivered"]["name"] == "held out"
    model = load_plain(folder / "m")
    assert model.parameters["held_out"] == 0.3
    assert json.loads(model.certificate)["question"]["kernel"]["gamma"] == model.memory.kernel.gamma


def test_certify_asks_in_the_space_that_is_chosen(folder):
    assert call("certify", *CIRCLE, "--quiet", folder=folder).code == 11
    for words in SPACES.values():
        assert call("certify", *CIRCLE, *words, "--quiet", "--out", "c", "--force", folder=folder).code == 0
        assert call("check", "c", "circle.csv", "--quiet", folder=folder).code == 0
        answer = json.loads((folder / "c").read_text())
        assert answer["question"]["fit_intercept"] == ("--lift" in words)
    assert call("certify", *CIRCLE, "--kernel", "linear", "--quiet", folder=folder).code == 11
    done = call("certify", "animals.csv", "--label", "class", "--ignore", "name", "--kernel", "rbf", folder=folder)
    assert "--kernel is for two classes, and there are 3" in done.err


@pytest.mark.parametrize("words", SPACES.values(), ids=SPACES)
def test_a_report_shows_the_curved_boundary(words, folder):
    call("fit", *CIRCLE, *words, "--report", "r.html", "--quiet", folder=folder)
    page = (folder / "r.html").read_text()
    assert "the shades are the regions of the classes" in page
    assert "every inequality held" in page
    call("certify", *CIRCLE, *words, "--report", "c.html", "--quiet", folder=folder)
    assert f"{words[0]} {words[1]}" in (folder / "c.html").read_text()
