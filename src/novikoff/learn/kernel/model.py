"""A kernel perceptron with all that prediction needs, free of scikit-learn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import with_columns
from novikoff.engine.rows import Rows
from novikoff.learn.kernel.kernels import Points, as_points
from novikoff.learn.kernel.memory import KernelMemory, decide, read_out
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

    def points(self, X: Any) -> Points:
        """Examples as the kernel takes them."""
        return as_points(X, self.memory.kernel.form, square=False)

    def deciding_scores(self, X: Any) -> NDArray[np.float64]:
        """The score of every example as it is learned, or the vote fraction; for more classes a column each."""
        return decide(self.memory, self.points(X), self.readout)

    def decide_rows(self, rows: Any) -> Decided:
        if isinstance(rows, Rows) and rows.is_sparse and self.n_columns is not None:
            rows = with_columns(rows, self.n_columns)  # a column not seen in training counts as 0
        scores = self.deciding_scores(rows)
        return Decided(self.classes[predicted(scores)], lambda: scores)

    @property
    def n_support(self) -> int:
        """The number of support rows."""
        return len(self.memory.coefficients)

    @property
    def in_words(self) -> str:
        """The kernel and the number of support rows, in words."""
        return (
            f"the {self.memory.kernel} with {counted(self.n_support, 'example')} that were mistaken, each with a weight"
        )

    def coefficients(self) -> NDArray[np.float64]:
        """The coefficients of the support rows in the read-out, a row per class."""
        if self.readout == "vote":
            raise ValueError('a vote has no coefficients of its own; read out the "average" or the "last" ones')
        return read_out(self.memory, self.readout).T
