"""The online perceptron in a file: its features and labels by name, whatever plain values these are."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.features.names import Intercept
from novikoff.features.scales import Scale
from novikoff.keep.expect import Table, check_arrays, check_finite, ensure, fields
from novikoff.keep.header import Evidence, decode_lead, decode_parameters, encode_lead, encode_parameters, encode_run
from novikoff.keep.layout import FORMAT, Arrays, Parts
from novikoff.keep.values import decode, decode_names, encode, encode_names
from novikoff.learn.epochs import MOST_LEAD
from novikoff.learn.online.memory import OnlineState
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.learn.online.weights import Weights

LEARNER = "OnlinePerceptron"
_PARAMETERS = ("readout", "fit_intercept", "tie", "half_life")
SCALES: Table = {
    "scales.names": ("u1", "bytes of scales"),
    "scales.values": ("i8", "scales"),
    "scales.mean": ("f8", "scales"),
    "scales.squares": ("f8", "scales"),
}


def to_parts(model: OnlinePerceptron, evidence: Evidence) -> Parts:
    state = model.to_state()
    header = {
        "learner": LEARNER,
        "format": FORMAT,
        "parameters": encode_parameters({name: getattr(model, name) for name in _PARAMETERS}),
        "classes": encode(list(state.labels), "the labels"),
        "feature_names": None,
        "encoding": None,
        "run": encode_run(model.run),
        **evidence.to_header(),
        "state": {
            "examples": state.examples,
            "mistakes": state.mistakes,
            "longest": float(state.longest),
            "classes_are_fixed": state.classes_are_fixed,
            "waited": state.waited,
            "origin": state.origin,
            "trials": list(state.trials),
            **({"scales": len(state.scales)} if state.scales is not None else {}),
            **({**encode_lead(model), "square": state.square} if model.lead else {}),
        },
    }
    arrays: Arrays = {} if state.scales is None else _scales_as_arrays(state.scales)
    for place, weights in enumerate(state.weights):
        pairs = np.array(list(weights.values()), dtype=np.complex128)
        arrays[f"names.{place}"] = encode_names(weights, "a feature name")
        arrays[f"weights.{place}"], arrays[f"drift.{place}"] = pairs.real.copy(), pairs.imag.copy()
    return Parts(header, arrays)


def from_parts(parts: Parts, functions: Mapping[str, Callable[..., Any]]) -> OnlinePerceptron:
    header, arrays = fields(parts.header), parts.arrays
    parameters, plain = fields(decode_parameters(header, functions), "parameters"), header.part("state")
    labels = decode(header.value("classes"))
    ensure(isinstance(labels, list) and len(set(labels)) == len(labels), "the labels are no list of different ones")
    places = range(len(labels) if len(labels) > 2 else 1)
    table: Table = {}
    for place in places:
        table |= {f"names.{place}": ("u1", f"bytes {place}")}
        table |= {f"{part}.{place}": ("f8", f"features {place}") for part in ("weights", "drift")}
    scaled = plain.present("scales")
    table |= SCALES if scaled else {}
    check_arrays(arrays, table, {"scales": plain.whole("scales")} if scaled else {})
    check_finite(arrays, *(name for name in table if not name.endswith("names") and not name.startswith("names")))
    lead = decode_lead(plain)
    state = OnlineState(
        labels=tuple(labels),
        weights=tuple(_by_name(arrays, place) for place in places),
        examples=plain.whole("examples"),
        mistakes=plain.whole("mistakes"),
        longest=plain.number("longest", least=0.0),
        classes_are_fixed=plain.flag("classes_are_fixed"),
        waited=plain.whole("waited") if plain.present("waited") else 0,
        scales=_scales_of(arrays) if scaled else None,
        origin=plain.whole("origin") if plain.present("origin") else 0,
        trials=_trials_of(plain.value("trials")) if plain.present("trials") else (0.0, 0.0),
        narrow=lead.get("narrow", 0),
        square=plain.number("square", least=0.0) if lead else 0.0,
    )
    ensure(state.mistakes + state.narrow <= state.examples, "there are more mistakes than examples")
    ensure(lead.get("lead", 0.0) <= MOST_LEAD and math.isfinite(state.square), "the lead, or R^2, is too large")
    return OnlinePerceptron.from_state(
        state,
        readout=parameters.text("readout"),
        fit_intercept=parameters.value("fit_intercept"),
        tie=parameters.text("tie"),
        lead=lead.get("lead", 0.0),
        **({"half_life": parameters.number("half_life", least=1.0)} if parameters.present("half_life") else {}),
    )


def _trials_of(value: Any) -> tuple[float, float]:
    good = (
        isinstance(value, list)
        and len(value) == 2
        and all(type(part) is float and 0.0 <= part <= 512.0 for part in value)
    )
    ensure(good, "the trials of the read-outs are not two numbers from 0 to 512")
    return value[0], value[1]


def _scales_as_arrays(scales: Mapping[Any, Scale]) -> Arrays:
    return {
        "scales.names": encode_names(scales, "a feature name"),
        "scales.values": np.array([scale.values for scale in scales.values()], dtype=np.int64),
        "scales.mean": np.array([scale.mean for scale in scales.values()], dtype=np.float64),
        "scales.squares": np.array([scale.squares for scale in scales.values()], dtype=np.float64),
    }


def _scales_of(arrays: Arrays) -> dict[Any, Scale]:
    names = decode_names(arrays["scales.names"])
    columns = [arrays[f"scales.{part}"].tolist() for part in Scale._fields]
    ensure(len(names) == len(columns[0]) == len(set(names)), "there are not as many different names as scales")
    ensure(min(columns[0], default=1) >= 1 and min(columns[2], default=0.0) >= 0.0, "a scale is of no values")
    return dict(zip(names, map(Scale, *columns), strict=True))


def _by_name(arrays: Arrays, place: int) -> Weights:
    names = decode_names(arrays[f"names.{place}"])
    parts = [arrays[f"{part}.{place}"].tolist() for part in ("weights", "drift")]
    ensure(len(names) == len(parts[0]) == len(set(names)), "there are not as many different names as weights")
    weights = dict(zip(names, map(complex, *parts), strict=True))
    ensure(Intercept in weights, "the weight of the constant is missing")
    return weights
