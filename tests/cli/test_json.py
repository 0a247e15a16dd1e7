"""The answers for machines: one schema, which is documented, and which changes only on purpose.

`python -m tests.cli.test_json` writes the golden answers anew.
"""

import json
import re
import tempfile
from pathlib import Path

import pytest

from tests.cli.calling import ROOT, call

GOLDEN = Path(__file__).with_name("golden")
ANSWERS = {
    "fit": "fit cars.csv --label sport_car --json",
    "fit_many_classes": "fit animals.csv --label class --ignore name --json",
    "fit_numbers": "fit six_points.svm --readout last --no-fit-intercept --no-shuffle --json",
    "predict": "predict cars.novikoff cars.csv --out predicted.csv --json",
    "score": "score cars.novikoff cars.csv --json",
    "certify": "certify cars.csv --label sport_car --out cars.cert --json",
    "certify_overlapping": "certify xor.csv --label bits --json",
    "certify_formula": "certify trade.csv --formula value~embargo|origin --family ppml --out trade.cert --json",
    "check_formula": "check trade.cert trade.csv --json",
    "check": "check cars.cert cars.csv --json",
    "inspect": "inspect cars.novikoff --json --weights 3",
    "tag_train": "tag train chunks.conll --templates templates.txt --json",
    "tag_run": "tag run chunks.novikoff chunks.conll --out tagged.conll --json",
    "tag_score": "tag score chunks.novikoff chunks.conll --json",
    "inspect_tagger": "inspect chunks.novikoff --json --weights 3",
    "lp": "lp bakery.mps --out bakery.cert --json",
    "check_program": "check bakery.cert bakery.mps --json",
    "ball": "ball circle.csv --label where --ignore z --inside inside --json",
    "no_ball": "ball xor.csv --label bits --out xor.ball --json",
    "check_ball": "check xor.ball xor.csv --label bits --json",
    "inequalities": "inequalities six_points.svm --no-fit-intercept --out six.cert --json",
    "check_inequalities": "check six.cert six_points.svm --no-fit-intercept --json",
    "example": "example xor.csv bakery.mps --json",
    "error": "check cars.cert xor.csv --json",
    "usage": "fit cars.csv --epochs 3 --json",
}
# What no two releases or machines need to have in common.
VOLATILE = ("version", "sha256", "written_by", "bytes", "iterations", "rescalings", "pivots")


def answers(folder):
    assert call("example", "--quiet", folder=folder).code == 0
    return {name: without_the_volatile(call(*line.split(), folder=folder).json) for name, line in ANSWERS.items()}


def without_the_volatile(answer):
    return {key: "..." if key in VOLATILE else value for key, value in answer.items()}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return answers(tmp_path_factory.mktemp("answers"))


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_the_golden_one(given, name):
    expected = json.loads((GOLDEN / f"{name}.json").read_text())
    assert given[name] == approximately(expected)


def approximately(value):
    """Floats up to their last digits; all else as it is."""
    if isinstance(value, dict):
        return {key: approximately(part) for key, part in value.items()}
    if isinstance(value, list):
        return [approximately(part) for part in value]
    return pytest.approx(value, rel=1e-6) if isinstance(value, float) else value


@pytest.mark.parametrize("name", ANSWERS)
def test_every_key_is_documented(given, name):
    page = (ROOT / "docs" / "commands.md").read_text()
    documented = set(re.findall(r"`(\w+)`", page[page.index("## JSON") :]))
    assert keys(given[name]) - documented == set()


def keys(answer):
    """All keys of the schema; those below `parameters`, `x` and counts by name are the user's own."""
    if isinstance(answer, list):
        return set().union(*map(keys, answer))
    if not isinstance(answer, dict):
        return set()
    own = ("parameters", "x", "predicted", "unseen", "missing", "diverging")
    return set(answer).union(*(keys(part) for key, part in answer.items() if key not in own))


def test_numbers_that_are_not_finite_are_null():
    from novikoff.cli.documents import document

    assert json.loads(json.dumps(document("x", a=float("inf"), b=[float("nan"), 1.5], c={"d": -float("inf")}))) == {
        **document("x"), "a": None, "b": [None, 1.5], "c": {"d": None},
    }  # fmt: skip


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        for name, answer in answers(Path(temporary)).items():
            (GOLDEN / f"{name}.json").write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n")
