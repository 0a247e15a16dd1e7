"""Write the golden files: `python -m tests.keep.make_golden`. Once released, a format's files are never written again.

Beside each model, a JSON file has inputs, and what the model predicted for them when it was saved.
"""

import json
from pathlib import Path

import novikoff
from novikoff.keep.models import read_header, save
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
        draft = FOLDER / "draft"
        save(model, draft)
        path = FOLDER / f"{name}-{read_header(draft)['format']}.novikoff"
        if path.exists():  # a golden file is not to be changed
            draft.unlink()
            continue
        draft.rename(path)
        golden = {"inputs": encode(inputs), "predictions": samples.predictions(model, inputs)}
        path.with_suffix(".json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
