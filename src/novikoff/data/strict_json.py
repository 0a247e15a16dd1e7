"""JSON from untrusted files: no duplicate keys, no NaN, no depth that exhausts the stack, all fields of expected type.

Python's own parser keeps the last of two equal keys, accepts `NaN`, and recurses to any depth. `Fields` reads each
field by name and type, and rejects all others.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Self, TypeVar

# Deeper than anything that we write, and far from the depth at which Python's parser overflows the stack.
DEEPEST = 64
MOST_BYTES = 1 << 28
# Python's default limit. The command line lifts it for proofs, which have their numbers in strings; here it stays,
# because parsing a number takes time quadratic in its digits.
MOST_DIGITS = 4300

T = TypeVar("T")
C = TypeVar("C", bound=str)

# Possessive: a string is one step, without backtracking.
_BRACKETS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


class JSONError(ValueError):
    """A text is not the expected JSON."""


def parse(text: str | bytes, *, deepest: int = DEEPEST, most_bytes: int = MOST_BYTES) -> Any:
    """Return the value of a JSON text; raise `JSONError` for what is not strict JSON, too deep or too large.

    >>> parse('{"a": [1, 2.5, "x", null, true]}')
    {'a': [1, 2.5, 'x', None, True]}
    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    novikoff.data.strict_json.JSONError: the key 'a' occurs twice in one object
    """
    try:
        raw = text.encode() if isinstance(text, str) else bytes(text)
    except UnicodeEncodeError:
        raise JSONError("this is not JSON: it has an unpaired surrogate, which is not Unicode") from None
    if len(raw) > most_bytes:
        raise JSONError(f"the text has {len(raw):,} bytes; more than {most_bytes:,} are not allowed")
    check_depth(raw, deepest)
    try:
        return json.loads(
            raw.decode(),
            object_pairs_hook=_without_twins,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_short_whole,
        )
    except JSONError:
        raise
    except ValueError as error:  # also what is not UTF-8
        raise JSONError(f"this is not JSON: {error}") from None


def check_depth(raw: bytes, deepest: int = DEEPEST) -> None:
    """Reject brackets nested too deep, without recursion.

    >>> check_depth(b"[" * 100_000)
    Traceback (most recent call last):
    novikoff.data.strict_json.JSONError: brackets are nested more than 64 deep; the limit is 64
    """
    if raw.count(b"[") + raw.count(b"{") <= deepest:
        return
    depth = 0
    for match in _BRACKETS.finditer(raw):
        mark = match.group()
        if mark in (b"[", b"{"):
            depth += 1
            if depth > deepest:
                raise JSONError(f"brackets are nested more than {deepest} deep; the limit is {deepest}")
        elif mark in (b"]", b"}"):
            depth -= 1


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        ((twin, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise JSONError(f"the key {twin!r:.60} occurs twice in one object")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise JSONError(f"{name} is not a number in JSON")


def _short_whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise JSONError(f"a whole number has {len(digits):,} digits; more than {MOST_DIGITS:,} are not allowed")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise JSONError(f"the number {digits:.60} is beyond the range of float64")
    return value


class Fields:
    """A JSON object, whose fields are read by name and type.

    `error` is the type to raise; `close` rejects fields that were not read.

    >>> fields = Fields({"rows": 3, "name": "cars", "more": 1}, "the file")
    >>> fields.whole("rows", least=1), fields.text("name")
    (3, 'cars')
    >>> fields.close()
    Traceback (most recent call last):
    novikoff.data.strict_json.JSONError: the file has the field 'more', which does not belong there
    """

    def __init__(self, content: Any, name: str, error: type[ValueError] = JSONError, path: str = "") -> None:
        self.name = f"{path} in {name}" if path else name
        self._file = name
        self._path = path
        self.error = error
        if not isinstance(content, Mapping):
            self.fail("is not an object")
        self._content = content
        self._asked: set[str] = set()

    def fail(self, why: str) -> NoReturn:
        raise self.error(f"{self.name} {why}")

    def __contains__(self, name: object) -> bool:
        return name in self._content

    def present(self, name: str) -> bool:
        """Whether there is such a field, even if it is null."""
        self._asked.add(name)
        return name in self._content

    def has(self, name: str) -> bool:
        """Whether there is such a field, and it is not null."""
        return self.present(name) and self._content[name] is not None

    def value(self, name: str) -> Any:
        self._asked.add(name)
        if name not in self._content:
            self.fail(f"has no field {name!r}")
        return self._content[name]

    def part(self, name: str) -> Self:
        return self.inside(self.value(name), name)

    def parts(self, name: str, most: int = 10**7) -> list[Self]:
        return [self.inside(part, f"{name}[{i}]") for i, part in enumerate(self.listed(name, most))]

    def inside(self, content: Any, name: str) -> Self:
        """Return a part of this object, whose errors name its place."""
        return type(self)(content, self._file, self.error, f"{self._path}.{name}" if self._path else name)

    def close(self) -> None:
        """Raise an error if there are fields that were not read."""
        for name in self._content:
            if name not in self._asked:
                self.fail(f"has the field {name!r:.60}, which does not belong there")

    def whole(self, name: str, least: int = 0, most: int = 2**62) -> int:
        return self.as_whole(self.value(name), name, least, most)

    def as_whole(self, value: Any, name: str, least: int = 0, most: int = 2**62) -> int:
        if type(value) is not int or not least <= value <= most:
            self.fail(f"has {name} = {value!r:.60}, not a whole number from {least} to {most}")
        return value

    def number(self, name: str, least: float = -math.inf) -> float:
        return self.as_number(self.value(name), name, least)

    def as_number(self, value: Any, name: str, least: float = -math.inf) -> float:
        if type(value) not in (int, float) or abs(value) > 1.7976931348623157e308 or not value >= least:
            at_least = "" if math.isinf(least) else f" of at least {least:g}"
            self.fail(f"has {name} = {value!r:.60}, not a finite number{at_least}")
        return float(value)

    def flag(self, name: str) -> bool:
        if type(value := self.value(name)) is not bool:
            self.fail(f"has {name} = {value!r:.60}, neither true nor false")
        return value

    def text(self, name: str, longest: int = 1 << 24) -> str:
        return self.as_text(self.value(name), name, longest)

    def as_text(self, value: Any, name: str, longest: int = 1 << 24) -> str:
        if type(value) is not str or len(value) > longest:
            self.fail(f"has {name} = {value!r:.60}, which is not text, or too long")
        return value

    def choice(self, name: str, choices: tuple[C, ...]) -> C:
        value = self.value(name)
        found = [choice for choice in choices if type(value) is str and value == choice]
        if not found:
            self.fail(f"has {name} = {value!r:.60}, none of {', '.join(map(repr, choices))}")
        return found[0]

    def texts(self, name: str) -> tuple[str, ...]:
        return self.each(name, self.as_text)

    @property
    def content(self) -> Mapping[str, Any]:
        return self._content

    def listed(self, name: str, most: int = 10**7) -> list[Any]:
        value = self.value(name)
        if type(value) is not list or len(value) > most:
            self.fail(f"has {name} = {value!r:.60}, which is not a list of at most {most:,} values")
        return value

    def each(self, name: str, read: Callable[[Any, str], T], most: int = 10**7) -> tuple[T, ...]:
        """Read a list, every value with a function of the value and its name."""
        return tuple(read(value, f"{name}[{i}]") for i, value in enumerate(self.listed(name, most)))
