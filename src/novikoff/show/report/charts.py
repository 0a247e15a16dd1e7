"""Small charts in SVG, written by hand, for pages that must not load anything.

Colours come from the page's style sheet by class, so a chart follows the screen and the paper. Lines differ by their
dashes, points by their shapes: grey is enough.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.say.words import label_in_words
from novikoff.show.polygons import Point, clipped, edge_on
from novikoff.show.report.markup import LONGEST_HINT, Markup, cut, element, joined

Floats = NDArray[np.float64]

WIDTH = 720
MOST_POINTS = 400  # of a curve: more are not seen, and the page would grow with the run
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, eq=False)
class Curve:
    """A line through points: `look` are classes of the style sheet, such as "blue" or "grey dashed"."""

    name: str
    x: Floats
    y: Floats
    look: str


class Bar(NamedTuple):
    """A number by name."""

    name: str
    value: float


class Scale(NamedTuple):
    """Where a number lies on an axis."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True, eq=False)
class Line:
    """The line a x + b y + c = 0, and, with `band`, how far |a x + b y + c| stays from 0."""

    name: str
    a: float
    b: float
    c: float
    look: str
    band: float | None = None

    def across(self, corners: Sequence[Point]) -> list[Point]:
        """Its two ends in a box, if it crosses that."""
        size = max(abs(value) for corner in corners for value in corner)
        return edge_on(clipped(corners, self.a, self.b, self.c), self.a, self.b, self.c, size)

    def strip(self, corners: Sequence[Point]) -> list[Point]:
        """The part of a box that lies within the band."""
        wide = self.band or 0.0
        return clipped(clipped(corners, self.a, self.b, self.c + wide), -self.a, -self.b, wide - self.c)


@dataclass(frozen=True, eq=False)
class Scatter:
    """Points of the plane with the place of their class, some of them ringed, lines, and perhaps a grid of regions.

    `regions` has the place of the class that is predicted at each point of a grid over the box of the points, the
    lowest row first.
    """

    x: Floats
    y: Floats
    place: NDArray[np.int64]
    classes: Sequence[Any]
    names: tuple[str, str]
    ringed: NDArray[np.bool_] | None = None
    ring_means: str = ""
    lines: Sequence[Line] = ()
    regions: NDArray[np.int64] | None = None

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the picture, a little wider than the points."""
        return (*padded_range(self.x), *padded_range(self.y))

    @property
    def corners(self) -> list[Point]:
        left, right, bottom, top = self.box
        return [(left, bottom), (right, bottom), (right, top), (left, top)]


def padded_range(values: Floats) -> tuple[float, float]:
    """The range of numbers with a little room at both ends.

    >>> padded_range(np.array([0.0, 100.0]))
    (-8.0, 108.0)
    """
    low, high = float(values.min()), float(values.max())
    room = 0.08 * (high - low) or 0.5 * max(abs(low), 1.0)
    return low - room, high + room


def ticks(low: float, high: float, about: int = 5, *, whole: bool = False) -> list[float]:
    """Round numbers in a range; `whole` ones if they count something.

    >>> ticks(0.0, 28.0), ticks(-1.1, 1.1), ticks(0.0, 2.0, whole=True)
    ([0.0, 5.0, 10.0, 15.0, 20.0, 25.0], [-1.0, -0.5, 0.0, 0.5, 1.0], [0.0, 1.0, 2.0])
    """
    rough = (high - low) / about
    if not (math.isfinite(rough) and rough > 0):
        return []
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((m * power for m in (1.0, 2.0, 5.0, 10.0)), key=lambda s: abs(math.log(s / rough)))
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def powers(low: float, high: float) -> list[float]:
    """Logarithms of round numbers in a range of logarithms: of 1, 2 and 5 times powers of ten, or of these alone.

    >>> [round(10**value) for value in powers(0.0, 1.4)], powers(0.0, 4.0)
    ([1, 2, 5, 10, 20], [0.0, 1.0, 2.0, 3.0, 4.0])
    """
    digits = (1, 2, 5) if high - low < 2 else (1,)
    found = [power + math.log10(d) for power in range(math.floor(low), math.ceil(high) + 1) for d in digits]
    every = max(1, len(found) // 8)
    return [value for value in found if low - 1e-9 <= value <= high + 1e-9][::every]


def line_chart(
    curves: Sequence[Curve], *, x_name: str, y_name: str, says: str, mark: float | None = None, log: bool = False
) -> Markup:
    """Curves over an axis that counts, from 0 or below, or by logarithms; `mark` is a place on it to draw a line at."""
    height, top = 300, 12
    if log:
        with np.errstate(divide="ignore"):
            curves = [replace(curve, x=np.log10(curve.x), y=np.log10(curve.y)) for curve in curves]
    x = _scale(np.concatenate([curve.x for curve in curves]), 64, WIDTH - 16, log)
    y = _scale(np.concatenate([curve.y for curve in curves]), height - 44, top, log)
    drawn = [
        element("polyline", points=_points(x, y, *_thinned(curve)), class_=f"curve {curve.look}") for curve in curves
    ]
    dots = [
        element("circle", cx=_at(x(a)), cy=_at(y(b)), r=2.6, class_=f"fill-{curve.look}")
        for curve in curves
        if curve.look in ("blue", "red") and len(curve.x) <= 60
        for a, b in zip(curve.x.tolist(), curve.y.tolist(), strict=True)
        if math.isfinite(b)
    ]
    if mark is not None and x.low <= mark <= x.high:
        drawn.append(element("line", x1=_at(x(mark)), x2=_at(x(mark)), y1=top, y2=height - 44, class_="ink"))
    legend = _legend([(curve.name, _line_sample(curve.look)) for curve in curves], height + 6)
    if log:
        axes = _axes(x, y, x_name, y_name, at=(powers(x.low, x.high), powers(y.low, y.high)), log=True)
    else:
        axes = _axes(x, y, x_name, y_name, at=(ticks(x.low, x.high, 8, whole=True), ticks(y.low, y.high)))
    return _svg(height + 6 + 22 * math.ceil(len(curves) / 2), says, axes, *drawn, *dots, legend)


def column_chart(values: Sequence[float], *, x_name: str, y_name: str, says: str) -> Markup:
    """A column for each number, the first one numbered 1, with the number on top."""
    height, top = 240, 24
    y = Scale(0.0, max([*values, 1.0]) * 1.02, height - 44, top)
    x = Scale(0.5, len(values) + 0.5, 64, WIDTH - 16)
    wide = min(0.7 * (x(2.0) - x(1.0)), 56.0)
    parts = []
    for number, value in enumerate(values, 1):
        box = {"x": _at(x(number) - wide / 2), "width": _at(wide), "y": _at(y(value)), "height": _at(y(0) - y(value))}
        parts.append(element("rect", **box, class_="fill-blue"))
        if len(values) <= 20:
            parts.append(_text(x(number), y(value) - 5, f"{value:,}", "quiet middle"))
        if len(values) <= 30:
            parts.append(_text(x(number), height - 26, str(number), "quiet middle"))
    numbers = ticks(x.low, x.high, 8, whole=True) if len(values) > 30 else []
    return _svg(height, says, _axes(x, y, x_name, y_name, at=(numbers, ticks(y.low, y.high, whole=True))), *parts)


def bar_chart(bars: Sequence[Bar], *, says: str) -> Markup:
    """Horizontal bars to both sides of 0, each with its name and number: negative ones are hollow and red."""
    row, left, right = 24, 280, 84
    largest = max((abs(bar.value) for bar in bars), default=0.0) or 1.0
    x = Scale(-largest, largest, left, WIDTH - right)
    if all(bar.value >= 0 for bar in bars):
        x = x._replace(low=0.0)
    parts = [element("line", x1=_at(x(0)), x2=_at(x(0)), y1=4, y2=row * len(bars) + 6, class_="frame")]
    for number, bar in enumerate(bars):
        y = 8 + row * number
        start, end = sorted((x(0), x(bar.value)))
        look = "fill-blue" if bar.value >= 0 else "hollow"
        parts.append(_text(left - 14, y + 13, cut(bar.name, 38), "end", hint=bar.name))
        parts.append(element("rect", x=_at(start), y=y + 2, width=_at(max(end - start, 1)), height=14, class_=look))
        parts.append(_text(WIDTH - 4, y + 13, f"{bar.value:+.4g}", "quiet end"))
    return _svg(row * len(bars) + 14, says, *parts)


def scatter(picture: Scatter, *, says: str) -> Markup:
    """Points by class, the lines with their bands, and the regions."""
    height = 460
    left, right, bottom, top = picture.box
    x, y = Scale(left, right, 72, WIDTH - 16), Scale(bottom, top, height - 44, 12)
    parts: list[Markup] = [] if picture.regions is None else _regions(picture.regions, x, y)
    entries: list[tuple[str, Any]] = []
    for line in picture.lines:
        if line.band is not None:
            parts.append(element("polygon", points=_path(x, y, line.strip(picture.corners)), class_="band"))
        parts.append(element("polyline", points=_path(x, y, line.across(picture.corners)), class_=f"curve {line.look}"))
        entries.append((line.name, _line_sample(line.look)))
    marks = [_shape(c, x(a), y(b), len(picture.classes)) for a, b, c in _triples(picture)]
    shown = range(min(len(picture.classes), 26))
    entries += [(label_in_words(picture.classes[c]), _shape_sample(c, len(picture.classes))) for c in shown]
    if picture.ringed is not None and picture.ringed.any():
        for a, b in zip(picture.x[picture.ringed].tolist(), picture.y[picture.ringed].tolist(), strict=True):
            marks.append(element("circle", cx=_at(x(a)), cy=_at(y(b)), r=8, class_="ring"))
        entries.append((picture.ring_means, lambda a, b: element("circle", cx=a + 13, cy=b, r=7, class_="ring")))
    legend = _legend(entries, height + 8)
    axes = _axes(x, y, *picture.names, at=(ticks(left, right, 8), ticks(bottom, top)))
    return _svg(height + 8 + 22 * math.ceil(len(entries) / 2), says, axes, *parts, *marks, legend)


def _triples(picture: Scatter) -> Any:
    return zip(picture.x.tolist(), picture.y.tolist(), picture.place.tolist(), strict=True)


def _shape(place: int, x: float, y: float, n_classes: int) -> Markup:
    """A point of a class: a full disc or a hollow square of two, else a letter."""
    if n_classes > 2:
        letter = LETTERS[place] if place < len(LETTERS) else "•"
        return element("text", letter, x=_at(x), y=_at(y + 3.5), class_="letter")
    if place == 1:
        return element("circle", cx=_at(x), cy=_at(y), r=4, class_="point")
    return element("rect", x=_at(x - 3.4), y=_at(y - 3.4), width=6.8, height=6.8, class_="hollow")


def _shape_sample(place: int, n_classes: int) -> Any:
    return lambda x, y: _shape(place, x + 13, y, n_classes)


def _line_sample(look: str) -> Any:
    return lambda x, y: element("line", x1=x, x2=x + 28, y1=y, y2=y, class_=f"curve {look}")


def _legend(entries: Sequence[tuple[str, Any]], top: float) -> Markup:
    parts = []
    for number, (name, sample) in enumerate(entries):
        x, y = 64 + (number % 2) * 330, top + 22 * (number // 2) + 8
        parts += [sample(x, y), _text(x + 38, y + 4, cut(name, 44), None, hint=name)]
    return joined(parts)


def _regions(grid: NDArray[np.int64], x: Scale, y: Scale) -> list[Markup]:
    """The classes of a grid as shades of grey: for each class one shape, of the runs of it in every row."""
    n_up, n_across = grid.shape
    tall, wide = (y.start - y.end) / n_up, (x.end - x.start) / n_across
    shapes: dict[int, list[str]] = {}
    for i, row in enumerate(grid):
        starts = np.flatnonzero(np.diff(row, prepend=-1)).tolist()
        for first, last in zip(starts, [*starts[1:], n_across], strict=True):
            corner = f"{_at(x.start + first * wide)} {_at(y.start - (i + 1) * tall)}"
            run = f"M{corner}h{_at((last - first) * wide)}v{_at(tall + 0.2)}h{_at((first - last) * wide)}z"
            shapes.setdefault(int(row[first]), []).append(run)
    return [
        element("path", d="".join(runs), opacity=f"{0.04 + 0.09 * (place % 5):.2f}", class_="region")
        for place, runs in sorted(shapes.items())
    ]


def _scale(values: Floats, start: float, end: float, log: bool = False) -> Scale:
    """The scale of numbers, from 0 or below; or of logarithms, which have no 0."""
    finite = values[np.isfinite(values)]
    low = float(finite.min()) if log and len(finite) else min(0.0, float(finite.min(initial=0.0)))
    high = float(finite.max(initial=low))
    return Scale(low, high if high > low else low + 1.0, start, end)


def _thinned(curve: Curve) -> tuple[Floats, Floats]:
    """A curve of not too many points, the first and the last among them."""
    places = np.unique(np.linspace(0, len(curve.x) - 1, min(len(curve.x), MOST_POINTS)).round().astype(np.int64))
    return curve.x[places], curve.y[places]


def _path(x: Scale, y: Scale, points: list[Point]) -> str:
    return _points(x, y, [point[0] for point in points], [point[1] for point in points])


def _points(x: Scale, y: Scale, xs: Any, ys: Any) -> str:
    pairs = zip(np.asarray(xs).tolist(), np.asarray(ys).tolist(), strict=True)
    return " ".join(f"{_at(x(a))},{_at(y(b))}" for a, b in pairs if math.isfinite(a) and math.isfinite(b))


def _axes(
    x: Scale, y: Scale, x_name: str, y_name: str, *, at: tuple[Sequence[float], Sequence[float]], log: bool = False
) -> Markup:
    """The frame, the grid, and the numbers at the places `at`."""
    parts = []
    for value in at[1]:
        parts.append(element("line", x1=_at(x.start), x2=_at(x.end), y1=_at(y(value)), y2=_at(y(value)), class_="grid"))
        parts.append(_text(x.start - 8, y(value) + 4, _number(value, log), "quiet end"))
    parts += [_text(x(value), y.start + 18, _number(value, log), "quiet middle") for value in at[0]]
    parts.append(element("path", d=f"M{_at(x.start)} {_at(y.end)}V{_at(y.start)}H{_at(x.end)}", class_="frame"))
    parts.append(_text((x.start + x.end) / 2, y.start + 36, cut(x_name, 80), "quiet middle", hint=x_name))
    parts.append(_vertical_text(14, (y.start + y.end) / 2, y_name))
    return joined(parts)


def _number(value: float, log: bool) -> str:
    return f"{10**value:,.3g}" if log and value < 3 else f"{10**value if log else value:,.6g}"


def _vertical_text(x: float, y: float, words: str) -> Markup:
    turn = f"rotate(-90 {_at(x)} {_at(y)})"
    return element("text", cut(words, 44), x=_at(x), y=_at(y), class_="quiet middle", transform=turn)


def _text(x: float, y: float, words: str, look: str | None, hint: str = "") -> Markup:
    """Words at a place; if they are cut, all of them show as a hint."""
    whole = None if hint in ("", words) or len(hint) <= len(words) else element("title", cut(hint, LONGEST_HINT))
    return element("text", whole, words, x=_at(x), y=_at(y), class_=look)


def _at(value: float) -> str:
    """A place in the picture, as precise as one can see; what is far outside stays drawable."""
    return f"{min(max(value, -1e5), 1e5):.1f}".removesuffix(".0")


def _svg(height: float, says: str, *parts: Any) -> Markup:
    """The picture; `says` is what it shows for who cannot see it."""
    box = f"0 0 {WIDTH} {math.ceil(height)}"
    return element("svg", *parts, viewBox=box, role="img", aria_label=says)
