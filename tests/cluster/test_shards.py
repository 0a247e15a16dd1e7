"""Logical shards follow from the files, and each row is in one of them."""

import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff.cluster.shards import even_ends, shards_of
from novikoff.data.streams import LinesOfFile, matching, opened, stamp_of
from tests.cluster.files import rows, write, write_all


@given(st.lists(st.binary(max_size=5), max_size=12), st.lists(st.integers(0, 60), max_size=5), st.booleans())
def test_every_line_is_in_exactly_one_range_of_bytes(lines, cuts, ends):
    text = b"".join(line.replace(b"\n", b"") + b"\n" for line in lines)
    text = text if ends else text[:-1]
    ends = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    parts = [LinesOfFile(io.BytesIO(text), a, b).read() for a, b in itertools.pairwise(ends)]
    assert b"".join(parts) == text
    assert all(not part or part.endswith(b"\n") for part in parts[:-1] if part != text[-len(part) :])


@given(st.lists(st.integers(1, 100), min_size=1, max_size=30), st.integers(1, 500))
def test_a_sequence_is_cut_into_parts_that_cover_it_in_order(sizes, most):
    ends = even_ends(sizes, most)
    assert ends[0] == 0
    assert ends[-1] == len(sizes)
    assert all(a < b for a, b in itertools.pairwise(ends))
    assert len(ends) - 1 <= max(1, -(-sum(sizes) // most))


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "svmlight", "csv"])
def test_shards_read_the_rows_of_their_files_in_order_and_each_once(tmp_path, kind):
    pattern = write_all(tmp_path, kind, words=kind != "svmlight")
    label = None if kind == "svmlight" else "y"

    def read_all(shards):
        found = []
        for shard in shards:
            for batch in shard.reader(label):
                values = batch.rows.as_array().tolist() if kind == "svmlight" else batch.columns.to_pylist()
                found += [(str(value), y) for value, y in zip(values, batch.labels.tolist(), strict=True)]
        return found

    whole, parts = shards_of(pattern), shards_of(pattern, shard_bytes=700)
    assert len(whole) == 3
    assert (len(parts) > 3) == (kind != "csv")
    assert [row for row, _ in read_all(parts)] == [row for row, _ in read_all(whole)] or kind == "svmlight"
    assert [y for _, y in read_all(parts)] == [y for _, y in read_all(whole)]
    assert [shard.name for shard in parts] == [shard.name for shard in shards_of(pattern, shard_bytes=700)]


def test_files_elsewhere_are_found_and_read_by_their_address(tmp_path):
    write_all(tmp_path, "parquet")
    pattern = f"file://{tmp_path}/part-*.parquet"
    shards = shards_of(pattern)
    assert [shard.file for shard in shards] == [f"file://{tmp_path}/part-{i}.parquet" for i in range(3)]
    assert sum(records.columns.num_rows for shard in shards for records in shard.reader("y")) == 123
    with opened(shards[0].file) as file:
        assert file.read(4) == b"PAR1"
    with pytest.raises(FileNotFoundError, match=r"no file matches the pattern .*csv"):
        matching(f"file://{tmp_path}/*.csv")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        stamp_of(f"file://{tmp_path}/nothing.csv")
    with pytest.raises(ValueError, match="cannot be read"):
        opened("nowhere://at/all")


def test_a_file_that_changes_is_an_error_that_names_it(tmp_path):
    path = write(tmp_path / "one.csv", rows(9))
    [shard] = shards_of(path)
    write(path, rows(10))
    with pytest.raises(OSError, match=r"one\.csv has changed since the work began"):
        shard.reader("y")


def test_what_cannot_be_cut_into_shards_is_refused(tmp_path):
    with pytest.raises(ValueError, match="standard input cannot be read by several machines"):
        shards_of("-")
    with pytest.raises(ValueError, match="svmlight text and tables do not make one data set"):
        shards_of([write(tmp_path / "a.csv", rows(3)), write(tmp_path / "b.svm", rows(3, words=False))])
    with pytest.raises(ValueError, match="shard_bytes is 0"):
        shards_of(tmp_path / "a.csv", shard_bytes=0)
