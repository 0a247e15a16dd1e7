"""No proof goes on after its time but for the step that it is in, and what it then says is true.

The clock of these tests moves when work is done: every call of what takes time takes a second, or a part of one.
"""

import contextlib

import numpy as np
import pytest
import scipy.optimize

from novikoff import certify, existence
from novikoff.prove.exact import algebra
from novikoff.prove.existence import rows
from novikoff.prove.existence.conclude import Estimate
from novikoff.prove.existence.families import Cone
from novikoff.prove.existence.rows import NullSpace
from novikoff.prove.separable import kernels, products
from novikoff.prove.separable.question import Verdict
from novikoff.prove.separable.search import cutting_planes, wolfe, working_set
from novikoff.prove.separable.search.scaled import ScaledRows
from novikoff.prove.separable.search.working_set import Claims
from tests.clock import Clock

# What takes time: solving, adding up and multiplying exactly, and what floats search.
WORK = [
    (algebra, "independent", 1.0),
    (algebra, "lifted", 1.0),
    (rows, "independent", 1.0),
    (products, "signs_near", 1.0),
    (cutting_planes, "settle", 1.0),
    (wolfe, "_affine_minimiser", 1.0),
    (scipy.optimize, "linprog", 1.0),
    (Cone, "signs", 1.0),
    (ScaledRows, "signs", 1.0),
    (NullSpace, "times", 0.01),  # of one row
    (kernels.Products, "_whole", 1.0),
    (kernels.Products, "exponents", 1.0),
    (Claims, "test", 1.0),
]
# The step that it was in when the time was over, and those that prove the plainest form of what it has found.
AFTERWARDS = 3


@contextlib.contextmanager
def working():
    """A clock that stands still but for work."""
    clock = Clock(tick=0.0)

    def counted(function, cost):
        def called(*args, **kwargs):
            clock.now += cost
            return function(*args, **kwargs)

        return called

    with pytest.MonkeyPatch.context() as patch, clock.in_place():
        for where, name, cost in WORK:
            patch.setattr(where, name, counted(getattr(where, name), cost))
        yield clock


def seconds(ask, **limit):
    """What is answered, and how long it took."""
    with working() as clock:
        began = clock.now
        return ask(**limit), clock.now - began


def limits(whole):
    """Some limits up to the time that the whole work takes."""
    return sorted({0.5, 1.5, 2.5, *np.linspace(3.5, whole + 1, 9).round().tolist()})


def categories(n_rows=120, noise=0.5, seed=0):
    random = np.random.default_rng(seed)
    X = np.hstack([np.eye(4)[random.choice(4, n_rows, p=[0.5, 0.3, 0.15, 0.05])] for _ in range(4)])
    score = X @ random.standard_normal(16) + noise * random.standard_normal(n_rows)
    return X, (score > np.median(score)).astype(int)


def normal(n_rows, noise, n_classes=2):
    random = np.random.default_rng(1)
    X = random.integers(-9, 10, (n_rows, 5)).astype(float)
    scores = X @ random.standard_normal((5, n_classes)) + noise * random.standard_normal((n_rows, n_classes))
    return X, scores.argmax(axis=1)


LESS = {
    Verdict.SEPARABLE: [Verdict.SEPARABLE, Verdict.UNDECIDED],
    Verdict.QUASI_SEPARABLE: [Verdict.QUASI_SEPARABLE, Verdict.NOT_SEPARABLE, Verdict.UNDECIDED],
    Verdict.OVERLAPPING: [Verdict.OVERLAPPING, Verdict.NOT_SEPARABLE, Verdict.UNDECIDED],
}
DATA = {
    "quasi-separable": categories(),
    "separable": normal(60, 0.0),
    "overlapping": normal(60, 30.0),
    "three classes": normal(60, 5.0, 3),
}


@pytest.mark.filterwarnings("ignore:the bounds of the margin")
@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_certify_ends_in_time_and_claims_what_it_has_proved(name, in_blocks, monkeypatch):
    X, y = DATA[name]
    if in_blocks:
        monkeypatch.setattr(working_set, "MEMORY", 2000)
    source = ([(X[:40], y[:40]), (X[40:], y[40:])],) if in_blocks else (X, y)

    def ask(**limit):
        return certify(*source, diverging=True, **limit)

    known, whole = seconds(ask)
    for limit in limits(whole):
        found, took = seconds(ask, time_limit=limit)
        assert took <= limit + AFTERWARDS, limit
        assert found.verdict in LESS[known.verdict]
        found.check(X, y)


KERNELS = {
    "rbf": {"gamma": 0.01},
    "laplacian": {"gamma": 0.1},
    "poly": {"gamma": 1.0, "degree": 2, "coef0": 1.0},
    "linear": {},
}


@pytest.mark.filterwarnings("ignore:the bounds of the margin")
@pytest.mark.parametrize("noise", [0.0, 30.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_ends_in_time_and_claims_what_it_has_proved(kernel, noise, monkeypatch):
    X, y = normal(30, noise)
    monkeypatch.setattr(kernels, "BLOCK", 60)

    def ask(**limit):
        return certify(X, y, kernel=kernel, **KERNELS[kernel], **limit)

    known, whole = seconds(ask)
    for limit in limits(whole):
        found, took = seconds(ask, time_limit=limit)
        assert took <= limit + AFTERWARDS, limit
        assert found.verdict in LESS[known.verdict]
        found.check(X, y)


@pytest.mark.parametrize("family", ["binomial", "poisson"])
@pytest.mark.parametrize("noise", [0.2, 3.0])
def test_existence_ends_in_time_and_claims_what_it_has_proved(family, noise):
    X, y = categories(noise=noise)

    def ask(**limit):
        return existence(X, y, family=family, signs=True, **limit)

    known, whole = seconds(ask)
    for limit in limits(whole):
        found, took = seconds(ask, time_limit=limit)
        assert took <= limit + AFTERWARDS, limit
        assert found.estimate in (known.estimate, Estimate.UNDECIDED)
        assert found.diverging is None or set(found.diverging) == set(known.diverging)
        assert found.separated_rows in (None, known.separated_rows)
        found.check(X, y, family=family)


COMPARED = {
    "cox": {},
    "conditional": {"strata": np.arange(200) // 20},
    "multinomial": {},
}


@pytest.mark.parametrize("family", COMPARED)
def test_comparisons_that_there_is_no_time_for_are_not_written_out(family):
    X, y = normal(200, 30.0)
    times = np.column_stack([np.arange(200) / 7, 30.0 + np.arange(200) % 17, [0, 1] * 100])
    response = {"cox": times, "multinomial": np.arange(200) % 20}.get(family, y)
    with Clock(tick=1.0).in_place() as clock:
        found = existence(X, response, family=family, **COMPARED[family], time_limit=5.0)
    assert found.estimate is Estimate.UNDECIDED
    assert clock.looks < 15
