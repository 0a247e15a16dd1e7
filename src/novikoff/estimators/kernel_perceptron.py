"""The kernel perceptron as a scikit-learn classifier: a thin shell around `novikoff.learn.kernel.space`."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from novikoff.estimators.shell import (
    CHECKS,
    all_or_nothing,
    as_matrix,
    at_least_two,
    inner_labels,
    labels_to_check,
    names_of,
    seed_of,
    warn_unless_converged,
)
from novikoff.learn.epochs import check_choices
from novikoff.learn.history import Readout, Run, Stopped, Tie
from novikoff.learn.kernel.kernels import Objects, Points, as_points, check_kernel, is_matrix, make_kernel
from novikoff.learn.kernel.memory import BudgetRule, Memory
from novikoff.learn.kernel.readout import decide, read_out
from novikoff.learn.kernel.space import check_budget, kernel_perceptron, learn_online
from novikoff.learn.linear.space import predicted


class KernelPerceptron(ClassifierMixin, BaseEstimator):
    """The perceptron in the space of a kernel: on a mistake, keep the example. Binary, and one against the rest.

    The theorem of Block and Novikoff holds in that space: with R^2 the largest K(x, x), and gamma the margin of a
    separator there, at most (R/gamma)^2 mistakes; `certify(K, y, kernel="precomputed", fit_intercept=False)` finds
    gamma. The mistakes are the model: memory grows with them, never with the square of the number of rows.

    There is no bias: a constant added to the kernel plays that role, such as the coef0 of "poly".

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "laplacian", "sigmoid", "precomputed"} or callable
        The product of two examples: exp(-gamma ||x - z||^2), (gamma <x, z> + coef0)^degree, <x, z>,
        exp(-gamma sum |x_j - z_j|), tanh(gamma <x, z> + coef0), or an entry of X, which then is the kernel matrix. A
        function gets two arrays of rows and returns the matrix of their values; if X is a list of other things, such as
        strings, it gets two of them and returns a number. "sigmoid" is not positive definite: there is no R and no
        claim about margins. A function or matrix is believed to be.
    degree, gamma, coef0 : numbers
        The numbers in the kernel. gamma="scale" is 1/(columns x variance of X), "auto" is 1/columns; with `partial_fit`
        they are those of the first rows.
    kernel_params : dict or None
        Named arguments for a kernel function.
    readout : {"average", "last", "vote"}
        What to predict with (Freund & Schapire 1999): the mean of the functions after each example, the last one, or
        the vote of all of them, each as often as it lived. With more than two classes, the class with the highest
        score, or share of its own votes, wins. The paper also divides scores by ||w||; on its data this changes
        errors by a tenth of a percent either way, and it is not done here.
    max_epochs : int or None
        The most passes over the data; None for no limit, which ends only if the data are separable.
    shuffle : bool
        Whether `fit` visits the rows in a new random order in each epoch. `partial_fit` never does.
    random_state : int, RandomState or None
        Where the random orders, and the choices of budget_rule="random", come from.
    tie : {"mistake", "predict"}
        Whether a score of 0 is a mistake for either label (the theorem's rule), or predicts the second class.
    min_margin : float or None
        Stop as soon as the run proves that no separator (of some class from the rest) has this margin.
    budget : int or None
        The most support rows, over all classes; None for no limit. A budget of B needs memory for B x B numbers. With
        one, mistakes are forgotten, so there is no claim about margins, and no vote.
    budget_rule : {"forgetron", "random", "projectron"}
        What a full budget does with the next mistake: shrink all coefficients and forget the oldest row, forget a
        random one, or add the projection of the new one on the span of those it has. The average begins anew whenever a
        row is forgotten, and so is close to the last function, except for "projectron", which forgets none.
    record_mistakes : bool
        Whether to keep the row of every mistake in `mistake_rows_`.

    Attributes
    ----------
    support_ : array
        The support rows, by number, counted from the first row ever seen.
    support_vectors_ : array, CSR array or list
        The support rows themselves (with "precomputed", their numbers).
    dual_coef_ : array
        Their coefficients in the read-out: one row for two classes, one a class for more.
    classes_, n_iter_, n_mistakes_ : as in `Perceptron`; mistakes are summed over the classes
    run_ : Run
        The record. With more than two classes, ||w|| is that of all classes together, and the margin ruled out is
        that of the class with the smallest: some class cannot be told from the rest with more. Errors on the training
        rows are counted only after an epoch without a mistake, when they cost nothing.
    mistake_rows_ : array
        The row of every mistake in order; as often as there are classes that were mistaken about it.

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

    Strings need no numbers, only a product:

    >>> def shared(a, b):
    ...     return len(set(a) & set(b))
    >>> words = ["cat", "act", "dog", "god"]
    >>> KernelPerceptron(kernel=shared, shuffle=False).fit(words, [1, 1, 0, 0]).predict(["taco", "good"]).tolist()
    [1, 0]
    """

    classes_: NDArray[Any]
    n_iter_: int
    mistake_rows_: NDArray[np.int64]
    _memory: Memory
    _run: Run | None

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        readout: Readout = "average",
        max_epochs: int | None = 10,
        shuffle: bool = True,
        random_state: Any = None,
        tie: Tie = "mistake",
        min_margin: float | None = None,
        budget: int | None = None,
        budget_rule: BudgetRule = "forgetron",
        record_mistakes: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.readout = readout
        self.max_epochs = max_epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.tie = tie
        self.min_margin = min_margin
        self.budget = budget
        self.budget_rule = budget_rule
        self.record_mistakes = record_mistakes

    # -- learning -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from all rows, epoch by epoch, until one makes no mistake or a limit is reached.

        After Ctrl-C the model holds what was learned so far, and the interrupt is raised again.
        """
        with all_or_nothing(self):
            X, labels = self._validated(X, y, reset=True)
            classes = at_least_two(np.unique(labels))
            learned = kernel_perceptron(
                X,
                inner_labels(labels, classes),
                **self._kernel_choices(),
                n_classes=len(classes),
                readout=self.readout,
                max_epochs=self.max_epochs,
                shuffle=self.shuffle,
                random_state=seed_of(self.random_state),
                tie=self.tie,
                min_margin=self.min_margin,
                budget=self.budget,
                budget_rule=self.budget_rule,
                record_mistakes=self.record_mistakes,
            )
            self.classes_ = classes
            self._memory, self._run = learned.memory, learned.run
            self.n_iter_ = learned.run.epochs
            if learned.mistakes is not None and self.record_mistakes:
                self.mistake_rows_ = learned.mistakes.rows
        if learned.run.stopped is Stopped.INTERRUPTED:
            raise KeyboardInterrupt
        warn_unless_converged(self, learned.run)
        return self

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn the rows once, in the order given: online learning.

        The first call fixes the labels: those named by `classes`, or those in `y`. They cannot grow, because a class
        that comes late has not seen the earlier rows, which belong to its rest. A call that fails leaves the model as
        it was. A precomputed kernel matrix cannot be learned in parts.
        """
        with all_or_nothing(self):
            begins = not self.__sklearn_is_fitted__()
            X, labels = self._validated(X, y, reset=begins)
            known = self._known_classes(labels, classes, begins)
            inner = inner_labels(labels, known)
            memory = self._empty_memory(X, len(known)) if begins else self._memory.copy()
            seed = seed_of(self.random_state)
            mistakes = learn_online(
                memory, X, inner, tie=self.tie, random_state=seed, record_mistakes=self.record_mistakes
            )
            if mistakes is not None and self.record_mistakes:
                earlier = getattr(self, "mistake_rows_", np.empty(0, dtype=np.int64))
                self.mistake_rows_ = np.concatenate([earlier, mistakes.rows])
            self.classes_, self._memory, self._run = known, memory, None
            self.n_iter_ = 1 if begins else self.n_iter_ + 1
        return self

    # -- predicting ---------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of every row; for a vote, the share of the votes. Block by block, in bounded memory.

        Of two classes, the second has the scores of 0 and above. With more, there is one column a class.
        """
        check_is_fitted(self)
        check_choices(readout=self.readout)
        return decide(self._memory, self._points(X), self.readout)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row."""
        score = self.decision_function(X)
        return self.classes_[predicted(score)]

    # -- what was learned ---------------------------------------------------------------------------------------------

    @property
    def support_(self) -> NDArray[np.int64]:
        """The support rows, by number."""
        return self._fitted().rows.array.copy()

    @property
    def support_vectors_(self) -> Any:
        """The support rows themselves."""
        points = self._fitted().support.points()
        return points.shown()

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients of the support rows in the read-out."""
        if self.readout == "vote":
            raise AttributeError('a vote has no coefficients of its own; read out the "average" or the "last" ones')
        return read_out(self._fitted(), self.readout).T

    @property
    def n_mistakes_(self) -> int:
        """All mistakes so far, of all classes."""
        return self._fitted().mistakes

    @property
    def run_(self) -> Run:
        """The record of the run."""
        memory = self._fitted()
        return memory.recorded(self.readout) if self._run is None else self._run

    def _fitted(self) -> Memory:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has learned nothing yet; call fit or partial_fit first")
        return self._memory

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_memory")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    # -- the shell's own work -----------------------------------------------------------------------------------------

    def _kernel_choices(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel,
            "gamma": self.gamma,
            "degree": self.degree,
            "coef0": self.coef0,
            "kernel_params": self.kernel_params,
        }

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, NDArray[Any]]:
        choices = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0, "params": self.kernel_params}
        check_kernel(self.kernel, **choices)
        check_choices(readout=self.readout, tie=self.tie, max_epochs=self.max_epochs, min_margin=self.min_margin)
        check_budget(self.budget, self.budget_rule, readout=self.readout, min_margin=self.min_margin)
        if self._are_objects(X, first=reset):
            labels = column_or_1d(labels_to_check(y))
            if len(labels) != len(X):
                raise ValueError(f"y has {len(labels)} labels, but X has {len(X)} examples: one label each is needed")
            X = Objects(list(X))
        else:
            X, labels = validate_data(self, as_matrix(X), labels_to_check(y), reset=reset, **CHECKS)
        check_classification_targets(labels)
        return X, labels

    def _points(self, X: Any) -> Points:
        if self._are_objects(X, first=False):
            return Objects(list(X))
        X = validate_data(self, as_matrix(X), reset=False, **CHECKS)
        return as_points(X, self.kernel, square=False)

    def _are_objects(self, X: Any, *, first: bool) -> bool:
        """Whether the examples are things that only a kernel function understands: as the first ones were."""
        if not callable(self.kernel):
            return False
        return not is_matrix(X) if first else self._memory.n_columns is None

    def _empty_memory(self, X: Any, n_classes: int) -> Memory:
        choices = self._kernel_choices()
        params = choices.pop("kernel_params")
        form = choices.pop("kernel")
        kernel = make_kernel(form, as_points(X, form), **choices, params=params)
        vote = self.readout == "vote"
        return Memory.empty(kernel, n_classes, vote=vote, budget=self.budget, budget_rule=self.budget_rule)

    def _known_classes(self, labels: NDArray[Any], named: ArrayLike | None, begins: bool) -> NDArray[Any]:
        names = None if named is None else names_of(named)
        if begins:
            return _at_least_two_named(np.unique(labels) if names is None else names)
        if names is not None and not np.array_equal(names, self.classes_):
            raise ValueError(
                f"classes={names.tolist()} differ from the classes known already, {self.classes_.tolist()}; "
                "name them on the first partial_fit only"
            )
        return self.classes_


def _at_least_two_named(classes: NDArray[Any]) -> NDArray[Any]:
    if len(classes) < 2:
        raise ValueError(
            f"only one class is known, {classes.tolist()}, and the first partial_fit fixes the labels; "
            "name all of them by classes="
        )
    return classes
