"""The kernel perceptron on a budget: at most B support rows, and no claim about (R/gamma)^2.

Until there are B of them it is the plain one. From then on it keeps its rows, and of a mistake adds the projection on
their span (the Projectron of Orabona, Keshet & Caputo 2008): nothing is forgotten, so averages stay averages.
"""

from typing import TYPE_CHECKING

import numpy as np

from novikoff.engine.gram import DONE, visit_block
from novikoff.learn.kernel.kernels import GrowingArray, check_finite

if TYPE_CHECKING:
    from novikoff.learn.kernel.learner import KernelLearner
    from novikoff.learn.kernel.memory import Numbers


def check_budget(budget: int | None, *, readout: str = "average", min_margin: float | None = None) -> None:
    if budget is None:
        return
    if isinstance(budget, bool) or int(budget) != budget or budget < 1:
        raise ValueError(f"budget={budget!r} must be a whole number of at least 1, or None for no limit")
    if readout == "vote":
        raise ValueError(
            f'readout="vote" needs all mistakes, and budget={budget} forgets some; use readout="average", or no budget'
        )
    if min_margin is not None:
        raise ValueError(
            f"min_margin={min_margin} can be ruled out only by the sum of all mistakes, and budget={budget} forgets "
            "some; leave one of them out"
        )


def begin_to_project(space: "KernelLearner") -> None:
    """The budget is full: from now on the support is what it is."""
    space.settle()
    memory, support = space.memory, space.memory.support.points(space.matrix())
    memory.gram = np.ascontiguousarray(memory.kernel.between(support, support))
    memory.projector = np.asarray(np.linalg.pinv(memory.gram, hermitian=True), dtype=np.float64)


def visit_projected(space: "KernelLearner", rows: "Numbers") -> tuple[int, int]:
    """One block after the budget is full: the perceptron with products in the span of its rows."""
    memory = space.memory
    assert memory.projector is not None
    block = space.points.take(rows)
    values = memory.kernel.between(memory.support.points(space.matrix()), block)
    check_finite(values)
    shares = memory.projector @ values
    gram = values.T @ shares
    scores = np.ascontiguousarray(memory.coefficients.array.T @ values)
    added, narrow = np.zeros(scores.shape), np.zeros(scores.shape, dtype=np.bool_)
    along = space.along(rows)._replace(doubts=np.full(len(scores), -1.0))  # nothing that is projected is exact
    labels = np.ascontiguousarray(space.labels[:, rows])
    updates = memory.by_class.copy()
    visit_block(gram, labels, scores, 0, True, along, updates, np.zeros(len(scores)), added, narrow)
    space.note(rows, added, narrow)
    ages = memory.examples + np.arange(len(rows))
    memory.coefficients = GrowingArray.of(memory.coefficients.array + shares @ added.T)
    memory.drift = GrowingArray.of(memory.drift.array + shares @ (added * ages).T)
    memory.by_class = updates
    memory.examples += len(rows)
    return len(rows), DONE
