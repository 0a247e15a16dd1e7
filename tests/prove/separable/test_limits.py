"""A search keeps its time limit and its memory."""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from novikoff import certify
from novikoff.engine.clock import Clock
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.proofs import Span, spans_all, vanishes
from novikoff.prove.separable.search.gordan import decide, reduce_faces
from tests.memory import FRUGAL
from tests.prove.separable.cone import weakly_separates


class Ticking:
    """A time that advances by a second whenever someone looks."""

    def __init__(self):
        self.looks = itertools.count(1)
        self.now = 0

    def __call__(self):
        self.now = next(self.looks)
        return self.now


def categories(n_rows=300, n_columns=8):
    """A table of categories, whose faces take many rounds one by one, and its points."""
    random = np.random.default_rng(0)
    X = np.hstack([np.eye(5)[random.choice(5, n_rows, p=[0.5, 0.3, 0.1, 0.07, 0.03])] for _ in range(n_columns)])
    score = X @ random.standard_normal(X.shape[1])
    noisy = score + 0.5 * random.standard_normal(n_rows)
    return Points.of(X, np.where(noisy > np.median(score), 1, -1))


SEARCHES = {
    "a plane or an obstruction": lambda points, clock: decide(points, clock),
    "what lies beyond": lambda points, clock: reduce_faces(points, decide(points, Clock(None)).obstruction, clock),
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("limit", [0, 1, 2, 5, 10, 30, 100])
def test_a_search_stops_within_a_few_looks_at_the_clock_after_its_time(name, limit):
    now = Ticking()
    SEARCHES[name](categories(), Clock(limit, now=now))
    assert now.now <= limit + 12


def test_what_is_found_in_any_time_is_proved():
    points = categories()
    first = decide(points, Clock(None)).obstruction
    settled = []
    for limit in (0, 3, 10, 30, 100, 1000):
        found = reduce_faces(points, first, Clock(limit, now=Ticking()))
        assert vanishes(points, found.obstruction.rows, found.obstruction.weights)
        assert found.weak_separator is None or weakly_separates(points, found.weak_separator)
        settled.append(found.settled)
    assert settled == sorted(settled)
    assert settled[0] is False
    assert settled[-1] is True


# -- memory -----------------------------------------------------------------------------------------------------------

WIDE = 1_000_000


def wide(n_rows, n_used, labels, n_entries=4, n_columns=WIDE):
    """Sparse rows of a million columns, of which few are used."""
    random = np.random.default_rng(0)
    used = np.sort(random.choice(n_columns, n_used, replace=False))
    columns = used[random.integers(0, n_used, (n_rows, n_entries))]
    values = random.integers(1, 5, (n_rows, n_entries)).astype(float)
    places = (np.repeat(np.arange(n_rows), n_entries), columns.ravel())
    X = sparse.csr_matrix((values.ravel(), places), shape=(n_rows, n_columns))
    return X, labels(random, X, used)


def at_random(random, X, used):
    return random.integers(0, 2, X.shape[0])


def in_one_column(random, X, used):
    """At random, but for one column that only one class has."""
    return np.where(np.asarray(X[:, [used[0]]].todense()).ravel() > 0, 1, random.integers(0, 2, X.shape[0]))


def test_columns_of_zeros_cost_nothing_when_data_overlap():
    X, y = wide(200, 20, at_random)
    points = Points.of(X, y)
    found = certify(X, y)
    assert found.verdict.value == "overlapping"
    assert spans_all(points, np.array(found.obstruction.rows))
    assert not spans_all(points, np.array(found.obstruction.rows[:1]))


def test_columns_of_zeros_cost_nothing_when_data_are_quasi_separable():
    n_columns = 100_000  # a separator has a number for each
    X, y = wide(200, 20, in_one_column, n_columns=n_columns)
    points = Points.of(X, y)
    found = certify(X, y)
    assert found.verdict.value == "quasi-separable"
    assert len(found.weak_separator) == n_columns + 1
    assert weakly_separates(points, found.weak_separator)


def test_a_span_knows_its_points():
    X, y = wide(30, 6, at_random)
    points = Points.of(X, y)
    rows = np.arange(3)
    span = Span.of(points, rows)
    assert span.has_all(points.part(rows))
    assert not span.has_all(points)


def test_a_span_that_is_too_large_to_be_written_out_is_refused():
    points = Points.of(*wide(3000, 10_000, at_random))
    with pytest.raises(MemoryError, match="too many"):
        Span.of(points, np.arange(3000))


# Data, how long to look for, and what can be found in that time.
LARGE = {
    "as many columns as there can be": (200, 1_000_000, 5, 1_000_000, 60, ["separable"]),
    "few columns in use": (200, 1_000_000, 5, 20, 60, ["overlapping"]),
    "many rows": (20_000, 300_000, 8, 300_000, 0.01, ["undecided", "separable"]),
    "many rows that overlap": (4_000, 1_000_000, 5, 3_000, 0.01, ["undecided"]),
}
IN_LITTLE_MEMORY = """
import json, sys
import numpy as np
from scipy import sparse
from novikoff import certify
from tests.memory import watched

certify([[0.0], [1.0]], [0, 1])
certify(sparse.csr_matrix([[0.0], [1.0]]), [0, 1])
for name, (n, d, k, used, limit, verdicts) in json.loads(sys.argv[1]).items():
    random = np.random.default_rng(0)
    places = (np.repeat(np.arange(n), k), random.integers(0, used, n * k))
    X = sparse.csr_matrix((random.standard_normal(n * k), places), shape=(n, d))
    with watched() as peak:
        verdict = certify(X, random.integers(0, 2, n), time_limit=limit).verdict.value
    assert verdict in verdicts, (name, verdict)
    assert peak.growth < 2**30, (name, peak.growth)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured as Linux does it")
def test_wide_sparse_data_are_certified_in_a_gigabyte():
    run = subprocess.run(
        [sys.executable, "-c", IN_LITTLE_MEMORY, json.dumps(LARGE)],
        env={**os.environ, **FRUGAL, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_columns_numbered_far_beyond_their_entries_are_refused_at_once():
    X = sparse.csr_array((np.ones(2), np.array([0, 300_000_000]), np.array([0, 1, 2])), shape=(2, 300_000_001))
    for data in ((X, [0, 1]), ([(X, [0, 1])],)):
        with pytest.raises(ValueError, match="numbered up to 300,000,000, far more than the 2 numbers"):
            certify(*data)
