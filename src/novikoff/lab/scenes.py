"""Prepared scenes: points, the rules to begin with, and one sentence on what to look for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from novikoff.lab.sample import sample_points

Points = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Scene:
    """`rules` are the parts of the state that differ from the defaults, `sample` is what drew the points."""

    name: str
    title: str
    look_for: str
    points: Points
    rules: dict[str, Any] = field(default_factory=dict)
    sample: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        state = {"points": [list(point) for point in self.points], **self.rules}
        fields = {"name": self.name, "title": self.title, "look_for": self.look_for, "state": state}
        return fields if self.sample is None else {**fields, "sample": self.sample}


def _circle(center: tuple[float, float], radius: float, count: int, label: int, turn: float = 0.0) -> Points:
    """Points around a circle, on the grid of eighths."""
    angles = [2 * math.pi * i / count + turn for i in range(count)]
    x, y = center
    return [[_eighths(x + radius * math.cos(t)), _eighths(y + radius * math.sin(t)), label] for t in angles]


def _eighths(value: float) -> float:
    return round(8 * value) / 8


# All coordinates are eighths, which are exact in binary: so the whole numbers of a proof stay small.

WORKED = [[-1, 2, -1], [1, 0, 1], [1, 1, 1], [-1, 0, -1], [-1, -2, -1], [1, -1, 1]]

WIDE = [
    [1.625, 1.25, 1], [-1.5, -0.875, -1], [2.25, 0.5, 1], [-2.125, -0.25, -1], [1.25, 2.0, 1],
    [-1.25, -1.75, -1], [2.375, 1.75, 1], [-2.375, -1.375, -1], [1.875, 2.25, 1], [-1.75, -2.25, -1],
]  # fmt: skip

THIN = [
    [-0.5, 0.0, 1], [-1.625, -0.5, -1], [2.25, 1.5, 1], [1.25, 0.25, -1], [0.25, 1.0, 1], [2.875, 0.25, -1],
    [1.625, 0.5, 1], [-1.25, -0.5, -1], [-2.625, -0.5, 1], [-2.25, -1.0, -1], [1.875, -0.5, -1], [-1.25, 0.25, 1],
]  # fmt: skip

OUTLIER = [
    [1.25, 1.0, 1], [-1.125, -0.75, -1], [1.875, 0.375, 1], [-1.75, -0.25, -1], [0.875, 1.875, 1], [-0.75, -1.75, -1],
    [2.25, 1.5, 1], [-2.25, -1.25, -1], [1.5, 2.25, 1], [-1.375, -2.125, -1], [-1.5, -1.125, 1],
]  # fmt: skip

XOR = [[-1, -1, 1], [1, 1, 1], [-1, 1, -1], [1, -1, -1]]

SHARED = [[0.5, 0.5, 1], [1.5, 0.25, 1], [1.25, 1.625, 1], [0.5, 0.5, -1], [-0.625, 1.0, -1], [-0.375, -1.125, -1]]

DISC = [
    [0.875, 0.625, 1], [1.5, 0.25, 1], [0.625, 1.25, 1], [1.375, 1.125, 1], [1.0, 0.25, 1],
    *_circle((1.0, 0.75), 1.625, 9, -1, turn=0.25), [-2.375, -1.5, -1], [-1.625, 2.0, -1], [2.75, -2.0, -1],
]  # fmt: skip

RING = [
    *_circle((0.0, 0.0), 2.0, 10, 1, turn=0.25),
    [0.0, 0.0, -1], [0.375, 0.25, -1], [-0.25, 0.5, -1], [0.25, -0.5, -1],
]  # fmt: skip

SAMPLE: dict[str, Any] = {"count": 30, "noise": 0.0, "seed": 3}

SCENES = [
    Scene(
        "worked", "The worked example", "Three mistakes, and the bound allows five.",
        WORKED, {"fit_intercept": False, "tie": "predict"},
    ),
    Scene("wide", "A wide margin", "A wide street is found after very few mistakes.", WIDE),
    Scene(
        "thin", "A hair-thin margin", "The narrower the street, the more mistakes there may be.",
        THIN, {"max_iter": 400},
    ),
    Scene("xor", "XOR", "No line does it: the two diagonals cross.", XOR),
    Scene(
        "outlier", "One outlier", "The last line is thrown about by one point; the average hardly notices.",
        OUTLIER, {"readout": "all", "max_iter": 12},
    ),
    Scene(
        "circle", "A circle", "Lifted to a paraboloid, the points are cut apart by a plane: below, a circle.",
        DISC, {"space": "circle", "max_iter": 300},
    ),
    Scene(
        "ring", "A ring around a centre", "A circle keeps the ring out, but none can hold it and not its centre.",
        RING, {"space": "circle", "max_iter": 300},
    ),
    Scene("shared", "A shared point", "One point in both classes is proof enough that no line exists.", SHARED),
    Scene(
        "sample", "Points with noise", "Move the noise up: some labels are wrong, and soon no line is right.",
        sample_points(**SAMPLE), {"max_iter": 30}, SAMPLE,
    ),
    Scene("empty", "An empty plane", "Put red and blue points with the mouse, or a finger.", []),
]  # fmt: skip


def scenes_as_json() -> list[dict[str, Any]]:
    return [scene.as_json() for scene in SCENES]
