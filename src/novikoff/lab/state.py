"""The state of a page: the points, and the rules by which they are learned, validated from JSON."""

import json
import sys
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.features.fold import fold_bias, unit_length
from novikoff.options import TIES, Choice, Flag, Kind, Number, Readout, Tie, Whole, is_number

Space = Literal["line", "circle", "poly", "rbf"]
Shown = Literal["last", "average", "vote", "all"]
Floats = NDArray[np.float64]

# Scenes, letters and their words.
KNOWN: dict[str, Any] = json.loads(Path(__file__).with_name("known.json").read_text(encoding="utf-8"))

MOST_POINTS = 200
MOST_STEPS = 5_000
LARGEST_COORDINATE = 1e6
MOST_LEAD = 100
LARGEST_NUMBER = sys.float_info.max

TRUE_OR_FALSE = Flag("true or false")

# The plane is drawn with this ratio of width to height.
ASPECT = 4 / 3


class StateError(ValueError):
    """Something is wrong with the state; `field` says where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class View:
    """The part of a plane that is drawn: its centre, and half its height."""

    x: float
    y: float
    half: float
    aspect: float = ASPECT

    @property
    def corners(self) -> list[tuple[float, float]]:
        """Counter-clockwise, from the lower left one."""
        wide, high = self.aspect * self.half, self.half
        return [(self.x + a * wide, self.y + b * high) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


@dataclass(frozen=True)
class State:
    """Points (x, y, label), the label -1 or +1, and how to learn from them.

    `space` is where a hyperplane is sought: among the points (a line), on the paraboloid above them (a circle), or in
    the space of a kernel. `fold_labels` and `unit_length` are the fourth note's simplifications: every (x, -1) becomes
    (-x, +1), which is drawn, and so done, for lines through the origin only; and every example gets the length 1, which
    means nothing in the space of a kernel. The other names are the library's own.
    """

    points: tuple[tuple[float, float, int], ...] = ()
    space: Annotated[Space, Choice(words=get_args(Space))] = "line"
    fit_intercept: Annotated[bool, TRUE_OR_FALSE] = True
    fold_labels: Annotated[bool, TRUE_OR_FALSE] = False
    unit_length: Annotated[bool, TRUE_OR_FALSE] = False
    tie: Annotated[Tie, Choice(words=TIES)] = "mistake"
    lead: Annotated[float, Number.between(0, MOST_LEAD)] = 0.0
    readout: Annotated[Shown, Choice(words=get_args(Shown))] = "last"
    shuffle: Annotated[bool, TRUE_OR_FALSE] = False
    seed: Annotated[int, Whole.between(0, 2**31 - 1)] = 0
    max_iter: Annotated[int, Whole.between(1, MOST_STEPS)] = 100
    degree: Annotated[int, Whole.between(2, 6)] = 2
    gamma: Annotated[float, Number.between(0.001, 1000)] = 1.0
    view: View = View(0.0, 0.0, 3.0)

    @cached_property
    def plane(self) -> Floats:
        """The points as rows."""
        return np.array([point[:2] for point in self.points], dtype=np.float64).reshape(-1, 2)

    @cached_property
    def placed(self) -> Floats:
        """The points themselves, or lifted to (x, y, x^2 + y^2): of any length, without the 1 of the intercept."""
        return lifted(self.plane) if self.space == "circle" else self.plane

    @cached_property
    def rows(self) -> Floats:
        """The examples; those of unit length include the 1 of the intercept."""
        if not self.is_scaled or not self.points:
            return self.placed
        return unit_length(fold_bias(self.placed) if self.fit_intercept else self.placed)

    @property
    def adds_one(self) -> bool:
        """Whether the learner still has to append the 1 of the intercept."""
        return self.fit_intercept and not self.is_scaled

    @property
    def learned(self) -> tuple[Floats, NDArray[np.int8]]:
        """What the learner sees: the examples with their labels, or the folded ones, which are all positive."""
        if self.is_folded:
            return self.rows * self.labels[:, None], np.abs(self.labels)
        return self.rows, self.labels

    @property
    def drawn(self) -> Floats:
        """Where the points are drawn: for lines through the origin, where the simplifications move them."""
        return self.learned[0] if self.space == "line" and not self.fit_intercept else self.plane

    def as_plane(self, weights: Floats) -> Floats:
        """Return weights of the learner as (a, b, bias), or (a, b, c, bias) above a circle."""
        return weights[..., :-1] if self.fit_intercept and self.is_scaled else weights

    @cached_property
    def labels(self) -> NDArray[np.int8]:
        return np.array([label for _, _, label in self.points], dtype=np.int8)

    @property
    def is_kernel(self) -> bool:
        return self.space in ("poly", "rbf")

    @property
    def is_folded(self) -> bool:
        return self.fold_labels and self.space == "line" and not self.fit_intercept

    @property
    def folding_matters(self) -> bool:
        """Whether folding changes the mistakes: if 0 predicts +1, every folded example is right at once."""
        return self.is_folded and self.tie == "predict" and not self.lead

    @property
    def is_scaled(self) -> bool:
        return self.unit_length and not self.is_kernel

    @property
    def has_two_classes(self) -> bool:
        return len({label for _, _, label in self.points}) == 2

    @property
    def readouts(self) -> tuple[Readout, ...]:
        """The read-outs whose boundaries are drawn."""
        return ("last", "average", "vote") if self.readout == "all" else (self.readout,)

    @property
    def epochs(self) -> int:
        """The largest number of epochs: as requested, but no more steps than the page can show."""
        return min(self.max_iter, MOST_STEPS // max(1, len(self.points)))


# The values that each rule allows.
RULES: dict[str, Kind] = {
    field.name: cast(Any, field.type).__metadata__[0] for field in fields(State) if hasattr(field.type, "__metadata__")
}


def lifted(points: Floats) -> Floats:
    """Lift points to the paraboloid above the plane (third note, 30.2).

    >>> lifted(np.array([[3.0, 4.0]])).tolist()
    [[3.0, 4.0, 25.0]]
    """
    return np.column_stack([points, np.einsum("ij,ij->i", points, points)])


def parse_state(document: Any) -> State:
    """Parse the state in a JSON document; what is omitted has its default.

    >>> parse_state({"points": [[1, 2, -1]], "tie": "predict"}).tie
    'predict'
    """
    if not isinstance(document, dict):
        raise StateError("", "the state must be a JSON object with the points and the rules")
    parts: dict[str, Any] = {"points": _points, "view": _view}
    for name in sorted(set(document) - parts.keys() - RULES.keys()):
        raise StateError(name, f"{name!r} is no part of a state; its parts are {', '.join([*parts, *RULES])}")
    return State(**{
        name: parts[name](name, value) if name in parts else checked(name, value, RULES[name])
        for name, value in document.items()
    })  # fmt: skip


def _points(field: str, value: Any) -> tuple[tuple[float, float, int], ...]:
    if not isinstance(value, list):
        raise StateError(field, "points must be a list of [x, y, label]")
    if len(value) > MOST_POINTS:
        raise StateError(field, f"there are {len(value)} points, and the lab shows at most {MOST_POINTS}")
    return tuple(_point(f"{field}[{place}]", point) for place, point in enumerate(value))


def _point(field: str, value: Any) -> tuple[float, float, int]:
    if not isinstance(value, list) or len(value) != 3:
        raise StateError(field, "a point is [x, y, label]")
    if isinstance(value[2], bool) or value[2] not in (-1, 1):
        raise StateError(field, f"the label is {value[2]!r}; it must be -1 or +1")
    return coordinate(field, value[0]), coordinate(field, value[1]), int(value[2])


def coordinate(field: str, value: Any) -> float:
    if not _is_number(value) or abs(value) > LARGEST_COORDINATE:
        raise StateError(field, f"the coordinate {value!r} is not a number between -1e6 and 1e6")
    return float(value) + 0.0  # no negative zero


def _view(field: str, value: Any) -> View:
    good = isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))
    if not good or not 1e-9 <= value[2] <= 1e7 or max(abs(value[0]), abs(value[1])) > 1e7:
        raise StateError(field, "the view is [x, y, half its height], with a height between 1e-9 and 1e7")
    return View(*map(float, value))


def _is_number(value: Any) -> bool:
    return is_number(value) and abs(value) <= LARGEST_NUMBER  # an integer may exceed the floats


def checked(field: str, value: Any, kind: Kind) -> Any:
    """Return a value of this kind, of the type that the library takes."""
    try:
        kind.check(field, value)
    except ValueError as error:
        raise StateError(field, str(error)) from None
    return int(value) if isinstance(kind, Whole) else float(value) if isinstance(kind, Number) else value
