"""What estimators are given: rows, labels, weights and seeds, checked and converted; parameters of other libraries."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples

from novikoff.data.batches import Batch
from novikoff.data.frames import columns_to_encode, has_names, is_frame
from novikoff.data.labels import checked_labels
from novikoff.engine.csr import as_csr
from novikoff.engine.rows import as_rows
from novikoff.features.examples import comes_in_batches
from novikoff.learn.class_weights import sample_weights

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding

# What scikit-learn is to check; the rest is checked on the way to the kernels.
CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": "numeric", "ensure_all_finite": False}


def seed_of(random_state: Any, *, shuffle: bool = True) -> int | np.random.Generator | None:
    """The source of random orders, as the learners take it: a seed is the same seed everywhere.

    Without shuffling and without a seed, the result must not depend on chance.
    """
    if random_state is None and not shuffle:
        return None
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def as_matrix(X: Any) -> Any:
    """Examples before scikit-learn validates them.

    When it converts to compressed rows it would add up repeated entries, and round them in the order in which they are
    stored; and for a table with words it would not name the column that has them.
    """
    if is_frame(X):
        for name, kind in columns_to_encode(X).items():
            raise ValueError(
                f"the column {name!r} is of type {kind}, where numbers are needed; omit it, or make numbers of "
                "it, for example with OneHotEncoder of scikit-learn (fit, which sees all rows, encodes words by itself)"
            )
    return as_csr(X) if issparse(X) else X


def weighted_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, NDArray[np.int64] | None]:
    """The rows of positive weight, their labels and weights, and their numbers if they are not all."""
    if sample_weight is None:
        return X, y, None, None
    if comes_in_batches(X):
        raise ValueError("batches have no weights; use class_weight, or pass a matrix with sample_weight")
    weights = sample_weights(sample_weight, _num_samples(X))
    assert weights is not None
    if weights.all():
        return X, y, weights, None
    kept = np.flatnonzero(weights)
    if not len(kept):
        raise ValueError("all weights of sample_weight are zero: there is nothing to learn from")
    return _safe_indexing(X, kept), _safe_indexing(y, kept), weights[kept], kept


def is_table(X: Any) -> bool:
    """Whether X is a table in memory, to be learned as its file would be; numbers without names are a matrix."""
    return is_frame(X) and (has_names(X) or bool(columns_to_encode(X)))


def encoded(rows: Any, encoding: "Encoding | None") -> Any:
    """Rows as a model learns them: scaled and lifted, if it has scales or a lift."""
    return rows if encoding is None else encoding.encode(Batch(as_rows(rows), None)).rows


def targets(y: Any) -> NDArray[Any]:
    labels = checked_labels(y)
    check_classification_targets(labels)
    return labels


def names_of(classes: Any) -> NDArray[Any]:
    return np.unique(checked_labels(classes, "classes"))


def check_same_classes(named: Any, known: NDArray[Any]) -> None:
    if named is not None and not np.array_equal(names_of(named), known):
        raise ValueError(
            f"classes={names_of(named).tolist()} differ from the classes known already, {known.tolist()}; "
            "name them on the first partial_fit only"
        )


def labels_to_check(y: Any) -> Any:
    """Labels checked to be present and of one kind; a matrix of labels is left to scikit-learn."""
    return y if y is None or getattr(y, "ndim", 1) != 1 else checked_labels(y)


def at_least_two(classes: NDArray[Any]) -> NDArray[Any]:
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()}; fit needs at least two classes. partial_fit can begin with one"
        )
    return classes


def inner_labels(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Labels as the learner takes them: -1 and +1 for two classes, 0, 1, ... for more (and for one)."""
    places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    strange = classes[places] != labels
    if np.any(strange):
        row = int(np.flatnonzero(strange)[0])
        raise ValueError(
            f"label {labels.tolist()[row]!r} in row {row} was not in classes={classes.tolist()}; "
            "fit and classes= fix the labels: name them all on the first partial_fit, or begin with partial_fit "
            "and omit classes= to let labels grow"
        )
    return (2 * places - 1).astype(np.int8) if len(classes) == 2 else places


# -- parameters and methods of other libraries: their names here, or why there are none -------------------------------

STOPS = "a run stops at an epoch without a mistake; max_iter, min_margin and time_limit stop it sooner"
NO_LOSS = "there is no loss to be weighed against a penalty: on a mistake the example is added"
NO_STEPS = "the size of the steps cannot change a mistake, so it is one number, eta0, for the weights read out"
NO_CRF = "a perceptron has no likelihood to maximise"

ELSEWHERE = {
    **dict.fromkeys(
        ("n_epochs", "max_epochs", "max_iterations"),
        "it is called max_iter here, and a run that needs fewer stops by itself",
    ),
    "learning_rate": "it is called eta0 here; it multiplies the weights that are read out, and cannot change a mistake",
    "eta0": "Perceptron has it; the scores of other learners are not multiplied",
    **dict.fromkeys(("tol", "n_iter_no_change", "epsilon"), STOPS),
    "patience": "it is called n_iter_no_change here",
    "validation": "early_stopping=True chooses the number of epochs by a validation_fraction= of the rows",
    **dict.fromkeys(("penalty", "alpha", "l1_ratio", "C", "loss"), NO_LOSS),
    **dict.fromkeys(("c1", "c2"), NO_CRF),
    "algorithm": "there is one algorithm, the averaged perceptron; readout= chooses what it predicts with",
    **dict.fromkeys(("power_t", "optimizer"), NO_STEPS),
    "average": 'the average is the default; readout="last" predicts with the last weights, readout="vote" with all',
    "class_weight": "Perceptron and KernelPerceptron have it; here, repeat the examples that are to count more often",
    "verbose": "fit(..., watch=novikoff.ProgressLine()) shows how it goes on; any function may watch",
    "n_jobs": "an epoch is the work of one thread, since every mistake changes the weights for the next example",
    "seed": "it is called random_state here",
    "all_possible_transitions": "every transition has a weight; constraint= rules some out",
}

# Methods that other libraries have.
NO_CHANCES = (
    "a perceptron has scores, not probabilities; predict_with_scores has the margin by which the best label sequence "
    "beats the second best, and predict_best the k best with their scores; review proves which label sequences can be "
    "accepted (docs/how-to/review.md)"
)
CALIBRATE = (
    "a perceptron has scores, not probabilities; sklearn.calibration.CalibratedClassifierCV makes probabilities of "
    "its decision_function, on rows of their own. docs/how-to/probabilities.md shows how, also with venn-abers and "
    "MAPIE; docs/how-to/review.md proves which predictions can be accepted"
)


def foreign_parameter_hint(estimator: str, own: set[str], given: dict[str, object]) -> str | None:
    """A hint for parameters of another library; None if there are none among those given.

    >>> foreign_parameter_hint("Perceptron", {"max_iter"}, {"n_epochs": 5})
    'Perceptron has no parameter n_epochs: it is called max_iter here, and a run that needs fewer stops by itself'
    """
    for name in given:
        if name in ELSEWHERE and name not in own:
            return f"{estimator} has no parameter {name}: {ELSEWHERE[name]}"
    return None
