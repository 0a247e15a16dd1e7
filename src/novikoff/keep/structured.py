"""The structured perceptron in a file: weights by feature. Its functions are code, and passed to `load`."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.keep import checks
from novikoff.keep.checks import ensure, take, take_named
from novikoff.keep.codec import OF_MODELS, Codec, goes_on, read_run, write_model
from novikoff.keep.layout import Arrays, FileParts
from novikoff.keep.parameters import decode_parameters, needed_function
from novikoff.keep.values import decode_names, encode_names
from novikoff.learn.structure.perceptron import PARAMETERS, StructuredModel
from novikoff.learn.structure.space import FeatureWeights, StructureMemory, StructureSearch

CODEC = Codec()
BY_HAND = (*OF_MODELS, "memory", "search", "mistake_rows")

# Weights are arrays, and search errors of the last epoch are used during learning only.
BY_HAND_OF_MEMORY = ("weights", "drift", "astray")


def to_parts(model: StructuredModel) -> FileParts:
    memory, guesses = model.memory, model.mistake_guesses
    arrays: Arrays = {
        "names": encode_names(memory.weights, "a feature"),
        "weights": np.array(list(memory.weights.values()), dtype=np.float64),
        "drift": np.array([memory.drift[name] for name in memory.weights], dtype=np.float64),
    }
    if guesses is not None:
        arrays["mistake_rows"] = np.array(model.mistake_rows, dtype=np.int64)
        arrays["mistake_guesses"] = encode_names(guesses, "mistake_guesses_ (learn without record_mistakes)")
    header = {
        **write_model(model, model.record),
        **CODEC.write_fields(model, arrays, without=BY_HAND),
        "memory": CODEC.write_fields(memory, arrays, without=BY_HAND_OF_MEMORY),
    }
    return FileParts(header, arrays)


def from_parts(parts: FileParts, functions: Mapping[str, Callable[..., Any]]) -> StructuredModel:
    header, arrays = parts.header, dict(parts.arrays)
    parameters = decode_parameters(header, functions)
    for name in ("features", "decode", "loss"):
        needed_function(header, name, functions)
    ensure(parameters.keys() == set(PARAMETERS), "the parameters are not those of a StructuredPerceptron")
    memory = _memory(header["memory"], arrays)
    rows, guesses = take(arrays, "mistake_rows", np.int64, may_be_none=True), None
    checks.mistake_rows(rows)
    if rows is not None:
        rows, guesses = rows.tolist(), decode_names(take(arrays, "mistake_guesses", np.uint8))
        ensure(len(rows) == len(guesses), "there are not as many guesses as mistakes")
    known = CODEC.read_fields(StructuredModel, header, arrays, without=BY_HAND)
    checks.all_taken(arrays)
    run = read_run(header)
    ensure(known["readout"] != "vote", "voting is not supported for structures")
    ensure(known["readout"] == parameters["readout"], "the read-out of the parameters differs from the model's")
    search = StructureSearch(*(parameters[name] for name in ("features", "decode", "loss")))
    return StructuredModel(
        memory,
        search,
        run=None if goes_on(header) else run,
        parameters=parameters,
        mistake_rows=rows,
        mistake_guesses=guesses,
        **known,
    )


def _memory(plain: Any, arrays: Arrays) -> StructureMemory:
    names, (weights, drift) = take_named(arrays, "names", {"weights": np.float64, "drift": np.float64})
    memory = StructureMemory(
        FeatureWeights(zip(names, weights, strict=True)),
        dict(zip(names, drift, strict=True)),
        **CODEC.read_fields(StructureMemory, plain, arrays, "memory", BY_HAND_OF_MEMORY),
    )
    checks.memory(memory)
    ensure(memory.updates <= memory.examples, "there are more mistakes than examples")
    return memory
