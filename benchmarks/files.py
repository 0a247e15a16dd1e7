"""Learning from files: svmlight text against Vowpal Wabbit and scikit-learn, CSV against pyarrow's bare read.

    pip install ".[bench]"
    python benchmarks/files.py [--smoke] [--only text table words] [--data DIR]

The svmlight text has 150 to 210 MB: short numbers, 17-digit numbers, and words of texts (tf-idf, drawn by Zipf's law,
so that columns are met as real texts meet them); with DIR/reviews/reviews.svm, real texts, too. Vowpal Wabbit reads the
same lines in its own notation (a bar after the label) and learns by plain stochastic gradient descent. The tables are
CSV of numbers and categories, and of texts. We read with one thread, and with as many as there are cores. Each
contestant has a process of its own, which reports its time without start-up, its processor time, and its peak of
resident memory.
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
def clocks():
    return time.perf_counter(), time.process_time()
def report(start):
    seconds, processor = (now - then for now, then in zip(clocks(), start))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "processor": processor, "peak": peak}))
"""

OURS = """
from novikoff.data import read
from novikoff.features.encode import learn_encoding
from novikoff.learn.linear.files import learn_from
from novikoff.engine.jit import patience
n_jobs, label, texts = int(sys.argv[3]), sys.argv[4] or None, sys.argv[5:]
with patience(0):  # compiled, or loaded
    learn_from([([[1.0, 0.0]], [1.0]), ([[-1.0, 2.0]], [0.0])] * 2, max_iter=epochs, shuffle=False, lead=0)
    if label is None:
        import io
        from scipy.sparse import csr_array
        from novikoff.data.svmlight import batches
        pairs = [(b.rows, b.labels) for b in batches(io.BytesIO(b"1 1:1\\n-1 2:0.12345678901234567\\n"), "warm-up")]
        learn_from([(csr_array([[1.0]]), [1.0]), (csr_array([[1.0]]), [0.0])], max_iter=epochs, shuffle=False, lead=0)
    if texts:
        import pyarrow as pa
        from novikoff.data.batches import Records
        few = Records(pa.RecordBatch.from_pydict({"text": ["a b", "c d"]}), None)
        learn_encoding([few], text=["text"]).encode(few)
start = clocks()
source = read(path, label=label, n_jobs=n_jobs)
encoding = learn_encoding(source, text=texts) if texts else None
learned = learn_from(source, encoding=encoding, max_iter=epochs, shuffle=False, lead=0)
report(start)
"""

VOWPAL_WABBIT = """
from vowpalwabbit import Workspace
several = f"--passes {epochs} --cache_file {path}.cache -k --holdout_off" if epochs > 1 else ""
start = clocks()
Workspace(f"-d {path} --sgd --loss_function hinge --quiet {several}").finish()
report(start)
"""

SCIKIT_LEARN = """
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron
start = clocks()
X, y = load_svmlight_file(path)
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")  # its own Perceptron refuses 64 bits
Perceptron(max_iter=epochs, tol=None, shuffle=False).fit(X, y)
report(start)
"""

PYARROW = """
from pyarrow import csv
start = clocks()
rows = sum(batch.num_rows for batch in csv.open_csv(path))
report(start)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny files, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="a folder with reviews/reviews.svm")
    options = parser.parse_args()
    if options.smoke:
        options.rounds = 1
    for part in options.only:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](Path(folder), options)


# Who reads: we with one thread, and we with all cores.
ONE_THREAD, WE = "we, one thread", "we"
THREADS = {ONE_THREAD: "1", WE: "-1"}


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
    ours, theirs = folder / "data.svm", folder / "data.vw"
    if not options.smoke:
        write_text(ours, theirs, size, 3)
        compare_texts("short numbers", ours, theirs, options)
        write_text(ours, theirs, size, 17)
        compare_texts("17-digit numbers", ours, theirs, options)
    write_words(ours, theirs, 100 if options.smoke else 25_000)
    compare_texts("words by Zipf's law", ours, theirs, options)
    if options.data is not None and (real := options.data / "reviews" / "reviews.svm").exists():
        with open(real) as lines, open(theirs, "w") as file:
            file.writelines(line.replace(" ", " | ", 1) for line in lines)
        compare_texts("real texts", real, theirs, options)


def compare_texts(what: str, ours: Path, theirs: Path, options: argparse.Namespace) -> None:
    megabytes = ours.stat().st_size / MEGABYTE
    print(f"\nsvmlight text, {what}, {megabytes:.0f} MB")
    contestants = {name: (OURS, ours, n_jobs, "") for name, n_jobs in THREADS.items()}
    contestants["scikit-learn"] = (SCIKIT_LEARN, ours)
    if find_spec("vowpalwabbit"):
        contestants["Vowpal Wabbit"] = (VOWPAL_WABBIT, theirs)
    else:
        print('  Vowpal Wabbit is not there: pip install ".[bench]"')
    for epochs in (1, 5):
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in contestants}
        for _ in range(options.rounds):
            for name, (code, path, *more) in contestants.items():
                if name != "scikit-learn" or epochs == 1:
                    runs[name].append(run(code, path, epochs, *more))
        seconds = {name: [one["seconds"] for one in taken] for name, taken in runs.items() if taken}
        processor = {name: [one["processor"] for one in taken] for name, taken in runs.items() if taken}
        for name, taken in seconds.items():
            print(
                f"  {name}, {epochs} epoch(s): {megabytes * epochs / np.median(taken):,.0f} MB/s a pass; "
                f"{np.median(processor[name]):.2f} s of processor time"
            )
        show_ratio(f"one thread / all cores, {epochs} epoch(s)", seconds[ONE_THREAD], seconds[WE])
        if "Vowpal Wabbit" in seconds:
            show_ratio(f"Vowpal Wabbit / ours, {epochs} epoch(s)", seconds["Vowpal Wabbit"], seconds[WE])
            one = processor["Vowpal Wabbit"], processor[ONE_THREAD]
            show_ratio(f"Vowpal Wabbit / ours, {epochs} epoch(s), processor time, one thread", *one)
        if "scikit-learn" in seconds:
            show_ratio("scikit-learn's loader and fit / ours", seconds["scikit-learn"], seconds[WE])
        passes = "one pass" if epochs == 1 else f"{epochs} passes"
        for name in (name for name in seconds if name != WE):
            against = {"scikit-learn": "scikit-learn's loader and fit", ONE_THREAD: "one thread"}.get(name, name)
            said = f"{passes} from svmlight text to model, {what}, {megabytes:.0f} MB"
            figure(said, seconds[WE], seconds[name], against=against)


def write_words(ours: Path, theirs: Path, n_rows: int) -> None:
    """Texts of about 400 words out of 436,597, the k-th in the order of frequency as 1 / k, weighed by tf-idf.

    The columns of words are in no order of frequency, as in an alphabet; labels follow a hidden plane, but for a tenth.
    """
    rng = np.random.default_rng(0)
    n_words = 436_597
    shares = 1 / np.arange(1, n_words + 1)
    shares /= shares.sum()
    until, columns = np.cumsum(shares), rng.permutation(n_words) + 1
    rarity = 1 + np.log((1 + n_rows) / (1 + n_rows * (1 - np.exp(-500 * shares))))
    hidden = rng.normal(size=n_words)
    with open(ours, "w") as ours_, open(theirs, "w") as theirs_:
        for _ in range(n_rows):
            drawn = np.searchsorted(until, rng.random(int(rng.lognormal(6.0, 0.6)) + 10)).clip(max=n_words - 1)
            words, times = np.unique(drawn, return_counts=True)
            words, times = words[order := np.argsort(columns[words])], times[order]
            values = times * rarity[words] / np.linalg.norm(times * rarity[words])
            label = "+1" if (values @ hidden[words] > 0) != (rng.random() < 0.1) else "-1"
            pairs = " ".join(f"{column}:{value:.6g}" for column, value in zip(columns[words], values, strict=True))
            ours_.write(f"{label} {pairs}\n")
            theirs_.write(f"{label} | {pairs}\n")


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
        compare_tables("CSV", path, "sport", options.rounds if size < 500 * MEGABYTE else 1)


def words(folder: Path, options: argparse.Namespace) -> None:
    print("\nCSV with texts, one epoch: words and pairs of words, beside pyarrow's bare read")
    path = folder / "texts.csv"
    write_texts(path, 100_000 if options.smoke else 50 * MEGABYTE)
    compare_tables("CSV with texts", path, "label", options.rounds, "text")


def compare_tables(what: str, path: Path, label: str, rounds: int, *texts: str) -> None:
    megabytes = path.stat().st_size / MEGABYTE
    contestants = {name: (OURS, (n_jobs, label, *texts)) for name, n_jobs in THREADS.items()}
    contestants["bare read"] = (PYARROW, ())
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, (code, more) in contestants.items():
            runs[name].append(run(code, path, 1, *more))
    seconds = {name: [one["seconds"] for one in taken] for name, taken in runs.items()}
    for name, taken in runs.items():
        median, processor = np.median(seconds[name]), np.median([one["processor"] for one in taken])
        peak = max(one["peak"] for one in taken) / MEGABYTE
        print(
            f"  {megabytes:,.0f} MB, {name}: {median:.1f} s ({megabytes / median:.0f} MB/s), {processor:.1f} s of "
            f"processor time, peak memory {peak:.0f} MB"
        )
    show_ratio("one thread / all cores", seconds[ONE_THREAD], seconds[WE])
    show_ratio("bare read / ours", seconds["bare read"], seconds[WE])
    said = f"{what} of {megabytes:,.0f} MB to model"
    figure(said, seconds[WE], seconds["bare read"], against="pyarrow's bare read")
    figure(said, seconds[WE], seconds[ONE_THREAD], against="one thread")
    figure(f"{said}: peak of memory", max(one["peak"] for one in runs[WE]) / MEGABYTE, unit="MB")


def write_texts(path: Path, size: int) -> None:
    """Reviews of about 150 words, drawn by Zipf's law out of 60,000."""
    rng = np.random.default_rng(1)
    letters, n_words = np.array(list("etaoinshrdlucmfwygpbvk")), 60_000
    vocabulary = np.array(["".join(rng.choice(letters, size=rng.integers(2, 11))) for _ in range(n_words)])
    until = np.cumsum(1 / np.arange(1, n_words + 1) ** 1.05)
    liked = rng.normal(size=n_words)
    written = 0
    with open(path, "w") as file:
        file.write("stars,text,label\n")
        while written < size:
            drawn = np.searchsorted(until, until[-1] * rng.random(int(rng.lognormal(4.8, 0.6)) + 5))
            label = "pos" if liked[drawn].mean() + rng.normal(0, 0.02) > 0 else "neg"
            said = " ".join(vocabulary[drawn]).capitalize().replace(" e", ", e")
            written += file.write(f'{rng.integers(1, 6)},"{said}.",{label}\n')


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


PARTS = {"text": text, "table": table, "words": words}


if __name__ == "__main__":
    main()
