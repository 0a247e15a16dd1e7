"""The spaces in which the learners add examples, and the one loop of the lecture in all of them, in exact arithmetic.

Every learner answers questions. An example asks which of some answers is right, each answer has a vector, and the best
score wins. Two classes are the vectors x and 0; several classes have x in a place of their own (Kesler); a kernel's
vectors are the points themselves, whose products are its values; label sequences and structures have their features.
Numbers are whole, or fractions that floats hold exactly, so that nothing here is ever rounded.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product as all_tuples
from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from tests.chains import joint_features

Vector = dict[Hashable, Any]
BIAS = "bias"


class Problem(NamedTuple):
    """Examples and their labels."""

    xs: list
    ys: list


class Question(NamedTuple):
    """The vectors of the answers, the one that wins a tie first, and which is right.

    `part` names the weights that answer: each class of a kernel perceptron has its own.
    """

    vectors: list[Vector]
    right: int
    part: int = 0


def plus(u: Vector, v: Vector, sign: int = 1) -> Vector:
    """u + v or u - v, without zeros."""
    total = {name: u.get(name, 0) + sign * v.get(name, 0) for name in {*u, *v}}
    return {name: value for name, value in total.items() if value}


class Space:
    """Where examples are added. The length of a step is at most sqrt(`step`) times R."""

    step = 1
    labels: Sequence[Hashable] = (0, 1)

    def product(self, u: Vector, v: Vector) -> Any:
        if len(v) > len(u):
            u, v = v, u
        return sum(u.get(name, 0) * value for name, value in v.items())

    def square(self, u: Vector) -> Fraction:
        return Fraction(self.product(u, u))

    def part(self, u: Vector, number: int) -> Vector:
        """The weights of a part."""
        return u

    def answers(self, x: Any) -> dict[Hashable, Vector]:
        """The vector of every answer, the one that wins a tie first."""
        raise NotImplementedError

    def questions(self, x: Any, y: Hashable) -> list[Question]:
        answers = self.answers(x)
        return [Question(list(answers.values()), list(answers).index(y))]

    def votes(self, x: Any, w: Vector) -> dict[Hashable, int]:
        """What a weight vector votes for."""
        return {self.best(x, [w]): 1}

    def best(self, x: Any, past: list[Vector]) -> Hashable:
        """The answer of the best score, summed over weight vectors."""
        scores = self.scores(x, past)
        return max(scores, key=scores.__getitem__)

    def scores(self, x: Any, past: list[Vector]) -> dict[Hashable, Any]:
        return {label: sum(self.product(w, v) for w in past) for label, v in self.answers(x).items()}

    def elected(self, x: Any, past: list[Vector]) -> dict[Hashable, int]:
        """The votes for every answer."""
        votes = [self.votes(x, w) for w in past]
        return {label: sum(vote.get(label, 0) for vote in votes) for label in self.answers(x)}

    def radius_square(self, problem: Problem, steps: list[Vector]) -> Any:
        """R^2 as the learner means it: of the longest example."""
        return max(self.square(v) for x in problem.xs for v in self.answers(x).values())

    # -- problems -----------------------------------------------------------------------------------------------------

    def points(self) -> st.SearchStrategy[Any]:
        raise NotImplementedError

    def hidden(self) -> st.SearchStrategy[tuple[Vector, list]]:
        """Weights that label points, and points that shall be among them."""
        raise NotImplementedError

    def is_whole(self, ys: Sequence[Any]) -> bool:
        """Whether every label occurs."""
        return {*ys} == {*self.labels}

    def one_of_each(self, xs: list) -> list:
        """Labels for the first examples, so that all occur."""
        return list(self.labels)

    def close_calls(self, chance: np.random.Generator) -> Problem:
        """More rows, of numbers with one decimal: many scores are 0 but for the rounding."""
        X = chance.integers(-3, 4, (40, 9)) * (chance.random((40, 9)) < 0.7) / 10
        return Problem([tuple(x) for x in X.tolist()], [*self.labels, *chance.choice(self.labels, 40).tolist()][:40])

    def mapped(self, x: Any, change: Callable[[Any], Any]) -> Any:
        """The same example of other numbers."""
        return tuple(map(change, x))

    def permuted(self, x: Any) -> Any:
        """The same example with its features the other way round."""
        return x[::-1]

    def broken(self) -> tuple[Any, Any]:
        """An example with a number that is none, and its label."""
        return (1.0, math.nan, 0.0), 0

    def leads(self, u: Vector, problem: Problem) -> Iterator[tuple[int, Any]]:
        """By how much every right answer leads each other one, with the part that answers."""
        for x, y in zip(*problem, strict=True):
            for vectors, right, part in self.questions(x, y):
                scores = [self.product(u, v) for v in vectors]
                yield from ((part, scores[right] - s) for place, s in enumerate(scores) if place != right)

    def margin_squares(self, u: Vector, problem: Problem) -> dict[int, Fraction]:
        """The square of every part's margin under weights that separate."""
        smallest: dict[int, Any] = {}
        for part, lead in self.leads(u, problem):
            smallest[part] = min(lead, smallest.get(part, lead))
        return {part: Fraction(lead) ** 2 / self.square(self.part(u, part)) for part, lead in smallest.items()}


@dataclass(frozen=True)
class Plane(Space):
    """Two classes, 0 and 1, and one weight vector."""

    bias: bool = True

    def answers(self, x):
        return {1: folded(x, self.bias), 0: {}}

    def points(self):
        return st.tuples(*[st.integers(-2, 2)] * 3)

    def hidden(self):
        return self.points().filter(any).map(lambda w: (folded(w, self.bias), [w, tuple(-2 * v for v in w)]))


@dataclass(frozen=True)
class Planes(Space):
    """Three classes with a weight vector each (Kesler's construction)."""

    bias: bool = True
    step = 2
    labels = (0, 1, 2)

    def answers(self, x):
        return {c: {(c, name): value for name, value in folded(x, self.bias).items()} for c in self.labels}

    def points(self):
        return st.tuples(*[st.integers(-2, 2)] * 3)

    def hidden(self):
        def weights(noise):
            u = {(c, c): 3 for c in self.labels}
            for c, w in enumerate(noise):
                u = plus(u, {(c, j): value for j, value in enumerate(w)})
            return u, [tuple(2 * (j == c) for j in range(3)) for c in self.labels]

        return st.tuples(*[st.tuples(*[st.integers(-1, 1)] * 3)] * 3).map(weights)


def linear(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def square_of_one_more(x, z):
    return (linear(x, z) + 1) ** 2


@cache
def gaussian(x, z):
    """NumPy's exp, because others round differently."""
    return Fraction(float(np.exp(np.array([-0.5 * sum((a - b) ** 2 for a, b in zip(x, z, strict=True))]))[0]))


@dataclass(frozen=True)
class Kernel(Space):
    """Sums of points; two classes, or each of three against the rest."""

    value: Any
    n_classes: int = 2

    @property
    def labels(self):
        return range(self.n_classes)

    def product(self, u, v):
        pairs = (((c, x), (d, z)) for c, x in u for d, z in v if c == d)
        return sum(u[one] * v[two] * self.value(one[1], two[1]) for one, two in pairs)

    def part(self, u, number):
        return {(c, x): value for (c, x), value in u.items() if c == number}

    def answers(self, x):
        return {1: {(0, x): 1}, 0: {}} if self.n_classes == 2 else {c: {(c, x): 1} for c in self.labels}

    def questions(self, x, y):
        if self.n_classes == 2:
            return super().questions(x, y)
        return [Question([{(c, x): 1}, {}], int(y != c), c) for c in self.labels]

    def votes(self, x, w):
        if self.n_classes == 2:
            return super().votes(x, w)
        return {c: 1 if self.product(w, v) >= 0 else -1 for c, v in self.answers(x).items()}

    def points(self):
        return st.tuples(*[st.integers(-2, 2)] * 3)

    def hidden(self):
        """A point and its mirror image, or points far apart, and each of them against the others."""
        if self.n_classes == 2:
            two = self.points().filter(any).map(lambda x: [x, tuple(-v for v in x)])
            return two.map(lambda pair: ({(0, pair[0]): 1, (0, pair[1]): -1}, pair))
        corners = [tuple(2 * (j == c) for j in range(3)) for c in self.labels]
        u = {(c, z): 2 if c == d else -1 for c in self.labels for d, z in enumerate(corners)}
        return st.just((u, corners))


class Chains(Space):
    """Label sequences: of equals the one whose labels, read from the end, come first."""

    def answers(self, x):
        paths = sorted(all_tuples(self.labels, repeat=len(x)), key=lambda path: path[::-1])
        return {path: dict(joint_features(x, path)) for path in paths}

    def radius_square(self, problem, steps):
        return max(map(self.square, steps), default=0)

    def points(self):
        token = st.tuples(*[st.integers(-2, 2)] * 2)
        return st.lists(token, min_size=1, max_size=3).map(tuple)

    def hidden(self):
        names = [*(("emission", j, y) for j in range(2) for y in self.labels)]
        names += [("link", a, b) for a in ("outside", *self.labels) for b in ("outside", *self.labels)]
        weights = st.fixed_dictionaries({name: st.integers(-1, 1) for name in names})
        return weights.filter(lambda u: any(u.values())).map(lambda u: (u, []))

    def is_whole(self, ys):
        return {label for path in ys for label in path} == {*self.labels}

    def one_of_each(self, xs):
        return [(label,) * len(x) for label, x in zip(self.labels, xs, strict=False)]

    def close_calls(self, chance):
        X = chance.integers(-3, 4, (15, 3, 2)) / 10
        return Problem(
            [tuple(map(tuple, x)) for x in X.tolist()], [*map(tuple, chance.integers(0, 2, (15, 3)).tolist())]
        )

    def mapped(self, x, change):
        return tuple(tuple(map(change, token)) for token in x)

    def permuted(self, x):
        return tuple(token[::-1] for token in x)

    def broken(self):
        return ((1.0, math.nan),), (0,)


class Structures(Space):
    """An example has the vectors of some structures, which are numbers; of equals the first wins."""

    def answers(self, x):
        return dict(enumerate(map(dict, x)))

    def radius_square(self, problem, steps):
        return max(map(self.square, steps), default=0)

    def points(self):
        vector = st.dictionaries(st.sampled_from("abc"), st.integers(-2, 2))
        return st.lists(vector, min_size=2, max_size=3).map(lambda x: tuple(tuple(v.items()) for v in x))

    def hidden(self):
        weights = st.dictionaries(st.sampled_from("abc"), st.integers(-2, 2))
        return weights.filter(lambda u: any(u.values())).map(lambda u: (u, []))

    def is_whole(self, ys):
        return bool(ys)

    def close_calls(self, chance):
        X = chance.integers(-3, 4, (20, 3, 5)) / 10
        xs = [tuple(tuple(zip("abcde", v, strict=True)) for v in x) for x in X.tolist()]
        return Problem(xs, chance.integers(0, 3, 20).tolist())

    def mapped(self, x, change):
        return tuple(tuple((name, change(value)) for name, value in v) for v in x)

    def permuted(self, x):
        return tuple(v[::-1] for v in x)

    def broken(self):
        return ((("a", 1.0),), (("a", math.nan),)), 1


def folded(x: tuple, bias: bool) -> Vector:
    """An example by the numbers of its columns, and the constant 1."""
    return {**dict(enumerate(x)), **({BIAS: 1} if bias else {})}


# -- problems ---------------------------------------------------------------------------------------------------------

# The theorem may allow so many mistakes: enough for several epochs, few enough for a test.
ENOUGH = 400


@st.composite
def any_problem(draw: Any, space: Space) -> Problem:
    """A few examples with any labels; every label occurs."""
    xs = draw(st.lists(space.points(), min_size=3, max_size=7))
    ys = [draw(st.sampled_from(list(space.answers(x)))) for x in xs]
    if not space.is_whole(ys):
        ys[: len(space.labels)] = space.one_of_each(xs)
    return Problem(xs, ys)


@st.composite
def separable_problem(draw: Any, space: Space) -> tuple[Problem, Vector]:
    """A few examples that weights label with some margin, and these weights."""
    u, planted = draw(space.hidden())
    xs = draw(st.permutations([*planted, *draw(st.lists(space.points(), min_size=2, max_size=8))]))
    longest = max(space.square(v) for x in xs for v in space.answers(x).values())

    def is_clear(part: int, lead: Any) -> bool:
        return lead > 0 and lead**2 * ENOUGH >= space.step * longest * space.square(space.part(u, part))

    pairs = [(x, y) for x in xs for y in space.answers(x)]
    clear = [(x, y) for x, y in pairs if all(is_clear(*lead) for lead in space.leads(u, Problem([x], [y])))]
    problem = Problem([x for x, _ in clear], [y for _, y in clear])
    assume(space.is_whole(problem.ys))
    return problem, u


# -- the lecture ------------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """What an example did: its row, the vectors that were added with their parts, and the weights after it."""

    row: int
    added: list[tuple[int, Vector]]
    weights: Vector


def lecture(space: Space, problem: Problem, rows: Iterator[int], tie: str, w: Vector | None = None) -> Iterator[Seen]:
    """On a mistake, add the right answer and take the best other one away."""
    w = {} if w is None else w
    for row in rows:
        added = []
        for vectors, right, part in space.questions(problem.xs[row], problem.ys[row]):
            scores = [space.product(w, v) for v in vectors]
            rival = max((i for i in range(len(scores)) if i != right), key=scores.__getitem__, default=right)
            loses = scores[rival] == scores[right] and (tie == "mistake" or rival < right)
            if rival != right and (scores[rival] > scores[right] or loses):
                added.append((part, plus(vectors[right], vectors[rival], -1)))
                w = plus(w, added[-1][1])
        yield Seen(row, added, w)


def epochs(space: Space, problem: Problem, most: int, tie: str) -> list[Seen]:
    """The rows in order, again and again, until an epoch makes no mistake."""
    seen: list[Seen] = []
    for _ in range(most):
        w = seen[-1].weights if seen else {}
        seen += lecture(space, problem, range(len(problem.xs)), tie, w)
        if not any(one.added for one in seen[-len(problem.xs) :]):
            break
    return seen


def mistaken(history: list[Seen]) -> list[int]:
    """The row of every mistake, in order."""
    return [seen.row for seen in history for _ in seen.added]
