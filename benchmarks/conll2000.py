"""Chunking CoNLL-2000 against CRFsuite's averaged perceptron, in one run, from files to a scored test set.

    pip install ".[bench]"
    python benchmarks/conll2000.py --data DIR

DIR has `conll2000/train.txt` and `test.txt` (word, part of speech, chunk tag) and `ocr_letters/letters.npz`. Both sides
use the same 19 templates. python-crfsuite's features are written by a Python function, as its users write them. With
`--only dicts`, both sides get the same Python objects, dictionaries as in the tutorial of sklearn-crfsuite.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure, interleaved, show_ratio

from novikoff import Perceptron, SequencePerceptron, read_conll, score_chunks, write_conll
from novikoff.crfsuite import CRF
from novikoff.data.sentences import Sentences
from novikoff.features.templates import TemplateIndex
from novikoff.features.tokens import as_columns, number_labels
from novikoff.learn.chain.space import sequence_perceptron

COLUMNS = ("w", "p", "chunk")
EPOCHS = 10

WORDS = ["w[-2]", "w[-1]", "w[0]", "w[1]", "w[2]", "w[-1]|w[0]", "w[0]|w[1]"]
TAGS = ["p[-2]", "p[-1]", "p[0]", "p[1]", "p[2]"]
TAG_NGRAMS = ["p[-2]|p[-1]", "p[-1]|p[0]", "p[0]|p[1]", "p[1]|p[2]"]
TAG_NGRAMS += ["p[-2]|p[-1]|p[0]", "p[-1]|p[0]|p[1]", "p[0]|p[1]|p[2]"]
NINETEEN = WORDS + TAGS + TAG_NGRAMS

AFFIXES = ["prefix2(w[0])", "prefix3(w[0])", "suffix2(w[0])", "suffix3(w[0])"]
MIXED = ["w[0]|p[0]", "w[-1]|p[0]", "w[1]|p[0]", "w[0]|p[-1]", "w[0]|p[1]", "w[-1]|p[-1]", "w[1]|p[1]"]
MIXED += ["w[0]|p[-1]|p[0]", "w[0]|p[0]|p[1]", "w[-1]|p[0]|p[1]", "p[-1]|p[0]|w[1]"]
OWN = NINETEEN + AFFIXES + MIXED
OWN_COST = 10.0

# What was compared on a held-out tenth of the training file (--only choose); the test file had no say.
CANDIDATES = {
    "the 19": (NINETEEN, 0.0),
    "the 19, cost 10": (NINETEEN, 10.0),
    "with affixes": (NINETEEN + AFFIXES, 0.0),
    "with words beside tags": (NINETEEN + MIXED, 0.0),
    "with both": (OWN, 0.0),
    "with both, cost 10": (OWN, OWN_COST),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with conll2000 and ocr_letters")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=["quality", "speed", "dicts", "letters"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="a tiny made-up corpus, to see that it runs")
    options = parser.parse_args()
    if options.data is None and not options.smoke:
        parser.error("--data DIR is needed: the folder that has conll2000 and ocr_letters (or --smoke)")
    with tempfile.TemporaryDirectory() as folder:
        if options.smoke:
            options.data, options.rounds = Path(folder), 1
            make_up(options.data)
        for part in options.only:
            print(f"\n{PARTS[part].__doc__.splitlines()[0]}")
            PARTS[part](options.data, options.rounds)


# -- both sides -------------------------------------------------------------------------------------------------------


def our_features(path: Path) -> tuple:
    sentences = read_conll(path, columns=COLUMNS)
    index, tokens = TemplateIndex.learn(NINETEEN, as_columns(sentences, (), ("w", "p")))
    return index, tokens, *number_labels(sentences.column("chunk"), sentences.starts)


def we_train(path: Path, seconds: dict[str, list[float]]) -> SequencePerceptron:
    start = time.perf_counter()
    sentences = read_conll(path, columns=COLUMNS)
    model = SequencePerceptron(templates=NINETEEN, max_iter=EPOCHS, random_state=0)
    model.fit(sentences, sentences.column("chunk"))
    seconds["we, file to model"].append(time.perf_counter() - start)
    _, tokens, labels, names = our_features(path)
    start = time.perf_counter()
    sequence_perceptron(tokens, labels, len(names), max_iter=EPOCHS, random_state=0)
    seconds["we, training alone"].append(time.perf_counter() - start)
    return model


def their_features(words: list[str], tags: list[str]) -> list[list[str]]:
    """The 19 templates as a list of strings a token: as users of python-crfsuite write it, without waste."""
    outside = "_B"
    w = [outside, outside, *words, outside, outside]
    p = [outside, outside, *tags, outside, outside]
    return [
        [
            f"w-2={w[t - 2]}",
            f"w-1={w[t - 1]}",
            f"w0={w[t]}",
            f"w1={w[t + 1]}",
            f"w2={w[t + 2]}",
            f"w-1w0={w[t - 1]}|{w[t]}",
            f"w0w1={w[t]}|{w[t + 1]}",
            f"p-2={p[t - 2]}",
            f"p-1={p[t - 1]}",
            f"p0={p[t]}",
            f"p1={p[t + 1]}",
            f"p2={p[t + 2]}",
            f"p-2p-1={p[t - 2]}|{p[t - 1]}",
            f"p-1p0={p[t - 1]}|{p[t]}",
            f"p0p1={p[t]}|{p[t + 1]}",
            f"p1p2={p[t + 1]}|{p[t + 2]}",
            f"p-2p-1p0={p[t - 2]}|{p[t - 1]}|{p[t]}",
            f"p-1p0p1={p[t - 1]}|{p[t]}|{p[t + 1]}",
            f"p0p1p2={p[t]}|{p[t + 1]}|{p[t + 2]}",
        ]
        for t in range(2, len(words) + 2)
    ]


def they_train(path: Path, model: Path, seconds: dict[str, list[float]]) -> None:
    import pycrfsuite

    start = time.perf_counter()
    trainer = pycrfsuite.Trainer(algorithm="ap", params={"max_iterations": EPOCHS}, verbose=False)
    for sentence in read_conll(path, columns=COLUMNS):
        trainer.append(pycrfsuite.ItemSequence(their_features(sentence["w"], sentence["p"])), sentence["chunk"])
    training = time.perf_counter()
    trainer.train(str(model))
    end = time.perf_counter()
    seconds["they, file to model"].append(end - start)
    seconds["they, training alone"].append(end - training)


def they_tag(tagger, sentences: Sentences) -> list[list[str]]:
    import pycrfsuite

    return [tagger.tag(pycrfsuite.ItemSequence(their_features(sentence["w"], sentence["p"]))) for sentence in sentences]


# -- parts ------------------------------------------------------------------------------------------------------------


def quality(data: Path, rounds: int) -> None:
    """F1 on the test file, mean of three seeds"""
    train, test = (read_conll(data / "conll2000" / f"{name}.txt", columns=COLUMNS) for name in ("train", "test"))
    for what, templates, cost in (
        ("the 19 templates", NINETEEN, 0.0),
        (f"{len(OWN)} templates, cost {OWN_COST:g}", OWN, OWN_COST),
    ):
        scores = []
        for seed in range(3):
            model = SequencePerceptron(templates=templates, cost=cost, max_iter=EPOCHS, random_state=seed)
            model.fit(train, train.column("chunk"))
            scores.append(score_chunks(test.column("chunk"), model.predict(test)))
        f1 = [100 * score.f1 for score in scores]
        accuracy = 100 * statistics.mean(score.accuracy for score in scores)
        spread = f"[{min(f1):.2f} .. {max(f1):.2f}]"
        print(f"  {what:<40} F1 {statistics.mean(f1):.2f} {spread}, accuracy {accuracy:.2f}")


def speed(data: Path, rounds: int) -> None:
    """Time against python-crfsuite's averaged perceptron, the same templates and epochs on both sides"""
    import pycrfsuite

    train, test = (data / "conll2000" / f"{name}.txt" for name in ("train", "test"))
    names = ("file to model", "training alone", "tagging")
    seconds: dict[str, list[float]] = {f"{side}, {name}": [] for side in ("we", "they") for name in names}
    quality: dict[str, list[float]] = {"we": [], "they": []}
    sentences = read_conll(test, columns=COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crfsuite.model"
        we_train(train, {name: [] for name in seconds})  # compiled, or loaded, before the clock runs
        for _ in range(rounds):
            model = we_train(train, seconds)
            they_train(train, path, seconds)
            tagger = pycrfsuite.Tagger()
            tagger.open(str(path))
            for side, tag in (("we", model.predict), ("they", lambda given, tagger=tagger: they_tag(tagger, given))):
                start = time.perf_counter()
                tags = tag(sentences)
                seconds[f"{side}, tagging"].append(time.perf_counter() - start)
                f1 = 100 * score_chunks(sentences.column("chunk"), tags).f1
                quality[side].append(f1)
                print(f"  {side}: F1 {f1:.2f}, {sentences.n_tokens / seconds[f'{side}, tagging'][-1]:,.0f} tokens/s")
    for name in names:
        ours, theirs = seconds[f"we, {name}"], seconds[f"they, {name}"]
        print(f"  {name}: we {statistics.median(ours):.2f} s, they {statistics.median(theirs):.2f} s")
        show_ratio(f"python-crfsuite / ours: {name}", theirs, ours)
        figure(
            f"chunking CoNLL-2000, {name}",
            ours,
            theirs,
            against="python-crfsuite's averaged perceptron",
        )
    figure(
        "chunking CoNLL-2000, F1 on the test file",
        quality["we"],
        quality["they"],
        against="python-crfsuite's averaged perceptron",
        unit="%",
        better="more",
    )


def tutorial_features(words: list[str], tags: list[str]) -> list[dict]:
    """The features that the tutorial of sklearn-crfsuite makes of a sentence."""

    def own(place: int, prefix: str) -> dict:
        word, tag = words[place], tags[place]
        features = {"word.lower()": word.lower(), "word.istitle()": word.istitle(), "word.isupper()": word.isupper()}
        features |= {"postag": tag, "postag[:2]": tag[:2]}
        return {f"{prefix}{name}": value for name, value in features.items()}

    sentence = []
    for place, word in enumerate(words):
        features = {"bias": 1.0, "word[-3:]": word[-3:], "word[-2:]": word[-2:], "word.isdigit()": word.isdigit()}
        features |= own(place, "")
        features |= own(place - 1, "-1:") if place else {"BOS": True}
        features |= own(place + 1, "+1:") if place + 1 < len(words) else {"EOS": True}
        sentence.append(features)
    return sentence


def dicts(data: Path, rounds: int) -> None:
    """Processor time from the same dictionaries, as the tutorial makes them, against python-crfsuite's `ap`"""
    import pycrfsuite

    train, test = (read_conll(data / "conll2000" / f"{name}.txt", columns=COLUMNS) for name in ("train", "test"))
    given, new = ([tutorial_features(s["w"], s["p"]) for s in part] for part in (train, test))
    gold = train.column("chunk")
    crf = CRF(algorithm="ap", max_iterations=EPOCHS)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "crfsuite.model")

        def they_fit() -> None:
            trainer = pycrfsuite.Trainer(algorithm="ap", params={"max_iterations": EPOCHS}, verbose=False)
            for tokens, labels in zip(given, gold, strict=True):
                trainer.append(tokens, labels)
            trainer.train(path)

        def they_predict() -> list:
            tagger = pycrfsuite.Tagger()
            tagger.open(path)
            return [tagger.tag(tokens) for tokens in new]

        tasks = {"we, fit": lambda: crf.fit(given, gold), "they, fit": they_fit}
        tasks |= {"we, predict": lambda: crf.predict(new), "they, predict": they_predict}
        seconds = interleaved(tasks, rounds, time.process_time)
        for side, tags in (("we", crf.predict(new)), ("they", they_predict())):
            print(f"  {side}: F1 {100 * score_chunks(test.column('chunk'), tags).f1:.2f}")
    for name in ("fit", "predict"):
        ours, theirs = seconds[f"we, {name}"], seconds[f"they, {name}"]
        show_ratio(f"python-crfsuite / ours: dictionaries, {name}", theirs, ours)
        against = "python-crfsuite's averaged perceptron"
        figure(f"features as dictionaries, {name}", ours, theirs, against=against)


def choose(data: Path, rounds: int) -> None:
    """F1 on a held-out tenth of the training file, mean of two parts: how templates and cost were chosen"""
    whole = read_conll(data / "conll2000" / "train.txt", columns=COLUMNS)
    for what, (templates, cost) in CANDIDATES.items():
        f1 = []
        for part in range(2):
            order = np.random.default_rng(part).permutation(len(whole))
            tenth = len(whole) // 10
            held, learn = (some(whole, sorted(rows)) for rows in (order[:tenth], order[tenth:]))
            model = SequencePerceptron(templates=templates, cost=cost, max_iter=EPOCHS, random_state=part)
            model.fit(learn, learn.column("chunk"))
            f1.append(100 * score_chunks(held.column("chunk"), model.predict(held)).f1)
        print(f"  {what:<40} F1 {statistics.mean(f1):.2f}")


def some(sentences: Sentences, rows: list[int]) -> Sentences:
    return Sentences.from_lists({name: [sentences[row][name] for row in rows] for name in sentences.columns})


def letters(data: Path, rounds: int) -> None:
    """Handwritten words: wrong letters, by a chain and letter by letter"""
    file = np.load(data / "ocr_letters" / "letters.npz")
    pixels = np.unpackbits(file["X"], axis=1).astype(np.float32)
    ends = np.cumsum(file["lengths"])
    fold = file["folds"]
    words, tags = np.split(pixels, ends[:-1]), np.split(file["y"], ends[:-1])
    for what, chosen in (("one fold to learn, nine to test", fold == 0), ("nine to learn, one to test", fold != 0)):
        learn, test = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        X, y = [words[row] for row in learn], [tags[row].tolist() for row in learn]
        chain = SequencePerceptron(random_state=0).fit(X, y)
        alone = Perceptron(random_state=0).fit(np.concatenate(X), np.concatenate(y))
        truth, images = np.concatenate([tags[row] for row in test]), [words[row] for row in test]
        by_chain = np.mean(np.concatenate(chain.predict(images)) != truth)
        one_by_one = np.mean(alone.predict(np.concatenate(images)) != truth)
        print(f"  {what}: chain {by_chain:.1%}, letter by letter {one_by_one:.1%}")


PARTS = {"quality": quality, "speed": speed, "dicts": dicts, "choose": choose, "letters": letters}


def make_up(folder: Path) -> None:
    """A tiny corpus and a few words in the same layout."""
    rng = np.random.default_rng(0)
    (folder / "conll2000").mkdir()
    for name, size in (("train", 60), ("test", 20)):
        tags = [list(rng.choice(["B-NP", "I-NP", "O"], size=7)) for _ in range(size)]
        words = [[f"{tag}{rng.integers(5)}" for tag in sentence] for sentence in tags]
        sentences = Sentences.from_lists({"w": words, "p": words, "chunk": tags})
        write_conll(folder / "conll2000" / f"{name}.txt", sentences)
    (folder / "ocr_letters").mkdir()
    images = rng.integers(0, 256, size=(80, 16), dtype=np.uint8)
    lengths, folds = np.full(20, 4), np.arange(20) % 2
    np.savez(folder / "ocr_letters" / "letters.npz", X=images, y=rng.integers(3, size=80), lengths=lengths, folds=folds)


if __name__ == "__main__":
    main()
