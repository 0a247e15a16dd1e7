"""The decision boundary over two features, in the units that the table has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch
from novikoff.data.visible import visible
from novikoff.engine.rows import Rows, as_rows
from novikoff.features.encode import Encoding
from novikoff.features.numeric import Numeric
from novikoff.learn.model import Classifier
from novikoff.prove.separable.certificate import Certificate, Planes
from novikoff.prove.separable.margin import Separator
from novikoff.say.words import label_in_words
from novikoff.show.boundary import BoundaryDisplay, grid_axis, grid_points

Floats = NDArray[np.float64]

MOST_POINTS = 600
RESOLUTION = 120


@dataclass(frozen=True)
class Columns:
    """Two features to draw: their places, names, means and deviations. `are_all` says that there are no others."""

    places: tuple[int, int]
    names: tuple[str, str]
    means: tuple[float, float]
    deviations: tuple[float, float]
    are_all: bool
    n_columns: int
    encoding: Encoding | None = None

    def in_units(self, rows: Rows) -> Floats:
        """Rows as points of the plane, in the units of the table."""
        pair = rows.as_scipy()[:, list(self.places)].toarray() if rows.is_sparse else rows.matrix[:, list(self.places)]
        return np.asarray(pair, dtype=np.float64) * self.deviations + self.means

    def encoded(self, points: Floats) -> Rows:
        """Points of the plane as examples, with 0 in all other features."""
        from scipy.sparse import csr_array

        pair = (points - self.means) / self.deviations
        columns = np.tile(self.places, len(pair))
        starts = np.arange(0, 2 * len(pair) + 1, 2)
        rows = as_rows(csr_array((pair.ravel(), columns, starts), shape=(len(pair), self.n_columns)))
        return rows if self.encoding is None else self.encoding.lifted(rows)


def columns_to_draw(
    encoding: Encoding | None, n_columns: int, batches: Iterable[Batch] = (), chosen: Sequence[str] = ()
) -> Columns | None:
    """The two features that are chosen by name; else the only two that there are, if they are numbers.

    Without an encoding, `batches` tell which columns are not all 0: svmlight text seldom has a column 0.

    >>> columns_to_draw(None, 2).names
    ('column 0', 'column 1')
    >>> columns_to_draw(None, 3) is None, columns_to_draw(None, 9, chosen=["column 4", "column 2"]).places
    (True, (4, 2))
    >>> columns_to_draw(None, 3, [Batch(as_rows([[0, 1, 2], [0, 3, 4]]), None)]).places
    (1, 2)
    """
    names = Numbered(n_columns) if encoding is None else encoding.own_names
    only = _only_two(encoding, names, batches)
    pair = only if not chosen else tuple(_place(name, names) for name in chosen)
    if pair is None:
        return None
    if len(set(pair)) != 2:
        raise ValueError(f"a picture has two different features, not {', '.join(chosen)}")
    first, second = pair
    kinds = {} if encoding is None else encoding.columns
    found = [kinds.get(names[place]) for place in pair]
    x, y = (kind if isinstance(kind, Numeric) else Numeric(0.0, 1.0) for kind in found)
    are_all = len(names) == 2 or (encoding is None and set(pair) == set(only or ()))
    means, deviations = (x.mean, y.mean), (x.deviation, y.deviation)
    return Columns((first, second), (names[first], names[second]), means, deviations, are_all, len(names), encoding)


class Numbered(Sequence[str]):
    """The names of columns that have none: as many as there are, made when asked for.

    >>> list(Numbered(2)), Numbered(9).index("column 4"), "column 9" in Numbered(9), Numbered(9)[:2]
    (['column 0', 'column 1'], 4, False, ('column 0', 'column 1'))
    """

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns

    def __len__(self) -> int:
        return self.n_columns

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(f"column {j}" for j in range(self.n_columns)[place])
        return f"column {range(self.n_columns)[place]}"

    def __contains__(self, name: object) -> bool:
        number = str(name).removeprefix("column ")
        return number.isdecimal() and name == f"column {int(number)}" and int(number) < self.n_columns

    def index(self, name: Any, *_: int) -> int:
        return int(name.removeprefix("column "))


def _only_two(encoding: Encoding | None, names: Sequence[str], batches: Iterable[Batch]) -> tuple[int, ...] | None:
    """The places of the only two features, or of the only two columns of a table, if these are numbers."""
    if encoding is None:
        used = tuple(range(len(names))) if len(names) == 2 else _used_columns(batches)
        return used if len(used) == 2 else None
    if not encoding.is_of_table:
        return (0, 1) if len(names) == 2 else None
    columns = {name: kind for name, kind in encoding.columns.items() if kind.is_used}
    if len(columns) != 2 or not all(isinstance(kind, Numeric) for kind in columns.values()):
        return None
    return tuple(names.index(name) for name in columns)


def _used_columns(batches: Iterable[Batch]) -> tuple[int, ...]:
    """The columns that are not all 0; when there are more than two, it does not look further."""
    used: set[int] = set()
    for batch in batches:
        matrix = batch.rows.matrix
        used |= set(
            np.unique(matrix.indices[matrix.data != 0] if batch.rows.is_sparse else np.nonzero(matrix)[1]).tolist()
        )
        if len(used) > 2:
            break
    return tuple(sorted(used))


def _place(name: str, names: Sequence[str]) -> int:
    if name not in names:
        known = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        raise ValueError(f"there is no feature {name!r} to draw; there are {known}")
    return names.index(name)


class Sketch:
    """The points of a picture, collected batch by batch: evenly spaced rows, and those that are named."""

    def __init__(self, columns: Columns, n_rows: int, named: tuple[int, ...]) -> None:
        self.columns, self.named = columns, np.array(named, dtype=np.int64)
        every = max(1, -(-n_rows // MOST_POINTS))
        self.wanted = np.union1d(np.arange(0, n_rows, every), self.named)
        self.points, self.places = [np.zeros((0, 2))], [np.zeros(0, dtype=np.int64)]

    def add(self, start: int, rows: Rows, places: NDArray[Any]) -> None:
        """Take what is wanted of a batch, whose first row has the number `start`."""
        first, last = np.searchsorted(self.wanted, [start, start + rows.n_rows])
        here = self.wanted[first:last] - start
        if len(here):
            self.points.append(self.columns.in_units(rows.take(here)))
            self.places.append(places[here])

    def finished(
        self, classes: NDArray[Any], model: Classifier | None, certificate: Certificate | None
    ) -> BoundaryDisplay | None:
        """The picture: the boundary of the model, or else of the certificate; None if its numbers are too large."""
        points = np.concatenate(self.points)
        if not len(points) or not np.all(np.abs(points) < 1e150):
            return None
        names = np.array(distinct([short(label_in_words(label), 40) for label in classes.tolist()]))
        across, up = (grid_axis(points[:, axis], RESOLUTION) for axis in (0, 1))
        grid = self.columns.encoded(grid_points(across, up))
        widest = self._of_certificate(certificate, grid)
        scores = widest if model is None or len(classes) < 2 else model.decide_rows(grid).scores
        separable = certificate is not None and certificate.obstruction is None
        return BoundaryDisplay(
            points,
            names[np.concatenate(self.places)],
            tuple(names.tolist()),
            across,
            up,
            None if scores is None else _on_grid(scores),
            band=None if model is not None else self._band(certificate),
            widest=None if model is None or widest is None or widest.ndim > 1 else _on_grid(widest),
            ringed=np.flatnonzero(np.isin(self.wanted, self.named)),
            ringed_as="fixes the margin" if separable else "part of the proof that nothing separates",
            names=(short(self.columns.names[0], 80), short(self.columns.names[1], 80)),
        )

    def _band(self, certificate: Certificate | None) -> float | None:
        """How far the scores of the widest separator of two classes stay from 0, if the picture shows all features."""
        if certificate is None or not isinstance(certificate.separator, Separator) or not self.columns.are_all:
            return None
        return certificate.margin.lower

    def _of_certificate(self, certificate: Certificate | None, grid: Rows) -> Floats | None:
        """The scores of the widest separator, one a class for more than two."""
        planes = None if certificate is None else certificate.separator
        if isinstance(planes, Separator):
            return np.asarray(grid.as_scipy() @ planes.folded[:-1] + planes.folded[-1])
        if isinstance(planes, Planes):
            return np.asarray(grid.as_scipy() @ planes.weights.T + planes.biases)
        return None


def _on_grid(scores: Floats) -> Floats:
    return scores.reshape(RESOLUTION, RESOLUTION, *scores.shape[1:])


def short(name: str, longest: int) -> str:
    """A name from the data as a chart can show it."""
    shown = visible(name)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def distinct(names: list[str]) -> list[str]:
    """Names that differ: with their numbers, if some are the same when they are short.

    >>> distinct(["a", "b"]), distinct(["a", "a"])
    (['a', 'b'], ['1: a', '2: a'])
    """
    return names if len(set(names)) == len(names) else [f"{i}: {name}" for i, name in enumerate(names, 1)]
