"""The table of learners: one small adapter each, so that every law can be asked of all of them.

A learner `lacks` what it does not offer, with the reason; a law that needs it is excused. Everything else is reached
through the public estimators only.
"""

import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import novikoff
from novikoff.data import read
from tests.laws.spaces import (
    BIAS,
    Chains,
    Kernel,
    Plane,
    Planes,
    Problem,
    Space,
    Structures,
    Vector,
    gaussian,
    linear,
    square_of_one_more,
)

NO_FIT = "a stream has no epochs: there is no fit, and so nothing that could stop"
NO_VOTE_OF_STRUCTURES = "no decoder finds the structure that most weight vectors vote for"
NO_VOTE_ONLINE = "a stream would have to keep every mistake"
ONE_FORM = "text has one form; that it gives the mistakes of the matrix is what the lecture says of both"
NOT_HOMOGENEOUS = {
    "poly": "a constant is added to the products, and it is not scaled",
    "rbf": "distances are taken with a fixed gamma",
    "links": "a link between two labels counts 1, and it is not scaled",
}
AT_THE_END_OF_AN_EPOCH = "it asks at the end of an epoch, and may have made more mistakes by then"


class Learner:
    """What laws ask of a learner. Rows are numbers, labels are what the space calls them."""

    name: str
    space: Space
    readouts: tuple[str, ...] = ("last", "average")
    ties: tuple[str, ...] = ("mistake", "predict")
    lacks: dict[str, str]

    def make(self, **options: Any) -> Any:
        """A new model; options that it does not have are left out, a tie first of all."""
        raise NotImplementedError

    def fit(self, problem: Problem, **options: Any) -> Any:
        """A model that has learned a problem in epochs."""
        model = self.make(**options)
        self.fit_again(model, problem)
        return model

    def fit_again(self, model: Any, problem: Problem, **how: Any) -> None:
        raise NotImplementedError

    def learn(self, model: Any, problem: Problem) -> None:
        """Learn some more rows, once and in order."""
        raise NotImplementedError

    def predict(self, model: Any, xs: list) -> list:
        return as_list(model.predict(self.given(xs)))

    def scores(self, model: Any, xs: list) -> Any:
        """The scores that the model shows, to be compared bit for bit."""
        return model.decision_function(self.given(xs)).tolist()

    def exact_scores(self, totals: dict, n: int) -> Any:
        """The scores that it should show, from those of every answer, summed over n weight vectors."""
        means = [float(totals[label] / Fraction(n)) for label in self.space.labels]
        return means[1] - means[0] if len(means) == 2 else means

    def weights(self, model: Any) -> Vector:
        """The weights of the read-out, as the space names them."""
        raise NotImplementedError

    def run(self, model: Any) -> novikoff.Run:
        return model.run_

    def mistakes(self, model: Any) -> list[int]:
        """The row of every mistake, in order."""
        return as_list(model.mistake_rows_)

    def given(self, xs: list) -> Any:
        """Examples as the model takes them."""
        raise NotImplementedError

    def forms(self) -> dict[str, Callable[[Any], Any]]:
        """Other ways to give the same examples."""
        raise NotImplementedError

    def refused(self, model: Any, problem: Problem) -> Iterator[Callable[[], Any]]:
        """Calls that must fail: a number that is none, a label that is unknown."""
        x, y = self.space.broken()
        broken = Problem([*problem.xs, x], [*problem.ys, y])
        if "fit" not in self.lacks:
            yield lambda: self.fit_again(model, broken)
        if "partial_fit" not in self.lacks:
            yield lambda: self.learn(model, broken)
            yield lambda: self.learn(model, Problem(problem.xs, [*problem.ys[1:], 7]))

    def functions(self) -> dict[str, Any]:
        """What `load` has to be given."""
        return {}

    def offers(self, option: str) -> bool:
        return option in inspect.signature(type(self.make())).parameters

    def __repr__(self) -> str:
        return self.name


def as_list(values: Any) -> list:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def quietly(learn: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """Nobody asked for convergence here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*did not converge")
        return learn(*args, **how)


# -- rows of numbers --------------------------------------------------------------------------------------------------


def with_long_indices(X: Any) -> Any:
    X = sparse.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unaligned(X: Any) -> Any:
    """The same numbers at addresses that are no multiple of 8."""
    buffer = np.empty(X.nbytes + 1, dtype=np.uint8)
    view = np.frombuffer(buffer.data, dtype=X.dtype, count=X.size, offset=1).reshape(X.shape)
    view[:] = X
    assert not view.flags.aligned
    return view


def unsorted_with_duplicates(X: Any) -> Any:
    """CSR with descending columns, and every entry split in two."""
    X = sparse.csr_matrix(X)
    rows = [slice(start, stop) for start, stop in pairwise(X.indptr)]
    data, indices = (np.concatenate([np.repeat(a[row][::-1], 2) for row in rows]) for a in (X.data / 2, X.indices))
    return sparse.csr_matrix((data, indices, 2 * X.indptr), shape=X.shape)


def read_only(X: Any) -> Any:
    X = X.copy()
    X.flags.writeable = False
    return X


MATRICES: dict[str, Callable[[Any], Any]] = {
    "fortran": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "byte-swapped": lambda X: X.astype(X.dtype.newbyteorder()),
    "read-only": read_only,
    "unaligned": unaligned,
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csr, unsorted, with duplicates": unsorted_with_duplicates,
    "csc": sparse.csc_matrix,
    "csr int64": with_long_indices,
    "float32": lambda X: X.astype(np.float32),
    "csr float32": lambda X: sparse.csr_array(X.astype(np.float32)),
}


@dataclass(repr=False)
class OfMatrices(Learner):
    """An estimator that learns a matrix: `Perceptron` or `KernelPerceptron`."""

    name: str
    space: Space
    estimator: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)
    readouts = ("last", "average", "vote")

    def make(self, **options):
        return self.estimator(record_mistakes=True, **{**self.options, **options})

    def fit_again(self, model, problem, **how):
        quietly(model.fit, self.given(problem.xs), np.array(problem.ys), **how)

    def learn(self, model, problem):
        model.partial_fit(self.given(problem.xs), np.array(problem.ys), classes=list(self.space.labels))

    def given(self, xs):
        return xs if hasattr(xs, "shape") else np.array(xs, dtype=np.float64)

    def forms(self):
        return MATRICES


class OfPlanes(OfMatrices):
    """`Perceptron`."""

    def weights(self, model):
        rows = [[*coef, bias] for coef, bias in zip(model.coef_.tolist(), model.intercept_.tolist(), strict=True)]
        named = [dict(zip([*range(len(row) - 1), BIAS], row, strict=True)) for row in rows]
        if len(named) == 1:
            return nonzero(named[0])
        return nonzero({(c, name): value for c, row in enumerate(named) for name, value in row.items()})


class OfKernels(OfMatrices):
    """`KernelPerceptron`; a point that was mistaken in several rows is one name."""

    def weights(self, model):
        total: Vector = {}
        for c, row in enumerate(model.dual_coef_.tolist()):
            for point, value in zip(map(tuple, as_list(model.support_vectors_)), row, strict=True):
                total[c, point] = total.get((c, point), 0) + value
        return nonzero(total)

    def forms(self):
        """Those that have a kind of rows of their own; the others become these at the same door as for planes."""
        names = ("fortran", "csr", "csr, unsorted, with duplicates", "csr int64", "float32", "csr float32")
        return {name: MATRICES[name] for name in names}


class OfBatches(OfPlanes):
    """`Perceptron` on batches that need not be in memory at once, each of them in another form."""

    def fit_again(self, model, problem, **how):
        X, y = self.given(problem.xs), np.array(problem.ys)
        starts = range(0, len(y), 2)
        batches = [(X[i : i + 2], y[i : i + 2]) for i in starts]
        quietly(
            model.fit,
            [(sparse.csr_array(A), b) if i % 4 else (A, b) for i, (A, b) in zip(starts, batches, strict=True)],
            **how,
        )

    def forms(self):
        return {"float32": MATRICES["float32"]}


class OfFiles(OfPlanes):
    """`Perceptron` on svmlight text in a file, in blocks of a few lines."""

    def fit_again(self, model, problem, **how):
        with tempfile.TemporaryDirectory() as folder:
            path = write_svmlight(Path(folder) / "text.svm", self.given(problem.xs), problem.ys)
            quietly(model.fit, read(path, block_bytes=50), **how)


def write_svmlight(path: Path, X: Any, ys: Iterable[Any]) -> Path:
    lines = [" ".join([str(y), *(f"{j}:{v!r}" for j, v in enumerate(x))]) for x, y in zip(X.tolist(), ys, strict=True)]
    path.write_text("\n".join([*lines, ""]))
    return path


def nonzero(u: Vector) -> Vector:
    return {name: value for name, value in u.items() if value}


# -- one example at a time --------------------------------------------------------------------------------------------


@dataclass(repr=False)
class OfStreams(Learner):
    """`OnlinePerceptron`: passes over the rows, as its user would make them."""

    name: str
    space: Space
    options: dict[str, Any] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=lambda: {"fit": NO_FIT, "vote": NO_VOTE_ONLINE})

    def make(self, **options):
        taken = {name: value for name, value in options.items() if name in ("readout", "tie", "fit_intercept")}
        return novikoff.OnlinePerceptron(classes=list(self.space.labels), **{**self.options, **taken})

    def fit(self, problem, *, max_iter=10, shuffle=False, random_state=None, **options):
        model = self.make(**options)
        model.rows, epoch, before = [], 0, None
        while epoch != max_iter and model.mistakes != before:
            before = model.mistakes
            pairs = zip(self.given(problem.xs), problem.ys, strict=True)
            model.rows += [row for row, (x, y) in enumerate(pairs) if model.learn_one(x, y)]
            epoch += 1
        return model

    def learn(self, model, problem):
        model.learn_many(self.given(problem.xs), problem.ys)

    def predict(self, model, xs):
        return [model.predict_one(x) for x in self.given(xs)]

    def scores(self, model, xs):
        return [model.decision_one(x) for x in self.given(xs)]

    def weights(self, model):
        if len(self.space.labels) == 2:
            return nonzero({**model.weights(), BIAS: model.intercept()})
        parts = {c: {**model.weights(c), BIAS: model.intercept(c)} for c in self.space.labels}
        return nonzero({(c, name): value for c, part in parts.items() for name, value in part.items()})

    def run(self, model):
        return model.run

    def mistakes(self, model):
        return model.rows

    def given(self, xs):
        """Every other example is without its zeros, so that the names are not always the same."""
        named = [x if isinstance(x, dict) else dict(enumerate(x)) for x in xs]
        return [x if row % 2 else nonzero(x) for row, x in enumerate(named)]

    def forms(self):
        return {
            "other order": lambda xs: [dict(reversed(x.items())) for x in xs],
            "zeros left out": lambda xs: [nonzero(x) for x in xs],
            "numpy numbers": lambda xs: [{name: np.float64(value) for name, value in x.items()} for x in xs],
        }


# -- structures -------------------------------------------------------------------------------------------------------


@dataclass(repr=False)
class OfChains(Learner):
    """`SequencePerceptron` on tokens that are numbers."""

    name: str = "SequencePerceptron"
    space: Space = field(default_factory=Chains)
    ties = ("predict",)
    lacks: dict[str, str] = field(
        default_factory=lambda: {
            "vote": NO_VOTE_OF_STRUCTURES,
            "homogeneous": NOT_HOMOGENEOUS["links"],
            "first mistake": AT_THE_END_OF_AN_EPOCH,
        }
    )

    def make(self, *, tie="predict", **options):
        return novikoff.SequencePerceptron(**options)

    def fit_again(self, model, problem, **how):
        quietly(model.fit, self.given(problem.xs), [list(path) for path in problem.ys], **how)

    def learn(self, model, problem):
        paths = [list(path) if isinstance(path, tuple) else path for path in problem.ys]
        model.partial_fit(self.given(problem.xs), paths, classes=self.space.labels)

    def predict(self, model, xs):
        return [tuple(path) for path in model.predict(self.given(xs))]

    def scores(self, model, xs):
        return [(scored.score, scored.margin) for scored in model.predict_with_scores(self.given(xs))]

    def exact_scores(self, totals, n):
        best, second = sorted((float(total / Fraction(n)) for total in totals.values()), reverse=True)[:2]
        return best, best - second

    def weights(self, model):
        links = {(a, b): weight for (a, b), weight in model.transition_features_.items()}
        ends = {("link", *("outside" if e is None else e for e in pair)): weight for pair, weight in links.items()}
        return {("emission", column(j), y): weight for (j, y), weight in model.state_features_.items()} | ends

    def refused(self, model, problem):
        yield from super().refused(model, problem)
        yield lambda: self.fit_again(model, Problem(problem.xs, [*problem.ys[1:], ()]))

    def given(self, xs):
        return [x if hasattr(x, "shape") else np.array(x, dtype=np.float64) for x in xs]

    def forms(self):
        names = ("fortran", "read-only", "csr", "csr float32")  # kernels of chains take long to compile
        return {name: lambda xs, form=MATRICES[name]: [form(x) for x in xs] for name in names}


def column(name: Any) -> int:
    """The number of a column of numbers, by its name."""
    return int(str(name).rsplit(" ", 1)[-1])


def features(x: Any, y: int) -> dict:
    return dict(x[y])


def decode(weights: Any, x: Any) -> int:
    scores = [weights.score(dict(v)) for v in x]
    return scores.index(max(scores))


@dataclass(repr=False)
class OfStructures(Learner):
    """`StructuredPerceptron`: an example brings its structures along."""

    name: str = "StructuredPerceptron"
    space: Space = field(default_factory=Structures)
    ties = ("predict",)
    lacks: dict[str, str] = field(default_factory=lambda: {"vote": NO_VOTE_OF_STRUCTURES})

    def make(self, *, tie="predict", **options):
        return novikoff.StructuredPerceptron(features, decode, record_mistakes=True, **options)

    def fit_again(self, model, problem, **how):
        quietly(model.fit, problem.xs, problem.ys, **how)

    def learn(self, model, problem):
        model.partial_fit(problem.xs, problem.ys)

    def refused(self, model, problem):
        *calls, _ = super().refused(model, problem)
        yield from calls
        yield lambda: self.learn(model, Problem(problem.xs, problem.ys[1:]))

    def scores(self, model, xs):
        return [[model.weights.score(dict(v)) for v in x] for x in xs]

    def exact_scores(self, totals, n):
        return [float(total / Fraction(n)) for total in totals.values()]

    def weights(self, model):
        return dict(model.weights)

    def given(self, xs):
        return xs

    def forms(self):
        return {
            "other order": lambda xs: [tuple(tuple(reversed(v)) for v in x) for x in xs],
            "zeros left out": lambda xs: [tuple(tuple(nonzero(dict(v)).items()) for v in x) for x in xs],
            "numpy numbers": lambda xs: [tuple(tuple((n, np.float64(v)) for n, v in w) for w in x) for x in xs],
        }

    def functions(self):
        return {"features": features, "decode": decode}


def kernel(name: str, value: Callable[..., Any], n_classes: int) -> OfKernels:
    classes = {2: "two classes", 3: "three classes"}[n_classes]
    lacks = {} if name == "linear" else {"homogeneous": NOT_HOMOGENEOUS[name]}
    options = {"kernel": name, "gamma": 0.5 if name == "rbf" else 1.0, "degree": 2, "coef0": 1.0}
    space = Kernel(value, n_classes)
    return OfKernels(f"KernelPerceptron, {name}, {classes}", space, novikoff.KernelPerceptron, options, lacks)


NO_BIAS = {"fit_intercept": False}
LEARNERS: list[Learner] = [
    OfPlanes("Perceptron, two classes", Plane(), novikoff.Perceptron),
    OfPlanes("Perceptron, three classes", Planes(), novikoff.Perceptron),
    OfBatches("Perceptron on batches, two classes", Plane(), novikoff.Perceptron),
    OfBatches("Perceptron on batches, three classes", Planes(bias=False), novikoff.Perceptron, NO_BIAS),
    OfFiles("Perceptron on a file", Plane(), novikoff.Perceptron, lacks={"forms": ONE_FORM}),
    kernel("linear", linear, 2),
    kernel("linear", linear, 3),
    kernel("poly", square_of_one_more, 3),
    kernel("rbf", gaussian, 2),
    OfStreams("OnlinePerceptron, two classes", Plane(bias=False), NO_BIAS),
    OfStreams("OnlinePerceptron, three classes", Planes()),
    OfChains(),
    OfStructures(),
]
