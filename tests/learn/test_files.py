"""Learning from files and batches: the routes, the labels, and what is refused."""

import os
import signal
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from novikoff import Stopped
from novikoff.data import read
from novikoff.data.batches import Batch
from novikoff.engine.rows import as_rows
from novikoff.features.encode import learn_encoding
from novikoff.features.examples import comes_in_batches
from novikoff.learn.linear import files
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.space import perceptron
from tests.draws import draws

NAMES = np.array(["no", "yes", "maybe"])


def examples(seed, n=80, d=4, n_classes=2):
    generator = np.random.default_rng(seed)
    X = generator.integers(-5, 6, (n, d)) / 2
    return X, generator.integers(0, n_classes, n)


def cut(X, y, size):
    return [(X[start : start + size], y[start : start + size]) for start in range(0, len(y), size)]


def in_memory(X, y, **options):
    """The same rows in one piece; labels sorted, as everywhere."""
    classes, places = np.unique(y, return_inverse=True)
    inner = 2 * places - 1 if len(classes) == 2 else places
    return perceptron(X, inner, n_classes=len(classes), **options)


def assert_same_model(learned, expected):
    assert (learned.memory.weights == expected.memory.weights).all()
    assert (learned.memory.drift == expected.memory.drift).all()
    assert learned.run.mistakes_per_epoch == expected.run.mistakes_per_epoch
    assert (learned.run.stopped, learned.run.examples) == (expected.run.stopped, expected.run.examples)


# -- the routes give the same model -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("readout", ["last", "average", "vote"])
@settings(max_examples=draws(15))
@given(seed=st.integers(0, 999), size=st.integers(1, 90), n_classes=st.integers(2, 3), epochs=st.integers(1, 3))
def test_batches_of_any_size_give_the_model_of_one_matrix(form, readout, seed, size, n_classes, epochs):
    X, y = examples(seed, n_classes=n_classes)
    options = {"shuffle": False, "max_iter": epochs, "readout": readout}
    learned = learn_from(cut(form(X), NAMES[y], size), **options)
    expected = in_memory(X, NAMES[y], **options)
    assert_same_model(learned, expected)
    assert learned.classes.tolist() == sorted(set(NAMES[y]))
    assert learned.run.errors in (expected.run.errors, None)


def test_a_seed_gives_the_model_of_the_matrix_that_fits_into_one_block():
    X, y = examples(1, n=3_000)
    options = {"random_state": 7, "max_iter": 3, "record_mistakes": True}
    learned, expected = learn_from(cut(X, y, 100), **options), in_memory(X, y, **options)
    assert_same_model(learned, expected)
    assert learned.mistakes.rows.tolist() == expected.mistakes.rows.tolist()
    assert learned.run == expected.run


@pytest.fixture
def routes(monkeypatch):
    """Which routes were taken."""
    taken = []
    for name in ("_learn_in_one_pass", "fit"):
        route = getattr(files, name)

        def noted(*args, name=name, route=route, **options):
            taken.append(name)
            return route(*args, **options)

        monkeypatch.setattr(files, name, noted)
    return taken


ONE_PASS = {"shuffle": False, "max_iter": 1}


@pytest.mark.parametrize(
    ("labels", "one_shot", "classes", "expected"),
    [
        ([0, 1, 1, 0], False, None, ["_learn_in_one_pass"]),
        ([0, 0, 0, 1], False, None, ["_learn_in_one_pass"]),
        ([0, 1, 1, 2], False, None, ["_learn_in_one_pass", "fit"]),
        ([0, 1, 1, 0], True, None, ["fit"]),
        ([0, 1, 1, 0], True, [0, 1], ["_learn_in_one_pass"]),
        ([0, 1, 1, 2], True, [0, 1, 2], ["_learn_in_one_pass"]),
    ],
)
def test_one_epoch_in_order_is_learned_while_reading(labels, one_shot, classes, expected, routes):
    X, y = examples(2, n=4)[0], np.array(labels)
    batches = cut(X, y, 1)
    learned = learn_from(iter(batches) if one_shot else batches, classes=classes, **ONE_PASS)
    assert routes == expected
    assert_same_model(learned, in_memory(X, y, **ONE_PASS))
    assert (learned.run.errors is None) == (expected == ["_learn_in_one_pass"])


@pytest.mark.parametrize(
    "option", [{"readout": "vote"}, {"record_mistakes": True}, {"min_margin": 0.1}, {"time_limit": 60.0}]
)
def test_whatever_needs_an_example_twice_goes_through_the_cache(option, routes):
    X, y = examples(3)
    learned = learn_from(cut(X, y, 9), **ONE_PASS, **option)
    assert routes == ["fit"]
    assert_same_model(learned, in_memory(X, y, **ONE_PASS, **option))


@given(seed=st.integers(0, 99), size=st.integers(1, 30), n_classes=st.integers(2, 3))
def test_columns_that_appear_late_have_the_weights_of_a_matrix_that_had_them_all_along(seed, size, n_classes):
    X, y = examples(seed, n=30, d=9, n_classes=n_classes)
    X[:10, 3:], X[:20, 6:] = 0.0, 0.0
    y[:n_classes] = range(n_classes)
    batches = [
        (sparse.csr_array(part[:, : max(1, int(np.flatnonzero(part.any(axis=0)).max(initial=0)) + 1)]), labels)
        for part, labels in cut(X, y, size)
    ]
    for options in (ONE_PASS, {"shuffle": False, "max_iter": 3}):
        learned = learn_from(batches, **options)
        n_columns = max(part.shape[1] for part, _ in batches)
        assert learned.memory.n_columns == n_columns
        assert_same_model(learned, in_memory(X[:, :n_columns], y, **options))


def test_sparse_and_dense_batches_may_alternate():
    X, y = examples(17, n=40)
    X[:10, 2:] = 0.0
    first, *others = cut(X, y, 10)
    batches = [(sparse.csr_array(first[0][:, :2]), first[1]), others[0], (sparse.csr_array(others[1][0]), others[1][1])]
    for options in (ONE_PASS, {"shuffle": False, "max_iter": 3}):
        assert_same_model(learn_from([*batches, others[2]], **options), in_memory(X, y, **options))
        for bad in ((sparse.csr_array(np.ones((1, 5))), [0]), (np.ones((1, 3)), [0])):
            with pytest.raises(ValueError, match="columns cannot follow rows of 4"):
                learn_from([*batches, bad], **options)


def test_dense_batches_of_different_widths_are_refused():
    for options in (ONE_PASS, {}):
        with pytest.raises(ValueError, match=r"example 2 .*rows of 3 columns cannot follow rows of 2"):
            learn_from([(np.ones((2, 2)), [0, 1]), (np.ones((1, 3)), [0])], **options)


# -- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "a", "ccc", "a"]),
        np.array(["b", "a", "ccc", "a"], dtype=object),
        np.array([3, -1, 2, -1]),
        np.array([3.0, -1.0, 2.0, -1.0]),
        np.array([True, False, True, True]),
    ],
)
def test_classes_are_the_sorted_labels_whatever_their_type(labels):
    X, _ = examples(4, n=4)
    learned = learn_from(cut(X, labels, 1))
    assert learned.classes.tolist() == np.unique(labels).tolist()
    assert learned.classes.dtype == labels.dtype


@pytest.mark.parametrize(
    ("batches", "words"),
    [
        ([([[1.0]], ["a"]), ([[2.0]], [1])], "labels such as 'a' and 1 are of different types"),
        ([([[1.0]], np.array(["a"], dtype=object)), ([[2.0]], np.array([None]))], "example 1 .*label"),
        ([([[1.0]], [1.0]), ([[2.0]], [np.nan])], "example 1 .*row 0 is missing"),
        ([([[1.0]], [1.0]), ([[2.0]], [0.25])], "label 0.25 in row 0 is continuous"),
        ([([[1.0]], ["a"]), ([[2.0]], ["a"])], "all labels are 'a'"),
        ([([[1.0]], None)], "there are no labels"),
        ([([[1.0], [2.0]], ["a"])], "2 rows, but labels of shape"),
        ([([[1.0], [np.nan]], ["a", "b"])], "example 0 .*NaN in row 1, column 0"),
        ([(np.empty((0, 1)), [])], "no examples"),
        ([], "no examples"),
        ([[1.0, 2.0, 3.0]], "a batch is a Batch or a pair"),
    ],
)
def test_what_is_wrong_with_a_batch_is_said_with_its_place(batches, words):
    for options in (ONE_PASS, {"max_iter": 2}):
        with pytest.raises(ValueError, match=words):
            learn_from(batches, **options)


def test_a_label_that_was_not_named_is_refused():
    for options in (ONE_PASS, {}):
        with pytest.raises(ValueError, match=r"example 1 .*'c' in row 0 is not in classes=\['a', 'b'\]"):
            learn_from([([[1.0]], ["a"]), ([[2.0]], ["c"])], classes=["b", "a"], **options)
        with pytest.raises(ValueError, match="at least two different labels"):
            learn_from([([[1.0]], ["a"])], classes=["a"], **options)


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (["a", "b"], np.array(["b", "a"], dtype=object)),
        ([-1, 1], np.array([1.0, -1.0])),
        ([0, 1], np.array([True, False])),
    ],
)
def test_named_classes_may_have_another_type_than_the_labels(classes, labels):
    for options in (ONE_PASS, {}):
        assert learn_from([([[1.0], [2.0]], labels)], classes=classes, **options).classes.tolist() == classes


def test_a_class_that_was_named_and_never_came_has_the_weights_zero():
    X, y = examples(5)
    learned = learn_from(cut(X, y, 9), classes=[0, 1, 2], fit_intercept=False, max_iter=2)
    assert learned.memory.weights.shape == (3, 5)
    assert learned.classes.tolist() == [0, 1, 2]


def test_a_wrong_option_is_named_before_anything_is_read():
    def batches():
        raise AssertionError
        yield

    with pytest.raises(TypeError, match="no option 'epochs'"):
        learn_from(batches(), epochs=3)
    with pytest.raises(ValueError, match="max_iter=0"):
        learn_from(batches(), max_iter=0)


def test_a_run_may_go_on_with_more_batches():
    X, y = examples(6)
    first = learn_from(cut(X, y, 9), max_iter=2, shuffle=False)
    second = learn_from(cut(X, y, 9), max_iter=2, shuffle=False, start=first.memory, classes=first.classes)
    whole = in_memory(X, y, max_iter=4, shuffle=False)
    assert (second.memory.weights == whole.memory.weights).all()
    assert second.run.mistakes == whole.run.mistakes


# -- the temporary cache ----------------------------------------------------------------------------------------------


def test_the_cache_is_removed_in_every_case(tmp_path):
    X, y = examples(7)

    def batches(error=None):
        yield from cut(X, y, 9)
        assert len(os.listdir(tmp_path)) == 1
        if error is not None:
            raise error

    learn_from(batches(), cache_folder=tmp_path)
    for error in (ValueError, KeyboardInterrupt, OSError):
        with pytest.raises(error):
            learn_from(batches(error), cache_folder=tmp_path)
    with pytest.raises(ValueError, match="NaN"):
        learn_from([(X, y), (X * np.nan, y)], cache_folder=tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_hold_the_cache_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(OSError, match=f"could not be made.*cache_folder=.*{folder.name}"):
            learn_from([([[1.0], [2.0]], [0, 1])], cache_folder=folder)


def test_an_interrupt_while_learning_keeps_what_was_learned(tmp_path):
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1, 1, 0, 0])
    learn_from([(X, y)])
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    learned = learn_from([(X, y)], max_iter=None, cache_folder=tmp_path)
    assert learned.run.stopped is Stopped.INTERRUPTED
    assert learned.run.mistakes > 0
    assert os.listdir(tmp_path) == []


def test_an_interrupt_while_learning_as_examples_come_keeps_what_was_learned():
    X, y = examples(8)

    def batches():
        yield from cut(X, y, 20)
        raise KeyboardInterrupt

    learned = learn_from(batches(), classes=[0, 1], **ONE_PASS)
    assert learned.run.stopped is Stopped.INTERRUPTED
    X, y = X[:0], y[:0]
    with pytest.raises(KeyboardInterrupt):
        learn_from(batches(), classes=[0, 1], **ONE_PASS)
    X, y = examples(8)
    assert (learned.memory.weights == in_memory(X, y, **ONE_PASS).memory.weights).all()


def test_batches_may_share_a_buffer():
    X, y = examples(9)
    buffer, labels = np.empty((8, 4)), np.empty(8, dtype=int)

    def batches():
        for part, its_labels in cut(X, y, 8):
            buffer[:], labels[:] = part, its_labels
            yield buffer, labels

    learned = learn_from(batches(), shuffle=False, max_iter=3)
    assert_same_model(learned, in_memory(X, y, shuffle=False, max_iter=3))


def test_the_fingerprint_is_that_of_the_examples():
    X, y = examples(10)
    one, two = (learn_from(cut(X, y, size), max_iter=2).fingerprint for size in (7, 40))
    assert one == two != learn_from(cut(X[::-1], y, 7), max_iter=2).fingerprint
    assert learn_from(cut(X, y, 7), **ONE_PASS).fingerprint is None


# -- real files -------------------------------------------------------------------------------------------------------


def write_csv(path, X, y):
    rows = [",".join(map(repr, x)) + f",{label}" for x, label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,answer", *rows, ""]))
    return path


def write_svmlight(path, X, y):
    lines = [
        " ".join([str(label), *(f"{j}:{v!r}" for j, v in enumerate(x) if v)])
        for x, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("options", [ONE_PASS, {"shuffle": False, "max_iter": 4}, {"random_state": 1}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_table_gives_the_model_of_its_encoded_rows(options, n_classes, tmp_path):
    X, y = examples(11, n_classes=n_classes)
    reader = read(write_csv(tmp_path / "table.csv", X, NAMES[y]), label="answer", block_bytes=300)
    learned = learn_from(reader, **options)
    encoding = learn_encoding(reader)
    rows = np.vstack([encoding.encode(records).rows.as_array() for records in reader])
    assert_same_model(learned, in_memory(rows, NAMES[y], **options))
    assert learned.encoding.feature_names == ("a", "b", "c", "d")
    assert learned.classes.tolist() == sorted(NAMES[:n_classes])


@pytest.mark.parametrize("options", [ONE_PASS, {"shuffle": False, "max_iter": 4}, {"random_state": 1}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_svmlight_text_gives_the_model_of_its_matrix(options, n_classes, tmp_path):
    X, y = examples(12, n_classes=n_classes)
    learned = learn_from(read(write_svmlight(tmp_path / "text.svm", X, y)), **options)
    assert_same_model(learned, in_memory(X, y, **options))
    assert learned.classes.tolist() == list(range(n_classes))
    assert learned.encoding is None


def test_an_encoding_may_be_brought_along(tmp_path):
    X, y = examples(13)
    reader = read(write_csv(tmp_path / "table.csv", X, NAMES[y]), label="answer")
    encoding = learn_encoding(reader, categorical=["a"], ignore=["b"])
    learned = learn_from(reader, encoding=encoding)
    assert learned.encoding is encoding
    assert learned.memory.n_columns == encoding.n_columns


def test_standard_input_is_read_once(tmp_path, monkeypatch):
    X, y = examples(14)
    path = write_svmlight(tmp_path / "text.svm", X, y)
    for options in (ONE_PASS, {"shuffle": False, "max_iter": 2}):
        with open(path) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            learned = learn_from(read("-", format="svmlight"), **options)
        assert_same_model(learned, in_memory(X, y, **options))


def test_a_broken_line_leaves_no_cache(tmp_path):
    X, y = examples(15)
    path = write_svmlight(tmp_path / "text.svm", X, y)
    path.write_text(path.read_text() + "1 2:x\n")
    folder = tmp_path / "cache"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"text\.svm, line 81"):
        learn_from(read(path), cache_folder=folder)
    assert os.listdir(folder) == []


# -- what comes in batches --------------------------------------------------------------------------------------------


def test_matrices_of_any_kind_do_not_come_in_batches():
    import pandas as pd

    X, y = examples(16)
    batch = Batch(as_rows(X), y)
    for matrix in (
        X,
        X.tolist(),
        [tuple(x) for x in X.tolist()],
        sparse.csr_array(X),
        pd.DataFrame(X),
        [],
        "x.csv",
        {},
    ):
        assert not comes_in_batches(matrix)
    for batches in ([batch], (batch,), iter([batch]), [(X, y)], ((X, y) for _ in range(2)), [(X.tolist(), y.tolist())]):
        assert comes_in_batches(batches)
