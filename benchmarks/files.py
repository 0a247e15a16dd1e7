"""Learning from files: svmlight text against Vowpal Wabbit and scikit-learn, CSV against pyarrow's bare read.

    pip install ".[bench]"
    python benchmarks/files.py [--smoke] [--only text table]

The text has 200 MB or more, once with short and once with 17-digit numbers; Vowpal Wabbit reads the same lines in its
own notation (a bar after the label) and learns by plain stochastic gradient descent. Each contestant has a process of
its own, which reports its time without start-up and its peak of resident memory.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure, show_ratio

MEGABYTE = 1_000_000

PROLOGUE = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
path, epochs = sys.argv[1], int(sys.argv[2])
def report(seconds):
    print(json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""

OURS = """
from novikoff.data import read
from novikoff.learn.linear.files import learn_from
from novikoff.engine.jit import patience
with patience(0):  # compiled, or loaded
    learn_from([([[1.0, 0.0]], [1.0]), ([[-1.0, 2.0]], [0.0])] * 2, max_epochs=epochs, shuffle=False)
label = sys.argv[3] if len(sys.argv) > 3 else None
if label is None:
    import io
    from scipy.sparse import csr_array
    from novikoff.data.svmlight import batches
    pairs = [(b.rows, b.labels) for b in batches(io.BytesIO(b"1 1:1\\n-1 2:0.12345678901234567\\n"), "warm-up")]
    learn_from([(csr_array([[1.0]]), [1.0]), (csr_array([[1.0]]), [0.0])], max_epochs=epochs, shuffle=False)
start = time.perf_counter()
learned = learn_from(read(path, label=label), max_epochs=epochs, shuffle=False)
report(time.perf_counter() - start)
"""

VOWPAL_WABBIT = """
from vowpalwabbit import Workspace
several = f"--passes {epochs} --cache_file {path}.cache -k --holdout_off" if epochs > 1 else ""
start = time.perf_counter()
Workspace(f"-d {path} --sgd --loss_function hinge --quiet {several}").finish()
report(time.perf_counter() - start)
"""

SCIKIT_LEARN = """
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron
start = time.perf_counter()
X, y = load_svmlight_file(path)
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")  # its own Perceptron refuses 64 bits
Perceptron(max_iter=epochs, tol=None, shuffle=False).fit(X, y)
report(time.perf_counter() - start)
"""

PYARROW = """
from pyarrow import csv
start = time.perf_counter()
rows = sum(batch.num_rows for batch in csv.open_csv(path))
report(time.perf_counter() - start)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny files, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.smoke:
        options.rounds = 1
    for part in options.only:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](Path(folder), options)


def run(code: str, path: Path, epochs: int = 1, *more: str) -> dict[str, float]:
    """What a process of its own reports."""
    command = [sys.executable, "-c", PROLOGUE + code, str(path), str(epochs), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


# -- text -------------------------------------------------------------------------------------------------------------


def text(folder: Path, options: argparse.Namespace) -> None:
    size = 300_000 if options.smoke else 210 * MEGABYTE
    kinds = {"17-digit numbers": 17} if options.smoke else {"short numbers": 3, "17-digit numbers": 17}
    for what, digits in kinds.items():
        ours, theirs = folder / "data.svm", folder / "data.vw"
        write_text(ours, theirs, size, digits)
        megabytes = ours.stat().st_size / MEGABYTE
        print(f"\nsvmlight text, {what}, {megabytes:.0f} MB")
        contestants = {"we": (OURS, ours), "scikit-learn": (SCIKIT_LEARN, ours)}
        if find_spec("vowpalwabbit"):
            contestants["Vowpal Wabbit"] = (VOWPAL_WABBIT, theirs)
        else:
            print('  Vowpal Wabbit is not there: pip install ".[bench]"')
        for epochs in (1, 5):
            seconds: dict[str, list[float]] = {name: [] for name in contestants}
            for _ in range(options.rounds):
                for name, (code, path) in contestants.items():
                    if name != "scikit-learn" or epochs == 1:
                        seconds[name].append(run(code, path, epochs)["seconds"])
            for name, taken in seconds.items():
                if taken:
                    print(f"  {name}, {epochs} epoch(s): {megabytes * epochs / np.median(taken):,.0f} MB/s a pass")
            if "Vowpal Wabbit" in seconds:
                floor = "asked for 1 or more"
                show_ratio(f"Vowpal Wabbit / ours, {epochs} epoch(s)", seconds["Vowpal Wabbit"], seconds["we"], floor)
            passes = "one pass" if epochs == 1 else f"{epochs} passes"
            for name in (name for name in seconds if name != "we" and seconds[name]):
                figure(
                    f"{passes} from svmlight text to model, {what}, {megabytes:.0f} MB",
                    seconds["we"],
                    seconds[name],
                    against="scikit-learn's loader and fit" if name == "scikit-learn" else name,
                )
            if seconds["scikit-learn"]:
                show_ratio("scikit-learn's loader and fit / ours", seconds["scikit-learn"], seconds["we"], "5")


def write_text(ours: Path, theirs: Path, size: int, digits: int) -> None:
    """Sparse Gaussian rows of about 30 entries with labels from a hidden plane, one in ten of them wrong."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=20_000)
    lines: list[str] = []
    written = 0
    while written < min(size, 15 * MEGABYTE):
        columns = np.unique(rng.integers(1, 20_000, size=30))
        values = rng.normal(size=len(columns))
        label = "+1" if (values @ hidden[columns] > 0) != (rng.random() < 0.1) else "-1"
        pairs = " ".join(f"{column}:{value:.{digits}g}" for column, value in zip(columns, values, strict=True))
        lines.append(f"{label} {pairs}\n")
        written += len(lines[-1])
    times = max(1, round(size / written))
    for path, separator in ((ours, " "), (theirs, " | ")):
        part = "".join(line.replace(" ", separator, 1) for line in lines)
        with open(path, "w") as file:
            for _ in range(times):
                file.write(part)


# -- table ------------------------------------------------------------------------------------------------------------


def table(folder: Path, options: argparse.Namespace) -> None:
    print("\nCSV with numbers and categories, one epoch, beside pyarrow's bare read")
    sizes = (200_000,) if options.smoke else (100 * MEGABYTE, 1000 * MEGABYTE)
    for size in sizes:
        path = folder / "cars.csv"
        write_table(path, size)
        megabytes = path.stat().st_size / MEGABYTE
        ours, bare = [], []
        for _ in range(options.rounds if size < 500 * MEGABYTE else 1):
            ours.append(run(OURS, path, 1, "sport"))
            bare.append(run(PYARROW, path))
        taken, read = (float(np.median([one["seconds"] for one in runs])) for runs in (ours, bare))
        peak = max(one["peak"] for one in ours) / MEGABYTE
        print(
            f"  {megabytes:,.0f} MB: we {taken:.1f} s ({megabytes / taken:.0f} MB/s, three passes: types, statistics, "
            f"learning), peak memory {peak:.0f} MB; bare read {read:.1f} s ({megabytes / read:.0f} MB/s)"
        )
        figure(f"CSV of {megabytes:,.0f} MB to model", taken, read, against="pyarrow's bare read")
        figure(f"CSV of {megabytes:,.0f} MB to model: peak of memory", peak, unit="MB")


def write_table(path: Path, size: int) -> None:
    """Cars: doors, year, maker, engine, weight, price, speed, and whether it is a sports car."""
    rng = np.random.default_rng(0)
    lines: list[str] = []
    written = 0
    while written < min(size, 5 * MEGABYTE):
        doors, year, maker = rng.integers(2, 6), rng.integers(1950, 2026), rng.integers(40)
        engine, weight = rng.gamma(8, 0.25), rng.normal(1400, 250)
        speed = 150 + 40 * engine - 0.03 * weight + rng.normal(0, 10)
        price = 5000 + 9000 * engine + 60 * rng.gamma(3, 100)
        sport = "yes" if speed - 12 * doors + rng.normal(0, 5) > 130 else "no"
        lines.append(f"{doors},{year},maker{maker},{engine:.2f},{weight:.1f},{price:.2f},{speed:.1f},{sport}\n")
        written += len(lines[-1])
    with open(path, "w") as file:
        file.write("doors,year,maker,engine,weight,price,speed,sport\n")
        for _ in range(max(1, round(size / written))):
            file.writelines(lines)


PARTS = {"text": text, "table": table}


if __name__ == "__main__":
    main()
