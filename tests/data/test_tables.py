"""Types of columns, blocks of records, and the places of what is wrong with them."""

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet
from pyarrow import json as arrow_json

from novikoff.data import read
from novikoff.data.delimited import end_of_records
from novikoff.data.tables import joined_type
from tests.cars import CARS, N_CARS
from tests.cli.calling import environment
from tests.draws import draws

VALUES = st.text(alphabet='ab1.",;\n\r é', max_size=6)
MISSING = {"", "NA"}


def rows_of(reader):
    return [row for records in reader for row in records.columns.to_pylist()]


def written(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def as_csv(rows):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return file.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.mark.parametrize("block_bytes", [1, 7, 100, 1 << 20])
def test_the_cars_are_read_as_they_are_written(folder, block_bytes):
    path = written(folder, "cars.csv", CARS)
    reader = read(path, label="sport", block_bytes=block_bytes)
    truth = list(csv.DictReader(io.StringIO(CARS)))
    rows = rows_of(reader)
    assert len(rows) == N_CARS
    assert [row["comment"] for row in rows] == [car["comment"] or None for car in truth]
    assert [row["weight"] for row in rows] == [float(car["weight"]) if car["weight"] else None for car in truth]
    assert [row["doors"] for row in rows] == [int(car["doors"]) for car in truth]
    assert [row["fast"] for row in rows] == [car["fast"] == "true" for car in truth]
    assert np.concatenate([records.labels for records in reader]).tolist() == [car["sport"] for car in truth]


@settings(deadline=None, max_examples=draws(30))
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=12), st.integers(1, 40))
def test_blocks_of_any_size_hold_what_the_csv_module_reads(folder, rows, block_bytes):
    path = written(folder, "any.csv", as_csv([("one", "two"), *rows, ("x", "y")]))
    expected = [tuple(None if value in MISSING else value for value in row) for row in [*rows, ("x", "y")]]
    found = [(row["one"], row["two"]) for row in rows_of(read(path, block_bytes=block_bytes))]
    assert found == expected


CELLS = st.sampled_from(["", "NA", "1", "-7", "2.5", "1e3", "99999999999999999999", "true", "False", "Quaky", "0"])
CELLS |= st.sampled_from(["2020-01-01", "2020-01-01 12:00:00", "12:30:00", "nan", "inf", "0x1F", " 1", "1 "])


@settings(deadline=None, max_examples=draws(30))
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12), st.integers(1, 60))
def test_types_and_records_do_not_depend_on_the_size_of_the_blocks(folder, rows, block_bytes):
    path = written(folder, "types.csv", "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
    small, large = read(path, block_bytes=block_bytes), read(path)
    assert small.column_types == large.column_types
    assert repr(rows_of(small)) == repr(rows_of(large))


@pytest.mark.parametrize("block_bytes", [4, 1 << 20])
def test_hexadecimal_numbers_are_words(folder, block_bytes):
    path = written(folder, "hexadecimal.csv", "a,b\n0x1F,7\n2.5,8\n")
    assert read(path, block_bytes=block_bytes).column_types == {"a": "string", "b": "int64"}


@settings(deadline=None, max_examples=draws(30))
@given(st.lists(CELLS, min_size=1, max_size=6), st.lists(CELLS, min_size=1, max_size=6))
def test_two_files_are_read_as_one(folder, one, two):
    table = "a,k\n{}"
    parts = ["".join(f"{cell},k\n" for cell in cells) for cells in (one, two)]
    apart = [written(folder, f"part-{number}.csv", table.format(part)) for number, part in enumerate(parts)]
    whole = written(folder, "whole.csv", table.format("".join(parts)))
    assert repr(rows_of(read(apart))) == repr(rows_of(read(whole)))


def last_record_end(text):
    """Letter by letter: a quote means something only at the start of a value, and inside of a quoted one."""
    end, place, value_starts = 0, 0, True
    while place < len(text):
        if value_starts and text[place] == '"':
            place += 1
            while place < len(text) and (text[place] != '"' or text[place + 1 : place + 2] == '"'):
                place += 1 if text[place] != '"' else 2
            value_starts = False
        else:
            value_starts = text[place] in ",\n"
            end = place + 1 if text[place] == "\n" else end
        place += 1
    return end


@settings(deadline=None, max_examples=draws(100))
@given(st.text(alphabet='a,"\n', max_size=30))
def test_a_block_ends_where_its_last_record_ends(text):
    assert end_of_records(text.encode(), ",") == last_record_end(text)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ('a,b\n"c\nd', 4),
        ('"a\nb",c\nd', 8),
        ('5" pipe\n"x\ny"\n6" pipe\n"', 22),
        ('"a""\n"\nb', 7),
        ('"a"b"\n"c\n', 6),
        ("", 0),
    ],
)
def test_line_ends_inside_of_quotes_end_no_record(text, end):
    assert end_of_records(text.encode(), ",") == end


def test_lines_are_known_through_all_blocks(folder):
    path = written(folder, "lines.csv", "a,b\n" + "1,2\n" * 9)
    line = 2
    for records in read(path, block_bytes=8):
        assert records.line == line
        line += records.columns.num_rows
    assert line == 11


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("block_bytes", [5, 1 << 20])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n\n3\n", "line 4: 2 columns, but here the number of values is 1"),
        ('a,b\n"1\n\n",2\n3,4,5\n', "line 5: 2 columns, but here the number of values is 3"),
        (b"a,b\n1,2\nx\xff,3\n", "line 3: the byte 0xff is not UTF-8"),
        (b"a\xe4,b\n1,2\n", "line 1: the byte 0xe4 is not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "is UTF-16"),
        ('a,b\n1,2\n3,"4\n5,6\n', "begins in line 3 has no end; a quote is opened"),
        ("a,b,a\n1,2,3\n", "two columns named 'a'"),
        ("a,b\r1,2\r", "carriage returns"),
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "no records"),
    ],
)
def test_a_broken_csv_file_is_refused_with_its_place(folder, text, message, block_bytes, n_jobs):
    path = written(folder, "broken.csv", text)
    with pytest.raises(ValueError, match=r"broken\.csv") as error:
        list(read(path, block_bytes=block_bytes, n_jobs=n_jobs))
    assert message in str(error.value)


@pytest.mark.parametrize("block_bytes", [12, 1 << 20])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n\n{"a": "x"}\n', "line 3: 'a' is a string, but "),
        ('{"a": 1}\n{"a": true}\n', "line 2: 'a' is a boolean, but "),
        ('{"a": 1}\n{"a": {"b": 1}}\n', "line 2: 'a' holds an object or an array"),
        ('{"a": {"b": 1}}\n', "line 1: 'a' holds an object or an array"),
        ('{"a": [1]}\n', "line 1: 'a' holds an object or an array"),
        ('{"a": 1}\n{"a": \n', "line 2: "),
        ('[{"a": 1}]\n', "jq -c"),
        (b'{"a": "x"}\n{"a": "\xff"}\n', "line 2: the byte 0xff is not UTF-8"),
        ('{"a": 1}\n\n \tnull\n{"a": 2}\n', "line 3: null, not an object"),
        ('{"a": 1}\n{"a": 2} null\n{"a": 3}\n', "line 2: more than one value"),
        ('{"a": 1}\n\n{"a": 2}{"a": 3}\n', "line 3: more than one value"),
        ("", "is empty"),
    ],
)
def test_broken_json_lines_are_refused_with_their_place(folder, text, message, block_bytes):
    path = written(folder, "broken.jsonl", text)
    with pytest.raises(ValueError, match=r"broken\.jsonl") as error:
        list(read(path, block_bytes=block_bytes))
    assert message in str(error.value)


def test_null_in_the_first_line_is_an_error_and_not_a_crash(folder):
    """What once was exit code 139, so it is looked for in a process of its own."""
    for number, text in enumerate(("null\n", 'null\n{"a": 1}\n', ' null\r\n{"a": null}\n', 'nullnull\n{"a": 1}\n')):
        path = written(folder, f"null{number}.jsonl", text)
        script = f"from novikoff.data import read\ntry: list(read({str(path)!r}))\nexcept ValueError as e: print(e)"
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert f"null{number}.jsonl, line 1: null, not an object; JSON lines have one object per line" in done.stdout


def test_a_value_that_is_null_is_missing_like_a_key_that_is_not_there(folder):
    null = written(folder, "null.jsonl", '{"a": null, "b": "x"}\n{"a": 1, "b": null}\n{"a": 2.5, "b": "null"}\n')
    gone = written(folder, "gone.jsonl", '{"b": "x"}\n{"a": 1}\n{"a": 2.5, "b": "null"}\n')
    assert [dict(row) for row in rows_of(read(null))] == [dict(row) for row in rows_of(read(gone))]
    with pytest.raises(ValueError, match=r"null\.jsonl, line 2: the label 'b' is missing"):
        list(read(null, label="b"))


def test_a_part_of_json_lines_may_lack_a_key_that_another_part_has(folder):
    first, rest = '{"a": 1, "b": 2}\n', '{"b": 3}\n{"b": 4}\n'
    whole = read(written(folder, "parts.jsonl", first + rest), types={"a": "double", "b": "double"})
    part = replace(whole, parts=((len(first), len(first + rest)),))
    assert [records.columns.to_pydict() for records in part] == [{"a": [None, None], "b": [3.0, 4.0]}]


def test_lines_that_each_have_a_key_of_their_own_are_no_table(folder, monkeypatch):
    lines = [json.dumps({f"key {number}": 1, "y": number % 2}) for number in range(5000)]
    path = written(folder, "sparse.jsonl", "\n".join([*lines, ""]))
    parsed = []
    monkeypatch.setattr(arrow_json, "read_json", counting(arrow_json.read_json, parsed))
    with pytest.raises(ValueError, match=r"sparse\.jsonl: the 5,000 lines from line 1 on have 5,001 keys.*Vowpal"):
        list(read(path, label="y"))
    assert max(table.num_columns * table.num_rows for table in parsed) < 10**6
    small = written(folder, "small.jsonl", "\n".join(lines[:900]))
    assert sum(records.columns.num_rows for records in read(small, label="y")) == 900


@pytest.mark.parametrize("last", ["1", "1.5", '"word"', "null", '"2020-01-01"', "true"])
def test_the_beginning_of_a_long_piece_does_not_decide_its_types(folder, last):
    first = {"1.5": "2", '"word"': '"2020-01-01"', "true": "false", '"2020-01-01"': '"2020-01-02"'}.get(last, "null")
    lines = [f'{{"a": {first}}}'] * 3000 + [f'{{"a": {last}, "late": 1}}']
    long, short = written(folder, "long.jsonl", "\n".join(lines)), written(folder, "short.jsonl", "\n".join(lines[-2:]))
    assert read(long).column_types == read(short).column_types


def counting(do, done):
    def counted(*arguments, **named):
        done.append(do(*arguments, **named))
        return done[-1]

    return counted


def test_a_wide_table_with_hexadecimal_numbers_is_parsed_a_few_times(folder, monkeypatch):
    names = [f"c{number}" for number in range(300)]
    rows = [["0x1F" if place % 9 == 7 else "?" if place == 8 else str(place) for place in range(300)] for _ in range(2)]
    path = written(folder, "wide.csv", "\n".join(",".join(cells) for cells in [names, *rows]))
    parsed = []
    monkeypatch.setattr(arrow_csv, "read_csv", counting(arrow_csv.read_csv, parsed))
    types = read(path).column_types
    assert (types["c7"], types["c8"], types["c9"]) == ("string", "null", "int64")
    assert len(parsed) < 10


JSON_CELLS = st.none() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False, width=32)
JSON_WORDS = st.none() | st.text(max_size=4) | st.just("2020-01-01")


@settings(deadline=None, max_examples=draws(40))
@given(st.lists(st.tuples(JSON_CELLS, JSON_WORDS), min_size=1, max_size=8), st.integers(1, 60))
def test_json_lines_do_not_depend_on_the_size_of_the_blocks(folder, rows, block_bytes):
    lines = [json.dumps({"n": n, "w": w} if n is not None else {"w": w}, ensure_ascii=False) for n, w in rows]
    path = written(folder, "any.jsonl", "\n".join(lines))
    small, large = read(path, block_bytes=block_bytes), read(path)
    assert small.column_types == large.column_types
    assert rows_of(small) == rows_of(large)
    if "n" in small.column_types:
        found = [row["n"] for row in rows_of(small)]
        assert [n is None for n in found] == [n is None for n, _ in rows]
        assert all(n is None or found_n == pytest.approx(n) for found_n, (n, _) in zip(found, rows, strict=True))


def table():
    return pa.table(
        {
            "whole": pa.array([1, None, 3], pa.int16()),
            "half": pa.array([0.5, 1.5, float("nan")], pa.float32()),
            "maker": pa.array(["Quaky", "Mess", "Quaky"]).dictionary_encode(),
            "fast": [True, False, True],
        }
    )


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrows"])
def test_parquet_and_arrow_files_give_the_same_records(folder, name, block_bytes):
    path = folder / name
    if name == "t.parquet":
        parquet.write_table(table(), path)
    elif name == "t.feather":
        feather.write_feather(table(), path)
    else:
        with pa.ipc.new_stream(path, table().schema) as stream:
            stream.write_table(table())
    reader = read(path, label="maker", block_bytes=block_bytes)
    assert reader.column_types == {"whole": "int64", "half": "double", "maker": "string", "fast": "bool"}
    rows = rows_of(reader)
    assert [row["whole"] for row in rows] == [1, None, 3]
    assert [row["half"] for row in rows][:2] == [0.5, 1.5]
    assert [label for records in reader for label in records.labels] == ["Quaky", "Mess", "Quaky"]


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.99])
def test_a_truncated_binary_file_is_refused(folder, name, share):
    path = folder / ("whole" + name)
    parquet.write_table(table(), path) if "parquet" in name else feather.write_feather(table(), path)
    whole = path.read_bytes()
    cut = written(folder, "cut" + name, whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=r"damaged or incomplete|is empty"):
        list(read(cut))


@pytest.mark.parametrize(
    ("column", "kind", "labels"),
    [
        ("1\n2", "i", [1, 2]),
        ("1.5\n2", "f", [1.5, 2.0]),
        ("true\nfalse", "b", [True, False]),
        ("yes\nno", "O", ["yes", "no"]),
    ],
)
def test_labels_keep_their_type(folder, column, kind, labels):
    path = written(folder, "labels.csv", "y,x\n" + column.replace("\n", ",0\n") + ",0\n")
    (records,) = read(path, label="y")
    assert records.labels.dtype.kind == kind
    assert records.labels.tolist() == labels
    assert records.columns.schema.names == ["x"]


@pytest.mark.parametrize("missing", ["", "nan"])
def test_a_missing_label_is_refused_with_its_line(folder, missing):
    path = written(folder, "unlabelled.csv", f"x,y\n1,2.5\n1,{missing}\n")
    with pytest.raises(ValueError, match=r"unlabelled\.csv, line 3: the label 'y' is missing"):
        list(read(path, label="y"))


def test_where_lines_are_not_records_these_are_counted(folder):
    path = written(folder, "gaps.csv", 'x,y\n1,2\n\n"\n",3\n1,\n')
    with pytest.raises(ValueError, match=r"gaps\.csv, row 3: the label 'y' is missing"):
        list(read(path, label="y"))
    parquet.write_table(pa.table({"x": [1, 2, 3], "y": ["a", "b", None]}), folder / "gaps.parquet")
    with pytest.raises(ValueError, match=r"gaps\.parquet, row 3: the label 'y' is missing"):
        list(read(folder / "gaps.parquet", label="y", block_bytes=1))


@pytest.mark.parametrize("block_bytes", [16, 1 << 20])
def test_threads_do_not_tear_values_with_line_ends_apart(folder, block_bytes):
    path = written(folder, "torn.csv", "a,b\n" + '"one\ntwo\nthree\n",4\n' * 50)
    assert rows_of(read(path, n_jobs=3, block_bytes=block_bytes)) == [{"a": "one\ntwo\nthree\n", "b": 4}] * 50


def test_a_date_is_no_label(folder):
    path = written(folder, "dates.csv", "x,y\n1,2020-01-01\n")
    with pytest.raises(ValueError, match="labels are words, numbers or booleans"):
        list(read(path, label="y"))


@given(st.permutations([pa.null(), pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("s"), pa.string()]))
def test_joining_types_does_not_depend_on_their_order(kinds):
    one, two, three = kinds[:3]
    joined = joined_type(joined_type(one, two, as_text=True), three, as_text=True)
    assert joined == joined_type(one, joined_type(two, three, as_text=True), as_text=True)
    assert joined_type(one, two, as_text=True) == joined_type(two, one, as_text=True)
