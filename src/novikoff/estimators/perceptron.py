"""The perceptron as a scikit-learn classifier: a thin shell around `novikoff.learn.linear.space`."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from novikoff.data.frames import read_frame
from novikoff.engine.rows import Rows, as_rows
from novikoff.engine.threads import on_cores
from novikoff.estimators.given import (
    CHECKS,
    NO_LOSS,
    as_matrix,
    check_same_classes,
    inner_labels,
    is_table,
    labels_to_check,
    names_of,
    targets,
    weighted_rows,
)
from novikoff.estimators.shell import ClassifierShell, all_or_nothing, end_run, lead_of, verbose_watch
from novikoff.features.examples import comes_in_batches
from novikoff.learn.class_weights import class_weights
from novikoff.learn.epochs import Watcher, put_off_interrupt
from novikoff.learn.fit import Fitted
from novikoff.learn.linear.files import learn_from
from novikoff.learn.linear.memory import LinearMemory, LinearModel, columns_to_keep
from novikoff.learn.linear.space import grow, learn_online, perceptron
from novikoff.learn.review import voided
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
        goes_on = self.warm_start and self.__sklearn_is_fitted__()
        options = self._options(goes_on=goes_on)
        how: dict[str, Any] = {"start": self.model_.memory if goes_on else None}
        how["watch"] = verbose_watch(watch, self.verbose)
        with on_cores(self.n_jobs), all_or_nothing(self):
            X, y, weights, rows = weighted_rows(X, y, sample_weight)
            X, y = self._with_labels(X, y, goes_on)
            if comes_in_batches(X):
                learned = self._learn_batches(X, y, options, goes_on, **how)
            else:
                how |= {"sample_weight": weights, "goes_on": goes_on}
                learned = self._learn_rows(perceptron, X, y, options, **how)
            if not self.record_mistakes:  # they may have been kept for a vote
                learned = replace(learned, mistakes=None)
            elif rows is not None and learned.mistakes is not None:
                learned = replace(learned, mistakes=learned.mistakes.numbered(rows))
            names = None if comes_in_batches(X) else self._feature_names()
            review = voided(self.model_.review) if goes_on else None
            self._hold(LinearModel.of(learned, self.get_params(deep=False), feature_names=names, review=review))
        end_run(self, learned.run, TINY_MARGINS if len(self.classes_) == 2 and learned.run.cycle is None else "")
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
        self._options()
        with on_cores(self.n_jobs), put_off_interrupt(), all_or_nothing(self):
            before = getattr(self, "model_", None)
            X, y, weights, kept = weighted_rows(X, y, sample_weight)
            rows, labels, encoding = self._rows_to_learn(X, y)
            known, fixed = self._known_classes(labels, classes, before)
            memory = self._memory_for(rows, known, before)
            seen = memory.examples
            options: dict[str, Any] = {"tie": self.tie, "lead": lead_of(self), "record_mistakes": self.record_mistakes}
            mistakes = learn_online(memory, rows, inner_labels(labels, known), sample_weight=weights, **options)
            made: dict[str, Any] = dict.fromkeys(("mistake_rows", "mistake_guesses"))
            if mistakes is not None and self.record_mistakes:
                rows = mistakes.rows if kept is None else kept[mistakes.rows]
                made = {"mistake_rows": rows + seen, "mistake_guesses": known[mistakes.wrong]}
            self._hold(LinearModel(memory, known, classes_are_fixed=fixed, **self._so_far(encoding, **made)))
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

    def _with_labels(self, X: Any, y: Any, goes_on: bool) -> tuple[Any, Any]:
        """A table in memory, or what has the same columns by position, as a labelled source; the rest unchanged."""
        if not (self.model_.takes_a_table if goes_on else is_table(X)) or comes_in_batches(X):
            return X, y
        if y is None:
            raise ValueError(
                "fit requires y to be passed, but the target y is None; or name the column that has the labels: "
                "fit(novikoff.data.read(table, label=...))"
            )
        return (self._given(X, targets(y)) if goes_on else read_frame(X, labels=targets(y))), None

    def _learn_batches(self, X: Iterable[Any], y: Any, options: Options, goes_on: bool, **how: Any) -> Fitted:
        if self.scale not in (False, "auto") and not getattr(X, "is_table", False) and not goes_on:
            raise ValueError(
                "scale=True is for a matrix; a table is scaled when it is read, and batches of numbers not"
            )
        if y is not None:
            raise ValueError("y was given, but batches have labels of their own: omit y")
        if goes_on:
            return learn_from(X, classes=self.classes_, encoding=self.model_.encoding, **how, **vars(options))
        return learn_from(X, encoding=self._first_encoding(X, options.held_out), **how, **vars(options))

    def _memory_for(self, rows: Rows, classes: NDArray[Any], before: LinearModel | None) -> LinearMemory:
        """The memory to learn these rows into."""
        if before is None:
            columns = columns_to_keep([rows], rows.n_columns, rows.n_entries, len(classes))
            options: dict[str, Any] = {"fit_intercept": self.fit_intercept, "vote": self.readout == "vote"}
            memory = LinearMemory.empty(rows.n_columns, len(classes), **options, columns=columns)
            return replace(memory, class_weights=class_weights(self.class_weight, classes, None))
        if len(classes) > len(before.classes):
            return grow(before.memory, np.searchsorted(classes, before.classes).tolist(), len(classes))
        return before.memory

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Rows, NDArray[Any]]:
        X, y = validate_data(self, as_matrix(X), labels_to_check(y), reset=reset, **CHECKS)
        check_classification_targets(y)
        return as_rows(X, any_order=True), y

    def _known_classes(
        self, labels: NDArray[Any], named: ArrayLike | None, before: LinearModel | None
    ) -> tuple[NDArray[Any], bool]:
        """The classes after a `partial_fit`, and whether they are fixed from now on."""
        if before is None:
            return (np.unique(labels), False) if named is None else (names_of(named), True)
        check_same_classes(named, before.classes)
        if before.classes_are_fixed:
            return before.classes, True
        if (before.classes.dtype.kind in "biuf") != (labels.dtype.kind in "biuf"):
            one, other = before.classes.tolist()[0], labels.tolist()[0]
            raise ValueError(
                f"labels such as {one!r} and {other!r} are of different types; use only words or only numbers"
            )
        return np.union1d(before.classes, labels), named is not None
