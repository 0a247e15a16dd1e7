"""The perceptron in the space of a kernel: the weights are the sum of the mistakes, so products with them suffice.

w = sum a_j phi(x_j) over the mistaken rows x_j, hence <w, phi(x)> = sum a_j K(x_j, x) (Aizerman, Braverman & Rozonoer
1964; Freund & Schapire 1999). It is the online algorithm, example by example, computed in blocks: the kernel of a block
against the support rows is one matrix product, and the block's own kernel matrix serves the sequential part. From the
second epoch on, scores start from those of the last epoch, so that only the mistakes since then are computed.

There is no intercept: a constant added to the kernel plays that role. With more than two classes each has its own
binary perceptron, against the rest; they share the support rows, with a coefficient for each class.

*Exactness.* A score is a sum of many kernel values, and the order of summation changes its last digits. Where that
could decide a mistake, the row is scored again: products in column order, their sum exact. So block sizes, and dense
and sparse rows of the same values, make the same mistakes (a user's own kernel function is trusted).

*With a budget* of B support rows the bound (R/gamma)^2 is not claimed. Up to B of them the algorithm is the plain one;
then they are fixed, and a mistake adds its projection on their span (the Projectron of Orabona, Keshet & Caputo 2008):
nothing is forgotten, so averages stay averages.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.data.batches import stacked
from novikoff.data.examples import Examples, check_labels
from novikoff.learn.class_weights import ExampleWeights, class_weights
from novikoff.learn.epochs import Watcher
from novikoff.learn.fit import Fitted, Space, fit, given_examples, learn_once
from novikoff.learn.kernel.kernels import KernelFunction, as_points, make_kernel
from novikoff.learn.kernel.learner import KernelLearner, PointExamples
from novikoff.learn.kernel.memory import KernelMemory
from novikoff.options import Options, Tie


@dataclass(frozen=True)
class KernelSpace(Space):
    """The space of a kernel, perhaps with a parameter derived from the rows (gamma="scale"), and a budget.

    `form` is the kernel once the rows are known, and `weights` are the class weights, if any.
    """

    kernel: str | Callable[..., Any] = "rbf"
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 1.0
    kernel_params: dict[str, Any] | None = None
    budget: int | None = None
    form: KernelFunction | None = None
    weights: ExampleWeights = None

    def examples(self, X: Any, y: Any, classes: int | NDArray[Any], weights: Any = None) -> PointExamples:
        if isinstance(classes, int):
            classes = np.array([-1, 1]) if classes == 2 else np.arange(classes)
        points = as_points(X, self.kernel)
        return PointExamples(points, check_labels(y, len(points), len(classes)), classes)

    def taken(self, examples: Examples | PointExamples, options: Options) -> PointExamples:
        if isinstance(examples, Examples):
            if examples.weights is not None:
                raise ValueError("with a kernel, every row counts the same: omit sample_weight")
            blocks = list(examples.blocks())
            points = as_points(stacked([block.rows for block in blocks]), self.kernel)
            labels = np.concatenate([block.labels for block in blocks])
            known = examples.classes, examples.encoding, examples.fingerprint, examples.is_encoded
            examples = PointExamples(points, labels, *known)
        return replace(examples, is_encoded=examples.is_encoded or self.is_scaled)

    def over(self, examples: PointExamples, options: Options) -> "KernelSpace":
        margin = options.min_margin
        self._check_budget(options)
        how: dict[str, Any] = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        form = make_kernel(self.kernel, examples.points, **how, params=self.kernel_params)
        if margin is not None and not form.is_definite:
            raise ValueError(
                f"min_margin={margin} cannot be ruled out with kernel={self.kernel!r}: it is not positive definite"
            )
        weights = class_weights(options.class_weight, examples.classes, examples.counts)
        return replace(self, form=form, weights=weights)

    def learner(self, examples: PointExamples, options: Options, memory: KernelMemory | None = None) -> KernelLearner:
        if memory is None:
            assert self.form is not None
            n_classes, vote = len(examples.classes), options.readout == "vote"
            memory = KernelMemory.empty(self.form, n_classes, vote=vote, budget=self.budget, class_weights=self.weights)
        elif memory.kernel.form == "precomputed":
            raise ValueError(
                'kernel="precomputed" cannot learn in parts: a matrix of new rows has no products with those learned '
                "before; call fit with the whole matrix, or pass the kernel as a function"
            )
        return KernelLearner(examples, memory, options)

    def _check_budget(self, options: Options) -> None:
        budget = self.budget
        if budget is None:
            return
        if isinstance(budget, bool) or int(budget) != budget or budget < 1:
            raise ValueError(f"budget={budget!r} must be a whole number of at least 1, or None for no limit")
        needs = {'readout="vote"': options.readout == "vote", f"min_margin={options.min_margin}": options.min_margin}
        for name, is_asked in needs.items():
            if is_asked:
                raise ValueError(f"{name} needs all mistakes, and budget={budget} forgets some; omit one of them")

    @property
    def is_scaled(self) -> bool:
        """Whether a parameter of the kernel was derived from the rows."""
        fixed = callable(self.kernel) or self.kernel in ("linear", "precomputed")
        return self.gamma == "scale" and not fixed


def kernel_perceptron(
    X: Any,
    y: ArrayLike | None = None,
    *,
    n_classes: int = 2,
    classes: NDArray[Any] | None = None,
    watch: Watcher | None = None,
    progress: Callable[[KernelMemory], None] | None = None,
    **asked: Any,
) -> Fitted:
    """The batch perceptron with a kernel: epochs until one makes no mistake, or a limit is reached.

    The parameters are fields of `KernelSpace` and options of `novikoff.options`; labels are as in `perceptron`. Every
    class against the rest has the same `lead`, in units of the largest K(x, x) so far, and with `min_margin` learning
    stops as soon as ||w||/k is below that for some class. A `class_weight` c makes phi(x) c phi(x).

    The record counts the mistakes of all classes. Its `errors` are known only after an epoch without a mistake:
    otherwise, scoring every row would cost as much as learning did.

    XOR, which no line separates:

    >>> X = [[0, 0], [1, 1], [0, 1], [1, 0]]
    >>> learned = kernel_perceptron(X, [1, 1, -1, -1], kernel="poly", degree=2, gamma=1, readout="last")
    >>> learned.run.stopped.name, learned.run.errors
    ('NO_MISTAKES', 0)
    """
    own = {name: asked.pop(name) for name in SPACE if name in asked}
    space, options = KernelSpace(**own), Options.of(asked, "kernel_perceptron")
    examples = given_examples(space, X, y, n_classes if classes is None else classes)
    return fit(examples, space, options, watch=watch, progress=progress)


# The parameters of the space; all others are options of learning.
SPACE = ("kernel", "gamma", "degree", "coef0", "kernel_params", "budget")


def learn_online(memory: KernelMemory, X: Any, y: ArrayLike, *, tie: Tie = "mistake", lead: float = 0.0) -> None:
    """Learn the rows in the order given, once, into `memory`.

    If rows or labels are invalid, `memory` is not changed; kernel values can turn out invalid later, so pass a `copy`
    to be safe.
    """
    space = KernelSpace(memory.kernel.form)
    learn_once(space.examples(X, y, memory.n_classes), space, Options(tie=tie, lead=lead), memory)
