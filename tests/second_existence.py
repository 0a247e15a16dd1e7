"""The part of the second checker that knows certificates of existence, written from `docs/certificates.md` alone.

The data are (about, X, numbers): what `data` has to say but for its fingerprint, the design in lists of floats, and the
numbers of the rows by name. Importing this file makes it one of the kinds that `tests.second_checker.check` knows.
"""

import struct
from fractions import Fraction
from itertools import pairwise

from tests.second_checker import CHECKS, agree, dot, fields, fingerprint, need, rank, read, total

KEYS = ("family", "rows", "columns", "classes", "ties", "effects", "numbers", "formula", "omitted")


def existence(about, claims, witnesses, data):
    known, X, numbers = data
    header = {name: about.get(name) for name in KEYS}
    need({*about} == {"sha256", *(name for name in KEYS if header[name] is not None)}, "not the fields")
    need(repr(header) == repr({name: known.get(name) for name in KEYS}), "other data")
    halves = [struct.unpack("<2I", struct.pack("<d", v + 0.0)) for name in known["numbers"] for v in numbers[name]]
    need(about["sha256"] == fingerprint(header, X, [half for pair in halves for half in pair]), "other data")
    cone = Cone(known, [[*map(Fraction, x)] for x in X], numbers)
    fields(witnesses, "", "directions obstruction signs start no_start")
    if known["family"] == "log-binomial":
        need("start" in witnesses or {*witnesses} <= {"no_start"}, "nothing can be said without a start")
        if "no_start" in witnesses:
            return agree(claims, need(cone.contradicts(witnesses["no_start"])) or {"estimate": "no start"})
        if "start" not in witnesses:
            return agree(claims, {"estimate": "undecided"})
        need(cone.is_start(read(int, witnesses["start"], len(X[0]) + 1)), "no start")
    else:
        need(not {"start", "no_start"} & {*witnesses}, "a start")
    return agree(claims, cone.conclude(witnesses))


class Cone:  # rows (z, whether it is an equation, its row of the data, the one that this comes after or None)
    def __init__(self, known, X, numbers):
        self.X, self.known, self.numbers = X, known, numbers
        self.used = [i for i, weight in enumerate(numbers["weight"]) if weight > 0]
        self.size = len(X[0])
        self.rows = getattr(self, known["family"].replace("-", "_"))()
        self.Z = [z for z, _, _, _ in self.rows]

    # -- the rows of every family -----------------------------------------------------------------------------------

    def binomial(self):
        won, lost = self.numbers["successes"], self.numbers["failures"]
        tried = [i for i in self.used if won[i] > 0 or lost[i] > 0]
        return [([v if won[i] > 0 else -v for v in self.X[i]], won[i] > 0 and lost[i] > 0, i, None) for i in tried]

    def log_binomial(self):
        won, lost = self.numbers["successes"], self.numbers["failures"]
        tried = [i for i in self.used if won[i] > 0 or lost[i] > 0]
        return [([-v for v in self.X[i]], won[i] > 0, i, None) for i in tried]

    def poisson(self):
        return [([-v for v in self.X[i]], self.numbers["count"][i] > 0, i, None) for i in self.used]

    negative_binomial = poisson

    def multinomial(self):
        k, own = range(len(self.known["classes"])), self.numbers["class"]
        self.size = len(self.X[0]) * (len(k) - 1)
        pairs = [(a, b) for a in k for b in k if a != b]
        keys = [(a, b, i) for a, b in pairs for i in self.used if own[i] == a]
        return [([((c == a) - (c == b)) * v for c in k[1:] for v in self.X[i]], False, i, None) for a, b, i in keys]

    def ordinal(self):
        k, own = len(self.known["classes"]), self.numbers["class"]
        self.size += k - 1
        units = {c: [int(j == c) for j in range(k - 1)] for c in range(k)}
        keys = [(1, i, units[own[i]]) for i in self.used if own[i] < k - 1]
        keys += [(-1, i, units[own[i] - 1]) for i in self.used if own[i] > 0]
        return [([*(-s * v for v in self.X[i]), *(s * v for v in unit)], False, i, None) for s, i, unit in keys]

    def strata(self):
        stratum = self.numbers.get("stratum", [0] * len(self.X))
        return [[i for i in self.used if stratum[i] == s] for s in sorted({stratum[i] for i in self.used})]

    def compared(self, pairs, is_chain):
        difference = {(a, b): [u - v for u, v in zip(self.X[a], self.X[b], strict=True)] for a, b, _ in pairs}
        return [(difference[a, b], equal, b, a if is_chain else None) for a, b, equal in pairs]

    def conditional(self):
        case = self.numbers["case"]
        members = self.strata()
        pairs = [(a, b, False) for group in members for a in group if case[a] for b in group if not case[b]]
        return self.compared(pairs, False)

    def cox(self):
        time, event, exact = self.numbers["time"], self.numbers["event"], self.known["ties"] == "exact"
        pairs = []
        for group in self.strata():
            if "entry" in self.numbers:
                entry = self.numbers["entry"]
                others = {a: [b for b in group if b != a and entry[b] < time[a] <= time[b]] for a in group if event[a]}
                tied = {(a, b) for a in others for b in others if exact and time[b] == time[a]}
                pairs += [(a, b, False) for a in others for b in others[a] if (a, b) not in tied]
                continue
            moments = sorted({time[i] for i in group if event[i]})
            for moment, after in zip(moments, [*moments[1:], None], strict=False):
                now = [i for i in group if event[i] and time[i] == moment]
                later = [i for i in group if event[i] and time[i] == after]
                leave = [i for i in group if not event[i] and moment <= time[i] and (after is None or time[i] < after)]
                pairs += [] if exact else [(now[0], b, True) for b in now[1:]]
                first, following = (now, later) if exact else (now[:1], later[:1])
                pairs += [(a, b, False) for some in (leave, following) for a in first for b in some]
        return self.compared(pairs, "entry" not in self.numbers)

    # -- what follows -----------------------------------------------------------------------------------------------

    def combination(self, value, Z, more=""):
        rows, weights, *others = fields(value, f"rows weights {more}")
        need(type(rows) is list and all(type(row) is int and 0 <= row < len(Z) for row in rows), "no rows")
        need(all(a < b for a, b in pairwise(rows)), "not in order")
        weights = read(int, weights, len(rows))
        sums = total(weights, [Z[row] for row in rows]) or [0] * self.size
        return need(all(weights), "a weight is 0") or (rows, weights, sums, *others)

    def conclude(self, witnesses):
        shown = witnesses.get("directions")
        need(shown is None or (type(shown) is list and shown), "no directions")
        directions = [read(int, direction, self.size) for direction in shown or []]
        for direction in directions:
            products = [dot(direction, z) for z in self.Z]
            need(all(v == 0 or (v > 0 and not row[1]) for v, row in zip(products, self.rows, strict=True)), "not in it")
        strict = [bool(directions) and dot(directions[0], z) > 0 for z in self.Z]
        need(any(strict) or not directions, "nothing is positive")
        if "obstruction" not in witnesses:
            need(len(directions) < 2 and "signs" not in witnesses)
            return {"estimate": "infinite" if directions else "undecided"}
        rows, weights, sums = self.combination(witnesses["obstruction"], self.Z)
        need(all(w > 0 or self.rows[row][1] for row, w in zip(rows, weights, strict=True)) and not any(sums), "not 0")
        face = [z for i, (z, equal, _, _) in enumerate(self.rows) if equal or i in rows]
        need(all(strict[i] or rank([*face, z]) == rank(face) for i, z in enumerate(self.Z)), "it does not span")
        behind = set()
        for (_, _, owner, after), is_strict in zip(self.rows, strict, strict=True):
            behind |= {owner} if is_strict or after in behind else set()
        found = {"estimate": "infinite" if directions else "exists", "separated_rows": sorted(behind)}
        return found | {"diverging": self.diverging(face, directions, witnesses.get("signs"))}

    def diverging(self, face, directions, signs):
        need(signs is None or (type(signs) is list and signs), "no signs")
        proofs = [self.combination(proof, self.Z, "coefficient scale") for proof in signs or []]
        need(all(type(proof[3]) is int for proof in proofs) and all(a[3] < b[3] for a, b in pairwise(proofs)))
        proofs, found = {proof[3]: proof for proof in proofs}, []
        for j in range(self.size):
            unit = [int(i == j) for i in range(self.size)]
            if rank([*face, unit]) == rank(face):
                continue
            ways = {(d[j] > 0) - (d[j] < 0) for d in directions} - {0}
            fate = "sign undetermined" if len(ways) == 2 else "infinite"
            if rank([*self.Z, unit]) > rank(self.Z):
                fate = "not identified"
            elif j in proofs:
                rows, weights, sums, _, scale = proofs.pop(j)
                sign, scale = need(len(ways) == 1) or ways.pop(), read(int, scale)
                need(scale > 0 and all(w > 0 for w in weights) and not any(self.rows[row][1] for row in rows))
                end = [v - sign * scale * u for v, u in zip(sums, unit, strict=True)]
                fate = need(rank([*face, end]) == rank(face)) or ("+inf" if sign > 0 else "-inf")
            found.append([j, fate])
        return need(not proofs, "signs of nothing") or found

    # -- the log link -----------------------------------------------------------------------------------------------

    def started(self):
        offset, last = self.numbers["offset"], [0] * len(self.X[0]) + [1]
        rows = [[*z, -Fraction(offset[i])] for z, _, i, _ in self.rows] + [last]
        return rows, [self.numbers["failures"][i] > 0 for _, _, i, _ in self.rows] + [True]

    def is_start(self, start):
        products = [dot(start, z) for z in self.started()[0]]
        return all(v >= 0 and (v or not must) for v, must in zip(products, self.started()[1], strict=True))

    def contradicts(self, value):
        Z, must = self.started()
        rows, weights, sums = self.combination(value, Z)
        return not any(sums) and all(w > 0 for w in weights) and any(must[row] for row in rows)


CHECKS["existence"] = existence
