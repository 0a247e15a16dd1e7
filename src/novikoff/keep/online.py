"""The online perceptron in a file: its features and labels by name, whatever plain values these are."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.data.missing import is_missing
from novikoff.features.names import LONGEST, Intercept
from novikoff.features.scales import Scale
from novikoff.keep.expect import Table, check_arrays, check_finite, ensure, fields
from novikoff.keep.header import (
    Evidence,
    check_unencoded,
    decode_lead,
    decode_parameters,
    encode_lead,
    encode_parameters,
    encode_run,
)
from novikoff.keep.layout import Arrays, Parts
from novikoff.keep.values import decode, decode_names, encode, encode_names
from novikoff.learn.online.memory import OnlineState
from novikoff.learn.online.past import OLD
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.learn.online.weights import Weights
from novikoff.options import MOST_LEAD

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
            "scales": None if state.scales is None else len(state.scales),
            **encode_lead(model),
            "square": float(state.square),
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
    check_unencoded(header)
    parameters = fields(decode_parameters(header, functions, own=("readout",)), "parameters")  # recent, auto, no vote
    plain = header.part("state")
    labels = decode(header.value("classes"))
    ensure(isinstance(labels, list) and len(set(labels)) == len(labels), "the labels are no list of different ones")
    ensure(not any(map(is_missing, labels)), "a label stands for none at all")
    places = range(len(labels) if len(labels) > 2 else 1)
    table: Table = {}
    for place in places:
        table |= {f"names.{place}": ("u1", f"bytes {place}")}
        table |= {f"{part}.{place}": ("f8", f"features {place}") for part in ("weights", "drift")}
    scaled = plain.value("scales") is not None
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
        waited=plain.whole("waited"),
        scales=_scales_of(arrays) if scaled else None,
        origin=plain.whole("origin"),
        trials=_trials_of(plain.value("trials")),
        narrow=lead["narrow"],
        square=plain.number("square", least=0.0),
    )
    ensure(lead["lead"] <= MOST_LEAD, "the lead is too large")
    _check(state, bool(parameters.value("fit_intercept")), parameters.text("readout") == "recent")
    return OnlinePerceptron.from_state(
        state,
        readout=parameters.text("readout"),
        fit_intercept=parameters.value("fit_intercept"),
        tie=parameters.text("tie"),
        lead=lead["lead"],
        half_life=parameters.number("half_life", least=1.0),
    )


def _check(state: OnlineState, fit_intercept: bool, fades: bool) -> None:
    """Whether these can be the sums of so many mistakes of such a length, and ages that are counted from an origin.

    Whatever goes on from here stays finite then, and comes to an end: an origin after the last example would not.
    """
    updates, longest = state.mistakes + state.narrow, state.longest
    ensure(updates <= state.examples, "there are more mistakes than examples")
    ensure(len(state.labels) >= 2 or not (updates or state.classes_are_fixed), "one label alone makes no mistakes")
    ensure(state.origin <= (state.examples if fades else 0), "ages are counted from an example that has not come")
    ensure(state.waited <= updates * updates, "labels came later than there were mistakes")
    ensure(longest <= LONGEST, "an example is too long")
    ensure(state.square <= 2.0 * (longest * longest + 1.0), "R^2 is larger than the longest example")
    # Each mistake adds no more than its length to a weight, and its age times that to the drift. Rounding is within 2.
    most, oldest = 2.0 * updates * longest, 2.0 ** (OLD + 1) if fades else state.examples
    for weights in state.weights:
        sizes = ((pair, 2.0 * updates if name is Intercept else most) for name, pair in weights.items())
        within = all(abs(pair.real) <= size and abs(pair.imag) <= size * oldest for pair, size in sizes)
        ensure(within, "a weight is larger than the sum of all mistakes")
        ensure(fit_intercept or not weights[Intercept], "the constant has a weight, and examples carry none")
    for values, mean, squares in (state.scales or {}).values():
        ensure(1 <= values <= state.examples, "a scale is of no values, or of more than there were")
        ensure(abs(mean) <= LONGEST and 0.0 <= squares <= 8.0 * values * LONGEST**2, "a scale is too large")


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
    return dict(zip(names, map(Scale, *columns), strict=True))


def _by_name(arrays: Arrays, place: int) -> Weights:
    names = decode_names(arrays[f"names.{place}"])
    parts = [arrays[f"{part}.{place}"].tolist() for part in ("weights", "drift")]
    ensure(len(names) == len(parts[0]) == len(set(names)), "there are not as many different names as weights")
    weights = dict(zip(names, map(complex, *parts), strict=True))
    ensure(Intercept in weights, "the weight of the constant is missing")
    return weights
