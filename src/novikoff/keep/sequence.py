"""The sequence perceptron in a file: how tokens become features, and the weights of features and of label after label.

Only weights that are not 0 are kept: so many of each feature, with their labels, and the places of the links among all.

A constraint that is a function is code, and not in the file. It is needed for learning only: what it forbids has the
weight minus infinity, which is kept.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.strict_json import Fields
from novikoff.engine.pool import MOST_LABELS, Emissions
from novikoff.engine.viterbi import Links, Weights
from novikoff.features.attributes import AttributeIndex
from novikoff.features.templates import LARGEST_KEY, Lookup, Template, TemplateIndex, Vocabulary, parse_template
from novikoff.features.tokens import Numbers, by_sequence
from novikoff.keep.expect import Table, check_arrays, check_ascends, check_finite, check_within, ensure, fields
from novikoff.keep.header import (
    Evidence,
    check_unencoded,
    decode_parameters,
    decode_run,
    encode_parameters,
    encode_run,
)
from novikoff.keep.layout import Arrays, ModelFileError, Parts
from novikoff.keep.values import decode, decode_names, encode, encode_names
from novikoff.learn.chain.space import SequenceRun
from novikoff.learn.chain.tagger import Features, Tagger

LEARNER = "SequencePerceptron"
TABLE: Table = {
    "counts": ("u4", "features"),
    "labels": ("u2", "weights"),
    "weights": ("f8", "weights"),
    "link_places": ("u4", "links"),
    "links": ("f8", "links"),
    "forbidden": ("u1", "bytes of forbidden links"),
}
NAMES: Table = {"names": ("u1", "bytes")}

# The links of so many labels are a table of bytes; one that is larger belongs to a larger file.
LARGE_LINKS = 1 << 28

# Far beyond what templates are written for, and near enough that a hostile one cannot keep a machine busy.
LONGEST_TEMPLATE = 10_000
FARTHEST_OFFSET = 100_000


# ---------------------------------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------------------------------


def to_parts(tagger: Tagger, evidence: Evidence) -> Parts:
    index = tagger.features.index
    arrays = _weights_to_arrays(tagger.weights)
    kind: dict[str, Any] = {"kind": "numbers"}
    if isinstance(index, TemplateIndex):
        kind = {
            "kind": "templates",
            "templates": [template.text for template in index.templates],
            "stages": [len(lookups) for lookups in index.stages],
        }
        arrays |= _templates_to_arrays(index)
    elif isinstance(index, AttributeIndex):
        kind = {"kind": "attributes"}
        arrays["names"] = encode_names(index.numbers, "an attribute")
    if tagger.mistake_rows is not None:
        arrays["mistake_rows"] = np.asarray(tagger.mistake_rows, dtype=np.int64)
    if tagger.mistake_guesses is not None:
        places = {label: place for place, label in enumerate(tagger.labels)}
        guessed = [places[label] for guess in tagger.mistake_guesses for label in guess]
        arrays["mistake_lengths"] = np.array(list(map(len, tagger.mistake_guesses)), dtype=np.int64)
        arrays["mistake_guesses"] = np.array(guessed, dtype=np.int64)
    header = {
        "learner": LEARNER,
        "parameters": encode_parameters(tagger.parameters),
        "classes": encode(list(tagger.labels), "the labels"),
        "feature_names": None,
        "encoding": None,
        "run": encode_run(tagger.run),
        **Evidence.of(tagger).unless(evidence).to_header(),
        "state": {
            "features": kind,
            "columns": list(tagger.features.columns),
            "has_mistake_rows": tagger.mistake_rows is not None,
            "has_mistake_guesses": tagger.mistake_guesses is not None,
            "divisor": tagger.divisor,
        },
    }
    return Parts(header, arrays)


def _weights_to_arrays(weights: Weights) -> Arrays:
    features, labels, values = weights.emissions.entries()
    table = weights.links.table.ravel()
    forbidden = np.isneginf(table)
    places = np.flatnonzero((table != 0.0) & ~forbidden)
    return {
        "counts": np.bincount(features, minlength=weights.n_features).astype(np.uint32),
        "labels": labels.astype(np.uint16),
        "weights": values,
        "link_places": places.astype(np.uint32),
        "links": table[places],
        "forbidden": np.packbits(forbidden) if forbidden.any() else np.zeros(0, dtype=np.uint8),
    }


def _templates_to_arrays(index: TemplateIndex) -> Arrays:
    arrays: Arrays = {}
    for number, vocabulary in enumerate(index.vocabularies.values()):
        arrays[f"vocabulary.{number}"] = encode_names(vocabulary.numbers, "a value")
    for number, lookups in enumerate(index.stages):
        for stage, lookup in enumerate(lookups):
            arrays[f"keys.{number}.{stage}"] = np.asarray(lookup.keys, dtype=np.int64)
            arrays[f"numbers.{number}.{stage}"] = np.asarray(lookup.numbers, dtype=np.int32)
    return arrays


# ---------------------------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------------------------


def from_parts(parts: Parts, functions: Mapping[str, Callable[..., Any]]) -> Tagger:
    header, arrays = fields(parts.header), parts.arrays
    check_unencoded(header)
    state = header.part("state")
    labels = decode(header.value("classes"))
    ensure(isinstance(labels, list) and len(labels) > 0, "there are no labels")
    ensure(len(labels) < MOST_LABELS, "there are more labels than a chain can have")
    ensure(len(set(labels)) == len(labels), "a label occurs twice")
    kind = state.part("features")
    templates = _templates(kind) if kind.text("kind") == "templates" else ()
    table = TABLE | _index_table(kind, templates)
    if state.flag("has_mistake_rows"):
        table = table | {"mistake_rows": ("i8", "mistakes")}
    if state.flag("has_mistake_guesses"):
        table = table | {"mistake_lengths": ("i8", "mistakes"), "mistake_guesses": ("i8", "guessed labels")}
    sizes = check_arrays(arrays, table, {})
    index = _index(kind, templates, arrays, sizes["features"])
    ensure(index.n_columns == sizes["features"], "there are not as many features as weights")
    columns = state.optional_texts("columns")
    ensure(columns is not None, "the columns have no names")
    run = decode_run(header, SequenceRun)
    assert isinstance(run, SequenceRun)
    ensure(run.readout != "vote", "there is no vote of label sequences")
    if "mistake_rows" in arrays:
        check_within(arrays["mistake_rows"], "mistake_rows", 2**62)
    return Tagger(
        Features(index, columns or ()),
        tuple(labels),
        _weights(arrays, len(labels)),
        state.whole("divisor", least=1),
        run=run,
        parameters=decode_parameters(header, functions),
        mistake_rows=arrays.get("mistake_rows"),
        mistake_guesses=_guesses(arrays, labels),
        **Evidence.from_header(header).to_model(),
    )


def _guesses(arrays: Arrays, labels: list[Any]) -> list[list[Any]] | None:
    if "mistake_guesses" not in arrays:
        return None
    lengths, places = arrays["mistake_lengths"], arrays["mistake_guesses"]
    check_within(places, "mistake_guesses", len(labels))
    check_within(lengths, "mistake_lengths", len(places) + 1)
    ensure(int(lengths.sum()) == len(places), "the guesses are not as long as the mistakes")
    return by_sequence([labels[place] for place in places.tolist()], np.concatenate([[0], np.cumsum(lengths)]))


def _weights(arrays: Arrays, n_labels: int) -> Weights:
    counts, labels, places = arrays["counts"].astype(np.int64), arrays["labels"], arrays["link_places"]
    ensure(int(counts.sum()) == len(labels), "there are not as many weights as features say")
    check_within(counts, "counts", n_labels + 1)
    check_within(labels, "labels", n_labels)
    check_finite(arrays, "weights", "links")
    ensure(not np.any(arrays["weights"] == 0.0), "a weight is 0, which need not be kept")
    features = np.repeat(np.arange(len(counts)), counts)
    check_ascends(features * n_labels + labels, "labels", strictly=True)
    size = 8 * (n_labels + 1) ** 2
    ensure(size <= LARGE_LINKS + 16 * sum(array.nbytes for array in arrays.values()), "it has labels without weights")
    table = np.zeros((n_labels + 1) ** 2)
    check_within(places, "link_places", table.size)
    check_ascends(places, "link_places", strictly=True)
    table[places] = arrays["links"]
    forbidden = arrays["forbidden"]
    if len(forbidden):
        ensure(len(forbidden) == -(-table.size // 8), "the forbidden links are not as many as the links")
        table[np.unpackbits(forbidden, count=table.size).astype(np.bool_)] = -np.inf
    links = Links.of(table.reshape(n_labels + 1, n_labels + 1))
    return Weights(Emissions.of_entries(n_labels, counts, labels, arrays["weights"]), links)


def _templates(kind: Fields) -> tuple[Template, ...]:
    texts = kind.texts("templates")
    ensure(bool(texts) and max(map(len, texts or ())) <= LONGEST_TEMPLATE, "there are no templates, or absurd ones")
    templates = tuple(map(parse_template, texts or ()))
    offsets = [abs(part.offset) for template in templates for part in template.parts]
    ensure(max(offsets) <= FARTHEST_OFFSET, "a template looks absurdly far")
    return templates


def _sources(templates: tuple[Template, ...]) -> dict[tuple[str, tuple[str, ...]], int]:
    """The columns under their functions, in the order of the templates, and how far templates look in each."""
    reaches: dict[tuple[str, tuple[str, ...]], int] = {}
    for part in (part for template in templates for part in template.parts):
        reaches[part.source] = max(reaches.get(part.source, 0), abs(part.offset))
    return reaches


def _index_table(kind: Fields, templates: tuple[Template, ...]) -> Table:
    name = kind.choice("kind", ("templates", "attributes", "numbers"))
    if name != "templates":
        return NAMES if name == "attributes" else {}
    table: Table = {f"vocabulary.{number}": ("u1", f"bytes {number}") for number in range(len(_sources(templates)))}
    for number, n_stages in enumerate(_stages(kind, templates)):
        for stage in range(n_stages):
            table[f"keys.{number}.{stage}"] = ("i8", f"keys {number} {stage}")
            table[f"numbers.{number}.{stage}"] = ("i4", f"keys {number} {stage}")
    return table


def _stages(kind: Fields, templates: tuple[Template, ...]) -> list[int]:
    stages = kind.value("stages")
    ensure(isinstance(stages, list) and len(stages) == len(templates), "the templates have no stages")
    for number, template in zip(stages, templates, strict=True):
        ensure(type(number) is int and 1 <= number <= len(template.parts), "a template has an absurd number of stages")
    return list(stages)


def _index(
    kind: Fields, templates: tuple[Template, ...], arrays: Arrays, n_features: int
) -> TemplateIndex | AttributeIndex | Numbers:
    name = kind.text("kind")
    if name == "numbers":
        return Numbers(n_features)
    if name == "attributes":
        return AttributeIndex(_numbered(arrays["names"]))
    vocabularies = {
        source: Vocabulary(_numbered(arrays[f"vocabulary.{number}"]), reach)
        for number, (source, reach) in enumerate(_sources(templates).items())
    }
    stages = []
    for number, (template, n_stages) in enumerate(zip(templates, _stages(kind, templates), strict=True)):
        lookups = tuple(
            Lookup(arrays[f"keys.{number}.{stage}"], arrays[f"numbers.{number}.{stage}"]) for stage in range(n_stages)
        )
        _check_lookups(template, vocabularies, lookups)
        stages.append(lookups)
    return TemplateIndex(templates, vocabularies, tuple(stages))


def _numbered(array: NDArray[np.uint8]) -> dict[str, int]:
    """Texts, numbered from 0."""
    names = decode_names(array)
    if any(type(name) is not str for name in names) or len(set(names)) != len(names):
        raise ModelFileError("the values of a column, or the attributes, are not different texts")
    return {name: number for number, name in enumerate(names)}


def _check_lookups(
    template: Template,
    vocabularies: Mapping[tuple[str, tuple[str, ...]], Vocabulary],
    lookups: tuple[Lookup, ...],
) -> None:
    """Whether every look-up is asked for keys that it can have: parts are joined as long as keys fit into 64 bits."""
    remaining, n_keys = list(lookups), 1
    for part in template.parts:
        size = vocabularies[part.source].size
        if n_keys * size > LARGEST_KEY:
            ensure(len(remaining) > 1, f"the template {template.text!r:.60} has too few look-ups")
            lookup = remaining.pop(0)
            _check_lookup(lookup, n_keys)
            n_keys = max(len(lookup.keys), 1)
        n_keys *= size
    ensure(len(remaining) == 1, f"the template {template.text!r:.60} has too many look-ups")
    _check_lookup(remaining[0], n_keys)


def _check_lookup(lookup: Lookup, n_keys: int) -> None:
    check_within(lookup.keys, "keys", n_keys)
    check_ascends(lookup.keys, "keys", strictly=True)
    ensure(np.array_equal(np.sort(lookup.numbers), np.arange(len(lookup.numbers))), "features are not numbered from 0")
