"""One small model of every learner, how it predicts, and how it goes on; and all that a model remembers, to compare."""

import dataclasses
import random
from operator import itemgetter

import numpy as np
from scipy import sparse

import novikoff
from novikoff.engine.rows import Rows
from novikoff.learn.kernel.memory import KernelMistakes
from novikoff.learn.linear.memory import LinearMemory, Mixed
from novikoff.learn.linear.vote import Ballot

FORMS = {"dense": np.asarray, "csr": sparse.csr_array, "float32": lambda X: X.astype(np.float32)}
LABELS = {
    "words": np.array(["north", "south", "östlich"]),
    "whole": np.array([-3, 7, 2**40]),
    "floats": np.array([-1.0, 0.0, 1.0]),
    "bytes": np.array([1, 2, 3], dtype=np.int8),
    "objects": np.array(["a", "bc", "d"], dtype=object),
}


def points(seed, n=24, d=3, n_classes=2, labels="words", form="dense"):
    """Small numbers, labelled by chance, so that there are mistakes; all classes occur."""
    generator = np.random.default_rng(seed)
    X = generator.integers(-4, 5, (n, d)) / generator.choice([1.0, 3.0])
    X[generator.random((n, d)) < 0.3] = 0.0
    y = LABELS[labels][np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, n - n_classes)])]
    return FORMS[form](X), y


def examples(seed, n=20, n_classes=3):
    generator = random.Random(seed)
    names = ["height", ("at", 3), 7, None, b"raw", True]
    rows = [
        {name: generator.choice([0, 1, 0.25, -2.5]) for name in names if generator.random() < 0.7}
        | ({"colour": generator.choice(["red", "blue"])} if generator.random() < 0.5 else {})
        for _ in range(n)
    ]
    labels = [("tagged", 1), "word", 12][:n_classes]
    return rows, [*labels, *generator.choices(labels, k=n - n_classes)]


def words(seed, n=8):
    generator = random.Random(seed)
    vocabulary = ["the", "cat", "Sat", "on", "mat.", "ünder", "U.S."]
    sentences = [[{"w": generator.choice(vocabulary)} for _ in range(generator.randrange(1, 6))] for _ in range(n)]
    return sentences, [[generator.choice(["B-X", "I-X", "O"]) for _ in sentence] for sentence in sentences]


def pair_features(x, y):
    return {("first", y[0]): 1, ("second", y[1]): 1, ("both", *y): 0.5}


def best_pair(weights, x, gold=None):
    def costly(y):
        return weights.score(pair_features(x, y)) + (0 if gold is None else different(gold, y))

    return max([x, x[::-1]], key=costly)


def different(gold, guess):
    return sum(a != b for a, b in zip(gold, guess, strict=True))


def pairs(seed, n=15):
    generator = random.Random(seed)
    xs = [tuple(generator.sample(["cat", "dog", "bone", "stick"], 2)) for _ in range(n)]
    return xs, [generator.choice([x, x[::-1]]) for x in xs]


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


def perceptron(**options):
    return novikoff.Perceptron(random_state=0, **options).fit(*points(1, n_classes=3))


def mixed(model):
    """The same model as if its weights had been mixed from two shards."""
    held = model.model_
    memory = dataclasses.replace(held.memory, mixed=Mixed(held.memory.mistakes / 2, 1e-12))
    run = dataclasses.replace(
        held.run,
        mixed_mistakes=memory.counted,
        shards=2,
        margin_at_most=memory.margin_at_most,
        order=None,
        mistaken_rows=None,
        errors_elsewhere=None,
    )
    model.model_ = dataclasses.replace(held, memory=memory, run=run)
    return model


def one_of_each():
    """A model of each learner by name, with inputs to predict; none needs a function."""
    X, y = points(1, n_classes=3)
    rows, labels = examples(1)
    online = novikoff.OnlinePerceptron()
    scaled = novikoff.OnlinePerceptron(scale=True)
    for learner in (online, scaled):
        learner.learn_many(rows, labels)
    sentences, tags = words(1)
    tagger = novikoff.SequencePerceptron(templates=["w[0]", "w[-1]|w[0]", "shape(w[0])|suffix1(w[1])"], random_state=0)
    return {
        "perceptron": (novikoff.Perceptron(random_state=0).fit(X, y), X),
        "mixed": (mixed(novikoff.Perceptron(random_state=0).fit(X, y)), X),
        "vote": (novikoff.Perceptron(random_state=0, readout="vote").fit(sparse.csr_array(X), y), X),
        "kernel": (novikoff.KernelPerceptron(random_state=0).fit(X, y), X),
        "online": (online, rows),
        "scaled": (scaled, rows),
        "sequence": (tagger.fit(sentences, tags), sentences),
        "tagger": (novikoff.SequencePerceptron(templates=["w[0]"]).partial_fit(sentences, tags), sentences),
        "paraboloid": (novikoff.Paraboloid().fit(X), X),
    }


def predictions(model, inputs):
    """What a model says about inputs, in what JSON knows, down to the last bit."""
    if isinstance(model, novikoff.OnlinePerceptron):
        return [[str(model.predict_one(x)), str(model.decision_one(x))] for x in inputs]
    if isinstance(model, novikoff.Paraboloid):
        return model.transform(inputs).tolist()
    if isinstance(model, novikoff.SequencePerceptron):
        return [[scored.labels, scored.score] for scored in model.predict_with_scores(inputs)]
    if isinstance(model, novikoff.StructuredPerceptron):
        return [list(guess) for guess in model.predict(inputs)]
    return [model.predict(inputs).tolist(), model.decision_function(inputs).tolist()]


def memory_of(value):
    """All that a model remembers, in plain values: what was kept in parts is joined, and what can be made anew is not
    looked at."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype == object else (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, Rows):
        return memory_of(value.matrix)
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, LinearMemory) and value.ballots:
        value = dataclasses.replace(value, ballots=[Ballot.joined(value.ballots)])
    elif getattr(value, "kept", None):
        value = dataclasses.replace(value, kept=[KernelMistakes.joined(value.kept)])
    if hasattr(value, "to_model"):
        return [memory_of(value.to_model()), type(value).__name__]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: memory_of(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return [(name, memory_of(part)) for name, part in value.items()]
    if isinstance(value, list | tuple):
        return [memory_of(part) for part in value]
    if type(value).__module__.startswith("novikoff") and hasattr(value, "__dict__"):
        made_anew = ("_row", "_names")
        return {name: memory_of(part) for name, part in vars(value).items() if name not in made_anew}
    return None if isinstance(value, itemgetter) else value
