"""A second checker of certificates, written from `docs/certificates.md` alone, with the standard library alone.

The data are lists of floats: (X, y, feature_names) for a separation, X being the matrix of a precomputed kernel, or the
features of a table, and fourth, for estimates, what `tests.second_existence` takes; (c, A_ub, b_ub, A_eq, b_eq, lower,
upper) for a program; A for inequalities; (X, y) for a ball.
Values in a file that have the same `repr` are equal, and of the same type.
"""

import hashlib
import json
import math
import re
import struct
from decimal import Context
from fractions import Fraction
from functools import reduce
from itertools import chain, pairwise


class Refused(Exception):  # noqa: N818
    """The certificate does not prove what it claims."""


def need(holds, why="it does not hold"):
    if not holds:
        raise Refused(why)


def check(text, data):
    try:
        need(len(text.encode()) <= 2**28, "too long")
        content = json.loads(text, object_pairs_hook=lambda pairs: need(len(pairs) == len(dict(pairs))) or dict(pairs))
    except (ValueError, RecursionError) as error:
        raise Refused(f"no JSON: {error}") from None
    need(type(content) is dict and is_sound(content) and content.get("kind") in [*CHECKS], "of no known kind")
    is_separation = content["kind"] == "separation"
    names = f"format kind data{' question' * is_separation} claims witnesses"
    version, kind, *parts = fields(content, names, "estimates" * is_separation)
    estimates = parts.pop() if is_separation else None
    inner = [] if estimates is None else fields(estimates, "data claims witnesses")
    need(repr(version) == "2" and all(type(part) is dict for part in [*parts, *inner]))
    CHECKS[kind](*parts, data)
    if inner:
        CHECKS["existence"](*inner, data[3])


def is_sound(value, depth=0):  # not too deep, and no number too large
    inside = value.values() if type(value) is dict else value if type(value) is list else None
    if inside is None:
        return type(value) not in (int, float) or abs(value) < 2**1024 - 2**970
    return depth < 64 and all(is_sound(each, depth + 1) for each in inside)


def fields(value, needed, optional=""):  # all there are, in this order; None for those that are left out
    needed, optional = needed.split(), optional.split()
    need(type(value) is dict and {*needed} <= {*value} <= {*needed, *optional}, f"not the fields {needed}")
    need(all(value[name] is not None for name in optional if name in value), "a field is null")
    return [value.get(name) for name in needed + optional]


def read(kind, value, length=None):  # a float, an integer or a fraction, or a list of so many
    if length is not None:
        return need(type(value) is list and len(value) == length, "no such list") or [read(kind, v) for v in value]
    if kind is float:
        return need(type(value) in (int, float), "no number") or float(value)
    if kind is Fraction:
        above, below = read(int, value, 2)
        return need(below > 0 and math.gcd(above, below) == 1, "not in lowest terms") or Fraction(above, below)
    need(type(value) is str and len(value) <= 10**6 and re.fullmatch("0|-?[1-9][0-9]*", value), "no integer")
    parts = re.findall("[0-9]{1,4000}", value)  # Python reads no more digits at once
    return reduce(lambda left, part: left * 10 ** len(part) + int(part), parts, 0) * (-1 if value[0] == "-" else 1)


def agree(claims, derived):  # each claim is there exactly if it can be derived, and is the derived value
    need({*claims} == {*derived}, f"the claims should be {[*derived]}")
    for name, value in derived.items():
        claim = read(type(value), claims[name]) if type(value) in (float, int, Fraction) else claims[name]
        need(claim == value and (type(value) in (int, Fraction) or repr(claim) == repr(value)), name)


def combination(value, points, more="", kind=int, classes=(), least=1):  # points, their weights, and what more there is
    rows, weights, *others = fields(value, f"rows weights {more}" + " rivals" * (len(classes) > 2))
    need(type(rows) is list and len(rows) >= least and all(type(row) is int for row in rows), "no rows")
    rivals = others.pop() if len(classes) > 2 else [None] * len(rows)
    need(type(rivals) is list and len(rivals) == len(rows), "no rivals")
    places = [[k for k, label in enumerate(classes) if repr(label) == repr(rival)] for rival in rivals]
    keys, weights = [(row, *place) for row, place in zip(rows, places, strict=True)], read(kind, weights, len(rows))
    need(all(key in points for key in keys) and all(a < b for a, b in pairwise(keys)), "no such rows, or not in order")
    return need(all(weight > 0 for weight in weights)) or ([points[key] for key in keys], weights, *others)


def dot(a, b):  # exact, also for floats
    return sum((Fraction(u) * Fraction(v) for u, v in zip(a, b, strict=True)), Fraction(0))


def total(weights, vectors):
    return [dot(weights, column) for column in zip(*vectors, strict=True)]


def down(v):
    need(v >= 0, "it has no root")
    root = Fraction(math.isqrt((v.numerator << 2148) // v.denominator), 1 << 1074)  # floats are multiples of 2**-1074
    nearest = float(min(root, Fraction(math.nextafter(math.inf, 0))))
    return nearest if nearest <= root else math.nextafter(nearest, 0)


def up(v):
    return down(v) if Fraction(down(v)) ** 2 >= v else math.nextafter(down(v), math.inf)


def rank(vectors):
    basis = []
    for vector in vectors:
        for pivot, row in basis:
            vector = [Fraction(u) - Fraction(vector[pivot]) * v for u, v in zip(vector, row, strict=True)]
        if any(vector):
            pivot = next(j for j, v in enumerate(vector) if v)
            basis.append((pivot, [Fraction(v) / Fraction(vector[pivot]) for v in vector]))
    return len(basis)


def fingerprint(header, X, labels):
    packed = json.dumps(header, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    for start in range(0, len(X), 4096):
        rows = [[(j, v) for j, v in enumerate(row) if v] for row in X[start : start + 4096]]
        columns, values = [j for j, _ in chain(*rows)], [v for _, v in chain(*rows)]
        packed += struct.pack(f"<{len(rows) + len(columns)}Q{len(values)}d", *map(len, rows), *columns, *values)
    return hashlib.sha256(packed + struct.pack(f"<{len(labels)}I", *labels)).hexdigest()


class Separation:  # points have keys, a row and perhaps the place of a rival; those of a kernel are rows of products
    def __init__(self, about, question, claims, witnesses, data):
        X, y, names = data[:3]
        problem, self.fit, kernel = fields(question, "problem fit_intercept", "kernel")
        need(problem in ("binary", "argmax", "kernel") and (problem == "kernel") == (kernel is not None))
        self.form = self.read_kernel(kernel) if problem == "kernel" else None
        if self.form == "precomputed" and (flipped := [[*column] for column in zip(*X, strict=True)]) != X:
            X = [[u / 2 + v / 2 for u, v in zip(*pair, strict=True)] for pair in zip(X, flipped, strict=True)]
        n, d, self.classes = len(X), len(X[0]), sorted(set(y))
        *found, digest, said, table = fields(about, "rows columns classes sha256", "feature_names table")
        need(repr([type(self.fit), *found, said]) == repr([bool, n, d, self.classes, names]), "other data")
        need(min(len(self.classes), 3) == (3 if problem == "argmax" else 2))
        need(table is None or fields(table, "label encoding"))
        header = {"rows": n, "columns": d, "classes": self.classes, "feature_names": names, "table": table}
        own, classes = [self.classes.index(label) for label in y], range(len(self.classes))
        need(digest == fingerprint({**header, "kernel": None, **question}, X, own), "other data")
        self.X, self.signs, rows = X, [2 * k - 1 for k in own], [[*x, int(self.fit)] for x in X]
        self.is_binary, self.is_gaussian = problem == "binary", self.form in ("rbf", "laplacian")
        self.points = self.products(0) if self.form else {(i,): [self.signs[i] * v for v in rows[i]] for i in range(n)}
        if problem == "argmax":
            keys = [(i, r) for i in range(n) for r in classes if r != own[i]]
            self.points = {(i, r): [((j == own[i]) - (j == r)) * v for j in classes for v in rows[i]] for i, r in keys}
        squares = [self.points[i,][i] if self.form else dot(rows[i], rows[i]) for i in range(n)]
        self.square_radius = need(min(squares) >= self.fit, "this is not a valid kernel matrix") or max(squares)
        derived = {"radius": up(self.square_radius)} | self.conclude(witnesses)
        agree(claims, {"radius": None} | {name: value for name, value in derived.items() if value != math.inf})

    def read_kernel(self, kernel):
        needed = {"linear": "", "poly": "gamma coef0 degree", "rbf": "gamma", "laplacian": "gamma", "precomputed": ""}
        fields(kernel, f"form {needed.get(str(kernel.get('form')), 'of a kernel') if type(kernel) is dict else ''}")
        kernel |= {name: read(float, kernel[name]) for name in ("gamma", "coef0") if name in kernel}
        self.gamma, self.coef0 = Fraction(kernel.get("gamma", 1)), Fraction(kernel.get("coef0", 0))
        self.degree = kernel.get("degree", 1)
        need(self.gamma > 0 and self.coef0 >= 0 and type(self.degree) is int and 1 <= self.degree <= 64)
        return need(kernel["form"] in [*needed]) or kernel["form"]

    def product(self, x, z, j, bits):  # e**-u to so many bits; to 0 bits, what it is for gamma = inf
        if self.form == "precomputed":
            return Fraction(x[j])
        if not self.is_gaussian:
            return (self.gamma * dot(x, z) + self.coef0) ** self.degree
        apart, decimals = [abs(Fraction(u) - Fraction(v)) for u, v in zip(x, z, strict=True)], Context(bits // 3 + 9)
        u = self.gamma * (dot(apart, apart) if self.form == "rbf" else sum(apart))
        is_known = u == 0 or u > 4096 or bits == 0
        return Fraction(u == 0 if is_known else decimals.exp(decimals.divide(-u.numerator, u.denominator)))

    def products(self, bits):
        rows, n = [[self.product(x, z, j, bits) + self.fit for j, z in enumerate(self.X)] for x in self.X], len(self.X)
        return {(i,): [self.signs[i] * self.signs[j] * rows[i][j] for j in range(n)] for i in range(n)}

    def vector(self, value, is_weak=False):
        vector, width = read(int, value, len(self.points[min(self.points)])), len(self.X[0]) + 1
        need(self.fit or self.form or not any(vector[width - 1 :: width]), "a bias without an intercept")
        sums = [dot(vector, point) for point in self.points.values()]
        return need(not is_weak or min(sums) >= 0 < max(sums), "it does not separate weakly") or vector

    def nearest(self, support):  # a convex combination, in the form of a vector
        points, weights = combination(support, self.points, "", float, self.classes)
        weights = [Fraction(weight) / sum(map(Fraction, weights)) for weight in weights]
        by_row = dict(zip(support["rows"], weights, strict=True))
        return [by_row.get(i, 0) for i in range(len(self.X))] if self.form else total(weights, points)

    def square(self, vector, points):
        return dot(vector, [dot(vector, point) for point in points.values()] if self.form else vector)

    def conclude(self, witnesses):
        shown, separator = {*witnesses}, "coefficients" if self.form else "vector"
        contradicted = [self.is_gaussian and min(point) < -self.fit for point in self.points.values()]
        face, arithmetic, more = [], "exact", {}
        if "obstruction" in shown:
            face, weights, spans = combination(witnesses["obstruction"], self.points, "spans", classes=self.classes)
            need(type(spans) is bool and not any(total(weights, face)), "it is not 0")
        if shown == {separator, "support"}:
            verdict, arithmetic = "separable", "balls" if self.is_gaussian else "exact"
            more = self.margins(self.vector(witnesses[separator]), self.nearest(witnesses["support"]))
        elif shown == {"obstruction"} and self.is_gaussian:
            verdict = need(spans == all(contradicted)) or ("overlapping" if spans else "quasi-separable")
        elif shown == {"obstruction"}:
            verdict = "overlapping" if spans else "not separable"
            need(not spans or rank([*face, *self.points.values()]) == rank(face), "it does not span")
        elif self.is_gaussian:
            verdict = need(not shown and not any(contradicted)) or "separable"
        elif shown == {"obstruction", "weak_separator"}:
            verdict = need(not spans and self.vector(witnesses["weak_separator"], is_weak=True)) or "quasi-separable"
        else:
            verdict, arithmetic = need(shown <= {"support"}) or "undecided", "exact" if shown else "float64"
            more = {"margin_at_most": up(self.square(self.nearest(witnesses["support"]), self.points))} if shown else {}
        return {"verdict": verdict, "arithmetic": arithmetic, **more}

    def margins(self, vector, nearest):  # at the safe ends of intervals that shrink until the other ends say the same
        for bits in (128, 256, 512, 1024, 2048, 4096, 5900):
            points, error = (self.products(bits), Fraction(1, 2**bits)) if self.is_gaussian else (self.points, 0)
            safe, other = (self.margins_at(vector, nearest, points, e) for e in (error, -error))
            if not error or other is None or (safe and safe == other):
                break
        return need(safe and safe["margin_at_least"] <= safe["margin_at_most"], "it does not separate") or safe

    def margins_at(self, vector, nearest, points, e):
        spread, slope = sum(map(abs, vector)), dot(vector[:-1], vector[:-1]) * self.is_binary
        s = min(dot(vector, point) for point in points.values()) - e * spread
        q, g = self.square(vector, points) + e * spread**2, self.square(nearest, points) + e
        if min(s, q) <= 0:
            return {} if s > 0 else None
        bound = (1 if len(self.classes) == 2 else 2) * self.square_radius * q // s**2
        found = {"margin_at_least": down(s**2 / q), "margin_at_most": up(max(g, 0) if e else g), "mistake_bound": bound}
        return found | ({"geometric_margin": down(s**2 / slope)} if slope and down(s**2 / slope) else {})


def compare(about, names, kind, sizes, numbers, labels="", more=()):
    packed = b"".join(struct.pack("<d", v + 0.0) for v in numbers) + labels.encode()
    digest = hashlib.sha256(f"novikoff {kind} {' '.join(map(str, [*sizes, *more]))}\n".encode() + packed).hexdigest()
    need(repr(fields(about, f"{names} sha256")) == repr([*sizes, digest]), "other data")


def program(about, claims, witnesses, data):
    c, A_ub, b_ub, A_eq, b_eq, lower, upper = data
    n, m, k = sizes = len(c), len(b_ub), len(b_eq)
    entries = [[(i, j, v) for i, row in enumerate(A) for j, v in enumerate(row) if v] for A in (A_ub, A_eq)]
    numbers = chain(c, *entries[0], b_ub, *entries[1], b_eq, lower, upper)
    compare(about, "variables inequalities equations", "program", sizes, numbers, more=map(len, entries))
    answer, units = claims.get("answer"), [[int(i == j) for i in range(n)] for j in range(n)]
    fields(witnesses, {"infeasible": "multipliers", "unbounded": "x ray"}.get(str(answer), "x multipliers"))
    x, ray = (read(Fraction, witnesses.get(name, [["0", "1"]] * n), n) for name in ("x", "ray"))
    lengths = {"ub": m, "eq": k, "lower": n, "upper": n}
    given = witnesses.get("multipliers", {name: [["0", "1"]] * length for name, length in lengths.items()})
    lists = zip(fields(given, " ".join(lengths)), lengths.values(), strict=True)
    y = [*chain(*(read(Fraction, part, length) for part, length in lists))]
    rows, sides = A_ub + A_eq + units * 2, [1] * m + [0] * k + [-1] * n + [1] * n
    limits = {i: Fraction(v) for i, v in enumerate(b_ub + b_eq + lower + upper) if math.isfinite(v)}
    value, combined, bound = dot(c, x), total(y, rows), dot([y[i] for i in limits], limits.values())
    wrong = {1: lambda v: max(v, 0), 0: abs, -1: lambda v: max(-v, 0)}
    signs = [wrong[sides[i]](v) if i in limits else abs(v) for i, v in enumerate(y) if sides[i]]
    broken = {i: wrong[sides[i]](dot(rows[i], x) - limit) for i, limit in limits.items()}
    is_optimal = value == bound and combined == [*map(Fraction, c)] and not any([*signs, *broken.values()])
    falls = dot(c, ray) < 0 and not any(wrong[sides[i]](dot(rows[i], ray)) for i in limits)
    derived = {"infeasible": bound > 0 and not any(combined) and not any(signs) and {}}
    derived |= {"optimal": is_optimal and {"value": value}, "unbounded": falls and not any(broken.values()) and {}}
    need(answer in [*derived] and derived[answer] is not False)
    agree(claims, {"answer": answer, **derived[answer]})


def inequalities(about, claims, witnesses, A):
    compare(about, "rows columns", "inequalities", (len(A), len(A[0])), chain(*A))
    shown = {"solved": "x", "no solution": "combination", "undecided": ""}
    outcome, points, derived = claims.get("outcome"), {(i,): row for i, row in enumerate(A)}, {}
    fields(need(outcome in [*shown]) or witnesses, shown[outcome])
    if outcome == "solved":
        x = read(Fraction, witnesses["x"], len(A[0]))
        are_floats, are_whole = all(down(v * v) == abs(v) for v in x), all(v.denominator == 1 for v in x)
        need((are_floats or are_whole) and all(dot(row, x) > 0 for row in A))
        derived["margin"] = down(min(dot(row, x) ** 2 / dot(row, row) for row in A) / dot(x, x))
    elif outcome == "no solution":
        need(not any(total(*combination(witnesses["combination"], points)[::-1])))
    agree(claims, {"outcome": outcome, **derived})


def ball(about, claims, witnesses, data):
    X, y = data
    d, labels = len(X[0]), [int(v) if type(v) is float and v.is_integer() else v for v in y]
    classes, (holds, inside) = about.pop("classes", None), fields(claims, "ball inside")
    compare(about, "rows columns", "ball", (len(X), d), chain(*X), json.dumps(labels, separators=(",", ":")))
    need(repr(classes) == repr(sorted(set(labels))) and len(classes) == 2, "other data")
    need(type(holds) is bool and repr(inside) in [*map(repr, classes)])
    if holds:
        center, square = fields(witnesses, "center radius_square")
        center, square = read(Fraction, center, d), read(Fraction, square)
        distances = [dot(x, x) - 2 * dot(x, center) + dot(center, center) for x in X]
        need(all((v <= square) == (label == inside) for v, label in zip(distances, labels, strict=True)))
    else:
        signs = [-1 if label == inside else 1 for label in labels]
        points = {(i,): [sign * v for v in (*X[i], dot(X[i], X[i]), 1)] for i, sign in enumerate(signs)}
        chosen, weights, lift = combination(witnesses, points, "lift_weight", Fraction)
        need(total(weights, chosen) == [*[0] * d, -read(Fraction, lift), 0] and read(Fraction, lift) >= 0)


CHECKS = {"separation": Separation, "program": program, "inequalities": inequalities, "ball": ball}
