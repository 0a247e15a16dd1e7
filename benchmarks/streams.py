"""Which weights should predict on a stream: the last, their average, or whichever does better?

    python benchmarks/streams.py [--data DIR] [--smoke]

Wrong predictions in percent, each made before its label was learned; less is better. `--data` is a folder with
`covtype.csv`, the forest cover types with a header and the class in the last column; its first 100,000 rows are taken
in the order of the file, in which the forest changes, and shuffled. Without it there is a plane that turns, and one
that stays and is noisy.
"""

import argparse
import csv
import itertools
import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from timing import figure

from novikoff import OnlinePerceptron, predict_reveal_learn

READOUTS = ("last", "average", "auto")
ROWS = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args()
    rows = 500 if arguments.smoke else ROWS
    if arguments.data is None or not (arguments.data / "covtype.csv").exists():
        show("a plane that turns, 5 columns", [*planes(rows, turns=True)])
        show("a plane that stays, a tenth of the labels wrong", [*planes(rows, turns=False)])
        return
    covers = [*forests(arguments.data / "covtype.csv", rows)]
    two = [(x, y == "2") for x, y in covers]
    for name, examples in (("two classes", two), ("seven classes", covers)):
        show(f"forest cover, {name}, in file order", examples)
        show(f"forest cover, {name}, shuffled", random.Random(0).sample(examples, len(examples)))


def show(name, examples):
    print(f"{name}, {len(examples):,} examples")
    wrong = {}
    for readout in READOUTS:
        model = OnlinePerceptron(readout=readout, scale=True)
        *_, end = predict_reveal_learn(model, examples)
        wrong[readout] = 100 * end.mistakes / len(examples)
        print(f"  {readout:<8} {wrong[readout]:6.2f} % wrong")
    best = min(("last", "average"), key=wrong.__getitem__)
    figure(
        f"stream, {name}: wrong with the default read-out",
        wrong["auto"],
        wrong[best],
        against=f"the better of last and average, {best}",
        unit="%",
    )


def planes(rows, turns):
    draw = random.Random(1)
    for number in range(rows):
        x = {f"f{i}": draw.gauss(0, 1) for i in range(5)}
        angle = number / 400 if turns else 1.0
        y = math.cos(angle) * x["f0"] + math.sin(angle) * x["f1"] > 0
        yield x, y if turns or draw.random() > 0.1 else not y


def forests(path, rows):
    with path.open() as file:
        *names, _ = next(lines := csv.reader(file))
        for *values, label in itertools.islice(lines, rows):
            yield dict(zip(names, map(float, values), strict=True)), label


if __name__ == "__main__":
    main()
