"""Lifts: transformers that make curved boundaries flat."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from novikoff.features.lift import LiftModel


class Paraboloid(TransformerMixin, BaseEstimator):
    """x -> (x, ||x||^2): a hyperplane through lifted points is a sphere through the points (third note, 30.2).

    The last column is the squared length. A linear classifier behind it learns spheres and hyperplanes, insides and
    outsides; `separating_ball` finds a ball that holds one class, exactly. The lift is what the kernel
    <x, x'> + ||x||^2 ||x'||^2 computes implicitly.

    Sparse matrices are refused: the lift depends on distances from the origin, and the origin of sparse data is where
    their zeros happen to be. Centre the data, which makes them dense, or lift them yourself.

    Examples
    --------
    >>> from novikoff import Paraboloid, Perceptron
    >>> from sklearn.pipeline import make_pipeline
    >>> X = [[0, 0], [1, 0], [0, 1], [3, 0], [0, 3], [-3, 0], [0, -3]]
    >>> y = ["centre"] * 3 + ["ring"] * 4
    >>> Paraboloid().fit_transform(X)[3].tolist()
    [3.0, 0.0, 9.0]
    >>> make_pipeline(Paraboloid(), Perceptron(readout="last", max_iter=None)).fit(X, y).score(X, y)
    1.0
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the number of columns and their names; there is nothing to learn."""
        self._checked(X, reset=True)
        return self

    def to_model(self) -> LiftModel:
        """The fitted state, free of scikit-learn."""
        if not hasattr(self, "n_features_in_"):
            raise AttributeError("this Paraboloid is not fitted yet; call fit first")
        names = getattr(self, "feature_names_in_", None)
        return LiftModel(self.n_features_in_, None if names is None else tuple(map(str, names)))

    @classmethod
    def from_model(cls, model: LiftModel) -> Self:
        """The lift that was fitted on columns of this number and these names."""
        lift = cls()
        lift.n_features_in_ = model.n_columns
        if model.feature_names is not None:
            lift.feature_names_in_ = np.array(model.feature_names, dtype=object)
        return lift

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Append the squared length to every row."""
        check_is_fitted(self)
        points = self._checked(X, reset=False)
        return np.hstack([points, np.einsum("ij,ij->i", points, points)[:, None]])

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """Drop the squared length; points off the paraboloid are projected along the axis."""
        check_is_fitted(self)
        lifted = np.asarray(X, dtype=np.float64)
        if lifted.ndim != 2 or lifted.shape[1] != self.n_features_in_ + 1:
            raise ValueError(f"X has shape {lifted.shape}, but lifted points have {self.n_features_in_ + 1} columns")
        return lifted[:, :-1]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns, and `squared_length`."""
        check_is_fitted(self)
        return np.append(_check_feature_names_in(self, input_features), "squared_length")

    def _checked(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        if issparse(X):
            raise TypeError(
                "Sparse data was passed, but a lift measures distances from the origin, and that of sparse data is "
                "arbitrary; pass a dense array, centred if the circle may lie anywhere"
            )
        return validate_data(self, X, reset=reset, dtype=np.float64)
