"""Learning from shards in this process: the run of one machine where it must be, and an error for whatever is wrong."""

import numpy as np
import pytest

import novikoff
from novikoff import Perceptron
from novikoff.cluster import fit
from novikoff.data import read
from tests.cluster.files import rows, write, write_all

KINDS = ["parquet", "jsonl", "csv", "svmlight"]


def one_machine(pattern, **options):
    return Perceptron(shuffle=False, **options).fit(read(pattern, label=None if pattern.endswith("light") else "y"))


def label_of(kind):
    return None if kind == "svmlight" else "y"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"readout": "last", "fit_intercept": False}, {"min_margin": 0.2}])
@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
def test_without_mixing_it_is_the_run_of_one_machine_bit_for_bit(tmp_path, kind, options):
    pattern = write_all(tmp_path, kind, words=kind != "svmlight")
    ours = fit(pattern, label=label_of(kind), mixing="none", max_iter=4, shard_bytes=700, **options)
    theirs = one_machine(pattern, max_iter=4, **options)
    assert ours.coef_.tobytes() == theirs.coef_.tobytes()
    assert ours.intercept_.tobytes() == theirs.intercept_.tobytes()
    assert ours.run_ == theirs.run_


@pytest.mark.filterwarnings("ignore:Perceptron did not converge")
def test_many_classes_too_and_where_weights_return(tmp_path):
    for number in range(3):
        table = rows(30, number, integers=True, words=False)
        write(tmp_path / f"{number}.csv", {**table, "y": [f"class {int(x) % 4}" for x in table["x0"]]})
    pattern = str(tmp_path / "*.csv")
    ours = fit(pattern, label="y", mixing="none", max_iter=3)
    assert ours.run_ == one_machine(pattern, max_iter=3).run_
    assert ours.coef_.tobytes() == one_machine(pattern, max_iter=3).coef_.tobytes()
    (tmp_path / "xor.svm").write_text("1 1:0 2:0\n1 1:1 2:1\n-1 1:1 2:0\n-1 1:0 2:1\n")
    ours = fit(tmp_path / "xor.svm", mixing="none", max_iter=20, readout="last", shard_bytes=20)
    theirs = Perceptron(shuffle=False, max_iter=20, readout="last").fit(read(tmp_path / "xor.svm"))
    assert ours.run_ == theirs.run_
    assert ours.run_.stopped.name == "CYCLE"


@pytest.mark.parametrize("mixing", ["uniform", "adaptive"])
@pytest.mark.parametrize("lead", [0.0, 2.0])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_mixed_model_predicts_saves_loads_and_learns_on(tmp_path, mixing, lead):
    pattern = write_all(tmp_path, "csv", n=200)
    model = fit(pattern, label="y", mixing=mixing, max_iter=5, lead=lead)
    assert model.run_.shards == 3
    assert model.run_.errors / model.run_.n_rows < 0.15
    assert "The weights of 3 shards were mixed" in str(model.run_)
    novikoff.save(model, tmp_path / "model")
    again = novikoff.load(tmp_path / "model")
    assert again.run_ == model.run_
    table = read(pattern, label="y")
    assert again.predict(table).tolist() == model.predict(table).tolist()
    before = model.run_.margin_at_most
    more = next(iter(table))
    again.fit(table) if again.warm_start else again.partial_fit(more.columns, more.labels)
    assert again.run_.margin_at_most <= before * 2


def test_the_same_files_give_the_same_bits_and_another_seed_another_order(tmp_path):
    pattern = write_all(tmp_path, "csv")
    one, other = (fit(pattern, label="y", max_iter=2) for _ in range(2))
    assert one.coef_.tobytes() == other.coef_.tobytes()
    assert fit(pattern, label="y", max_iter=2, random_state=1).coef_.tobytes() != one.coef_.tobytes()


def test_very_wide_rows_have_weights_for_the_columns_that_are_used(tmp_path):
    lines = [f"{1 if i % 2 else -1} {1 + i % 7}:1 {900_000_000 + i % 5}:{i % 3 - 1}\n" for i in range(40)]
    for number in range(2):
        (tmp_path / f"{number}.svm").write_text("".join(lines[number::2][:9] + lines[:11]))
    pattern = str(tmp_path / "*.svm")
    ours = fit(pattern, mixing="none", max_iter=2)
    theirs = Perceptron(shuffle=False, max_iter=2).fit(read(pattern))
    assert np.array_equal(ours.model_.memory.columns, theirs.model_.memory.columns)
    assert ours.model_.memory.weights.tobytes() == theirs.model_.memory.weights.tobytes()
    assert fit(pattern, max_iter=2).run_.n_rows == 40


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"mixing": "some"}, "mixing='some' is unknown; choose one of uniform, adaptive, none"),
        ({"readout": "vote"}, "a vote needs every mistake"),
        ({"mixing": "none", "shuffle": True}, "the run of one machine in the order given"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number of at least 1"),
        ({"label": None}, "a table needs a column of labels"),
        ({"label": "z"}, r"part-0\.csv has no column 'z' for the label"),
        ({"classes": ["yes", "perhaps"]}, r"part-0\.csv.*label 'no' in row \d+ is not in classes"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path, wrong, error):
    pattern = write_all(tmp_path, "csv")
    with pytest.raises(ValueError, match=error):
        fit(pattern, **{"label": "y", **wrong})


def damaged(path):
    path.write_bytes(path.read_bytes()[:-9])


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda path: damaged(path), r"part-1\.parquet cannot be read as a Parquet file"),
        (lambda path: path.unlink(), "there is no file|No such file"),
        (lambda path: write(path, {**rows(9), "y": ["yes"] * 9}), r"all labels of .*part-1\.parquet are 'yes'"),
        (lambda path: write(path, {**rows(9), "y": ["yes", "no", "ja"] * 3}), r"part-1\.parquet has the label 'ja'"),
        (
            lambda path: write(path, {**rows(9), "y": [1, 2, 3] * 3}),
            r"part-1\.parquet: column 'y' is int64",
        ),
        (lambda path: write(path, {name: [] for name in rows(1)}), r"part-1\.parquet.* no records|no column"),
    ],
)
def test_a_shard_that_is_wrong_is_named(tmp_path, spoil, error):
    write_all(tmp_path, "parquet")
    files = [str(tmp_path / f"part-{i}.parquet") for i in range(3)]
    spoil(tmp_path / "part-1.parquet")
    with pytest.raises((ValueError, OSError), match=error):
        fit(files, label="y")


def test_a_shard_of_one_class_is_taken_if_the_classes_are_named(tmp_path):
    write_all(tmp_path, "csv")
    write(tmp_path / "part-1.csv", {**rows(9), "y": ["yes"] * 9})
    pattern = str(tmp_path / "*.csv")
    assert fit(pattern, label="y", max_iter=1, classes=["no", "yes"]).run_.n_rows == 91
    assert fit(pattern, label="y", max_iter=1, mixing="none").run_.n_rows == 91


def test_an_empty_range_of_bytes_is_named(tmp_path):
    (tmp_path / "long.svm").write_text("1 1:1\n-1 " + " ".join(f"{i}:1" for i in range(1, 400)) + "\n1 2:1\n")
    with pytest.raises(ValueError, match=r"long\.svm \(bytes \d+ to \d+\) has no rows"):
        fit(tmp_path / "long.svm", shard_bytes=200, classes=[-1, 1])


def test_nothing_is_left_in_the_folder_of_the_cache(tmp_path):
    pattern = write_all(tmp_path, "csv")
    folder = tmp_path / "cache"
    folder.mkdir()
    fit(pattern, label="y", max_iter=1, cache_folder=str(folder))
    assert [path for path in folder.rglob("*") if path.is_file()] == []
