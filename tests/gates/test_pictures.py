"""Every picture in the documentation is drawn by its script."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "docs" / "pictures").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_script_draws_its_picture(script, tmp_path):
    copy = tmp_path / script.name
    copy.write_text(script.read_text())
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, copy], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert copy.with_suffix(".png").stat().st_size > 5_000
    assert script.with_suffix(".png").exists()


def test_every_picture_that_a_page_shows_exists():
    pages = list((ROOT / "docs").glob("**/*.md"))
    shown = [page.parent / part.split(")")[0] for page in pages for part in page.read_text().split("](")[1:]]
    assert all(path.exists() for path in shown if path.suffix == ".png")
    assert any(path.suffix == ".png" for path in shown)
