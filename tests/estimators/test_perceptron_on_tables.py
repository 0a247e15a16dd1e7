"""Tables in memory: they are encoded as their files are, and so is whatever a model of a table is given afterwards."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_score

from novikoff import KernelPerceptron, Perceptron, load, save
from novikoff.data import read
from novikoff.data.batches import Batch
from novikoff.engine.rows import as_rows
from novikoff.features.encode import learn_encoding
from novikoff.features.examples import comes_in_batches
from novikoff.features.numeric import Numeric
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.memory import LinearModel
from tests.cli.calling import call

LEARNERS = [Perceptron, KernelPerceptron]
FORMS = [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas]


# How the command line asks for the same.
ASKED = {learner: ["--label", "answer", "--no-certify"] for learner in LEARNERS}
ASKED[KernelPerceptron] += ["--kernel", "rbf"]

FRAME = pd.DataFrame(
    {
        "doors": [4, 2, 2, 4, 5, 0],
        "weight": [1540.0, 1200.0, 1100.0, 2000.0, None, 4650.0],
        "colour": ["red", "red", "blue", "black", None, "green"],
    }
)
Y = np.array(["yes", "yes", "yes", "no", "no", "no"])


@pytest.fixture
def model():
    return Perceptron(random_state=0, max_iter=50).fit(FRAME, Y)


def test_words_become_features_with_names(model):
    assert model.feature_names_in_.tolist() == ["doors", "weight", "colour"]
    assert model.n_features_in_ == 3
    assert {"doors", "weight is missing", "colour=red", "colour is missing"} <= set(model.encoding_.feature_names)
    assert model.coef_.shape == (1, len(model.encoding_.feature_names))
    assert (model.predict(FRAME) == Y).all()
    assert model.score(FRAME, Y) == 1.0


def test_columns_may_stand_in_another_order_with_others_beside_them(model):
    other = FRAME[["colour", "weight", "doors"]].assign(more="x")
    assert (model.decision_function(other) == model.decision_function(FRAME)).all()
    assert (model.decision_function(pl.from_pandas(other)) == model.decision_function(FRAME)).all()


def test_rows_are_encoded_one_by_one_as_they_were_in_the_whole(model):
    alone = [model.decision_function(FRAME.iloc[[row]])[0] for row in range(len(FRAME))]
    assert alone == model.decision_function(FRAME).tolist()
    without_a_word = FRAME[FRAME["colour"].isna()]
    assert model.predict(without_a_word).tolist() == ["no"]


def test_a_column_that_is_not_there_is_named(model):
    with pytest.raises(ValueError, match="the table has no column 'colour'; did you mean 'color'"):
        model.predict(FRAME.rename(columns={"colour": "color"}))


def test_online_learning_goes_on_in_the_same_encoding(model):
    seen = model.run_.examples
    model.partial_fit(FRAME, Y)
    assert model.run_.examples == seen + len(Y)
    again = Perceptron(random_state=0, max_iter=50, warm_start=True).fit(FRAME, Y)
    encoding = again.encoding_
    assert again.fit(FRAME.iloc[:4], Y[:4]).encoding_ is encoding


def test_saving_keeps_the_encoding(model, tmp_path):
    save(model, tmp_path / "cars.novikoff")
    assert (load(tmp_path / "cars.novikoff").decision_function(FRAME) == model.decision_function(FRAME)).all()


NUMBERS = FRAME[["doors", "weight"]]


def written(frame, y, folder):
    frame.assign(answer=y).to_csv(folder / "cars.csv", index=False)
    return folder / "cars.csv"


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("frame", [FRAME, NUMBERS])
def test_a_table_in_memory_gives_the_model_of_its_file(learner, form, frame, tmp_path):
    """Also one of numbers alone: scaled, its missing values taken, and shuffled alike."""
    model = learner(random_state=0).fit(form(frame), Y)
    assert call("fit", written(frame, Y, tmp_path), *ASKED[learner], folder=tmp_path).code == 0
    of_file = load(tmp_path / "cars.novikoff")
    assert model.model_.encoding == of_file.model_.encoding
    assert (model.decision_function(form(frame)) == of_file.decision_function(frame)).all()
    assert model.n_mistakes_ == of_file.n_mistakes_
    assert model.run_ == of_file.run_


def test_the_record_says_in_one_line_that_a_table_was_scaled():
    said = "Columns standardised: default with words or missing values; missing values are set to"
    assert f"{said} the mean, with a feature that marks them.\n" in str(Perceptron(random_state=0).fit(NUMBERS, Y).run_)
    assert f"{said} the mean.\n" in str(Perceptron(random_state=0).fit(FRAME[["doors", "colour"]], Y).run_)
    assert "standardised" not in str(Perceptron(random_state=0).fit(FRAME[["doors"]], Y).run_)
    assert "standard deviations" not in str(Perceptron(random_state=0).fit(FRAME[["colour"]], Y).run_)


@pytest.mark.parametrize("learner", LEARNERS)
def test_who_asks_for_a_scale_gets_it_whatever_the_container(learner):
    doors = FRAME[["doors"]].assign(year=[1990.0, 1991.0, 1992.0, 2000.0, 2001.0, 2002.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unscaled = learner(random_state=0, scale=False).fit(doors, Y)
        matrix = learner(random_state=0, scale=False).fit(doors.to_numpy(), Y)
    assert (unscaled.decision_function(doors) == matrix.decision_function(doors.to_numpy())).all()
    assert unscaled.run_.scaled is None
    assert unscaled.run_.radius == matrix.run_.radius
    row = Batch(as_rows([[2, 1990]]), None)
    assert unscaled.model_.encoding.encode(row).rows.as_array().tolist() == [[2, 1990]]
    words = learner(random_state=0, scale=False).fit(FRAME, Y)
    assert words.model_.encoding.columns["weight"] == Numeric(0.0, 1.0, has_missing=True)
    assert learner(random_state=0, scale=True).fit(FRAME, Y).run_ == learner(random_state=0).fit(FRAME, Y).run_


def test_a_table_of_pandas_whose_columns_have_no_names_is_an_array():
    X = NUMBERS.fillna(0.0).to_numpy()
    model = Perceptron(random_state=0).fit(pd.DataFrame(X), Y)
    assert not hasattr(model, "encoding_")
    assert (model.coef_ == Perceptron(random_state=0).fit(X, Y).coef_).all()
    with pytest.raises(ValueError, match="the column '2' is of type string, where numbers are needed"):
        model.predict(pd.DataFrame(FRAME.to_numpy()))
    assert Perceptron(random_state=0).fit(pd.DataFrame(FRAME.to_numpy()), Y).score(FRAME.to_numpy(), Y) == 1.0


# What a model of a table may be given instead of the table: the same columns by their positions.
BY_POSITION = {
    "array": lambda frame: frame.to_numpy(dtype=float),
    "float32": lambda frame: frame.to_numpy(dtype=np.float32),
    "column by column": lambda frame: np.asfortranarray(frame.to_numpy(dtype=float)),
    "list": lambda frame: frame.to_numpy(dtype=float).tolist(),
    "list with None": lambda frame: frame.astype(object).where(frame.notna(), None).to_numpy().tolist(),
    "objects": lambda frame: frame.to_numpy(dtype=object),
    "sparse": lambda frame: sparse.csr_array(frame.to_numpy(dtype=float)),
    "sparse columns": lambda frame: sparse.csc_matrix(frame.to_numpy(dtype=float)),
    "table without names": lambda frame: pd.DataFrame(frame.to_numpy(dtype=float)),
    "batches": lambda frame: [(frame.to_numpy(dtype=float)[:4], Y[:4]), (frame.to_numpy(dtype=float)[4:], Y[4:])],
    "tables in batches": lambda frame: [(frame[:4], Y[:4]), (frame[4:], None)],
    "sparse table": lambda frame: frame.astype(pd.SparseDtype(float)),
    "polars": pl.from_pandas,
    "reader": read,
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("form", BY_POSITION)
def test_a_model_of_a_table_encodes_every_input(learner, form, tmp_path):
    model = learner(random_state=0).fit(NUMBERS, Y)
    save(model, tmp_path / "cars.novikoff")
    for one in (model, load(tmp_path / "cars.novikoff")):
        given = BY_POSITION[form](NUMBERS)
        assert (one.decision_function(given) == one.decision_function(NUMBERS)).all()
        assert (one.predict(given) == one.predict(NUMBERS)).all()
        if not comes_in_batches(given):
            assert one.score(given, Y) == one.score(NUMBERS, Y)
            going_on = load(tmp_path / "cars.novikoff").partial_fit(given, Y)
            same = load(tmp_path / "cars.novikoff").partial_fit(NUMBERS, Y)
            assert (going_on.decision_function(NUMBERS) == same.decision_function(NUMBERS)).all()


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("form", sorted(set(BY_POSITION) - {"reader", "tables in batches", "batches"}))
def test_a_warm_start_encodes_every_input(form):
    one, other = (Perceptron(random_state=0, warm_start=True).fit(NUMBERS, Y) for _ in range(2))
    assert (one.fit(BY_POSITION[form](NUMBERS), Y).coef_ == other.fit(NUMBERS, Y).coef_).all()


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("learner", LEARNERS)
def test_words_by_position_are_encoded_too_and_what_does_not_fit_is_refused(learner):
    model = learner(random_state=0).fit(FRAME, Y)
    expected = model.decision_function(FRAME)
    assert (model.decision_function(FRAME.to_numpy()) == expected).all()
    assert (model.decision_function(FRAME.to_numpy().tolist()) == expected).all()
    for X, why in [
        (np.zeros((2, 3)), "array of numbers, but the column 'colour' of the training table, at position 2, is categ"),
        (sparse.csr_array(np.zeros((2, 3))), "array of numbers, but the column 'colour'"),
        ([(np.zeros((2, 3)), None)], "array of numbers, but the column 'colour'"),
        (
            np.zeros((2, len(model.model_.names))),
            "8 columns, but .* a table of 3 columns: doors, weight, colour;",
        ),
        (FRAME.to_numpy()[:, :2], "X has 2 columns, but .* pass an array of these columns in this order"),
        ([{"doors": 4, "weight": 1.0, "colour": "red"}], r"X has 1 dimension\(s\), but .* or a table \(pandas"),
    ]:
        with pytest.raises(ValueError, match=why):
            model.predict(X)
        if not isinstance(X, list):
            with pytest.raises(ValueError, match=why):
                model.partial_fit(X, Y[: X.shape[0]])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_numbers_that_are_categories_and_flags_have_positions():
    table = pa.table({"maker": [6, 3, 6, 1, 1, 3], "fast": [True, True, True, False, False, None], "answer": Y})
    encoding = learn_encoding(read(table, label="answer"), categorical=["maker"])
    model = Perceptron.from_model(LinearModel.of(learn_from(read(table, label="answer"), encoding=encoding), {}))
    X = np.array([[6, 1], [3, 1], [6, 1], [1, 0], [1, 0], [3, np.nan]])
    assert (model.decision_function(X) == model.decision_function(table)).all()
    assert (model.model_.scores(Batch(as_rows(X), None)) == model.decision_function(table)).all()


def test_a_model_of_scikit_learns_tools_is_that_of_its_table():
    """They may hand out arrays, or tables with one column shuffled."""
    many = pd.concat([FRAME] * 5, ignore_index=True)
    model = Perceptron(random_state=0).fit(many, np.tile(Y, 5))
    found = permutation_importance(model, many, np.tile(Y, 5), random_state=0, n_repeats=3)
    assert len(found.importances_mean) == model.n_features_in_ == 3
    assert found.importances_mean.max() > 0


def test_rows_that_are_lifted_have_the_columns_of_the_rows_they_were(tmp_path):
    (tmp_path / "ring.svm").write_text("1 0:1 1:2\n-1 0:-1\n1 1:3\n-1 1:-0.5\n")
    assert call("fit", "ring.svm", "--lift", "paraboloid", folder=tmp_path).code == 0
    model = load(tmp_path / "ring.novikoff")
    assert model.n_features_in_ == 2
    X = np.array([[1.0, 2.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -0.5]])
    assert (model.decision_function(X) == model.decision_function(read(tmp_path / "ring.svm"))).all()


def test_batches_of_tables_are_not_learned_as_if_they_were_arrays():
    with pytest.raises(ValueError, match="a batch is a table, and there is no encoding for its columns"):
        Perceptron().fit([(NUMBERS[:4], Y[:4]), (NUMBERS[4:], Y[4:])])


@pytest.mark.parametrize("learner", LEARNERS)
def test_partial_fit_scales_a_table_by_its_first_rows(learner):
    model = learner(random_state=0).partial_fit(NUMBERS, Y)
    assert model.feature_names_in_.tolist() == ["doors", "weight"]
    assert model.model_.encoding == learner(random_state=0).fit(NUMBERS, Y).model_.encoding
    assert (model.partial_fit(NUMBERS, Y).predict(NUMBERS.to_numpy()) == model.predict(NUMBERS)).all()


def test_folds_of_a_table_are_tables():
    both = pd.concat([FRAME] * 4, ignore_index=True)
    assert cross_val_score(Perceptron(random_state=0), both, np.tile(Y, 4), cv=3).mean() > 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Perceptron().fit(FRAME), "requires y to be passed.*label="),
        (lambda: Perceptron().fit(FRAME, Y[:3]), r"the table has 6 rows, but labels of shape \(3,\)"),
        (lambda: Perceptron().fit(FRAME, np.linspace(0, 1, 6)), "Unknown label type"),
        (lambda: Perceptron().fit(FRAME.assign(colour=[1, "x", 2, 3, 4, 5]), Y), "the column 'colour' has values that"),
        (
            lambda: Perceptron().fit(pd.DataFrame({"name": [f"car {n}" for n in range(60)]}), np.tile(Y, 10)),
            "the column 'name' has 60 different values in 60 records.* drop the column",
        ),
        (lambda: Perceptron().partial_fit(FRAME, Y), "the column 'colour' is of type string"),
        (lambda: KernelPerceptron().partial_fit(FRAME, Y), "the column 'colour' is of type string"),
        (lambda: KernelPerceptron(kernel="precomputed").fit(FRAME, Y), "the column 'colour' is of type string"),
        (lambda: Perceptron().fit(NUMBERS.to_numpy(), Y), "NaN"),
    ],
)
def test_what_cannot_be_learned_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_categories_not_seen_in_training_are_warned_of_and_new_words_are_not(tmp_path):
    frame = pd.DataFrame({"colour": ["red", "blue"] * 6, "size": range(12), "text": ["some words here"] * 12})
    frame.assign(y=[0, 1] * 6).to_csv(tmp_path / "t.csv", index=False)
    assert call("fit", "t.csv", "--label", "y", "--text", "text", "--no-certify", folder=tmp_path).code == 0
    model = load(tmp_path / "t.novikoff")
    new = frame.assign(colour=["red", "pink"] * 6, text="other words")
    with pytest.warns(UserWarning, match="column 'colour': 6 values were not seen in training") as caught:
        model.predict(new)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame.assign(text="other words"))


def test_labels_of_many_numbers_ask_whether_a_regression_was_meant():
    X = np.arange(240).reshape(120, 2)
    with pytest.warns(UserWarning, match="the label looks continuous"):
        Perceptron().fit(X, np.arange(120))


@pytest.mark.parametrize("scale", ["auto", True, False])
@pytest.mark.parametrize("columns", [3, 80])
def test_a_value_that_is_missing_where_none_was_counts_as_the_average(scale, columns):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, columns)) + 3.0
    X[:, 2:] *= generator.random((60, columns - 2)) < 0.1  # many columns that are mostly 0 make a sparse table
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(columns)])
    model = Perceptron(scale=scale, lead=0, random_state=0).fit(frame, X[:, 0] > 3)
    new = frame.iloc[:2].copy()
    new.loc[0, "x1"] = frame["x1"].mean()
    known = model.decision_function(new)
    new.loc[0, "x1"] = np.nan
    with pytest.warns(UserWarning, match="1 value is missing, and none was in training; treated as average"):
        assert model.decision_function(new) == pytest.approx(known)
