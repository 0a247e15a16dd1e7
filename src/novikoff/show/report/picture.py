"""The decision boundary over two features, in the units of the table."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch
from novikoff.data.examples import Examples
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
    """Two features to draw: their indices, names, means and deviations. `are_all` is True if there are no others."""

    places: tuple[int, int]
    names: tuple[str, str]
    means: tuple[float, float]
    deviations: tuple[float, float]
    are_all: bool
    n_columns: int
    encoding: Encoding | None = None

    def in_units(self, rows: Rows) -> Floats:
        """Return rows as points of the plane, in the units of the table."""
        pair = rows.as_scipy()[:, list(self.places)].toarray() if rows.is_sparse else rows.matrix[:, list(self.places)]
        return np.asarray(pair, dtype=np.float64) * self.deviations + self.means

    def encoded(self, points: Floats) -> Rows:
        """Return points of the plane as examples, with 0 in all other features."""
        from scipy.sparse import csr_array

        pair = (points - self.means) / self.deviations
        columns = np.tile(self.places, len(pair))
        starts = np.arange(0, 2 * len(pair) + 1, 2)
        rows = as_rows(csr_array((pair.ravel(), columns, starts), shape=(len(pair), self.n_columns)))
        return rows if self.encoding is None else self.encoding.lifted(rows)


def columns_to_draw(encoding: Encoding | None, n_columns: int, batches: Iterable[Batch] = ()) -> Columns | None:
    """Return the only two features, if they are numeric.

    Without an encoding, `batches` show which columns are not all 0: svmlight text seldom has a column 0.

    >>> columns_to_draw(None, 2).names
    ('column 0', 'column 1')
    >>> columns_to_draw(None, 3) is None
    True
    >>> columns_to_draw(None, 3, [Batch(as_rows([[0, 1, 2], [0, 3, 4]]), None)]).places
    (1, 2)
    """
    n_columns = n_columns if encoding is None else len(encoding.own_names)
    pair = _only_two(encoding, n_columns, batches)
    if pair is None:
        return None
    first, second = pair
    names = _name(first, encoding), _name(second, encoding)
    kinds = {} if encoding is None else encoding.columns
    x, y = (kind if isinstance(kind, Numeric) else Numeric(0.0, 1.0) for kind in map(kinds.get, names))
    are_all = n_columns == 2 or encoding is None
    means, deviations = (x.mean, y.mean), (x.deviation, y.deviation)
    return Columns((first, second), names, means, deviations, are_all, n_columns, encoding)


def _only_two(encoding: Encoding | None, n_columns: int, batches: Iterable[Batch]) -> tuple[int, ...] | None:
    """Return the indices of the only two features, or of the only two columns of a table, if these are numeric."""
    if encoding is None:
        used = (0, 1) if n_columns == 2 else _used_columns(batches)
        return used if len(used) == 2 else None
    if not encoding.is_of_table:
        return (0, 1) if n_columns == 2 else None
    columns = {name: kind for name, kind in encoding.columns.items() if kind.is_used}
    if len(columns) != 2 or not all(isinstance(kind, Numeric) for kind in columns.values()):
        return None
    return tuple(encoding.own_names.index(name) for name in columns)


def _used_columns(batches: Iterable[Batch]) -> tuple[int, ...]:
    """Return the columns that are not all 0; stop as soon as there are more than two."""
    used: set[int] = set()
    for batch in batches:
        matrix = batch.rows.matrix
        used |= set(
            np.unique(matrix.indices[matrix.data != 0] if batch.rows.is_sparse else np.nonzero(matrix)[1]).tolist()
        )
        if len(used) > 2:
            break
    return tuple(sorted(used))


def _name(place: int, encoding: Encoding | None) -> str:
    return f"column {place}" if encoding is None else encoding.own_names[place]


def picture_of(
    columns: Columns,
    examples: Examples,
    named: tuple[int, ...],
    model: Classifier | None,
    certificate: Certificate | None,
) -> BoundaryDisplay | None:
    """Return the picture of evenly spaced rows and those that are named, with the boundary of the model, or else of the
    certificate; None if the numbers are too large to draw."""
    every = max(1, -(-examples.n_rows // MOST_POINTS))
    shown = np.union1d(np.arange(0, examples.n_rows, every), np.array(named, dtype=np.int64))
    rows, labels, _ = examples.take(shown)
    points = columns.in_units(rows)
    if not np.all(np.abs(points) < 1e150):
        return None
    classes = examples.classes
    words = np.array(distinct([cut(visible(label_in_words(label)), 40) for label in classes.tolist()]))
    across, up = (grid_axis(points[:, axis], RESOLUTION) for axis in (0, 1))
    grid = columns.encoded(grid_points(across, up))
    planes = None if certificate is None else certificate.separator
    widest = _scores(planes, grid)
    scores = widest if model is None or len(classes) < 2 else model.decide_rows(grid).scores
    separable = certificate is not None and certificate.obstruction is None
    # The band of the separator of maximum margin between two classes, if the picture shows all features.
    has_band = model is None and isinstance(planes, Separator) and columns.are_all
    return BoundaryDisplay(
        points,
        words[examples.places_of(labels)],
        tuple(words.tolist()),
        across,
        up,
        None if scores is None else _on_grid(scores),
        band=certificate.margin.lower if certificate is not None and has_band else None,
        widest=None if model is None or widest is None or widest.ndim > 1 else _on_grid(widest),
        ringed=np.flatnonzero(np.isin(shown, named)),
        ringed_as="fixes the margin" if separable else "part of the proof that nothing separates",
        names=(cut(visible(columns.names[0]), 80), cut(visible(columns.names[1]), 80)),
    )


def _scores(planes: Separator | Planes | None, grid: Rows) -> Floats | None:
    """Return the scores of the separator of maximum margin, one per class for more than two."""
    if isinstance(planes, Separator):
        return np.asarray(grid.as_scipy() @ planes.folded[:-1] + planes.folded[-1])
    return None if planes is None else np.asarray(grid.as_scipy() @ planes.weights.T + planes.biases)


def _on_grid(scores: Floats) -> Floats:
    return scores.reshape(RESOLUTION, RESOLUTION, *scores.shape[1:])


def cut(text: str, longest: int) -> str:
    """Shorten text to at most `longest` characters.

    >>> cut("perceptron", 5), cut("short", 5)
    ('perc…', 'short')
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def distinct(names: list[str]) -> list[str]:
    """Make names distinct: number them if some are equal.

    >>> distinct(["a", "b"]), distinct(["a", "a"])
    (['a', 'b'], ['1: a', '2: a'])
    """
    return names if len(set(names)) == len(names) else [f"{i}: {name}" for i, name in enumerate(names, 1)]
