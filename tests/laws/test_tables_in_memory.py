"""A table in memory and the file of the same content are one data set."""

import csv
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from novikoff import Perceptron, certify
from novikoff.data import read
from novikoff.features.encode import learn_encoding
from tests.draws import draws

VALUES = {
    "whole": st.integers(-(2**40), 2**40),
    "fraction": st.floats(-1e6, 1e6, allow_subnormal=False),
    "word": st.sampled_from(["red", "green", "blue", "a, b", 'say "hi"']),
    "flag": st.booleans(),
}
PANDAS = {"whole": "Int64", "fraction": "float64", "word": object, "flag": "boolean", "label": object}


@st.composite
def tables(draw):
    """Columns by name, each of a kind, in which values may be missing, but not all; and two labels."""
    n_rows = draw(st.integers(2, 12))
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    columns = {f"{kind} {number}": values(draw, VALUES[kind], n_rows) for number, kind in enumerate(kinds)}
    labels = ["no", "yes", *draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n_rows - 2, max_size=n_rows - 2))]
    return {**columns, "label": labels}


def values(draw, kind, n_rows):
    rest = draw(st.lists(st.none() | kind, min_size=n_rows - 1, max_size=n_rows - 1))
    return [draw(kind), *rest]


def in_pandas(table):
    return pd.DataFrame({name: pd.Series(column, dtype=PANDAS[name.split()[0]]) for name, column in table.items()})


def in_categories(table):
    frame = in_pandas(table)
    return frame.astype({name: "category" for name in frame if name.startswith("word")})


def in_arrow_types(table):
    return pa.table(table).to_pandas(types_mapper=pd.ArrowDtype)


FRAMES = {
    "pandas": in_pandas,
    "pandas categories": in_categories,
    "pandas on Arrow": in_arrow_types,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "pyarrow batch": pa.RecordBatch.from_pydict,
}


def write_csv(table, path):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(
            [["" if value is None else value for value in row] for row in zip(*table.values(), strict=True)]
        )


def write_parquet(table, path):
    parquet.write_table(pa.table(table), path)


def facts(reader):
    """Types, encoding, weights, and what a certificate is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(random_state=0).fit(reader)
        certificate = certify(reader, time_limit=60)
    weights = (model.coef_.tolist(), model.intercept_.tolist())
    return reader.column_types, learn_encoding(reader), weights, certificate.data_hash, certificate.verdict


@pytest.mark.parametrize("write", [write_csv, write_parquet])
@pytest.mark.parametrize("form", FRAMES)
@settings(deadline=None, max_examples=draws(15))
@given(table=tables())
def test_a_table_and_its_file_have_the_same_types_encoding_model_and_certificate(tmp_path_factory, form, write, table):
    path = tmp_path_factory.mktemp("table") / write.__name__.replace("write_", "table.")
    write(table, path)
    frame = FRAMES[form](table)
    assert facts(read(frame, label="label")) == facts(read(path, label="label"))


@pytest.mark.parametrize("form", FRAMES)
@settings(deadline=None, max_examples=draws(15))
@given(table=tables())
def test_a_table_with_its_labels_apart_is_learned_as_its_file(form, table):
    table = {**table, "word for all": ["x"] * len(table["label"])}
    y = np.array(table["label"])
    frame = FRAMES[form]({name: column for name, column in table.items() if name != "label"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apart = Perceptron(random_state=0).fit(frame, y)
        together = Perceptron(random_state=0).fit(read(FRAMES[form](table), label="label"))
    assert apart.encoding_ == together.encoding_
    assert (apart.coef_ == together.coef_).all()
    assert (apart.predict(frame) == together.predict(read(frame))).all()
    assert apart.score(frame, y) == together.score(read(FRAMES[form](table), label="label"))
