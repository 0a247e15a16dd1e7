"""The kernel perceptron as a scikit-learn classifier: a thin shell around `novikoff.learn.kernel.space`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from novikoff.data.batches import stacked
from novikoff.data.frames import read_frame
from novikoff.estimators.given import (
    CHECKS,
    as_matrix,
    check_same_classes,
    is_table,
    labels_to_check,
    names_of,
    targets,
)
from novikoff.estimators.shell import ClassifierShell, end_run
from novikoff.learn.epochs import Watcher
from novikoff.learn.kernel.kernels import Objects, is_matrix
from novikoff.learn.kernel.memory import KernelMemory, KernelModel
from novikoff.learn.kernel.space import SPACE, KernelSpace
from novikoff.options import ClassWeight, Lead, MaxIter, Readout, Scale, Tie, described

if TYPE_CHECKING:
    from novikoff.data.held_out import HeldOut
    from novikoff.features.encode import Encoding


@described
@dataclass(eq=False, repr=False, kw_only=True)
class KernelPerceptron(ClassifierShell):
    """The perceptron in the space of a kernel: on a mistake, keep the example. Binary, and one against the rest.

    The theorem of Block and Novikoff holds in that space: with R^2 the largest K(x, x), and gamma the margin of a
    separator there, at most (R/gamma)^2 mistakes; `certify(K, y, kernel="precomputed", fit_intercept=False)` finds
    gamma. The mistakes are the model: memory grows with them, never with the square of the number of rows.

    There is no intercept: a constant added to the kernel plays that role, such as the coef0 of "poly".

    With more than two classes, mistakes are summed over the classes, `mistake_rows_` has a row once for each class that
    was mistaken about it, ||w|| is that of all classes together, and the margin ruled out is the smallest of a class:
    some class is not separable from the rest with more. Errors on the training rows are counted only after an epoch
    without a mistake, when they cost nothing.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "laplacian", "sigmoid", "precomputed"} or callable
        The product of two examples: exp(-gamma ||x - z||^2), (gamma <x, z> + coef0)^degree, <x, z>,
        exp(-gamma sum |x_j - z_j|), tanh(gamma <x, z> + coef0), or an entry of X, which then is the kernel matrix. A
        function gets two arrays of rows and returns the matrix of their values; if X is a list of other things, such as
        strings, it gets two of them and returns a number. "sigmoid" is not positive definite: there is no R and no
        claim about margins. A function or matrix is assumed to be.
    degree, gamma, coef0 : numbers
        The numbers in the kernel. gamma="scale" is 1/(columns x variance of X), "auto" is 1/columns; with `partial_fit`
        they are those of the first rows.
    kernel_params : dict or None
        Named arguments for a kernel function.
    {options}
    budget : int or None
        The most support rows, over all classes; None for no limit. A budget of B needs memory for B x B numbers. Once
        it is full, a mistake adds its projection on the span of the support rows (the Projectron). With a budget,
        mistakes are forgotten, so there is no claim about margins, and no vote.

    Examples
    --------
    XOR is not separable by a line, but by a parabola:

    >>> from novikoff import KernelPerceptron
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["even", "even", "odd", "odd"]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1, readout="last", shuffle=False).fit(X, y)
    >>> model.predict(X).tolist()
    ['even', 'even', 'odd', 'odd']
    >>> model.run_.stopped.name, model.n_mistakes_, len(model.support_)
    ('NO_MISTAKES', 21, 4)

    Strings need no numbers, only a kernel:

    >>> def shared(a, b):
    ...     return len(set(a) & set(b))
    >>> words = ["cat", "act", "dog", "god"]
    >>> KernelPerceptron(kernel=shared, shuffle=False).fit(words, [1, 1, 0, 0]).predict(["taco", "good"]).tolist()
    [1, 0]
    """

    model_: KernelModel = field(init=False)
    _kind = KernelModel

    kernel: str | Callable[..., Any] = "rbf"
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 1.0
    kernel_params: dict[str, Any] | None = None
    readout: Readout = "average"
    max_iter: MaxIter = "auto"
    shuffle: bool = True
    random_state: Any = None
    tie: Tie = "mistake"
    lead: Lead = "auto"
    min_margin: float | None = None
    time_limit: float | None = None
    scale: Scale = "auto"
    class_weight: ClassWeight = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    budget: int | None = None
    held_out: float | None = None
    record_mistakes: bool = False

    # -- learning -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, *, watch: Watcher | None = None) -> Self:
        """Learn from all rows, epoch by epoch, until one makes no mistake or a limit is reached.

        `watch` is called with the history between epochs, and may return a reason to stop. After Ctrl-C the model holds
        what was learned so far, and the interrupt is raised again.
        """
        self._fit(X, y, watch)
        end_run(self, self.model_.record)
        return self

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn the rows once, in the order given: online learning.

        The first call fixes the labels: those named by `classes`, or those in `y`. They cannot grow, because a class
        that comes late has not seen the earlier rows, which belong to its rest. A call that fails leaves the model as
        it was; Ctrl-C takes effect at the end. A precomputed kernel matrix cannot be learned in parts.
        """
        self._partial_fit(X, y, classes)
        return self

    # -- what was learned ---------------------------------------------------------------------------------------------

    @property
    def support_(self) -> NDArray[np.int64]:
        """The support rows, by number, counted from the first row ever seen."""
        return self._held("memory").rows.copy()

    @property
    def support_vectors_(self) -> Any:
        """The support rows themselves: an array, CSR array or list; with "precomputed", their numbers."""
        support = self._held("memory").support
        return [] if support is None else support.shown()

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients of the support rows in the read-out: one row for two classes, one per class for more."""
        if self.readout == "vote":
            raise AttributeError('a vote has no coefficients of its own; read out the "average" or the "last" ones')
        coefficients: NDArray[np.float64] = self.to_model().coefficients()
        return coefficients

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    # -- the shell's own work -----------------------------------------------------------------------------------------

    @property
    def _takes_columns(self) -> bool:
        """Whether rows have columns, and are not objects or products that only the user's kernel understands."""
        return not callable(self.kernel) and self.kernel != "precomputed"

    def _learns_as_table(self, X: Any) -> bool:
        return self._takes_columns and super()._learns_as_table(X)

    def _space(self) -> KernelSpace:
        return KernelSpace(**{name: getattr(self, name) for name in SPACE})

    def _source(self, X: Any, y: Any, goes_on: bool) -> Iterable[Any] | None:
        return read_frame(X, labels=targets(y)) if is_table(X) and self._takes_columns else None

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, NDArray[Any]]:
        if self._are_objects(X, first=reset):
            labels = column_or_1d(labels_to_check(y))
            if len(labels) != len(X):
                raise ValueError(f"y has {len(labels)} labels, but X has {len(X)} examples: one label each is needed")
            X = Objects(list(X))
        else:
            X, labels = validate_data(self, as_matrix(X), labels_to_check(y), reset=reset, **CHECKS)
        check_classification_targets(labels)
        return X, labels

    def _to_decide(self, X: Any) -> list[Any]:
        if self._are_objects(X, first=False):
            return [Objects(list(X))]
        if not self._takes_columns:
            return [validate_data(self, as_matrix(X), reset=False, **CHECKS)]
        parts = list(super()._to_decide(X))
        return [stacked(parts)] if parts else []

    def _scales(self, X: Any, aside: "HeldOut | None" = None) -> "tuple[Encoding | None, str | None]":
        if not isinstance(X, Objects) and self._takes_columns:
            return super()._scales(X, aside)
        if self.scale not in (False, "auto"):
            raise ValueError("scale=True is for rows of numbers and a kernel with a name; omit it")
        return None, None

    def _are_objects(self, X: Any, *, first: bool) -> bool:
        """Whether the examples are objects that only a kernel function understands, as the first ones were."""
        if not callable(self.kernel):
            return False
        return not is_matrix(X) if first else self.model_.n_columns is None

    def _so_far_known(
        self, labels: NDArray[Any], named: ArrayLike | None, before: KernelModel | None
    ) -> tuple[NDArray[Any], KernelMemory | None, dict[str, Any]]:
        if before is None:
            return _at_least_two_named(np.unique(labels) if named is None else names_of(named)), None, {}
        check_same_classes(named, before.classes)
        return before.classes, before.memory.copy(), {}


def _at_least_two_named(classes: NDArray[Any]) -> NDArray[Any]:
    if len(classes) < 2:
        raise ValueError(
            f"only one class is known, {classes.tolist()}, and the first partial_fit fixes the labels; "
            "name all of them by classes="
        )
    return classes
