"""A kernel perceptron with all that it takes to use it, free of scikit-learn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import Batch, Records, with_columns
from novikoff.engine.rows import Rows, as_rows
from novikoff.learn.fit import Fitted
from novikoff.learn.kernel.kernels import Points, as_points
from novikoff.learn.kernel.memory import KernelMemory
from novikoff.learn.kernel.readout import decide, read_out
from novikoff.learn.linear.memory import predicted
from novikoff.learn.model import Classifier, Decided
from novikoff.say.words import counted


@dataclass(frozen=True, eq=False)
class KernelModel(Classifier):
    """The support rows with their coefficients, the classes, and how they are read out.

    >>> from novikoff.learn.kernel.space import kernel_perceptron
    >>> X = [[0, 0], [1, 1], [0, 1], [1, 0]]
    >>> learned = kernel_perceptron(X, [1, 1, -1, -1], kernel="poly", degree=2, gamma=1, random_state=0)
    >>> KernelModel(learned.memory, np.array(["even", "odd"])[::-1], run=learned.run).predict(X).tolist()
    ['even', 'even', 'odd', 'odd']
    """

    memory: KernelMemory

    @classmethod
    def of(cls, learned: Fitted, parameters: Mapping[str, Any]) -> "KernelModel":
        """The model that was learned from examples; `parameters` are the options with which it was."""
        encoding, mistakes = learned.encoding, learned.mistakes
        return cls(
            learned.memory,
            learned.classes,
            readout=parameters.get("readout", "average"),
            encoding=encoding,
            run=learned.run,
            fingerprint=learned.fingerprint,
            parameters=dict(parameters),
            n_iter=learned.run.epochs,
            mistake_rows=None if mistakes is None else mistakes.rows,
        )

    def points(self, X: Any) -> Points:
        """Examples as the kernel takes them."""
        return as_points(X, self.memory.kernel.form, square=False)

    def deciding_scores(self, X: Any) -> NDArray[np.float64]:
        """The score of every example as it is learned, or the share of the votes; a column a class for more classes."""
        return decide(self.memory, self.points(X), self.readout)

    def scores(self, X: Any) -> NDArray[np.float64]:
        """The same of examples as they are given: a batch, or what else the kernel takes."""
        return self.deciding_scores(self._encoded(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of every example."""
        return self.classes[predicted(self.scores(X))]

    def _encoded(self, X: Any) -> Any:
        batch = X if isinstance(X, Batch | Records) or self.encoding is None else Batch(as_rows(X), None)
        if self.encoding is not None:
            batch = self.encoding.encode(batch)
        return batch.rows if isinstance(batch, Batch) else batch

    def decide_rows(self, rows: Rows) -> Decided:
        if rows.is_sparse and self.n_columns is not None:
            rows = with_columns(rows, self.n_columns)  # a column that was never learned counts as 0
        scores = self.deciding_scores(rows)
        return Decided(self.classes[predicted(scores)], lambda: scores)

    @property
    def n_support(self) -> int:
        """How many examples are kept."""
        return int(self.memory.coefficients.length)

    @property
    def in_words(self) -> str:
        """What predicts: the kernel, and how many examples it is compared with."""
        return (
            f"the {self.memory.kernel} with {counted(self.n_support, 'example')} that were mistaken, each with a weight"
        )

    def coefficients(self) -> NDArray[np.float64]:
        """The coefficients of the support rows in the read-out, a row a class."""
        if self.readout == "vote":
            raise ValueError('a vote has no coefficients of its own; read out the "average" or the "last" ones')
        return read_out(self.memory, self.readout).T
