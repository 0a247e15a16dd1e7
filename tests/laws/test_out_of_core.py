"""Out of core: what is learned from blocks is what the same rows in the same order give in memory, bit for bit."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from novikoff.data.cache import BLOCK_BYTES
from novikoff.data.examples import Examples
from novikoff.data.order import random_order
from novikoff.engine.rows import as_rows
from novikoff.learn.fit import learn_once
from novikoff.learn.linear.memory import LinearMemory, decider
from novikoff.learn.linear.space import Linear, learn_online, perceptron
from novikoff.options import Options
from tests.draws import draws
from tests.memory import FRUGAL

FORMS = {
    "dense": np.asarray,
    "float32": lambda X: np.asarray(X, dtype=np.float32),
    "csr": sparse.csr_array,
    "mixed": lambda X: sparse.csr_array(X) if len(X) % 2 else X,
}
READOUTS = ("last", "average", "vote")


def examples(seed, n=60, d=6, n_classes=2):
    """Numbers of one decimal, half of them 0, so that many scores are close to a tie."""
    generator = np.random.default_rng(seed)
    X = generator.integers(-9, 10, (n, d)) / 8
    X[generator.random((n, d)) < 0.5] = 0.0
    y = generator.integers(0, n_classes, n)
    return X, np.where(y > 0, 1, -1) if n_classes == 2 else y


def in_blocks(X, y, cuts, form, n_classes=2):
    parts = zip([0, *cuts], [*cuts, len(y)], strict=True)
    return Examples.in_blocks([(as_rows(form(X[start:stop])), y[start:stop]) for start, stop in parts], n_classes)


def assert_same(one, other, X, readout):
    assert (one.memory.weights == other.memory.weights).all()
    assert (one.memory.drift == other.memory.drift).all()
    here, there = (decider(learned.memory, readout).score(as_rows(X)) for learned in (one, other))
    assert (here == there).all()
    assert one.run.mistakes_per_epoch == other.run.mistakes_per_epoch
    assert (one.run.examples, one.run.stopped, one.run.errors) == (
        other.run.examples,
        other.run.stopped,
        other.run.errors,
    )
    assert one.run.radius == pytest.approx(other.run.radius, rel=1e-14)


cuts = st.sets(st.integers(1, 59), max_size=12).map(sorted)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=draws(20))
@given(
    seed=st.integers(0, 999),
    cuts=cuts,
    n_classes=st.integers(2, 4),
    readout=st.sampled_from(READOUTS),
    tie=st.booleans(),
)
def test_blocks_of_any_size_give_the_model_of_one_piece(form, seed, cuts, n_classes, readout, tie):
    X, y = examples(seed, n_classes=n_classes)
    options = {"n_classes": n_classes, "readout": readout, "max_iter": 4, "shuffle": False, "record_mistakes": True}
    options["tie"] = "mistake" if tie else "predict"
    whole = perceptron(X, y, **options)
    parts = perceptron(in_blocks(X, y, cuts, FORMS[form], n_classes), **options)
    assert_same(parts, whole, X, readout)
    assert parts.mistakes.rows.tolist() == whole.mistakes.rows.tolist()
    assert parts.mistakes.times.tolist() == whole.mistakes.times.tolist()


def visited(sizes, seed, epochs):
    """The rows in the order in which shuffled blocks are visited."""
    generator = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes])
    for _ in range(epochs):
        for number in generator.permutation(len(sizes)) if len(sizes) > 1 else [0]:
            yield starts[number] + random_order(sizes[number], generator).visit.astype(np.int64)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=draws(20))
@given(seed=st.integers(0, 999), cuts=cuts.filter(len), n_classes=st.integers(2, 4))
def test_shuffled_blocks_give_the_model_of_the_rows_in_the_order_visited(form, seed, cuts, n_classes):
    X, y = examples(seed, n_classes=n_classes)
    blocks = in_blocks(X, y, cuts, FORMS[form], n_classes)
    parts = perceptron(blocks, max_iter=3, lead=0, random_state=seed, record_mistakes=True)
    order = np.concatenate(list(visited(np.diff(blocks.starts), seed, parts.run.epochs)))
    memory = LinearMemory.empty(X.shape[1], n_classes)
    examples_in_order = Linear().examples(X[order], y[order], n_classes)
    mistakes = learn_once(examples_in_order, Linear(), Options(lead=0.0, record_mistakes=True), memory).mistakes()
    assert (parts.memory.weights == memory.weights).all()
    assert (parts.memory.average() == memory.average()).all()
    assert parts.mistakes.rows.tolist() == order[mistakes.rows].tolist()


def test_shuffled_blocks_come_in_another_order_in_each_epoch_and_every_row_once():
    sizes = [3, 5, 2, 4]
    epochs = np.concatenate(list(visited(sizes, 0, 2))).reshape(2, 14)
    assert all(sorted(epoch) == list(range(14)) for epoch in epochs.tolist())
    assert epochs[0].tolist() != epochs[1].tolist()


def test_one_block_is_shuffled_like_an_array():
    X, y = examples(0, n=3_000)
    array = perceptron(X, y, random_state=5, max_iter=3)
    block = perceptron(Examples.in_blocks([(as_rows(X), y)]), random_state=5, max_iter=3)
    assert_same(block, array, X, "average")


@given(seed=st.integers(0, 999), cuts=cuts, margin=st.sampled_from([0.01, 0.1, 0.3, 1.0]))
def test_a_margin_is_ruled_out_at_the_same_mistake(seed, cuts, margin):
    X, y = examples(seed)
    X[-1] = 50.0
    options = {"shuffle": False, "min_margin": margin, "max_iter": 5}
    whole, parts = perceptron(X, y, **options), perceptron(in_blocks(X, y, cuts, np.asarray), **options)
    assert_same(parts, whole, X, "average")


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ((np.eye(2), [1, 0]), "row 2: label 0 in row 1"),
        (([[1.0, np.inf]], [1]), "row 2: .* infinity"),
        (([[1.0]], [1]), "row 2: rows of 1 columns cannot follow rows of 2 columns"),
        ((np.eye(2), [1]), r"row 2: y has shape \(1,\), but X has 2 rows"),
    ],
)
def test_what_is_wrong_with_a_block_is_said(second, words):
    with pytest.raises(ValueError, match=words):
        perceptron(Examples.in_blocks([(as_rows(X), y) for X, y in [(np.eye(2), [1, -1]), second]]))


def test_examples_have_rows_and_labels():
    with pytest.raises(ValueError, match="no rows"):
        Examples.in_blocks([])
    with pytest.raises(ValueError, match="y is missing"):
        perceptron(np.eye(2))


# -- more than fits into memory ---------------------------------------------------------------------------------------

WATCHED = """
import sys
import numpy as np
from novikoff.data import read
from novikoff.learn.linear.files import learn_from
from tests.memory import watched
{setup}
learn_from(source(few=True), max_iter=2, {options})  # whatever is loaded or compiled on first use
with watched() as peak:
    learned = learn_from(source(few=False), max_iter=2, {options})
print(learned.memory.weights.tobytes().hex(), learned.memory.drift.tobytes().hex(), learned.run.mistakes)
print(peak.growth)
"""


def learn_in_little_memory(size, setup, options, *arguments):
    """The weights, the drift and the mistakes of a process that takes less than a third of so many bytes."""
    command = [sys.executable, "-c", WATCHED.format(setup=setup, options=options), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **FRUGAL}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    line, growth = done.stdout.splitlines()
    assert 0 < int(growth) < size / 3
    return line.split()


def in_hex(memory):
    return [memory.weights.tobytes().hex(), memory.drift.tobytes().hex(), str(memory.mistakes)]


GENERATED = """
def source(few):
    return ((X, np.where(X[:, 0] > X[:, 1], "up", "down")) for X in matrices(1 if few else 64))

def matrices(count):
    generator = np.random.default_rng(1)
    for _ in range(count):
        yield generator.random((2_000, 200)) - 0.5
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_many_shuffled_batches_in_little_memory_give_the_model_of_one_piece():
    namespace = {"np": np}
    exec(GENERATED, namespace)
    X = np.concatenate(list(namespace["matrices"](64)))
    y = np.where(X[:, 0] > X[:, 1], 1, -1)
    rows = BLOCK_BYTES // X[0].nbytes
    memory = LinearMemory.empty(X.shape[1])
    for order in visited(np.diff([*range(0, len(y), rows), len(y)]), 3, epochs=2):
        learn_online(memory, X[order], y[order])
    assert learn_in_little_memory(X.nbytes, GENERATED, "random_state=3") == in_hex(memory)


FROM_FILE = """
def source(few):
    return read(sys.argv[1 if few else 2])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_a_large_file_in_little_memory_gives_the_model_of_its_rows(tmp_path):
    times = 20
    generator = np.random.default_rng(2)
    X = sparse.random_array((10_000, 500), density=0.05, rng=generator, dtype=np.float64).tocsr()
    y = np.where(X @ generator.standard_normal(500) > 0, 1, -1)
    text = "".join(
        " ".join([str(label), *(f"{j}:{v!r}" for j, v in zip(x.indices.tolist(), x.data.tolist(), strict=True))]) + "\n"
        for label, x in zip(y.tolist(), (X[[i]] for i in range(len(y))), strict=True)
    ).encode()
    few, many = tmp_path / "few.svm", tmp_path / "many.svm"
    few.write_bytes(text)
    with open(many, "wb") as file:
        file.writelines([text] * times)
    memory = LinearMemory.empty(500)
    for _ in range(2 * times):
        learn_online(memory, X, y)
    assert learn_in_little_memory(times * len(text), FROM_FILE, "shuffle=False", few, many) == in_hex(memory)
