"""Files of every format that was ever written are read by every later version, and predict what they predicted."""

import ast
import json
from pathlib import Path

import pytest

from novikoff import Stopped
from novikoff.keep.models import CODECS, load, read_header, save
from novikoff.keep.values import decode
from tests.keep import samples
from tests.keep.test_hostile_files import forged

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
    assert {read_header(path)["learner"] for path in GOLDEN} == set(CODECS)


def test_what_chose_the_epochs_has_its_new_name_in_a_file_of_old(tmp_path):
    def change(header):
        header["parameters"].update(held_out=0.25)
        header["run"].update(held_out_errors={"tuple": [3, 1, 2]}, stopped="HELD_OUT")

    old = next(path for path in GOLDEN if path.stem == "sequence-2")
    forged(old.read_bytes(), tmp_path / "model", change)
    model = load(tmp_path / "model")
    assert (model.validation, model.held_out) == (0.25, None)
    assert model.run_.validation_errors == (3, 1, 2)
    assert model.run_.stopped is Stopped.VALIDATION
    assert not model.run_.generalisation().is_known


def test_a_record_of_old_says_nothing_of_new_rows_and_is_written_as_it_was(tmp_path):
    old = next(path for path in GOLDEN if path.stem == "perceptron-1")
    model = load(old)
    assert model.run_.generalisation(random_order=True).delivered is None
    save(model, tmp_path / "model")
    assert read_header(tmp_path / "model")["format"] == 1
