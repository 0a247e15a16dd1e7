"""Every family of models as a cone: the directions along which its likelihood never falls.

It is given by inequalities z.b >= 0 and equations z.b = 0. Along a direction b for which some z.b > 0 the likelihood
keeps growing, and its maximum lies at infinity. If z.b = 0 in every row, it does not change at all: then columns are
collinear, which is another matter. So all questions about the existence of an estimate are questions about this cone.

Sources: Albert and Anderson (1984) for binomial and multinomial models, Schwendinger, Gruen and Hornik (2021) for the
log link, Correia, Guimaraes and Zylkin (2019) for Poisson models, Bryson and Johnson (1981) for Cox's. The rows of
each, and their order, are in `docs/certificates.md`.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.clock import UNLIMITED, Clock
from novikoff.prove.exact.algebra import as_whole
from novikoff.prove.exact.floats import power_of_two
from novikoff.prove.exact.refined import WholeMatrix
from novikoff.prove.existence.likelihood import Likelihood
from novikoff.prove.existence.rows import Numbers, whole_rows
from novikoff.say.words import listed

# A difference of two numbers that are multiples of the same power of two and shorter than this many bits is exact.
BITS = 52


@dataclass(frozen=True, eq=False)
class Cone:
    """Rows of floats, exactly those meant, of which some are equations, and the names of the coefficients.

    `coefficient` gives the coefficient that a column belongs to. `owner` is the row of the data that a row of the cone
    speaks of. In a chain of comparisons, such as that of events in time, `after` is the row of the data that it is
    compared with, which has been left behind itself if anything before it has; -1 where there is no chain.
    """

    rows: Any
    is_equation: NDArray[np.bool_]
    names: tuple[str, ...]
    coefficient: Numbers
    owner: Numbers
    after: Numbers | None = None

    @classmethod
    def of(cls, rows: Any, is_equation: NDArray[np.bool_], names: Sequence[str], owner: Numbers) -> "Cone":
        """A cone with a column for every coefficient."""
        return cls(rows, is_equation, tuple(names), np.arange(len(names)), owner)

    @property
    def size(self) -> int:
        return len(self.names)

    @cached_property
    def _whole(self) -> tuple[WholeMatrix, Numbers]:
        return whole_rows(self.rows, self.coefficient, self.size)

    @property
    def whole(self) -> WholeMatrix:
        """The rows in whole numbers, of which those of a coefficient have a unit of their own."""
        return self._whole[0]

    @property
    def exponents(self) -> Numbers:
        """The units, as powers of two."""
        return self._whole[1]

    def signs(self, direction: Sequence[int]) -> NDArray[np.int8]:
        """The sign of every row along a direction."""
        return np.sign(self.whole.times(self.in_units(direction))).astype(np.int8)

    def in_units(self, direction: Sequence[int]) -> list[int]:
        """A direction in the units of the whole rows, but for a power of two."""
        lowest = int(self.exponents.min(initial=0))
        return [value << (e - lowest) for value, e in zip(direction, self.exponents.tolist(), strict=True)]

    def in_given_units(self, direction: Sequence[Any]) -> tuple[int, ...]:
        """The way back."""
        pairs = zip(direction, self.exponents.tolist(), strict=True)
        return tuple(as_whole([value * power_of_two(-e) for value, e in pairs]))

    def separated_rows(self, is_strict: NDArray[np.bool_]) -> tuple[int, ...]:
        """The rows of the data behind the rows of the cone that are strict."""
        if self.after is None:
            return tuple(np.unique(self.owner[is_strict]).tolist())
        left_behind: set[int] = set()
        for row, before, strict in zip(self.owner.tolist(), self.after.tolist(), is_strict.tolist(), strict=True):
            if strict or before in left_behind:
                left_behind.add(row)
        return tuple(sorted(left_behind))


def split(X: Any) -> tuple[Any, Numbers]:
    """CSR columns as sums of shorter columns, so that differences of their rows are exact; and whose parts they are.

    >>> from scipy.sparse import csr_array
    >>> parts, column = split(csr_array([[2.0**60 + 2.0**10], [1.0]]))
    >>> parts.toarray().tolist(), column.tolist()
    ([[1.152921504606847e+18, 1024.0], [0.0, 1.0]], [0, 0])
    """
    from scipy.sparse import csr_array, hstack

    _, lowest = whole_rows(X, np.arange(X.shape[1]), X.shape[1])
    highest = np.zeros(X.shape[1], dtype=np.int64)
    np.maximum.at(highest, X.indices, np.frexp(X.data)[1])
    counts = np.maximum(-((lowest - highest) // BITS), 1)  # rounded up
    left, pieces, columns = X.data.copy(), [], []
    for part in range(int(counts.max(initial=1)) - 1, -1, -1):
        unit = (lowest + BITS * part)[X.indices]
        high = np.where(part < counts[X.indices], np.ldexp(np.trunc(np.ldexp(left, -unit)), unit), 0.0)
        if part == 0:
            high = left
        left = left - high
        which = np.flatnonzero(part < counts)
        pieces.append(csr_array((high, X.indices, X.indptr), shape=X.shape)[:, which])
        columns.append(which)
    return hstack(pieces, format="csr"), np.concatenate(columns)


# Comparisons of rows that are written out at most, and between two looks at the clock.
MOST_PAIRS = 20_000_000
BLOCK = 100_000

Rows = NDArray[np.int64]


def cone_of(likelihood: Likelihood, clock: Clock = UNLIMITED) -> Cone:
    """The cone of a family, made once; OutOfTimeError if there is no time to write it out."""
    known = likelihood.__dict__
    if "cone" not in known:
        known["cone"] = _CONES[likelihood.family](likelihood, clock)
    return known["cone"]


def coefficients_of(likelihood: Likelihood) -> tuple[str, ...]:
    """The names of the coefficients of a likelihood."""
    return names_of(likelihood.family, likelihood.columns, likelihood.classes)


def names_of(family: str, columns: tuple[str, ...], classes: Sequence[Any] | None) -> tuple[str, ...]:
    """The names of coefficients: the columns, for many classes those of each class, for ordered ones thresholds, too.

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
    """Refuse names of which two are alike: what is said of one coefficient could be taken for another's."""
    if len(set(names)) < len(names):
        twice = [name for name, count in Counter(names).items() if count > 1]
        raise ValueError(
            f"two coefficients would be called {listed(list(map(repr, twice)), 5)}; give every column a name of its "
            "own, which no level, class or threshold has"
        )


def _binomial(likelihood: Likelihood, clock: Clock) -> Cone:
    """Only successes: x.b >= 0. Only failures: x.b <= 0. Both: x.b = 0."""
    rows, won, lost = _trials(likelihood)
    return _signed(likelihood, rows, np.where(won, 1.0, -1.0), won & lost)


def _log_binomial(likelihood: Likelihood, clock: Clock) -> Cone:
    """No probability may fall where there is a success: x.b = 0. Elsewhere x.b <= 0."""
    rows, won, _ = _trials(likelihood)
    return _signed(likelihood, rows, np.full(len(rows), -1.0), won)


def _trials(likelihood: Likelihood) -> tuple[Rows, NDArray[np.bool_], NDArray[np.bool_]]:
    """The rows with a success or a failure, and which have successes and failures."""
    won, lost = (likelihood.numbers[name] > 0 for name in ("successes", "failures"))
    rows = likelihood.used[(won | lost)[likelihood.used]]
    return rows, won[rows], lost[rows]


def _poisson(likelihood: Likelihood, clock: Clock) -> Cone:
    """A mean may fall to 0 where nothing was counted, and nowhere else."""
    rows = likelihood.used
    return _signed(likelihood, rows, np.full(len(rows), -1.0), likelihood.numbers["count"][rows] > 0)


def _signed(likelihood: Likelihood, rows: Rows, signs: NDArray[np.float64], is_equation: NDArray[np.bool_]) -> Cone:
    from scipy.sparse import csr_array, diags_array

    signed = csr_array(diags_array(signs) @ likelihood.X[rows])
    return Cone.of(signed, is_equation, likelihood.columns, rows)


def start_cone(likelihood: Likelihood) -> Cone:
    """For the log link: probabilities of at most 1, below 1 where there is a failure. As a cone: the last coefficient
    multiplies the offset, and its own row, the last one, says that it is not negative."""
    from scipy.sparse import csr_array, hstack, vstack

    rows, _, _ = _trials(likelihood)
    offset = likelihood.numbers["offset"][rows, None]
    design = -hstack([likelihood.X[rows], csr_array(offset)], format="csr")
    last = csr_array(([1.0], ([0], [design.shape[1] - 1])), shape=(1, design.shape[1]))
    names = (*likelihood.columns, "offset")
    return Cone.of(csr_array(vstack([design, last])), np.zeros(len(rows) + 1, dtype=bool), names, np.append(rows, -1))


def must_be_below(likelihood: Likelihood) -> NDArray[np.bool_]:
    """Which rows of that cone must be strict: those with a failure, and the last."""
    return np.append(_trials(likelihood)[2], True)


def _multinomial(likelihood: Likelihood, clock: Clock) -> Cone:
    """x.(b_own - b_rival) >= 0 for every rival; the coefficients of the first class are 0."""
    from scipy.sparse import csr_array, kron, vstack

    rows, d, k = likelihood.used, len(likelihood.columns), len(likelihood.classes or ())
    own = likelihood.numbers["class"][rows].astype(np.int64)
    parts, owners = [csr_array((0, (k - 1) * d))], [rows[:0]]
    for label in range(k):
        mine = rows[own == label]
        for rival in clock.through(range(k)):
            if rival != label and len(mine):
                unit = np.zeros((1, k))
                unit[0, label], unit[0, rival] = 1.0, -1.0
                parts.append(csr_array(kron(csr_array(unit[:, 1:]), likelihood.X[mine], format="csr")))
                owners.append(mine)
    stacked, owner = csr_array(vstack(parts)), np.concatenate(owners)
    return Cone.of(stacked, np.zeros(len(owner), dtype=bool), coefficients_of(likelihood), owner)


def _ordinal(likelihood: Likelihood, clock: Clock) -> Cone:
    """The thresholds around a row's class may move away from x.b, never over it."""
    from scipy.sparse import csr_array, hstack, vstack

    rows, k = likelihood.used, len(likelihood.classes or ())
    own = likelihood.numbers["class"][rows].astype(np.int64)
    parts, owners = [csr_array((0, len(likelihood.columns) + k - 1))], [rows[:0]]
    for sign, is_there, threshold in ((1.0, own < k - 1, own), (-1.0, own > 0, own - 1)):
        chosen, place = rows[is_there], threshold[is_there]
        entries = np.full(len(chosen), sign), (np.arange(len(chosen)), place)
        parts.append(hstack([-sign * likelihood.X[chosen], csr_array(entries, shape=(len(chosen), k - 1))]))
        owners.append(chosen)
    stacked, owner = csr_array(vstack(parts)), np.concatenate(owners)
    return Cone.of(stacked, np.zeros(len(owner), dtype=bool), coefficients_of(likelihood), owner)


# -- comparisons ------------------------------------------------------------------------------------------------------

# Rows with a larger risk, as many with a smaller, and whether each two are to be equal.
Comparisons = tuple[Rows, Rows, bool]


def _conditional(likelihood: Likelihood, clock: Clock) -> Cone:
    """Every case against every other member of its stratum that is no case."""
    case = likelihood.numbers["case"] > 0

    def compare(members: Rows) -> Iterator[Comparisons]:
        others = members[~case[members]]
        return ((np.full(len(others), row), others, False) for row in members[case[members]].tolist())

    return _compared(likelihood, compare, clock, in_a_chain=False)


def _cox(likelihood: Likelihood, clock: Clock) -> Cone:
    """Every event against all others at risk. Nested risk sets need only neighbours in time."""
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
    """The events of one moment against those of the next, and against those who leave in between.

    Breslow's and Efron's likelihoods keep events of one moment in each other's risk sets, so that they are to be equal;
    the exact one compares them with the others only.
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
    """All pairs: with late entries risk sets are not nested."""
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
    """Differences of rows, exactly: columns are split where floats would round them."""
    from scipy.sparse import csr_array, vstack

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
    parts, coefficient = split(likelihood.X)
    blocks = [csr_array(parts[larger[:0]])]
    for start in clock.through(range(0, count, BLOCK)):
        some = slice(start, start + BLOCK)
        blocks.append(csr_array(parts[larger[some]] - parts[smaller[some]]))
    rows = csr_array(vstack(blocks))
    if not np.isfinite(rows.data).all():
        raise ValueError("the differences of some numbers in X are beyond the range of float64; divide their columns")
    return Cone(rows, equal, likelihood.columns, coefficient, smaller, larger if in_a_chain else None)


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
