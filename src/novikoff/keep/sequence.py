"""The sequence perceptron in a file: how tokens become features, and the weights of features and of label transitions.

Only the nonzero weights of features are stored: their number for each feature, with their labels. A tagger that can
resume learning has its last weights in the file, and the drift that gives the average; one that was pruned has only the
weights that predict.

A constraint that is a function is code, and not in the file. It is needed for learning only: forbidden transitions have
the weight minus infinity, which is stored.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.engine.chain import Drift
from novikoff.engine.emissions import MOST_LABELS, Emissions
from novikoff.engine.viterbi import Links, Weights
from novikoff.features.templates import TemplateIndex, Vocabulary, parse_template, reaches
from novikoff.keep.codec import (
    ArrayForm,
    Codec,
    Format,
    TypeForm,
    check_arrays,
    check_memory,
    ensure,
    take,
)
from novikoff.keep.layout import Arrays
from novikoff.keep.values import decode_names, encode_names
from novikoff.learn.chain.space import ChainMemory
from novikoff.learn.chain.tagger import Tagger

# Far longer than useful templates, but short enough that a malicious one cannot exhaust the machine.
LONGEST_TEMPLATE = 10_000
FARTHEST_OFFSET = 100_000

# -- weights ----------------------------------------------------------------------------------------------------------


def _write_weights(weights: Weights, drift: Drift | None, arrays: Arrays) -> bool:
    """Add the nonzero weights of features, and with a drift also those whose drift is not 0; and all links."""
    known = weights.emissions.values != 0.0
    if drift is not None:
        known |= drift.emissions != 0.0
    features, places = weights.emissions.places(known)
    values = weights.emissions.values[places]
    narrow = values.astype(np.float32)  # the last weights are mostly integers
    arrays |= {
        "counts": np.bincount(features, minlength=weights.n_features).astype(np.uint32),
        "labels": weights.emissions.labels[places],
        "weights": narrow if np.array_equal(narrow, values) else values,
        "links": weights.links.table,
    }
    if drift is not None:
        arrays |= {"drift": drift.emissions[places], "link_drift": drift.links}
    return True


def _read_weights(arrays: Arrays, *, with_drift: bool) -> tuple[Weights, Drift | None]:
    kinds: dict[str, Any] = {"counts": np.uint32, "labels": np.uint16, "weights": (np.float32, np.float64)}
    if with_drift:
        kinds |= {"drift": np.float64, "link_drift": np.float64}
    found = {name: take(arrays, name, kind) for name, kind in kinds.items()}
    found["links"] = links = take(arrays, "links", np.float64, or_forbidden=True)
    n_labels, n = len(links) - 1, len(found["labels"])
    ensure("there are more labels than a chain can have", 0 < n_labels < MOST_LABELS)
    table, entries = ArrayForm((n_labels + 1, n_labels + 1)), ArrayForm((n,))
    declared = {"labels": ArrayForm((n,), n_labels), "weights": entries, "links": table}
    declared |= {"drift": entries, "link_drift": table} if with_drift else {}
    check_arrays(found, counts=ArrayForm((None,), n_labels + 1), **declared)
    counts, labels, weights = (found[name] for name in ("counts", "labels", "weights"))
    counts = counts.astype(np.int64)
    ensure("the number of weights does not match the features", int(counts.sum()) == n)
    places = {"labels": np.repeat(np.arange(len(counts)), counts) * n_labels + labels}
    check_arrays(places, labels=ArrayForm((n,), strictly=True))
    read = Weights(Emissions.of_entries(n_labels, counts, labels, weights), Links.of(links))
    if not with_drift:
        return read, None
    pool = Emissions.of_entries(n_labels, counts, labels, found["drift"]).values
    return read, Drift(pool, found["link_drift"])


def _write_memory(memory: ChainMemory, path: str, arrays: Arrays) -> dict[str, Any]:
    _write_weights(memory.weights, memory.drift, arrays)
    return Codec().write_fields(memory, arrays, path, without=("weights", "drift"))


def _read_memory(plain: Any, path: str, arrays: Arrays) -> ChainMemory:
    known = Codec().read_fields(ChainMemory, plain, arrays, path, without=("weights", "drift"))
    weights, drift = _read_weights(arrays, with_drift=True)
    assert drift is not None
    return ChainMemory(weights, drift, **known)


def _without_its_sum(tagger: Tagger) -> Tagger:
    """Return a tagger without the weights that predict, if they are read out of its memory."""
    return tagger if tagger.memory is None else replace(tagger, weights=None)  # type: ignore[arg-type]


def _restored(tagger: Tagger) -> Tagger:
    run, memory = tagger.run, tagger.memory
    ensure("a label is NaN", all(label == label for label in tagger.labels))
    ensure("voting is not supported for label sequences", "vote" not in (run.readout, tagger.parameters.get("readout")))
    if memory is not None:
        ensure("there are more mistakes than examples", memory.updates <= memory.examples)
        check_memory(memory, run)
        ensure("the weights are divided by another number", tagger.divisor == memory.divisor(run.readout))
        with np.errstate(over="ignore", invalid="ignore"):
            tagger = replace(tagger, weights=memory.read_out(run.readout))
        links = tagger.weights.links.table[memory.allowed]
        finite = np.isfinite(tagger.weights.emissions.values).all() and np.isfinite(links).all()
        ensure("the weights are too large to be added up", finite)
    ensure("it has labels without weights", tagger.weights.n_labels == len(tagger.labels))
    ensure("there are not as many features as weights", tagger.features.index.n_columns == tagger.weights.n_features)
    ensure("the weights are divided by nothing", tagger.divisor >= 1)
    labels, guesses = set(tagger.labels), tagger.mistake_guesses or ()
    ensure("a guess is no label sequence", all(labels.issuperset(guess) for guess in guesses))
    return tagger


# -- features ---------------------------------------------------------------------------------------------------------


def _write_templates(index: TemplateIndex, path: str, arrays: Arrays) -> Any:
    for number, vocabulary in enumerate(index.vocabularies.values()):
        _write_numbered(vocabulary.numbers, f"vocabulary.{number}", arrays)
    arrays |= {f"features.{number}": features for number, features in enumerate(index.features)}
    return [template.text for template in index.templates]


def _read_templates(plain: Any, path: str, arrays: Arrays) -> TemplateIndex:
    short = [text for text in plain or () if isinstance(text, str) and len(text) <= LONGEST_TEMPLATE]
    ensure("there are no templates, or invalid ones", isinstance(plain, list), short, short == plain)
    templates = tuple(map(parse_template, short))
    offsets = [abs(part.offset) for template in templates for part in template.parts]
    ensure("a template looks absurdly far", max(offsets) <= FARTHEST_OFFSET)
    vocabularies = {
        source: Vocabulary(_read_numbered(True, f"vocabulary.{number}", arrays), reach)
        for number, (source, reach) in enumerate(reaches(templates).items())
    }
    features = tuple(take(arrays, f"features.{number}", np.int32) for number in range(len(templates)))
    for template, values in zip(templates, features, strict=True):
        check_arrays({"features": values}, features=ArrayForm((None, len(template.parts))))
        sizes = (ArrayForm((None,), vocabularies[part.source].size) for part in template.parts)
        columns = {f"part {place}": column for place, column in enumerate(values.T)}
        check_arrays(columns, **dict(zip(columns, sizes, strict=True)))
        ensure("a feature of a template occurs twice", len(np.unique(values, axis=0)) == len(values))
    return TemplateIndex(templates, vocabularies, features)


def _write_numbered(names: dict[str, int], path: str, arrays: Arrays) -> bool:
    arrays[path] = encode_names(names, "an attribute")
    return True


def _read_numbered(plain: Any, path: str, arrays: Arrays) -> dict[str, int]:
    """Return strings, numbered from 0."""
    names = decode_names(take(arrays, path, np.uint8))
    ensure(
        "the values of a column, or the attributes, are not different texts",
        all(type(name) is str for name in names) and len(set(names)) == len(names),
    )
    return {name: number for number, name in enumerate(names)}


FORMAT = Format(
    Tagger,
    _restored,
    _without_its_sum,
    forms={
        ChainMemory: TypeForm(_write_memory, _read_memory),
        Weights: TypeForm(
            lambda weights, path, arrays: _write_weights(weights, None, arrays),
            lambda plain, path, arrays: None if plain is None else _read_weights(arrays, with_drift=False)[0],
        ),
        TemplateIndex: TypeForm(_write_templates, _read_templates),
        dict[str, int]: TypeForm(_write_numbered, _read_numbered),
    },
)
