"""Importing the package is cheap, and the algorithms do without scikit-learn."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"


def in_new_python(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


HEAVY = "[name for name in ('numpy', 'scipy.sparse', 'numba', 'sklearn', 'river') if name in __import__('sys').modules]"


@pytest.mark.parametrize(
    ("statement", "loaded"),
    [
        ("import novikoff", []),
        ("import novikoff; dir(novikoff)", []),
        ("from novikoff import OnlinePerceptron, predict_reveal_learn", []),
        ("from novikoff import Run, Stopped", []),
        ("from novikoff import StructuredPerceptron", []),
        ("from novikoff import load, save", ["numpy"]),
        ("from novikoff import follow_proof, margins, radius, mistake_bound, Separator", ["numpy"]),
    ],
)
def test_a_name_loads_only_what_it_needs(statement, loaded):
    assert in_new_python(f"{statement}; print({HEAVY})") == str(loaded)


def test_the_plain_function_does_without_scikit_learn():
    code = "from novikoff.learn.linear import perceptron; perceptron([[1.0], [-1.0]], [1, -1])"
    assert in_new_python(f"{code}; print({HEAVY})") == "['numpy', 'numba']"


def test_the_import_takes_under_60_ms():
    def seconds(code):
        start = time.perf_counter()
        in_new_python(code)
        return time.perf_counter() - start

    extra = [seconds("import novikoff") - seconds("pass") for _ in range(5)]
    assert min(extra) < 0.060


def test_every_public_name_exists_and_no_other_does():
    import novikoff

    assert all(getattr(novikoff, name) is not None for name in novikoff.__all__)
    assert sorted(novikoff.__all__) == novikoff.__all__
    assert set(novikoff.__all__) <= set(dir(novikoff))
    with pytest.raises(AttributeError, match="no attribute 'perceptron'"):
        _ = novikoff.perceptron
