"""The online perceptron in a file: its features and labels by name; names are any plain values."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.data.missing import is_missing
from novikoff.features.names import LONGEST, Intercept, RunningScale
from novikoff.keep import checks
from novikoff.keep.checks import ensure, take_named
from novikoff.keep.codec import EVIDENCE, Codec, write_run
from novikoff.keep.layout import Arrays, FileParts
from novikoff.keep.parameters import decode_parameters, encode_parameters
from novikoff.keep.values import decode, encode, encode_names
from novikoff.learn.online.memory import OnlineState
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.learn.online.weights import NamedWeights
from novikoff.options import MOST_LEAD

CODEC = Codec()
PARAMETERS = ("readout", "fit_intercept", "tie", "lead")
BY_HAND = (*EVIDENCE, "parameters", "run", "classes", "labels", "weights", "scales")
SCALES = {"values": np.int64, "mean": np.float64, "squares": np.float64}


def to_parts(model: OnlinePerceptron) -> FileParts:
    state = model.to_state()
    arrays: Arrays = {} if state.scales is None else _scales_as_arrays(state.scales)
    for place, weights in enumerate(state.weights):
        pairs = np.array(list(weights.values()), dtype=np.complex128)
        arrays[f"names.{place}"] = encode_names(weights, "a feature name")
        arrays[f"weights.{place}"], arrays[f"drift.{place}"] = pairs.real.copy(), pairs.imag.copy()
    header = {
        "parameters": encode_parameters({name: getattr(model, name) for name in PARAMETERS}),
        "run": write_run(model.run),
        "classes": encode(list(state.labels), "the labels"),
        "scales": state.scales is not None,
        **CODEC.write_fields(state, arrays, without=BY_HAND),
    }
    return FileParts(header, arrays)


def from_parts(parts: FileParts, functions: Mapping[str, Callable[..., Any]]) -> OnlinePerceptron:
    header, arrays = parts.header, dict(parts.arrays)
    parameters = decode_parameters(header, functions, own=("readout",))  # recent, auto, no vote
    ensure(parameters.keys() == set(PARAMETERS), "the parameters are not those of an OnlinePerceptron")
    ensure(type(parameters["lead"]) in (int, float), "the lead is not a number")
    labels = decode(header["classes"])
    ensure(isinstance(labels, list) and len(set(labels)) == len(labels), "the labels are no list of different ones")
    ensure(not any(map(is_missing, labels)), "a label stands for none at all")
    is_scaled = CODEC.read(bool, header["scales"], arrays, "scales")
    state = OnlineState(
        labels=tuple(labels),
        weights=tuple(_by_name(arrays, place) for place in range(len(labels) if len(labels) > 2 else 1)),
        scales=_scales_of(arrays) if is_scaled else None,
        **CODEC.read_fields(OnlineState, header, arrays, without=BY_HAND),
    )
    checks.all_taken(arrays)
    ensure(parameters["lead"] > 0 or not state.narrow, "there are narrow examples without a lead")
    ensure(parameters["lead"] <= MOST_LEAD, "the lead is too large")
    ensure(max(state.trials) <= 512.0, "the trials of the read-outs are not two numbers from 0 to 512")
    _check(state, bool(parameters["fit_intercept"]))
    return OnlinePerceptron.from_state(state, **parameters)


def _check(state: OnlineState, fit_intercept: bool) -> None:
    """Check that the sums are possible for this number and length of mistakes, so that further ones stay finite."""
    updates, longest = state.mistakes + state.narrow, state.longest
    ensure(updates <= state.examples, "there are more mistakes than examples")
    ensure(len(state.labels) >= 2 or not (updates or state.classes_are_fixed), "one label alone makes no mistakes")
    ensure(state.waited <= updates * updates, "labels came later than there were mistakes")
    ensure(longest <= LONGEST, "an example is too long")
    ensure(state.square <= 2.0 * (longest * longest + 1.0), "R^2 is larger than the longest example")
    # A mistake adds at most its length to a weight, and its age times that to the drift. The factor 2 covers rounding.
    most, oldest = 2.0 * updates * longest, state.examples
    for weights in state.weights:
        sizes = ((pair, 2.0 * updates if name is Intercept else most) for name, pair in weights.items())
        within = all(abs(pair.real) <= size and abs(pair.imag) <= size * oldest for pair, size in sizes)
        ensure(within, "a weight is larger than the sum of all mistakes")
        ensure(fit_intercept or not weights[Intercept], "the constant has a weight, and examples carry none")
    for values, mean, squares in (state.scales or {}).values():
        ensure(1 <= values <= state.examples, "a scale is of no values, or of more than there were")
        ensure(abs(mean) <= LONGEST and 0.0 <= squares <= 8.0 * values * LONGEST**2, "a scale is too large")


def _scales_as_arrays(scales: Mapping[Any, RunningScale]) -> Arrays:
    columns = {
        f"scales.{name}": np.array([getattr(scale, name) for scale in scales.values()], dtype=kind)
        for name, kind in SCALES.items()
    }
    return {"scales.names": encode_names(scales, "a feature name"), **columns}


def _scales_of(arrays: Arrays) -> dict[Any, RunningScale]:
    names, columns = take_named(arrays, "scales.names", {f"scales.{name}": kind for name, kind in SCALES.items()})
    return dict(zip(names, map(RunningScale, *columns), strict=True))


def _by_name(arrays: Arrays, place: int) -> NamedWeights:
    parts = dict.fromkeys((f"weights.{place}", f"drift.{place}"), np.float64)
    names, columns = take_named(arrays, f"names.{place}", parts)
    weights = dict(zip(names, map(complex, *columns), strict=True))
    ensure(Intercept in weights, "the weight of the constant is missing")
    return weights
