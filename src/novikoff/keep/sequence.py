"""The sequence perceptron in a file: how tokens become features, and the weights of features and of label transitions.

Only nonzero weights are stored: their number for each feature, with their labels, and the indices of transitions. A
tagger that can resume learning has its last weights in the file, and the drift that gives the average; one that was
pruned has only the weights that predict.

A constraint that is a function is code, and not in the file. It is needed for learning only: forbidden transitions have
the weight minus infinity, which is stored.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.strict_json import Fields
from novikoff.engine.chain import Drift
from novikoff.engine.emissions import MOST_LABELS, Emissions
from novikoff.engine.viterbi import Links, Weights
from novikoff.features.templates import Template, TemplateIndex, Vocabulary, parse_template, reaches
from novikoff.features.tokens import AttributeIndex, Numbers, by_sequence
from novikoff.keep import checks
from novikoff.keep.checks import ensure, take
from novikoff.keep.codec import OF_MODELS, Codec, goes_on, read_run, write_model
from novikoff.keep.layout import Arrays, FileParts, ModelFileError
from novikoff.keep.parameters import decode_parameters
from novikoff.keep.values import decode, decode_names, encode, encode_names
from novikoff.learn.chain.space import ChainMemory, SequenceRun
from novikoff.learn.chain.tagger import Tagger, TokenFeatures

CODEC = Codec()
BY_HAND = (*OF_MODELS, "classes", "labels", "features", "weights", "memory", "labels_are_fixed")
BY_HAND_OF_MEMORY = ("weights", "drift")

# The largest table of transitions, in bytes; larger files may have larger ones.
LARGE_LINKS = 1 << 28

# Far longer than useful templates, but short enough that a malicious one cannot exhaust the machine.
LONGEST_TEMPLATE = 10_000
FARTHEST_OFFSET = 100_000


# ---------------------------------------------------------------------------------------------------------------------
# Writing
# ---------------------------------------------------------------------------------------------------------------------


def to_parts(tagger: Tagger) -> FileParts:
    index = tagger.features.index
    memory = tagger.memory
    of_weights = (tagger.weights, None) if memory is None else (memory.weights, memory.drift)
    arrays = _weights_to_arrays(*of_weights)
    kind: dict[str, Any] = {"kind": "numbers"}
    if isinstance(index, TemplateIndex):
        kind = {"kind": "templates", "templates": [template.text for template in index.templates]}
        arrays |= _templates_to_arrays(index)
    elif isinstance(index, AttributeIndex):
        kind = {"kind": "attributes"}
        arrays["names"] = encode_names(index.numbers, "an attribute")
    if tagger.mistake_guesses is not None:
        places = {label: place for place, label in enumerate(tagger.labels)}
        guessed = [places[label] for guess in tagger.mistake_guesses for label in guess]
        arrays["mistake_lengths"] = np.array(list(map(len, tagger.mistake_guesses)), dtype=np.int64)
        arrays["mistake_guesses"] = np.array(guessed, dtype=np.int64)
    header = {
        **write_model(tagger, tagger.run),
        "classes": encode(list(tagger.labels), "the labels"),
        "features": {**kind, "columns": list(tagger.features.columns)},
        "memory": None if memory is None else CODEC.write_fields(memory, {}, without=BY_HAND_OF_MEMORY),
        "labels_are_fixed": tagger.labels_are_fixed,
        **CODEC.write_fields(tagger, arrays, without=BY_HAND),
    }
    return FileParts(header, arrays)


def _weights_to_arrays(weights: Weights, drift: Drift | None) -> Arrays:
    """Return the nonzero weights, and with a drift also those whose drift is not 0."""
    table = weights.links.table.ravel()
    known, linked = weights.emissions.values != 0.0, table != 0.0
    if drift is not None:
        known, linked = known | (drift.emissions != 0.0), linked | (drift.links.ravel() != 0.0)
    forbidden = np.isneginf(table)
    features, places = weights.emissions.places(known)
    at = np.flatnonzero(linked & ~forbidden)
    values = weights.emissions.values[places]
    arrays: Arrays = {
        "counts": np.bincount(features, minlength=weights.n_features).astype(np.uint32),
        "labels": weights.emissions.labels[places],
        "weights": values,
        "link_places": at.astype(np.uint32),
        "links": table[at],
        "forbidden": np.packbits(forbidden) if forbidden.any() else np.zeros(0, dtype=np.uint8),
    }
    if drift is None:
        return arrays
    narrow = values.astype(np.float32)  # the last weights are mostly integers
    exact = narrow if np.array_equal(narrow, values) else values
    return arrays | {"weights": exact, "drift": drift.emissions[places], "link_drift": drift.links.ravel()[at]}


def _templates_to_arrays(index: TemplateIndex) -> Arrays:
    arrays: Arrays = {}
    for number, vocabulary in enumerate(index.vocabularies.values()):
        arrays[f"vocabulary.{number}"] = encode_names(vocabulary.numbers, "a value")
    return arrays | {f"features.{number}": features for number, features in enumerate(index.features)}


# ---------------------------------------------------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------------------------------------------------


def from_parts(parts: FileParts, functions: Mapping[str, Callable[..., Any]]) -> Tagger:
    header, arrays = parts.header, dict(parts.arrays)
    labels = decode(header["classes"])
    ensure(isinstance(labels, list) and len(labels) > 0, "there are no labels")
    ensure(len(labels) < MOST_LABELS, "there are more labels than a chain can have")
    ensure(len(set(labels)) == len(labels), "a label occurs twice")
    ensure(all(label == label for label in labels), "a label is NaN")
    ensure(not goes_on(header), "a tagger has a record, also while it goes on learning")
    size = sum(array.nbytes for array in arrays.values())
    known_memory = header.get("memory")  # older files have none
    weights, drift = _weights(arrays, len(labels), size, with_drift=known_memory is not None)
    features = _features(Fields(header["features"], "features", ModelFileError), arrays, weights.n_features)
    ensure(features.index.n_columns == weights.n_features, "there are not as many features as weights")
    run = read_run(header, SequenceRun)
    assert isinstance(run, SequenceRun)
    ensure(run.readout != "vote", "voting is not supported for label sequences")
    guesses = _guesses(arrays, labels)
    known = CODEC.read_fields(Tagger, header, arrays, without=BY_HAND)
    memory = None if drift is None else _memory(known_memory, weights, drift, run)
    if memory is not None:
        ensure(known["divisor"] == memory.divisor(run.readout), "the weights are divided by another number")
        with np.errstate(over="ignore", invalid="ignore"):
            weights = memory.read_out(run.readout)
        finite = np.isfinite(weights.emissions.values).all() and np.isfinite(weights.links.table[memory.allowed]).all()
        ensure(bool(finite), "the weights are too large to be added up")
    checks.all_taken(arrays)
    checks.mistake_rows(known["mistake_rows"])
    ensure(known["divisor"] >= 1, "the weights are divided by nothing")
    rows = known["mistake_rows"]
    ensure(guesses is None or rows is None or len(rows) == len(guesses), "there are not as many guesses as mistakes")
    parameters = decode_parameters(header, functions)
    ensure(parameters.get("readout") != "vote", "voting is not supported for label sequences")
    fixed = CODEC.read(bool, header.get("labels_are_fixed", False), {}, "labels_are_fixed")
    known |= {"memory": memory, "labels_are_fixed": fixed, "mistake_guesses": guesses}
    return Tagger(features, tuple(labels), weights, run=run, parameters=parameters, **known)


def _memory(header: Any, weights: Weights, drift: Drift, run: SequenceRun) -> ChainMemory:
    """Return the memory of a tagger, if the record matches it."""
    memory = ChainMemory(weights, drift, **CODEC.read_fields(ChainMemory, header, {}, "memory", BY_HAND_OF_MEMORY))
    ensure(memory.updates <= memory.examples, "there are more mistakes than examples")
    checks.memory(memory, run)
    return memory


def _guesses(arrays: Arrays, labels: list[Any]) -> list[list[Any]] | None:
    lengths = take(arrays, "mistake_lengths", np.int64, may_be_none=True)
    if lengths is None:
        return None
    places = take(arrays, "mistake_guesses", np.int64)
    for name, array, end in (("mistake_guesses", places, len(labels)), ("mistake_lengths", lengths, len(places) + 1)):
        checks.shape(array, name, len(array))
        checks.within(array, name, end)
    ensure(int(lengths.sum()) == len(places), "the guesses are not as long as the mistakes")
    return by_sequence([labels[place] for place in places.tolist()], np.concatenate([[0], np.cumsum(lengths)]))


def _weights(arrays: Arrays, n_labels: int, n_bytes: int, *, with_drift: bool) -> tuple[Weights, Drift | None]:
    """Return the weights, and their drift if there is one."""
    kinds: dict[str, Any] = {"counts": np.uint32, "labels": np.uint16, "weights": (np.float32, np.float64)}
    kinds |= {"link_places": np.uint32, "links": np.float64, "forbidden": np.uint8}
    counts, labels, weights, places, links, forbidden = (take(arrays, name, kind) for name, kind in kinds.items())
    for array, name, length in (
        (counts, "counts", len(counts)),
        (labels, "labels", len(weights)),
        (weights, "weights", len(weights)),
        (places, "link_places", len(links)),
        (links, "links", len(links)),
        (forbidden, "forbidden", len(forbidden)),
    ):
        checks.shape(array, name, length)
    counts = counts.astype(np.int64)
    ensure(int(counts.sum()) == len(labels), "the number of weights does not match the features")
    checks.within(counts, "counts", n_labels + 1)
    checks.within(labels, "labels", n_labels)
    drifts = [take(arrays, name, np.float64) for name in ("drift", "link_drift")] if with_drift else []
    for drift, same in zip(drifts, (weights, links), strict=False):
        checks.shape(drift, "drift", len(same))
    unneeded = weights == 0.0 if not drifts else (weights == 0.0) & (drifts[0] == 0.0)
    ensure(not np.any(unneeded), "a weight is 0, which need not be kept")
    features = np.repeat(np.arange(len(counts)), counts)
    checks.ascends(features * n_labels + labels, "labels", strictly=True)
    ensure(8 * (n_labels + 1) ** 2 <= LARGE_LINKS + 16 * n_bytes, "it has labels without weights")
    table = np.zeros((n_labels + 1) ** 2)
    checks.within(places, "link_places", table.size)
    checks.ascends(places, "link_places", strictly=True)
    table[places] = links
    if len(forbidden):
        ensure(len(forbidden) == -(-table.size // 8), "the forbidden links are not as many as the links")
        table[np.unpackbits(forbidden, count=table.size).astype(np.bool_)] = -np.inf
    shape = (n_labels + 1, n_labels + 1)
    found = Weights(Emissions.of_entries(n_labels, counts, labels, weights), Links.of(table.reshape(shape)))
    if not drifts:
        return found, None
    link_drift = np.zeros(table.size)
    link_drift[places] = drifts[1]
    pool = Emissions.of_entries(n_labels, counts, labels, drifts[0]).values
    return found, Drift(pool, link_drift.reshape(shape))


def _features(kind: Fields, arrays: Arrays, n_features: int) -> TokenFeatures:
    name, columns = kind.choice("kind", ("templates", "attributes", "numbers")), kind.texts("columns")
    index: TemplateIndex | AttributeIndex | Numbers = Numbers(n_features)
    if name == "attributes":
        index = AttributeIndex(_numbered(take(arrays, "names", np.uint8)))
    elif name == "templates":
        index = _template_index(kind, arrays)
    kind.close()
    return TokenFeatures(index, columns)


def _templates(kind: Fields) -> tuple[Template, ...]:
    texts = kind.texts("templates")
    ensure(bool(texts) and max(map(len, texts or ())) <= LONGEST_TEMPLATE, "there are no templates, or invalid ones")
    templates = tuple(map(parse_template, texts or ()))
    offsets = [abs(part.offset) for template in templates for part in template.parts]
    ensure(max(offsets) <= FARTHEST_OFFSET, "a template looks absurdly far")
    return templates


def _template_index(kind: Fields, arrays: Arrays) -> TemplateIndex:
    templates = _templates(kind)
    vocabularies = {
        source: Vocabulary(_numbered(take(arrays, f"vocabulary.{number}", np.uint8)), reach)
        for number, (source, reach) in enumerate(reaches(templates).items())
    }
    features = []
    for number, template in enumerate(templates):
        values = take(arrays, f"features.{number}", np.int32)
        checks.shape(values, "features", len(values), len(template.parts))
        for part, column in zip(template.parts, values.T, strict=True):
            checks.within(column, "features", vocabularies[part.source].size)
        ensure(len(np.unique(values, axis=0)) == len(values), "a feature of a template occurs twice")
        features.append(values)
    return TemplateIndex(templates, vocabularies, tuple(features))


def _numbered(array: NDArray[np.uint8]) -> dict[str, int]:
    """Return strings, numbered from 0."""
    names = decode_names(array)
    if any(type(name) is not str for name in names) or len(set(names)) != len(names):
        raise ModelFileError("the values of a column, or the attributes, are not different texts")
    return {name: number for number, name in enumerate(names)}
