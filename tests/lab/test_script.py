"""The script that one takes away makes the same mistakes."""

import contextlib
import csv
import io
import json
import warnings

import numpy as np
import pytest

from novikoff.lab.scenes import SCENES
from novikoff.lab.script import as_csv, as_script
from novikoff.lab.state import StateError, parse_state
from novikoff.lab.trace import run_as_json

SCENE = {scene["name"]: scene["state"] for scene in SCENES}


def printed_by(script):
    """What the script prints; that it also runs as a program of its own is seen where it is downloaded."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(script, "scene.py", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("worked", {}),
        ("worked", {"fold_labels": True, "unit_length": True}),
        ("worked", {"fold_labels": True, "tie": "mistake", "shuffle": True}),
        ("wide", {"unit_length": True}),
        ("circle", {"unit_length": True}),
        ("thin", {"shuffle": True, "seed": 3, "readout": "average"}),
        ("outlier", {"readout": "all"}),
        ("xor", {}),
        ("xor", {"readout": "average"}),
        ("xor", {"fit_intercept": False, "fold_labels": True}),
        ("shared", {}),
        ("xor", {"space": "poly"}),
        ("wide", {"lead": 1.0}),
        ("thin", {"lead": 0.5, "shuffle": True, "seed": 3}),
        ("ring", {"space": "rbf", "gamma": 0.5, "lead": 2.0}),
        ("ring", {"space": "rbf", "gamma": 0.5, "shuffle": True, "readout": "vote"}),
    ],
)
def test_the_script_makes_the_same_mistakes_and_finds_the_same_bound(name, rules):
    state = parse_state({**SCENE[name], **rules})
    run = run_as_json(state)
    printed = printed_by(as_script(state))
    mistaken = np.array(run["steps"]["row"])[run["steps"]["mistake"]].tolist()
    assert f"mistakes: {len(mistaken)} {mistaken}" in printed
    assert f"bound: {run['certificate']['bound']}" in printed
    if not state.is_kernel:
        shown = printed.split("the sum of the mistakes: ")[1].split("\n")[0]
        assert json.loads(shown)[: len(run["weights"]["after"][-1])] == pytest.approx(run["weights"]["after"][-1])


@pytest.mark.parametrize(
    "scene", [scene for scene in SCENES if scene["state"]["points"]], ids=lambda scene: scene["name"]
)
@pytest.mark.parametrize("space", ["line", "circle", "poly", "rbf"])
def test_every_script_is_python(scene, space):
    compile(as_script(parse_state({**SCENE[scene["name"]], "space": space})), "scene.py", "exec")


def test_a_script_needs_two_classes():
    with pytest.raises(StateError, match="one red and one blue"):
        as_script(parse_state({"points": [[0, 0, 1]]}))


def test_the_table_has_the_points_exactly():
    state = parse_state({"points": [[0.1, -1e-17, 1], [1 / 3, 2, -1]]})
    rows = list(csv.DictReader(io.StringIO(as_csv(state))))
    assert [(float(row["x"]), float(row["y"]), int(row["label"])) for row in rows] == list(state.points)
