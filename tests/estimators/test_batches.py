"""A function for `map_batches` of Ray Data adds predictions to batches of any kind."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from novikoff import Perceptron
from novikoff.data import read
from tests.cluster.files import rows, write_all


def test_batches_of_any_kind_get_a_column_of_predictions(tmp_path):
    model = Perceptron(max_iter=2).fit(read(write_all(tmp_path, "csv"), label="y"))
    table = pa.table({name: values for name, values in rows(20, 5).items() if name != "y"})
    expected = model.predict(table).tolist()
    add = model.map_batches("guess")
    assert add(table)["guess"].to_pylist() == expected
    assert add(table.to_pandas())["guess"].tolist() == expected
    assert add(pl.from_arrow(table))["guess"].to_list() == expected
    arrays = {name: np.array(table[name].to_pylist(), dtype=object) for name in table.column_names}
    assert add(arrays)["guess"].tolist() == expected
    with pytest.raises(ValueError, match="has a column 'guess' already"):
        add(add(table))

    numbers = Perceptron(random_state=0).fit(pd.DataFrame({"a": [1.0, -1.0], "b": [0.0, 1.0]}), [0, 1])
    batch = {"b": np.array([5.0, -5.0]), "more": np.array([0.0, 0.0]), "a": np.array([-1.0, 1.0])}
    assert numbers.map_batches()(batch)["prediction"].tolist() == [1, 0]
    with pytest.raises(ValueError, match="the batch has 1 columns, but the model has 2"):
        Perceptron().fit([[1.0, 2.0], [0.0, 1.0]], [0, 1]).map_batches()({"a": np.zeros(2)})
