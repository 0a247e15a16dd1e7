"""The perceptron as a scikit-learn classifier: a thin shell around `novikoff.learn.linear.space`."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from novikoff.data.frames import read_frame
from novikoff.engine.rows import Rows, as_rows
from novikoff.estimators.given import (
    CHECKS,
    NO_LOSS,
    as_matrix,
    check_same_classes,
    is_table,
    labels_to_check,
    names_of,
    targets,
)
from novikoff.estimators.shell import ClassifierShell, end_run, verbose_watch
from novikoff.features.examples import comes_in_batches
from novikoff.learn.epochs import Watcher
from novikoff.learn.linear.memory import LinearMemory, LinearModel
from novikoff.learn.linear.space import Linear, grow
from novikoff.learn.run import Run
from novikoff.options import ClassWeight, Lead, MaxIter, Options, Readout, Scale, Tie, described

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding


TINY_MARGINS = (
    "; if the margin may be tiny, solve_inequalities on the rows y (x, 1), with labels y of -1 and +1, decides in time "
    "that grows with log(1/margin)"
)


@described
@dataclass(eq=False, repr=False, kw_only=True)
class Perceptron(ClassifierShell):
    """The perceptron: on a mistake, add the example. Binary, and multiclass by argmax.

    Block's and Novikoff's theorem (1962): if the examples have length at most R and some unit vector separates them
    with margin gamma, it makes at most (R/gamma)^2 mistakes, regardless of their number, dimension and order; with more
    than two classes at most 2 (R/gamma)^2, gamma being the multiclass margin under weights with ||W|| = 1. Every run
    leaves a record, `run_`, that states what happened and what it proves.

    Instead of a matrix and labels, `fit` takes a data set that need not fit into memory: a reader
    (`novikoff.data.read("cars.csv", label="sport")`), or any iterable of batches, each a pair (X, y). So do `predict`,
    `decision_function` and `score`. `shuffle` then permutes blocks of rows, and the rows within each. Blocks are kept
    in a temporary file where Python puts such files (set the environment variable TMPDIR to choose).

    A table of pandas, polars or pyarrow is encoded as its file would be: a missing value counts as the mean, and words
    become features of their own. A table of numbers alone gives the same model as an array of them. A model of a table
    encodes every input, also an array or a list: its columns must then be those of the table, in their order.

    Parameters
    ----------
    {options}
    verbose : int
        Above 0, a line is printed after every epoch.
    penalty, alpha, l1_ratio
        Accepted for compatibility with scikit-learn, and unused; a penalty other than None is refused.

    Notes
    -----
    `sample_weight` multiplies rows, as `class_weight` does those of a class: a mistake on a row of weight 2 moves the
    weights twice as far. That is not the same as repeating the row, which is predicted again, and adds nothing if it is
    then right. R, margins and bounds are those of the multiplied rows. A row of weight 0 is omitted.

    Examples
    --------
    >>> from novikoff import Perceptron
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = ["blue", "red", "red", "blue", "blue", "red"]
    >>> model = Perceptron(readout="last", fit_intercept=False, shuffle=False).fit(X, y)
    >>> model.coef_.tolist(), model.n_mistakes_
    ([[3.0, 1.0]], 3)
    >>> print(model.run_)
    Converged after 2 epochs (an epoch without a mistake).
    Made 3 mistakes on 12 examples; by epoch: 3, 0.
    The longest example has length R <= 2.23607, the sum of the mistakes has length 3.16228,
    so no separator has a margin above 1.0541.
    The last weights: 0 errors on 6 training rows.
    """

    model_: LinearModel = field(init=False)
    _kind = LinearModel

    readout: Readout = "average"
    fit_intercept: bool = True
    max_iter: MaxIter = "auto"
    tol: float | None = None
    n_iter_no_change: int = 5
    early_stopping: bool = False
    validation_fraction: float = 0.1
    shuffle: bool = True
    random_state: Any = None
    eta0: float = 1.0
    tie: Tie = "mistake"
    lead: Lead = "auto"
    min_margin: float | None = None
    time_limit: float | None = None
    scale: Scale = "auto"
    class_weight: ClassWeight = None
    held_out: float | None = None
    warm_start: bool = False
    record_mistakes: bool = False
    n_jobs: int | None = None
    verbose: int = 0
    penalty: None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15

    # -- learning -----------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        watch: Watcher | None = None,
    ) -> Self:
        """Learn from all rows, epoch by epoch, until one makes no mistake or a limit is reached.

        X is a matrix and y has its labels; or X is a reader or an iterable of batches, which have labels of their own.
        A table of pandas, polars or pyarrow is encoded as its file would be (`encoding_`).
        `watch` is called with the history between epochs, and may return a reason to stop. After Ctrl-C the model holds
        what was learned so far, and the interrupt is raised again.
        """
        self._fit(X, y, verbose_watch(watch, self.verbose), sample_weight)
        run: Run = self.model_.record
        end_run(self, run, TINY_MARGINS if len(self.classes_) == 2 and run.cycle is None else "")
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the rows once, in the order given: online learning.

        Labels may be named beforehand by `classes`, and are then fixed; otherwise they grow when a new one appears.
        While only one is known, no mistake is possible. A call that fails leaves the model as it was, and Ctrl-C takes
        effect after the rows are learned.
        """
        self._partial_fit(X, y, classes, sample_weight)
        return self

    # -- what was learned ---------------------------------------------------------------------------------------------

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the read-out times eta0, for the columns as given: one row for two classes, one per class for
        more. For a table, they are those of its encoded columns, `encoding_.feature_names`.
        """
        return self._weights()[:, :-1]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The intercept of the read-out, for each row of `coef_`."""
        return self._weights()[:, -1]

    @property
    def encoding_(self) -> "Encoding":
        """How the columns of a table became numbers, if the model was learned from one."""
        encoding: Encoding = self._held("encoding")
        return encoding

    def _weights(self) -> NDArray[np.float64]:
        if self.readout == "vote":
            raise AttributeError('a vote has no weights of its own; read out the "average" or the "last" ones')
        model = self._fitted()
        scaling = None if model.encoding is None else model.encoding.scales
        return model.weights() if scaling is None else scaling.for_given(model.weights())

    def _fitted(self) -> LinearModel:
        check_is_fitted(self)
        model: LinearModel = self.to_model()
        return model

    @classmethod
    def _parameters_of(cls, model: LinearModel) -> dict[str, Any]:
        own = {"readout": model.readout, "tie": model.tie, "eta0": model.eta0}
        return own | {"fit_intercept": model.memory.constant == 1.0}

    def _read_as(self) -> dict[str, Any]:
        return {"readout": self.readout, "tie": self.tie, "eta0": float(self.eta0)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -- the shell's own work -----------------------------------------------------------------------------------------

    def _options(self, *, goes_on: bool = False) -> Options:
        if self.penalty is not None:
            raise ValueError(f"penalty={self.penalty!r} is not supported: {NO_LOSS}")
        return super()._options(goes_on=goes_on)

    def _space(self) -> Linear:
        return Linear()

    def _source(self, X: Any, y: Any, goes_on: bool) -> Iterable[Any] | None:
        """A reader or batches; or a table in memory, or what has the same columns by position."""
        if comes_in_batches(X):
            if self.scale not in (False, "auto") and not getattr(X, "is_table", False) and not goes_on:
                raise ValueError(
                    "scale=True is for a matrix; a table is scaled when it is read, and batches of numbers not"
                )
            if y is not None:
                raise ValueError("y was given, but batches have labels of their own: omit y")
            source: Iterable[Any] = X
            return source
        if not (self.model_.takes_a_table if goes_on else is_table(X)):
            return None
        if y is None:
            raise ValueError(
                "fit requires y to be passed, but the target y is None; or name the column that has the labels: "
                "fit(novikoff.data.read(table, label=...))"
            )
        return self._given(X, targets(y)) if goes_on else read_frame(X, labels=targets(y))

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Rows, NDArray[Any]]:
        X, y = validate_data(self, as_matrix(X), labels_to_check(y), reset=reset, **CHECKS)
        check_classification_targets(y)
        return as_rows(X, any_order=True), y

    def _so_far_known(
        self, labels: NDArray[Any], named: ArrayLike | None, before: LinearModel | None
    ) -> tuple[NDArray[Any], LinearMemory | None, dict[str, Any]]:
        fixed = {"classes_are_fixed": named is not None or (before is not None and before.classes_are_fixed)}
        if before is None:
            return np.unique(labels) if named is None else names_of(named), None, fixed
        check_same_classes(named, before.classes)
        if before.classes_are_fixed:
            return before.classes, before.memory, fixed
        if (before.classes.dtype.kind in "biuf") != (labels.dtype.kind in "biuf"):
            one, other = before.classes.tolist()[0], labels.tolist()[0]
            raise ValueError(
                f"labels such as {one!r} and {other!r} are of different types; use only words or only numbers"
            )
        classes = np.union1d(before.classes, labels)
        if len(classes) == len(before.classes):
            return classes, before.memory, fixed
        return classes, grow(before.memory, np.searchsorted(classes, before.classes).tolist(), len(classes)), fixed
