"""Which files a reader finds, how it opens them, and what it says if it cannot."""

import gzip
import io
import subprocess
import sys
import types
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import novikoff.data
import novikoff.data.reading
from novikoff.data import read
from tests.cars import CARS, N_CARS

SVMLIGHT = b"+1 1:0.5 3:2\n-1 2:1\n"


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows_of(reader):
    return [row for records in reader for row in records.columns.to_pylist()]


def zstd(text):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(text)
    return sink.getvalue().to_pybytes()


@pytest.fixture
def stdin(monkeypatch):
    def put(content):
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))

    return put


def test_importing_the_room_imports_no_pyarrow():
    code = "import sys, novikoff.data; assert 'pyarrow' not in sys.modules and 'numpy' not in sys.modules"
    source = Path(novikoff.data.__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(source)})
    assert not hasattr(novikoff.data, "write")


@pytest.mark.parametrize("name", ["cars.csv", "cars.csv.gz", "CARS.CSV.zst", "cars", "cars.data"])
def test_the_format_and_the_compression_need_not_be_told(tmp_path, name):
    text = CARS.encode()
    content = gzip.compress(text) if name.endswith("gz") else zstd(text) if name.endswith("zst") else text
    reader = read(written(tmp_path, name, content), label="sport")
    assert reader.formats == ("csv",)
    assert reader.is_table
    assert len(rows_of(reader)) == N_CARS


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"a\tb\n1\t2\n", "tsv"),
        (b"a;b\n1;2\n", "csv"),
        (b'{"a": 1}\n', "jsonl"),
        (SVMLIGHT, "svmlight"),
        (b"1 qid:3 1:0.5 # a comment\n", "svmlight"),
    ],
)
def test_the_first_bytes_tell_the_format(tmp_path, content, kind):
    reader = read(written(tmp_path, "nameless", content))
    assert reader.formats == (kind,)
    assert len(list(reader)) == 1


def test_parquet_is_known_by_its_first_bytes(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2]}), tmp_path / "nameless")
    assert rows_of(read(tmp_path / "nameless")) == [{"a": 1}, {"a": 2}]


def test_a_format_that_does_not_show_must_be_told(tmp_path):
    path = written(tmp_path, "one", "a\n1\n2\n")
    with pytest.raises(ValueError, match="pass format= one of csv, tsv"):
        read(path)
    assert rows_of(read(path, format="csv")) == [{"a": 1}, {"a": 2}]
    with pytest.raises(ValueError, match=r"unknown format 'cvs'; did you mean 'csv'\?"):
        read(path, format="cvs")


def test_a_reader_is_frozen_and_can_be_passed_over_again(tmp_path):
    reader = read(written(tmp_path, "cars.csv", CARS), label="sport")
    assert rows_of(reader) == rows_of(reader)
    assert reader.column_types["weight"] == "double"
    with pytest.raises(FrozenInstanceError):
        reader.label = "doors"


def test_a_pattern_or_a_list_of_files_is_one_data_set(tmp_path):
    header, *lines = CARS.splitlines(keepends=True)
    for number in range(4):
        written(tmp_path, f"cars-{number}.csv", header + "".join(lines[5 * number : 5 * number + 5]))
    (tmp_path / "cars-9.csv").mkdir()
    whole = rows_of(read(written(tmp_path, "all.csv", CARS)))
    assert rows_of(read(f"{tmp_path}/cars-*.csv")) == whole
    assert rows_of(read([tmp_path / "cars-0.csv", f"{tmp_path}/cars-[123].csv"])) == whole


def test_columns_of_a_second_file_may_stand_in_another_order(tmp_path):
    one, two = written(tmp_path, "one.csv", "a,b\n1,2\n"), written(tmp_path, "two.csv", "b,a\n2.5,1\n")
    assert rows_of(read([one, two])) == [{"a": 1, "b": 2.0}, {"a": 1, "b": 2.5}]


def test_a_table_of_another_kind_may_go_on_where_the_first_ends(tmp_path):
    parquet.write_table(pa.table({"b": [2.5], "a": [1]}), tmp_path / "two.parquet")
    one = written(tmp_path, "one.csv", "a,b\n1,2\n")
    assert rows_of(read([one, tmp_path / "two.parquet"])) == [{"a": 1, "b": 2.0}, {"a": 1, "b": 2.5}]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("a,c\n1,2\n", "two.csv has no column 'b', but .*one.csv has"),
        ("a,b,c\n1,2,3\n", "one.csv has no column 'c', but .*two.csv has"),
    ],
)
def test_files_of_one_data_set_have_the_same_columns(tmp_path, second, message):
    files = [written(tmp_path, "one.csv", "a,b\n1,2\n"), written(tmp_path, "two.csv", second)]
    with pytest.raises(ValueError, match=message):
        list(read(files))


def test_numbers_in_one_parquet_file_and_words_in_another_are_refused(tmp_path):
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "one.parquet")
    parquet.write_table(pa.table({"a": ["x"]}), tmp_path / "two.parquet")
    with pytest.raises(ValueError, match=r"two.parquet: column 'a' is string, but int64 in the files before it"):
        list(read(f"{tmp_path}/*.parquet"))
    words = written(tmp_path, "words.csv", "a\nx\n")
    for files in ([words, tmp_path / "one.parquet"], [tmp_path / "one.parquet", words]):
        with pytest.raises(ValueError, match="in the files before it"):
            list(read(files))


def test_the_nearest_name_is_offered_for_a_label_that_is_not_there(tmp_path):
    path = written(tmp_path, "cars.csv", CARS)
    with pytest.raises(ValueError, match=r"cars.csv has no column 'sprot' for the label; did you mean 'sport'\?"):
        list(read(path, label="sprot"))
    with pytest.raises(ValueError, match="its columns are doors, year"):
        list(read(path, label="xyz"))
    with pytest.raises(ValueError, match="the first line is read as names, but looks like data"):
        list(read(written(tmp_path, "nameless.csv", "1,2\n3,4\n"), label="sport"))


def test_paths_that_cannot_be_read_are_refused_at_once(tmp_path):
    written(tmp_path, "cars.csv", CARS)
    with pytest.raises(FileNotFoundError, match=r"there is no file .*cra.csv; did you mean .*cars.csv\?"):
        read(tmp_path / "cra.csv")
    with pytest.raises(IsADirectoryError, match=r"by a pattern such as .*\*.csv"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file matches the pattern"):
        read(f"{tmp_path}/*.parquet")
    with pytest.raises(ValueError, match="the list of files is empty"):
        read([])
    with pytest.raises(ValueError, match="cannot be one of several"):
        read([tmp_path / "cars.csv", "-"])


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_truncated_compressed_file_is_refused(tmp_path, compress):
    content = compress(CARS.encode() + np.random.default_rng(0).bytes(20_000).hex().encode())
    path = written(tmp_path, "cars.csv.gz", content[: len(content) // 2])
    with pytest.raises(OSError, match=r"cars.csv.gz cannot be read to its end: .*damaged or incomplete"):
        list(read(path, block_bytes=1000))


@pytest.mark.parametrize("length", [CARS.index("\n", 600) + 1, CARS.index("\n", 600) - 20])
def test_a_file_that_shrinks_while_it_is_read_is_noticed(tmp_path, length):
    path = written(tmp_path, "cars.csv", CARS)
    records = iter(read(path, block_bytes=100))
    next(records)
    path.write_text(CARS[:length])
    with pytest.raises(OSError, match=rf"cars.csv changed while it was being read \(it had .* and has {length}\)"):
        list(records)


@pytest.mark.parametrize("name", ["cars.csv", "cars.parquet"])
def test_a_file_that_changes_between_two_passes_is_noticed(tmp_path, name):
    path = tmp_path / name
    for n_rows in (3, 500):
        if name == "cars.csv":
            path.write_text("a\n" + "1\n" * n_rows)
        else:
            parquet.write_table(pa.table({"a": range(n_rows)}), path)
        if n_rows == 3:
            reader = read(path)
            assert len(rows_of(reader)) == 3
    with pytest.raises(OSError, match="changed while it was being read"):
        list(reader)


def test_known_types_need_no_pass_of_their_own_and_choose_the_columns(tmp_path):
    path = written(tmp_path, "cars.csv", CARS)
    reader = read(path, types={"weight": "double", "doors": "string"})
    assert rows_of(reader)[0] == {"weight": 1320.5, "doors": "4"}
    with pytest.raises(ValueError, match=r"cars.csv, line 2: '1320.5' in the column 'weight' is not a whole number"):
        list(read(path, types={"weight": "int64"}))
    with pytest.raises(ValueError, match=r"has no column 'wieght'; did you mean 'weight'\?"):
        list(read(path, types={"wieght": "double"}))
    with pytest.raises(ValueError, match=r"has no column 'sprot'; did you mean 'sport'\?"):
        list(read(path, types={"doors": "double"}, label="sprot"))
    (records,) = read(path, types={"doors": "double"}, label="sport")
    assert records.labels[0] == "sport"


def test_a_key_that_no_line_has_is_missed_at_the_end(tmp_path):
    path = written(tmp_path, "cars.jsonl", '{"weight": 1}\n{"weight": 2}\n')
    with pytest.raises(ValueError, match=r"no key 'wieght' in any line; did you mean 'weight'\?"):
        list(read(path, types={"wieght": "double"}))


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd])
def test_a_table_on_standard_input_can_be_passed_over_again(stdin, compress):
    stdin(compress(CARS.encode()))
    reader = read("-", label="sport", format="csv")
    assert len(rows_of(reader)) == N_CARS
    assert rows_of(reader) == rows_of(reader)


def test_standard_input_needs_no_format_if_its_first_line_tells_it(stdin):
    stdin(CARS.encode())
    assert read("-").formats == ("csv",)
    stdin(gzip.compress(CARS.encode()))
    with pytest.raises(ValueError, match="the format of standard input cannot be inferred; pass format="):
        read("-")


def test_standard_input_of_known_types_streams_and_is_read_once(stdin):
    stdin(CARS.encode())
    reader = read("-", types={"doors": "double"}, block_bytes=64)
    first = next(iter(reader))
    assert (first.file, first.line) == ("standard input", 2)
    with pytest.raises(ValueError, match="standard input can be read only once; save it to a file"):
        list(reader)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd])
def test_svmlight_text_comes_as_numbers(tmp_path, stdin, compress):
    path = written(tmp_path, "toy.svm", compress(SVMLIGHT))
    reader = read([path, path])
    assert not reader.is_table
    for _ in range(2):
        assert [batch.labels.tolist() for batch in reader] == [[1.0, -1.0]] * 2
    stdin(compress(SVMLIGHT))
    once = read("-", format="svmlight", zero_based=True)
    assert [batch.rows.as_array().tolist() for batch in once] == [[[0, 0.5, 0, 2], [0, 0, 1, 0]]]
    with pytest.raises(ValueError, match="only once"):
        list(once)
    stdin(compress(SVMLIGHT))
    looked_at = read("-", format="svmlight")
    for _ in range(2):
        assert [batch.rows.as_array().tolist() for batch in looked_at] == [[[0.5, 0, 2], [0, 1, 0]]]


def test_files_of_one_data_set_count_from_the_same_index(tmp_path):
    paths = [written(tmp_path, "one.svm", b"1 1:1\n"), written(tmp_path, "two.svm", b"-1 0:1 1:2\n")]
    assert [batch.rows.as_array().tolist() for batch in read(paths)] == [[[0, 1]], [[1, 2]]]
    assert read(paths[:1]).counts_from_zero is False
    with pytest.raises(ValueError, match="zero_based='no' is unknown"):
        read(paths, zero_based="no")


def test_svmlight_text_has_no_columns_to_name(tmp_path):
    path, table = written(tmp_path, "toy.svm", SVMLIGHT), written(tmp_path, "toy.csv", "a,b\n1,2\n")
    with pytest.raises(ValueError, match="omit label="):
        read(path, label="y")
    with pytest.raises(ValueError, match="do not make one data set"):
        read([path, table])
    with pytest.raises(ValueError, match="no named columns"):
        _ = read(path).column_types


# -- a look, and the pass after it ------------------------------------------------------------------------------------

LATE = "a,b,y\n" + "".join(f"{row},{row % 7 / 2},{'yes' if row % 3 else 'no'}\n" for row in range(500))


@pytest.mark.parametrize("last", ["", "0.5,1,no\n", "?,1,no\n", "word,1,no\n", "-0,x,no\n"])
def test_a_look_finds_the_types_in_which_values_are_read(tmp_path, last):
    path = written(tmp_path, "t.csv", LATE + last)
    reader = read(path, label="y", block_bytes=500)
    list(reader.look())
    types = reader.column_types
    assert rows_of(reader) == rows_of(read(path, label="y", block_bytes=500, types=types))


def test_a_file_that_has_changed_after_a_look_is_an_error(tmp_path):
    path = written(tmp_path, "t.csv", LATE)
    reader = read(path, label="y")
    list(reader.look())
    written(tmp_path, "t.csv", LATE + "1,2,no\n")
    with pytest.raises(OSError, match="changed while it was being read"):
        list(reader)
