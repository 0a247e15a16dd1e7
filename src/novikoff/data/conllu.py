"""CoNLL-U, the files of Universal Dependencies: ten columns, comments, multiword tokens and empty nodes."""

import numpy as np

from novikoff.data.sentences import Sentences, Source, check_writable, read_text, shown, write_text

CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


def read_conllu(source: Source) -> Sentences:
    """Sentences from a CoNLL-U file, plain or gzipped, or from a stream.

    The columns are id, form, lemma, upos, xpos, feats, head, deprel, deps and misc. The tokens are the syntactic words:
    comments, the lines of multiword tokens (3-4) and empty nodes (5.1) are kept as `asides`, for writing. Ids must
    count from 1, and a head is 0, the id of another word of its sentence, or _ where there is none.

    >>> import io
    >>> line = "1 Stop stop VERB VB _ 0 root _ _".replace(" ", chr(9))
    >>> sentences = read_conllu(io.StringIO(f"# text = Stop\\n{line}\\n\\n"))
    >>> sentences.column("upos"), sentences.comments(0)
    ([['VERB']], ['# text = Stop'])
    """
    return _parse_conllu(*read_text(source))


def write_conllu(target: Source, sentences: Sentences) -> None:
    """Write CoNLL-U; what `read_conllu` read from a well-formed file comes out byte for byte.

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
    """Raise unless a multiword token begins at the next word, outside of others, or an empty node counts on."""
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
