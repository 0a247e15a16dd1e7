"""The notebooks run from the first cell to the last."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 6


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_what_it_shows(notebook, monkeypatch, capsys):
    monkeypatch.chdir(FOLDER)
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            exec(compile(source, f"{notebook.name}, cell {number}", "exec"), names)
            for output in cell["outputs"]:
                if output["output_type"] == "stream":
                    assert capsys.readouterr().out.splitlines()[0] == "".join(output["text"]).splitlines()[0]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_its_answers_and_without_errors(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert outputs
    assert all(output["output_type"] != "error" and output.get("name") != "stderr" for output in outputs)
