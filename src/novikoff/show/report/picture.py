"""The decision boundary over two features, in the units that the table has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch
from novikoff.engine.rows import Rows, as_rows
from novikoff.features.encode import Encoding
from novikoff.features.numeric import Numeric
from novikoff.learn.linear.memory import read_out
from novikoff.learn.linear.model import LinearModel
from novikoff.learn.model import Classifier
from novikoff.prove.separable.certificate import Certificate, Planes
from novikoff.prove.separable.margin import Separator
from novikoff.show.report.charts import Line, Scatter

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

    @property
    def are_lifted(self) -> bool:
        """Whether a plane of the features is no line of the picture."""
        return self.encoding is not None and self.encoding.lift is not None

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
    ) -> Scatter | None:
        """The picture; None if its numbers are too large to be drawn."""
        points = np.concatenate(self.points)
        if not len(points) or not np.all(np.abs(points) < 1e150):
            return None
        separable = certificate is not None and certificate.obstruction is None
        bare = Scatter(
            points[:, 0],
            points[:, 1],
            np.concatenate(self.places),
            classes.tolist(),
            self.columns.names,
            np.isin(self.wanted, self.named),
            "fixes the margin" if separable else "is part of the proof that nothing separates",
        )
        decision, widest = self._of_model(model), self._of_certificate(certificate)
        lines = [line for line in (decision, widest) if line is not None]
        curved = decision is None if model is not None else widest is None
        regions = self._regions(bare, model, certificate) if curved else None
        return Scatter(**{**vars(bare), "lines": tuple(lines), "regions": regions})

    def _of_model(self, model: Classifier | None) -> Line | None:
        if not isinstance(model, LinearModel) or len(model.classes) != 2 or model.readout == "vote":
            return None
        if self.columns.are_lifted:
            return None
        weights = read_out(model.memory, model.readout)[0]
        if model.memory.columns is not None:
            found = np.searchsorted(model.memory.columns, self.columns.places).clip(max=len(weights) - 2)
            met = model.memory.columns[found] == self.columns.places
            return self._line("decision boundary of the model", weights[found] * met, float(weights[-1]), "blue")
        pair = weights[list(self.columns.places)]
        return self._line("decision boundary of the model", pair, float(weights[-1]), "blue")

    def _of_certificate(self, certificate: Certificate | None) -> Line | None:
        """The widest separator, with the band in which no example lies."""
        if certificate is None or not self.columns.are_all or self.columns.are_lifted:
            return None
        separator = certificate.separator
        if not isinstance(separator, Separator):
            return None
        name = "the widest separator, and its margin"
        folded = separator.folded
        pair = folded[list(self.columns.places)]
        return self._line(name, pair, float(folded[-1]), "grey dashed", certificate.margin.lower)

    def _line(self, name: str, pair: Floats, bias: float, look: str, band: float | None = None) -> Line | None:
        """A plane as a line of the picture. x = mean + deviation z, so a z = (a/deviation) x - a mean/deviation."""
        slopes = pair / self.columns.deviations
        if not np.any(slopes):
            return None
        c = float(bias - slopes @ np.asarray(self.columns.means))
        return Line(name, float(slopes[0]), float(slopes[1]), c, look, band)

    def _regions(
        self, picture: Scatter, model: Classifier | None, certificate: Certificate | None
    ) -> NDArray[np.int64] | None:
        """Which class is predicted where: by the model, or by the certificate's planes."""
        left, right, bottom, top = picture.box
        middle = (np.arange(RESOLUTION) + 0.5) / RESOLUTION
        across, up = np.meshgrid(left + middle * (right - left), bottom + middle * (top - bottom))
        grid = self.columns.encoded(np.column_stack([across.ravel(), up.ravel()]))
        planes = None if certificate is None else certificate.separator
        if model is not None:
            found = np.searchsorted(model.classes, model.decide_rows(grid).labels)
        elif isinstance(planes, Planes):
            found = np.argmax(grid.as_scipy() @ planes.weights.T + planes.biases, axis=1)
        elif isinstance(planes, Separator) and self.columns.are_lifted and self.columns.are_all:
            found = grid.as_scipy() @ planes.folded[:-1] + planes.folded[-1] >= 0
        else:
            return None
        return np.asarray(found, dtype=np.int64).reshape(RESOLUTION, RESOLUTION)
