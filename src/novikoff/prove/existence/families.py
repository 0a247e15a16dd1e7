"""Every family of models as a cone: the directions along which its likelihood never falls.

It is given by inequalities z.b >= 0 and equations z.b = 0. Along a direction b for which some z.b > 0 the likelihood
keeps growing, and has no maximum. If z.b = 0 in every row, it is constant: the columns are collinear, and the estimate
is not unique. So all questions about the existence of an estimate are questions about this cone.

Sources: Albert and Anderson (1984) for binomial and multinomial models, Schwendinger, Gruen and Hornik (2021) for the
log link, Correia, Guimaraes and Zylkin (2019) for Poisson models, Bryson and Johnson (1981) for Cox's. The rows of
each, and their order, are in `docs/certificates.md`.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.floats import power_of_two
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.existence.likelihood import Likelihood
from novikoff.prove.existence.rows import NullSpace, Numbers, Sparse, Term, in_lowest_terms, sums_of, whole_rows
from novikoff.say.words import listed

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cone:
    """Integer rows, of which some are equations.

    Each coefficient has a unit of its own, a power of two. `owner` is the row of the data that a row of the cone
    belongs to. In a chain of comparisons, such as events in time, `after` is the row of the data that it is compared
    with: if that one is separated, so is `owner`; -1 where there is no chain.

    `known` caches what search and conclusion both compute.
    """

    whole: WholeMatrix
    exponents: Numbers
    is_equation: NDArray[np.bool_]
    owner: Numbers
    after: Numbers | None = None
    known: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def size(self) -> int:
        return self.whole.n_columns

    def null_space(self, rows: Rows, clock: Clock) -> NullSpace:
        """Return the null space of some rows."""
        key = rows.tobytes()
        if key not in self.known:
            self.known[key] = NullSpace.of(self.whole.in_rows(rows), clock)
        found: NullSpace = self.known[key]
        return found

    def beyond(
        self, null_space: NullSpace, is_strict: NDArray[np.bool_], clock: Clock
    ) -> tuple[dict[int, Sparse], NullSpace]:
        """Return the rows outside a face, by their numbers, in the free coordinates of its null space; and the lines of
        that space, which are orthogonal to these rows, too."""
        key = id(null_space), is_strict.tobytes()  # the id stays unique, as the null space is cached
        if key not in self.known:
            numbers = np.flatnonzero(is_strict)
            part = self.whole.in_rows(numbers)
            rows = {n: null_space.times(part.row(i)) for i, n in enumerate(clock.through(numbers.tolist()))}
            self.known[key] = rows, NullSpace.of(in_lowest_terms(list(rows.values()), null_space.dimension), clock)
        found: tuple[dict[int, Sparse], NullSpace] = self.known[key]
        return found

    def signs(self, direction: Sequence[int]) -> NDArray[np.int8]:
        """Return the sign of every row along a direction."""
        lowest = int(self.exponents.min(initial=0))
        shifts = zip(direction, (self.exponents - lowest).tolist(), strict=True)
        return np.sign(self.whole.times([value << e for value, e in shifts])).astype(np.int8)

    def in_given_units(self, direction: Sequence[Any]) -> tuple[int, ...]:
        """Return a direction along the integer rows in the units of the data."""
        pairs = zip(direction, self.exponents.tolist(), strict=True)
        return tuple(as_whole([value * power_of_two(-e) for value, e in pairs]))

    def separated_rows(self, is_strict: NDArray[np.bool_]) -> tuple[int, ...]:
        """Return the rows of the data that own the strict rows of the cone."""
        if self.after is None:
            return tuple(np.unique(self.owner[is_strict]).tolist())
        left_behind: set[int] = set()
        for row, before, strict in zip(self.owner.tolist(), self.after.tolist(), is_strict.tolist(), strict=True):
            if strict or before in left_behind:
                left_behind.add(row)
        return tuple(sorted(left_behind))


# The most comparisons of rows that are stored.
MOST_PAIRS = 20_000_000


def cone_of(likelihood: Likelihood, clock: Clock = UNLIMITED) -> Cone:
    """Return the cone of a likelihood, which is cached; raise OutOfTimeError if there is no time to build it."""
    known = likelihood.__dict__
    if "cone" not in known:
        known["cone"] = _CONES[likelihood.family](likelihood, clock)
    return known["cone"]


def names_of(family: str, columns: tuple[str, ...], classes: Sequence[Any] | None) -> tuple[str, ...]:
    """Return the names of coefficients: columns; for multinomial models by class; for ordinal ones thresholds, too.

    >>> names_of("multinomial", ("age",), ["no", "some", "much"])
    ('some: age', 'much: age')
    >>> names_of("ordinal", ("age",), ["no", "some", "much"])
    ('age', 'no|some', 'some|much')
    """
    labels = list(classes or ())
    if family == "multinomial":
        return tuple(f"{label}: {column}" for label in labels[1:] for column in columns)
    if family == "ordinal":
        return (*columns, *(f"{low}|{high}" for low, high in itertools.pairwise(labels)))
    return columns


def check_different(names: Sequence[str]) -> None:
    """Refuse duplicate names, which would make claims about coefficients ambiguous."""
    if len(set(names)) < len(names):
        twice = [name for name, count in Counter(names).items() if count > 1]
        raise ValueError(
            f"two coefficients would be called {listed(list(map(repr, twice)), 5)}; give every column a name of its "
            "own, which no level, class or threshold has"
        )


def _binomial(likelihood: Likelihood, clock: Clock) -> Cone:
    """Only successes: x.b >= 0. Only failures: x.b <= 0. Both: x.b = 0."""
    rows, won, lost = _trials(likelihood)
    return _signed(likelihood, rows, np.where(won, 1, -1), won & lost, clock)


def _log_binomial(likelihood: Likelihood, clock: Clock) -> Cone:
    """With a success, the probability may not fall: x.b = 0. Otherwise x.b <= 0."""
    rows, won, _ = _trials(likelihood)
    return _signed(likelihood, rows, np.full(len(rows), -1), won, clock)


def _trials(likelihood: Likelihood) -> tuple[Rows, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the rows with a success or a failure, and which of them have successes and failures."""
    won, lost = (likelihood.numbers[name] > 0 for name in ("successes", "failures"))
    rows = likelihood.used[(won | lost)[likelihood.used]]
    return rows, won[rows], lost[rows]


def _poisson(likelihood: Likelihood, clock: Clock) -> Cone:
    """The mean may fall to 0 where the count is 0, and nowhere else."""
    rows = likelihood.used
    return _signed(likelihood, rows, np.full(len(rows), -1), likelihood.numbers["count"][rows] > 0, clock)


def _signed(likelihood: Likelihood, rows: Rows, signs: Rows, is_equation: NDArray[np.bool_], clock: Clock) -> Cone:
    X, exponents = whole_rows(likelihood.X)
    whole = sums_of([Term(X, rows, signs, np.zeros_like(rows))], len(rows), X.n_columns, clock)
    return Cone(whole, exponents, is_equation, rows)


def start_cone(likelihood: Likelihood) -> Cone:
    """For the log link: probabilities of at most 1, below 1 where there is a failure. As a cone: the last coefficient
    multiplies the offset, and the last row requires it to be nonnegative."""
    from scipy.sparse import csr_array, hstack, vstack

    rows, _, _ = _trials(likelihood)
    offset = likelihood.numbers["offset"][rows, None]
    design = -hstack([likelihood.X[rows], csr_array(offset)], format="csr")
    last = csr_array(([1.0], ([0], [design.shape[1] - 1])), shape=(1, design.shape[1]))
    whole, exponents = whole_rows(csr_array(vstack([design, last])))
    return Cone(whole, exponents, np.zeros(len(rows) + 1, dtype=bool), np.append(rows, -1))


def must_be_below(likelihood: Likelihood) -> NDArray[np.bool_]:
    """Which rows of `start_cone` must be strict: those with a failure, and the last."""
    return np.append(_trials(likelihood)[2], True)


def _multinomial(likelihood: Likelihood, clock: Clock) -> Cone:
    """x.(b_own - b_rival) >= 0 for every rival; the coefficients of the first class are 0."""
    used, k = likelihood.used, len(likelihood.classes or ())
    X, exponents = whole_rows(likelihood.X)
    of_class = [used[likelihood.numbers["class"][used] == label] for label in range(k)]
    pairs = [(own, rival) for own in clock.through(range(k)) for rival in range(k) if rival != own]
    counts = [len(of_class[own]) for own, _ in pairs]
    rows = np.concatenate([of_class[own] for own, _ in pairs])
    own, rival = (np.repeat(labels, counts) for labels in zip(*pairs, strict=True))
    sides = [
        Term(X, rows, sign * (label > 0), X.n_columns * np.maximum(label - 1, 0))
        for sign, label in ((1, own), (-1, rival))
    ]
    whole = sums_of(sides, len(rows), (k - 1) * X.n_columns, clock)
    is_equation = np.zeros(len(rows), dtype=bool)
    return Cone(whole, np.tile(exponents, k - 1), is_equation, rows)


def _ordinal(likelihood: Likelihood, clock: Clock) -> Cone:
    """The thresholds around a row's class may move away from x.b, never past it."""
    used, k = likelihood.used, len(likelihood.classes or ())
    X, exponents = whole_rows(likelihood.X)
    own = likelihood.numbers["class"][used].astype(np.int64)
    below, above = own < k - 1, own > 0
    rows, place = np.append(used[below], used[above]), np.append(own[below], own[above] - 1)
    signs, nowhere = np.repeat([1, -1], [below.sum(), above.sum()]), np.zeros_like(rows)
    thresholds = Term(WholeMatrix.of_table([[1]], 1), nowhere, signs, X.n_columns + place)
    whole = sums_of([Term(X, rows, -signs, nowhere), thresholds], len(rows), X.n_columns + k - 1, clock)
    units, is_equation = np.append(exponents, np.zeros(k - 1, dtype=np.int64)), np.zeros(len(rows), dtype=bool)
    return Cone(whole, units, is_equation, rows)


# -- comparisons ------------------------------------------------------------------------------------------------------

# Rows with a larger risk, as many with a smaller one, and whether the two of each pair must be equal.
Comparisons = tuple[Rows, Rows, bool]


def _conditional(likelihood: Likelihood, clock: Clock) -> Cone:
    """Compare every case with every other member of its stratum that is not a case."""
    case = likelihood.numbers["case"] > 0

    def compare(members: Rows) -> Iterator[Comparisons]:
        others = members[~case[members]]
        return ((np.full(len(others), row), others, False) for row in members[case[members]].tolist())

    return _compared(likelihood, compare, clock, in_a_chain=False)


def _cox(likelihood: Likelihood, clock: Clock) -> Cone:
    """Compare every event with all others at risk. Nested risk sets need only neighbours in time."""
    is_late = "entry" in likelihood.numbers
    compare = _late_entries if is_late else _nested
    return _compared(likelihood, lambda members: compare(likelihood, members), clock, in_a_chain=not is_late)


def _strata(likelihood: Likelihood, rows: Rows) -> Iterator[Rows]:
    if "stratum" not in likelihood.numbers:
        yield rows
        return
    strata = likelihood.numbers["stratum"][rows]
    order = np.argsort(strata, kind="stable")
    yield from np.split(rows[order], np.flatnonzero(np.diff(strata[order])) + 1)


def _nested(likelihood: Likelihood, members: Rows) -> Iterator[Comparisons]:
    """Compare the events of one time with those of the next, and with rows censored in between.

    Breslow's and Efron's likelihoods keep tied events in each other's risk sets, so that they must be equal; the exact
    one compares them with the others only.
    """
    time, event = likelihood.numbers["time"][members], likelihood.numbers["event"][members] > 0
    moments = np.unique(time[event])
    last = np.searchsorted(moments, time, side="right") - 1  # the last moment at which a member is at risk
    order = np.lexsort((~event, last))  # of those of one moment, the events come first
    bounds = np.searchsorted(last[order], np.arange(len(moments) + 1))
    groups = [np.split(members[order[a:b]], [int(event[order[a:b]].sum())]) for a, b in itertools.pairwise(bounds)]
    is_exact = likelihood.ties == "exact"
    for k, (now, leaving) in enumerate(groups):
        later = groups[k + 1][0] if k + 1 < len(groups) else now[:0]
        if not is_exact:
            yield np.full(len(now) - 1, now[0]), now[1:], True
        leaders = now if is_exact else now[:1]
        for others in (leaving, later if is_exact else later[:1]):
            yield np.repeat(leaders, len(others)), np.tile(others, len(leaders)), False


def _late_entries(likelihood: Likelihood, members: Rows) -> Iterator[Comparisons]:
    """Compare all pairs: with late entries risk sets are not nested."""
    time, entry = (likelihood.numbers[name][members] for name in ("time", "entry"))
    event = likelihood.numbers["event"][members] > 0
    for i in np.flatnonzero(event).tolist():
        at_risk = (entry < time[i]) & (time >= time[i])
        at_risk[i] = False
        if likelihood.ties == "exact":
            at_risk &= ~(event & (time == time[i]))
        others = members[at_risk]
        yield np.full(len(others), members[i]), others, False


def _compared(
    likelihood: Likelihood, compare: Callable[[Rows], Iterator[Comparisons]], clock: Clock, *, in_a_chain: bool
) -> Cone:
    """Return the cone of differences of rows."""
    pieces: list[Comparisons] = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), False)]
    count = 0
    for members in _strata(likelihood, likelihood.used):
        for piece in clock.through(compare(members)):
            pieces.append(piece)
            count += len(piece[0])
            if count > MOST_PAIRS:
                raise ValueError(
                    f"more than {MOST_PAIRS:,} comparisons of rows are needed; make the strata smaller, or leave late "
                    "entry out"
                )
    larger, smaller = (np.concatenate([piece[i] for piece in pieces]) for i in range(2))
    equal = np.repeat([piece[2] for piece in pieces], [len(piece[0]) for piece in pieces])
    X, exponents = whole_rows(likelihood.X)
    ones = np.ones(count, dtype=np.int64)
    sides = [Term(X, larger, ones, 0 * ones), Term(X, smaller, -ones, 0 * ones)]
    whole = sums_of(sides, count, X.n_columns, clock)
    return Cone(whole, exponents, equal, smaller, larger if in_a_chain else None)


_CONES: dict[str, Callable[[Likelihood, Clock], Cone]] = {
    "binomial": _binomial,
    "log-binomial": _log_binomial,
    "poisson": _poisson,
    "negative-binomial": _poisson,
    "multinomial": _multinomial,
    "ordinal": _ordinal,
    "cox": _cox,
    "conditional": _conditional,
}
