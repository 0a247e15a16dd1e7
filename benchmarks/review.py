"""Which share of the predictions needs no person, at an error of at most 1 %, 2 %, 5 % and 10 %, with 95 % confidence.

    python benchmarks/review.py --data DIR     # DIR/a9a/a9a.gz and a9a.t.gz, DIR/conll2000/train.txt and test.txt

The weights are learned from the training set. Half of the test set, drawn from a seed, proves the thresholds; the other
half shows what they are worth: the share accepted there, and the error among these. Of CoNLL-2000 a whole sentence is
accepted or not, and wrong if one of its labels is."""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from novikoff import Perceptron, SequencePerceptron, read_conll

ERRORS = (0.01, 0.02, 0.05, 0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the real data")
    parser.add_argument("--smoke", action="store_true", help="a tiny run, to see that it works")
    arguments = parser.parse_args()
    if arguments.smoke or arguments.data is None:
        X = np.random.default_rng(0).normal(size=(3000, 2))
        y = np.where(X[:, 0] > 0, "right", "left")
        show("made up", Perceptron(random_state=0), (X[:1000], y[:1000]), (X[1000:], y[1000:]))
        return
    folder = arguments.data / "a9a"
    train, test = (load_svmlight_file(str(folder / name), n_features=123) for name in ("a9a.gz", "a9a.t.gz"))
    show("a9a", Perceptron(random_state=0), train, test)
    files = [
        read_conll(arguments.data / "conll2000" / f"{part}.txt", ("w", "p", "chunk")) for part in ("train", "test")
    ]
    train, test = ((sentences, sentences.column("chunk")) for sentences in files)
    show("CoNLL-2000, sentences", SequencePerceptron(columns=("w", "p"), random_state=0), train, test)


def show(name, model, train, test):
    """The shares of one data set, a line an error."""
    model.fit(*train)
    order = np.random.default_rng(0).permutation(len(test[1]))
    (X, y), (X_new, y_new) = (some(test, np.sort(half)) for half in np.array_split(order, 2))
    wrong = np.array([a != b for a, b in zip(model.predict(X_new), y_new, strict=True)])
    print(f"{name}: {len(y):,} held out, {len(y_new):,} new with {wrong.mean():.1%} wrong")
    for error in ERRORS:
        review = model.review(train[0], X, y, error=error)
        accepted = ~model.to_review(X_new)
        held, new = review.n_accepted / review.n_rows, accepted.mean()
        among = f"{wrong[accepted].mean():.2%} of these wrong" if accepted.any() else "all go to review"
        print(f"  at most {error:.0%} wrong: {held:6.1%} of the held-out accepted, {new:6.1%} of the new; {among}")


def some(data, numbers):
    """Some of the examples with their labels."""
    X, y = data
    if hasattr(X, "some"):
        return X.some(numbers.tolist()), [y[number] for number in numbers.tolist()]
    return X[numbers], y[numbers]


if __name__ == "__main__":
    main()
