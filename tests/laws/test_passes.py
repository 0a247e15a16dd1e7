"""A file is read once for types and once for values, whatever is done with it, and is cached at most once."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from novikoff.data import read, reading
from novikoff.features import examples
from novikoff.features.encode import learn_encoding
from novikoff.learn.linear.files import learn_from
from novikoff.prove.separable.search.certify import certify
from tests.cli.calling import call

MAKERS = ("Quaky", "General Mess", "Sport & Co")


def rows(n_rows=300):
    generator = np.random.default_rng(0)
    for weight, speed in generator.normal(size=(n_rows, 2)).round(3).tolist():
        maker = MAKERS[int(generator.integers(3))]
        yield {"weight": weight, "doors": int(generator.integers(5)), "maker": maker, "fast": speed > 0}


def write_csv(path):
    lines = [",".join(map(str, row.values())).replace("True", "yes").replace("False", "no") for row in rows()]
    path.write_text("weight,doors,maker,fast\n" + "\n".join(lines) + "\n")


def write_jsonl(path):
    path.write_text("".join(json.dumps({**row, "fast": "ny"[row["fast"]]}) + "\n" for row in rows()))


def write_parquet(path):
    parquet.write_table(pa.Table.from_pylist(list(rows())), path)


def write_svmlight(path):
    path.write_text("".join(f"{int(row['fast'])} 1:{row['weight']} 2:{row['doors']}\n" for row in rows()))


FILES = {"cars.csv": write_csv, "cars.jsonl": write_jsonl, "cars.parquet": write_parquet, "cars.svm": write_svmlight}


@pytest.fixture(params=FILES)
def file(request, tmp_path):
    FILES[request.param](tmp_path / request.param)
    return tmp_path / request.param


def label_of(file):
    return [] if file.suffix == ".svm" else ["--label", "fast"]


@pytest.fixture
def passes(monkeypatch):
    """How often each file was opened to be read, and how many caches were written."""
    made = Counter()
    opened, writer = reading.reading, examples.CacheWriter

    def counted(source, stamps):
        made[source.name.rpartition("/")[2]] += 1
        return opened(source, stamps)

    monkeypatch.setattr(reading, "reading", counted)
    monkeypatch.setattr(examples, "CacheWriter", lambda *of, **how: (made.update(["caches"]), writer(*of, **how))[1])
    return made


def assert_read_once(passes, file):
    """Once for the types, or to see whether indices begin with 0, and once for the values."""
    assert passes == {file.name: 2, "caches": 1}


def assert_learned_at_once(passes, file):
    """The same, but whoever learns finds out in the one pass where indices begin."""
    assert passes == {file.name: 1 if file.suffix == ".svm" else 2, "caches": 1}


def test_whoever_says_where_indices_begin_saves_a_pass(tmp_path, passes):
    write_svmlight(tmp_path / "cars.svm")
    call("fit", "cars.svm", "--zero-based", "false", "--quiet", folder=tmp_path)
    assert passes == {"cars.svm": 1, "caches": 1}


@pytest.mark.parametrize("options", ["", "--no-certify", "--report page.html", "--readout vote", "--folds 3"])
def test_fitting_reads_a_file_once_for_types_and_once_for_values(file, passes, options):
    call("fit", file.name, *label_of(file), "--quiet", *options.split(), folder=file.parent)
    assert_learned_at_once(passes, file)


@pytest.mark.parametrize("options", ["", "--report page.html", "--out table.cert"])
def test_certifying_reads_a_file_once_for_types_and_once_for_values(file, passes, options):
    call("certify", file.name, *label_of(file), "--quiet", *options.split(), folder=file.parent)
    assert_read_once(passes, file)


def test_checking_reads_a_file_once_for_types_and_once_for_values(file, passes):
    call("certify", file.name, *label_of(file), "--quiet", "--out", "table.cert", folder=file.parent)
    passes.clear()
    assert call("check", "table.cert", file.name, "--quiet", folder=file.parent).code == 0
    assert_read_once(passes, file)


@pytest.mark.parametrize("use", [learn_from, certify], ids=["learn_from", "certify"])
def test_the_library_reads_a_file_as_often_as_the_command(file, passes, use):
    use(read(file, label="fast" if label_of(file) else None))
    (assert_learned_at_once if use is learn_from else assert_read_once)(passes, file)


def test_a_file_that_counts_from_zero_is_begun_again(tmp_path, passes):
    text = "".join(f"{row % 2} {'0:3 ' if row == 700 else ''}{1 + row % 3}:{row % 2 + 1} 4:1\n" for row in range(900))
    path = tmp_path / "late.svm"
    path.write_text(text)
    late = learn_from(read(path), max_iter=2, random_state=0)
    assert (late.memory.n_columns, passes[path.name], passes["caches"]) == (5, 3, 2)
    told = learn_from(read(path, zero_based=True), max_iter=2, random_state=0)
    assert (late.memory.weights == told.memory.weights).all()
    assert (late.fingerprint, late.classes.tolist()) == (told.fingerprint, told.classes.tolist())


def test_a_column_that_turns_to_words_late_is_looked_at_again_by_itself(tmp_path, passes):
    path = tmp_path / "late.csv"
    lines = [f"{row % 7:02},{row % 5}" for row in range(500)] + [f"A{row % 3},{row % 5}" for row in range(500)]
    path.write_text("code,y\n" + "\n".join(lines) + "\n")
    late = learn_encoding(read(path, label="y", block_bytes=1_000))
    assert passes[path.name] == 2
    assert late == learn_encoding(read(path, label="y"))
    assert passes[path.name] == 3
    assert late.columns["code"].values == tuple(sorted([f"{row:02}" for row in range(7)] + ["A0", "A1", "A2"]))
