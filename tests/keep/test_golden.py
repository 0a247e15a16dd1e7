"""Files that were written once are read by every later version, and predict what they predicted."""

import ast
import json
from pathlib import Path

import pytest

from novikoff.keep.models import LEARNERS, load, read_header
from novikoff.keep.values import decode
from tests.keep import samples

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.novikoff"))
FUNCTIONS = {"features": samples.pair_features, "decode": samples.best_pair}


def about(predictions):
    """Predictions to compare with: other processors, and later versions, round sums in another order."""
    if isinstance(predictions, float):
        return pytest.approx(predictions, rel=1e-12, abs=1e-12)
    if isinstance(predictions, dict):
        return {name: about(part) for name, part in predictions.items()}
    return [about(part) for part in predictions] if isinstance(predictions, list) else predictions


def plain(predictions):
    """Predictions in which scores by label, written as text, are numbers again."""
    if isinstance(predictions, str) and predictions.startswith("{"):
        return ast.literal_eval(predictions)
    return [plain(part) for part in predictions] if isinstance(predictions, list) else predictions


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_file_of_old_predicts_what_it_predicted(path):
    model = load(path, **(FUNCTIONS if path.stem.startswith("structured") else {}))
    golden = json.loads(path.with_suffix(".json").read_text())
    assert plain(samples.predictions(model, decode(golden["inputs"]))) == about(plain(golden["predictions"]))


def test_there_is_a_file_of_every_learner():
    assert {read_header(path)["learner"] for path in GOLDEN} == set(LEARNERS)
