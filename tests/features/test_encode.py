"""Attributes to numbers: against a slow encoding in plain Python, and the laws that make it safe to learn from."""

import datetime
import json
import math
import re
import statistics
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from novikoff.data import read
from novikoff.data.batches import Records
from novikoff.features.encode import Encoding, learn_encoding
from novikoff.features.examples import rounded_column
from novikoff.features.numeric import Moments, Numeric
from novikoff.features.scaling import RUN
from novikoff.learn.linear.space import perceptron
from tests.cars import CARS, N_CARS
from tests.draws import draws

ROWS = st.fixed_dictionaries(
    {
        "number": st.none() | st.integers(-4, 4) | st.floats(-1e6, 1e6, allow_subnormal=False),
        "maker": st.none() | st.sampled_from(["Quaky", "General Mess", "é=", ""]),
        "fast": st.none() | st.booleans(),
        "identifier": st.none() | st.integers(0, 30),
        "comment": st.none() | st.text(alphabet="ab ,.é", max_size=8),
    }
)
TABLES = st.lists(ROWS, min_size=1, max_size=12)
SCHEMA = pa.schema(
    [
        ("number", pa.float64()),
        ("maker", pa.string()),
        ("fast", pa.bool_()),
        ("identifier", pa.int64()),
        ("comment", pa.string()),
    ]
)
ASKED = {"categorical": ["identifier"], "text": ["comment"]}


def records_of(rows, schema=SCHEMA, **place):
    return Records(pa.RecordBatch.from_pylist(rows, schema=schema), None, **place)


def learn(rows, **asked):
    return learn_encoding([records_of(rows)], **(asked or ASKED))


def split(rows, size):
    return [records_of(rows[start : start + size]) for start in range(0, len(rows), size)]


def words_of(text):
    words = [word.lower() for word in re.findall(r"[^\W_]+", text)]
    return {*words, *map(" ".join, pairwise(words))}


def slow_encoding(training, row):
    """One record, feature by feature; names to numbers, zeros left out."""
    features = {}
    numbers = [float(car["number"]) for car in training if car["number"] is not None]
    if row["number"] is not None and numbers:
        deviation = statistics.pstdev(numbers)
        features["number"] = (row["number"] - statistics.fmean(numbers)) / (deviation or 1.0)
    for column in ("maker", "fast", "identifier"):
        if row[column] is not None:
            features[f"{column}={row[column]}"] = 1.0
    for word in words_of(row["comment"] or ""):
        features[f"comment:{word}"] = 1.0
    for column, value in row.items():
        if value is None and any(car[column] is not None for car in training):
            features[f"{column} is missing"] = 1.0
    return features


@given(TABLES)
def test_every_record_becomes_what_the_slow_encoding_makes_of_it(rows):
    rows = [*rows, {"number": 1.0, "maker": None, "fast": None, "identifier": None, "comment": None}]
    encoding = learn(rows, **ASKED, scale=True)
    X = encoding.encode(records_of(rows)).rows.as_array()
    assert len(set(encoding.feature_names)) == len(encoding.feature_names) == encoding.n_columns == X.shape[1]
    for row, x in zip(rows, X, strict=True):
        expected = slow_encoding(rows, row)
        assert expected.keys() <= set(encoding.feature_names)
        truth = [expected.get(name, 0.0) for name in encoding.feature_names]
        assert x.tolist() == pytest.approx(truth, rel=1e-9, abs=1e-7)


@given(TABLES, st.integers(1, 12))
def test_blocks_of_any_size_give_the_same_encoding_and_the_same_numbers(rows, size):
    rows = [*rows, {"number": 1.0, "maker": "Quaky", "fast": True, "identifier": 1, "comment": "a b"}]
    encoding = learn(rows)
    assert learn_encoding(split(rows, size), **ASKED) == encoding
    parts = [encoding.encode(part).rows.as_array() for part in split(rows, size)]
    assert np.array_equal(np.vstack(parts), encoding.encode(records_of(rows)).rows.as_array())


@given(TABLES, TABLES, st.permutations(SCHEMA.names))
def test_columns_may_stand_in_another_order_with_others_beside_them(training, rows, order):
    encoding = learn([*training, {"number": 1.0}])
    plain = encoding.encode(records_of(rows))
    mixed = records_of(rows, pa.schema([SCHEMA.field(name) for name in order] + [("other", pa.float64())]))
    again = encoding.encode(mixed)
    assert np.array_equal(again.rows.as_array(), plain.rows.as_array())
    assert (again.unseen, again.missing) == (plain.unseen, plain.missing)


@given(TABLES, TABLES)
def test_what_was_not_seen_in_training_is_ignored_and_counted(training, rows):
    training = [*training, {"number": 1.0, "maker": "Quaky", "fast": True, "identifier": 1, "comment": "a"}]
    training = [{name: row.get(name) for name in SCHEMA.names} for row in training]
    encoded = learn(training).encode(records_of(rows))
    for column in ("maker", "fast", "identifier"):
        seen = {row[column] for row in training}
        unseen = [row[column] for row in rows if row[column] is not None and row[column] not in seen]
        assert encoded.unseen.get(column, 0) == len(unseen)
    for column in SCHEMA.names:
        had_missing = any(row[column] is None for row in training)
        missing = sum(row[column] is None for row in rows)
        assert encoded.missing.get(column, 0) == (0 if had_missing else missing)


@given(TABLES)
def test_an_encoding_survives_json_exactly(rows):
    encoding = learn([*rows, {"number": 0.1}])
    again = Encoding.from_dict(json.loads(json.dumps(encoding.to_dict())))
    assert again == encoding
    assert again.feature_names == encoding.feature_names
    X, Z = (e.encode(records_of(rows)).rows.as_array() for e in (encoding, again))
    assert np.array_equal(X, Z)


@settings(max_examples=draws(20))
@given(st.integers(0, 999), st.lists(st.integers(1, 5000), min_size=1, max_size=5))
def test_mean_and_deviation_depend_on_the_numbers_alone(seed, sizes):
    x = np.random.default_rng(seed).normal(1997, 3, 3 * RUN)
    cuts = np.cumsum(sizes)
    whole, parts = Moments(), Moments()
    whole.add_numbers(x)
    for part in np.split(x, cuts):
        parts.add_numbers(part)
    whole.close()
    parts.close()
    assert (whole.mean, whole.squares, whole.count) == (parts.mean, parts.squares, parts.count)
    assert whole.mean == pytest.approx(math.fsum(x) / len(x), rel=1e-14)
    assert whole.squares == pytest.approx(math.fsum((x - whole.mean) ** 2), rel=1e-12)


def wide_rows(n_rows, n_makers):
    generator = np.random.default_rng(0)
    makers = [f"maker {number % n_makers}" for number in range(n_rows)]
    rare = np.where(generator.random(n_rows) < 0.1, generator.normal(size=n_rows), 0.0)
    batch = pa.RecordBatch.from_pydict({"maker": makers, "year": generator.normal(1997, 3, n_rows), "rare": rare})
    return Records(batch, None)


def test_rows_with_many_features_are_sparse_and_say_the_same_as_dense_ones():
    records = wide_rows(2000, 500)
    encoding = learn_encoding([records])
    assert not encoding.is_dense
    sparse = encoding.encode(records).rows
    assert sparse.is_sparse
    dense = Encoding(encoding.columns, True).encode(records).rows
    assert np.array_equal(sparse.as_array(), dense.as_array())


def test_a_column_is_centred_unless_that_would_fill_it():
    narrow, wide = (learn_encoding([wide_rows(2000, n_makers)]) for n_makers in (5, 500))
    assert narrow.is_dense
    assert narrow.columns["rare"].mean != 0
    assert wide.columns["rare"].mean == 0
    assert wide.columns["year"].mean == narrow.columns["year"].mean == pytest.approx(1997, rel=1e-3)


def test_texts_in_many_words_are_sparse_and_their_features_are_found_again():
    words = [f"w{number}" for number in range(300)]
    rows = [{"comment": f"{one} {two}!"} for one, two in pairwise(words)] + [{"comment": None}]
    schema = pa.schema([SCHEMA.field("comment")])
    encoding = learn_encoding([records_of(rows, schema)], text=["comment"], n_buckets=2**18)
    assert not encoding.is_dense
    encoded = encoding.encode(records_of([{"comment": "W7, w8 new"}, {"comment": None}], schema))
    X = encoded.rows.as_array()
    named = {encoding.feature_names[feature] for feature in np.flatnonzero(X[0])}
    assert named == {"comment:w7", "comment:w8", "comment:w7 w8"}
    assert encoding.feature_names[int(np.flatnonzero(X[1])[0])] == "comment is missing"
    assert encoded.unseen == {"comment": 2}


TEXTS = ["a fast red car", "a slow car", "red red wine", "the car, the red car", "!"]


def test_rare_words_count_more_as_in_scikit_learn_and_every_text_has_length_1():
    schema = pa.schema([SCHEMA.field("comment")])
    encoding = learn_encoding([records_of([{"comment": text} for text in TEXTS], schema)], tfidf=["comment"])
    found = encoding.encode(records_of([{"comment": text} for text in [*TEXTS, "new red"]], schema)).rows.as_array()
    peer = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\w+").fit(TEXTS)
    rarity = TfidfTransformer().fit(peer.transform(TEXTS))
    names = [name.removeprefix("comment:") for name in encoding.feature_names]
    assert sorted(names) == sorted(peer.get_feature_names_out())
    counts = peer.transform([*TEXTS, "new red"]).astype(float)
    counts.data = np.array([sum(1 / m for m in range(1, round(times) + 1)) for times in counts.data])
    theirs = rarity.transform(counts).toarray()[:, [peer.vocabulary_[name] for name in names]]
    np.testing.assert_allclose(found, theirs, rtol=1e-12)
    assert Encoding.from_dict(json.loads(json.dumps(encoding.to_dict()))) == encoding
    assert "weights" not in str(learn_encoding([records_of([{"comment": "a"}], schema)], text="comment").to_dict())


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, "x"], [1.0, 1e999]])
def test_weights_of_words_that_make_no_sense_are_refused(weights):
    column = {"name": "a", "kind": "text", "words": ["b", "c"], "n_buckets": 1}
    plain = {"is_dense": True, "columns": [column | {"has_missing": False, "weights": weights}]}
    with pytest.raises(ValueError, match="not an encoding"):
        Encoding.from_dict(plain)


def test_every_feature_is_one_word_and_what_a_full_bucket_did_not_keep_counts_for_nothing():
    schema = pa.schema([SCHEMA.field("comment")])
    encoding = learn_encoding([records_of([{"comment": "d c b a"}], schema)], text="comment", n_buckets=1)
    assert encoding.feature_names == ("comment:d", "comment:c", "comment:b")
    encoded = encoding.encode(records_of([{"comment": "a b"}], schema))
    assert encoded.rows.as_array().tolist() == [[0.0, 0.0, 1.0]]
    assert encoded.unseen == {"comment": 2}
    assert Encoding.from_dict(json.loads(json.dumps(encoding.to_dict()))) == encoding


@pytest.mark.parametrize("words", [["b", "b"], ["b", 1], ["a", "c"], [["b"]]])
def test_words_that_are_not_in_the_order_of_their_buckets_are_refused(words):
    column = {"name": "a", "kind": "text", "words": words, "n_buckets": 2**18, "has_missing": False}
    with pytest.raises(ValueError, match="not an encoding"):
        Encoding.from_dict({"is_dense": True, "columns": [column]})


def test_a_constant_column_says_nothing_and_harms_nothing():
    batch = pa.RecordBatch.from_pydict({"constant": [0.1] * 10_000, "x": range(10_000)})
    encoding = learn_encoding([Records(batch, None)])
    assert encoding.columns["constant"] == Numeric(0.1, 1.0)
    assert not encoding.encode(Records(batch, None)).rows.as_array()[:, 0].any()


@pytest.fixture(scope="module")
def cars(tmp_path_factory):
    path = tmp_path_factory.mktemp("cars") / "cars.csv"
    path.write_text(CARS)
    return read(path, label="sport", block_bytes=200)


def test_the_cars_of_the_notes_are_learned_without_a_mistake(cars):
    encoding = learn_encoding(cars, categorical=["manufacturer"], text=["comment"], ignore=["fast"])
    assert {"doors", "weight is missing", "manufacturer=6", "comment:low"} < set(encoding.feature_names)
    batches = [encoding.encode(records) for records in cars]
    X = np.vstack([batch.rows.as_array() for batch in batches])
    y = np.where(np.concatenate([batch.labels for batch in batches]) == "sport", 1, -1)
    assert X.shape[0] == N_CARS
    assert perceptron(X, y, max_iter=100, random_state=0).run.stopped.name == "NO_MISTAKES"


def test_a_description_tells_what_became_of_each_column(cars):
    encoding = learn_encoding(cars, categorical=["manufacturer"], text=["comment"], ignore=["year"])
    assert {note.column: note.kind for note in encoding.describe()} == {
        "doors": "numeric",
        "year": "ignored",
        "manufacturer": "categorical",
        "weight": "numeric",
        "fast": "categorical",
        "comment": "text",
    }
    assert encoding.describe()[2].detail == "5 values: 1, 2, 3, 4, 6"
    assert encoding.describe()[3].detail.endswith("some are missing")


def test_a_file_is_read_for_prediction_with_the_types_of_the_encoding(cars, tmp_path):
    encoding = learn_encoding(cars, categorical=["manufacturer"], ignore=["comment"])
    path = tmp_path / "new.csv"
    path.write_text("weight,extra,fast,manufacturer,year,doors\n1000,x,true,7,1997,2\n,y,,6,1998,4\n")
    (records,) = read(path, types=encoding.types)
    encoded = encoding.encode(records)
    assert encoded.unseen == {"manufacturer": 1}
    assert encoded.missing == {"fast": 1}
    assert encoded.labels is None
    path.write_text("weight,fast,manufacturer,year,doors\n1000,true,7,1997,2\n1000,true,7,1997,two\n")
    with pytest.raises(ValueError, match=r"new.csv, line 3: 'two' in the column 'doors' is not a number"):
        list(read(path, types=encoding.types))
    with pytest.raises(ValueError, match=r"new.csv, line 3: the column 'doors' has numbers, but here it has 'two'"):
        encoding.encode(next(iter(read(path))))


def test_a_word_among_the_numbers_of_a_parquet_file_is_found(tmp_path):
    parquet.write_table(pa.table({"z": range(3), "x": ["1", "2.5", "two"]}), tmp_path / "new.parquet")
    encoding = learn_encoding([single([1, 2])])
    (records,) = read(tmp_path / "new.parquet", types=encoding.types)
    with pytest.raises(ValueError, match=r"new.parquet, row 3: the column 'x' has numbers, but here it has 'two'"):
        encoding.encode(records)


def test_a_missing_column_is_named_with_the_nearest_one(cars):
    encoding = learn_encoding(cars, ignore=["comment"])
    batch = pa.RecordBatch.from_pydict(
        {"doors": [1], "year": [1], "manufacturer": [1], "wieght": [1.0], "fast": [True]}
    )
    with pytest.raises(ValueError, match=r"has no column 'weight'; did you mean 'wieght'\?"):
        encoding.encode(Records(batch, None))


def single(values, kind=None, **place):
    return Records(pa.RecordBatch.from_pydict({"x": pa.array(values, kind), "z": range(len(values))}), None, **place)


DAY = datetime.timedelta(days=1)
DATES = {
    "date32[day]": [datetime.date(1970, 1, 1) + n * DAY for n in (0, 40, 9, 7)],
    "timestamp[us]": [datetime.datetime(1969, 12, 30) + 0.25 * n * DAY for n in (0, 40, 9, 7)],
    "time64[us]": [datetime.time(n) for n in (0, 18, 9, 7)],
    "duration[us]": [n * DAY / 4 for n in (0, 40, 9, 7)],
}


@pytest.mark.parametrize("unit", DATES)
def test_dates_and_times_are_days(unit):
    values = [*DATES[unit], None]
    records = single(values)
    assert str(records.columns.column("x").type) == unit
    encoding = learn_encoding([records])
    kind = encoding.columns["x"]
    read_as = "timestamp[us]" if unit == "date32[day]" else unit  # whatever the container, dates are times of one unit
    assert (kind.kind, kind.type, kind.has_missing) == ("date", read_as, True)
    assert Encoding.from_dict(encoding.to_dict()) == encoding
    epoch = {datetime.date: datetime.date(1970, 1, 1), datetime.datetime: datetime.datetime(1970, 1, 1)}
    if unit.startswith("time64"):
        days = [value.hour / 24 for value in values[:-1]]
    elif unit.startswith("duration"):
        days = [value / DAY for value in values[:-1]]
    else:
        days = [(value - epoch[type(value)]) / DAY for value in values[:-1]]
    encoded = encoding.encode(records).rows.as_array()[:, 0]
    assert np.allclose(encoded[:-1], (np.array(days) - np.mean(days)) / np.std(days))
    assert encoded[-1] == 0


@pytest.mark.parametrize("unit", ["date32[day]", "timestamp[us]", "time64[us]"])
def test_dates_that_come_as_text_are_the_same_dates(unit):
    encoding = learn_encoding([single(DATES[unit])])
    written = single([f" {value.isoformat()}" for value in DATES[unit]])
    typed, text = (encoding.encode(records).rows.as_array() for records in (single(DATES[unit]), written))
    assert typed.tolist() == text.tolist()
    with pytest.raises(ValueError, match="has dates, and one cannot be read"):
        encoding.encode(single(["2024-13-13", *["2024-12-13"] * 3]))


def test_dates_and_times_of_one_column_go_together():
    day, moment = single(DATES["date32[day]"]), single(DATES["timestamp[us]"])
    encoding = learn_encoding([day, moment])
    assert encoding.columns["x"].type.startswith("timestamp")
    with pytest.raises(ValueError, match="from here on, but was"):
        learn_encoding([day, single([1.0, 2.0, 3.0, 4.0])])


def test_a_unit_that_is_none_is_refused():
    plain = learn_encoding([single(DATES["date32[day]"])]).to_dict()
    plain["columns"][0]["unit"] = "double"
    with pytest.raises(ValueError, match="not a type of dates or times"):
        Encoding.from_dict(plain)


@pytest.mark.parametrize(
    ("values", "asked", "message"),
    [
        ([1.0, math.inf], {}, r"cars.csv, line 3: the column 'x' is inf"),
        ([1e300, -1e300], {}, "numbers as large as 1e\\+300"),
        ([f"car {number}" for number in range(1001)], {}, r"more than 1,000 different values; use text=\['x'\]"),
        ([f"car {number}" for number in range(21)], {}, "21 different values in 21 records, too many"),
        ([1, 2], {"categorical": ["y"]}, "has no column 'y'"),
        ([1, 2], {"categorical": ["x"], "text": ["x"]}, "cannot be both categorical and text"),
        ([1, 2], {"ignore": ["x", "z"]}, "no column is left"),
        ([[1], [2]], {}, r"which is not a number, word, date or boolean; ignore=\['x'\]"),
        ([True, False], {"text": ["x"]}, "is not text but bool"),
        ([], {}, "no records"),
    ],
)
def test_a_column_that_cannot_be_learned_from_is_refused(values, asked, message):
    with pytest.raises(ValueError, match=message):
        learn_encoding([single(values, file="cars.csv", line=2)], **asked)


def test_identifiers_that_are_asked_for_may_be_many():
    encoding = learn_encoding([single([f"car {number}" for number in range(1500)])], categorical=["x"])
    assert encoding.n_columns == 1501


def test_a_column_that_changes_its_type_is_refused():
    with pytest.raises(ValueError, match=r"b.csv, line 9: the column 'x' is string from here on, but was int64"):
        learn_encoding([single([1, 2]), single(["a"], file="b.csv", line=9)])
    assert learn_encoding([single([1, 2]), single([0.5])]).columns["x"].type == "double"


def test_a_column_without_values_is_ignored():
    encoding = learn_encoding([single([None, None])])
    assert encoding.feature_names == ("z",)
    assert encoding.describe()[0].detail == "no values"
    assert learn_encoding([single([math.nan, math.nan])]).feature_names == ("z",)


def test_whole_numbers_are_the_same_category_in_every_type():
    encoding = learn_encoding([single([3, 7, None])], categorical=["x"])
    assert encoding.feature_names == ("x=3", "x=7", "x is missing", "z")
    X = encoding.encode(single([7.0, math.nan, 3.0])).rows.as_array()
    assert X[:, :3].tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_words_that_were_booleans_are_refused():
    encoding = learn_encoding([single([True, False])])
    with pytest.raises(ValueError, match=r"is string here, but was bool .* types=encoding.types"):
        encoding.encode(single(["true", "no"]))


@pytest.mark.parametrize("plain", [{}, {"columns": [{"name": "x", "kind": "strange"}], "is_dense": True}])
def test_what_is_no_encoding_is_refused(plain):
    with pytest.raises(ValueError, match="this is not an encoding"):
        Encoding.from_dict(plain)


def test_a_feature_is_named_without_naming_all(cars):
    encoding = learn_encoding(cars, categorical=["manufacturer"], text=["comment"], lift="squares")
    names = encoding.feature_names
    again = Encoding.from_dict(encoding.to_dict())
    assert [again.name(feature) for feature in range(again.n_own)] == list(names[: again.n_own])
    assert not {"feature_names", "own_names"} & again.__dict__.keys()
    assert again.name(again.n_columns - 1) == names[-1]


def test_the_names_of_a_wide_table_are_asked_for_once_and_not_once_a_column():
    names = [f"c{number}" for number in range(200)]
    batch = pa.RecordBatch.from_pydict({name: [1, 2] for name in names})
    asked = []

    class Counted:
        column = staticmethod(batch.column)

        @property
        def schema(self):
            asked.append(1)
            return batch.schema

    encoding = learn_encoding([Records(batch, np.array(["a", "b"]), "", 1)])
    assert rounded_column(Records(Counted(), None, "", 1), encoding) is None
    assert len(asked) < 5
