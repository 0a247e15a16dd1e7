"""Label sequences by brute force: every path is scored, in plain Python."""

import math
from collections import defaultdict
from itertools import product

from hypothesis import strategies as st

OUTSIDE = "outside"
SMALL = st.integers(-2, 2).map(float)


def joint_features(tokens, path):
    """How often each (column, label) and each (label, next label) occurs; tokens are lists of numbers."""
    features = defaultdict(float)
    for token, label in zip(tokens, path, strict=True):
        for column, value in enumerate(token):
            features["emission", column, label] += value
    for before, after in zip([OUTSIDE, *path], [*path, OUTSIDE], strict=True):
        features["link", before, after] += 1.0
    return features


def score(weights, features):
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def ranked_paths(weights, tokens, n_labels, legal=lambda before, after: True):
    """Every legal path with its score, best first; of equals, the one whose labels, read from the end, come first."""
    scored = []
    for path in product(range(n_labels), repeat=len(tokens)):
        pairs = zip([OUTSIDE, *path], [*path, OUTSIDE], strict=True)
        if all(legal(before, after) for before, after in pairs):
            scored.append((score(weights, joint_features(tokens, path)), path))
    return sorted(scored, key=lambda pair: (-pair[0], pair[1][::-1]))


def structured_perceptron(sequences, n_labels, epochs, cost=0.0):
    """Collins's loop: after each sequence whether it was mistaken, the weights, and the length of the difference."""
    weights = {}
    for _ in range(epochs):
        for tokens, gold in sequences:
            ranked = ranked_paths(weights, tokens, n_labels)
            costly = [(s + cost * sum(a != b for a, b in zip(p, gold, strict=True)), p) for s, p in ranked]
            best = max(costly, key=lambda pair: (pair[0], tuple(-label for label in pair[1][::-1])))[1]
            length = 0.0
            if best != tuple(gold):
                right, wrong = joint_features(tokens, gold), joint_features(tokens, best)
                difference = {name: right[name] - wrong[name] for name in {*right, *wrong}}
                length = math.sqrt(sum(value**2 for value in difference.values()))
                weights = {name: weights.get(name, 0.0) + difference.get(name, 0.0) for name in {*weights, *difference}}
            yield best != tuple(gold), weights, length


@st.composite
def labelled_sequences(draw, values=SMALL):
    """A few short sequences of tokens with labels 0, 1, ...; at least one token."""
    labels, width = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    token = st.lists(values, min_size=width, max_size=width)
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any))
    sequences = []
    for length in lengths:
        tokens = draw(st.lists(token, min_size=length, max_size=length))
        gold = draw(st.lists(st.integers(0, labels - 1), min_size=length, max_size=length))
        sequences.append((tokens, gold))
    return sequences, labels
