"""Files of sentences: those of the CoNLL shared tasks, plain text, and CoNLL-U.

The CoNLL shared tasks have one token a line, its columns side by side, and an empty line after each sentence. CoNLL-U,
the format of Universal Dependencies, has ten columns, comments, multiword tokens and empty nodes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from novikoff.data.sentences import Sentences, Source, check_writable, read_text, shown, write_text

# The default names of columns, if there are two of them, and otherwise.
TWO_COLUMNS, COLUMNS = ("word", "label"), ("word", "pos", "chunk")

# How many characters are split at a time.
BLOCK = 1 << 18


def read_conll(
    source: Source,
    columns: Sequence[str] | None = None,
    *,
    separator: str | None = None,
    comment: str | None = None,
) -> Sentences:
    """Read sentences from a file, plain or gzipped, or from a stream.

    `columns` are the names of its columns; by default word and label if there are two, else word, pos and chunk.
    `separator` separates columns: any run of blanks and tabs (None), or exactly one character, such as a tab, so that
    values may contain blanks or be empty. Lines that begin with `comment` are skipped; by default none are, because #
    is a token like any other (CoNLL-2000 has it). A -DOCSTART- line is a sentence of one token.

    >>> import io
    >>> sentences = read_conll(io.StringIO("He PRP B-NP\\nruns VBZ B-VP\\n\\nStop VB B-VP\\n"))
    >>> sentences.column("chunk")
    [['B-NP', 'B-VP'], ['B-VP']]
    """
    return _parsed(*read_text(source), columns, separator, comment)


def read_to_label(
    source: Source,
    columns: Sequence[str],
    labels: Collection[str],
    *,
    separator: str | None = None,
    comment: str | None = None,
) -> Sentences:
    """Read sentences for a model with these columns and labels: from a CoNLL file, with its labels or without.

    If only words are needed, the file may be plain text: a sentence a line, or a token a line. Lines of two words are a
    word and its label if the second is always a label.

    >>> import io
    >>> read_to_label(io.StringIO("He runs .\\nStop !\\n"), ("word",), {"NOUN", "VERB"}).column("word")
    [['He', 'runs', '.'], ['Stop', '!']]
    """
    text, file = read_text(source)
    kept = "\n".join(line for line in text.split("\n") if not comment or not line.startswith(comment))
    n_fields = _fields_by_line(kept, separator)
    lengths = n_fields[n_fields > 0]
    if separator is None and len(columns) == 1 and np.any(lengths != 1):
        fields = _fields(kept, None)
        if np.any(lengths != 2) or not set(fields[1::2]) <= set(labels):
            return Sentences(tuple(columns), {columns[0]: fields}, np.append(0, np.cumsum(lengths)))
    is_bare = not len(lengths) or lengths[0] == len(columns)
    return _parsed(text, file, columns if is_bare else (*columns, "label"), separator, comment)


def _parsed(
    text: str, file: str, columns: Sequence[str] | None, separator: str | None, comment: str | None
) -> Sentences:
    _check_separator(separator)
    if columns is not None and (isinstance(columns, str) or not columns or len(set(columns)) != len(columns)):
        raise ValueError(f"columns={columns!r}; name each column of the file once, as in ('word', 'pos', 'chunk')")
    kept = None
    if comment:
        lines = text.split("\n")
        kept = [number for number, line in enumerate(lines) if not line.startswith(comment)]
        text = "\n".join(lines[number] for number in kept)

    n_fields = _fields_by_line(text, separator)
    if columns is None:
        columns = TWO_COLUMNS if next(iter(n_fields[n_fields > 0]), 0) == 2 else COLUMNS
    wrong = np.flatnonzero((n_fields != 0) & (n_fields != len(columns)))
    if len(wrong):
        index = int(wrong[0])
        raise ValueError(
            f"{file}, line {1 + (kept[index] if kept else index)}: {n_fields[index]} columns, but {len(columns)} were "
            f"expected ({', '.join(columns)}), in {shown(text.split(chr(10))[index])}; correct the line, or say with "
            f"columns= what the file has and with separator= the separator (now {separator!r})"
        )
    fields = _fields(text, separator)
    values = {name: fields[index :: len(columns)] for index, name in enumerate(columns)}
    return Sentences(tuple(columns), values, _sentence_starts(n_fields > 0))


def write_conll(
    target: Source,
    sentences: Sentences,
    extra: Mapping[str, Sequence[Sequence[str]]] | None = None,
    *,
    separator: str | None = None,
) -> None:
    """Write sentences so that `read_conll`, with the same separator and the names of all columns, returns them.

    `extra` are columns to add at the right (lists by sentence), such as a tagger's predictions. The default separator
    is a blank. A file gets its name only when it is complete, and is gzipped if the name ends in .gz.

    >>> import io
    >>> stream = io.StringIO()
    >>> write_conll(stream, Sentences.from_lists({"word": [["He", "runs"]]}), {"pos": [["PRP", "VBZ"]]})
    >>> stream.getvalue()
    'He PRP\\nruns VBZ\\n\\n'
    """
    _check_separator(separator)
    sentences = sentences.with_columns(extra or {})
    check_writable(
        sentences,
        forbidden="\n\r" + (" \t" if separator is None else separator),
        may_be_empty=separator is not None and len(sentences.columns) > 1,
    )
    rows = zip(*(sentences.values[name] for name in sentences.columns), strict=True)
    lines = list(map((separator or " ").join, rows))
    text = "".join("\n".join(lines[start:stop]) + "\n\n" for start, stop in sentences.bounds)
    if text.startswith("\ufeff"):
        raise ValueError("the first value begins with U+FEFF, which a reader takes for a byte order mark; remove it")
    write_text(target, text)


def _check_separator(separator: str | None) -> None:
    if separator is not None and (len(separator) != 1 or separator in "\n\r" or not separator.isascii()):
        raise ValueError(
            f"separator={separator!r}; it is one ASCII character, such as a tab, or None for any run of blanks and tabs"
        )


def _fields(text: str, separator: str | None) -> list[str]:
    """Return all fields in order. Equal ones are one object, which saves nine tenths of the memory."""
    fields: list[str] = []
    same: dict[str, str] = {}
    for first, last in _blocks(text):
        block = text[first:last]
        if separator is None:
            found = list(filter(None, block.replace("\n", " ").replace("\t", " ").split(" ")))
        else:
            lines = list(filter(None, block.split("\n")))
            found = separator.join(lines).split(separator) if lines else []
        fields.extend(map(same.setdefault, found, found))
    return fields


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where blocks of whole lines begin and end."""
    first = 0
    while first < len(text):
        last = text.find("\n", first + BLOCK) + 1 or len(text)
        yield first, last
        first = last


def _fields_by_line(text: str, separator: str | None) -> NDArray[np.int64]:
    """Return the number of fields of each line; 0 for an empty one."""
    data = np.frombuffer(f"{text}\n".encode(errors="surrogatepass"), dtype=np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    if separator is not None:
        return np.add.reduceat(data == ord(separator), starts, dtype=np.int64) + (ends > starts)
    blank = (data == ord(" ")) | (data == ord("\t")) | (data == ord("\n"))
    begins = ~blank
    begins[1:] &= blank[:-1]
    return np.add.reduceat(begins, starts, dtype=np.int64)


def _sentence_starts(is_token: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the token offsets at which sentences start, given which lines are tokens; the number of tokens last."""
    before = np.append(False, is_token[:-1])
    tokens_before = np.cumsum(is_token, dtype=np.int64) - is_token
    return np.append(tokens_before[is_token & ~before], np.int64(is_token.sum()))


CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


def read_conllu(source: Source) -> Sentences:
    """Read sentences from a CoNLL-U file, plain or gzipped, or from a stream.

    The columns are id, form, lemma, upos, xpos, feats, head, deprel, deps and misc. The tokens are the syntactic words:
    comments, the lines of multiword tokens (3-4) and empty nodes (5.1) are kept as `asides`, for writing. Ids must
    count from 1, and a head is 0, the id of another word of its sentence, or _ if it has none.

    >>> import io
    >>> line = "1 Stop stop VERB VB _ 0 root _ _".replace(" ", chr(9))
    >>> sentences = read_conllu(io.StringIO(f"# text = Stop\\n{line}\\n\\n"))
    >>> sentences.column("upos"), sentences.comments(0)
    ([['VERB']], ['# text = Stop'])
    """
    return _parse_conllu(*read_text(source))


def write_conllu(target: Source, sentences: Sentences) -> None:
    """Write CoNLL-U; what `read_conllu` read from a well-formed file is reproduced byte for byte.

    Columns that are missing are written as _, ids counted from 1. Nothing is written that `read_conllu` would reject.

    >>> import io
    >>> stream = io.StringIO()
    >>> write_conllu(stream, Sentences.from_lists({"form": [["Stop", "!"]], "upos": [["VERB", "PUNCT"]]}))
    >>> print(stream.getvalue().replace(chr(9), " "), end="")
    1 Stop _ VERB _ _ _ _ _ _
    2 ! _ PUNCT _ _ _ _ _ _
    <BLANKLINE>
    """
    unknown = [name for name in sentences.columns if name not in CONLLU_COLUMNS]
    if unknown:
        raise ValueError(f"CoNLL-U has no column {unknown[0]!r}, only {', '.join(CONLLU_COLUMNS)}; rename the column")
    check_writable(sentences, forbidden="\t\n\r", may_be_empty=False)
    defaults = {name: ["_"] * sentences.n_tokens for name in CONLLU_COLUMNS}
    defaults["id"] = [str(position) for start, stop in sentences.bounds for position in range(1, stop - start + 1)]
    columns = defaults | sentences.values
    lines = list(map("\t".join, zip(*(columns[name] for name in CONLLU_COLUMNS), strict=True)))

    written: list[str] = []
    for number, (start, stop) in enumerate(sentences.bounds):
        done = start
        for before, line in sentences.asides[number] if sentences.asides else ():
            written += lines[done : start + before]
            written.append(line)
            done = start + before
        written += lines[done:stop]
        written.append("")
    text = "".join(f"{line}\n" for line in written)
    _parse_conllu(text, "CoNLL-U as it would be written")
    write_text(target, text)


def _parse_conllu(text: str, file: str) -> Sentences:
    tokens: list[str] = []
    line_numbers: list[int] = []
    starts, asides = [0], []
    current: list[tuple[int, str]] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        count = len(tokens) - starts[-1]
        if line.startswith("#"):
            current.append((count, line))
        elif line:
            _check_fields(line, f"{file}, line {number}")
            identifier = line.partition("\t")[0]
            if identifier == str(count + 1):
                tokens.append(line)
                line_numbers.append(number)
            else:
                _check_aside(identifier, count, current, f"{file}, line {number}")
                current.append((count, line))
        elif count or current:
            _check_sentence(count, current, f"{file}, line {number}")
            starts.append(len(tokens))
            asides.append(tuple(current))
            current = []
    fields = "\t".join(tokens).split("\t") if tokens else []
    values = {name: fields[index :: len(CONLLU_COLUMNS)] for index, name in enumerate(CONLLU_COLUMNS)}
    sentences = Sentences(CONLLU_COLUMNS, values, np.array(starts, dtype=np.int64), tuple(asides))
    _check_heads(sentences, line_numbers, file)
    return sentences


def _check_fields(line: str, place: str) -> None:
    n_fields = line.count("\t") + 1
    if n_fields != len(CONLLU_COLUMNS):
        raise ValueError(
            f"{place}: {n_fields} columns, but CoNLL-U has {len(CONLLU_COLUMNS)}, between single tabs "
            f"({', '.join(CONLLU_COLUMNS)}), in {shown(line)}"
        )
    if "\t\t" in line or line.endswith("\t"):
        empty = CONLLU_COLUMNS[line.split("\t").index("")]
        raise ValueError(f"{place}: the column {empty} is empty; write _ where there is nothing")


def _check_aside(identifier: str, count: int, current: list[tuple[int, str]], place: str) -> None:
    """Raise unless a multiword token begins at the next word, outside of others, or an empty node has the next id."""
    earlier = _identifiers(current)
    first, hyphen, last = identifier.partition("-")
    if hyphen and first == str(count + 1) and last.isdecimal() and str(int(last)) == last and int(last) > count:
        ends = [int(other.partition("-")[2]) for other in earlier if "-" in other]
        if max(ends, default=0) <= count:
            return
    n_empty = sum(other.startswith(f"{count}.") for other in earlier)
    if identifier == f"{count}.{n_empty + 1}":
        return
    raise ValueError(
        f"{place}: the id is {identifier!r}, but after {count} words comes the word {count + 1}, a multiword token "
        f"{count + 1}-n that overlaps no other, or the empty node {count}.{n_empty + 1}; number each sentence from 1, "
        "and put an empty line between sentences"
    )


def _identifiers(asides: list[tuple[int, str]]) -> list[str]:
    return [line.partition("\t")[0] for _, line in asides if not line.startswith("#")]


def _check_sentence(count: int, current: list[tuple[int, str]], place: str) -> None:
    if not count:
        raise ValueError(f"{place}: the sentence ends here and has no words; remove its comments, or this empty line")
    for identifier in _identifiers(current):
        if "-" in identifier and int(identifier.partition("-")[2]) > count:
            raise ValueError(f"{place}: the sentence ends after {count} words, within the multiword token {identifier}")


def _check_heads(sentences: Sentences, line_numbers: list[int], file: str) -> None:
    for start, stop in sentences.bounds:
        allowed = {"_", *map(str, range(stop - start + 1))}
        heads = sentences.values["head"][start:stop]
        for position, (own, head) in enumerate(zip(sentences.values["id"][start:stop], heads, strict=True)):
            if head not in allowed or head == own:
                raise ValueError(
                    f"{file}, line {line_numbers[start + position]}: the head of word {own} is {head!r}; it must be 0 "
                    f"for the root, the id of another word, 1 to {stop - start}, or _ where there is none"
                )
