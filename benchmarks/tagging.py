"""Tagging with few and with many labels against CRFsuite's averaged perceptron: time, model files and memory.

    pip install ".[bench]"
    python benchmarks/tagging.py --data DIR

DIR has `conll2000/train.txt` and `test.txt`; without it, all corpora are generated. Every figure of a side comes from a
process of its own, which reads a file, learns, writes a model, loads it and tags: processor time, the size of the model
and the most memory that it had. Among 457 labels CRFsuite needs minutes, so fewer epochs are learned there, by both.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure, show_ratio

WORDS = ["w[-2]", "w[-1]", "w[0]", "w[1]", "w[2]", "w[-1]|w[0]", "w[0]|w[1]"]
TAGS = ["p[-2]", "p[-1]", "p[0]", "p[1]", "p[2]", "p[-2]|p[-1]", "p[-1]|p[0]", "p[0]|p[1]", "p[1]|p[2]"]
TAGS += ["p[-2]|p[-1]|p[0]", "p[-1]|p[0]|p[1]", "p[0]|p[1]|p[2]"]


class Corpus(NamedTuple):
    """What is generated: sentences of words with a coarse and a fine label, and how it is learned.

    `successors` is how many labels often follow a label, `senses` how many labels a word may have.
    """

    labels: int
    vocabulary: int
    sentences: int
    epochs: int
    seed: int
    successors: int = 12
    senses: int = 3
    with_crfsuite: bool = True


CORPORA = {
    "chunks, 22 labels": Corpus(22, 19_000, 8_900, 10, 1),
    "50 labels": Corpus(50, 30_000, 8_900, 10, 2),
    "457 labels": Corpus(457, 40_000, 8_900, 2, 3),
    "457 labels, many features": Corpus(457, 120_000, 40_000, 2, 4, with_crfsuite=False),
}
SMALL = {"chunks, 22 labels": Corpus(5, 40, 30, 2, 1), "457 labels": Corpus(40, 90, 30, 2, 3)}


def generate(corpus: Corpus, folder: Path) -> tuple[Path, Path]:
    """A file to learn and a file to tag: labels follow each other by chance, words are as frequent as Zipf has it."""
    rng = np.random.default_rng(corpus.seed)
    n = corpus.labels
    after = np.stack([rng.choice(n, size=min(corpus.successors, n), replace=False) for _ in range(n)])
    often = 1 / np.arange(1, n + 1)
    senses = rng.choice(n, size=(corpus.vocabulary, corpus.senses), p=often / often.sum())
    frequency = 1 / np.arange(1, corpus.vocabulary + 1)
    by_label = [np.flatnonzero((senses == label).any(axis=1)) for label in range(n)]
    by_label = [words if len(words) else np.array([label]) for label, words in enumerate(by_label)]
    shares = [np.cumsum(frequency[words]) / frequency[words].sum() for words in by_label]
    coarse = rng.integers(max(n // 10, 4), size=n)
    files = []
    for name, size in (("train", corpus.sentences), ("test", corpus.sentences // 4)):
        lines = []
        for length in rng.integers(12, 36, size=size):
            label = int(rng.integers(n))
            for a, b in rng.random((length, 2)):
                follows = after[label]
                label = int(follows[int(a * a * len(follows))]) if a < 0.9 else int(rng.choice(n))
                word = int(by_label[label][np.searchsorted(shares[label], b)])
                lines.append(f"w{word} p{coarse[senses[word, 0]]} {label}\n")
            lines.append("\n")
        files.append(folder / f"{name}.txt")
        files[-1].write_text("".join(lines))
    return files[0], files[1]


# -- one side, in a process of its own --------------------------------------------------------------------------------


def we_learn(train: str, test: str, model: str, epochs: int) -> dict:
    from novikoff.cli.files import load_model
    from novikoff.data.sentences import read_conll
    from novikoff.engine.jit import patience
    from novikoff.keep.models import save
    from novikoff.learn.chain.tagger import Tagger, learn_tagger

    with patience(0):  # imported, and kernels are loaded, before the clock runs
        learn_tagger([[{"w": "a", "p": "b"}]], [["c"]], templates=["w[0]", "p[0]"])
    times = [time.process_time()]
    sentences = read_conll(train, columns=("w", "p", "label"))
    times.append(time.process_time())
    tagger = learn_tagger(
        sentences, sentences.column("label"), templates=WORDS + TAGS, columns=("w", "p"), max_iter=epochs,
        random_state=0,
    )  # fmt: skip
    save(tagger, model)
    times.append(time.process_time())
    most = peak()
    tagger, new = load_model(model, Tagger), read_conll(test, columns=("w", "p", "label"))
    gold = new.column("label")
    tagger.label(new[:1])
    times.append(time.process_time())
    guessed = tagger.label(new)
    times.append(time.process_time())
    return told(times, gold, guessed, model, most) | {"features": tagger.weights.n_features}


def they_learn(train: str, test: str, model: str, epochs: int) -> dict:
    import pycrfsuite

    times = [time.process_time()]
    trainer = pycrfsuite.Trainer(algorithm="ap", params={"max_iterations": epochs}, verbose=False)
    for words, tags, labels in their_sentences(train):
        trainer.append(pycrfsuite.ItemSequence(their_features(words, tags)), labels)
    times.append(time.process_time())
    trainer.train(model)
    times.append(time.process_time())
    most = peak()
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    new = list(their_sentences(test))
    times.append(time.process_time())
    guessed = [tagger.tag(pycrfsuite.ItemSequence(their_features(words, tags))) for words, tags, _ in new]
    times.append(time.process_time())
    return told(times, [labels for *_, labels in new], guessed, model, most)


def their_sentences(path: str):
    with open(path) as file:
        for block in file.read().strip().split("\n\n"):
            yield tuple(zip(*(line.split() for line in block.split("\n")), strict=True))


def their_features(words, tags) -> list[list[str]]:
    """The same templates as a list of strings a token."""
    w, p = ["_B", "_B", *words, "_B", "_B"], ["_B", "_B", *tags, "_B", "_B"]
    return [
        [
            f"w-2={w[t - 2]}", f"w-1={w[t - 1]}", f"w0={w[t]}", f"w1={w[t + 1]}", f"w2={w[t + 2]}",
            f"w-1w0={w[t - 1]}|{w[t]}", f"w0w1={w[t]}|{w[t + 1]}",
            f"p-2={p[t - 2]}", f"p-1={p[t - 1]}", f"p0={p[t]}", f"p1={p[t + 1]}", f"p2={p[t + 2]}",
            f"p-2p-1={p[t - 2]}|{p[t - 1]}", f"p-1p0={p[t - 1]}|{p[t]}", f"p0p1={p[t]}|{p[t + 1]}",
            f"p1p2={p[t + 1]}|{p[t + 2]}", f"p-2p-1p0={p[t - 2]}|{p[t - 1]}|{p[t]}",
            f"p-1p0p1={p[t - 1]}|{p[t]}|{p[t + 1]}", f"p0p1p2={p[t]}|{p[t + 1]}|{p[t + 2]}",
        ]
        for t in range(2, len(words) + 2)
    ]  # fmt: skip


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def told(times: list[float], gold, guessed, model: str, most: float) -> dict:
    right = sum(a == b for truth, guess in zip(gold, guessed, strict=True) for a, b in zip(truth, guess, strict=True))
    n_tokens = sum(map(len, gold))
    reading, learning, _, tagging = (b - a for a, b in pairwise(times))
    return {
        "file to model": reading + learning, "tokens a second": n_tokens / tagging, "accuracy": right / n_tokens,
        "model file": os.path.getsize(model) / 1e6, "peak while learning": most, "peak in all": peak(),
    }  # fmt: skip


SIDES = {"we": we_learn, "they": they_learn}


# -- comparing --------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with conll2000")
    parser.add_argument("--only", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="tiny corpora, to see that it runs")
    parser.add_argument("--side", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side is not None:
        side, train, test, model, epochs = options.side
        print(json.dumps(SIDES[side](train, test, model, int(epochs))))
        return
    for name, corpus in (SMALL if options.smoke else CORPORA).items():
        if name not in options.only and not options.smoke:
            continue
        with tempfile.TemporaryDirectory() as folder:
            files = generate(corpus, Path(folder))
            if options.data is not None and name.startswith("chunks"):
                files = tuple(options.data / "conll2000" / f"{part}.txt" for part in ("train", "test"))
            compare(name, corpus, files, Path(folder), 1 if options.smoke else options.rounds)


def compare(name: str, corpus: Corpus, files: tuple[Path, Path], folder: Path, rounds: int) -> None:
    print(f"\n{name}, {corpus.epochs} epochs")
    in_process("we", files, folder, 1)  # compiled, or loaded, before anything is measured
    measured = {side: [] for side in SIDES if side == "we" or corpus.with_crfsuite}
    for _ in range(rounds):
        for side, figures in measured.items():
            figures.append(in_process(side, files, folder, corpus.epochs))
    best = {side: min(figures, key=lambda found: found["file to model"]) for side, figures in measured.items()}
    for side, found in best.items():
        print(f"  {side:<5}", ", ".join(f"{what} {value:,.3g}" for what, value in found.items()))
    if "they" not in best:
        return
    for what, unit, better in (
        ("file to model", "s of processor time", "less"),
        ("tokens a second", "tokens/s", "more"),
        ("model file", "MB", "less"),
        ("peak while learning", "MB", "less"),
    ):
        we, they = ([found[what] for found in measured[side]] for side in ("we", "they"))
        show_ratio(f"ours / theirs: {what}, {better} is better", we, they)
        against = "python-crfsuite's averaged perceptron"
        figure(f"{name}, {what}", we, they, against=against, unit=unit, better=better)


def in_process(side: str, files: tuple[Path, Path], folder: Path, epochs: int) -> dict:
    command = [sys.executable, __file__, "--side", side, *map(str, files), str(folder / f"{side}.model"), str(epochs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
