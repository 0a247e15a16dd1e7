"""Every picture in the documentation is drawn by its script."""

import os
import runpy
import shutil
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "docs" / "pictures").glob("*.py"))


@pytest.mark.skipif(not os.environ.get("CI"), reason="pictures are drawn where CI is set")
@pytest.mark.filterwarnings("error", "default::ResourceWarning", "default::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_script_draws_its_picture(script, tmp_path):
    with plt.rc_context():
        runpy.run_path(shutil.copy(script, tmp_path), run_name="__main__")
    plt.close("all")
    drawn, shown = (plt.imread(folder / f"{script.stem}.png") for folder in (tmp_path, script.parent))
    for picture in (drawn, shown):
        assert (picture != picture[0, 0]).any(), "nothing but one colour"


def test_every_picture_that_a_page_shows_exists():
    pages = list((ROOT / "docs").glob("**/*.md"))
    shown = [page.parent / part.split(")")[0] for page in pages for part in page.read_text().split("](")[1:]]
    assert all(path.exists() for path in shown if path.suffix == ".png")
    assert any(path.suffix == ".png" for path in shown)
