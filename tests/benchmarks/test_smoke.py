"""Every benchmark runs, in small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_linear_benchmark_runs():
    pytest.importorskip("threadpoolctl")
    command = [sys.executable, "benchmarks/linear.py", "--smoke", "--only", "epochs", "fits", "online", "memory"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "epoch / one pass" in done.stdout
    assert "River's learn_one / ours" in done.stdout
