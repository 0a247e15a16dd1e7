"""Write the golden files: `python -m tests.keep.make_golden`. Once released, they are never written again.

Beside each model, a JSON file has inputs, and what the model predicted for them when it was saved.
"""

import json
from pathlib import Path

import novikoff
from novikoff.keep.models import save
from novikoff.keep.values import encode
from tests.keep import samples

FOLDER = Path(__file__).parent / "golden"


def models():
    structured = novikoff.StructuredPerceptron(samples.pair_features, samples.best_pair, random_state=0)
    xs, ys = samples.pairs(1)
    return {**samples.one_of_each(), "structured": (structured.fit(xs, ys), xs)}


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, (model, inputs) in models().items():
        path = FOLDER / f"{name}.novikoff"
        if path.exists():  # a golden file is not to be changed
            continue
        save(model, path)
        golden = {"inputs": encode(inputs), "predictions": samples.predictions(model, inputs)}
        path.with_suffix(".json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
