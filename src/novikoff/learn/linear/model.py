"""A linear perceptron with all that prediction needs, free of scikit-learn: the content of a model file."""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import with_columns
from novikoff.engine.rows import Rows
from novikoff.learn.linear.memory import Decider, LinearMemory, decider, read_out, written_out
from novikoff.learn.model import Classifier, Decided, NamedWeight
from novikoff.options import Tie, check_options


@dataclass(frozen=True, eq=False)
class LinearModel(Classifier):
    """What was learned, and how it is read out.

    `classes_are_fixed` unless learning may add new ones.

    >>> from novikoff.learn.linear.files import learn_from
    >>> first = ([[-1, 2], [1, 0], [1, 1]], ["blue", "red", "red"])
    >>> second = ([[-1, 0], [-1, -2], [1, -1]], ["blue", "blue", "red"])
    >>> options = {"fit_intercept": False, "shuffle": False, "readout": "last"}
    >>> model = LinearModel.of(learn_from([first, second], **options), options)
    >>> model.weights_by_name()
    [NamedWeight(label=None, name='column 0', weight=3.0), NamedWeight(label=None, name='column 1', weight=1.0)]
    >>> from novikoff.engine.rows import as_rows
    >>> model.predict(as_rows([[5.0, -1.0], [-5.0, 1.0]])).tolist()
    ['red', 'blue']
    """

    READ_BY = ("readout", "tie", "eta0")

    memory: LinearMemory
    _: KW_ONLY
    tie: Tie = "mistake"
    eta0: float = 1.0
    classes_are_fixed: bool = True

    def __post_init__(self) -> None:
        check_options(readout=self.readout, tie=self.tie, eta0=self.eta0)

    def decide_rows(self, rows: Rows) -> Decided:
        rows = self._fitting(rows)
        return Decided(self.labels(rows), lambda: self.shown(self.deciding_scores(rows)))

    def deciding_scores(self, rows: Rows) -> NDArray[np.float64]:
        """The scores that decide, before division or multiplication."""
        return self._decider.score(rows)

    def labels(self, rows: Rows) -> NDArray[Any]:
        """The class of every example, in less time than its scores take."""
        if len(self.classes) == 1:
            return np.repeat(self.classes, rows.n_rows)
        return self.classes[self._decider.classes(rows)]

    def shown(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Deciding scores as they are shown."""
        return self._decider.shown(scores, self.eta0)

    def weights_by_name(self, most: int | None = None) -> list[NamedWeight]:
        """The weights of the read-out that are not 0, the largest absolute value first; at most so many of them."""
        weights = self._weights()
        places = np.flatnonzero(weights)
        sizes = -np.abs(weights.ravel()[places])
        if most is not None and most < len(places):  # ties with the last one stay, so that the order decides
            places = places[heaviest := sizes <= np.partition(sizes, most)[most]]
            sizes = sizes[heaviest]
        order = np.argsort(sizes, kind="stable")[:most]
        of_class, of_feature = np.divmod(places[order], weights.shape[1])
        labels = [None] if len(weights) == 1 else self.classes.tolist()
        found = zip(of_class.tolist(), of_feature.tolist(), strict=True)
        return [NamedWeight(labels[c], self._name(j), float(weights[c, j])) for c, j in found]

    def weights(self) -> NDArray[np.float64]:
        """The weights of the read-out times the learning rate: a row per class (one for two), the intercept last."""
        return written_out(self.memory, self._weights())

    def _weights(self) -> NDArray[np.float64]:
        if self.readout == "vote":
            raise ValueError('a vote has no weights of its own; read out the "average" or the "last" ones')
        return self.eta0 * read_out(self.memory, self.readout)

    @cached_property
    def _decider(self) -> Decider:
        return decider(self.memory, self.readout)

    def _fitting(self, rows: Rows) -> Rows:
        if rows.is_sparse:
            return with_columns(rows, self.memory.n_columns)  # a column not seen in training has the weight 0
        if rows.n_columns != self.memory.n_columns:
            raise ValueError(f"the rows have {rows.n_columns} columns, but the model has {self.memory.n_columns}")
        return rows

    def _name(self, place: int) -> str | None:
        """The name of the feature whose weight has this place, or None for the intercept."""
        if place == self.memory.weights.shape[1] - 1:
            return None
        column = place if self.memory.columns is None else int(self.memory.columns[place])
        if self.encoding is not None and self.encoding.names_features:
            return self.encoding.name(column)
        return f"column {column}" if self.feature_names is None else self.feature_names[column]
