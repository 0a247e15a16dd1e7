"""Feature templates: which parts of a token and its neighbours become features.

A template is a conjunction of parts, joined by `|`. A part is a column and an offset, `w[-1]`: the value that column w
has one token before. Functions of a value may be wrapped around it: `suffix2(w[0])`, `shape(w[0])`,
`prefix3(lower(w[0]))`. The feature of a token is the template and the values found there: `w[-1]|w[0]=the|cat`. Before
the first token are the values `_B-1`, `_B-2`, ..., after the last one `_B+1`, `_B+2`, ...

The work is done column by column. Values become integers once, functions are applied to the values of a vocabulary and
not to tokens, a conjunction is one integer key per token, and keys are mapped to features by counting or sorting them.
Features are numbered template by template, the most frequent first, for memory locality.

Templates are given by the caller, read from a file in our format or that of CRF++, or derived from the columns.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rows import as_rows
from novikoff.features.tokens import TokenColumns, Tokens

# Keys below this are counted in a table, keys above are sorted.
TABLE = 1 << 21
# Keys of more than this many values would not fit into 64 bits together with another part.
LARGEST_KEY = 1 << 62

ABSENT = -1

Source = tuple[str, tuple[str, ...]]  # a column and functions of its values


def lower(word: str) -> str:
    """Return the word in lower case."""
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
class Lookup:
    """From keys to numbers, the most frequent key first: `keys` ascend, and `numbers` belong to them."""

    keys: NDArray[np.int64]
    numbers: NDArray[np.int32]

    @classmethod
    def count(cls, keys: NDArray[np.int64], n_keys: int, min_count: int = 1) -> "Lookup":
        """Number the keys that occur at least `min_count` times."""
        keys = keys[keys != ABSENT]
        if n_keys <= TABLE:
            counts = np.bincount(keys, minlength=n_keys)
            kept = np.flatnonzero(counts >= min_count)
            counts = counts[kept]
        else:
            kept, counts = np.unique(keys, return_counts=True)
            kept, counts = kept[counts >= min_count], counts[counts >= min_count]
        numbers = np.empty(len(kept), dtype=np.int32)
        numbers[np.argsort(-counts, kind="stable")] = np.arange(len(kept), dtype=np.int32)
        return cls(kept, numbers)

    @classmethod
    def learn(cls, keys: NDArray[np.int64], n_keys: int, min_count: int = 1) -> tuple["Lookup", NDArray[np.int32]]:
        """Number the keys that occur at least `min_count` times, and return the number of every key, or `ABSENT`."""
        lookup = cls.count(keys, n_keys, min_count)
        return lookup, lookup.find(keys, n_keys)

    def find(self, keys: NDArray[np.int64], n_keys: int) -> NDArray[np.int32]:
        """Return the number of every key, or `ABSENT`."""
        if not len(self.keys):
            return np.full(len(keys), ABSENT, dtype=np.int32)
        if n_keys <= TABLE:
            table = np.full(n_keys + 1, ABSENT, dtype=np.int32)  # the last entry is that of absent keys
            table[self.keys] = self.numbers
            return table[keys]
        places = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.numbers[places], np.int32(ABSENT))

    def keep(self, wanted: NDArray[np.bool_]) -> "Lookup":
        """Keep only the wanted numbers, renumbered without gaps."""
        renumbered = np.cumsum(wanted, dtype=np.int32) - np.int32(1)
        stay = wanted[self.numbers]
        return Lookup(self.keys[stay], renumbered[self.numbers[stay]])


@dataclass(frozen=True)
class Vocabulary:
    """The values of a column, numbered; the numbers after them are the places outside a sequence."""

    numbers: dict[str, int]
    reach: int

    @property
    def size(self) -> int:
        return len(self.numbers) + 2 * self.reach

    def shifted(self, values: NDArray[np.int64], starts: NDArray[np.int64], offset: int) -> NDArray[np.int64]:
        """Return for every token the number `offset` tokens later, or that of a place outside the sequence."""
        if offset == 0 or not len(values):
            return values
        result = np.empty_like(values)
        if offset < 0:
            result[-offset:] = values[:offset]
            first, distances = starts[:-1], range(-offset, 0, -1)
        else:
            result[:-offset] = values[offset:]
            first, distances = starts[1:] - 1, range(offset, 0, -1)
        lengths = np.diff(starts)
        outside = len(self.numbers) + (self.reach if offset > 0 else 0)
        for inside, distance in enumerate(distances):
            edge = first + (inside if offset < 0 else -inside)
            result[edge[lengths > inside]] = outside + distance - 1
        return result

    def names(self) -> list[str]:
        before = [f"_B-{distance}" for distance in range(1, self.reach + 1)]
        after = [f"_B+{distance}" for distance in range(1, self.reach + 1)]
        return [*self.numbers, *before, *after]


@dataclass(frozen=True)
class TemplateIndex:
    """Templates with the features seen in training, to encode tokens as rows.

    `stages[k]` are the look-ups of template k: those that shorten keys too long for 64 bits, then the one that numbers
    its features.
    """

    templates: tuple[Template, ...]
    vocabularies: dict[Source, Vocabulary]
    stages: tuple[tuple[Lookup, ...], ...]
    _names: list[str] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def learn(cls, texts: Sequence[str], columns: TokenColumns, min_count: int = 1) -> tuple["TemplateIndex", Tokens]:
        """Learn the features, and return the tokens encoded by them."""
        templates = tuple(map(parse_template, texts))
        nothing = Lookup(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
        return cls(templates, {}, tuple((nothing,) for _ in templates)).grow(columns, min_count)[:2]

    def grow(self, columns: TokenColumns, min_count: int = 1) -> tuple["TemplateIndex", Tokens, NDArray[np.int64]]:
        """Return the features already known with those of new tokens, the tokens encoded by them, and the new number of
        every known feature. Known features always count as frequent enough."""
        vocabularies, numbers = _learn_vocabularies(self.templates, columns, self.vocabularies)
        tokens = _NumberedTokens(vocabularies, numbers, columns.starts)
        stages, found, known = [], [], []
        for template, lookups in zip(self.templates, self.stages, strict=True):
            apart = [np.repeat(values, min_count) for values in _renumbered(template, self, vocabularies, lookups)]
            n_known = len(apart[0])
            keys, n_keys, shorter = tokens.learn_keys(template, apart)
            last, numbers_found = Lookup.learn(keys, n_keys, min_count)
            stages.append((*shorter, last))
            known.append(numbers_found[:n_known:min_count].astype(np.int64))
            found.append(numbers_found[n_known:])
        index = TemplateIndex(self.templates, vocabularies, tuple(stages))
        offsets = np.cumsum([0, *index.counts[:-1]])
        moved = np.concatenate([part + offset for part, offset in zip(known, offsets, strict=True)])
        return index, index._as_tokens(found, columns.starts), moved

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns used by the templates."""
        return needed_columns(self.templates)

    @property
    def counts(self) -> list[int]:
        """The number of features of every template."""
        return [len(lookups[-1].keys) for lookups in self.stages]

    @property
    def n_columns(self) -> int:
        return sum(self.counts)

    def encode(self, columns: TokenColumns) -> Tokens:
        """Encode tokens as rows; features not seen in training are omitted."""
        numbers = {}
        distinct = {name: _distinct(columns.values[name]) for name in self.needed}
        for source, vocabulary in self.vocabularies.items():
            values, places = distinct[source[0]]
            known = [vocabulary.numbers.get(value, ABSENT) for value in _apply(source[1], values)]
            numbers[source] = np.array(known, dtype=np.int64)[places]
        numbered, found = _NumberedTokens(self.vocabularies, numbers, columns.starts), []
        for template, lookups in zip(self.templates, self.stages, strict=True):
            keys, n_keys, _ = numbered.keys(template, lookups[:-1])
            found.append(lookups[-1].find(keys, n_keys))
        return self._as_tokens(found, columns.starts)

    def _as_tokens(self, found: list[NDArray[np.int32]], starts: NDArray[np.int64]) -> Tokens:
        from scipy.sparse import csr_array

        n_tokens, offset = int(starts[-1]), 0
        table = np.empty((n_tokens, len(found)), dtype=np.int32)
        for place, (numbers, count) in enumerate(zip(found, self.counts, strict=True)):
            np.add(numbers, np.int32(offset), out=table[:, place], where=numbers != ABSENT)
            table[numbers == ABSENT, place] = ABSENT
            offset += count
        present = table != ABSENT
        pointers = np.zeros(n_tokens + 1, dtype=np.int32)
        np.cumsum(present.sum(axis=1), out=pointers[1:])
        indices = table.ravel() if present.all() else table[present]
        ones = np.ones(len(indices), dtype=np.float32)
        return Tokens(as_rows(csr_array((ones, indices, pointers), shape=(n_tokens, offset))), starts)

    def names(self) -> list[str]:
        """Return the names of all features."""
        if not self._names and self.n_columns:
            for template, lookups in zip(self.templates, self.stages, strict=True):
                self._names.extend(_written_out(template, self.vocabularies, lookups))
        return self._names

    def keep(self, wanted: NDArray[np.bool_]) -> "TemplateIndex":
        """Return the same templates with only the wanted features, renumbered without gaps."""
        edges = np.concatenate([[0], np.cumsum(self.counts)])
        kept = []
        for number, lookups in enumerate(self.stages):
            kept.append((*lookups[:-1], lookups[-1].keep(wanted[edges[number] : edges[number + 1]])))
        return TemplateIndex(self.templates, self.vocabularies, tuple(kept))


def needed_columns(templates: Sequence[Template]) -> tuple[str, ...]:
    """Return the columns used by templates."""
    return tuple(dict.fromkeys(part.column for template in templates for part in template.parts))


def _distinct(values: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct values, and for every token the index of its value."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return list(numbers), np.fromiter(map(numbers.__getitem__, values), dtype=np.int64, count=len(values))


def _apply(functions: tuple[str, ...], values: list[str]) -> list[str]:
    for name in functions:
        function = word_function(name)
        assert function is not None
        values = [function(value) for value in values]
    return values


def _learn_vocabularies(
    templates: Sequence[Template], columns: TokenColumns, known: Mapping[Source, Vocabulary]
) -> tuple[dict[Source, Vocabulary], dict[Source, NDArray[np.int64]]]:
    """Return the vocabulary of every column under every chain of functions, known values first, and tokens' numbers."""
    distinct = {name: _distinct(columns.values[name]) for name in needed_columns(templates)}
    vocabularies, numbers = {}, {}
    parts = [part for template in templates for part in template.parts]
    for source in dict.fromkeys(part.source for part in parts):
        values, places = distinct[source[0]]
        names, renamed = _distinct(_apply(source[1], values))
        reach = max(abs(part.offset) for part in parts if part.source == source)
        before = known[source].numbers if source in known else {}
        all_names = dict.fromkeys([*before, *names])
        vocabularies[source] = Vocabulary({name: number for number, name in enumerate(all_names)}, reach)
        if before:
            renamed = np.array([vocabularies[source].numbers[name] for name in names], dtype=np.int64)[renamed]
        numbers[source] = renamed[places]
    return vocabularies, numbers


def _renumbered(
    template: Template, index: TemplateIndex, grown: Mapping[Source, Vocabulary], lookups: tuple[Lookup, ...]
) -> list[NDArray[np.int64]]:
    """Return the values of every part in the features of a template, numbered by the extended vocabularies."""
    if not len(lookups[-1].keys):
        return [np.zeros(0, dtype=np.int64) for _ in template.parts]
    apart = _taken_apart(template, index.vocabularies, lookups)
    return [  # the places outside a sequence come after all values
        np.where(values < len(old.numbers), values, values + len(grown[part.source].numbers) - len(old.numbers))
        for part, values in zip(template.parts, apart, strict=True)
        for old in (index.vocabularies[part.source],)
    ]


@dataclass(frozen=True)
class _NumberedTokens:
    """Tokens whose values are numbered by vocabularies."""

    vocabularies: dict[Source, Vocabulary]
    numbers: dict[Source, NDArray[np.int64]]
    starts: NDArray[np.int64]

    def learn_keys(
        self, template: Template, known: Sequence[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], int, list[Lookup]]:
        """Return the key of every token, the number of possible keys, and the look-ups needed to keep them short.

        Known features precede the tokens, as values of their parts.
        """
        lookups: list[Lookup] = []
        while True:
            keys, n_keys, done = self.keys(template, lookups, known)
            if done:
                return keys, n_keys, lookups
            lookups.append(Lookup.count(keys, n_keys))

    def keys(
        self, template: Template, lookups: Sequence[Lookup], known: Sequence[NDArray[np.int64]] = ()
    ) -> tuple[NDArray[np.int64], int, bool]:
        """Return keys of as many parts as fit into 64 bits with the given look-ups, and whether these are all parts."""
        before = len(known[0]) if known else 0
        keys, n_keys = np.zeros(before + int(self.starts[-1]), dtype=np.int64), 1
        absent = np.zeros(len(keys), dtype=bool)
        remaining = list(lookups)
        for place, part in enumerate(template.parts):
            vocabulary = self.vocabularies[part.source]
            if n_keys * vocabulary.size > LARGEST_KEY:
                if not remaining:
                    return np.where(absent, ABSENT, keys), n_keys, False
                lookup = remaining.pop(0)
                shorter = lookup.find(np.where(absent, ABSENT, keys), n_keys)
                absent |= shorter == ABSENT
                keys, n_keys = shorter.astype(np.int64), max(len(lookup.keys), 1)
            values = vocabulary.shifted(self.numbers[part.source], self.starts, part.offset)
            if before:
                values = np.concatenate([known[place], values])
            absent |= values == ABSENT
            keys = keys * vocabulary.size + values
            n_keys *= vocabulary.size
        return (np.where(absent, ABSENT, keys) if absent.any() else keys), n_keys, True


def _taken_apart(
    template: Template, vocabularies: Mapping[Source, Vocabulary], lookups: tuple[Lookup, ...]
) -> list[NDArray[np.int64]]:
    """Decompose the keys of a template's features into the values of their parts, the last part first."""
    last = lookups[-1]
    keys = np.empty(len(last.keys), dtype=np.int64)
    keys[last.numbers] = last.keys
    n_keys, stage = [1], []
    for part in template.parts:  # where a look-up shortened the keys
        size = vocabularies[part.source].size
        shortened = n_keys[-1] * size > LARGEST_KEY
        stage.append(shortened)
        n_keys.append((len(lookups[sum(stage) - 1].keys) if shortened else n_keys[-1]) * size)
    columns = []
    shorter = list(lookups[:-1])
    for part, shortened in zip(reversed(template.parts), reversed(stage), strict=True):
        keys, values = np.divmod(keys, vocabularies[part.source].size)
        columns.append(values)
        if shortened:
            lookup = shorter.pop()
            longer = np.empty(len(lookup.keys), dtype=np.int64)
            longer[lookup.numbers] = lookup.keys
            keys = longer[keys]
    return columns[::-1]


def _written_out(template: Template, vocabularies: dict[Source, Vocabulary], lookups: tuple[Lookup, ...]) -> list[str]:
    """Return the names of a template's features, by number."""
    columns = []
    for part, values in zip(template.parts, _taken_apart(template, vocabularies, lookups), strict=True):
        names = vocabularies[part.source].names()
        columns.append([names[value] for value in values.tolist()])
    return [f"{template.text}={'|'.join(values)}" for values in zip(*columns, strict=True)]


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
