"""Linear programs in files: NumPy's .npz with the arguments of SciPy's linprog, and MPS, free or fixed, read strictly.

A file that is not a linear program is rejected, with its line. A number is the float64 nearest to its text, as for
every solver; the sum of a limit and its range is rounded once. A bound is taken literally, however large: 1e30 is a
number here, not infinity. A file that readers interpret differently is rejected.
"""

import gzip
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

NAMES = ("c", "A_ub", "b_ub", "A_eq", "b_eq", "bounds")


@dataclass(frozen=True)
class ProgramFile:
    """A program as `linprog` takes it, the names of its variables, and the sign and offset of the file's objective."""

    arguments: dict[str, Any]
    names: tuple[str, ...]
    sign: float = 1.0
    offset: float = 0.0

    @property
    def n_constraints(self) -> int:
        return sum(len(self.arguments[name]) for name in ("b_ub", "b_eq") if self.arguments.get(name) is not None)

    def objective(self, value: float) -> float:
        """Return the file's objective for the value of the smallest cost."""
        return self.sign * value + self.offset

    def restated(self, message: str) -> str:
        """Restate a result about the cost in terms of the objective."""
        if self.sign > 0:
            return message
        return message.replace("a smaller cost", "a larger objective").replace("the cost falls", "the objective grows")


def read_program(path: str) -> ProgramFile:
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path}; check the path")
    if path.endswith(".npz"):
        return _from_npz(path)
    model, arguments = read_mps(path)
    return ProgramFile(arguments, tuple(model.columns), model.sense, model.offset)


def _from_npz(path: str) -> ProgramFile:
    import zipfile

    try:
        with np.load(path, allow_pickle=False) as arrays:
            if "c" not in arrays or set(arrays) - set(NAMES):
                raise ValueError(f"it has {', '.join(arrays)}, but needs c, and may have {', '.join(NAMES[1:])}")
            arguments = dict(arrays)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a linear program: {error}") from error
    return ProgramFile(arguments, tuple(f"x{number}" for number in range(arguments["c"].size)))


SENSES = {"MIN": 1.0, "MINIMIZE": 1.0, "MAX": -1.0, "MAXIMIZE": -1.0}
WHOLE = {"BV": "integer", "LI": "integer", "UI": "integer", "SC": "semicontinuous", "SI": "semicontinuous"}
ENDLESS = {"lower": -math.inf, "upper": math.inf}
# The sides that a kind of bound limits, or, in the first three, frees.
UNLIMITED = {"FR": ("lower", "upper"), "MI": ("lower",), "PL": ("upper",)}
BOUNDS = UNLIMITED | {"UP": ("upper",), "LO": ("lower",), "FX": ("lower", "upper")}
INFINITIES = {"inf": math.inf, "+inf": math.inf, "infinity": math.inf, "+infinity": math.inf, "-inf": -math.inf}
FIXED_COLUMNS = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]{1,9})?")


class MPSError(ValueError):
    """A file is not a linear program in MPS."""


class MPS:
    """The content of an MPS file, read line by line; `fields` splits a line.

    A row has a kind, L, G, E or N; the first of kind N is the objective.
    """

    def __init__(self, path: str, fields: Callable[[str], list[str]]) -> None:
        self.path, self.fields, self.number, self.sense = path, fields, 0, 1.0
        self.kinds: dict[str, str] = {}
        self.columns: dict[str, dict[str, float]] = {}
        self.limits: dict[str, float] = {}
        self.ranges: dict[str, float] = {}
        self.bounds: dict[str, dict[str, float]] = {"lower": {}, "upper": {}}
        self.sets: dict[str, str] = {}
        self.upper_at: dict[str, int] = {}
        self.sections: dict[str, Callable[[list[str]], None]] = {
            "OBJSENSE": self._sense,
            "ROWS": self._row,
            "COLUMNS": self._column,
            "RHS": self._limit,
            "RANGES": self._range,
            "BOUNDS": self._bound,
        }

    @property
    def objective(self) -> str | None:
        return next((name for name, kind in self.kinds.items() if kind == "N"), None)

    @property
    def offset(self) -> float:
        """The constant term of the objective: minus the limit of its row."""
        return -self.limits.get(self.objective or "", 0.0) + 0.0

    def arguments(self) -> dict[str, Any]:
        """Return the program as `linprog` takes it, with sparse matrices; a row with two limits becomes two."""
        from scipy.sparse import csr_array, vstack

        if not self.columns:
            raise MPSError("it has no columns")
        names = [name for name, kind in self.kinds.items() if kind != "N"]
        place, objective = {name: i for i, name in enumerate(names)}, self.objective or ""
        columns = list(self.columns.values())
        entries = [
            (value, place[row], j) for j, column in enumerate(columns) for row, value in column.items() if row in place
        ]
        data, rows, numbers = np.array(entries).reshape(-1, 3).T
        A = csr_array((data, (rows.astype(int), numbers.astype(int))), shape=(len(names), len(columns)))
        lower, upper = self.bounds["lower"], self.bounds["upper"]
        low, high = np.array([self.row_limits(name) for name in names]).reshape(-1, 2).T
        equal = low == high
        above, below = ~equal & np.isfinite(low), ~equal & np.isfinite(high)
        return {
            "c": self.sense * np.array([column.get(objective, 0.0) for column in columns]),
            "A_ub": vstack([A[below], -A[above]], format="csr"),
            "b_ub": np.concatenate([high[below], -low[above]]),
            "A_eq": A[equal],
            "b_eq": low[equal],
            "bounds": np.array([(lower.get(x, 0.0), upper.get(x, math.inf)) for x in self.columns]),
        }

    def row_limits(self, row: str) -> tuple[float, float]:
        kind, limit = self.kinds[row], self.limits.get(row, 0.0)
        low, high = (-math.inf if kind == "L" else limit), (math.inf if kind == "G" else limit)
        if row in self.ranges:
            extent = self.ranges[row]
            other = limit - abs(extent) if kind == "L" or (kind == "E" and extent < 0) else limit + abs(extent)
            if math.isinf(other):
                raise MPSError(f"the limit {limit:g} and the range {extent:g} of {row!r:.40} add up beyond float64")
            low, high = min(limit, other), max(limit, other)
        return low, high

    # -- reading ------------------------------------------------------------------------------------------------------

    def need(self, holds: bool, why: str) -> None:
        if not holds:
            raise MPSError(f"{self.path}, line {self.number}: {why}")

    def read(self, lines: list[str]) -> "MPS":
        section, seen = "", set()
        for self.number, line in enumerate(lines, start=1):
            line = line.expandtabs()
            if not line.strip() or line.startswith("*"):
                continue
            self.need(section != "ENDATA", "there is more after ENDATA; a file has one program")
            if line[0].isspace():
                self.need(section in self.sections, "these are data, but no section that has data was started")
                fields = self.fields(line)
                self.need(bool(fields), "text is between the columns of the fixed form")
                self.sections[section](fields)
                continue
            section, *rest = line.split()
            self.need(section not in seen, f"the section {section} occurs twice")
            seen.add(section)
            if section not in ("NAME", "ENDATA"):
                known = section in self.sections
                why = f"the section {section!r:.40} is not part of a linear program; drop it, or take another solver"
                self.need(known, why)
                self.need(not rest or section == "OBJSENSE", f"{' '.join(rest)!r:.40} follows {section}")
                if rest:
                    self._sense(rest)
        self.need(section == "ENDATA", "the file ends without ENDATA; it may have been cut off")
        self.need(self.objective is not None, "no row has the kind N, so that there is no objective")
        for column, number in self.upper_at.items():
            self.number = number
            self.need(
                self.bounds["upper"][column] >= 0 or column in self.bounds["lower"],
                f"the column {column!r:.40} has an upper bound below 0 and no lower bound; readers disagree whether "
                "that is then 0 or none: add a bound LO or MI",
            )
        return self

    # -- sections -----------------------------------------------------------------------------------------------------

    def _sense(self, fields: list[str]) -> None:
        sense = " ".join(fields)
        self.need(sense.upper() in SENSES, f"the sense {sense!r:.40} is neither MIN nor MAX")
        self.sense = SENSES[sense.upper()]

    def _row(self, fields: list[str]) -> None:
        is_row = len(fields) == 2 and fields[0] in ("N", "L", "G", "E")
        self.need(is_row, "a row needs its kind, N, L, G or E, and a name")
        kind, name = fields
        self.need(name not in self.kinds, f"the row {name!r:.40} occurs twice")
        self.kinds[name] = kind

    def _column(self, fields: list[str]) -> None:
        is_marker = len(fields) >= 3 and fields[1].strip("'") == "MARKER"
        self.need(not is_marker, "this marks integer variables; a linear program has none: drop the markers")
        self.need(len(fields) in (3, 5), "a column needs its name, and one or two rows with their numbers")
        name, columns = fields[0], self.columns
        is_last = name not in columns or name == next(reversed(columns))
        self.need(is_last, f"the column {name!r:.40} was started before, and then came others")
        self._numbers(fields[1:], columns.setdefault(name, {}), f"the column {name!r:.40} has twice")

    def _limit(self, fields: list[str]) -> None:
        self._numbers(self._of_one_set(fields, "right-hand sides"), self.limits, "there are two right-hand sides of")

    def _range(self, fields: list[str]) -> None:
        fields = self._of_one_set(fields, "ranges")
        self._numbers(fields, self.ranges, "there are two ranges of")
        for row in fields[::2]:
            self.need(self.kinds[row] != "N", f"the row {row!r:.40} has a range, and is no constraint")
            is_clear = self.kinds[row] != "E" or self.ranges[row] != 0
            self.need(is_clear, f"the range 0 of the equation {row!r:.40} has no direction; drop it")

    def _bound(self, fields: list[str]) -> None:
        kind, *rest = fields
        whole = f"a bound of kind {kind} makes a variable {WHOLE.get(kind)}; a linear program has none of these"
        self.need(kind not in WHOLE, whole)
        self.need(
            kind in BOUNDS, f"the kind of bound {kind!r:.40} is unknown; linear programs have {', '.join(BOUNDS)}"
        )
        needed = 1 if kind in UNLIMITED else 2
        # The name of the set may be missing, and after FR, MI and PL there may be a number, which is ignored.
        if len(rest) > needed and (rest[0] not in self.columns or rest[1] in self.columns):
            self._one_set(rest.pop(0), "bounds")
        is_bound = needed <= len(rest) <= 2 and rest[0] in self.columns
        number = ", and a number" * (needed == 2)
        self.need(is_bound, f"a bound of kind {kind} needs a column of this program{number}")
        column = rest[0]
        for side in BOUNDS[kind]:
            self.need(column not in self.bounds[side], f"the column {column!r:.40} has two {side} bounds")
            text = str(ENDLESS[side]) if kind in UNLIMITED else rest[1]
            infinite = INFINITIES.get(text.lower())
            self.need(
                infinite is None or (kind != "FX" and infinite == ENDLESS[side]),
                f"{text} is not a number that a bound of kind {kind} can have",
            )
            self.bounds[side][column] = self._number(text) if infinite is None else infinite
            if side == "upper":
                self.upper_at[column] = self.number

    # -- their parts --------------------------------------------------------------------------------------------------

    def _of_one_set(self, fields: list[str], what: str) -> list[str]:
        """Return the rows and numbers, without the name of their set, which may be missing."""
        if len(fields) % 2:
            self._one_set(fields[0], what)
        return fields[len(fields) % 2 :]

    def _one_set(self, name: str, what: str) -> None:
        first = self.sets.setdefault(what, name)
        why = f"there are two sets of {what}, {first!r:.40} and {name!r:.40}; keep the intended one"
        self.need(first == name, why)

    def _numbers(self, fields: list[str], into: dict[str, float], twice: str) -> None:
        """Add rows with their numbers; raise an error for a duplicate."""
        self.need(len(fields) in (2, 4), "one or two rows are needed, each with its number")
        for row, text in zip(fields[::2], fields[1::2], strict=True):
            self.need(row in self.kinds, f"there is no row {row!r:.40}")
            self.need(row not in into, f"{twice} the row {row!r:.40}")
            into[row] = self._number(text)

    def _number(self, text: str) -> float:
        self.need(_NUMBER.fullmatch(text) is not None, f"{text!r:.40} is not a number")
        plain = text.lower().replace("d", "e")
        value = float(plain)
        is_lost = math.isinf(value) or (value == 0 and re.search("[1-9]", plain.partition("e")[0]) is not None)
        self.need(not is_lost, f"{text:.40} is beyond the range of float64")
        return value


def read_mps(path: str) -> tuple[MPS, dict[str, Any]]:
    """Return the content of a file, and its program; raise MPSError with file and line."""
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8", errors="backslashreplace") as file:
            lines = file.read().rstrip("\n").split("\n")
    except (gzip.BadGzipFile, EOFError) as error:
        raise MPSError(f"{path} cannot be read: {error}") from None
    try:
        model = MPS(path, str.split).read(lines)
    except MPSError as error:
        try:  # only the fixed form has names with blanks
            model = MPS(path, _fixed_fields).read(lines)
        except MPSError:
            raise error from None
    try:
        return model, model.arguments()
    except MPSError as error:
        raise MPSError(f"{path} is not a linear program that can be solved: {error}") from None


def _fixed_fields(line: str) -> list[str]:
    """Return the fields of a line in the fixed form; none if there is text between them, which would be lost."""
    inside = {place for start, end in FIXED_COLUMNS for place in range(start, end)}
    if any(not letter.isspace() for place, letter in enumerate(line) if place not in inside):
        return []
    parts = [line[start:end].strip() for start, end in FIXED_COLUMNS]
    return [part for part in parts if part]
