"""Every way that we could think of to tamper with a JSON file, one at a time, in the same order every time.

`mutants(text)` takes any JSON object. Each field, at any depth, is made of another kind, of another sign or size, moved
by one unit in the last place, swapped, dropped, doubled, renamed, repeated; numbers become NaN, text that only looks
like the same number, or too large to read; and the text as a whole is cut, wrapped and nested. `survivors` gives each
to a reader, and lists those that were taken for something else than the original.
"""

import itertools
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tests.draws import draws

# How many mutants of one text there are at most, unless a test asks for another number.
MOST = draws(600)

TOO_LONG = "9" * 1_000_001

Path = tuple[str | int, ...]


class Raw(NamedTuple):
    """Text that stands in the JSON as it is, valid or not."""

    text: str


class Pairs(NamedTuple):
    """An object whose keys may be repeated."""

    pairs: list[tuple[str, Any]]


def mutants(text: str, *, words: Sequence[str] = (), most: int = MOST) -> Iterator[tuple[str, str]]:
    """Descriptions and texts; `words` are what a text field might say instead, such as other outcomes.

    >>> [description for description, mutant in mutants('{"rows": 3}') if mutant in ('{"rows": 4}', '{"rows": "3"}')]
    ['$.rows: one more', '$.rows: as text']
    """
    tree = json.loads(text)
    known = sorted({*words, *(value for value in _texts(tree) if len(value) < 40 and not _is_number(value))})
    every: list[tuple[str, Path, Any]] = [(what, (), Raw(whole)) for what, whole in _of_the_text(text)]
    every += _of_the_fields(tree, known)
    # Which ones are left out is drawn, so that no field is spared, and the same every time.
    chosen = range(len(every)) if len(every) <= most else sorted(random.Random(0).sample(range(len(every)), most))
    seen = {hash(text), hash(_written(tree))}
    for what, path, other in (every[place] for place in chosen):
        mutant = _written(_replaced(tree, path, other))
        if hash(mutant) not in seen:
            seen.add(hash(mutant))
            yield what, mutant


def survivors(
    text: str,
    read: Callable[[str], str],
    refusal: type[Exception],
    *,
    words: Sequence[str] = (),
    most: int = MOST,
    beside: Sequence[str] = ("witnesses",),
) -> list[str]:
    """The mutants that were believed though they say something else; the list should be empty.

    `read` takes a text, checks it in full, raises `refusal` or returns the JSON of what it read. Parts named in
    `beside` may differ: another witness may prove the same claims. Any other exception is reported as a survivor too.
    """
    said = _without(json.loads(text), beside)
    believed = []
    for what, mutant in mutants(text, words=words, most=most):
        try:
            again = read(mutant)
        except refusal:
            continue
        except Exception as error:
            believed.append(f"{what}: raised {type(error).__name__}: {error}; {mutant:.300}")
            continue
        if not _same(_without(json.loads(again), beside), said):
            believed.append(f"{what}: believed; {mutant:.300}")
    return believed


def _without(tree: Any, parts: Sequence[str]) -> Any:
    """The same without these parts, also those of a proof inside of a proof."""
    if not isinstance(tree, dict):
        return tree
    return {name: _without(value, parts) for name, value in tree.items() if name not in parts}


def _same(a: Any, b: Any) -> bool:
    """Whether two trees are the same, where 1, 1.0 and true are three things."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


# -- the text as a whole ------------------------------------------------------------------------------------------


def _of_the_text(text: str) -> Iterator[tuple[str, str]]:
    yield "empty", ""
    yield "cut in half", text[: len(text) // 2]
    yield "cut by one character", text[:-1]
    yield "followed by more", text + " {}"
    yield "followed by a comma", text + ","
    yield "in a list", f"[{text}]"
    yield "as text", json.dumps(text)
    yield "null", "null"
    yield "behind a byte order mark", "\ufeff" + text
    yield "nested deep", "[" * 100_000
    yield "nested deep in a field", text[:-1] + ', "more": ' + '{"a":' * 50_000 + "1" + "}" * 50_000 + "}"
    yield "with a character that is none", text[:-1] + ', "\ud800": 1}'
    yield "with spaces", text.replace(",", " , ")


# -- the fields ---------------------------------------------------------------------------------------------------


def _of_the_fields(tree: Any, words: Sequence[str]) -> Iterator[tuple[str, Path, Any]]:
    """What was changed, where, and what stands there now."""
    for path, value in _nodes(tree):
        others = _other(value, words) if path else iter(())
        rebuilt = _rebuilt(value) if isinstance(value, dict) else iter(())
        yield from ((f"{_name(path)}: {what}", path, other) for what, other in itertools.chain(others, rebuilt))


def _nodes(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value with its path; of a list the first, the middle and the last."""
    yield path, tree
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield from _nodes(value, (*path, name))
    if isinstance(tree, list):
        for i in sorted({0, len(tree) // 2, len(tree) - 1} & set(range(len(tree)))):
            yield from _nodes(tree[i], (*path, i))


def _other(value: Any, words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """What may stand in the place of a value."""
    yield from _of_another_kind(value)
    if isinstance(value, bool):
        yield "negated", not value
    elif isinstance(value, int):
        yield from _whole_numbers(value)
    elif isinstance(value, float):
        yield from _floats(value)
    elif isinstance(value, str) and _is_number(value):
        yield from _decimals(value)
    elif isinstance(value, str):
        yield from _other_texts(value, words)
    elif isinstance(value, list):
        yield from _lists(value)


def _of_another_kind(value: Any) -> Iterator[tuple[str, Any]]:
    kinds: list[Any] = [None, True, False, 0, 1, -1, 0.5, "", "0", "1", [], {}, [[]], {"a": 1}]
    for kind in kinds:
        if type(kind) is not type(value):
            yield f"replaced by {json.dumps(kind)}", kind
    for token in ("NaN", "Infinity", "-Infinity", "1e999", "0x10", "01"):
        yield f"replaced by {token}", Raw(token)
    yield "in a list", [value]
    yield "in an object", {"value": value}
    yield "nested deep", Raw("[" * 2_000 + "]" * 2_000)


def _whole_numbers(value: int) -> Iterator[tuple[str, Any]]:
    yield "one more", value + 1
    yield "one less", value - 1
    yield "with the other sign", -value
    yield "doubled", 2 * value
    yield "as text", str(value)
    yield "with a point", float(value)
    yield "as true or false", bool(value)
    yield "a little more", value + 0.25
    yield "beyond 64 bits", value + 2**64
    yield "beyond floats", 10**400
    yield "of many digits", Raw("9" * 5000)


def _floats(value: float) -> Iterator[tuple[str, Any]]:
    yield "one unit in the last place more", math.nextafter(value, math.inf)
    yield "one unit in the last place less", math.nextafter(value, -math.inf)
    yield "one percent more", value * 1.01
    yield "one percent less", value * 0.99
    yield "with the other sign", -value
    for scale in (2.0, 0.5, 1e-200):
        yield f"times {scale}", value * scale
    for other in (0.0, -0.0, 1.0, -1.0, 5e-324, 1e-100, 1.7976931348623157e308, -1.7976931348623157e308):
        yield f"replaced by {other}", other
    yield "as text", repr(value)
    yield "as a whole number", int(value)
    yield "as a very long number", Raw(f"{int(value)}." + "0" * 100 + "1")


def _decimals(value: str) -> Iterator[tuple[str, Any]]:
    number = int(value)
    yield "one more", str(number + 1)
    yield "one less", str(number - 1)
    yield "with the other sign", str(-number)
    yield "doubled", str(2 * number)
    yield "times 10", value + "0"
    yield "0", "0"
    yield "1", "1"
    yield "as a number", number
    yield "as a number with a point", float(number) if number.bit_length() < 1000 else 0.5
    for before, after in (("0", ""), ("+", ""), (" ", ""), ("", " "), ("", "\n"), ("", ".0"), ("", "e0"), ("--", "")):
        yield f"written {before}...{after}", before + value + after
    yield "with an underscore", value[:1] + "_" + value[1:]
    yield "in other digits", value.translate({ord(str(d)): chr(0x660 + d) for d in range(10)})
    yield "nan", "nan"
    yield "a fraction", value + "/2"
    yield "of many digits", "1" + "0" * 6000
    yield "of too many digits", TOO_LONG


def _other_texts(value: str, words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for word in words:
        if word != value:
            yield f"replaced by {word!r}", word
    yield "with a letter more", value + "x"
    yield "with a letter less", value[:-1]
    yield "in capitals", value.upper()
    yield "in small letters", value.lower()
    yield "with a space", value + " "
    yield "with a character 0", value + "\0"
    yield "with an escape", value + "\x1b[2J"
    if value:
        yield "with another first letter", ("1" if value[0] != "1" else "2") + value[1:]
        yield "with another last letter", value[:-1] + ("1" if value[-1] != "1" else "2")
    yield "very long", value + "x" * 10_000


def _lists(values: list[Any]) -> Iterator[tuple[str, Any]]:
    yield "without the first", values[1:]
    yield "without the last", values[:-1]
    yield "reversed", values[::-1]
    yield "rotated", values[1:] + values[:1]
    yield "with the first two swapped", [*values[1::-1], *values[2:]]
    yield "twice", values + values
    yield "with the last one again", values + values[-1:]
    yield "with the first one again, in front", values[:1] + values
    yield "with null at the end", [*values, None]
    yield "with 0 at the end", [*values, 0]
    yield "with text 0 at the end", [*values, "0"]
    yield "all the first", values[:1] * len(values)
    for what, factor in (("all with the other sign", -1), ("all doubled", 2), ("all 0", 0)):
        yield what, [_times(value, factor) for value in values]
    yield "as an object", {str(i): value for i, value in enumerate(values)}


def _times(value: Any, factor: int) -> Any:
    """A number of whatever kind, times a factor; of a list (a fraction, a row) the first number."""
    if isinstance(value, str) and _is_number(value):
        return str(factor * int(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return factor * value
    if isinstance(value, list) and value:
        return [_times(value[0], factor), *value[1:]]
    return value


def _rebuilt(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What may stand in the place of an object: fields dropped, renamed, repeated, added, exchanged."""
    pairs = list(fields.items())
    for i, (name, value) in enumerate(pairs):
        others = pairs[:i] + pairs[i + 1 :]
        yield f"without {name}", Pairs(others)
        yield f"{name} renamed", Pairs([*others, (name + "_", value)])
        yield f"{name} in capitals", Pairs([*others, (name.upper(), value)])
        yield f"{name} twice", Pairs([*pairs, (name, value)])
        yield f"{name} twice, first null", Pairs([(name, None), *pairs])
        yield f"{name} twice, then null", Pairs([*pairs, (name, None)])
    yield "with a field more", Pairs([*pairs, ("more", 1)])
    yield "with a field more that is null", Pairs([*pairs, ("more", None)])
    yield "with a field without a name", Pairs([*pairs, ("", 1)])
    yield "in the other order", Pairs(pairs[::-1])
    yield "as a list", [list(pair) for pair in pairs]
    yield "empty", Pairs([])
    for (one, value), (two, other) in itertools.combinations(pairs, 2):
        if not _same(value, other):
            yield f"{one} and {two} exchanged", {**fields, one: other, two: value}
            yield f"{one} as {two}", {**fields, one: other}


# -- trees --------------------------------------------------------------------------------------------------------


def _replaced(tree: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    changed = dict(tree) if isinstance(tree, dict) else list(tree)
    changed[path[0]] = _replaced(tree[path[0]], path[1:], value)
    return changed


def _written(tree: Any) -> str:
    if isinstance(tree, Raw):
        return tree.text
    if isinstance(tree, Pairs | dict):
        pairs = tree.pairs if isinstance(tree, Pairs) else tree.items()
        return "{" + ", ".join(f"{json.dumps(name)}: {_written(value)}" for name, value in pairs) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(_written, tree)) + "]"
    return json.dumps(tree)


def _texts(tree: Any) -> Iterator[str]:
    return (value for _, value in _nodes(tree) if isinstance(value, str))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,4000}", text) is not None


def _name(path: Path) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
