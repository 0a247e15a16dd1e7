"""Every benchmark runs, in small. It takes minutes, and shows nothing of the package itself: CI does it."""

import os
import runpy
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not os.environ.get("CI"), reason="benchmarks are run in small where CI is set")


@pytest.mark.parametrize(
    ("benchmark", "parts", "figures"),
    [
        (
            "linear",
            ["epochs", "fits", "text", "online", "memory"],
            ["epoch / one pass", "River's learn_one / ours", "X @ w"],
        ),
        ("cold", [], ["novikoff fit cars.csv", "tagger"]),
        # Not "bytes": it has no figure, and would start Ray once more.
        ("cluster", ["speed", "accuracy"], ["one process / two workers", "points from"]),
        ("certify", ["program", "machines", "sizes", "tables"], ["HiGHS / certify", "relative gap", "overlapping"]),
        ("existence", [], ["ours / bare"]),
        (
            "conll2000",
            ["quality", "speed", "dicts", "choose", "letters"],
            ["F1", "python-crfsuite / ours: tagging", "dictionaries, predict", "chain"],
        ),
        ("tagging", [], ["theirs: model file", "theirs: peak while learning", "accuracy"]),
        ("files", ["text", "table"], ["Vowpal Wabbit", "scikit-learn's loader", "peak memory"]),
        ("inequalities", ["methods", "sizes", "exponential", "steps"], ["HiGHS", "rescalings", "best t"]),
        ("linprog", [], ["infeasible *", "seconds of linprog / HiGHS"]),
        ("serve", ["single", "batches", "memory"], ["examples/s", "learn_many in memory", "times the first"]),
        ("streams", [], ["a plane that turns", "auto"]),
        ("accuracy", [], ["text, 3 topics", "lead auto"]),
        ("review", [], ["at most 1% wrong", "of these wrong"]),
        ("mnist_voted", [], ["vote", "SVC's fit / ours"]),
    ],
)
def test_the_benchmark_runs(benchmark, parts, figures, monkeypatch, capsys):
    path = ROOT / "benchmarks" / f"{benchmark}.py"
    monkeypatch.setattr(sys, "argv", [str(path), "--smoke", *(["--only", *parts] if parts else [])])
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))  # for the processes that it starts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(figure in printed for figure in figures)
