"""The steps of a run: the vectors that its mistakes added, in order, as integers, so that nothing is rounded.

The proof of the mistake bound does not use examples. It uses the vectors z that were added to the weights, each of
which had a score <w, z> that was not positive (or not above a lead), and a vector u whose product with each is at least
gamma:

- two classes: z = y x, with the bias folded in;
- many classes: Kesler's vectors, x in the block of its class and -x in that of the predicted class;
- a kernel: z lies in feature space, and only products of two such vectors are known;
- sequences and other structures: the features of gold minus those of the guess;
- features by name, one example at a time: any of these, as mappings from names to numbers.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.engine.rounding import UNIT_ROUNDOFF
from novikoff.features.fold import signs
from novikoff.features.names import Intercept, as_numbers
from novikoff.prove.exact.floats import as_integers, fraction_root_up, lowest_exponent, nearest_float, power_of_two
from novikoff.prove.separable.margin import Separator, radius_square
from novikoff.prove.separable.points import Points
from novikoff.prove.separable.products import smallest_product, whole_matrix

Floats = NDArray[np.float64]

# The tolerance if products are rounded floats, relative to the numbers compared.
FLOAT64 = 1e-9


Whole = NDArray[np.object_]
WholeVector = Mapping[int, int]


@dataclass(frozen=True, eq=False)
class Steps:
    """The vectors that a run added to its weights, from zero weights on, one per step.

    Step i added the vector `order[i]` of `points`, of which every row has `per_row`; their columns may have `names`. R
    and gamma are those of all vectors that the run could have added, or, if these are unknown, of those that it added.
    A step counts as a mistake if its score is at most `allowed`, which is its loss for learners that require more than
    a positive score, and 0 for others. With a `lead`, a step may have had a score of up to lead R^2; if R is only known
    for the vectors added, `seen_radius` is the R of the learner, which may have seen longer ones.

    In feature space only the products of vectors are known. Then a separator and the weights are combinations of the
    vectors, with a number for each, and the points are the rows of the Gram matrix.

    Scores and squares are integers in units of `unit`, products with an integer vector in units of `along`.
    """

    points: Points
    order: NDArray[np.int64]
    allowed: Sequence[float] | None = None
    lead: float = 0.0
    seen_radius: float = 0.0
    per_row: int = 1
    names: Mapping[Any, int] | None = None
    in_feature_space: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.lead < math.inf:
            raise ValueError(f"lead={self.lead!r} must be a number of at least 0, in units of R^2")
        object.__setattr__(self, "order", _row_numbers(self.order, self.points.n_points))
        if self.allowed is not None and len(self.allowed) != len(self.order):
            raise ValueError(f"allowed has {len(self.allowed)} numbers, but there are {len(self.order)} steps")

    @classmethod
    def of_rows(
        cls,
        X: Any,
        y: ArrayLike,
        mistake_rows: ArrayLike,
        guesses: ArrayLike | None = None,
        *,
        fit_intercept: bool = True,
        lead: float = 0.0,
    ) -> "Steps":
        """Return the steps of a run on a matrix X with labels y, from the row of every update, in order, and the lead.

        `Perceptron(record_mistakes=True)` records the rows. With more than two classes, also pass the predicted ones.
        """
        rows = _row_numbers(mistake_rows, len(np.asarray(y)))
        if guesses is None or len(np.unique(np.asarray(y))) == 2:
            return cls(Points.of(X, y, fit_intercept), rows, lead=lead)
        from novikoff.prove.separable.kesler import kesler_points, point_numbers

        classes, wrong = np.unique(np.asarray(y)), np.asarray(guesses)
        if wrong.shape != rows.shape:
            raise ValueError(f"there are {len(rows)} mistakes, but {wrong.size} guesses: one each")
        if len(rows) and not np.isin(wrong, classes).all():
            raise ValueError("a guess is no class of y; the proof needs rows of every class")
        if len(rows) and (wrong == np.asarray(y)[rows]).any():
            raise ValueError("a guess is the class of its row, so it was no mistake")
        numbers = point_numbers(y, rows.tolist(), wrong.tolist())
        points = kesler_points(X, y, fit_intercept).written_out()
        return cls(points, numbers, lead=lead, per_row=len(classes) - 1)

    @classmethod
    def of_kernel(cls, K: ArrayLike, y: ArrayLike, mistake_rows: ArrayLike, *, lead: float = 0.0) -> "Steps":
        """Return the steps of a run in the feature space of a kernel, on two classes; K is the kernel matrix."""
        from novikoff.prove.separable.feature_space import symmetric

        labels, matrix = signs(y).astype(np.float64), symmetric(np.asarray(K, dtype=np.float64))
        if len(labels) != len(matrix):
            raise ValueError(f"y has {len(labels)} labels, but K has {len(matrix)} rows")
        points = Points(matrix * np.outer(labels, labels), np.ones(len(labels), dtype=np.int8), 0.0)
        return cls(points, np.asarray(mistake_rows), lead=lead, in_feature_space=True)

    @classmethod
    def of_features(
        cls,
        examples: Iterable[Mapping[Any, Any]],
        labels: Iterable[Any],
        guesses: Iterable[Any] | None = None,
        *,
        classes: Sequence[Any],
        fit_intercept: bool = True,
        lead: float = 0.0,
        seen_radius: float = 0.0,
    ) -> "Steps":
        """Return the steps of a run on named features, from the examples added, in order, their labels, and the labels
        predicted instead.

        Of two classes the second is +1, and the guesses can be omitted. A separator of two classes maps names to
        numbers, with the bias under `Intercept`; one of more maps pairs of name and label. With a `lead`, pass the
        length of the longest example that the learner had seen (`OnlinePerceptron.radius`).
        """
        bias: dict[Any, Any] = {Intercept: 1} if fit_intercept else {}
        folded = [{**as_numbers(x), **bias} for x in examples]
        gold, is_pair = list(labels), len(classes) <= 2
        if guesses is None and not is_pair:
            raise ValueError(f"with {len(classes)} classes, pass the predicted label of each mistake")
        others = [next((c for c in classes if c != label), None) for label in gold] if is_pair else guesses

        def joint(x: Mapping[Any, Any], label: Any) -> Mapping[Any, Any]:
            if is_pair:
                return x if label == classes[-1] else {}
            return {(name, label): value for name, value in x.items()}

        steps = cls.of_structures(joint, folded, gold, range(len(folded)), others or (), lead=lead)
        factor = 1.0 if is_pair else math.sqrt(2.0) * (1.0 + 2.0**-50)
        return replace(steps, seen_radius=seen_radius * factor)

    @classmethod
    def of_structures(
        cls,
        features: Callable[[Any, Any], Mapping[Any, Any]],
        xs: Sequence[Any],
        ys: Sequence[Any],
        mistake_rows: Iterable[int],
        guesses: Iterable[Any],
        *,
        loss: Callable[[Any, Any], float] | None = None,
        part: Callable[[Any, Any], Any] | None = None,
        lead: float = 0.0,
    ) -> "Steps":
        """Return the steps of a run on structures, from `features(x, y)`, inputs, gold structures, and the rows and
        guesses of its mistakes, in order.

        `StructuredPerceptron(record_mistakes=True)` and `SequencePerceptron(record_mistakes=True)` record rows and
        guesses. `loss(gold, guess)` is that of cost-augmented learning, and `lead` that of the learner. For a beam,
        `part(gold, guess)` is the part of gold that a guess was compared with, such as gold[:len(guess)]. As structures
        cannot all be listed, R is the length of the longest difference added, and gamma the smallest of their margins.
        A separator maps features to numbers.
        """
        pairs = [(row, guess) for row, guess in zip(mistake_rows, guesses, strict=True)]
        golds = [ys[row] if part is None else part(ys[row], guess) for row, guess in pairs]
        both = list(zip(pairs, golds, strict=True))
        added = [_difference(features(xs[row], gold), features(xs[row], guess)) for (row, guess), gold in both]
        allowed = None if loss is None else [float(loss(gold, guess)) for (_, guess), gold in both]
        from scipy.sparse import csr_matrix

        names: dict[Any, int] = {}
        starts, columns, values = [0], list[int](), list[float]()
        for vector in added:
            columns += [names.setdefault(name, len(names)) for name in vector]
            values += map(float, vector.values())
            starts.append(len(columns))
        n = len(starts) - 1
        if not n:
            raise ValueError("there is no mistake, and so no step to follow")
        rows = csr_matrix((np.array(values), columns, starts), shape=(n, len(names)))
        points = Points(rows, np.ones(n, dtype=np.int8), 0.0)
        return cls(points, np.arange(n), allowed=allowed, lead=lead, names=names)

    # -- the run, replayed in integers --------------------------------------------------------------------------------

    @cached_property
    def _used(self) -> tuple[list[WholeVector], NDArray[np.int64], Fraction]:
        """The vectors that were added, by their nonzero entries, the place there of every step's, and their unit."""
        distinct, which = np.unique(self.order, return_inverse=True)
        matrix, exponent = whole_matrix(self.points, distinct)
        return [matrix.row(i) for i in range(matrix.n_rows)], which, power_of_two(exponent)

    @property
    def along(self) -> Fraction:
        return self._used[2]

    @property
    def unit(self) -> Fraction:
        return self.along if self.in_feature_space else self.along**2

    @cached_property
    def scores_and_squares(self) -> tuple[Whole, Whole]:
        """<w, z> before every step, and ||z||^2."""
        rows, which, _ = self._used
        added = [{place: 1} for place in np.unique(self.order).tolist()] if self.in_feature_space else rows
        w: dict[int, int] = {}
        scores = []
        for place in which.tolist():
            scores.append(_product(rows[place], w))
            for at, value in added[place].items():
                w[at] = w.get(at, 0) + value
        return objects(scores), objects(map(_product, rows, added))[which]

    def gains(self, u: Sequence[int]) -> Whole:
        """Return <u, z> for every step."""
        rows, which, _ = self._used
        whole = dict(enumerate(u))
        return objects(_product(row, whole) for row in rows)[which]

    @cached_property
    def weights_squares(self) -> Whole:
        """||w||^2 from the zero vector on."""
        scores, squares = self.scores_and_squares
        return np.append(0, np.cumsum(2 * scores + squares))

    @property
    def lengths(self) -> Floats:
        """||w|| after 0, 1, 2, ... steps; needs no separator."""
        return np.sqrt([max(nearest_float(square * self.unit), 0.0) for square in self.weights_squares.tolist()])

    # -- the vectors --------------------------------------------------------------------------------------------------

    @cached_property
    def longest(self) -> Fraction:
        """R^2."""
        if self.in_feature_space:
            return Fraction(float(self.points.rows.diagonal().max(initial=0.0)))
        longest = radius_square(self.points.rows, fit_intercept=self.points.constant == 1.0)
        return max(longest, Fraction(self.seen_radius) ** 2) if self.lead else longest

    @property
    def radius(self) -> float:
        """R, rounded up."""
        return fraction_root_up(self.longest)

    def called(self, place: int) -> str:
        return f"row {place // self.per_row}" if self.names is None else f"the vector of mistake {place + 1}"

    def smallest(self, u: Sequence[int]) -> tuple[Fraction, int]:
        """Return the smallest product with u, and the index of its vector."""
        return smallest_product(self.points, u[: self.points.dimension])

    def square(self, u: Sequence[int]) -> Fraction:
        """Return ||u||^2."""
        if not self.in_feature_space:
            return Fraction(sum(map(mul, u, u)))
        matrix, exponent = whole_matrix(self.points, np.arange(self.points.n_points))
        return sum(map(mul, u, matrix.times(u).tolist())) * power_of_two(exponent)

    def doubt(self, k: int) -> float:
        """Return the error of a score in float64 after k mistakes, as a multiple of the largest ||z||^2.

        A sum of n products is off by n u ||w|| ||z||, each of k additions to w by u ||w||, and ||w|| <= sqrt(k) R.
        """
        return FLOAT64 * k if self.in_feature_space else 4 * UNIT_ROUNDOFF * (self.points.widest + 2 + k) * math.sqrt(k)

    def vector(self, separator: Any) -> list[int]:
        """Return a separator in integers; columns that no vector has count in its length."""
        n, is_plane = self.points.dimension, isinstance(separator, Separator)
        if self.in_feature_space and (is_plane or isinstance(separator, Mapping) or hasattr(separator, "biases")):
            raise ValueError("in feature space a separator has a number for every row, as certificate.coefficients")
        if isinstance(separator, Mapping):
            if self.names is None:
                raise ValueError("the separator has names, but the columns of X have none; give its numbers in order")
            known = [separator.get(name, 0.0) for name in self.names]
            others = [value for name, value in separator.items() if name not in self.names]
            return _in_whole_numbers([*known, 0.0, *others])
        if is_plane:
            separator = folded_for(separator, n - 1, self.points.constant != 0)
        elif hasattr(separator, "biases"):
            separator = np.column_stack([separator.weights, separator.biases]).ravel()
        u = _in_whole_numbers(separator)
        if self.in_feature_space and len(u) != n - 1:
            raise ValueError(f"the separator has {len(u)} numbers, but there are {n - 1} rows: one each")
        if len(u) not in (n - 1, n):
            raise ValueError(f"the separator has {len(u)} numbers, but there are {n} coordinates, the bias last")
        return [*u, *([0] * (n - len(u)))]


def folded_for(separator: Separator, n_columns: int, has_bias: bool) -> Floats:
    """Return (w, b); raise ValueError if the hyperplane is not for such rows."""
    if len(separator.weights) != n_columns:
        raise ValueError(f"the separator is for rows of {len(separator.weights)} numbers, but X has {n_columns}")
    if separator.bias != 0 and not has_bias:
        raise ValueError(f"the separator has bias {separator.bias}, but without an intercept it must be 0")
    return separator.folded


def _in_whole_numbers(numbers: Any) -> list[int]:
    """Return a vector of the same direction, in integers."""
    given = list(np.asarray(numbers).ravel()) if isinstance(numbers, np.ndarray) else list(numbers)
    if all(isinstance(value, int | np.integer) for value in given):
        u = [int(value) for value in given]
    else:
        floats = np.array(given, dtype=np.float64)
        u = as_integers(floats, lowest_exponent(floats)).tolist()
    if not any(u):
        raise ValueError("the separator is 0 everywhere, and every example lies on it")
    return u


def _product(a: WholeVector, b: WholeVector) -> int:
    return sum(value * b.get(place, 0) for place, value in a.items())


def _row_numbers(mistake_rows: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    rows = np.asarray(mistake_rows, dtype=np.int64).ravel()
    if len(rows) and not (rows.min() >= 0 and rows.max() < n_rows):
        raise ValueError(f"mistake_rows must be row numbers from 0 to {n_rows - 1}")
    return rows


def _difference(gold: Mapping[Any, Any], guess: Mapping[Any, Any]) -> dict[Any, Any]:
    between = Counter(gold)
    between.subtract(guess)
    return {name: value for name, value in between.items() if value}


def objects(values: Iterable[Any]) -> Whole:
    """Return numbers of any size in an array."""
    return np.array(list(values), dtype=object)
