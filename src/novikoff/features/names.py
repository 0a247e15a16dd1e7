"""Examples whose features have names: mappings from feature name to number."""

import math
from collections.abc import Hashable, Iterable, Mapping
from math import hypot
from typing import Any

# An example longer than this could make a score, or the sum of scores that an average is, overflow float64.
LONGEST = 2.0**480

# Times a float, these give a float. Any other value is looked at more closely.
PLAIN_NUMBERS = frozenset((float, int, bool))


class Intercept:
    """The name of the feature that has the value 1 in every example. Being a class, it is nobody else's name."""


class OneHot(tuple[Any, ...]):
    """The feature that a string stands for: {"colour": "red"} is {OneHot("colour", "red"): 1}, shown as colour=red.

    It begins with its own class, so it equals no other name, not even the tuple ("colour", "red").
    """

    __slots__ = ()

    def __new__(cls, name: Hashable, value: str) -> "OneHot":
        return super().__new__(cls, (cls, name, value))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self[1:]

    def __repr__(self) -> str:
        return f"{self[1]}={self[2]}"


def as_numbers(x: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The example itself if its values are plain numbers, else one whose values are; or what is wrong with it."""
    if not isinstance(x, Mapping):
        kind = type(x).__name__
        raise TypeError(f"an example must map feature names to numbers, such as {{'height': 1.8}}, but got a {kind}")
    plain = PLAIN_NUMBERS.issuperset(map(type, x.values()))
    example = x if plain else dict(_as_number(name, value) for name, value in x.items())
    try:
        if hypot(*example.values()) <= LONGEST:
            return example
    except OverflowError:
        pass
    raise ValueError(_what_is_wrong(example))


def are_plain(values: Iterable[Any]) -> bool:
    """Whether numbers are plain, which their sum then is, too, or at least are so in sums and products with floats."""
    try:
        return type(sum(values, 0.0)) is float
    except TypeError:
        return False


def _as_number(name: Hashable, value: Any) -> tuple[Hashable, float]:
    if type(value) in PLAIN_NUMBERS:
        return name, value
    if isinstance(value, str):
        return OneHot(name, str(value)), 1.0
    try:
        if hasattr(value, "__float__") or hasattr(value, "__index__"):  # float() would also read bytes
            return name, float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    how = "give a number, or a string for a one-hot feature, or leave the feature out, which means 0"
    raise ValueError(f"feature {name!r} has the value {value!r}, which is not a number; {how}")


def _what_is_wrong(example: Mapping[Any, Any]) -> str:
    for name, value in example.items():
        if value != value:
            return f"feature {name!r} is NaN; impute it, or leave the feature out, which means 0"
        if abs(value) == math.inf:
            return f"feature {name!r} is {value}; replace it by a finite number"
    name = max(example, key=lambda feature: abs(example[feature]))
    return f"feature {name!r} makes the example longer than {LONGEST:.1g}, and scores could overflow; scale it down"
