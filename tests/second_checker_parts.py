"""Programs, inequalities and balls checked from the page on certificates alone: standard library and fractions.

It shares no code with the library. `check(text, data)` raises `Refused`, or returns None. The data are plain lists of
floats: (c, A_ub, b_ub, A_eq, b_eq, lower, upper), A, or (X, y).
"""

import hashlib
import itertools
import json
import math
import re
import struct
from fractions import Fraction


class Refused(Exception):  # noqa: N818
    pass


def need(holds, why="it does not hold"):
    if not holds:
        raise Refused(why)


def no_twins(pairs):
    need(len(dict(pairs)) == len(pairs), "a key stands twice")
    return dict(pairs)


def no_constant(name):
    raise Refused(name)


def fields(value, *names):
    need(type(value) is dict and sorted(value) == sorted(names), f"{names} are needed")
    return [value[name] for name in names]


def whole(text, least=None):
    need(type(text) is str and len(text) <= 1_000_000 and re.fullmatch("0|-?[1-9][0-9]*", text))
    digits, value = text.lstrip("-"), 0
    for start in range(0, len(digits), 4000):  # Python reads no more than some thousands at once
        part = digits[start : start + 4000]
        value = value * 10 ** len(part) + int(part)
    value = -value if text[0] == "-" else value
    need(least is None or value >= least)
    return value


def fraction(value):
    need(type(value) is list and len(value) == 2)
    above, below = whole(value[0]), whole(value[1], 1)
    need(math.gcd(above, below) == 1, "not in lowest terms")
    return Fraction(above, below)


def listed(value, read, length=None):
    need(type(value) is list and (length is None or len(value) == length))
    return [read(each) for each in value]


def number(value):
    need(type(value) in (int, float) and math.isfinite(value))
    return float(value)


def places(value, n):
    need(type(value) is list and value and all(type(row) is int for row in value))
    need(all(0 <= row < n for row in value) and all(a < b for a, b in itertools.pairwise(value)))
    return value


def exact(values):
    return [Fraction(v) for v in values]


def flat(rows):
    return list(itertools.chain.from_iterable(rows))


def dot(a, b):
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


def next_float(value, towards):
    return math.nextafter(value, towards)


def sha256(line, numbers, labels=b""):
    packed = b"".join(struct.pack("<d", v + 0.0) for v in numbers)
    return hashlib.sha256(line.encode() + b"\n" + packed + labels).hexdigest()


def is_least_float(value, holds):
    """Whether it is the smallest float for which something holds that holds for all larger ones."""
    return value >= 0 and holds(Fraction(value)) and (value == 0 or not holds(Fraction(next_float(value, 0.0))))


def check(text, data):
    try:
        content = json.loads(text, object_pairs_hook=no_twins, parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise Refused("no JSON") from None
    version, kind, *parts = fields(content, "format", "kind", "data", "claims", "witnesses")
    need(type(version) is int and version == 2)
    need(type(kind) is str and kind in CHECKS)
    CHECKS[kind](*parts, data)


# -- programs -----------------------------------------------------------------------------------------------------


def program(about, claims, witnesses, data):
    c, A_ub, b_ub, A_eq, b_eq, lower, upper = data
    n, m, k = len(c), len(b_ub), len(b_eq)
    numbers = [*c, *flat(A_ub), *b_ub, *flat(A_eq), *b_eq, *lower, *upper]
    same(
        fields(about, "variables", "inequalities", "equations", "sha256"),
        n,
        m,
        k,
        sha256(f"novikoff program {n} {m} {k}", numbers),
    )
    need(type(claims) is dict)
    answer = claims.get("answer")
    extra = {"optimal": ["value"], "infeasible": [], "unbounded": [], "approximate": ["violation"]}
    need(type(answer) is str and answer in extra)
    fields(claims, "answer", *extra[answer])
    parts = {"optimal": ["x", "multipliers"], "infeasible": ["multipliers"], "unbounded": ["x", "ray"]}
    given = dict(
        zip(parts.get(answer, parts["optimal"]), fields(witnesses, *parts.get(answer, parts["optimal"])), strict=True)
    )
    x = listed(given["x"], fraction, n) if "x" in given else None
    ray = listed(given["ray"], fraction, n) if "ray" in given else None
    rows, limits, cost = [exact(row) for row in A_ub + A_eq], exact(b_ub + b_eq), exact(c)
    finite = [[j for j in range(n) if math.isfinite(side[j])] for side in (lower, upper)]
    fails, strength = [], Fraction(0)
    if "multipliers" in given:
        names = ("ub", "eq", "lower", "upper")
        ub, eq, low, high = (
            listed(v, fraction, size)
            for v, size in zip(fields(given["multipliers"], *names), (m, k, n, n), strict=True)
        )
        combined = [dot([row[j] for row in rows], ub + eq) + low[j] + high[j] for j in range(n)]
        strength = dot(limits, ub + eq)
        strength += sum(low[j] * Fraction(lower[j]) for j in finite[0]) + sum(
            high[j] * Fraction(upper[j]) for j in finite[1]
        )
        wrong = [max(v, 0) for v in ub + high] + [max(-v, 0) for v in low]
        wrong += [abs(low[j]) for j in range(n) if j not in finite[0]] + [
            abs(high[j]) for j in range(n) if j not in finite[1]
        ]
    t = size_of(b_ub + b_eq)

    def broken(point, at):
        got = [dot(row, point) - limit * at for row, limit in zip(rows, limits, strict=True)]
        sizes = [t + abs(limit) for limit in limits]
        yield from (max(v, 0) / s for v, s in zip(got[:m], sizes[:m], strict=True))
        yield from (abs(v) / s for v, s in zip(got[m:], sizes[m:], strict=True))
        for j in finite[0]:
            yield max(Fraction(lower[j]) * at - point[j], 0) / (1 + abs(Fraction(lower[j])))
        for j in finite[1]:
            yield max(point[j] - Fraction(upper[j]) * at, 0) / (1 + abs(Fraction(upper[j])))

    if answer == "infeasible":
        need(strength > 0 and not any(combined) and not any(wrong))
    elif answer == "unbounded":
        need(not any(broken(x, 1)) and not any(broken(ray, 0)) and dot(cost, ray) < 0)
    else:
        s, value = size_of(c), dot(cost, x)
        fails = [abs(value - strength) / (s + abs(value)), *(v / s for v in wrong), *broken(x, 1)]
        fails += [abs(a - b) / (s + abs(a)) for a, b in zip(cost, combined, strict=True)]
        if answer == "optimal":
            need(max(fails) == 0 and fraction(claims["value"]) == value)
        else:
            violation = number(claims["violation"])
            need(max(fails) > 0 and is_least_float(violation, lambda v: v >= max(fails)))


def same(found, *expected):
    need(all(type(a) is type(b) and a == b for a, b in zip(found, expected, strict=True)), "other data")


def size_of(values):
    return min(Fraction(1), max((abs(Fraction(v)) for v in values), default=Fraction(0))) or Fraction(1)


# -- inequalities -------------------------------------------------------------------------------------------------


def inequalities(about, claims, witnesses, data):
    n, d = len(data), len(data[0])
    same(fields(about, "rows", "columns", "sha256"), n, d, sha256(f"novikoff inequalities {n} {d}", flat(data)))
    need(type(claims) is dict and type(witnesses) is dict)
    A, outcome = [exact(row) for row in data], claims.get("outcome")
    said = {"solved": ["margin"], "no solution": [], "margin ruled out": ["min_margin"], "undecided": []}
    shown = {"solved": ["x"], "no solution": ["combination"], "margin ruled out": ["dual"], "undecided": []}
    need(type(outcome) is str and outcome in said)
    has_dual = outcome == "margin ruled out" or (outcome != "no solution" and "dual" in witnesses)
    fields(claims, "outcome", *said[outcome], *["margin_at_most"] * has_dual)
    fields(witnesses, *{*shown[outcome], *["dual"] * has_dual})
    if has_dual:
        rows, weights, total = combination(witnesses["dual"], A)
        need(any(total))
        bound = min(
            Fraction(1), dot(total, total) / sum(w * length(A[i]) for i, w in zip(rows, weights, strict=True)) ** 2
        )
        at_most = number(claims["margin_at_most"])
        need(is_least_float(at_most, lambda v: v * v >= bound))
    if outcome == "solved":
        x = listed(witnesses["x"], fraction, d)
        need(all(is_float(v) for v in x) or all(v.denominator == 1 for v in x))
        products = [dot(row, x) for row in A]
        need(min(products) > 0)
        square = min(p * p / dot(row, row) for p, row in zip(products, A, strict=True)) / dot(x, x)
        margin = number(claims["margin"])
        need(margin >= 0 and Fraction(margin) ** 2 <= square < Fraction(next_float(margin, math.inf)) ** 2)
    elif outcome == "no solution":
        need(not any(combination(witnesses["combination"], A)[2]))
    elif outcome == "margin ruled out":
        need(0 < number(claims["min_margin"]) <= 1 and at_most < claims["min_margin"])


def combination(value, A):
    rows, weights = fields(value, "rows", "weights")
    rows = places(rows, len(A))
    weights = listed(weights, lambda text: whole(text, 1), len(rows))
    return rows, weights, [dot(weights, [A[i][j] for i in rows]) for j in range(len(A[0]))]


def length(row):
    """Rounded down, as the page says."""
    below = max(v.denominator for v in row)
    step = Fraction(math.gcd(*(int(v * below) for v in row)), below)
    power = Fraction(step.numerator & -step.numerator, step.denominator)
    if not any(row):
        return Fraction(0)
    return Fraction(math.isqrt(int(dot(row, row) / power**2) << 128), 1 << 64) * power


def is_float(value):
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False


# -- balls --------------------------------------------------------------------------------------------------------


def ball(about, claims, witnesses, data):
    X, y = data
    n, d = len(X), len(X[0])
    labels = [int(v) if type(v) is float and v.is_integer() else v for v in y]
    digest = sha256(f"novikoff ball {n} {d}", flat(X), json.dumps(labels, separators=(",", ":")).encode())
    *sizes, classes = fields(about, "rows", "columns", "sha256", "classes")
    same(sizes, n, d, digest)
    need(type(classes) is list and len(classes) == 2)
    same(classes, *sorted(set(labels)))
    holds, inside = fields(claims, "ball", "inside")
    need(type(holds) is bool and any(type(inside) is type(v) and inside == v for v in classes))
    points = [exact(x) for x in X]
    if holds:
        center, square = fields(witnesses, "center", "radius_square")
        center, square = listed(center, fraction, d), fraction(square)
        for x, label in zip(points, labels, strict=True):
            distance = sum((v - c) ** 2 for v, c in zip(x, center, strict=True))
            need((distance <= square) == (label == inside))
        return
    rows, weights, lift = fields(witnesses, "rows", "weights", "lift_weight")
    rows, lift = places(rows, n), fraction(lift)
    weights = listed(weights, fraction, len(rows))
    need(min(weights) > 0 and lift >= 0)
    signed = [-w if labels[i] == inside else w for i, w in zip(rows, weights, strict=True)]
    lifted = [[*points[i], dot(points[i], points[i]), Fraction(1)] for i in rows]
    total = [dot(signed, column) for column in zip(*lifted, strict=True)]
    need(total == [*[0] * d, -lift, 0])


CHECKS = {"program": program, "inequalities": inequalities, "ball": ball}
