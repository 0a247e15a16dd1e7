"""The structured perceptron in a file: weights by feature. Its functions are code, and whoever loads it brings them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.keep.expect import Table, check_arrays, check_finite, ensure, fields
from novikoff.keep.header import (
    Evidence,
    check_unencoded,
    decode_parameters,
    decode_run,
    encode_parameters,
    encode_run,
    needed_function,
)
from novikoff.keep.layout import Arrays, Parts
from novikoff.keep.values import decode_names, encode_names
from novikoff.learn.structure.memory import Memory, Weights
from novikoff.learn.structure.model import Mistakes, StructuredModel
from novikoff.learn.structure.perceptron import PARAMETERS
from novikoff.learn.structure.search import Search

LEARNER = "StructuredPerceptron"
TABLE: Table = {"names": ("u1", "bytes"), "weights": ("f8", "features"), "drift": ("f8", "features")}
RECORDED: Table = {"mistake_rows": ("i8", "recorded"), "mistake_guesses": ("u1", "bytes of guesses")}


def to_parts(model: StructuredModel, evidence: Evidence) -> Parts:
    memory, mistakes = model.memory, model.mistakes
    header = {
        "learner": LEARNER,
        "parameters": encode_parameters(model.parameters),
        "classes": None,
        "feature_names": None,
        "encoding": None,
        "run": encode_run(model.record),
        **Evidence.of(model).unless(evidence).to_header(),
        "state": {
            "examples": memory.examples,
            "mistakes": memory.mistakes,
            "search_errors": memory.search_errors,
            "longest": float(memory.longest),
            "largest_loss": float(memory.largest_loss),
            "square": float(memory.square),
            "goes_on": model.run is None,
            "is_recorded": mistakes is not None,
        },
    }
    arrays: Arrays = {
        "names": encode_names(memory.weights, "a feature"),
        "weights": np.array(list(memory.weights.values()), dtype=np.float64),
        "drift": np.array([memory.drift[name] for name in memory.weights], dtype=np.float64),
    }
    if mistakes is not None:
        arrays["mistake_rows"] = np.array(mistakes.rows, dtype=np.int64)
        arrays["mistake_guesses"] = encode_names(mistakes.guesses, "mistake_guesses_ (learn without record_mistakes)")
    return Parts(header, arrays)


def from_parts(parts: Parts, functions: Mapping[str, Callable[..., Any]]) -> StructuredModel:
    header, arrays = fields(parts.header), parts.arrays
    check_unencoded(header)
    for name in ("features", "decode", "loss"):
        needed_function(header, name, functions)
    parameters, state = decode_parameters(header, functions), header.part("state")
    ensure(parameters.keys() == set(PARAMETERS), "the parameters are others than those of a StructuredPerceptron")
    ensure(parameters["readout"] != "vote", "there is no vote of structures")
    check_arrays(arrays, TABLE | (RECORDED if state.flag("is_recorded") else {}), {})
    check_finite(arrays, "weights", "drift")
    names = decode_names(arrays["names"])
    ensure(len(names) == len(arrays["weights"]) == len(set(names)), "there are not as many different names as weights")
    memory = Memory(
        Weights(zip(names, arrays["weights"].tolist(), strict=True)),
        dict(zip(names, arrays["drift"].tolist(), strict=True)),
        state.whole("mistakes"),
        state.whole("search_errors"),
        state.number("largest_loss", least=0.0),
        state.number("square", least=-np.inf),
        examples=state.whole("examples"),
        longest=state.number("longest", least=0.0),
    )
    ensure(memory.mistakes <= memory.examples, "there are more mistakes than examples")
    mistakes = None
    if state.flag("is_recorded"):
        mistakes = Mistakes(arrays["mistake_rows"].tolist(), decode_names(arrays["mistake_guesses"]))
        ensure(len(mistakes.rows) == len(mistakes.guesses), "there are not as many guesses as mistakes")
    run = decode_run(header)
    return StructuredModel(
        memory,
        Search(*(parameters[name] for name in ("features", "decode", "loss", "violation"))),
        parameters["readout"],
        mistakes,
        run=None if state.flag("goes_on") else run,
        parameters=parameters,
        **Evidence.from_header(header).to_model(),
    )
