"""Kernels: inner products of examples in a space whose coordinates are never computed.

A `KernelFunction` compares `Points`: rows of numbers (dense or CSR), examples that are known only by a matrix of their
products (`precomputed`), or any objects, for which the user supplies a function. All values are float64.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.data.batches import stacked
from novikoff.data.narrow import FEW, narrow, used_columns
from novikoff.engine.csr import as_csr, without_repeats
from novikoff.engine.gram import fill_distances, fill_products, squared_lengths
from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.engine.rows import Rows, as_rows, longest_square
from novikoff.say.words import kernel_in_words

Floats = NDArray[np.float64]

KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")


# -- points ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vectors:
    """Rows of numbers, and their squared lengths."""

    rows: Rows
    squares: Floats

    @classmethod
    def of(cls, X: Any) -> Self:
        rows = as_rows(X)
        squares = np.empty(rows.n_rows)
        squared_lengths(rows.in_float64, 0.0, squares)
        return cls(rows, squares)

    def __len__(self) -> int:
        return self.rows.n_rows

    def take(self, which: NDArray[Any]) -> "Vectors":
        return Vectors(self.rows.take(which), self.squares[which])

    def like(self, other: "Points | None") -> "Vectors":
        """The same rows, dense or sparse like the other ones."""
        if not isinstance(other, Vectors) or self.rows.is_sparse == other.rows.is_sparse:
            return self
        return Vectors(self.rows.as_sparse() if other.rows.is_sparse else as_rows(self.rows.as_array()), self.squares)

    def shown(self) -> Any:
        """The rows as passed to a user's function; sparse ones with 32-bit indices, as scikit-learn expects."""
        if not self.rows.is_sparse:
            return self.rows.matrix
        shown = self.rows.as_scipy()
        if max(shown.nnz, *shown.shape) < 2**31:
            shown.indices, shown.indptr = shown.indices.astype(np.int32), shown.indptr.astype(np.int32)
        return shown


@dataclass(frozen=True)
class Entries:
    """Examples known by their products: row i of the matrix has those of example i with all learned ones."""

    matrix: Floats
    places: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.places)

    def take(self, which: NDArray[Any]) -> "Entries":
        return Entries(self.matrix, self.places[which])

    def shown(self) -> Any:
        return self.places.copy()


@dataclass(frozen=True)
class Objects:
    """Arbitrary objects."""

    items: Sequence[Any]

    def __len__(self) -> int:
        return len(self.items)

    def take(self, which: NDArray[Any]) -> "Objects":
        return Objects([self.items[i] for i in which.tolist()])

    def shown(self) -> Any:
        return list(self.items)


Points = Vectors | Entries | Objects


def joined(known: Points | None, more: Points) -> Points:
    """Points, and more of their kind: rows as float64, ready for products; products without their matrix."""
    if isinstance(more, Objects):
        return more if known is None else Objects([*known.shown(), *more.items])
    if isinstance(more, Entries):
        return Entries(
            np.empty((0, 0)), np.concatenate([[] if known is None else known.shown(), more.places]).astype(int)
        )
    parts = [more] if known is None else [known, more]
    rows = stacked([part.rows for part in parts if isinstance(part, Vectors)])
    rows = replace(rows, matrix=rows.in_float64)
    return Vectors(rows, np.concatenate([part.squares for part in parts if isinstance(part, Vectors)]))


# -- kernels -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KernelFunction:
    """K(x, z), for x and z in `Points`:

    linear       <x, z>
    poly         (gamma <x, z> + coef0)^degree
    rbf          exp(-gamma ||x - z||^2)
    laplacian    exp(-gamma ||x - z||_1)
    sigmoid      tanh(gamma <x, z> + coef0), which is not positive definite
    precomputed  an entry of a matrix
    a function   of two arrays of rows, which returns their matrix; of two objects otherwise, which returns a number
    """

    form: str | Callable[..., Any] = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    params: dict[str, Any] | None = None

    @property
    def numbers(self) -> dict[str, float]:
        """The numeric parameters of this kernel."""
        names = {"poly": ("gamma", "degree", "coef0"), "sigmoid": ("gamma", "coef0")}
        names |= dict.fromkeys(("rbf", "laplacian"), ("gamma",))
        return {name: getattr(self, name) for name in names.get(str(self.form), ())}

    def __str__(self) -> str:
        name = self.form if isinstance(self.form, str) else getattr(self.form, "__name__", "given")
        return kernel_in_words(name, self.numbers)

    @property
    def is_definite(self) -> bool:
        """Whether it is positive definite, so that the theorem applies; a user's kernel is assumed to be."""
        return self.form != "sigmoid" and not (self.form == "poly" and self.coef0 < 0)

    def between(self, left: Points, right: Points, *, in_column_order: bool = False) -> Floats:
        """The matrix of all K(x, z), x from the left, z from the right.

        Products are added up in the fastest order, or in column order, which does not depend on the layout of the rows.
        """
        if not len(left) or not len(right):
            return np.zeros((len(left), len(right)))
        if isinstance(left, Entries) and isinstance(right, Entries):
            return np.asarray(right.matrix[np.ix_(right.places, left.places)].T, dtype=np.float64)
        if isinstance(left, Objects) and isinstance(right, Objects):
            return self._of_objects(left, right)
        if isinstance(left, Vectors) and isinstance(right, Vectors):
            return self._of_vectors(left, right.like(left), in_column_order)
        raise ValueError("the examples are of another kind than those learned before: rows of numbers, or objects")

    def diagonal(self, points: Points) -> Floats:
        """K(x, x) of every point."""
        if isinstance(points, Entries):
            return points.matrix[points.places, points.places].astype(np.float64)
        if isinstance(points, Vectors) and not callable(self.form):
            if self.form in ("rbf", "laplacian"):
                return np.ones(len(points))
            return self._of_products(points.squares.copy(), points.squares, points.squares)
        ones = (points.take(np.array([i])) for i in range(len(points)))
        return np.array([self.between(one, one)[0, 0] for one in ones])

    def doubt(self, points: Points) -> float:
        """A bound on how much a value depends on the order in which its products are added up."""
        if not isinstance(points, Vectors) or callable(self.form):
            return 0.0
        u = UNIT_ROUNDOFF
        longest = float(points.squares.max(initial=0.0))
        product = 2.0 * (points.rows.widest + 2) * u * longest
        if self.form == "linear":
            return product
        if self.form == "poly":
            base = self.gamma * longest + abs(self.coef0)
            return float(self.degree * base ** (self.degree - 1) * (self.gamma * product + 4.0 * u * base))
        if self.form == "rbf":
            return self.gamma * (2.0 * product + 8.0 * u * longest) + 4.0 * u
        return self.gamma * product + 4.0 * u

    def _of_vectors(self, left: Vectors, right: Vectors, in_column_order: bool) -> Floats:
        width = left.rows.n_columns
        if right.rows.n_columns != width:
            raise ValueError(f"X has {right.rows.n_columns} columns, but the support rows have {width}")
        if callable(self.form):
            values = np.asarray(self.form(left.shown(), right.shown(), **(self.params or {})), dtype=np.float64)
            if values.shape != (len(left), len(right)):
                raise ValueError(
                    f"the kernel function returned the shape {values.shape} for arrays of {len(left)} and "
                    f"{len(right)} rows; a kernel of rows of numbers must return the matrix of all "
                    f"{len(left)} x {len(right)} values"
                )
            return values
        values = np.empty((len(left), len(right)))
        if self.form == "laplacian":
            fill_distances(left.rows.in_float64, right.rows.in_float64, values)
            return np.exp(np.multiply(values, -self.gamma, out=values), out=values)
        if in_column_order or left.rows.is_sparse:
            _fill_products(left.rows, right.rows, values)
        else:
            np.matmul(left.rows.as_array(), right.rows.as_array().T, out=values)
        return self._of_products(values, left.squares[:, None], right.squares)

    def _of_products(self, products: Floats, left: Floats, right: Floats) -> Floats:
        if self.form == "linear":
            return products
        if self.form == "rbf":
            products *= -2.0
            products += left
            products += right
            np.maximum(products, 0.0, out=products)
            products *= -self.gamma
            return np.exp(products, out=products)
        if self.gamma != 1.0:
            products *= self.gamma
        products += self.coef0
        return np.tanh(products, out=products) if self.form == "sigmoid" else _power(products, self.degree)

    def _of_objects(self, left: Objects, right: Objects) -> Floats:
        if not callable(self.form):
            raise ValueError(f"kernel={self.form!r} needs rows of numbers; for other objects pass a function of two")
        function, params = self.form, self.params or {}
        values = [[float(function(x, z, **params)) for z in right.items] for x in left.items]
        return np.array(values, dtype=np.float64)


def _fill_products(left: Rows, right: Rows, values: Floats) -> None:
    """The product of every left row with every right row, each added up in column order."""
    if left.is_sparse and right.is_sparse and left.n_columns > FEW:
        columns = used_columns([right])  # all other columns contribute 0
        left, right = narrow(left, columns), narrow(right, columns)
    fill_products(left.in_float64, right.in_float64, np.zeros(left.n_columns), values)


def _power(values: Floats, degree: int) -> Floats:
    """values^degree by squaring, in place: the same multiplications for every value, and faster than np.power."""
    base = values.copy() if degree & (degree - 1) else values
    for bit in f"{degree:b}"[1:]:
        np.multiply(values, values, out=values)
        if bit == "1":
            np.multiply(values, base, out=values)
    return values


# -- from what a user has ----------------------------------------------------------------------------------------------


def make_kernel(
    form: str | Callable[..., Any],
    points: Points,
    *,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 1.0,
    params: dict[str, Any] | None = None,
) -> KernelFunction:
    """A kernel with all parameters set: gamma="scale" is 1/(columns x variance of X), "auto" is 1/columns."""
    if not callable(form) and form not in KERNELS:
        raise ValueError(f"kernel={form!r} is unknown; choose one of {', '.join(KERNELS)}, or pass a function of two")
    good = gamma in ("scale", "auto") if isinstance(gamma, str) else 0 < gamma < math.inf
    if not good:
        raise ValueError(f'gamma={gamma!r} must be a positive number, "scale" or "auto"')
    if isinstance(degree, bool) or int(degree) != degree or degree < 1:
        raise ValueError(f"degree={degree!r} must be a whole number of at least 1")
    if not math.isfinite(coef0):
        raise ValueError(f"coef0={coef0!r} must be a finite number")
    if params and not callable(form):
        raise ValueError(f"kernel_params are for a kernel function; kernel={form!r} takes gamma, degree and coef0")
    number = gamma if not isinstance(gamma, str) else 1.0
    if isinstance(gamma, str) and isinstance(points, Vectors):
        columns = max(points.rows.n_columns, 1)
        spread = variance(points.rows) if gamma == "scale" else 1.0
        number = 1.0 / (columns * spread) if spread > 0 else 1.0
    return KernelFunction(form, float(number), int(degree), float(coef0), params)


def variance(rows: Rows) -> float:
    """The variance of all coordinates, computed from the nonzero ones, so that dense and sparse rows agree."""
    count, entries = rows.n_rows * rows.n_columns, rows.entries[rows.entries != 0].astype(np.float64)
    if not count:
        return 0.0
    mean = float(entries.sum()) / count
    return (float(np.square(entries - mean).sum()) + (count - len(entries)) * mean**2) / count


def as_points(X: Any, form: str | Callable[..., Any], *, square: bool = True) -> Points:
    """Examples as the kernel takes them; `square` is for a precomputed matrix of training examples."""
    if isinstance(X, Points):
        return X
    if isinstance(form, str) and form == "precomputed":
        return _entries(X, square)
    if callable(form) and not is_matrix(X):
        return Objects(list(X))
    rows = as_rows(X)
    longest_square(rows, 0.0)  # raises an error that names a number that is not finite
    return Vectors.of(rows)


def is_matrix(X: Any) -> bool:
    if hasattr(X, "tocsr") or isinstance(X, Rows) or hasattr(X, "iloc"):
        return True
    try:
        array = np.asarray(X)
    except ValueError:  # ragged: items of different lengths
        return False
    return array.ndim == 2 and array.dtype.kind in "biuf"


def _entries(X: Any, square: bool) -> Entries:
    if hasattr(X, "toarray"):
        X = without_repeats(as_csr(X)).toarray()
    matrix = np.asarray(X, dtype=np.float64)
    if matrix.ndim != 2 or (square and matrix.shape[0] != matrix.shape[1]):
        raise ValueError(
            f'with kernel="precomputed" X is the kernel matrix, as many columns as rows, but it has the shape '
            f"{matrix.shape}. The Gram matrix of rows A is A @ A.T, for a linear kernel; to predict, "
            "X has a column for every learned example"
        )
    check_finite(matrix)
    if square:
        scale = float(np.abs(matrix).max(initial=0.0))
        for start in range(0, len(matrix), 512):
            check_symmetric(matrix[start : start + 512], matrix[:, start : start + 512].T, scale, start)
    return Entries(matrix, np.arange(len(matrix)))


def check_finite(values: Floats) -> float:
    """Return the largest absolute value; raise an error if one is not finite."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if not largest < math.inf:
        row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        what = "NaN" if np.isnan(values[row, column]) else "infinity"
        raise ValueError(
            f"the kernel matrix contains {what} in row {row}, column {column}: a perceptron's scores are sums of "
            "kernel values, and each must be a finite number; scale the examples, or lower degree or gamma"
        )
    return largest


def check_symmetric(values: Floats, mirrored: Floats, scale: float, first: int = 0) -> None:
    good = np.isclose(values, mirrored, rtol=1e-10, atol=1e-12 * scale)
    if not good.all():
        row, column = np.argwhere(~good)[0].tolist()
        raise ValueError(
            f"the kernel is not symmetric: K(x, z) = {values[row, column]:.6g} but K(z, x) = "
            f"{mirrored[row, column]:.6g}, in row {row + first}, column {column} of the kernel matrix; "
            "a product of two examples does not depend on their order"
        )
