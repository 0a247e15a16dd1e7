"""Errors on rows that were not learned, against scikit-learn's linear SVM and hinge loss, with their defaults.

    python benchmarks/accuracy.py --data DIR     # DIR/a9a/a9a.gz and a9a.t.gz, DIR/tabular/*.csv

Text is made up from a seed: topics are distributions of words, rows are tf-idf of unit length. "texts" are the same as
sentences: we read them as `--tfidf` does, the peers by scikit-learn's TfidfVectorizer, words and pairs of words. Tables
are standardised for all learners alike, and judged by 5 folds, 20 times."""

import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).resolve().parent))

from real_tables import TABULAR, table
from timing import figure

from novikoff import Perceptron
from novikoff.data.batches import Records
from novikoff.features.encode import learn_encoding

PEERS = {
    "SGD": lambda seed: SGDClassifier(loss="hinge", average=True, random_state=seed),
    "LinearSVC": lambda seed: LinearSVC(random_state=seed),
}
OURS = {
    "lead 0": lambda seed: Perceptron(lead=0, random_state=seed),
    "lead 2": lambda seed: Perceptron(lead=2.0, random_state=seed),
    "lead auto": lambda seed: Perceptron(lead="auto", random_state=seed),
}
LEARNERS = PEERS | OURS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the real data")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--smoke", action="store_true", help="a tiny run, to see that it works")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    print(f"{'errors, in percent':<28}{''.join(f'{name:>11}' for name in LEARNERS)}{'behind':>9}{'time':>7}")
    if arguments.smoke:
        judge("text, 3 topics", *text(0, 300, 500, 3))
        judge_texts("texts, 3 topics", 0, 300, 500, 3)
        return
    judge("text, 20 topics", *text(0, 12_000, 20_000, 20))
    judge("text, 2 topics", *text(1, 6_000, 20_000, 2))
    judge_texts("texts, 20 topics", 0, 12_000, 20_000, 20)
    judge_texts("texts, 2 topics", 2, 30_000, 60_000, 2, length=150)
    if arguments.data:
        judge("a9a", *a9a(arguments.data))
        judge_tables(arguments.data, arguments.repeats)


def judge(name, X, y, others, truth):
    """A line: the errors on the other rows, and what choosing a lead costs, as a multiple of learning with it."""
    errors = {}
    for label, make in LEARNERS.items():
        errors[label] = 100 * float(np.mean(make(0).fit(X, y).predict(others) != truth))
    show(name, errors, cost(X, y))


def judge_texts(name, seed, n, d, topics, length=80):
    """The same for sentences: everybody has words and pairs of words, and a way to weigh them."""
    words, y, first = sentences(seed, n, d, topics, length)
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    theirs = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+").fit(texts[:first])
    parts = [Records(pa.RecordBatch.from_pydict({"text": part}), None) for part in (texts[:first], texts[first:])]
    encoding = learn_encoding(parts[:1], tfidf=["text"])
    ours = [encoding.encode(part).rows.as_scipy() for part in parts]
    rows = {label: [*map(theirs.transform, (texts[:first], texts[first:]))] for label in PEERS} | dict.fromkeys(
        OURS, ours
    )
    errors = {}
    for label, make in LEARNERS.items():
        X, others = rows[label]
        errors[label] = 100 * float(np.mean(make(0).fit(X, y[:first]).predict(others) != y[first:]))
    show(name, errors, cost(ours[0], y[:first]))


def judge_tables(folder, repeats):
    """A line a table, and their mean."""
    means = {label: [] for label in LEARNERS}
    for name in TABULAR:
        X, y = table(folder / f"tabular/{name}.csv")
        errors = {label: [] for label in LEARNERS}
        for repeat in range(repeats):
            for learn, judging in StratifiedKFold(5, shuffle=True, random_state=repeat).split(X, y):
                scaler = StandardScaler().fit(X[learn])
                rows, others = scaler.transform(X[learn]), scaler.transform(X[judging])
                for label, make in LEARNERS.items():
                    wrong = make(repeat).fit(rows, y[learn]).predict(others) != y[judging]
                    errors[label].append(100 * float(np.mean(wrong)))
        found = {label: statistics.mean(parts) for label, parts in errors.items()}
        show(name, found, cost(rows, y[learn]))
        for label, mean in found.items():
            means[label].append(mean)
    show("mean of the tables", {label: statistics.mean(parts) for label, parts in means.items()})


def cost(X, y, repetitions=5):
    """The processor time of choosing and learning over that of learning with what was chosen, interleaved."""
    lead = Perceptron(lead="auto", random_state=0).fit(X, y).lead_
    ratios = []
    for _ in range(repetitions):
        seconds = []
        for asked in ("auto", lead):
            start = time.process_time()
            Perceptron(lead=asked, random_state=0).fit(X, y)
            seconds.append(time.process_time() - start)
        ratios.append(seconds[0] / seconds[1])
    return statistics.median(ratios)


def show(name, errors, ratio=None):
    behind = errors["lead auto"] - min(errors[label] for label in PEERS)
    line = f"{name:<28}" + "".join(f"{errors[label]:>11.2f}" for label in LEARNERS)
    print(f"{line}{behind:>+9.2f}{'' if ratio is None else f'{ratio:7.2f}'}", flush=True)
    best = min(PEERS, key=errors.__getitem__)
    figure(
        f'wrong on new rows, lead="auto", {name}',
        errors["lead auto"],
        errors[best],
        against=f"the better of SGD with hinge loss and LinearSVC, {best}",
        unit="%",
    )


def a9a(folder):
    """With 32-bit indices, which is what scikit-learn takes."""
    parts = []
    for name in ("a9a.gz", "a9a.t.gz"):
        X, y = load_svmlight_file(str(folder / "a9a" / name), n_features=123)
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        parts += [sparse.csr_matrix((X.data, indices, indptr), shape=X.shape), y]
    return parts


def sentences(seed, n, d, topics, length=80, noise=0.05):
    """The words of texts of about `length` words, rare words rare, each of one topic, the topics, a few of which are
    wrong, and how many texts are learned: two thirds."""
    random = np.random.default_rng(seed)
    usual = 1.0 / np.arange(1, d + 1)
    favours = np.exp(0.9 * random.normal(size=(topics, d)) * (random.random((topics, d)) < 0.15))
    chances = np.cumsum(usual * favours / (usual * favours).sum(axis=1, keepdims=True), axis=1)
    y, lengths = random.integers(0, topics, n), random.poisson(length, n) + 5
    words = [np.searchsorted(chances[topic], 0.999999 * random.random(k)) for topic, k in zip(y, lengths, strict=True)]
    return words, np.where(random.random(n) < noise, random.integers(0, topics, n), y), 2 * n // 3


def text(seed, n, d, topics):
    """Such texts by the weights of their words."""
    words, y, first = sentences(seed, n, d, topics)
    rows = np.repeat(np.arange(n), [len(row) for row in words])
    X = sparse.csr_matrix((np.ones(len(rows)), (rows, np.concatenate(words))), shape=(n, d))
    weigh = TfidfTransformer(sublinear_tf=True).fit(X[:first])
    return weigh.transform(X[:first]), y[:first], weigh.transform(X[first:]), y[first:]


if __name__ == "__main__":
    main()
