"""`predict`, `score` and `inspect`: what a model file is for."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from novikoff import load
from novikoff.data import read
from novikoff.keep.models import load_plain
from tests.cli.calling import call


def as_rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_are_those_of_the_model(folder):
    rows = as_rows(call("predict", "cars.novikoff", "cars.csv", folder=folder).out)
    (records,) = read(folder / "cars.csv", label="sport_car")
    model = load_plain(folder / "cars.novikoff")
    assert [row["prediction"] for row in rows] == model.predict(records).tolist()


def test_every_value_is_written_as_it_was_read(folder):
    text = 'colour,"a,b",n,label\nred,"x ""y""",1.50,p\n,"z",007,q\nblue,w,1e3,p\n'
    (folder / "odd.csv").write_text(text)
    assert call("fit", "odd.csv", "--label", "label", "--quiet", folder=folder).code == 0
    written = call("predict", "odd.novikoff", "odd.csv", folder=folder).out
    before, after = (list(csv.reader(io.StringIO(part))) for part in (text, written))
    assert [row[:-1] for row in after] == before
    assert after[0][-1] == "prediction"


def test_columns_may_stand_in_another_order_and_beside_others(folder):
    rows = as_rows((folder / "cars.csv").read_text())
    names = ["extra", *reversed(rows[0])]
    text = io.StringIO()
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows({**row, "extra": "?"} for row in rows)
    (folder / "turned.csv").write_text(text.getvalue())
    plain, turned = (
        as_rows(call("predict", "cars.novikoff", f"{name}.csv", folder=folder).out) for name in ("cars", "turned")
    )
    assert [row["prediction"] for row in plain] == [row["prediction"] for row in turned]
    assert list(turned[0]) == [*names, "prediction"]


def test_scores_come_for_each_of_many_classes(folder):
    rows = as_rows(
        call("predict", "animals.novikoff", "animals.csv", "--scores", "--column", "guess", folder=folder).out
    )
    for row in rows:
        scores = {name: float(row[f"score of {name}"]) for name in ("bird", "insect", "mammal")}
        assert row["guess"] == max(scores, key=scores.__getitem__)


def test_json_has_one_object_a_row(folder):
    lines = call("predict", "cars.novikoff", "cars.csv", "--json", folder=folder).out.splitlines()
    answer = [json.loads(line) for line in lines]
    assert [part["row"] for part in answer] == list(range(400))
    assert all((part["score"] >= 0) == (part["prediction"] == "yes") for part in answer)


def test_a_table_can_be_predicted_through_a_pipe(folder):
    done = call("predict", "cars.novikoff", "-", folder=folder, stdin=(folder / "cars.csv").read_text())
    assert len(as_rows(done.out)) == 400


@pytest.mark.parametrize("name", ["cars.jsonl", "cars.parquet"])
def test_other_formats_can_be_predicted(folder, name):
    import pyarrow.parquet

    rows = as_rows((folder / "cars.csv").read_text())[:20]
    numbers = ("doors", "year", "engine_size", "weight", "price", "maximum_speed", "cruising_speed")
    typed = [{key: float(value) if key in numbers else value for key, value in row.items()} for row in rows]
    (folder / "cars.jsonl").write_text("".join(json.dumps(row) + "\n" for row in typed))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(typed), folder / "cars.parquet")
    found = as_rows(call("predict", "cars.novikoff", name, folder=folder).out)
    assert [row["prediction"] for row in found] == [row["sport_car"] for row in rows]


def test_svmlight_rows_get_a_column_of_their_own(folder):
    fit = "fit six_points.svm --readout last --no-fit-intercept --no-shuffle --quiet"
    assert call(*fit.split(), folder=folder).code == 0
    out = call("predict", "six_points.novikoff", "six_points.svm", folder=folder).out
    assert out == "prediction\n-1.0\n1.0\n1.0\n-1.0\n-1.0\n1.0\n"
    answer = call("score", "six_points.novikoff", "six_points.svm", "--json", folder=folder).json
    assert (answer["rows"], answer["errors"]) == (6, 0)


def test_what_was_never_seen_is_reported(folder):
    text = (folder / "cars.csv").read_text().splitlines()[:2]
    (folder / "new.csv").write_text("\n".join(text).replace("Quaky", "Unheard").replace("246", "") + "\n")
    done = call("predict", "cars.novikoff", "new.csv", "--out", "p.csv", "--json", folder=folder)
    assert done.json["unseen"] == {"manufacturer": 1}
    assert done.json["missing"] == {"maximum_speed": 1}
    assert "column 'manufacturer': 1 value was not seen in training" in done.err
    assert len(done.err.splitlines()) == 2


def test_a_column_of_that_name_is_not_written_twice(folder):
    done = call("predict", "cars.novikoff", "cars.csv", "--column", "doors", "--out", "p.csv", folder=folder)
    assert done.code == 1
    assert "has a column 'doors' already; choose another name with --column" in done.err
    assert not (folder / "p.csv").exists()


def test_errors_are_counted_by_class(folder):
    lines = (folder / "cars.csv").read_text().splitlines()
    flipped = [line[: -len("yes")] + "no" if line.endswith(",yes") else line for line in lines]
    (folder / "flipped.csv").write_text("\n".join(flipped) + "\n")
    answer = call("score", "cars.novikoff", "flipped.csv", "--json", folder=folder).json
    assert answer["errors"] == 126
    assert answer["confusion"] == [[274, 126], [0, 0]]
    assert answer["accuracy"] == 274 / 400


def test_precision_recall_and_the_area_are_those_of_scikit_learn(folder):
    frame = pd.read_csv(folder / "cars.csv")
    frame["doors"] = frame["doors"].iloc[::-1].to_numpy()
    frame["maximum_speed"] = frame["maximum_speed"].iloc[::-1].to_numpy()
    frame.to_csv(folder / "mixed.csv", index=False)
    model = load(folder / "cars.novikoff")
    truth, guess = frame["sport_car"], model.predict(frame.drop(columns="sport_car"))
    expected = precision_recall_fscore_support(truth, guess, labels=["no", "yes"])
    answer = call("score", "cars.novikoff", "mixed.csv", "--json", folder=folder).json
    assert 0 < answer["errors"] < 400
    for name, values in zip(("precision", "recall", "f1"), expected, strict=False):
        np.testing.assert_allclose([of[name] for of in answer["by_class"]], values)
    scores = model.decision_function(frame.drop(columns="sport_car"))
    np.testing.assert_allclose(answer["auc"], roc_auc_score(truth == "yes", scores))


def test_a_label_of_many_numbers_asks_whether_a_regression_was_meant(folder):
    (folder / "prices.csv").write_text("x,price\n" + "".join(f"{i % 7},{1000 + 3 * i}\n" for i in range(120)))
    done = call("fit", "prices.csv", "--label", "price", "--no-certify", folder=folder)
    assert "the label looks continuous (120 values)" in done.err
    done = call("fit", "prices.csv", "--label", "x", "--no-certify", "--force", folder=folder)
    assert "continuous" not in done.err


def test_labels_that_training_did_not_have_count_as_errors(folder):
    text = (folder / "animals.csv").read_text()
    (folder / "pets.csv").write_text(text.replace("mammal", "pet", 1))
    before = call("score", "animals.novikoff", "animals.csv", "--json", folder=folder).json
    done = call("score", "animals.novikoff", "pets.csv", "--json", folder=folder)
    assert (done.json["rows"], done.json["errors"]) == (before["rows"], before["errors"] + 1)
    assert done.json["unknown_labels"] == {"pet": 1}
    assert done.json["classes"] == before["classes"]
    assert "1 row has a label not seen in training" in done.err
    model = load(folder / "animals.novikoff")
    pets = read(folder / "pets.csv", label=model.to_model().parameters["label"])
    assert model.score(pets) == done.json["accuracy"]
    assert "pet (1)" in call("score", "animals.novikoff", "pets.csv", folder=folder).out


def test_a_model_shows_its_weights_its_run_and_its_proof(folder):
    out = call("inspect", "cars.novikoff", "--weights", "3", folder=folder).out
    for part in ("maximum_speed", "19, 5, 4, 0", "claims separable", "categorical", 'label="sport_car"', "SHA-256"):
        assert part in out
    assert "colour=" not in out
    assert len(call("inspect", "cars.novikoff", "--weights", "none", "--json", folder=folder).json["weights"]) > 10


def test_a_tagger_can_be_inspected(folder):
    answer = call("inspect", "chunks.novikoff", "--json", folder=folder).json
    assert answer["learner"] == "SequencePerceptron"
    assert "B-NP" in answer["classes"]
    assert len(answer["weights"]) == 20


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("predict chunks.novikoff cars.csv", "holds a Tagger, not a Classifier; use novikoff tag run"),
        ("tag run cars.novikoff chunks.conll", "holds a LinearModel, not a Tagger; use novikoff predict"),
        ("predict cars.csv cars.csv", "cars.csv is not a model file"),
        ("predict cars.novikoff six_points.svm", "is svmlight text, but the model was learned from a table"),
    ],
)
def test_a_model_of_another_kind_is_refused(folder, line, what):
    done = call(*line.split(), folder=folder)
    assert done.code == 1
    assert what in done.err
    assert done.out == ""
