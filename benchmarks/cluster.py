"""Learning from shards: two workers against one process, and against Dask-ML's Incremental.

    pip install ".[cluster,bench]"
    python benchmarks/cluster.py [--smoke] [--only speed peers accuracy bytes] [--data DIR]

Parquet files of Gaussian rows with labels from a hidden plane, some of them wrong. Every contestant is warm: kernels
are compiled, and Ray or Dask is running. Seconds are those of a wall clock, from file to model; close all else.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure, show_ratio

ROUNDS = 10

PROLOGUE = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
pattern, small, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
def report(**facts):
    print(json.dumps(facts))
"""

ONE_PROCESS = """
import pyarrow
pyarrow.set_cpu_count(1)  # one process on one core: Arrow would read with all of them
from novikoff import Perceptron
from novikoff.data import read
def fit(pattern):
    return Perceptron(max_iter=rounds, lead=0, random_state=0, n_jobs=1).fit(read(pattern, label="y"))
fit(small)
start = time.perf_counter()
model = fit(pattern)
report(seconds=time.perf_counter() - start, error=model.run_.errors / model.run_.n_rows)
"""

TWO_WORKERS = """
import ray
from novikoff.cluster import Ray, fit
ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
seconds, began = [], []
class Warm(Ray):
    def start(self, *args):
        super().start(*args)
        self.call("apply", None, warm, on=[0, 1])  # the first call loads what a process needs
        began.append(time.perf_counter())
def warm(worker, _):
    from novikoff import Perceptron
    Perceptron(max_iter=2).fit([[0.0], [1.0]], [0, 1])
def learn(pattern):
    options = {"max_iter": rounds, "lead": 0, "watch": lambda r: seconds.append(r.seconds)}
    return fit(pattern, label="y", engine=Warm(workers=2), **options)
learn(small)
seconds.clear()
model = learn(pattern)
taken = time.perf_counter() - began[-1]
ray.shutdown()
report(seconds=taken, rounds=seconds, error=model.run_.errors / model.run_.n_rows)
"""

CALLS = """
import ray
from novikoff.cluster import Ray
class Echo:
    def __init__(self, number, shard):
        pass
    def echo(self, value):
        return value
    def close(self):
        pass
ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
engine = Ray(workers=2)
engine.start(Echo, [None] * rounds)
value = [0.0] * 51
engine.call("echo", value)
start = time.process_time()
engine.call("echo", value)
taken = time.process_time() - start
engine.close()
ray.shutdown()
report(seconds=taken)
"""

DASK = """
import glob
import dask
import dask.array as da
import pandas as pd
from dask.distributed import Client
from dask_ml.wrappers import Incremental
from pyarrow.parquet import read_metadata
from sklearn.linear_model import Perceptron
client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
wanted, most = float(sys.argv[4]), 10 * rounds
@dask.delayed(nout=2)
def load(file):
    table = pd.read_parquet(file)
    return table.drop(columns="y").to_numpy(), table["y"].to_numpy()
def fit(pattern):
    X, y = [], []
    for file in sorted(glob.glob(pattern)):
        about, (rows, labels) = read_metadata(file), load(file)
        X.append(da.from_delayed(rows, (about.num_rows, about.num_columns - 1), "float32"))
        y.append(da.from_delayed(labels, (about.num_rows,), bool))
    X, y = da.concatenate(X).persist(), da.concatenate(y).persist()
    model = Incremental(Perceptron(random_state=0), assume_equal_chunks=True)
    passes, error = 0, 1.0
    while error > wanted and passes < most:
        model.partial_fit(X, y, classes=[False, True])
        passes += 1
        error = float((model.predict(X) != y).mean().compute())
    return passes, error
fit(small)
start = time.perf_counter()
passes, error = fit(pattern)
taken = time.perf_counter() - start
client.close()
report(seconds=taken, error=error, passes=passes)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="few rows, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--rounds", type=int, default=3, help="repetitions")
    parser.add_argument("--data", type=Path, help="a folder with a9a/a9a.gz and a9a/a9a.t.gz")
    options = parser.parse_args()
    options.rounds = 1 if options.smoke else options.rounds
    if not find_spec("ray"):
        print('Ray is not there: pip install ".[cluster]"')
        return
    with tempfile.TemporaryDirectory() as folder:
        for part in options.only:
            PARTS[part](Path(folder), options)


def written(folder: Path, n_rows: int, n_columns: int, n_files: int, noise: float = 0.5) -> str:
    """Files of rows, and a pattern that names them; the same ones if they are there already."""
    import pyarrow as pa
    from pyarrow import parquet

    place = folder / f"{n_rows}-{n_columns}-{n_files}"
    if not place.exists():
        place.mkdir()
        hidden = np.random.default_rng(0).normal(size=n_columns)
        generator = np.random.default_rng([n_rows, n_columns, n_files])
        for number in range(n_files):
            X = generator.normal(size=(n_rows // n_files, n_columns)).astype(np.float32)
            wrong = noise * np.linalg.norm(hidden) * generator.normal(size=len(X))
            table = {f"x{j}": X[:, j] for j in range(n_columns)}
            parquet.write_table(pa.table({**table, "y": X @ hidden + wrong > 0}), place / f"{number:03}.parquet")
    return str(place / "*.parquet")


def run(code: str, *words: object) -> dict:
    """What a process of its own reports."""
    source = str(Path(__file__).resolve().parents[1] / "src")
    known = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [source, known]))}
    command = [sys.executable, "-c", PROLOGUE + code, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def speed(folder: Path, options: argparse.Namespace) -> None:
    n_rows = 4_000 if options.smoke else 6_000_000
    pattern, small = written(folder, n_rows, 50, 16), written(folder, 800, 50, 2)
    print(f"\n{n_rows:,} x 50 in 16 Parquet files, {ROUNDS} rounds or epochs")
    one, two = [], []
    for _ in range(options.rounds):
        one.append(run(ONE_PROCESS, pattern, small, ROUNDS))
        two.append(run(TWO_WORKERS, pattern, small, ROUNDS))
    for name, taken in (("one process", one), ("two workers", two)):
        seconds = float(np.median([each["seconds"] for each in taken]))
        print(f"  {name}: {ROUNDS * n_rows / seconds:,.0f} rows/s, {100 * taken[0]['error']:.2f} % errors in training")
    a_round = float(np.median([second for each in two for second in each["rounds"]]))
    print(f"  two workers, a round alone: {a_round:.3f} s, {n_rows / a_round:,.0f} rows/s")
    seconds = [[each["seconds"] for each in taken] for taken in (one, two)]
    show_ratio("one process / two workers: rows/s, from files to model", *seconds)
    figure(
        f"two workers, {n_rows:,} x 50 in 16 files, {ROUNDS} rounds, from files to model",
        seconds[1],
        seconds[0],
        against="one process on one core",
    )


def peers(folder: Path, options: argparse.Namespace) -> None:
    n_rows = 4_000 if options.smoke else 1_000_000
    pattern, small = written(folder, n_rows, 50, 16), written(folder, 800, 50, 2)
    print(f"\n{n_rows:,} x 50 in 16 Parquet files, to the same training error")
    if not find_spec("dask_ml"):
        print("  Dask-ML is not there: pip install 'dask[distributed]' dask-ml")
        return
    ours, theirs = [], []
    for _ in range(options.rounds):
        two = run(TWO_WORKERS, pattern, small, ROUNDS)
        dask = run(DASK, pattern, small, ROUNDS, two["error"])
        ours.append(two["seconds"])
        theirs.append(dask["seconds"])
    print(f"  Dask-ML: {dask['passes']} passes, {100 * dask['error']:.2f} %; ours {100 * two['error']:.2f} %")
    show_ratio("Dask-ML's Incremental(Perceptron) / two workers", theirs, ours)
    figure(
        f"two workers, {n_rows:,} x 50, to the same training error",
        ours,
        theirs,
        against="Dask-ML's Incremental",
    )


def accuracy(folder: Path, options: argparse.Namespace) -> None:
    from novikoff import Perceptron
    from novikoff.cluster import fit
    from novikoff.data import read

    tasks = {}
    n_rows = 4_000 if options.smoke else 1_000_000
    tasks[f"{n_rows:,} x 50"] = (written(folder, n_rows, 50, 16), written(folder, n_rows // 5, 50, 1), "y")
    if options.data is not None:
        tasks["a9a"] = (*_a9a(options.data, folder), None)
    print(f"\nErrors in 100 test rows after {ROUNDS} rounds of 16 shards, or {ROUNDS} epochs of one machine")
    for name, (train, test, label) in tasks.items():
        found = {}
        for mixing in ("uniform", "adaptive"):
            model = fit(train, label=label, mixing=mixing, max_iter=ROUNDS, lead=0)
            found[mixing] = 100 * (1 - model.score(read(test, label=label)))
        alone = Perceptron(max_iter=ROUNDS, lead=0, random_state=0).fit(read(train, label=label))
        found["one machine"] = 100 * (1 - alone.score(read(test, label=label)))
        apart = found["uniform"] - found["one machine"]
        shown = ", ".join(f"{what} {error:.2f}" for what, error in found.items())
        figure(
            f"16 shards, mixed uniformly, {name}: wrong on new rows",
            found["uniform"],
            found["one machine"],
            against="one machine",
            unit="%",
        )
        print(f"  {name}: {shown}; uniform is {apart:+.2f} points from one machine")


def _a9a(data: Path, folder: Path) -> tuple[str, str]:
    import gzip

    lines = gzip.decompress((data / "a9a/a9a.gz").read_bytes()).splitlines(keepends=True)
    for number in range(16):
        part = lines[len(lines) * number // 16 : len(lines) * (number + 1) // 16]
        (folder / f"a9a-{number:02}.svm").write_bytes(b"".join(part))
    (folder / "test.svm").write_bytes(gzip.decompress((data / "a9a/a9a.t.gz").read_bytes()))
    return str(folder / "a9a-*.svm"), str(folder / "test.svm")


def bytes_sent(folder: Path, options: argparse.Namespace) -> None:
    """What goes over the network in a round, and what the driver does with it."""
    import pickle

    from novikoff.cluster.rounds import Mixture
    from novikoff.cluster.worker import Change

    print("\nA round: weights once down to every node, changes and sums of weights once up from every shard")
    for n_columns, n_shards in ((50, 16),) if options.smoke else ((50, 16), (1_000, 1_000), (100_000, 100)):
        w = np.zeros((1, n_columns + 1))
        change = Change(np.ones_like(w), 10, 0, np.ones_like(w))
        up = len(pickle.dumps(change, protocol=5))
        start = time.perf_counter()
        Mixture(w).with_changes([change.change] * n_shards, [10] * n_shards, 1e6, "uniform")
        seconds = time.perf_counter() - start
        print(
            f"  {n_columns:,} columns, {n_shards:,} shards: {w.nbytes:,} bytes down a node, {up:,} bytes up a shard, "
            f"{up * n_shards:,} at the driver, mixed in {seconds:.4f} s"
        )
    n_shards = 10 if options.smoke else 1_000
    taken = run(CALLS, "", "", n_shards)["seconds"]
    print(
        f"  asking {n_shards:,} shards: {taken:.3f} s of the driver's processor, {1e3 * taken / n_shards:.2f} ms each"
    )


PARTS = {"speed": speed, "peers": peers, "accuracy": accuracy, "bytes": bytes_sent}

if __name__ == "__main__":
    main()
