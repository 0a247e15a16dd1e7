"""Files are read alike by any number of threads; and no thread of pyarrow's has anything of Python's to give back when
the interpreter ends."""

import gzip
import itertools
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from novikoff.data import read, svmlight
from novikoff.data.streams import for_threads
from tests.cli.calling import environment

ROWS = [(number, number % 7, "yes" if number % 3 else "no") for number in range(3000)]
CSV = "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in ROWS)
JSON = "".join(f'{{"a": {a}, "b": {b}, "y": "{y}"}}\n' for a, b, y in ROWS)


@pytest.fixture
def files(tmp_path):
    table = pa.table({"a": [row[0] for row in ROWS], "b": [row[1] for row in ROWS], "y": [row[2] for row in ROWS]})
    (tmp_path / "t.csv").write_text(CSV)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    (tmp_path / "t.jsonl").write_text(JSON)
    pa.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=500)
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)
    return tmp_path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl"])
def test_pyarrow_is_given_no_bytes_of_pythons(files, monkeypatch, name):
    given = []
    reader = pa.BufferReader

    def watched(content):
        given.append(content)
        return reader(content)

    monkeypatch.setattr(pa, "BufferReader", watched)
    assert sum(records.columns.num_rows for records in read(files / name, label="y", block_bytes=5000)) == len(ROWS)
    assert given
    assert all(isinstance(content, pa.Buffer) and content.is_mutable for content in given)


def test_the_copy_is_arrows_own():
    text = b"a,b\n1,2\n" * 100
    count = sys.getrefcount(text)
    stream = for_threads(text)
    assert sys.getrefcount(text) == count
    assert stream.read() == text
    assert for_threads(b"").read() == b""


def test_an_interpreter_may_end_in_the_middle_of_every_file(files):
    code = """
from novikoff.data import read
kept = []
for name in ("t.csv", "t.csv.gz", "t.jsonl", "t.parquet", "t.arrow"):
    kept.append(iter(read(name, label="y", block_bytes=2000)))
    next(kept[-1])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=files, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


# ---------------------------------------------------------------------------------------------------------------------
# The same for every number of threads
# ---------------------------------------------------------------------------------------------------------------------

SVMLIGHT = "# rows\n" + "".join(f"{1 if b % 2 else -1} {b + 1}:{a / 7} {a + 9}:2\n" for a, b, _ in ROWS)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(svmlight.batches, "__kwdefaults__", svmlight.batches.__kwdefaults__ | {"chunk_bytes": 1000})


def workers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("novikoff-ahead")]


def examples_of(path, n_jobs):
    return [
        (batch.rows.n_columns, *(part.tolist() for part in batch.rows.matrix), batch.labels.tolist(), batch.line)
        for batch in read(path, n_jobs=n_jobs)
    ]


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_svmlight_text_is_the_same_for_every_number_of_threads(tmp_path, n_jobs):
    (tmp_path / "t.svm").write_text(SVMLIGHT)
    one = examples_of(tmp_path / "t.svm", 1)
    assert len(one) > 20
    assert examples_of(tmp_path / "t.svm", n_jobs) == one
    assert not workers()


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("broken", [0, 1, 70, 2000, 2999])
def test_a_damaged_line_is_named_by_every_number_of_threads(tmp_path, n_jobs, broken):
    lines = SVMLIGHT.split("\n")
    for number in {broken, 2999}:  # the later one is not what is reported
        lines[1 + number] = f"1 5:{number}x"
    (tmp_path / "t.svm").write_text("\n".join(lines))
    seen = []
    with pytest.raises(ValueError, match=f"t.svm, line {broken + 2}: '5:{broken}x' is not a pair"):
        seen.extend(read(tmp_path / "t.svm", n_jobs=n_jobs))
    assert not workers()


def records_of(path, n_jobs, *, look):
    reader = read(path, label="y", block_bytes=500, n_jobs=n_jobs)
    return [
        (records.columns.to_pydict(), str(records.columns.schema), records.file, records.line)
        for records in (reader.look() if look else reader)
    ], reader.column_types


@pytest.mark.parametrize("look", [False, True])
@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("name", ["t.csv", "late.csv", "t.csv.gz", "t.jsonl"])
def test_records_and_types_are_the_same_for_every_number_of_threads(files, name, n_jobs, look):
    (files / "late.csv").write_text(CSV.replace("\n170,", "\nabc,").replace(",5,", ",5.5,").replace("\n900,", "\n0x9,"))
    one = records_of(files / name, 1, look=look)
    assert len(one[0]) > 20
    assert records_of(files / name, n_jobs, look=look) == one
    assert not workers()


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("broken", [0, 1, 70, 2000, 2999])
def test_a_damaged_record_is_named_by_every_number_of_threads(tmp_path, n_jobs, broken):
    lines = CSV.split("\n")
    for number in {broken, 2999}:
        lines[1 + number] += ",7"
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=f"t.csv, line {broken + 2}: 3 columns, but here the number of values is 4"):
        list(read(tmp_path / "t.csv", types={"a": "double"}, block_bytes=500, n_jobs=n_jobs))
    assert not workers()


@pytest.mark.usefixtures("small_chunks")
def test_a_reader_that_is_left_half_way_leaves_no_thread(tmp_path):
    (tmp_path / "t.svm").write_text(SVMLIGHT)
    batches = iter(read(tmp_path / "t.svm", n_jobs=2))
    assert len(list(itertools.islice(batches, 3))) == 3
    assert workers()
    del batches
    assert not workers()


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("first", [0, 1])
def test_a_pass_that_finds_out_where_indices_begin_reads_the_same_numbers(tmp_path, first):
    text = SVMLIGHT if first else SVMLIGHT + "1 0:5 9:1\n"
    (tmp_path / "t.svm").write_text(text)
    reader = read(tmp_path / "t.svm", n_jobs=2)
    assert reader.is_undecided
    raw = list(reader.undecided())
    assert (reader.is_undecided, reader.counts_from_zero) == (False, first == 0)
    decided = list(reader)
    for one, other in zip(raw, decided, strict=True):
        assert np.array_equal(one.rows.matrix.indices - np.uint32(first), other.rows.matrix.indices)
        assert one.rows.n_columns - first == other.rows.n_columns
