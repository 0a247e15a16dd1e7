"""Compile every kernel once, so that nobody waits for a compiler later: for images, classrooms, and services."""

import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from novikoff.engine.jit import patience

# The number types of a matrix, and a number of columns large enough for the compiled search for a margin.
KINDS = (np.float32, np.float64)
COLUMNS = 300


def warm_up(watch: Callable[[str], None] | None = None) -> dict[str, float]:
    """Compile every kernel, for the common types of arrays, unless this machine has it already.

    Returns the seconds that each part took, in order.

    Compiled kernels are stored on disk, beside the package or in the user's cache (`NUMBA_CACHE_DIR` overrides both),
    so once is enough for all processes. In this process small problems are no longer interpreted, either: all compiled
    kernels are loaded. `watch` is called with the name of each part before it is compiled.
    """
    seconds = {}
    with patience(0):
        for what, work in _parts().items():
            if watch is not None:
                watch(what)
            began = time.monotonic()
            work()
            seconds[what] = time.monotonic() - began
    return seconds


def _parts() -> dict[str, Callable[[], None]]:
    return {
        "learning from rows of numbers": _learn_rows,
        "learning with kernels": _learn_with_kernels,
        "labelling sequences": _label_sequences,
        "reading svmlight text": _read_text,
        "reading words of texts": _read_words,
        "looking for margins": _find_margins,
        "solving inequalities": _solve_inequalities,
    }


def _matrices() -> Iterator[tuple[Any, Any]]:
    """Few rows in every layout, and labels of three classes."""
    from scipy.sparse import csr_array

    rows, labels = np.random.default_rng(0).standard_normal((12, 3)), np.arange(12) % 3
    for kind, layout in product(KINDS, (np.asarray, csr_array)):
        yield layout(rows.astype(kind)), labels


def _learn_rows() -> None:
    from novikoff.engine.rows import as_rows
    from novikoff.learn.linear.memory import decider
    from novikoff.learn.linear.space import perceptron
    from novikoff.options import READOUTS

    for (X, y), n_classes, readout in product(_matrices(), (2, 3), READOUTS):
        labels = y if n_classes == 3 else np.where(y > 0, 1, -1)
        learned = perceptron(X, labels, n_classes=n_classes, readout=readout, max_iter=2, random_state=0)
        decider(learned.memory, readout).score(as_rows(X))
        perceptron(X, labels, n_classes=n_classes, readout=readout, lead=1.0, max_iter=1, random_state=0)
        if n_classes == 2:
            _look_ahead(X, labels.astype(np.int8))
    for X, _ in _matrices():
        if hasattr(X, "indices"):
            X.indices[:] = X.shape[1] - 1 - X.indices  # from the last column to the first
            X.has_sorted_indices = False
            as_rows(X, any_order=True).without_repeats()


def _look_ahead(X: Any, labels: Any) -> None:
    from novikoff.data.order import given_order
    from novikoff.engine.linear import Rule, Updates
    from novikoff.engine.rows import as_rows
    from novikoff.engine.slack import Ahead

    rows, at, w = as_rows(X), np.empty(12, dtype=np.uint32), np.zeros(X.shape[1] + 1)
    ahead = Ahead(rows, shuffled=False, n_rows_in_all=rows.n_rows)
    ahead.looks_ahead = True
    order, rule, narrow = given_order(rows.n_rows), Rule(1.0, True, 1e-9), np.zeros(12, dtype=np.bool_)
    found = Updates(at, narrow, np.empty(0, dtype=np.int64))
    ahead.epoch(rows.matrix, labels, order, rule, np.empty(0), 0, 0, w, w.copy(), found)


def _learn_with_kernels() -> None:
    from novikoff.learn.kernel.kernels import as_points
    from novikoff.learn.kernel.memory import decide
    from novikoff.learn.kernel.space import kernel_perceptron

    for X, y in _matrices():
        labels = np.where(y > 0, 1, -1)
        points = as_points(X, "rbf")
        asked: tuple[dict[str, Any], ...] = ({"kernel": "laplacian"}, {"readout": "vote"}, {"budget": 2})
        for options in asked:
            memory = kernel_perceptron(X, labels, max_iter=2, random_state=0, **options).memory
            decide(memory, points, options.get("readout", "average"))
            memory.kernel.between(points, points, in_column_order=True)


def _label_sequences() -> None:
    from scipy.sparse import csr_array

    from novikoff.engine.rows import as_rows
    from novikoff.features.tokens import Tokens
    from novikoff.learn.chain.space import best_label_sequences, sequence_perceptron

    # Features of words have values such as 1, which are kept as float32.
    ones, labels = csr_array(np.ones((12, 3), dtype=np.float32)), np.arange(12) % 3
    tokens = Tokens(as_rows(ones), np.array([0, 5, 12]))
    learned = sequence_perceptron(tokens, labels, 3, max_iter=2, random_state=0)
    best_label_sequences(learned.memory.read_out("average"), tokens, 2)


def _read_text() -> None:
    from novikoff.data import read

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.svmlight")
        file.write_text("1 1:0.5 2:1\n-1 1:-0.5\n")
        for _ in read(file):
            pass


def _read_words() -> None:
    import pyarrow as pa

    from novikoff.data.batches import Records
    from novikoff.features.encode import learn_encoding

    texts = Records(pa.RecordBatch.from_pydict({"text": ["a b", "b c"]}), None)
    learn_encoding([texts], text=["text"]).encode(texts)


def _find_margins() -> None:
    from scipy.sparse import csr_array

    from novikoff.prove.separable.kesler import kesler_points
    from novikoff.prove.separable.points import Points
    from novikoff.prove.separable.search.cutting_planes import descent_on
    from novikoff.prove.separable.search.minimum_norm import nearest_point

    rows = np.random.default_rng(0).standard_normal((2 * COLUMNS, COLUMNS))
    order, signs = np.arange(len(rows)), np.where(rows[:, 0] > 0, 1, -1)
    nearest_point(Points.of(rows, signs))
    for X in (rows, csr_array(rows)):
        descent_on(Points.of(X, signs)).epoch(order)
        descent_on(kesler_points(X, order % 3)).epoch(order)


def _solve_inequalities() -> None:
    from novikoff.engine.inequalities import walk
    from novikoff.prove.inequalities.search.solve import METHODS, solve_inequalities

    rows = np.array([[1.0, 1e-3], [-1.0, 1e-3]])
    for method in METHODS:
        solve_inequalities(rows, method=method)
    walk(rows, np.ones(2), 0.1, 1)
