"""Predictions and errors of shards are those of one machine."""

import pytest

import novikoff
from novikoff import Perceptron
from novikoff.cluster import fit, predict, score
from novikoff.data import read
from tests.cluster.files import rows, write, write_all


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "svmlight"])
def test_predictions_and_errors_are_those_of_one_machine(tmp_path, kind):
    words, label = kind != "svmlight", None if kind == "svmlight" else "y"
    pattern = write_all(tmp_path, kind, words=words)
    model = fit(pattern, label=label, max_iter=2)
    source = read(pattern, label=label)
    ours = predict(model, pattern, shard_bytes=700)
    assert ours.labels.tolist() == model.predict(source).tolist()
    assert ours.scores.tobytes() == model.decision_function(source).tobytes()
    found = score(model, pattern, shard_bytes=700)
    assert found.errors == model.run_.errors
    assert found.accuracy == pytest.approx(model.score(source))
    assert sum(map(sum, found.confusion)) == found.rows == 123
    assert str(found).endswith(f"errors on 123 rows ({found.errors / 123:.2%})")


def test_what_training_did_not_have_is_counted(tmp_path):
    model = fit(write_all(tmp_path, "csv"), label="y", max_iter=1)
    strange = {**rows(9), "colour": ["mauve"] * 9, "y": ["perhaps"] * 9, "x0": [None] * 9}
    path = write(tmp_path / "strange.csv", strange)
    found = score(model, path)
    assert found.labels == ("no", "yes", "perhaps")
    assert found.errors == 9
    assert found.unseen == {"colour": 9}
    assert found.missing == {"x0": 9}


def test_where_indices_begin_is_kept_with_a_model(tmp_path):
    pattern = write_all(tmp_path, "svmlight", words=False)
    model = fit(pattern, max_iter=2)
    novikoff.save(model, tmp_path / "model")
    again = novikoff.load(tmp_path / "model")
    assert predict(again, pattern).labels.tolist() == predict(model, pattern).labels.tolist()


def test_a_model_of_tables_takes_no_numbers_and_the_other_way_round(tmp_path):
    table, text = write_all(tmp_path, "csv"), write_all(tmp_path, "svmlight", words=False)
    with pytest.raises(ValueError, match=r"part-0\.svmlight is svmlight text, but the model was learned from a table"):
        predict(fit(table, label="y", max_iter=1), text)
    with pytest.raises(ValueError, match=r"part-0\.csv is a table, but the model was learned from numbers"):
        predict(fit(text, max_iter=1), table)
    with pytest.raises(ValueError, match="does not record its label column"):
        score(Perceptron().fit(read(table, label="y")), table)
    (tmp_path / "empty.svmlight").write_text("# nothing\n")
    for what in (predict, score):
        with pytest.raises(ValueError, match=r"empty\.svmlight has no rows"):
            what(fit(text, max_iter=1), tmp_path / "empty.svmlight")
