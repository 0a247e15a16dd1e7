"""Tables in memory: what is read, and what is refused, with its column."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from novikoff.data import read

CARS = {"doors": [4, 0, 2], "maker": ["Quaky", "General Mess", None], "sport": ["yes", "no", "yes"]}


def content(reader):
    return [(records.columns.to_pydict(), records.labels, records.line) for records in reader]


def test_a_table_is_read_in_pieces_that_know_their_rows():
    reader = read(pl.DataFrame(CARS), label="sport", block_bytes=40)
    pieces = list(reader)
    assert len(pieces) > 1
    assert [label for piece in pieces for label in piece.labels] == CARS["sport"]
    assert [piece.line for piece in pieces] == [
        1 + sum(p.columns.num_rows for p in pieces[:k]) for k in range(len(pieces))
    ]
    assert reader.is_table
    assert reader.column_types == {"doors": "int64", "maker": "string", "sport": "string"}


def test_types_choose_the_columns_and_the_label_is_always_read():
    reader = read(pd.DataFrame(CARS), label="sport", types={"doors": "double"})
    assert reader.column_types == {"doors": "double", "sport": "string"}
    assert next(iter(reader)).columns.to_pydict() == {"doors": [4.0, 0.0, 2.0]}


def test_the_index_of_a_pandas_table_is_no_column_and_numbers_are_names_too():
    frame = pd.DataFrame([[1, 2]], index=["car"], columns=[0, "b"])
    assert read(frame).column_types == {"0": "int64", "b": "int64"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: read(pd.DataFrame(CARS), label="sprot"), "the table has no column 'sprot' for the label; .*'sport'"),
        (
            lambda: read(pa.table(CARS), types={"dors": "double"}),
            "the table has no column 'dors'; did you mean 'doors'",
        ),
        (
            lambda: read(pd.DataFrame({"a": [1, "x"]})),
            r"the column 'a' has values that do not make one type.*astype\(str\)",
        ),
        (lambda: read(pd.DataFrame([[1, 2]], columns=["a", "a"])), "two columns named 'a'"),
        (lambda: read(pa.table({"a": pa.array([], pa.int64())})), "no records"),
        (lambda: read(pl.DataFrame(CARS), label="maker"), "the table, row 3: the label 'maker' is missing"),
        (lambda: read(pa.table(CARS), format="csv"), "format='csv' is for files"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        content(make())


@pytest.mark.parametrize("what", [5, None, pl.LazyFrame(CARS)])
def test_what_is_no_data_set_is_refused(what):
    with pytest.raises(TypeError, match=f"a table of pandas, polars or pyarrow, not {type(what).__name__}"):
        read(what)
