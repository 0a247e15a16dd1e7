"""Shards agree on the encoding that one machine finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron
from novikoff.cluster import agreeing, fit
from novikoff.cluster.agreeing import agree_on_tables
from novikoff.cluster.engine import Local
from novikoff.cluster.shards import shards_of
from novikoff.cluster.worker import Worker
from novikoff.data import read
from novikoff.features import numeric
from novikoff.features.encode import learn_encoding
from novikoff.features.numeric import Moments, Runs
from tests.cluster.files import rows, write, write_all


@pytest.fixture(autouse=True)
def short_runs(monkeypatch):
    """Sums of floats begin anew every few values, as they otherwise do every few thousand."""
    for module in (numeric, agreeing):
        monkeypatch.setattr(module, "RUN", 4)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=11), max_size=6))
def test_moments_of_parts_are_those_of_the_whole_bit_for_bit(parts):
    whole, joined, before = Moments(), Moments(), 0
    for part in parts:
        whole.add_numbers(np.array(part))
        runs = Runs(offset=before)
        for value in part:  # one by one, as the smallest pieces would come
            runs.add_numbers(np.array([value]))
        joined.join(runs)
        before += len(part)
    whole.close()
    joined.close()
    for name in ("count", "mean", "squares", "smallest", "largest", "filled"):
        assert getattr(whole, name) == getattr(joined, name)


def agreed(pattern, shard_bytes=700, **column_roles):
    shards, engine = shards_of(pattern, shard_bytes=shard_bytes), Local()
    engine.start(Worker, shards)
    return agree_on_tables(engine, shards, "y", column_roles)


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
def test_the_encoding_is_that_of_one_machine(tmp_path, kind):
    pattern = write_all(tmp_path, kind)
    encoding, _ = agreed(pattern)
    assert encoding.to_dict() == learn_encoding(read(pattern, label="y")).to_dict()


CELLS = st.sampled_from(["1", "2", "-7", "0.5", "1e3", "", "word", "true", "NA"])


@given(st.lists(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=9), min_size=1, max_size=4))
def test_types_that_differ_from_file_to_file_become_what_they_are_on_one_machine(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("files")
    for number, lines in enumerate(files):
        text = "".join(f"{a},{b},{i % 2}\n" for i, (a, b) in enumerate(lines))
        (folder / f"{number}.csv").write_text("a,b,y\n" + text)
    pattern = str(folder / "*.csv")
    try:
        expected = learn_encoding(read(pattern, label="y")).to_dict()
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error).split(":")[-1].split(";")[0][-20:]):
            agreed(pattern)
        return
    encoding, types = agreed(pattern)
    assert encoding.to_dict() == expected
    reader = read(pattern, label="y")
    assert types == {name: reader.column_types[name] for name in types}


def test_wishes_are_heard_and_columns_that_cannot_be_told_may_be_ignored(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    for number in range(2):
        table = rows(12, number)
        table["x0"] = [i % 3 for i in range(12)] if number else [float(i % 3) for i in range(12)]
        table["day"] = np.arange(12).astype("datetime64[D]")
        table["text"] = ["fast red car", "slow boat"] * 6
        parquet.write_table(pa.table(table), tmp_path / f"{number}.parquet")
    pattern, column_roles = str(tmp_path / "*.parquet"), {"categorical": ["x0"], "text": ["text"]}
    expected = learn_encoding(read(pattern, label="y"), **column_roles, ignore=["day"])
    assert agreed(pattern, **column_roles, ignored=["day"])[0].to_dict() == expected.to_dict()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_are_agreed_on_as_well(tmp_path, kind):
    for number in range(3):
        days = np.arange(number, number + 12).astype("datetime64[D]")
        column = days if kind == "parquet" else [str(day) for day in days]
        table = {**rows(12, number), "day": column}
        if kind == "parquet":
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.table(table), tmp_path / f"{number}.parquet")
        else:
            write(tmp_path / f"{number}.csv", table)
    pattern = str(tmp_path / f"*.{kind}")
    encoding, _ = agreed(pattern)
    assert encoding.to_dict() == learn_encoding(read(pattern, label="y")).to_dict()
    model = fit(pattern, label="y", mixing="none", max_iter=2)
    alone = Perceptron(shuffle=False, max_iter=2).fit(read(pattern, label="y"))
    assert model.coef_.tobytes() == alone.coef_.tobytes()


def test_a_key_of_json_lines_may_come_late(tmp_path):
    write(tmp_path / "0.jsonl", {name: values for name, values in rows(9, 0).items() if name != "x2"})
    write(tmp_path / "1.jsonl", rows(9, 1))
    pattern = str(tmp_path / "*.jsonl")
    assert agreed(pattern)[0].to_dict() == learn_encoding(read(pattern, label="y")).to_dict()


def test_another_column_is_an_error_that_names_the_file(tmp_path):
    write(tmp_path / "0.csv", rows(9, 0))
    write(tmp_path / "1.csv", {**rows(9, 1), "x9": [1] * 9})
    with pytest.raises(ValueError, match=r"0\.csv has no column 'x9', but .*1\.csv has"):
        agreed(str(tmp_path / "*.csv"))
    write(tmp_path / "1.csv", {name: values for name, values in rows(9, 1).items() if name != "x2"})
    with pytest.raises(ValueError, match=r"1\.csv has no column 'x2', but .*0\.csv has"):
        agreed(str(tmp_path / "*.csv"))
