"""Every benchmark runs, in small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("benchmark", "parts", "figures"),
    [
        ("linear", ["epochs", "fits", "online", "memory"], ["epoch / one pass", "River's learn_one / ours"]),
        ("certify", ["program", "machines", "sizes"], ["HiGHS / certify", "SVC with large C", "relative gap"]),
        ("conll2000", ["quality", "speed", "choose", "letters"], ["F1", "python-crfsuite / ours: tagging", "chain"]),
        ("files", ["text", "table"], ["Vowpal Wabbit", "scikit-learn's loader", "peak memory"]),
        ("inequalities", ["methods", "sizes", "exponential", "steps"], ["HiGHS", "rescalings", "best t"]),
        ("linprog", [], ["infeasible *", "seconds of linprog / HiGHS"]),
        ("mnist_voted", [], ["vote", "SVC's fit / ours"]),
    ],
)
def test_the_benchmark_runs(benchmark, parts, figures):
    only = ["--only", *parts] if parts else []
    command = [sys.executable, f"benchmarks/{benchmark}.py", "--smoke", *only]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(figure in done.stdout for figure in figures)
