"""Small random designs of every family: few values, so that ties, zero columns and collinear ones are common."""

import numpy as np

from tests.prove.existence import oracle


def design(rng):
    n, d = int(rng.integers(2, 11)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)).astype(float) * rng.choice([1.0, 0.1, 1e-9, 1e17], d)
    kind = rng.integers(6)
    if kind == 0:
        X[:, 0] = 1.0
    elif kind == 1 and d > 1:
        X[:, -1] = 2 * X[:, 0]
    elif kind == 2:
        X[:, rng.integers(d)] = 0.0
    elif kind == 3:
        X = X[rng.integers(0, n, n)]
    return X


def binomial(rng):
    X = design(rng)
    y = rng.integers(0, 2, len(X)).astype(float)
    y[rng.random(len(X)) < 0.15] = 0.5
    w = (rng.random(len(X)) < 0.9).astype(float) * rng.choice([0.5, 3.0], len(X))
    rows = oracle.binomial(X.tolist(), (y > 0) & (w > 0), (y < 1) & (w > 0))
    return (X, y), {"weights": w, "fit_intercept": False}, oracle.answer(rows, X.shape[1])


def log_binomial(rng):
    """Also whether there is a start; if there is none, nothing else is known."""
    X = design(rng)
    counts = rng.integers(0, 2, (len(X), 2)).astype(float)
    offset = rng.integers(-2, 3, len(X)).astype(float) * rng.integers(0, 2)
    won, lost = counts.T > 0
    given = (X, counts), {"family": "log-binomial", "offset": offset, "fit_intercept": False}
    if not oracle.has_start(X.tolist(), won, lost, offset.tolist()):
        return (*given, None)
    used = np.flatnonzero(won | lost).tolist()
    rows = [(z, equal, used[i]) for z, equal, i in oracle.poisson(X[used].tolist(), won[used])]
    return (*given, oracle.answer(rows, X.shape[1]))


def poisson(rng):
    X = design(rng)
    y = rng.poisson(0.7, len(X)) * rng.choice([1.0, 0.5])
    options = {"family": rng.choice(["poisson", "ppml", "negative-binomial"]), "fit_intercept": False}
    return (X, y), options, oracle.answer(oracle.poisson(X.tolist(), y), X.shape[1])


def multinomial(rng):
    X = design(rng)[:, :2]
    y = rng.integers(0, 3, len(X))
    y[:2] = 0, 1
    classes = sorted(set(y.tolist()))
    rows = oracle.multinomial(X.tolist(), [classes.index(v) for v in y.tolist()], len(classes))
    size = X.shape[1] * (len(classes) - 1)
    return (X, y), {"family": "multinomial", "fit_intercept": False}, oracle.answer(rows, size)


def ordinal(rng):
    X = design(rng)[:, :2]
    y = rng.integers(0, 3, len(X))
    y[:2] = 0, 1
    classes = sorted(set(y.tolist()))
    rows = oracle.ordinal(X.tolist(), [classes.index(v) for v in y.tolist()], len(classes))
    return (X, y), {"family": "ordinal"}, oracle.answer(rows, X.shape[1] + len(classes) - 1)


def cox(rng):
    X = design(rng)
    n = len(X)
    time, event = rng.integers(1, 6, n).astype(float), rng.integers(0, 2, n).astype(float)
    entry = np.where(rng.random(n) < 0.5, 0.0, time - rng.integers(1, 4, n)) if rng.random() < 0.4 else None
    strata = rng.integers(0, 2, n) if rng.random() < 0.3 else None
    ties = str(rng.choice(["efron", "breslow", "exact"]))
    entered = np.full(n, -9.0) if entry is None else entry
    stratum = np.zeros(n) if strata is None else strata
    exact = [[*map(oracle.Fraction, x)] for x in X.tolist()]
    rows = oracle.cox(exact, time.tolist(), event.tolist(), entered.tolist(), stratum.tolist(), ties == "exact")
    y = np.column_stack([time, event] if entry is None else [entry, time, event])
    options = {"family": "cox", "strata": strata, "ties": ties}
    return (X, y), options, oracle.answer(rows, X.shape[1])


def conditional(rng):
    X = design(rng)
    case, strata = rng.integers(0, 2, len(X)), rng.integers(0, 3, len(X))
    exact = [[*map(oracle.Fraction, x)] for x in X.tolist()]
    rows = oracle.conditional(exact, case.tolist(), strata.tolist())
    return (X, case), {"family": "conditional", "strata": strata}, oracle.answer(rows, X.shape[1])


FAMILIES = {f.__name__: f for f in (binomial, log_binomial, poisson, multinomial, ordinal, cox, conditional)}
