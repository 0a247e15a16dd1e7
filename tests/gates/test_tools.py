"""Lint, format, types and the direction of imports, cheapest first."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

GATES = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "rooms": ["lint-imports"],
    "types": ["mypy"],
}


@pytest.mark.parametrize("gate", GATES)
def test_the_gate_is_passed(gate):
    if gate == "types" and not os.environ.get("CI"):
        pytest.skip("mypy takes a minute without its cache; CI runs it, and so does the command mypy")
    command, *arguments = GATES[gate]
    tool = Path(sys.executable).with_name(command)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    done = subprocess.run([tool, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
