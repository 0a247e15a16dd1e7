"""Rows that are held out: the same in every pass, and without any say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Perceptron, load
from novikoff.data.examples import Examples
from novikoff.data.held_out import HeldOut
from novikoff.data.reading import read
from novikoff.engine.rows import as_rows
from novikoff.learn.linear.space import perceptron
from tests.cli.calling import call

SEEDS = st.integers(0, 2**32)


@given(SEEDS, st.floats(0.05, 0.95), st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_a_row_is_held_out_by_its_number_however_rows_come_in_pieces(seed, share, sizes):
    held_out = HeldOut(seed, share)
    starts = np.cumsum([0, *sizes])
    pieces = [held_out.which(int(start), size) for start, size in zip(starts, sizes, strict=False)]
    assert np.concatenate(pieces).tolist() == held_out.which(0, int(starts[-1])).tolist()


@given(SEEDS, st.integers(2, 7))
def test_every_row_is_in_one_fold(seed, number):
    folds = HeldOut.folds(number, seed)
    assert (sum(fold.which(0, 100).astype(int) for fold in folds) == 1).all()


def test_about_so_many_rows_are_held_out_as_were_asked_for():
    for share in (0.1, 0.5, 0.9):
        assert HeldOut(0, share).which(0, 10**5).mean() == pytest.approx(share, abs=0.01)


@given(SEEDS, st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_the_examples_are_parted_into_those_and_the_others(seed, sizes):
    blocks = [(as_rows(np.full((size, 1), float(number))), np.ones(size)) for number, size in enumerate(sizes)]
    whole = Examples.in_blocks(blocks)
    held = HeldOut(seed, 0.4).which(0, whole.n_rows)
    if held.all() or not held.any():
        return
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    for part, which in zip(whole.parted(HeldOut(seed, 0.4)), (~held, held), strict=True):
        found = [number for block in part.blocks() for number in block.rows.as_array()[:, 0].tolist()]
        assert found == numbers[which].tolist()
        assert (part.n_rows, part.counts) == (which.sum(), (0, which.sum()))


def problem(seed=0, n=60):
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(n, 3))
    return X, X[:, 0] + 0.3 * chance.normal(size=n) > 0


def test_rows_held_out_have_no_say_in_what_is_learned():
    X, y = problem()
    held = HeldOut.share(0.3, 5).which(0, len(y))
    options = {"held_out": 0.3, "random_state": 5, "record_mistakes": True}
    model = Perceptron(**options).fit(X, y)
    other = X.copy()
    other[held] *= -1000.0
    again = Perceptron(**options).fit(other, np.where(held, ~y, y))
    assert again.coef_.tolist() == model.coef_.tolist()
    assert again.run_.radius == model.run_.radius
    assert not set(model.mistake_rows_.tolist()) & set(np.flatnonzero(held).tolist())
    assert (model.run_.n_rows, model.run_.held_out_rows) == ((~held).sum(), held.sum())
    assert model.run_.held_out_errors == np.count_nonzero(model.predict(X[held]) != y[held])
    assert model.run_.errors == np.count_nonzero(model.predict(X[~held]) != y[~held])


def test_rows_in_blocks_and_in_one_piece_are_held_out_alike():
    X, y = problem()
    signs = np.where(y, 1, -1)
    blocks = Examples.in_blocks([(as_rows(X[i : i + 7]), signs[i : i + 7]) for i in range(0, 60, 7)])
    options = {"held_out": 0.4, "shuffle": False, "record_mistakes": True, "random_state": 2}
    one, other = perceptron(X, signs, **options), perceptron(blocks, **options)
    assert one.memory.weights.tolist() == other.memory.weights.tolist()
    assert one.mistakes.rows.tolist() == other.mistakes.rows.tolist()
    assert one.run == other.run


def test_a_table_that_goes_by_once_is_held_out_alike():
    X, y = problem()
    batches = [(X[i : i + 7], y[i : i + 7]) for i in range(0, 60, 7)]
    options = {"held_out": 0.4, "shuffle": False, "random_state": 2}
    one, other = Perceptron(**options).fit(X, y), Perceptron(**options).fit(batch for batch in batches)
    assert one.coef_.tolist() == other.coef_.tolist()
    assert one.run_ == other.run_


def table(path, X, y, words):
    lines = [
        ",".join([*map(repr, row), word, str(label)]) for row, word, label in zip(X.tolist(), words, y, strict=True)
    ]
    path.write_text("\n".join(["a,b,c,word,label", *lines]) + "\n")
    return path


def test_rows_held_out_have_no_say_in_the_encoding_of_a_table(tmp_path):
    X, y = problem()
    held = HeldOut.share(0.3, 5).which(0, len(y))
    words = np.random.default_rng(1).choice(["red", "blue"], len(y))
    other = np.where(held[:, None], 7.0 * X + 100.0, X)
    first = table(tmp_path / "first.csv", X, y, words)
    second = table(tmp_path / "second.csv", other, y, np.where(held, "green", words))
    models = [Perceptron(held_out=0.3, random_state=5).fit(read(file, label="label")) for file in (first, second)]
    assert models[0].encoding_.to_dict() == models[1].encoding_.to_dict()
    assert models[0].coef_.tolist() == models[1].coef_.tolist()


def test_the_command_holds_the_same_rows_out_as_python(tmp_path):
    X, y = problem()
    file = table(tmp_path / "table.csv", X, y, ["red"] * len(y))
    model = Perceptron(held_out=0.3, random_state=5).fit(read(file, label="label"))
    options = ("--held-out", 0.3, "--random-state", 5, "--model", "model")
    answer = call("fit", file, "--label", "label", *options, "--json", folder=tmp_path).json
    assert load(tmp_path / "model").coef_.tolist() == model.coef_.tolist()
    assert load(tmp_path / "model").run_ == model.run_
    delivered = answer["run"]["new_rows"]["delivered"]
    assert delivered["name"] == "held out"
    assert delivered["wrong"] == model.run_.held_out_errors / model.run_.held_out_rows
    assert answer["data"]["rows"] == len(y)
    assert call("check", "model", file, folder=tmp_path).code == 0  # the certificate is of all rows


def test_the_command_judges_by_folds_without_changing_the_model(tmp_path):
    X, y = problem()
    file = table(tmp_path / "table.csv", X, y, ["red"] * len(y))
    for model, options in (("one", ()), ("other", ("--folds", 4))):
        done = call("fit", file, "--label", "label", "--model", model, "--no-certify", *options, folder=tmp_path)
        assert done.code == 0
    one, other = (load(tmp_path / name) for name in ("one", "other"))
    assert one.coef_.tolist() == other.coef_.tolist()
    assert sum(other.run_.fold_rows) == len(y)
    expected = []
    for part in HeldOut.folds(4, 0):
        held = part.which(0, len(y))
        kept = table(tmp_path / "kept.csv", X[~held], y[~held], ["red"] * (~held).sum())
        judged = table(tmp_path / "judged.csv", X[held], y[held], ["red"] * held.sum())
        # The order of epochs depends on the number of rows alone.
        model = Perceptron(random_state=0).fit(read(kept, label="label"))
        expected.append(round((1 - model.score(read(judged, label="label"))) * held.sum()))
    assert list(other.run_.fold_errors) == expected
    assert "-fold error " in str(other.run_)


def test_one_way_to_judge_is_enough(tmp_path):
    X, y = problem()
    file = table(tmp_path / "table.csv", X, y, ["red"] * len(y))
    done = call("fit", file, "--label", "label", "--held-out", 0.2, "--folds", 3, folder=tmp_path)
    assert done.code != 0
    assert "choose one" in done.err


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_a_share_is_between_0_and_1(share):
    X, y = problem()
    with pytest.raises(ValueError, match="must be a fraction"):
        Perceptron(held_out=share).fit(X, y)


def test_a_number_that_is_not_finite_is_refused_in_rows_held_out_too():
    X, y = problem()
    X[np.flatnonzero(HeldOut.share(0.3, 5).which(0, len(y)))[0], 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN|finite"):
        Perceptron(held_out=0.3, random_state=5).fit(X, y)


def test_whoever_goes_on_learning_can_hold_nothing_out():
    X, y = problem()
    model = Perceptron(warm_start=True, random_state=0).fit(X, y).set_params(held_out=0.2)
    with pytest.raises(ValueError, match="held_out needs a new start"):
        model.fit(X, y)


def test_a_share_that_leaves_nothing_is_refused():
    X, y = problem(n=6)
    with pytest.raises(ValueError, match="of 6 rows, 0 were held out by chance"):
        Perceptron(held_out=0.001, random_state=0).fit(X, y)
