"""Whether an estimate exists, the slow and obvious way: every comparison written out, every question a linear program
in whole numbers (`tests/exact_lp.py`). It shares nothing with the code that it checks.

A case is a design (a list of rows) and a response, as `existence` takes them, with all columns that there are: no
intercept is added.
"""

from fractions import Fraction
from itertools import product

from tests.exact_lp import over_the_cone

# Rows (z, is an equation, the row of the data that it speaks of).


def binomial(X, successes, failures):
    for i, x in enumerate(X):
        if successes[i]:
            yield x, bool(failures[i]), i
        elif failures[i]:
            yield [-v for v in x], False, i


def poisson(X, y):
    for i, x in enumerate(X):
        yield [-v for v in x], y[i] > 0, i


def multinomial(X, y, n_classes):
    d = len(X[0])
    for i, x in enumerate(X):
        for rival in set(range(n_classes)) - {y[i]}:
            z = [0] * (d * n_classes)
            z[y[i] * d : (y[i] + 1) * d] = x
            z[rival * d : (rival + 1) * d] = [-v for v in x]
            yield z[d:], False, i


def ordinal(X, y, n_classes):
    for i, x in enumerate(X):
        units = [[int(k == place) for k in range(n_classes - 1)] for place in range(n_classes - 1)]
        if y[i] < n_classes - 1:
            yield [*(-v for v in x), *units[y[i]]], False, i
        if y[i] > 0:
            yield [*x, *(-v for v in units[y[i] - 1])], False, i


def cox(X, time, event, entry, stratum, exact=False):
    n = range(len(X))
    for i, j in product(n, n):
        is_at_risk = entry[j] < time[i] <= time[j] and stratum[i] == stratum[j]
        is_tied = bool(event[j]) and time[i] == time[j]
        if event[i] and i != j and is_at_risk and not (exact and is_tied):
            yield [a - b for a, b in zip(X[i], X[j], strict=True)], False, j


def conditional(X, case, stratum):
    n = range(len(X))
    for i, j in product(n, n):
        if case[i] and not case[j] and stratum[i] == stratum[j]:
            yield [a - b for a, b in zip(X[i], X[j], strict=True)], False, j


def answer(rows, size):
    """The rows that are separated, and what becomes of every coefficient."""
    rows = [(list(map(Fraction, z)), equal, owner) for z, equal, owner in rows]
    Z = [z for z, _, _ in rows] + [[-v for v in z] for z, equal, _ in rows if equal]
    separated = {owner for z, equal, owner in rows if not equal and any(z) and over_the_cone(z, Z).value > 0}
    fates = []
    for j in range(size):
        unit = [Fraction(int(k == j)) for k in range(size)]
        if rank([*Z, unit]) > rank(Z):
            fates.append("not identified")
            continue
        up, down = (bool(Z) and over_the_cone([s * v for v in unit], Z).value > 0 for s in (1, -1))
        fates.append("sign undetermined" if up and down else "+inf" if up else "-inf" if down else "finite")
    return separated, fates


def has_start(X, successes, failures, offset):
    """Whether some coefficients give probabilities of at most 1, below 1 where there is a failure."""
    used = [i for i in range(len(X)) if successes[i] or failures[i]]
    Z = [[-Fraction(v) for v in (*X[i], offset[i])] for i in used] + [[Fraction(0)] * len(X[0]) + [Fraction(1)]]
    must = [z for z, i in zip(Z, used, strict=False) if failures[i]] + Z[-1:]
    return all(over_the_cone(z, Z).value > 0 for z in must)


def rank(rows):
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            factor = rows[i][column] / rows[found][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found
