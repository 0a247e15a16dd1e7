"""Importing the package is cheap, and the algorithms do without scikit-learn."""

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
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
        ("from novikoff.serve import Client", []),
        ("from novikoff import load, save", ["numpy"]),
        ("from novikoff import follow_proof, margins, radius, mistake_bound, Separator", ["numpy"]),
    ],
)
def test_a_name_loads_only_what_it_needs(statement, loaded):
    assert in_new_python(f"{statement}; print({HEAVY})") == str(loaded)


def test_the_plain_function_does_without_scikit_learn():
    code = "from novikoff.learn.linear.space import perceptron; perceptron([[1.0], [-1.0]], [1, -1])"
    assert in_new_python(f"{code}; print({HEAVY})") == "['numpy']"


def test_the_import_loads_no_other_package_and_nothing_of_the_rooms():
    code = "import sys; before = set(sys.modules); import novikoff; print(*sorted(set(sys.modules) - before))"
    loaded = in_new_python(code).split()
    assert [name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names] == ["novikoff"]


def test_every_public_name_exists_and_no_other_does():
    import novikoff

    assert all(getattr(novikoff, name) is not None for name in novikoff.__all__)
    assert sorted(novikoff.__all__) == novikoff.__all__
    assert set(novikoff.__all__) <= set(dir(novikoff))
    with pytest.raises(AttributeError, match="no attribute 'perceptron'"):
        _ = novikoff.perceptron


def test_a_small_question_about_estimates_needs_five_packages():
    code = """
import sys
from novikoff import certify, existence
X, y = [[1.0, -1.0], [-1.0, -2.0], [2.0, 2.0], [0.5, 1.0]], [0, 1, 1, 0]
existence(X, y).check(X, y)
certify(X, y).check(X, y)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""
    five = {"numpy", "scipy", "flint", "msgspec", "highspy"}
    installed = {name for names in packages_distributions() for name in [names.partition(".")[0]]} - {"novikoff"}
    loaded = set(in_new_python(code).split()) & installed
    assert {name for name in loaded if not name.startswith("_")} - {"charset_normalizer"} <= five
