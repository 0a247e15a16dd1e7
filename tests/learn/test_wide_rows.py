"""Memory follows the entries, not the largest index: two lines with the index 300,000,000 are a small data set."""

import os
import subprocess
import sys
import textwrap
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from novikoff import KernelPerceptron, Perceptron, load, save
from novikoff.data import narrow as narrowing
from novikoff.data import read
from novikoff.data.batches import Batch
from novikoff.engine.rows import as_rows
from novikoff.keep.models import load_plain
from novikoff.learn.linear.files import learn_from
from tests.cli.calling import environment
from tests.memory import FRUGAL

WIDE = 300_000_001
READOUTS = ["last", "average", "vote"]

# A vector of all columns has 2.4 GB.
LIMITED = """
import sys
import novikoff.learn.linear.space, novikoff.learn.kernel.space, novikoff.keep.models, novikoff.estimators.perceptron
import novikoff.cli.fit, novikoff.prove.separable.search.certify
from tests.memory import watched

def work():
{work}

with watched() as peak:
    work()
assert peak.growth < 1_000_000_000, peak.growth
"""


def limited(code, folder):
    return subprocess.run(
        [sys.executable, "-c", LIMITED.format(work=textwrap.indent(code, "    "))],
        cwd=folder,
        env={**environment(), **FRUGAL, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )


def wide(rows, n_columns=WIDE):
    """Sparse rows from lists of (column, value)."""
    indptr = np.cumsum([0, *map(len, rows)])
    entries = [entry for row in rows for entry in row]
    data, indices = np.array([v for _, v in entries], float), np.array([c for c, _ in entries])
    return sparse.csr_array((data, indices, indptr), shape=(len(rows), n_columns))


def small_and_wide(seed, n=30, d=6):
    """The same rows twice: among few columns, and spread over very many, in the same order."""
    generator = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.6, rng=generator, format="csr")
    places = np.sort(generator.choice(WIDE, d, replace=False))
    spread = sparse.csr_array((X.data, places[X.indices], X.indptr), shape=(n, WIDE))
    return X, spread, places


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_spreading_the_columns_changes_nothing(tmp_path, readout, n_classes):
    for seed in range(5):
        X, spread, places = small_and_wide(seed)
        y = np.random.default_rng(seed).permutation(np.arange(30) % n_classes)
        options = {"readout": readout, "random_state": 0, "record_mistakes": True, "max_iter": 10}
        few, many = Perceptron(**options).fit(X, y), Perceptron(**options).fit(spread, y)
        assert many.mistake_rows_.tolist() == few.mistake_rows_.tolist()
        assert many.decision_function(spread).tolist() == few.decision_function(X).tolist()
        assert (many.run_.mistakes, many.run_.errors) == (few.run_.mistakes, few.run_.errors)
        assert many.model_.memory.weights.shape[1] <= len(places) + 1
        save(many, tmp_path / "model")
        assert (tmp_path / "model").stat().st_size < 20_000
        again = load(tmp_path / "model")
        assert again.decision_function(spread).tolist() == few.decision_function(X).tolist()
        assert again.n_features_in_ == WIDE
        few.partial_fit(X[:5], y[:5])
        again.partial_fit(spread[:5], y[:5])
        assert again.n_mistakes_ == few.n_mistakes_
        assert again.decision_function(spread).tolist() == few.decision_function(X).tolist()


def test_columns_that_come_later_get_their_weights():
    parts = [wide([[(5, 1.0)], [(WIDE - 1, 1.0)]]), wide([[(7, 1.0), (5, -3.0)], [(2, 1.0)]])]
    small = [sparse.csr_array([[0, 1.0, 0, 0], [0, 0, 0, 1.0]]), sparse.csr_array([[0, -3.0, 1.0, 0], [1.0, 0, 0, 0]])]
    many, few = Perceptron(), Perceptron()
    for spread, plain in zip(parts, small, strict=True):
        many.partial_fit(spread, [0, 1], classes=[0, 1])
        few.partial_fit(plain, [0, 1], classes=[0, 1])
    assert many.model_.memory.columns.tolist() == [2, 5, 7, WIDE - 1]
    assert many.model_.memory.weights.tolist() == few.model_.memory.weights.tolist()
    for spread, plain in zip(parts, small, strict=True):
        assert many.decision_function(spread).tolist() == few.decision_function(plain).tolist()


def test_a_column_that_was_never_met_counts_nothing():
    model = Perceptron().fit(wide([[(5, 1.0)], [(9, 1.0)]]), [0, 1])
    known, strange = wide([[(5, 1.0)]]), wide([[(5, 1.0), (6, 1e6), (WIDE - 1, 1e6)]])
    assert model.decision_function(known).tolist() == model.decision_function(strange).tolist()


@pytest.mark.parametrize("epochs", [1, 3])
def test_files_with_a_large_index_are_learned_as_if_it_were_small(tmp_path, epochs):
    lines = ["1 3:1 300000000:2", "0 5:1", "1 3:2", "0 5:2 300000000:-1", "1 5:1"] * 3
    (tmp_path / "wide.svm").write_text("\n".join(lines) + "\n")
    (tmp_path / "small.svm").write_text("\n".join(lines).replace("300000000", "6") + "\n")
    options = {"max_iter": epochs, "shuffle": False}
    read_it = partial(read, zero_based=True)
    many, few = (learn_from(read_it(tmp_path / f"{name}.svm"), **options) for name in ("wide", "small"))
    assert many.memory.n_columns == WIDE
    assert many.memory.columns.tolist() == [3, 5, 300_000_000]
    assert many.memory.weights[:, [0, 1, 2, 3]].tolist() == few.memory.weights[:, [3, 5, 6, 7]].tolist()
    assert (many.run.mistakes, many.run.mistakes_per_epoch) == (few.run.mistakes, few.run.mistakes_per_epoch)


def test_learning_in_one_pass_goes_back_to_all_columns_when_there_are_many_entries(tmp_path, monkeypatch):
    monkeypatch.setattr(narrowing, "FEW", 8)
    generator = np.random.default_rng(0)
    X = sparse.random_array((300, 40), density=0.3, rng=generator, format="csr")
    y = generator.integers(0, 2, 300)
    parts = [(X[:1], y[:1]), (X[1:3], y[1:3]), (X[3:100], y[3:100]), (X[100:], y[100:])]
    options = {"max_iter": 1, "shuffle": False, "classes": [0, 1]}
    assert (
        learn_from(parts, **options).memory.weights.tolist() == learn_from([(X, y)], **options).memory.weights.tolist()
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian"])
def test_a_kernel_does_not_care_how_wide_rows_are(kernel):
    X, spread, _ = small_and_wide(3)
    y = np.arange(30) % 2
    options = {"kernel": kernel, "gamma": 0.5, "shuffle": False}
    few, many = KernelPerceptron(**options).fit(X, y), KernelPerceptron(**options).fit(spread, y)
    assert many.support_.tolist() == few.support_.tolist()
    assert many.decision_function(spread) == pytest.approx(few.decision_function(X), rel=1e-12)


def test_weights_are_named_by_their_columns(tmp_path):
    save(Perceptron(readout="last").fit(wide([[(5, 1.0)], [(WIDE - 1, 2.0)]]), [0, 1]), tmp_path / "model")
    names = [weight.name for weight in load_plain(tmp_path / "model").weights_by_name()]
    assert {"column 5", f"column {WIDE - 1}"} <= set(names)
    batch = Batch(as_rows(wide([[(WIDE - 1, 1.0)], [(WIDE, 9.0), (5, 1.0)]], WIDE + 1)), None)
    assert load_plain(tmp_path / "model").predict(batch).tolist() == [1, 0]


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does it")
def test_learning_saving_and_predicting_fit_into_little_memory(tmp_path):
    (tmp_path / "wide.svm").write_text("1 300000000:1\n0 4000000000:1\n1 7:1\n")
    done = limited(
        """
from novikoff import KernelPerceptron, Perceptron, load, save
from novikoff.data import read
import numpy as np
from scipy.sparse import csr_array
columns = np.array([299_999_999, 3_999_999_999, 6])
X, y = csr_array((np.ones(3), columns, np.arange(4)), shape=(3, 4_000_000_000)), [1.0, 0.0, 1.0]
for readout in ("average", "vote"):
    for n_classes, labels in ((2, [1, 0, 1]), (3, [1, 0, 2])):
        model = Perceptron(readout=readout, random_state=0).fit(X, labels)
        save(model, "model")
        print(load("model").predict(X).tolist(), Perceptron(readout=readout).partial_fit(X, labels).n_mistakes_)
print(Perceptron().fit(read("wide.svm")).predict(read("wide.svm")).tolist())
print(KernelPerceptron(kernel="linear").fit(X, y).predict(X).tolist())
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("[1") == 6


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does it")
def test_the_command_learns_from_a_wide_file_in_little_memory(tmp_path):
    (tmp_path / "wide.svm").write_text("1 300000000:1\n0 4000000000:1\n1 7:1\n")
    done = limited(
        """
from novikoff.cli.commands import exit_code, novikoff
for line in ("fit wide.svm", "predict wide.novikoff wide.svm", "inspect wide.novikoff"):
    assert exit_code(novikoff, line.split()) == 0, line
""",
        tmp_path,
    )
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])
    assert "not certified: the columns are numbered up to 3,999,999,999" in done.stderr
