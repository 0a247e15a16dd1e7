"""The ways in: every container and format that examples may come in, and what each of them can express.

A `Table` is the data as a person has them: named columns of Python values, None where one is missing, one of them the
labels. A way makes a frame or a file of it, unless it `cannot`: then it says why. All others must agree.
"""

import contextlib
import csv
import gzip
import io
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet
from scipy import sparse

import novikoff
from novikoff import Certificate, Existence, Perceptron, certify, cluster, existence
from novikoff.data import read
from tests.cli.calling import call
from tests.clock import Clock
from tests.svmlight import write_svmlight

LABEL = "class"

# What text cannot tell from a missing value, a number or a truth value.
NOT_WORDS = {*arrow_csv.ConvertOptions().null_values, "?", "-", "true", "False", *"0127"}


# -- tables -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """Columns by name, the labels among them."""

    columns: dict[str, list[Any]]

    @property
    def attributes(self):
        return {name: values for name, values in self.columns.items() if name != LABEL}

    @property
    def labels(self):
        return self.columns[LABEL]

    @property
    def rows(self):
        return [dict(zip(self.columns, values, strict=True)) for values in zip(*self.columns.values(), strict=True)]

    @property
    def words(self):
        return {value for values in self.columns.values() for value in values if isinstance(value, str)}

    @property
    def has_positions(self):
        """Whether its columns could be some of an array."""
        return all(kind_of(values) in (int, float, bool, None) for values in self.attributes.values())


VALUES = {
    "whole": st.integers(-3, 3),
    "large": st.integers(-3, 3).map(lambda value: 1000 * value + 7),
    "decimal": st.integers(-30, 30).map(lambda value: value / 10),
    "tiny": st.integers(-3, 3).map(lambda value: value * 1e-9),
    "word": st.sampled_from(["red", "green", "blue", "a, b", 'say "hi"', " blank ", "two\nlines", "größe"]),
    "odd word": st.sampled_from(["", "NA", "nan", "7", "true", "-", "red"]),
    "flag": st.booleans(),
}
LABELS = {
    "word": ["no", "yes", "may be"],
    "whole": [0, 1, 7],
    "float": [-1.0, 1.0, 2.0],
    "flag": [True, False],
    "numeral": ["0", "1", "2"],
}
NUMBERS = ("whole", "large", "decimal", "tiny")


@st.composite
def tables(draw, kinds=tuple(VALUES), labels=tuple(LABELS), missing=True):
    """Two to eight rows of one to three columns; columns may be constant, rows may come twice."""
    n_rows = draw(st.integers(2, 8))
    columns = {}
    for number, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))):
        value = st.just(draw(VALUES[kind])) if draw(st.integers(0, 5)) == 5 else VALUES[kind]
        value = st.none() | value if missing and draw(st.booleans()) else value
        columns[f"{kind.replace(' ', '_')}_{number}"] = draw(st.lists(value, min_size=n_rows, max_size=n_rows))
    classes = st.sampled_from(LABELS[draw(st.sampled_from(labels))])
    drawn = draw(st.lists(classes, min_size=n_rows, max_size=n_rows))
    place = draw(st.integers(0, len(columns)))
    names = [*columns]
    columns[LABEL] = drawn
    if draw(st.integers(0, 3)) == 3:
        again = draw(st.integers(0, n_rows - 1))
        for values in columns.values():
            values.append(values[again])
    return Table({name: columns[name] for name in [*names[:place], LABEL, *names[place:]]})


def kind_of_labels(labels):
    return next(kind for kind, known in LABELS.items() if type(known[0]) is type(labels[0]) and labels[0] in known)


def labels(table):
    """The labels of a table as an array: words as objects."""
    return np.array(table.labels, dtype=object if isinstance(table.labels[0], str) else None)


def number_tables():
    """Tables that arrays can have, too."""
    return tables(kinds=NUMBERS, missing=False)


# -- ways of tables ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """How a table becomes a frame, or a file in a folder, and what it cannot express: a reason, or None."""

    make: Callable[[Table, Path], Any]
    cannot: Callable[[Table], str | None] = lambda table: None


def kind_of(values):
    return next((type(value) for value in values if value is not None), None)


def in_arrow(table, _=None):
    return pa.table({name: pa.array(values) for name, values in table.columns.items()})


def in_pandas(table, _=None):
    kinds = {int: "Int64", float: "float64", bool: "boolean", str: object, None: object}
    return pd.DataFrame(
        {name: pd.Series(values, dtype=kinds[kind_of(values)]) for name, values in table.columns.items()}
    )


def in_pandas_objects(table, _=None):
    return pd.DataFrame({name: np.array([*values, None], dtype=object)[:-1] for name, values in table.columns.items()})


def in_pandas_categories(table, _=None):
    frame = in_pandas(table)
    words = [name for name, values in table.columns.items() if kind_of(values) is str]
    return frame.astype(dict.fromkeys(words, "category")).rename(index=lambda row: f"row {row}")


def in_polars(table, _=None):
    return pl.DataFrame(table.columns, strict=False)


def in_polars_categories(table, _=None):
    frame = in_polars(table)
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical))


def in_dictionaries(table, _=None):
    plain = in_arrow(table)
    return pa.table({name: plain[name].dictionary_encode() for name in plain.column_names})


def in_chunks(table, _=None):
    plain = in_arrow(table)
    return pa.concat_tables([plain.slice(0, 1), plain.slice(1)])


def text(table, delimiter=",", end="\n"):
    """As a spreadsheet would write it; an empty string cannot be told from nothing."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end)
    writer.writerow(table.columns)
    writer.writerows([["" if value is None else value for value in row.values()] for row in table.rows])
    return stream.getvalue().encode()


def in_json(table, folder):
    """Keys without a value are left out, or null."""
    lines = [
        {name: value for name, value in row.items() if value is not None or number % 2 == 0}
        for number, row in enumerate(table.rows)
    ]
    return written(folder / "table.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines).encode())


def in_parquet(table, folder):
    parquet.write_table(in_arrow(table), folder / "table.parquet", row_group_size=2)
    return folder / "table.parquet"


def in_feather(table, folder):
    feather.write_feather(in_dictionaries(table), folder / "table.feather")
    return folder / "table.feather"


def written(path, content):
    path.write_bytes(content)
    return path


def not_in_text(table):
    odd = sorted(table.words & NOT_WORDS)
    return f"text has no word {odd[0]!r}" if odd else None


FRAMES = {
    "pyarrow": Way(in_arrow),
    "pyarrow dictionaries": Way(in_dictionaries),
    "pyarrow chunks": Way(in_chunks),
    "pyarrow batch": Way(lambda table, _=None: pa.RecordBatch.from_pydict(table.columns)),
    "pandas": Way(in_pandas),
    "pandas objects": Way(in_pandas_objects),
    "pandas categories": Way(in_pandas_categories),
    "pandas on Arrow": Way(lambda table, _=None: in_arrow(table).to_pandas(types_mapper=pd.ArrowDtype)),
    "polars": Way(in_polars),
    "polars categories": Way(in_polars_categories),
}
TEXTS = {
    "CSV": Way(lambda table, folder: written(folder / "table.csv", text(table)), not_in_text),
    "CSV of a spreadsheet": Way(
        lambda table, folder: written(folder / "table.csv", b"\xef\xbb\xbf" + text(table, ";", "\r\n")), not_in_text
    ),
    "CSV, compressed": Way(
        lambda table, folder: written(folder / "table.csv.gz", gzip.compress(text(table))), not_in_text
    ),
    "TSV": Way(lambda table, folder: written(folder / "table.tsv", text(table, "\t")), not_in_text),
}
FILES = {
    **TEXTS,
    "JSON lines": Way(in_json),
    "Parquet": Way(in_parquet),
    "Arrow file": Way(in_feather),
}
TABLES = {**FRAMES, **FILES}


# -- ways of numbers --------------------------------------------------------------------------------------------------


def dense(table):
    return np.array([*table.attributes.values()], dtype=np.float64).T


def halves(table, form=np.asarray):
    X, y = dense(table), table.labels
    return [(form(X[:1]), y[:1]), (form(X[1:]), y[1:])]


def with_explicit_zeros(X):
    n, d = X.shape
    return sparse.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(n + 1) * d), shape=X.shape)


def backwards(X):
    """Rows whose entries stand from right to left, and are written as two halves each."""
    n, d = X.shape
    twice = np.repeat(X[:, ::-1] / 2, 2, axis=1)
    columns = np.tile(np.repeat(np.arange(d)[::-1], 2), n)
    return sparse.csr_array((twice.ravel(), columns, np.arange(n + 1) * 2 * d), shape=X.shape)


ARRAYS = {
    "ndarray": np.asarray,
    "columns first": np.asfortranarray,
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "list of lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "CSR": sparse.csr_array,
    "CSR matrix": sparse.csr_matrix,
    "CSR with zeros": with_explicit_zeros,
    "CSR backwards": backwards,
    "CSC": sparse.csc_array,
    "COO": sparse.coo_array,
    "LIL": sparse.lil_array,
}
BATCHES = {
    "batches": lambda table: halves(table),
    "batches of CSR": lambda table: halves(table, sparse.csr_array),
    "batches of lists": lambda table: halves(table, lambda X: X.tolist()),
    "batches, some sparse": lambda table: [halves(table, sparse.csr_array)[0], halves(table)[1]],
}
LABEL_FORMS = {
    "list": lambda y: y,
    "array": np.array,
    "objects": lambda y: np.array([*y, None], dtype=object)[:-1],
    "pandas": pd.Series,
    "pandas categories": lambda y: pd.Series(y, dtype="category"),
    "pandas on Arrow": lambda y: pd.Series(y, dtype=pd.ArrowDtype(pa.array(y).type)),
    "polars": pl.Series,
    "pyarrow": pa.array,
}


def in_svmlight(table, folder, zero_based=True, comments=False):
    """Labels are floats there, and a column without an entry is not there if it is the last."""
    stream, X = io.BytesIO(), dense(table)
    X = X if zero_based else np.column_stack([np.zeros(len(X)), X])
    write_svmlight(stream, X, np.array(table.labels, dtype=np.float64))
    lines = stream.getvalue().decode().splitlines()
    if comments:
        lines = ["# a comment", *(line.replace(" ", " qid:3 ", 1) + " # and another" for line in lines)]
    return written(folder / "table.svm", "".join(f"{line}\n" for line in lines).encode())


# -- answers ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def quiet():
    """No warnings, and all the time that there is."""
    with warnings.catch_warnings(), Clock().in_place():
        warnings.simplefilter("ignore")
        yield


def quietly(function):
    def quiet_function(*args, **options):
        with quiet():
            return function(*args, **options)

    return quiet_function


def plain(labels):
    """Labels with their types: 1, 1.0 and True are three of them."""
    return [(type(label).__name__, label) for label in np.asarray(labels).tolist()]


def refusals(answers):
    """The answers, or the word for a refusal with a reason: it is about the data, and says what to do."""

    def asked(*args, **options):
        try:
            with quiet():
                return answers(*args, **options)
        except pa.ArrowException:  # which are ValueErrors, some of them, but tell nobody what to do
            raise
        except ValueError:
            return "refused"

    return asked


def learned(model):
    """What is known of a model: bit for bit."""
    held, run = model.model_, model.run_
    return {
        "classes": plain(held.classes),
        "encoding": None if held.encoding is None else json.dumps(held.encoding.to_dict()),
        "weights": model.coef_.tobytes(),
        "bias": model.intercept_.tobytes(),
        "mistakes": run.mistakes_per_epoch,
        "errors": (run.errors, run.n_rows),
        "held out": (run.held_out_rows, run.held_out_errors),
        "stopped": run.stopped,
    }


def certified(certificate):
    return {
        "verdict": certificate.verdict.value,
        "margin": tuple(certificate.margin),
        "bound": certificate.mistake_bound,
        "fingerprint": certificate.data_hash,
        "certified classes": plain(certificate.classes),
    }


def predicted(model, X):
    return {"predictions": plain(model.predict(X)), "scores": model.decision_function(X).tobytes()}


OPTIONS = {"shuffle": False, "max_iter": 5, "random_state": 0}


@refusals
def of_reader(source, check=None, **options):
    """All answers about a reader, or about batches, which may be read again; `check` is another certificate of them."""
    model = Perceptron(**OPTIONS, **options).fit(source)
    certificate = certify(source)
    (check or certificate).check(source)
    return learned(model) | certified(certificate) | predicted(model, source) | {"score": model.score(source)}


@refusals
def of_matrix(X, y, **options):
    """The same of a matrix and its labels."""
    model = Perceptron(**OPTIONS, **options).fit(X, y)
    certificate = certify(X, y)
    certificate.check(X, y)
    return learned(model) | certified(certificate) | predicted(model, X) | {"score": model.score(X, y)}


@refusals
def of_fit(X, y, **options):
    """What is known of a model of a table with its labels apart."""
    model = Perceptron(**OPTIONS, **options).fit(X, y)
    return learned(model) | predicted(model, X) | {"score": model.score(X, y)}


@refusals
def of_learning(source, **options):
    """The same of a reader."""
    model = Perceptron(**OPTIONS, **options).fit(source)
    return learned(model) | predicted(model, source) | {"score": model.score(source)}


@refusals
def of_predicting(model, X):
    return predicted(model, X)


@refusals
def of_formula(formula, source):
    """Which estimates of a formula are infinite, in a frame; or in a file, where the command line is asked."""
    if isinstance(source, Path):
        line = ("certify", source, "--formula", formula, "--out", "estimates", "--force", "--quiet")
        done = call(*line, folder=source.parent)
        if done.code == 1:
            raise ValueError(done.err)
        found = Existence.from_json((source.parent / "estimates").read_text())
    else:
        found = existence(formula, source)
        found.check(source)
    places = [int(str(row).removeprefix("row ")) for row in found.separated_rows]  # where an index names them
    return found.estimate, found.diverging, places


@quietly
def fitted(source):
    """A model, or None if there is nothing to learn."""
    try:
        return Perceptron(**OPTIONS).fit(source)
    except ValueError:
        return None


@quietly
def certificate_of(source):
    """A certificate, or None if there is nothing to certify."""
    try:
        return certify(source)
    except ValueError:
        return None


def of_command(path, folder, *options, label=LABEL):
    """All answers from the command line, with the same options."""
    name = () if label is None else ("--label", label)
    shared = ("--no-shuffle", "--max-iter", "5", "--random-state", "0", "--model", "model", "--force", "--quiet")
    done = call("fit", path, *name, *shared, *options, folder=folder)
    if done.code == 1:
        assert done.err.startswith("novikoff: "), done
        return "refused"
    assert done.code == 0, done
    model = novikoff.load(folder / "model")
    lines = call("predict", "model", path, "--json", folder=folder)
    rows = [json.loads(line) for line in lines.out.splitlines()]
    scored = call("score", "model", path, "--json", folder=folder).json
    checked = call("check", "model", path, folder=folder)
    assert checked.code == 0, checked
    return (
        learned(model)
        | certified(Certificate.from_json(model.model_.certificate))
        | {
            "predictions": plain([row["prediction"] for row in rows]),
            "scores": np.array([row["score"] for row in rows]).tobytes(),
            "score": scored["accuracy"],
        }
    )


# Half of it, which is the least that an even cut leaves, is more bytes than any line has; long tables have more.
SHARD = 400


@refusals
def of_shards(path, **options):
    """All answers of shards whose weights go from one to the next, which is the run of one machine."""
    how = {"label": LABEL, "shard_bytes": SHARD}
    model = cluster.fit(path, mixing="none", max_iter=5, **how, **options)
    certificate = cluster.certify(path, **how)
    cluster.check(certificate, path, shard_bytes=SHARD)
    return learned(model) | certified(certificate) | predicted(model, read(path, label=LABEL))


def reader(way, table, folder):
    """The reader of a table by a way in."""
    return read(TABLES[way].make(table, folder), label=LABEL)
