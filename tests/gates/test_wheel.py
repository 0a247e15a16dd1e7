"""A wheel builds, and works where nothing else is installed. It needs a package index, so it runs where CI is set."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import novikoff

ROOT = Path(__file__).resolve().parents[2]

FIRST_FIT = """
import novikoff, novikoff.engine.linear
from pathlib import Path
assert "site-packages" in novikoff.__file__
for name in ("py.typed", "page/style.css", "lab/page/index.html", "serve/page/index.html"):
    assert (Path(novikoff.__file__).parent / name).exists()
model = novikoff.Perceptron(readout="last").fit([[0.0], [1.0]], ["off", "on"])
print(model.predict([[2.0]])[0], novikoff.__version__)
"""


@pytest.mark.skipif(not os.environ.get("CI"), reason="builds and installs from a package index; set CI=1 to run")
def test_a_wheel_builds_and_works_in_an_empty_environment(tmp_path):
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*command):
        done = subprocess.run(command, cwd=tmp_path, env=outside, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", "wheels", str(ROOT))
    (wheel,) = (tmp_path / "wheels").glob("novikoff-*.whl")
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-compile", str(wheel))
    assert run(python, "-c", FIRST_FIT) == f"on {novikoff.__version__}"
