"""What the shells around the models share: holding a model, labels, seeds, and staying as they were if a call fails."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from novikoff.data.batches import Batch
from novikoff.data.frames import columns_to_encode, is_frame
from novikoff.data.held_out import HeldOut
from novikoff.data.labels import checked_labels
from novikoff.engine.csr import as_csr
from novikoff.engine.rows import Rows
from novikoff.estimators.elsewhere import about_elsewhere
from novikoff.features.scaling import Scaling, drowning
from novikoff.learn.class_weights import ClassWeight, class_weights
from novikoff.learn.epochs import check_choices
from novikoff.learn.history import Run, why_not_converged

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

# What scikit-learn is to look at; the rest is looked at on the way to the kernels.
CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": "numeric", "ensure_all_finite": False}


# Whether columns are scaled: always, never, or if one of them drowns the others.
Scale = bool | Literal["auto"]


class Shell(BaseEstimator):
    """An estimator that holds a model, and forwards to it."""

    model_: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Look at the names of the parameters first: those of another library get an answer."""
        said = about_elsewhere(cls.__name__, set(cls._get_param_names()), parameters)
        if said is not None:
            raise TypeError(said)
        return super().__new__(cls)

    @classmethod
    def from_model(cls, model: Any) -> Self:
        """The estimator that holds this model, with those of its parameters that an estimator has."""
        own = cls().get_params(deep=False)
        asked = {**cls._parameters_of(model), **model.parameters}
        shell = cls(**{name: value for name, value in asked.items() if name in own})
        shell.model_ = model
        if getattr(model, "n_columns", None) is not None:
            shell.n_features_in_ = model.n_columns
        if getattr(model, "names", None) is not None:
            shell.feature_names_in_ = np.array(model.names, dtype=object)
        return shell

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        """The parameters that can be read off a model, whatever it was asked for."""
        return {"readout": model.readout}

    def to_model(self) -> Any:
        """The model, free of scikit-learn, with the parameters that the estimator has now."""
        held = self._held()
        return replace(held, parameters={**held.parameters, **self.get_params(deep=False)}, **self._read_as())

    def _read_as(self) -> dict[str, Any]:
        """What of a model follows parameters that may change after learning."""
        return {"readout": self.readout}

    @property
    def run_(self) -> Any:
        """The record of the run."""
        return self.to_model().record

    @property
    def classes_(self) -> Any:
        """The labels."""
        return self._held("classes")

    @property
    def n_iter_(self) -> int:
        """Epochs of the last `fit`, or calls of `partial_fit`."""
        return int(self._held("n_iter"))

    @property
    def n_mistakes_(self) -> int:
        """All mistakes so far."""
        return int(self._held("memory").mistakes)

    @property
    def n_narrow_(self) -> int:
        """All examples so far that were right, and learned because of the lead."""
        return int(self._held("memory").narrow)

    @property
    def lead_(self) -> float:
        """The lead that was asked for, or chosen."""
        return float(self._held("memory").lead)

    @property
    def mistake_rows_(self) -> NDArray[np.int64]:
        """The row of every mistake in order."""
        rows: NDArray[np.int64] = self._held("mistake_rows")
        return rows

    @property
    def mistake_guesses_(self) -> Any:
        """What each of them was mistaken for."""
        return self._held("mistake_guesses")

    def _held(self, part: str | None = None) -> Any:
        """The model, or a part of it; one that it does not have is an attribute that the estimator does not have."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has learned nothing yet; call fit or partial_fit first")
        value = self.model_ if part is None else getattr(self.model_, part)
        if value is None:
            raise AttributeError(f"the model of this {type(self).__name__} has no {part}")
        return value

    def _feature_names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


@contextmanager
def all_or_nothing(model: BaseEstimator) -> Iterator[None]:
    """Give the model its attributes back if anything fails, or if it is interrupted half-way."""
    before = vars(model).copy()
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise


def seed_of(random_state: Any) -> int | np.random.Generator:
    """Where random orders come from, as the learners want it: a seed is the same seed everywhere."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def as_matrix(X: Any) -> Any:
    """Examples before scikit-learn looks at them.

    On the way to compressed rows it would add repeated entries up, and round them in the order in which they are
    stored; and of a table with words it would not say in which column they are.
    """
    if is_frame(X):
        for name, kind in columns_to_encode(X).items():
            raise ValueError(
                f"the column {name!r} is of type {kind}, where numbers are needed; leave it out, or make numbers of "
                "it, for example with OneHotEncoder of scikit-learn (Perceptron.fit encodes words by itself)"
            )
    return as_csr(X) if issparse(X) else X


def held_out_part(held_out: Any, random_state: Any) -> "HeldOut | None":
    """Which rows are held out, settled before anything is learned from the others."""
    return HeldOut.share(held_out, random_state) if isinstance(held_out, int | float) else held_out


class Scaled(NamedTuple):
    """How the columns of rows are scaled, if they are, and why, for the record."""

    encoding: "Encoding | None" = None
    why: str | None = None


def scales_of(model: Any, rows: Rows, aside: "HeldOut | None", names: tuple[str, ...] | None) -> Scaled:
    """The scales that a model wants of its first rows, without those held out; else a warning if it needs some."""
    if model.scale not in (False, True, "auto"):
        raise ValueError(f"scale={model.scale!r} must be True, False or 'auto'")
    known = rows if aside is None else rows.take(aside.parted(rows.n_rows)[0])
    decided = model.scale != "auto" and bool(model.scale)
    why = None if decided else drowning(known, names)
    if not decided and (why is None or not model.scale):
        if why is not None:
            hint = 'so the other columns hardly count; pass scale=True or scale="auto", or scale the columns beforehand'
            warnings.warn(f"{type(model).__name__}: {why}, {hint}.", UserWarning, stacklevel=4)
        return Scaled()
    from novikoff.features.encode import Encoding

    return Scaled(Encoding.of_numbers(rows.n_columns, scaling=Scaling.of(known)), why or "as asked for")


def in_scales(rows: Rows, encoding: "Encoding | None") -> Rows:
    """Rows in the scales of a model, if it has some."""
    return rows if encoding is None or encoding.is_of_table else encoding.encode_numbers(Batch(rows, None)).rows


def number_of(lead: Any) -> float:
    """A lead that is a number: rows that come in parts cannot choose one."""
    if isinstance(lead, str) and lead == "auto":
        raise ValueError(
            'lead="auto" is chosen by fit, which sees all rows; partial_fit needs a number, such as lead=1'
        )
    check_choices(lead=lead)
    return float(lead)


def names_of(classes: Any) -> NDArray[Any]:
    """Classes that were named beforehand, sorted."""
    return np.unique(checked_labels(classes, "classes"))


def check_same_classes(named: Any, known: NDArray[Any]) -> None:
    """Classes may be named again, if they are the same."""
    if named is not None and not np.array_equal(names_of(named), known):
        raise ValueError(
            f"classes={names_of(named).tolist()} differ from the classes known already, {known.tolist()}; "
            "name them on the first partial_fit only"
        )


def labels_to_check(y: Any) -> Any:
    """Labels that are there and of one kind; a matrix of labels is for scikit-learn to judge."""
    return y if y is None or getattr(y, "ndim", 1) != 1 else checked_labels(y)


def at_least_two(classes: NDArray[Any]) -> NDArray[Any]:
    """The classes, if there are enough to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()}; fit needs at least two classes to tell apart. "
            "partial_fit can begin with one"
        )
    return classes


def inner_labels(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Labels as the learner wants them: -1 and +1 for two classes, 0, 1, ... for more (and for one)."""
    places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    strange = classes[places] != labels
    if np.any(strange):
        row = int(np.flatnonzero(strange)[0])
        raise ValueError(
            f"label {labels.tolist()[row]!r} in row {row} was not in classes={classes.tolist()}; "
            "fit and classes= fix the labels: name them all on the first partial_fit, or begin with partial_fit "
            "without classes=, and they grow"
        )
    return (2 * places - 1).astype(np.int8) if len(classes) == 2 else places


def inner_weights(class_weight: ClassWeight, classes: NDArray[Any]) -> ClassWeight:
    """Weights of classes as the learner wants them: those of named classes in their order."""
    if not isinstance(class_weight, Mapping):
        return class_weight
    weights = class_weights(class_weight, classes, None)
    return None if weights is None else weights.tolist()


def warn_unless_converged(model: Any, run: Run, otherwise: str = "") -> None:
    """Whoever asked for convergence and did not get it is told why, and what to do next, or `otherwise`."""
    what = why_not_converged(run, model.readout, model.min_margin)
    if not what:
        return
    # At the line that called fit: past this function and fit itself.
    warnings.warn(f"{type(model).__name__} did not converge: {what}{otherwise}.", ConvergenceWarning, stacklevel=3)
