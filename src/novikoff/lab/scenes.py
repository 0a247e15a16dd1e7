"""The initial data of the pages: the scenes with their points and rules, the limits, and words for the letters.

Constants are in known.json. All coordinates there are eighths, which are exact in binary, so the integers of a proof
stay small.
"""

from typing import Any

import numpy as np

from novikoff.lab.shattering import FAMILIES
from novikoff.lab.shattering import FEWEST as FEWEST_CORNERS
from novikoff.lab.shattering import MOST as MOST_CORNERS
from novikoff.lab.shattering import NAMES as CORNERS
from novikoff.lab.state import KNOWN, MOST_POINTS, MOST_STEPS, RULES, checked
from novikoff.options import Number, Whole
from novikoff.say.runs import READOUT_WORDS

SAMPLE = {"count": Whole.between(4, MOST_POINTS), "noise": Number.between(0, 0.5), "seed": RULES["seed"]}
# The line a x + b y = c, and the least distance of a point from it.
NORMAL, OFFSET, GAP = np.array([0.8, 0.6]), 0.25, 0.3


def sample_points(count: int, noise: float, seed: int) -> list[list[float]]:
    """Return points (x, y, label). More points extend fewer ones, and more noise flips what less noise flips.

    >>> few, many = sample_points(4, 0.0, 0), sample_points(8, 0.0, 0)
    >>> many[:4] == few, [label for _, _, label in many]
    (True, [1, -1, 1, -1, 1, -1, 1, -1])
    """
    generator = np.random.default_rng(seed)
    drawn = np.round(8 * generator.uniform((-3.25, -2.5), (3.25, 2.5), (40 * MOST_POINTS, 2))) / 8
    doubts = generator.uniform(size=MOST_POINTS)
    side = drawn @ NORMAL - OFFSET
    red, blue = drawn[side >= GAP], drawn[side <= -GAP]
    points = []
    for i in range(count):
        label = 1 if i % 2 == 0 else -1
        x, y = (red if label > 0 else blue)[i // 2].tolist()
        points.append([x + 0.0, y + 0.0, -label if doubts[i] < noise else label])
    return points


def answer_sample(document: Any) -> dict[str, Any]:
    """Return the points requested by {"count": ..., "noise": ..., "seed": ...}."""
    asked = document if isinstance(document, dict) else {}
    return {"points": sample_points(**{name: checked(name, asked.get(name), kind) for name, kind in SAMPLE.items()})}


def _scene(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a scene with its points, which a `sample` draws."""
    sample = fields.get("sample")
    drawn = {} if sample is None else {"points": sample_points(**sample)}
    return {**fields, "state": {**fields["state"], **drawn}, "sample": sample}


SCENES = [_scene(fields) for fields in KNOWN["scenes"]]


def known_as_json() -> dict[str, Any]:
    """Return all that the pages need before the first request."""
    families = [{"name": name, "title": title} for name, (title, _, _) in FAMILIES.items()]
    corners = {"fewest": FEWEST_CORNERS, "most": MOST_CORNERS, "names": CORNERS}
    return {
        "scenes": SCENES,
        "limits": {"points": MOST_POINTS, "steps": MOST_STEPS},
        "readouts": READOUT_WORDS,
        "lead": KNOWN["lead"],
        "symbols": KNOWN["symbols"],
        "margins": KNOWN["margins"],
        "shattering": {"arrangements": KNOWN["arrangements"], "families": families, **corners},
    }
