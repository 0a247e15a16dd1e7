"""What the pages know from the start: the scenes with their points and rules, the limits, and words for the letters.

What never changes is in known.json. All coordinates there are eighths, which are exact in binary: so the whole numbers
of a proof stay small.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novikoff.lab.shattering import FAMILIES
from novikoff.lab.shattering import FEWEST as FEWEST_CORNERS
from novikoff.lab.shattering import MOST as MOST_CORNERS
from novikoff.lab.shattering import NAMES as CORNERS
from novikoff.lab.state import KNOWN, MOST_POINTS, MOST_STEPS, StateError
from novikoff.say.runs import READOUT_WORDS

FEWEST = 4
MOST_NOISE = 0.5
# The line a x + b y = c, and how far from it a point is at least.
NORMAL, OFFSET, GAP = np.array([0.8, 0.6]), 0.25, 0.3


def sample_points(count: int, noise: float, seed: int) -> list[list[float]]:
    """Points (x, y, label). More points begin with the fewer ones, and more noise flips what less noise flips.

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
    """The points that were asked for by {"count": ..., "noise": ..., "seed": ...}."""
    asked = document if isinstance(document, dict) else {}
    count, seed = (_whole(asked.get(name), name) for name in ("count", "seed"))
    noise = asked.get("noise")
    if not FEWEST <= count <= MOST_POINTS:
        raise StateError("count", f"count={count} must be from {FEWEST} to {MOST_POINTS}")
    if isinstance(noise, bool) or not isinstance(noise, int | float) or not 0 <= noise <= MOST_NOISE:
        raise StateError("noise", f"noise={noise!r} must be a share from 0 to {MOST_NOISE}")
    return {"points": sample_points(count, noise, seed)}


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise StateError(name, f"{name}={value!r} must be a whole number from 0 to 2147483647")
    return value


@dataclass(frozen=True)
class Scene:
    """`rules` are the parts of the state that differ from the defaults, `sample` is what drew the points."""

    name: str
    title: str
    look_for: str
    points: list[list[float]] = field(default_factory=list)
    rules: dict[str, Any] = field(default_factory=dict)
    sample: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        fields = {"name": self.name, "title": self.title, "look_for": self.look_for}
        return {**fields, "state": {"points": self.points, **self.rules}, "sample": self.sample}

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "Scene":
        sample = fields.get("sample")
        return cls(**fields) if sample is None else cls(**fields, points=sample_points(**sample))


SCENES = [Scene.of(fields) for fields in KNOWN["scenes"]]


def known_as_json() -> dict[str, Any]:
    """All that the pages know before anything is asked."""
    families = [{"name": name, "title": title} for name, (title, _, _) in FAMILIES.items()]
    corners = {"fewest": FEWEST_CORNERS, "most": MOST_CORNERS, "names": CORNERS}
    return {
        "scenes": [scene.as_json() for scene in SCENES],
        "limits": {"points": MOST_POINTS, "steps": MOST_STEPS},
        "readouts": READOUT_WORDS,
        "lead": KNOWN["lead"],
        "symbols": KNOWN["symbols"],
        "margins": KNOWN["margins"],
        "shattering": {"arrangements": KNOWN["arrangements"], "families": families, **corners},
    }
