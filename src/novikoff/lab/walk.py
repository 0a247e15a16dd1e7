"""A run of the perceptron, example by example: which were visited, which were mistakes, and the weights between.

The library learns, epoch by epoch; here its mistakes are laid out so that a page can step back and forth among them.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.order import given_order, random_order
from novikoff.engine.rows import as_rows
from novikoff.features.fold import fold_bias
from novikoff.lab.state import Floats, State, lifted
from novikoff.learn.kernel import space as kernel
from novikoff.learn.kernel.kernels import KernelFunction, Vectors
from novikoff.learn.kernel.memory import KernelMemory
from novikoff.learn.kernel.memory import decide as kernel_decide
from novikoff.learn.linear import space as linear
from novikoff.learn.linear.memory import LinearMemory, decider, scores
from novikoff.learn.run import Cycle, Stopped
from novikoff.options import Readout

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Walk:
    """Steps t = 1, 2, ...: the row visited, and whether it was added, as a mistake or, with a lead, as a narrow
    example. `stopped` is None if nothing was visited; `cycle` has the epochs between which the weights recurred.
    """

    visits: Numbers
    mistaken: NDArray[np.bool_]
    stopped: Stopped | None = None
    cycle: Cycle | None = None

    @property
    def mistake_rows(self) -> Numbers:
        return self.visits[self.mistaken]

    @property
    def mistakes_before(self) -> Numbers:
        """For every step, how many mistakes were made before it."""
        return np.cumsum(self.mistaken) - self.mistaken


@lru_cache(maxsize=32)
def walk_of(state: State) -> Walk:
    """Run epochs until one makes no mistake, or max_iter is reached; or, in one order, until the weights recur."""
    n = len(state.points)
    if not n:
        return Walk(np.empty(0, dtype=np.int64), np.empty(0, dtype=bool))
    options: dict[str, Any] = {"tie": state.tie, "lead": state.lead, "max_iter": state.epochs, "record_mistakes": True}
    options |= {"readout": "vote" if state.readout == "all" else state.readout}
    options |= {"shuffle": state.shuffle, "random_state": state.seed}
    # Folding changes nothing unless it matters; unfolded, the run is that of the script.
    examples, labels = state.learned if state.folding_matters else (state.rows, state.labels)
    if state.is_kernel:
        learned: Any = kernel.kernel_perceptron(examples, labels, **kernel_options(state), **options)
    else:
        learned = linear.perceptron(examples, labels, fit_intercept=state.adds_one, **options)
    run = learned.run
    generator, many = np.random.default_rng(state.seed), {"epochs": run.epochs}
    order = random_order(n, generator, **many) if state.shuffle else given_order(n, **many)
    mistaken = np.isin(np.arange(n * run.epochs), learned.mistakes.times)
    return Walk(order.visit.astype(np.int64), mistaken, run.stopped, run.cycle)


def empty_memory(state: State) -> LinearMemory | KernelMemory:
    if state.is_kernel:
        return KernelMemory.empty(kernel_of(state), vote=True)
    return LinearMemory.empty(state.rows.shape[1], fit_intercept=state.adds_one, vote=True)


def kernel_options(state: State) -> dict[str, Any]:
    """Return (<x, z> + 1)^degree, with the 1 of the intercept, or exp(-gamma ||x - z||^2), which has none."""
    if state.space == "rbf":
        return {"kernel": "rbf", "gamma": state.gamma}
    return {"kernel": "poly", "gamma": 1.0, "degree": state.degree, "coef0": float(state.fit_intercept)}


def kernel_of(state: State) -> KernelFunction:
    options = kernel_options(state)
    return KernelFunction(options.pop("kernel"), **options)


def memory_at(state: State, step: int) -> LinearMemory | KernelMemory:
    """Return what the learner remembers after so many steps."""
    memory: Any = empty_memory(state)
    if step:
        learn = kernel.learn_online if state.is_kernel else linear.learn_online
        rows, (examples, labels) = walk_of(state).visits[:step], state.learned
        learn(memory, examples[rows], labels[rows], tie=state.tie, lead=state.lead)
    return memory


def decided(state: State, memory: LinearMemory | KernelMemory, readout: Readout, plane: Floats) -> Floats:
    """Return the scores of points of the plane, or their fraction of the votes."""
    if isinstance(memory, KernelMemory):
        return kernel_decide(memory, Vectors.of(plane), readout)
    rows = lifted(plane) if state.space == "circle" else plane
    if state.fit_intercept and state.is_scaled:
        rows = fold_bias(rows)  # of another length, which changes no sign
    decides = decider(memory, readout)
    return decides.shown(decides.score(as_rows(rows)))


def weights_along(state: State, walk: Walk) -> Floats:
    """Return the weights after each mistake, from the zero vector on, the intercept last: sums of the mistakes."""
    rows = walk.mistake_rows
    constant = np.full((len(rows), 1), float(state.adds_one))
    added = np.hstack([state.rows[rows], constant]) * state.labels[rows, None]
    return np.vstack([np.zeros(added.shape[1]), np.cumsum(added, axis=0)])


def scores_along(state: State, walk: Walk) -> Floats:
    """Return, for every step, the score of its example under the weights before it."""
    before = walk.mistakes_before
    if not len(walk.visits):
        return np.empty(0)
    if state.is_kernel:
        gram, coefficients = gram_of(state), coefficients_along(state, walk)
        return np.einsum("ij,ij->i", coefficients[before], gram[walk.visits])
    weights = weights_along(state, walk)
    examples, _ = state.learned
    table = scores(as_rows(examples), weights, float(state.adds_one)).reshape(len(examples), len(weights))
    return table[walk.visits, before]


def gram_of(state: State) -> Floats:
    points = Vectors.of(state.rows)
    return kernel_of(state).between(points, points)


def coefficients_along(state: State, walk: Walk) -> Floats:
    """Return the coefficient of every point after each mistake: how often it was added, times its label."""
    rows = walk.mistake_rows
    added = np.zeros((len(rows) + 1, len(state.points)))
    added[np.arange(1, len(rows) + 1), rows] = state.labels[rows]
    return np.cumsum(added, axis=0)
