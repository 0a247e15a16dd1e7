"""Ways in, as a law: the same data by any two ways have the same answers, bit for bit, or a way says what it cannot.

The ways, and what each can express, are a table in `tests/laws/ways.py`.
"""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff import Perceptron, certify
from novikoff.data import read
from tests.draws import draws
from tests.laws import ways
from tests.laws.ways import ARRAYS, BATCHES, FILES, FRAMES, LABEL, LABEL_FORMS, TABLES

law = settings(max_examples=draws(6))
a_table = given(table=ways.tables())
numbers = given(table=ways.number_tables())
every = pytest.mark.parametrize


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all examples: each writes over the files of those before."""
    return tmp_path_factory.mktemp("ways")


# -- tables -----------------------------------------------------------------------------------------------------------


@every("way", TABLES)
@law
@a_table
def test_a_table_has_the_same_answers_by_every_way(folder, way, table):
    if TABLES[way].cannot(table) is None:
        assert ways.of_reader(ways.reader(way, table, folder)) == ways.of_reader(ways.reader("pyarrow", table, folder))


@every("options", [{"held_out": 0.4}, {"class_weight": "balanced"}, {"readout": "last", "lead": 1.0}], ids=str)
@settings(max_examples=draws(4))
@given(table=ways.tables(), way=st.sampled_from([*TABLES]))
def test_options_make_no_difference_between_ways(folder, options, way, table):
    if TABLES[way].cannot(table) is None:
        known = ways.of_reader(ways.reader("pyarrow", table, folder), **options)
        assert ways.of_reader(ways.reader(way, table, folder), **options) == known


@every("way", FILES)
@settings(max_examples=draws(3))
@a_table
def test_the_command_line_gives_the_answers_of_python(folder, way, table):
    if FILES[way].cannot(table) is None:
        path = FILES[way].make(table, folder)
        assert ways.of_command(path, folder) == ways.of_reader(read(path, label=LABEL))


@every("way", ["CSV", "JSON lines", "Parquet"])
@settings(max_examples=draws(4))
@a_table
def test_shards_give_the_answers_of_one_machine(folder, way, table):
    if FILES[way].cannot(table) is None:
        path = FILES[way].make(table, folder)
        known, found = ways.of_reader(read(path, label=LABEL)), ways.of_shards(path)
        assert known == found == "refused" or found == {name: known[name] for name in found}


@every("way", FRAMES)
@settings(max_examples=draws(5))
@a_table
def test_labels_may_be_apart(way, table):
    apart = FRAMES[way].make(ways.Table(table.attributes))
    known = ways.of_reader(read(FRAMES[way].make(table), label=LABEL))
    found = ways.of_fit(apart, ways.labels(table))
    assert known == found == "refused" or found == {name: known[name] for name in found}


@every("way", ARRAYS)
@settings(max_examples=draws(5))
@given(table=ways.number_tables().filter(lambda table: len(set(table.labels)) > 1))
def test_a_model_of_a_table_predicts_from_arrays(way, table):
    X, known = ways.dense(table), read(ways.in_arrow(table), label=LABEL)
    model = ways.fitted(known)
    assert ways.predicted(model, ARRAYS[way](X)) == ways.predicted(model, known)
    assert model.score(ARRAYS[way](X), table.labels) == model.score(known)


@every("way", TABLES)
@settings(max_examples=draws(4))
@given(table=ways.number_tables(), scale=st.sampled_from(["auto", True, False]))
def test_a_table_of_numbers_is_learned_as_its_array(folder, way, table, scale):
    if TABLES[way].cannot(table) is None:
        known = ways.of_fit(ways.dense(table), ways.labels(table), scale=scale)
        found = ways.of_learning(ways.reader(way, table, folder), scale=scale)
        same = ("classes", "weights", "bias", "mistakes", "errors", "stopped", "predictions", "scores", "score")
        assert known == found == "refused" or [known[name] for name in same] == [found[name] for name in same]


# In a formula a dictionary, and a column of objects, is a factor, and its first value is the reference.
FACTORS = ("pyarrow dictionaries", "Arrow file", "polars categories", "pandas objects")
ESTIMATED = [way for way in TABLES if way not in FACTORS]


@every("way", ESTIMATED)
@settings(max_examples=draws(3))
@given(table=ways.tables(kinds=("whole", "decimal", "word", "flag"), labels=("word", "flag")))
def test_estimates_are_infinite_by_every_way_alike(folder, way, table):
    if TABLES[way].cannot(table) is not None:
        return
    formula = f"{LABEL} ~ {' + '.join(table.attributes)}"
    known = ways.of_formula(formula, ways.in_arrow(table))
    assert ways.of_formula(formula, TABLES[way].make(table, folder)) == known


@every("way", TABLES)
@law
@a_table
def test_a_model_predicts_the_same_by_every_way(folder, way, table):
    if TABLES[way].cannot(table) is not None or len(set(table.labels)) < 2:
        return
    known = read(ways.in_arrow(table), label=LABEL)
    model = ways.fitted(known)
    if model is None:
        return
    backwards = ways.Table({name: table.columns[name] for name in reversed(table.columns)} | {"more": table.labels})
    for other in (table, backwards):
        source = TABLES[way].make(other, folder)
        assert ways.predicted(model, read(source)) == ways.predicted(model, known)
        assert model.score(read(source, label=LABEL)) == model.score(known)
    if way in FRAMES:
        assert ways.predicted(model, FRAMES[way].make(table)) == ways.predicted(model, known)
        found = ways.of_predicting(model, FRAMES[way].make(backwards))
        # Columns of numbers have positions, and scikit-learn wants them in the order of training.
        assert found == ways.predicted(model, known) or (found == "refused" and table.has_positions)


@every("way", TABLES)
@settings(max_examples=draws(5))
@a_table
def test_a_certificate_from_one_way_is_proved_again_by_every_other(folder, way, table):
    if TABLES[way].cannot(table) is not None:
        return
    certificate = ways.certificate_of(read(ways.in_arrow(table), label=LABEL))
    if certificate is None:
        return
    source = TABLES[way].make(table, folder)
    certificate.check(read(source, label=LABEL))
    if way in FILES:
        (folder / "certificate").write_text(certificate.to_json())
        done = ways.call("check", "certificate", source, folder=folder)
        assert done.code == 0, done


# -- types of columns -------------------------------------------------------------------------------------------------

DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 5), None, datetime.date(1960, 2, 29)]
TIMES = [datetime.datetime(2020, 1, day, 6, 30, 0, 250_000) for day in (1, 5, 9)]
TIMES = [*TIMES[:2], None, TIMES[2]]
HOURS = [datetime.time(6), datetime.time(12, 30), None, datetime.time(23, 59, 59)]
WORDS = ["u", None, "w", "u"]
INTS, FLOATS, FLAGS = [3, -1, None, 7], [0.5, None, 2.25, -8.0], [True, None, False, True]
UTC = datetime.UTC

# The same column in all types that can hold it; `text` as CSV has it, `json` as JSON lines have it.
COLUMNS = {
    "dates": [
        *(
            pa.array(DAYS).cast(kind)
            for kind in (pa.date32(), pa.date64(), *map(pa.timestamp, ("s", "ms", "us", "ns")))
        ),
        pd.Series(DAYS),
        pd.to_datetime(pd.Series(DAYS)),
        pl.Series(DAYS),
    ],
    "times": [
        *(pa.array(TIMES, pa.timestamp(unit)) for unit in ("ms", "us", "ns")),
        pa.array(TIMES, pa.timestamp("us", "UTC")),
        pa.array([time and time.replace(tzinfo=UTC) for time in TIMES], pa.timestamp("ms", "Europe/Berlin")),
        pd.Series(TIMES),
        pl.Series(TIMES),
        pl.Series(TIMES, dtype=pl.Datetime("ns")),
    ],
    "hours": [
        *(pa.array(HOURS, kind) for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))),
        pd.Series(HOURS),
        pl.Series(HOURS),
    ],
    "words": [
        pa.array(WORDS),
        pa.array(WORDS, pa.large_string()),
        pa.array(WORDS).cast(pa.string_view()),
        pa.array(WORDS).dictionary_encode(),
        pd.Series(WORDS, dtype="string"),
        pd.Series(["u", np.nan, "w", "u"], dtype=object),
        pd.Series(WORDS, dtype=pd.CategoricalDtype(["w", "u", "never"])),
        pl.Series(WORDS, dtype=pl.Categorical),
        pl.Series(WORDS, dtype=pl.Enum(["never", "w", "u"])),
    ],
    "whole numbers": [
        *(pa.array(INTS, kind) for kind in (pa.int8(), pa.int64(), pa.float32(), pa.float64())),
        pa.array(INTS).dictionary_encode(),
        pa.array([value if value is None else Decimal(value) for value in INTS]),
        pd.Series(INTS),
        pd.Series(INTS, dtype="Int16"),
        pd.Series(INTS, dtype=object),
        pd.Series(INTS, dtype="category"),
        pl.Series(INTS, dtype=pl.Int8),
    ],
    "numbers": [
        *(pa.array(FLOATS, kind) for kind in (pa.float16(), pa.float32(), pa.float64())),
        pa.array([value if value is None else Decimal(str(value)) for value in FLOATS]),
        pd.Series(FLOATS),
        pd.Series(FLOATS, dtype="Float32"),
        pd.Series(FLOATS, dtype="Sparse[float64]"),
        pl.Series([0.5, float("nan"), 2.25, -8.0]),
        pl.Series(FLOATS, dtype=pl.Decimal(10, 2)),
    ],
    "flags": [
        pa.array(FLAGS),
        pa.array(FLAGS).dictionary_encode(),
        pd.Series(FLAGS, dtype="boolean"),
        pd.Series(FLAGS, dtype=object),
        pl.Series(FLAGS),
    ],
}
TEXT = {
    "dates": DAYS,
    "times": [time and time.isoformat() for time in TIMES],
    "hours": HOURS,
    "words": WORDS,
    "whole numbers": INTS,
    "numbers": FLOATS,
    "flags": FLAGS,
}


def framed(column, labels):
    if isinstance(column, pd.Series):
        return pd.DataFrame({"x": column, LABEL: labels})
    return (pl.DataFrame if isinstance(column, pl.Series) else pa.table)({"x": column, LABEL: labels})


@every("kind", COLUMNS)
def test_values_and_not_types_of_columns_make_the_answers(tmp_path, kind):
    labels = ["no", "yes", "yes", "no"]
    known = ways.of_reader(read(framed(COLUMNS[kind][0], labels), label=LABEL))
    assert known != "refused"
    for column in COLUMNS[kind][1:]:
        assert ways.of_reader(read(framed(column, labels), label=LABEL)) == known, repr(column)
    table = ways.Table({"x": TEXT[kind], LABEL: labels})
    assert ways.of_reader(read(FILES["CSV"].make(table, tmp_path), label=LABEL)) == known
    if kind != "hours":  # which are words in JSON
        table = ways.Table(
            {"x": [v if type(v) in (int, float, bool, type(None)) else str(v) for v in TEXT[kind]], LABEL: labels}
        )
        assert ways.of_reader(read(FILES["JSON lines"].make(table, tmp_path), label=LABEL)) == known


@every("kind", ["dates", "times", "hours"])
def test_a_model_of_dates_reads_finer_ones_and_those_with_a_zone(tmp_path, kind):
    labels = ["no", "yes", "yes", "no"]
    frame = framed(COLUMNS[kind][0], labels)
    (tmp_path / "certificate").write_text(certify(read(frame, label=LABEL)).to_json())
    model = Perceptron(shuffle=False, max_iter=5).fit(read(frame, label=LABEL))
    ways.novikoff.save(model, tmp_path / "model")
    finer = {"dates": "{}T00:00:00.000000000", "times": "{}000Z", "hours": "{}.000"}[kind]
    table = ways.Table({"x": [value and finer.format(value) for value in TEXT[kind]], LABEL: labels})
    path = FILES["CSV"].make(table, tmp_path)
    assert ways.predicted(model, read(path)) == ways.predicted(model, frame)
    scored = ways.call("score", "model", path, "--label", LABEL, "--json", folder=tmp_path)
    assert scored.json["accuracy"] == model.score(read(frame, label=LABEL))
    assert ways.call("check", "certificate", path, folder=tmp_path).code == 0


def test_whole_numbers_that_float64_would_round_are_certified_by_no_way(tmp_path):
    for values in ([2**53 + 1, 2, 3], [Decimal(2**53 + 1), Decimal(2), Decimal(3)]):
        table = ways.Table({"x": values, LABEL: ["no", "yes", "no"]})
        for way in ("pyarrow", "pandas objects", "CSV", "Parquet"):
            assert ways.of_reader(ways.reader(way, table, tmp_path)) == "refused", way


# -- numbers ----------------------------------------------------------------------------------------------------------


@every("way", ARRAYS)
@law
@numbers
def test_numbers_have_the_same_answers_in_every_array(way, table):
    X, y = ways.dense(table), table.labels
    assert ways.of_matrix(ARRAYS[way](X), y) == ways.of_matrix(X, y)


@every("way", LABEL_FORMS)
@settings(max_examples=draws(5))
@numbers
def test_labels_are_the_same_in_every_container(way, table):
    X, y = ways.dense(table), table.labels
    assert ways.of_matrix(X, LABEL_FORMS[way](y)) == ways.of_matrix(X, y)


@every("way", BATCHES)
@law
@given(table=ways.number_tables(), held_out=st.sampled_from([None, 0.4]))
def test_batches_have_the_answers_of_one_matrix(way, table, held_out):
    known = ways.of_matrix(ways.dense(table), table.labels, held_out=held_out)
    assert ways.of_reader(BATCHES[way](table), held_out=held_out) == known


@every("how", [{"zero_based": True}, {"zero_based": False}, {"zero_based": False, "comments": True}], ids=str)
@settings(max_examples=draws(5))
@given(table=ways.tables(kinds=("whole", "decimal"), labels=("float",), missing=False))
def test_svmlight_text_has_the_answers_of_its_matrix(folder, how, table):
    X = ways.dense(table)
    if not X[:, -1].any() or not X[:, 0].any():  # text does not say that there is such a column
        return
    path = ways.in_svmlight(table, folder, **how)
    known = ways.of_matrix(X, table.labels)
    assert ways.of_reader(read(path, zero_based=how["zero_based"])) == known
    assert ways.of_command(path, folder, label=None) == known


@every("way", ["float32", "int64", "int8", "bool"])
@settings(max_examples=draws(5))
@given(table=ways.tables(kinds=("whole",), missing=False))
def test_numbers_have_the_same_answers_in_every_type(way, table):
    X = ways.dense(table)
    X = (X > 0).astype(float) if way == "bool" else X
    assert ways.of_matrix(X.astype(way), table.labels) == ways.of_matrix(X, table.labels)


@every("way", ARRAYS)
@settings(max_examples=draws(5))
@numbers
def test_rows_learned_once_are_learned_alike_in_every_array(way, table):
    X, y = ways.dense(table), table.labels
    whole, parts = Perceptron(), Perceptron()
    whole.partial_fit(X, y, classes=ways.LABELS[ways.kind_of_labels(y)])
    for part, labels in ways.halves(table, ARRAYS[way]):
        parts.partial_fit(part, labels, classes=ways.LABELS[ways.kind_of_labels(y)])
    assert (parts.coef_ == whole.coef_).all()
    assert ways.predicted(parts, ARRAYS[way](X)) == ways.predicted(whole, X)
