"""The online perceptron in a file: its features and labels by name, whatever plain values these are."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from novikoff.features.names import Intercept
from novikoff.keep.expect import Table, check_arrays, check_finite, ensure, fields
from novikoff.keep.header import Evidence, decode_parameters, encode_parameters, encode_run
from novikoff.keep.layout import Arrays, Parts
from novikoff.keep.values import decode, decode_names, encode, encode_names
from novikoff.learn.online import OnlinePerceptron

LEARNER = "OnlinePerceptron"


def to_parts(model: OnlinePerceptron, evidence: Evidence) -> Parts:
    labels = list(model._places)
    header = {
        "learner": LEARNER,
        **({"format": 2} if model.waited else {}),
        "parameters": encode_parameters({name: getattr(model, name) for name in ("readout", "fit_intercept", "tie")}),
        "classes": encode(labels, "the labels"),
        "feature_names": None,
        "encoding": None,
        "run": encode_run(model.run),
        **evidence.to_header(),
        "state": {
            "examples": model.examples,
            "mistakes": model.mistakes,
            "longest": float(model._longest),
            "doubt": float(model._doubt),
            "classes_are_fixed": model.classes_are_fixed,
            "has_one_width": model._width > 0,
            **({"waited": model.waited} if model.waited else {}),
        },
    }
    arrays: Arrays = {}
    for place, (weights, drift) in enumerate(zip(model._weights, model._drift, strict=True)):
        arrays[f"names.{place}"] = encode_names(weights, "a feature name")
        arrays[f"weights.{place}"] = np.array(list(weights.values()), dtype=np.float64)
        arrays[f"drift.{place}"] = np.array([drift[name] for name in weights], dtype=np.float64)
    return Parts(header, arrays)


def from_parts(parts: Parts, functions: Mapping[str, Callable[..., Any]]) -> OnlinePerceptron:
    header, arrays = fields(parts.header), parts.arrays
    parameters, state = fields(decode_parameters(header, functions), "parameters"), header.part("state")
    labels = decode(header.value("classes"))
    ensure(isinstance(labels, list) and len(set(labels)) == len(labels), "the labels are no list of different ones")
    model = OnlinePerceptron(
        readout=parameters.text("readout"),  # type: ignore[arg-type]
        fit_intercept=parameters.value("fit_intercept"),
        tie=parameters.text("tie"),  # type: ignore[arg-type]
    )
    if labels:
        model._make_room(labels)
    n_vectors = len(labels) if len(labels) > 2 else 1
    table: Table = {}
    for place in range(n_vectors):
        table |= {f"names.{place}": ("u1", f"bytes {place}")}
        table |= {f"{part}.{place}": ("f8", f"features {place}") for part in ("weights", "drift")}
    check_arrays(arrays, table, {})
    check_finite(arrays, *(name for name in table if not name.startswith("names")))
    for part, vectors in (("weights", model._weights), ("drift", model._drift)):
        vectors[:] = [_by_name(arrays, part, place) for place in range(n_vectors)]
    model.examples, model.mistakes = state.whole("examples"), state.whole("mistakes")
    ensure(model.mistakes <= model.examples, "there are more mistakes than examples")
    model._longest, model._doubt = state.number("longest", least=0.0), state.number("doubt", least=0.0)
    model.waited = state.whole("waited") if state.present("waited") else 0
    model.classes_are_fixed = state.flag("classes_are_fixed")
    if state.flag("has_one_width"):
        _stand_in_a_row(model)
    return model


def _by_name(arrays: Arrays, part: str, place: int) -> dict[Any, float]:
    names, values = decode_names(arrays[f"names.{place}"]), arrays[f"{part}.{place}"].tolist()
    ensure(len(names) == len(values) == len(set(names)), "there are not as many different names as weights")
    weights = dict(zip(names, values, strict=True))
    ensure(Intercept in weights, "the weight of the constant is missing")
    return weights


def _stand_in_a_row(model: OnlinePerceptron) -> None:
    """While every example has the same names, the weights also stand in a row; no order of it changes a sign."""
    names = [name for name in model._weights[0] if name is not Intercept]
    ensure(len(names) > 1 and len(model._weights) == 1, "the features are too few to stand in a row")
    model._width, model._columns = len(names), itemgetter(*names)
    model._row = model._columns(model._weights[0])
