"""Feature templates: which parts of a token and its neighbours become features.

A template is a conjunction of parts, joined by `|`. A part is a column and an offset, `w[-1]`: the value that column w
has one token before. Functions of a value may be wrapped around it: `suffix2(w[0])`, `shape(w[0])`,
`prefix3(lower(w[0]))`. The feature of a token is the template and the values found there: `w[-1]|w[0]=the|cat`. Before
the first token are the values `_B-1`, `_B-2`, ..., after the last one `_B+1`, `_B+2`, ...

The work is done column by column: values become integers, and functions are applied to the values of a vocabulary and
not to tokens. Features are numbered template by template, the most frequent first, for memory locality.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novikoff.data.sentences import Sentences
from novikoff.engine.rows import as_rows
from novikoff.features.tokens import Tokens

# Keys below this are looked up in a table, others among sorted ones.
TABLE = 1 << 21

ABSENT = -1

Numbers = NDArray[np.int64]
Source = tuple[str, tuple[str, ...]]  # a column and functions of its values


def lower(word: str) -> str:
    return word.lower()


def shape(word: str) -> str:
    """Replace capitals by X, small letters by x, digits by d, and collapse each run of equal characters.

    >>> shape("McDonald's"), shape("1,000.50"), shape("U.S.")
    ("XxXx'x", 'd,d.d', 'X.X.')
    """
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return "".join(kind for kind, _ in groupby(kinds))


def word_function(name: str) -> Callable[[str], str] | None:
    """Return a function of a word by its name: lower, shape, prefix1, prefix2, ..., suffix1, suffix2, ..."""
    cut = re.fullmatch(r"(prefix|suffix)([1-9]\d*)", name)
    if cut is None:
        return {"lower": lower, "shape": shape}.get(name)
    length = int(cut[2])
    return (lambda word: word[:length]) if cut[1] == "prefix" else (lambda word: word[-length:])


@dataclass(frozen=True)
class TemplatePart:
    """The value of a column at an offset, after applying functions; the innermost comes first."""

    column: str
    offset: int
    functions: tuple[str, ...] = ()

    @property
    def source(self) -> Source:
        """What the vocabulary depends on: the offset does not matter."""
        return self.column, self.functions


@dataclass(frozen=True)
class Template:
    """A conjunction of parts, and its text."""

    text: str
    parts: tuple[TemplatePart, ...]


def parse_template(text: str) -> Template:
    """Parse a template.

    >>> parse_template("p[-1]|suffix2(lower(w[0]))").parts[1]
    TemplatePart(column='w', offset=0, functions=('lower', 'suffix2'))
    """
    text = "".join(text.split())
    return Template(text, tuple(_parse_part(part, text) for part in text.split("|")))


def _parse_part(text: str, template: str) -> TemplatePart:
    functions = []
    inner = text
    while (call := re.fullmatch(r"(\w+)\((.*)\)", inner)) is not None:
        if word_function(call[1]) is None:
            raise ValueError(
                f"template {template!r}: the function {call[1]!r} is unknown; there are lower, shape, "
                "prefix1, prefix2, ... and suffix1, suffix2, ..."
            )
        functions.append(call[1])
        inner = call[2]
    place = re.fullmatch(r"([^\[\]()|=]+)\[([+-]?\d+)\]", inner)
    if place is None:
        raise ValueError(
            f"template {template!r}: {text!r} is not a part; write a column and an offset, such as w[0] or p[-1], "
            "perhaps inside a function, such as suffix2(w[0])"
        )
    return TemplatePart(place[1], int(place[2]), tuple(reversed(functions)))


@dataclass(frozen=True)
class Vocabulary:
    """The values of a column, numbered; the numbers after them are the places outside a sequence."""

    numbers: dict[str, int]
    reach: int

    @property
    def size(self) -> int:
        return len(self.numbers) + 2 * self.reach

    def shifted(self, values: Numbers, before: Numbers, after: Numbers, offset: int) -> Numbers:
        """Return for every token the number `offset` tokens later, or that of a place outside the sequence, which has
        so many tokens `before` and `after` each."""
        beyond = abs(offset) - (before if offset < 0 else after)
        outside = len(self.numbers) + (self.reach if offset > 0 else 0) + beyond - 1
        return np.where(beyond > 0, outside, np.roll(values, -offset)) if offset else values

    def names(self) -> list[str]:
        return [*self.numbers, *(f"_B{sign}{distance}" for sign in "-+" for distance in range(1, self.reach + 1))]


@dataclass(frozen=True)
class TemplateIndex:
    """Templates with the features seen in training, to encode tokens as rows.

    `features` has for every template the values of its parts in each of its features, by their `vocabularies`.
    """

    templates: tuple[Template, ...]
    vocabularies: dict[Source, Vocabulary]
    features: tuple[NDArray[np.int32], ...]

    @classmethod
    def learn(cls, texts: Sequence[str], columns: Sentences, min_count: int = 1) -> tuple["TemplateIndex", Tokens]:
        """Learn the features, and return the tokens encoded by them."""
        templates = tuple(map(parse_template, texts))
        vocabularies = {source: Vocabulary({}, reach) for source, reach in reaches(templates).items()}
        nothing = tuple(np.zeros((0, len(template.parts)), dtype=np.int32) for template in templates)
        return cls(templates, vocabularies, nothing).grow(columns, min_count)[:2]

    def grow(self, columns: Sentences, min_count: int = 1) -> tuple["TemplateIndex", Tokens, Numbers]:
        """Return the features already known with those of new tokens, the tokens encoded by them, and the new number of
        every known feature. Known features always count as frequent enough."""
        vocabularies = {}
        for source, known in self.vocabularies.items():
            names = dict.fromkeys([*known.numbers, *_apply(source[1], list(dict.fromkeys(columns.values[source[0]])))])
            vocabularies[source] = Vocabulary({name: number for number, name in enumerate(names)}, known.reach)
        index = TemplateIndex(self.templates, vocabularies, ())
        features, found, moved, offset = [], [], [], 0
        for number, (template, values) in enumerate(zip(self.templates, index._values(columns), strict=True)):
            before = self._renumbered(number, vocabularies)
            rows = [np.concatenate(parts) for parts in zip(before.T, values, strict=True)]
            _, numbers = _numbered(rows, index._sizes(template))
            counts = np.bincount(numbers)
            counts[numbers[: len(before)]] += min_count - 1
            order = np.argsort(-counts, kind="stable")
            kept, places, example = order[counts[order] >= min_count], np.full(len(counts), ABSENT), order.copy()
            places[kept], example[numbers] = np.arange(len(kept)), np.arange(len(numbers))
            features.append(np.stack([part[example[kept]] for part in rows], axis=1).astype(np.int32))
            moved.append(places[numbers[: len(before)]] + offset)
            found.append(places[numbers[len(before) :]])
            offset += len(kept)
        index = replace(index, features=tuple(features))
        return index, index._as_tokens(found, columns.starts), np.concatenate(moved)

    @property
    def needed(self) -> tuple[str, ...]:
        return needed_columns(self.templates)

    @property
    def n_columns(self) -> int:
        return sum(map(len, self.features))

    def encode(self, columns: Sentences) -> Tokens:
        """Encode tokens as rows; features not seen in training are omitted."""
        parts = zip(self._lookups, self._values(columns), strict=True)
        return self._as_tokens([lookup.find(values) for lookup, values in parts], columns.starts)

    def keep(self, wanted: NDArray[np.bool_]) -> "TemplateIndex":
        """Return the same templates with only the wanted features, renumbered without gaps."""
        edges = np.cumsum([len(features) for features in self.features])[:-1]
        kept = [features[stay] for features, stay in zip(self.features, np.split(wanted, edges), strict=True)]
        return replace(self, features=tuple(kept))

    def names(self) -> list[str]:
        return self._names

    @cached_property
    def _names(self) -> list[str]:
        written = {source: vocabulary.names() for source, vocabulary in self.vocabularies.items()}
        found: list[str] = []
        for template, features in zip(self.templates, self.features, strict=True):
            names = [written[part.source] for part in template.parts]
            rows = (zip(names, row, strict=True) for row in features.tolist())
            found.extend(f"{template.text}={'|'.join(of[value] for of, value in row)}" for row in rows)
        return found

    @cached_property
    def _lookups(self) -> list["Lookup"]:
        return [Lookup.of(*pair) for pair in zip(self.features, map(self._sizes, self.templates), strict=True)]

    def _sizes(self, template: Template) -> list[int]:
        return [self.vocabularies[part.source].size for part in template.parts]

    def _values(self, columns: Sentences) -> Iterator[list[Numbers]]:
        """Yield, for every template, the values of its parts at every token; `ABSENT` if not seen in training."""
        distinct = {name: _distinct(columns.values[name]) for name in self.needed}
        numbers = {}
        for source, vocabulary in self.vocabularies.items():
            values, places = distinct[source[0]]
            known = [vocabulary.numbers.get(value, ABSENT) for value in _apply(source[1], values)]
            numbers[source] = np.array(known, dtype=np.int64)[places]
        lengths, places = np.diff(columns.starts), np.arange(columns.starts[-1])
        before = places - np.repeat(columns.starts[:-1], lengths)
        after = np.repeat(lengths, lengths) - before - 1
        for template in self.templates:
            yield [
                self.vocabularies[part.source].shifted(numbers[part.source], before, after, part.offset)
                for part in template.parts
            ]

    def _renumbered(self, number: int, grown: Mapping[Source, Vocabulary]) -> NDArray[np.int32]:
        """Return the features of a template by larger vocabularies: places outside come after all values."""
        features = self.features[number].copy()
        for part, values in zip(self.templates[number].parts, features.T, strict=True):
            n_known, n_now = (len(of[part.source].numbers) for of in (self.vocabularies, grown))
            values[values >= n_known] += n_now - n_known
        return features

    def _as_tokens(self, found: list[Numbers], starts: Numbers) -> Tokens:
        from scipy.sparse import csr_array

        n_tokens, offset = int(starts[-1]), 0
        table = np.empty((n_tokens, len(found)), dtype=np.int32)
        for place, (numbers, features) in enumerate(zip(found, self.features, strict=True)):
            table[:, place] = np.where(numbers == ABSENT, ABSENT, numbers + offset)
            offset += len(features)
        present = table != ABSENT
        pointers = np.zeros(n_tokens + 1, dtype=np.int32)
        np.cumsum(present.sum(axis=1), out=pointers[1:])
        indices = table[present]
        ones = np.ones(len(indices), dtype=np.float32)
        return Tokens(as_rows(csr_array((ones, indices, pointers), shape=(n_tokens, offset))), starts)


class Lookup(NamedTuple):
    """How the features of a template are found, part by part, by the number of the parts so far.

    That of the first part is its value. With each of the other parts it makes a key: the number, times the size of a
    vocabulary, plus a value. The place of a key among those that occur, the `steps`, is the next number; the last one
    has its feature in `features`.
    """

    steps: list[Numbers]
    sizes: list[int]
    features: Numbers

    @classmethod
    def of(cls, features: NDArray[np.int32], sizes: list[int]) -> "Lookup":
        steps, numbers = _numbered(features.T, sizes)
        found = np.full(1 + (len(steps[-1]) if steps else sizes[0]), ABSENT)
        found[numbers] = np.arange(len(features))
        return cls(steps, sizes, found)

    def find(self, columns: Sequence[Numbers]) -> Numbers:
        """Return the feature of every token with these values, or `ABSENT`."""
        numbers, n_numbers = columns[0], self.sizes[0]
        for keys, size, column in zip(self.steps, self.sizes[1:], columns[1:], strict=True):
            wanted = np.where((numbers == ABSENT) | (column == ABSENT), ABSENT, numbers * size + column)
            if n_numbers * size <= TABLE:
                table = np.full(n_numbers * size + 1, ABSENT)  # the last entry is that of absent keys
                table[keys] = np.arange(len(keys))
                numbers = table[wanted]
            else:
                places = np.searchsorted(keys, wanted)
                numbers = np.where(np.append(keys, ABSENT)[places] == wanted, places, ABSENT)
            n_numbers = len(keys)
        return self.features[numbers]


def _numbered(columns: Sequence[NDArray[Any]] | NDArray[Any], sizes: Sequence[int]) -> tuple[list[Numbers], Numbers]:
    """Return the keys of every part but the first, and the number of every row, in ascending order of values."""
    steps, numbers = [], columns[0].astype(np.int64)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        keys, numbers = np.unique(numbers * size + column, return_inverse=True)
        steps.append(keys)
    return steps, numbers


def needed_columns(templates: Sequence[Template]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.column for template in templates for part in template.parts))


def reaches(templates: Sequence[Template]) -> dict[Source, int]:
    """Return the columns with their functions, in the order of the templates, and how far templates look in each."""
    found: dict[Source, int] = {}
    for part in (part for template in templates for part in template.parts):
        found[part.source] = max(found.get(part.source, 0), abs(part.offset))
    return found


def _distinct(values: Sequence[str]) -> tuple[list[str], Numbers]:
    """Return the distinct values, and for every token the index of its value."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return list(numbers), np.fromiter(map(numbers.__getitem__, values), dtype=np.int64, count=len(values))


def _apply(functions: tuple[str, ...], values: list[str]) -> list[str]:
    for name in functions:
        function = word_function(name)
        assert function is not None
        values = [function(value) for value in values]
    return values


OF_WORDS = ("{0}[-2]", "{0}[-1]", "{0}[0]", "{0}[1]", "{0}[2]", "{0}[-1]|{0}[0]", "{0}[0]|{0}[1]")
AFFIXES = ("prefix2({0}[0])", "prefix3({0}[0])", "suffix2({0}[0])", "suffix3({0}[0])", "shape({0}[0])")
OF_TAGS = (
    *("{0}[-2]", "{0}[-1]", "{0}[0]", "{0}[1]", "{0}[2]"),
    *("{0}[-2]|{0}[-1]", "{0}[-1]|{0}[0]", "{0}[0]|{0}[1]", "{0}[1]|{0}[2]"),
    *("{0}[-2]|{0}[-1]|{0}[0]", "{0}[-1]|{0}[0]|{0}[1]", "{0}[0]|{0}[1]|{0}[2]"),
)
OF_OTHERS = ("{0}[-1]", "{0}[0]", "{0}[1]")

# A line of CRF++: U or B, a name, and perhaps a colon with a template.
CRFPP = re.compile(r"[UB]\w*(:.*)?")
LOOK = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")


def default_templates(columns: Sequence[str]) -> list[str]:
    """Return default templates: the first column is taken for words, the second for tags.

    For words, they are neighbours, pairs, affixes and shapes; for tags, neighbours, pairs and triples; for other
    columns, neighbours.

    >>> templates = default_templates(("word", "pos", "lemma"))
    >>> len(templates), templates[2], templates[7], templates[12], templates[-1]
    (27, 'word[0]', 'prefix2(word[0])', 'pos[-2]', 'lemma[1]')
    """
    if not columns:
        raise ValueError(
            "there are no templates, and no columns to learn from are named; pass templates=, or columns= with "
            "the names of all columns but that of the labels"
        )
    kinds = (OF_WORDS + AFFIXES, OF_TAGS, *(OF_OTHERS for _ in columns[2:]))
    return [text.format(column) for column, kind in zip(columns, kinds, strict=False) for text in kind]


def read_templates(path: str | os.PathLike[str], columns: Sequence[str] = ()) -> list[str]:
    """Read templates from a file, one per line, in our format or that of CRF++, whose numbered columns get the names
    `columns`. Empty lines and lines that begin with # are skipped."""
    templates = translated(Path(path).read_text(encoding="utf-8").splitlines(), columns)
    if not templates:
        raise ValueError(f"{path} has no templates; write one per line, such as word[0] or pos[-1]|pos[0]")
    return templates


def translated(lines: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Translate templates to our format. Lines of CRF++ give columns by number; `B` makes a label depend on the one
    before it, which is always the case here.

    >>> translated(["# words", "U00:%x[-1,0]/%x[0,0]", "U01:%x[0,1]", "B", "suffix2(w[0])"], ("w", "p"))
    ['w[-1]|w[0]', 'p[0]', 'suffix2(w[0])']
    """
    stripped = (line.strip() for line in lines)
    found = [_translated(line, columns) for line in stripped if line and not line.startswith("#")]
    return list(dict.fromkeys(template for template in found if template is not None))


def _translated(line: str, columns: Sequence[str]) -> str | None:
    if not CRFPP.fullmatch(line) or not ("%x" in line or ":" in line or line == "B"):
        return line
    looks = LOOK.findall(line)
    if line.startswith("B"):
        if looks:
            raise ValueError(
                f"template {line!r}: features of two labels and a token are not supported; "
                "B alone is, and always applies"
            )
        return None
    if not looks:
        raise ValueError(f"template {line!r} refers to nothing; write %x[0,0] for the first column of the token")
    for _, column in looks:
        if int(column) >= len(columns):
            named = f"there are {', '.join(columns)}" if columns else "columns= does not name any"
            raise ValueError(f"template {line!r} refers to column {column}, counting from 0, and {named}")
    return "|".join(f"{columns[int(column)]}[{int(offset)}]" for offset, column in looks)
