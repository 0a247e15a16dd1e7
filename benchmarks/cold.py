"""The first call on a machine, and the second: processor time, imports included, of a process each.

A first call finds no compiled kernel (`NUMBA_CACHE_DIR` is an empty folder), a second one those of the first. The peer
is the first call of scikit-learn's Perceptron on the same rows.

    python benchmarks/cold.py
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure

PEER = "scikit-learn's Perceptron, "
CARS = Path(__file__).parents[1] / "examples" / "cars.csv"

ROWS = """
import numpy as np
generator = np.random.default_rng(0)
X = generator.standard_normal((208, 60))
scores = X @ generator.standard_normal((60, 3))
y, three = np.where(scores[:, 0] > 0, 1, -1), scores.argmax(axis=1)
"""
COMMAND = "from novikoff.cli import main; import sys; sys.argv = ['novikoff', *{}]; main()"
TAGGED = """
words = [[{"word": word, "end": word[-1]} for word in "the dog saw a cat".split()] for _ in range(20)]
from novikoff import SequencePerceptron
SequencePerceptron().fit(words, [list("DNVDN")] * 20).predict(words)
"""
LARGE = """
import numpy as np
generator = np.random.default_rng(0)
X = generator.standard_normal((20_000, 100))
y = np.where(X @ generator.standard_normal(100) > 0, 1, -1)
"""


class Call(NamedTuple):
    """What is called."""

    what: str
    code: str


def calls(folder: str) -> list[Call]:
    fit = ["fit", str(CARS), "--label", "sport_car", "--force", "--model", f"{folder}/cars.novikoff", "--quiet"]
    peer = "from sklearn.linear_model import Perceptron; Perceptron().fit(X, y).predict(X)"
    ours = "from novikoff import Perceptron; Perceptron().fit(X, {0}).predict(X)"
    return [
        Call("novikoff fit cars.csv", COMMAND.format(fit)),
        Call("novikoff fit cars.csv --no-certify", COMMAND.format([*fit, "--no-certify"])),
        Call("certify, 208 x 60", f"{ROWS}import novikoff; novikoff.certify(X, y)"),
        Call("certify, three classes, 208 x 60", f"{ROWS}import novikoff; novikoff.certify(X, three)"),
        Call("separating_ball, 208 x 2", f"{ROWS}import novikoff; novikoff.separating_ball(X[:, :2], y)"),
        Call("solve_inequalities, 208 x 60", f"{ROWS}import novikoff; novikoff.solve_inequalities(X * y[:, None])"),
        Call("three classes, 208 x 60", ROWS + ours.format("three")),
        Call("kernel, 208 x 60", f"{ROWS}from novikoff import KernelPerceptron; KernelPerceptron().fit(X, y)"),
        Call("tagger, 20 sentences", TAGGED),
        Call("two classes, 20,000 x 100 (compiled)", LARGE + ours.format("y")),
        Call("certify, 20,000 x 100 (compiled)", f"{LARGE}import novikoff; novikoff.certify(X, y)"),
        Call(f"{PEER}208 x 60", ROWS + peer),
        Call(f"{PEER}20,000 x 100", LARGE + peer),
    ]


def processor_time(code: str, cache: str) -> float:
    """Seconds that a process of its own spends on some code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "NUMBA_CACHE_DIR": cache}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often to measure; the least time counts")
    parser.add_argument("--smoke", action="store_true", help="once, and only two of the calls")
    asked = parser.parse_args()
    repetitions = 1 if asked.smoke else asked.rounds
    print(f"{'seconds of processor time':<44} {'first':>7} {'second':>7}")
    with tempfile.TemporaryDirectory() as folder:
        peers = {}
        for call in reversed(calls(folder)):
            if asked.smoke and not call.what.endswith(("cars.csv", "sentences")):
                continue
            rounds = []
            for _ in range(repetitions):
                with tempfile.TemporaryDirectory() as cache:
                    rounds.append([processor_time(call.code, cache) for _ in range(2)])
            first, second = map(min, zip(*rounds, strict=True))
            print(f"{call.what:<44} {first:7.2f} {second:7.2f}", flush=True)
            if call.what.startswith(PEER):
                peers[call.what.removeprefix(PEER)] = first
            else:
                size = "20,000 x 100" if "20,000" in call.what else "208 x 60"
                figure(
                    f"first call on a machine: {call.what}",
                    first,
                    peers.get(size),
                    against=f"{PEER}{size}",
                    unit="s of processor time",
                )


if __name__ == "__main__":
    main()
