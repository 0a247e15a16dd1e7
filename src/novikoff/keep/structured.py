"""The structured perceptron in a file: weights by feature. Its functions are code, and whoever loads it brings them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.keep.expect import Table, check_arrays, check_finite, ensure, fields
from novikoff.keep.header import (
    Evidence,
    decode_parameters,
    decode_run,
    encode_parameters,
    encode_run,
    needed_function,
)
from novikoff.keep.layout import Arrays, Parts
from novikoff.keep.values import decode_names, encode_names
from novikoff.learn.structure.memory import Memory, Weights
from novikoff.learn.structure.space import StructuredPerceptron

LEARNER = "StructuredPerceptron"
PARAMETERS = (
    *("features", "decode", "readout", "max_epochs", "shuffle", "random_state"),
    *("min_margin", "record_mistakes", "loss", "violation"),
)
TABLE: Table = {"names": ("u1", "bytes"), "weights": ("f8", "features"), "drift": ("f8", "features")}
RECORDED: Table = {"mistake_rows": ("i8", "recorded"), "mistake_guesses": ("u1", "bytes of guesses")}


def to_parts(model: StructuredPerceptron, evidence: Evidence) -> Parts:
    memory = model._memory
    if memory is None:
        raise ValueError("this StructuredPerceptron has learned nothing yet; call fit or partial_fit before save")
    is_recorded = hasattr(model, "mistake_rows_")
    header = {
        "learner": LEARNER,
        "parameters": encode_parameters({name: getattr(model, name) for name in PARAMETERS}),
        "classes": None,
        "feature_names": None,
        "encoding": None,
        "run": encode_run(model.run_),
        **evidence.to_header(),
        "state": {
            "examples": memory.examples,
            "mistakes": memory.mistakes,
            "search_errors": memory.search_errors,
            "longest": float(memory.longest),
            "largest_loss": float(memory.largest_loss),
            "square": float(memory.square),
            "goes_on": model._run is None,
            "is_recorded": is_recorded,
        },
    }
    arrays: Arrays = {
        "names": encode_names(memory.weights, "a feature"),
        "weights": np.array(list(memory.weights.values()), dtype=np.float64),
        "drift": np.array([memory.drift[name] for name in memory.weights], dtype=np.float64),
    }
    if is_recorded:
        guesses = "mistake_guesses_ (del model.mistake_rows_, model.mistake_guesses_ to save without them)"
        arrays["mistake_rows"] = np.array(model.mistake_rows_, dtype=np.int64)
        arrays["mistake_guesses"] = encode_names(model.mistake_guesses_, guesses)
    return Parts(header, arrays)


def from_parts(parts: Parts, functions: Mapping[str, Callable[..., Any]]) -> StructuredPerceptron:
    header, arrays = fields(parts.header), parts.arrays
    for name in ("features", "decode", "loss"):
        needed_function(header, name, functions)
    parameters, state = decode_parameters(header, functions), header.part("state")
    ensure(parameters.keys() == set(PARAMETERS), "the parameters are others than those of a StructuredPerceptron")
    ensure(parameters["readout"] != "vote", "there is no vote of structures")
    model = StructuredPerceptron(**parameters)
    check_arrays(arrays, TABLE | (RECORDED if state.flag("is_recorded") else {}), {})
    check_finite(arrays, "weights", "drift")
    names = decode_names(arrays["names"])
    ensure(len(names) == len(arrays["weights"]) == len(set(names)), "there are not as many different names as weights")
    model._memory = Memory(
        Weights(zip(names, arrays["weights"].tolist(), strict=True)),
        dict(zip(names, arrays["drift"].tolist(), strict=True)),
        state.whole("mistakes"),
        state.whole("search_errors"),
        state.number("largest_loss", least=0.0),
        state.number("square", least=-np.inf),
        examples=state.whole("examples"),
        longest=state.number("longest", least=0.0),
    )
    ensure(model._memory.mistakes <= model._memory.examples, "there are more mistakes than examples")
    run = decode_run(header)
    model._run = None if state.flag("goes_on") else run
    if state.flag("is_recorded"):
        model.mistake_rows_ = arrays["mistake_rows"].tolist()
        model.mistake_guesses_ = decode_names(arrays["mistake_guesses"])
        ensure(len(model.mistake_rows_) == len(model.mistake_guesses_), "there are not as many guesses as mistakes")
    return model
