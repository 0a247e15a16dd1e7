"""Linear programs in files: NumPy's .npz with the arguments of SciPy's linprog, and MPS, free or fixed, read strictly.

A file that is not a linear program is refused, with its line. A number is the float64 nearest to its text, as for every
solver; the sum of a limit and its range is rounded once. A bound is what it says, however large: 1e30 is a number here,
and no infinity. Where readers disagree what a file means, it is refused.
"""

import gzip
import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

NAMES = ("c", "A_ub", "b_ub", "A_eq", "b_eq", "bounds")


@dataclass(frozen=True)
class ProgramFile:
    """A program as `linprog` takes it, the names of its variables, and what the file's objective is made of."""

    arguments: dict[str, Any]
    names: tuple[str, ...]
    sign: float = 1.0
    offset: float = 0.0

    @property
    def n_constraints(self) -> int:
        return sum(len(self.arguments[name]) for name in ("b_ub", "b_eq") if self.arguments.get(name) is not None)

    def objective(self, value: float) -> float:
        """The file's objective, from the value of the smallest cost."""
        return self.sign * value + self.offset

    def restated(self, message: str) -> str:
        """What was proved of the cost, said of the objective."""
        if self.sign > 0:
            return message
        return message.replace("a smaller cost", "a larger objective").replace("the cost falls", "the objective grows")


def read_program(path: str) -> ProgramFile:
    """The program in a file."""
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
WHOLE = {"BV": "whole", "LI": "whole", "UI": "whole", "SC": "semicontinuous", "SI": "semicontinuous"}
INFINITIES = {"inf": math.inf, "+inf": math.inf, "infinity": math.inf, "+infinity": math.inf, "-inf": -math.inf}
FIXED_COLUMNS = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]{1,9})?")

Pair = tuple[str, str]


class MPSError(ValueError):
    """A file is not a linear program in MPS."""


@dataclass
class MPS:
    """What an MPS file says. A row has its kind, L, G or E; `free` are the rows of kind N that nothing uses."""

    objective: str | None = None
    sense: float = 1.0
    kinds: dict[str, str] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    columns: dict[str, dict[str, float]] = field(default_factory=dict)
    limits: dict[str, Fraction] = field(default_factory=dict)
    ranges: dict[str, Fraction] = field(default_factory=dict)
    bounds: dict[str, dict[str, float]] = field(default_factory=dict)

    def arguments(self) -> dict[str, Any]:
        """The program as `linprog` takes it, with sparse matrices; a row with two limits becomes two."""
        from scipy.sparse import csr_array, vstack

        n, names = len(self.columns), list(self.kinds)
        if n == 0:
            raise MPSError("it has no columns")
        place = {name: i for i, name in enumerate(names)}
        c = np.array([column.get(self.objective or "", 0.0) for column in self.columns.values()])
        entries = [
            (value, place[row], j)
            for j, column in enumerate(self.columns.values())
            for row, value in column.items()
            if row in place
        ]
        data, rows, columns = zip(*entries, strict=True) if entries else ((), (), ())
        A = csr_array((np.array(data, dtype=np.float64), (rows, columns)), shape=(len(names), n))
        low, high = (
            (np.array(side) for side in zip(*map(self._limits, names), strict=True)) if names else (c[:0], c[:0])
        )
        equal = low == high
        above, below = ~equal & np.isfinite(low), ~equal & np.isfinite(high)
        return {
            "c": self.sense * c,
            "A_ub": vstack([A[below], -A[above]], format="csr"),
            "b_ub": np.concatenate([high[below], -low[above]]),
            "A_eq": A[equal],
            "b_eq": low[equal],
            "bounds": np.array([self._bounds(name) for name in self.columns]),
        }

    @property
    def offset(self) -> float:
        """What the objective has besides: the limit of its row, with the other sign."""
        return float(-self.limits.get(self.objective or "", Fraction(0)))

    def _limits(self, row: str) -> tuple[float, float]:
        kind, limit = self.kinds[row], self.limits.get(row, Fraction(0))
        low, high = (None if kind == "L" else limit), (None if kind == "G" else limit)
        if row in self.ranges:
            extent = self.ranges[row]
            if kind == "L" or (kind == "E" and extent < 0):
                low = limit - abs(extent)
            else:
                high = limit + abs(extent)
        return (-math.inf if low is None else _rounded(low)), (math.inf if high is None else _rounded(high))

    def _bounds(self, column: str) -> tuple[float, float]:
        given = self.bounds.get(column, {})
        return given.get("lower", 0.0), given.get("upper", math.inf)


def read_mps(path: str) -> tuple[MPS, dict[str, Any]]:
    """What the file says, and the program that it is; raises MPSError with file and line."""
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8", errors="backslashreplace") as file:
            lines = file.read().rstrip("\n").split("\n")
    except (gzip.BadGzipFile, EOFError) as error:
        raise MPSError(f"{path} cannot be read: {error}") from None
    try:
        model = _MPSReader(path, str.split).read(lines)
    except MPSError as error:
        try:  # names with blanks exist in the fixed form only
            model = _MPSReader(path, _fixed_fields).read(lines)
        except MPSError:
            raise error from None
    try:
        return model, model.arguments()
    except MPSError as error:
        raise MPSError(f"{path} is not a linear program that can be solved: {error}") from None


def _fixed_fields(line: str) -> list[str]:
    """The fields of a line in the fixed form; none if text stands between them, where it would be cut."""
    inside = {place for start, end in FIXED_COLUMNS for place in range(start, end)}
    if any(not letter.isspace() for place, letter in enumerate(line) if place not in inside):
        return []
    parts = [line[start:end].strip() for start, end in FIXED_COLUMNS]
    return [part for part in parts if part]


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise MPSError(
            f"a limit and its range add up to about 1e{len(str(abs(int(value)))) - 1}, beyond float64"
        ) from None


class _MPSReader:
    """Reads line by line; `fields` takes a line apart."""

    def __init__(self, path: str, fields: Callable[[str], list[str]]) -> None:
        self.path, self.fields = path, fields
        self.model = MPS()
        self.number = 0
        self.sets: dict[str, str] = {}
        self.current: str | None = None
        self.sections: dict[str, Callable[[list[str]], None]] = {
            "OBJSENSE": self._sense,
            "ROWS": self._row,
            "COLUMNS": self._column,
            "RHS": self._limit,
            "RANGES": self._range,
            "BOUNDS": self._bound,
        }

    def fail(self, why: str) -> NoReturn:
        raise MPSError(f"{self.path}, line {self.number}: {why}")

    def read(self, lines: list[str]) -> MPS:
        section, seen = "", set()
        for line in self._counted(lines):
            if section == "ENDATA":
                self.fail("there is more after ENDATA; a file has one program")
            if line[0].isspace():
                if section not in self.sections:
                    self.fail("these are data, but no section that has data was begun")
                fields = self.fields(line)
                if not fields:
                    self.fail("text stands between the columns of the fixed form")
                self.sections[section](fields)
                continue
            section, *rest = line.split()
            if section in seen:
                self.fail(f"the section {section} occurs twice")
            seen.add(section)
            self._begin(section, rest)
        if section != "ENDATA":
            self.fail("the file ends without ENDATA; it may have been cut off")
        if self.model.objective is None:
            self.fail("no row has the kind N, so that there is no objective")
        self._no_doubtful_bounds()
        return self.model

    def _counted(self, lines: list[str]) -> Iterator[str]:
        for self.number, line in enumerate(lines, start=1):
            if line.strip() and not line.startswith("*"):
                yield line.expandtabs()

    def _begin(self, section: str, rest: list[str]) -> None:
        if section in ("NAME", "ENDATA"):
            return
        if section not in self.sections:
            self.fail(f"the section {section!r:.40} is not part of a linear program; drop it, or take another solver")
        if section == "OBJSENSE" and rest:
            self._sense(rest)
        elif rest:
            self.fail(f"{' '.join(rest)!r:.40} stands behind {section}")

    # -- sections -----------------------------------------------------------------------------------------------------

    def _sense(self, fields: list[str]) -> None:
        if len(fields) != 1 or fields[0].upper() not in SENSES:
            self.fail(f"the sense {' '.join(fields)!r:.40} is neither MIN nor MAX")
        self.model.sense = SENSES[fields[0].upper()]

    def _row(self, fields: list[str]) -> None:
        if len(fields) != 2 or fields[0] not in ("N", "L", "G", "E"):
            self.fail("a row needs its kind, N, L, G or E, and a name")
        kind, name = fields
        model = self.model
        if name in model.kinds or name in model.free or name == model.objective:
            self.fail(f"the row {name!r:.40} occurs twice")
        if kind != "N":
            model.kinds[name] = kind
        elif model.objective is None:
            model.objective = name
        else:
            model.free.add(name)

    def _column(self, fields: list[str]) -> None:
        if len(fields) >= 3 and fields[1].strip("'") == "MARKER":
            self.fail("this marks variables that must be whole; a linear program has none: drop the markers")
        if len(fields) not in (3, 5):
            self.fail("a column needs its name, and one or two rows with their numbers")
        name, columns = fields[0], self.model.columns
        if name != self.current and name in columns:
            self.fail(f"the column {name!r:.40} was begun before, and then came others")
        self.current = name
        entries = columns.setdefault(name, {})
        for row, value in self._pairs(fields[1:]):
            if row in entries:
                self.fail(f"the column {name!r:.40} has the row {row!r:.40} twice")
            entries[row] = self._number(value)

    def _limit(self, fields: list[str]) -> None:
        for row, value in self._pairs(self._of_one_set(fields, "right-hand sides")):
            if row in self.model.limits:
                self.fail(f"the row {row!r:.40} has two right-hand sides")
            self.model.limits[row] = Fraction(self._number(value))

    def _range(self, fields: list[str]) -> None:
        for row, value in self._pairs(self._of_one_set(fields, "ranges")):
            if row not in self.model.kinds or row in self.model.ranges:
                self.fail(f"the row {row!r:.40} has two ranges, or is no constraint")
            if self._number(value) == 0 and self.model.kinds[row] == "E":
                self.fail(f"the range 0 of the equation {row!r:.40} has no direction; drop it")
            self.model.ranges[row] = Fraction(self._number(value))

    def _bound(self, fields: list[str]) -> None:
        kind, *rest = fields
        if kind in WHOLE:
            self.fail(f"a bound of kind {kind} makes a variable {WHOLE[kind]}; a linear program has none of these")
        if kind not in ("UP", "LO", "FX", "FR", "MI", "PL"):
            self.fail(f"the kind of bound {kind!r:.40} is unknown; linear programs have UP, LO, FX, FR, MI and PL")
        needed = 1 if kind in ("FR", "MI", "PL") else 2
        # The name of the set may be missing, and after FR, MI and PL there may be a number without a meaning.
        named = len(rest) > needed and (rest[0] not in self.model.columns or rest[1] in self.model.columns)
        if named:
            self._one_set(rest.pop(0), "bounds")
        if not needed <= len(rest) <= 2 or rest[0] not in self.model.columns:
            self.fail(f"a bound of kind {kind} needs a column of this program{', and a number' * (needed == 2)}")
        column, value = rest[0], rest[-1]
        if kind in ("UP", "FX"):
            self._set_bound(column, "upper", self._bound_value(value, kind))
        if kind in ("LO", "FX"):
            self._set_bound(column, "lower", self._bound_value(value, kind))
        if kind in ("FR", "PL"):
            self._set_bound(column, "upper", math.inf)
        if kind in ("FR", "MI"):
            self._set_bound(column, "lower", -math.inf)

    # -- their parts --------------------------------------------------------------------------------------------------

    def _set_bound(self, column: str, side: str, value: float) -> None:
        given = self.model.bounds.setdefault(column, {})
        if side in given:
            self.fail(f"the column {column!r:.40} has two {side} bounds")
        given[side] = value
        given[f"line of {side}"] = self.number

    def _bound_value(self, text: str, kind: str) -> float:
        infinite = INFINITIES.get(text.lower())
        if infinite is None:
            return self._number(text)
        if (kind, infinite) not in (("UP", math.inf), ("LO", -math.inf)):
            self.fail(f"{text} is not a number that a bound of kind {kind} can have")
        return infinite

    def _no_doubtful_bounds(self) -> None:
        for column, given in self.model.bounds.items():
            if given.get("upper", 0.0) < 0 and "lower" not in given:
                self.number = int(given["line of upper"])
                self.fail(
                    f"the column {column!r:.40} has an upper bound below 0 and no lower bound; readers disagree "
                    "whether that is then 0 or none: add a bound LO or MI"
                )

    def _of_one_set(self, fields: list[str], what: str) -> list[str]:
        """The rows and numbers, without the name of the set that they belong to, which may be missing."""
        if len(fields) % 2:
            self._one_set(fields[0], what)
            return fields[1:]
        return fields

    def _one_set(self, name: str, what: str) -> None:
        if self.sets.setdefault(what, name) != name:
            self.fail(
                f"there are two sets of {what}, {self.sets[what]!r:.40} and {name!r:.40}; keep the one that you mean"
            )

    def _pairs(self, fields: list[str]) -> list[Pair]:
        if len(fields) not in (2, 4):
            self.fail("one or two rows are needed, each with its number")
        pairs = list(zip(fields[::2], fields[1::2], strict=True))
        for row, _ in pairs:
            if row not in self.model.kinds and row not in self.model.free and row != self.model.objective:
                self.fail(f"there is no row {row!r:.40}")
        return pairs

    def _number(self, text: str) -> float:
        if not _NUMBER.fullmatch(text):
            self.fail(f"{text!r:.40} is not a number")
        plain = text.lower().replace("d", "e")
        value = float(plain)
        if math.isinf(value) or (value == 0 and re.search("[1-9]", plain.partition("e")[0])):
            self.fail(f"{text:.40} is beyond the range of float64")
        return value
