"""No thread of pyarrow's has anything of Python's to give back when the interpreter ends."""

import gzip
import subprocess
import sys

import pyarrow as pa
import pytest

from novikoff.data import read
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
