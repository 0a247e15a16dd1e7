"""The linear perceptron against one pass over the data, scikit-learn and River.

    python benchmarks/linear.py [--data DIR] [--smoke] [--only NAME ...]

Every figure is a ratio taken in one run, in interleaved rounds, with one thread, but for `cores` and for whole fits of
`text`, which are taken both ways. `--data` is a folder with `a9a/a9a.gz` and `a9a/a9a.t.gz` in LIBSVM format. `--smoke`
shrinks everything to check that it runs.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import textwrap
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron as PeerPerceptron
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure, interleaved, per_epoch, show_ratio

from novikoff import OnlinePerceptron, Perceptron
from novikoff.data.order import given_order, random_order
from novikoff.engine import slack
from novikoff.engine.jit import patience
from novikoff.engine.linear import Rule, Updates, binary_epoch
from novikoff.engine.rows import as_rows, longest_square

MORE = 4  # epochs that a long peer fit has more than a short one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", nargs="*", choices=[*PARTS], default=[*PARTS])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("ratios: median over the rounds [smallest .. largest]")
    for name in arguments.only:
        with threadpool_limits(None if name in ("cores", "text") else 1):
            PARTS[name](arguments)


# -- data -------------------------------------------------------------------------------------------------------------


def dense_data(n, d, dtype, noise, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)).astype(dtype)
    w = generator.standard_normal(d)
    labels = np.where(X @ w.astype(dtype) + noise * np.sqrt(d) * generator.standard_normal(n) >= 0, 1, -1)
    return X, labels.astype(np.int8)


def sparse_data(n, d, entries, noise, seed=0):
    """Rows like word counts: few of many columns, drawn by Zipf's law, in a vocabulary sorted by frequency."""
    generator = np.random.default_rng(seed)
    columns = np.minimum(np.exp(generator.random((n, entries)) * np.log(d)) - 1, d - 1).astype(np.int32)
    values = generator.random(n * entries)
    X = sparse.csr_matrix((values, columns.ravel(), np.arange(0, n * entries + 1, entries)), shape=(n, d))
    X.sum_duplicates()
    w = generator.standard_normal(d)
    score = X @ w
    labels = np.where(score + noise * score.std() * generator.standard_normal(n) >= 0, 1, -1)
    return X, labels.astype(np.int8)


def text_data(n, d, entries, n_classes, seed=0):
    """Rows like tf-idf of texts: of length 1, words by Zipf's law, and in no order of columns."""
    generator = np.random.default_rng(seed)
    X, _ = sparse_data(n, d, entries, 0.0, seed)
    columns = generator.permutation(d).astype(np.int32)[X.indices]
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    X = sparse.csr_matrix((X.data / np.sqrt(np.bincount(rows, X.data**2))[rows], columns, X.indptr), shape=(n, d))
    scores = X @ generator.standard_normal((d, n_classes))
    scores += 0.3 * scores.std() * generator.standard_normal(scores.shape)
    return X, scores.argmax(axis=1)


def load_a9a(path):
    """With 32-bit indices: scikit-learn's perceptron refuses the 64-bit ones that its own loader makes."""
    X, y = load_svmlight_file(str(path), n_features=123)
    return sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape), y


# -- epochs -----------------------------------------------------------------------------------------------------------


def one_epoch(X, labels, *, average, shuffled):
    """A function that runs one epoch from warm weights, and the share of mistakes that it makes."""
    rows = as_rows(X)
    rule = Rule(1.0, True, 4.0 * (rows.widest + 2) * 2.0**-53 * longest_square(rows, 1.0))
    at, narrow, none = np.empty(rows.n_rows, dtype=np.uint32), np.zeros(rows.n_rows, dtype=bool), np.empty(0)
    found = Updates(at, narrow, np.empty(0, dtype=np.int64))
    w = np.zeros(rows.n_columns + 1)
    drift = np.zeros(len(w) if average else 0)
    generator = np.random.default_rng(0)
    state = {"examples": 0, "mistakes": 0, "share": 0.0}

    def run():
        order = random_order(rows.n_rows, generator) if shuffled else given_order(rows.n_rows)
        clocks = (state["examples"], state["mistakes"])
        seen, made = binary_epoch(rows.matrix, labels, order, rule, none, *clocks, w, drift, found)
        state.update(examples=clocks[0] + seen, mistakes=clocks[1] + made, share=made / seen)

    return run, state


def peer_epochs(X, labels, **options):
    """Short and long fits of scikit-learn's perceptron, whose difference is the cost of its epochs."""
    return {
        epochs: lambda epochs=epochs: PeerPerceptron(max_iter=epochs, tol=None, **options).fit(X, labels)
        for epochs in (1, 1 + MORE)
    }


def compare_epochs(title, X, labels, repetitions):
    kinds = {
        "plain": one_epoch(X, labels, average=False, shuffled=False),
        "average": one_epoch(X, labels, average=True, shuffled=False),
        "shuffled": one_epoch(X, labels, average=False, shuffled=True),
        "both": one_epoch(X, labels, average=True, shuffled=True),
    }
    w = np.ones(X.shape[1], dtype=X.dtype)
    tasks = {name: run for name, (run, _) in kinds.items()}
    tasks["pass"] = lambda: X @ w
    for name, options in (("peer", {"shuffle": False}), ("default peer", {})):
        for epochs, task in peer_epochs(X, labels, **options).items():
            tasks[f"{name} {epochs}"] = task
    seconds = interleaved(tasks, repetitions)
    peers = {
        name: per_epoch(seconds[f"{name} 1"], seconds[f"{name} {1 + MORE}"], MORE) for name in ("peer", "default peer")
    }
    share = kinds["plain"][1]["share"]
    print(f"{title}: {share:.0%} mistakes, one pass X @ w takes {min(seconds['pass']) * 1e3:.1f} ms")
    show_ratio("epoch / one pass", seconds["plain"], seconds["pass"])
    show_ratio("scikit-learn's epoch, not shuffled / ours", peers["peer"], seconds["plain"])
    show_ratio("scikit-learn's default epoch / our default epoch", peers["default peer"], seconds["both"])
    show_ratio("scikit-learn's default epoch / our plain one", peers["default peer"], seconds["plain"])
    show_ratio("epoch with the average / plain epoch", seconds["average"], seconds["plain"])
    show_ratio("shuffled epoch / plain epoch", seconds["shuffled"], seconds["plain"])
    figure(f"an epoch, {title}, in order", seconds["plain"], seconds["pass"], against="one pass X @ w")
    figure(f"an epoch, {title}, in order", seconds["plain"], peers["peer"], against="scikit-learn's epoch, in order")
    figure(
        f"an epoch with the defaults, {title}", seconds["both"], peers["default peer"], against="scikit-learn's default"
    )


def epochs(arguments):
    small, repetitions = arguments.smoke, 2 if arguments.smoke else 9
    X, labels = dense_data(2_000 if small else 200_000, 100, np.float64, noise=0.5)
    compare_epochs("dense float64, 200,000 x 100", X, labels, repetitions)
    X, labels = dense_data(500 if small else 50_000, 1_000, np.float32, noise=0.5)
    compare_epochs("dense float32, 50,000 x 1,000", X, labels, repetitions)
    for d, entries, noise in ((1_000, 100, 0.4), (50_000, 75, 0.4)):  # weights that fit in the first cache, or do not
        X, labels = sparse_data(2_000 if small else 400_000, d, entries, noise)
        title = f"CSR, {X.shape[0]:,} x {d:,}, {X.nnz:,} entries"
        compare_epochs(title, X, labels, repetitions)


# -- whole fits -------------------------------------------------------------------------------------------------------


def whole_fits(arguments):
    small = arguments.smoke
    sets = {}
    if arguments.data:
        sets["a9a"] = (*load_a9a(arguments.data / "a9a/a9a.gz"), *load_a9a(arguments.data / "a9a/a9a.t.gz"))
    X, y = dense_data(2_000 if small else 100_000, 50, np.float64, noise=0.3, seed=1)
    half = len(y) // 2
    sets["dense, 50,000 x 50"] = (X[:half], y[:half], X[half:], y[half:])
    X, y = sparse_data(2_000 if small else 100_000, 20_000, 60, noise=0.3, seed=2)
    half = len(y) // 2
    sets["sparse, 50,000 x 20,000"] = (X[:half], y[:half], X[half:], y[half:])
    seeds = range(2 if small else 7)
    for name, (X, y, X_test, y_test) in sets.items():
        errors = {"ours": [], "peer": []}
        makers = {"ours": Perceptron, "peer": PeerPerceptron}
        with patience(0):  # compile
            Perceptron(max_iter=1).fit(X[:10], np.arange(10) % 2)
        seconds = {"ours": [], "peer": []}
        for seed in seeds:
            for who, maker in makers.items():
                model = maker(random_state=seed)
                start = time.perf_counter()
                model.fit(X, y)
                seconds[who].append(time.perf_counter() - start)
                errors[who].append(100 * (1 - model.score(X_test, y_test)))
        print(f"whole default fit on {name}")
        show_ratio("our fit / scikit-learn's fit", seconds["ours"], seconds["peer"])
        against = "scikit-learn's Perceptron"
        figure(f"fit with all defaults, {name}", seconds["ours"], seconds["peer"], against=against)
        figure(f"wrong on new rows, all defaults, {name}", errors["ours"], errors["peer"], against=against, unit="%")
        for who, values in errors.items():
            print(f"  test error, {who}: {np.mean(values):.2f} %  [{min(values):.2f} .. {max(values):.2f}]")


# -- all cores --------------------------------------------------------------------------------------------------------


def separable_data(n, d, margin, seed=0):
    """Points around 0, which a plane separates with this margin: those that are too close to it are moved away."""
    generator = np.random.default_rng(seed)
    X, w = generator.standard_normal((n, d)), generator.standard_normal(d)
    w /= np.linalg.norm(w)
    score, least = X @ w, margin * np.sqrt(np.einsum("ij,ij->i", X, X).max())
    labels = np.where(score >= 0, 1, -1)
    X += np.outer(np.where(np.abs(score) < least, labels * least - score, 0.0), w)
    return X, labels.astype(np.int8)


@contextlib.contextmanager
def step_by_step():
    """Never look ahead: every row is scored in its turn."""
    fewest, slack.FEWEST_ROWS = slack.FEWEST_ROWS, sys.maxsize
    try:
        yield
    finally:
        slack.FEWEST_ROWS = fewest


def cores(arguments):
    """A run to convergence, and passes over all rows; processor time shows what looking ahead alone saves."""
    small = arguments.smoke
    X, y = separable_data(10_000 if small else 200_000, 100, 0.02 if small else 0.002)
    options = {"readout": "last", "max_iter": None, "fit_intercept": False, "random_state": 0}

    def old_way():
        with step_by_step():
            return Perceptron(**options, n_jobs=1).fit(X, y)

    ways = {"old": old_way, "one": lambda: Perceptron(**options, n_jobs=1).fit(X, y),
            "all": lambda: Perceptron(**options).fit(X, y)}  # fmt: skip
    seconds, work = (interleaved(ways, 1 if small else 5, clock) for clock in (time.perf_counter, time.process_time))
    run = Perceptron(**options).fit(X, y).run_
    print(f"{X.shape[0]:,} x 100, margin .002 R: {run.epochs} epochs and {run.mistakes:,} mistakes separate it")
    show_ratio("every row in its turn, one thread / default", seconds["old"], seconds["all"])
    show_ratio("every row in its turn / looking ahead, one thread", seconds["old"], seconds["one"])
    show_ratio("the same in processor time", work["old"], work["one"])
    figure("fit to convergence, 200,000 x 100, margin .002 R", seconds["all"], seconds["old"],
           against="every row in its turn, on one core")  # fmt: skip

    for what, labels in (("2 classes", y), ("5 classes", np.digitize(X @ np.ones(100), [-6, -2, 2, 6]))):
        ours, peer = Perceptron(max_iter=2).fit(X, labels), PeerPerceptron(max_iter=2).fit(X, labels)
        tasks = {"predict": lambda ours=ours: ours.predict(X), "peer": lambda peer=peer: peer.predict(X),
                 "scores": lambda ours=ours: ours.decision_function(X)}  # fmt: skip
        seconds = interleaved(tasks, 2 if small else 15)
        show_ratio(f"predict / scikit-learn's, dense, {what}", seconds["predict"], seconds["peer"])
        show_ratio(f"decision_function / scikit-learn's predict, dense, {what}", seconds["scores"], seconds["peer"])


# -- one example at a time --------------------------------------------------------------------------------------------


def table_stream(n):
    """Rows of a table by name: 20 numbers each."""
    X, labels = dense_data(n, 20, np.float64, noise=0.5)
    names = [f"feature {j}" for j in range(20)]
    return [(dict(zip(names, x.tolist(), strict=True)), bool(y > 0)) for x, y in zip(X, labels, strict=True)]


def word_stream(n):
    """Texts as words and their counts, by Zipf's law without an end: in every text a third of the words is new."""
    generator = np.random.default_rng(0)
    stream = []
    for _ in range(n):
        y, size = bool(generator.random() < 0.5), int(generator.integers(50, 300))
        words = np.exp(generator.random(size) * np.log(2e6)).astype(int)
        telling = generator.random(size) < 0.08  # words that only one label has
        names = np.where(telling, 2 * words + y + 10_000_000, words).tolist()
        stream.append((dict(Counter(f"word {name}" for name in names)), y))
    return stream


def online(arguments):
    """One core each, so processor time is what counts."""
    small = arguments.smoke
    # Few enough rows to stay in the cache: the learner is timed, not the memory.
    compare_streams("20 named features", table_stream(500 if small else 4_000), small)
    compare_streams("words of texts", word_stream(100 if small else 2_000), small)
    compare_scaled(forest_stream(100 if small else 2_000), small)


def compare_streams(title, stream, small):
    from river import linear_model

    makers = {
        "ours": OnlinePerceptron,
        "ours, average": lambda: OnlinePerceptron(readout="average"),
        "River's": linear_model.Perceptron,
    }
    n, half, repetitions = len(stream), len(stream) // 2, 3 if small else 25

    def learned(maker, n_examples):
        model = maker()
        for x, y in stream[:n_examples]:
            model.learn_one(x, y)
        return model

    def predicted(model):
        return [model.predict_one(x) for x, _ in stream[half:]]

    tasks = {who: partial(learned, maker, n) for who, maker in makers.items()}
    learn = interleaved(tasks, repetitions, clock=time.process_time)
    tasks = {who: partial(predicted, learned(maker, half)) for who, maker in makers.items()}
    predict = interleaved(tasks, repetitions, clock=time.process_time)
    micro = [min(times["ours"]) / many * 1e6 for times, many in ((learn, n), (predict, n - half))]
    print(f"{title}: learn_one takes {micro[0]:.1f} microseconds, predict_one {micro[1]:.1f}")
    for who in ("ours", "ours, average"):
        show_ratio(f"River's learn_one / {who}", learn["River's"], learn[who])
    for what, taken, many in (("learn_one", learn, n), ("predict_one", predict, n - half)):
        times = [[1e6 * value / many for value in taken[who]] for who in ("ours", "River's")]
        figure(f"{what}, {title}", *times, against="River's Perceptron", unit="µs")
    for who in ("ours", "ours, average"):
        show_ratio(f"River's predict_one / {who}", predict["River's"], predict[who])


# -- new processes ----------------------------------------------------------------------------------------------------


def forest_stream(n):
    """Rows like those of the forest cover types: 10 numbers of any unit, and 44 that are 0 but for one in twenty."""
    generator = np.random.default_rng(0)
    X = np.hstack([generator.normal(2_000, 300, (n, 10)), generator.random((n, 44)) < 0.05])
    labels = (X - X.mean(axis=0)) / X.std(axis=0) @ generator.standard_normal(54) > 0
    names = [f"f{i}" for i in range(54)]
    return [(dict(zip(names, row, strict=True)), y) for row, y in zip(X.tolist(), labels.tolist(), strict=True)]


def compare_scaled(stream, small):
    """Predict, then learn, in standard deviations from a running mean."""
    from river import linear_model, preprocessing

    def run(model):
        for x, y in stream:
            model.predict_one(x)
            model.learn_one(x, y)

    tasks = {
        "ours": lambda: run(OnlinePerceptron(scale=True)),
        "River's": lambda: run(preprocessing.StandardScaler() | linear_model.Perceptron()),
    }
    seconds = interleaved(tasks, 3 if small else 9, clock=time.process_time)
    show_ratio("River's StandardScaler() | Perceptron() / ours", seconds["River's"], seconds["ours"])
    times = [[1e6 * value / len(stream) for value in seconds[who]] for who in tasks]
    figure("predict_one and learn_one, 54 features, scaled", *times, against="River's pipeline", unit="µs")


def text(arguments):
    """Whole fits and predictions, on rows that are in no order, each time with a matrix of which nothing is known."""
    shrink = 100 if arguments.smoke else 1
    cases = {"25,000 reviews, two classes": (25_000, 436_000, 330, 2),
             "11,314 news, 20 classes": (11_314, 130_000, 160, 20)}  # fmt: skip
    for title, (n, d, entries, n_classes) in cases.items():
        X, y = text_data(n // shrink, d // shrink, entries, n_classes)
        print(f"{title}: {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} entries, of tf-idf in no order of columns")

        def as_new(X=X):
            return sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)

        ours, peer = Perceptron(lead=0, random_state=0), PeerPerceptron(max_iter=10, tol=None, random_state=0)
        w = np.ascontiguousarray(peer.fit(X, y).coef_.T.squeeze())
        fits = {"fit": lambda ours=ours, y=y: ours.fit(as_new(), y),
                "peer": lambda peer=peer, y=y: peer.fit(as_new(), y)}  # fmt: skip
        passes = {"predict": lambda ours=ours: ours.predict(as_new()),
                  "scores": lambda ours=ours: ours.decision_function(as_new()),
                  "product": lambda w=w: as_new() @ w}  # fmt: skip
        repetitions = 1 if arguments.smoke else 9
        seconds = interleaved(fits, repetitions)
        with threadpool_limits(1):
            alone = interleaved(fits | passes, repetitions)
        show_ratio("fit of 10 epochs, averaged / scikit-learn's of 10 epochs", seconds["fit"], seconds["peer"])
        show_ratio("the same on one core", alone["fit"], alone["peer"])
        show_ratio("predict / SciPy's X @ w", alone["predict"], alone["product"])
        show_ratio("decision_function / SciPy's X @ w", alone["scores"], alone["product"])
        figure(f"fit of 10 epochs, {title}", seconds["fit"], seconds["peer"], against="scikit-learn's of 10 epochs")
        figure(f"predict, {title}", alone["predict"], alone["product"], against="SciPy's X @ w")


MEMORY = """
import resource, sys
import numpy as np
from novikoff.engine.jit import patience
from novikoff.learn.linear.space import perceptron
rows = int(sys.argv[1])
with patience(0):  # the compiler's memory is not the fit's
    perceptron(np.eye(2), [-1, 1], lead=0)
X = np.empty((rows, 100))
generator = np.random.default_rng(0)
for start in range(0, rows, 10000):
    X[start:start + 10000] = generator.standard_normal(X[start:start + 10000].shape)
y = np.where(X[:, 0] + X[:, 1] >= 0, 1, -1).astype(np.int8)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
perceptron(X, y, max_iter=3, lead=0)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def in_new_process(code, *values, **environment):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, values)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return float(done.stdout)


def memory(arguments):
    rows = 10_000 if arguments.smoke else 1_250_000
    added = in_new_process(MEMORY, rows)
    print(f"memory added by fitting {rows * 800 / 1e9:.2f} GB of float64: {added:.0f} MB")


PARTS = {"epochs": epochs, "fits": whole_fits, "cores": cores, "text": text, "online": online, "memory": memory}

if __name__ == "__main__":
    main()
