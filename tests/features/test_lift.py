"""Lifts: further features, the same however rows are stored, and kept in the encoding."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from novikoff.data.batches import Batch, Records
from novikoff.engine.rows import as_rows
from novikoff.features.encode import Encoding, learn_encoding
from novikoff.features.lift import LIFTS, lifted
from novikoff.learn.linear.files import learn_from

FLOATS = st.floats(-1e6, 1e6, width=32).map(lambda x: 0.0 if abs(x) < 1 else x)
TABLES = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=FLOATS)


@given(TABLES)
def test_dense_and_sparse_rows_have_the_same_lift(X):
    everything = np.arange(X.shape[1])
    for lift in LIFTS:
        dense, sparse = (lifted(as_rows(form(X)), lift, everything).as_array() for form in (np.asarray, csr_array))
        assert dense.tobytes() == sparse.tobytes()


@given(TABLES)
def test_a_lift_is_what_it_is_called(X):
    everything = np.arange(X.shape[1])
    by_hand = []
    for row in X.tolist():
        total = 0.0
        for x in row:
            total += x * x
        by_hand.append(total)
    assert lifted(as_rows(X), "paraboloid", everything).as_array()[:, -1].tolist() == by_hand
    assert lifted(as_rows(X), "squares", everything).as_array()[:, X.shape[1] :].tolist() == (X * X).tolist()


def records():
    columns = {"x": [1.0, 2.0, 4.0], "make": ["a", "b", "a"], "y": [0.5, None, 0.25]}
    return Records(pa.RecordBatch.from_pydict(columns), None)


@pytest.mark.parametrize(
    ("lift", "names"), [("paraboloid", ["squared length"]), ("squares", ["x squared", "y squared"])]
)
def test_a_table_is_lifted_as_its_encoding_says(lift, names):
    plain, encoding = learn_encoding([records()]), learn_encoding([records()], lift=lift)
    assert encoding.feature_names == (*plain.feature_names, *names)
    rows, own = encoding.encode(records()).rows.as_array(), plain.encode(records()).rows.as_array()
    numbers = [plain.feature_names.index(name) for name in ("x", "y")]
    more = (own * own).sum(axis=1, keepdims=True) if lift == "paraboloid" else own[:, numbers] ** 2
    assert np.allclose(rows, np.hstack([own, more]), rtol=1e-15)
    assert Encoding.from_dict(encoding.to_dict()) == encoding
    assert encoding.describe()[-1].kind == "lift"


def test_numbers_without_names_have_a_lift_among_the_columns_that_were_learned():
    encoding = Encoding.of_numbers(2, "paraboloid")
    wide = Batch(as_rows(csr_array([[1.0, 2.0, 9.0]])), None)
    assert encoding.encode(wide).rows.as_array().tolist() == [[1.0, 2.0, 5.0]]
    assert encoding.feature_names == ("column 0", "column 1", "squared length")
    assert Encoding.from_dict(encoding.to_dict()) == encoding
    with pytest.raises(ValueError, match="numbers without names"):
        encoding.encode(records())


def test_what_is_no_lift_is_refused():
    with pytest.raises(ValueError, match="lift='cone' is unknown; choose one of paraboloid, squares"):
        learn_encoding([records()], lift="cone")
    for plain in ({"lift": "cone"}, {"width": 3}, {"lift": "squares", "width": -1}):
        with pytest.raises(ValueError, match="this is not an encoding"):
            Encoding.from_dict({"is_dense": False, "columns": [], **plain})


def test_points_in_a_circle_are_learned_without_a_mistake_left():
    X = [[0, 0], [1, 0], [0, 1], [3, 0], [0, 3], [-3, 0], [0, -3]]
    batches = [(X, ["in"] * 3 + ["out"] * 4)]
    options = {"readout": "last", "max_iter": 200, "random_state": 0}
    assert learn_from(batches, **options).run.errors > 0
    learned = learn_from(batches, encoding=Encoding.of_numbers(2, "paraboloid"), **options)
    assert (learned.run.errors, learned.run.encoded) == (0, False)
