"""Models whose weights have names, in files: the online and the structured perceptron. Names are any plain values.

The functions of a structured perceptron are code, and passed to `load`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff.data.missing import is_missing
from novikoff.features.names import LONGEST, Intercept, RunningScale
from novikoff.keep.codec import Codec, Format, TypeForm, check_memory, declared_fields, ensure, take_named
from novikoff.keep.layout import Arrays
from novikoff.keep.values import encode_names
from novikoff.learn.model import LearnedModel
from novikoff.learn.online.memory import OnlineState
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.learn.online.weights import NamedWeights
from novikoff.learn.structure import perceptron as structure
from novikoff.learn.structure.perceptron import StructuredModel
from novikoff.learn.structure.space import FeatureWeights, StructureMemory, StructureSearch

PARAMETERS = ("readout", "fit_intercept", "tie", "lead")
SCALES = {"values": np.int64, "mean": np.float64, "squares": np.float64}

# Of the memory of a structured perceptron: weights are arrays, and the search errors of an epoch are used during
# learning only.
NOT_FIELDS = ("weights", "drift", "astray")


@dataclass(frozen=True, eq=False, kw_only=True)
class KeptOnline(LearnedModel):
    """What is kept of an online learner."""

    memory: OnlineState


def _kept(model: OnlinePerceptron) -> KeptOnline:
    return KeptOnline(memory=model.to_state(), parameters={name: getattr(model, name) for name in PARAMETERS})


def _online(kept: KeptOnline) -> OnlinePerceptron:
    state, parameters = kept.memory, dict(kept.parameters)
    ensure("the parameters are not those of an OnlinePerceptron", parameters.keys() == set(PARAMETERS))
    ensure("the lead is not a number", type(parameters["lead"]) in (int, float))
    ensure("there are narrow examples without a lead", parameters["lead"] > 0 or not state.narrow)
    ensure("a label stands for none at all", not any(map(is_missing, state.labels)))
    rows = len(state.labels) if len(state.labels) > 2 else 1
    ensure("there are not as many weight vectors as labels need", len(state.weights) == rows)
    ensure("the trials of the read-outs are not two numbers from 0 to 512", max(state.trials) <= 512.0)
    _check(state, bool(parameters["fit_intercept"]))
    return OnlinePerceptron.from_state(state, **parameters)


def _check(state: OnlineState, fit_intercept: bool) -> None:
    """Check that the sums are possible for this number and length of mistakes, so that further ones stay finite."""
    updates, longest = state.mistakes + state.narrow, state.longest
    ensure("there are more mistakes than examples", updates <= state.examples)
    ensure("one label alone makes no mistakes", len(state.labels) >= 2 or not (updates or state.classes_are_fixed))
    ensure("labels came later than there were mistakes", state.waited <= updates * updates)
    ensure("an example is too long", longest <= LONGEST)
    ensure("R^2 is larger than the longest example", 0.0 <= state.square <= 2.0 * (longest * longest + 1.0))
    # A mistake adds at most its length to a weight, and its age times that to the drift. The factor 2 covers rounding.
    most, oldest = 2.0 * updates * longest, state.examples
    for weights in state.weights:
        sizes = ((pair, 2.0 * updates if name is Intercept else most) for name, pair in weights.items())
        within = all(abs(pair.real) <= size and abs(pair.imag) <= size * oldest for pair, size in sizes)
        ensure("a weight is larger than the sum of all mistakes", within)
        ensure("the constant has a weight, and examples carry none", fit_intercept or not weights[Intercept])
    for values, mean, squares in (state.scales or {}).values():
        ensure("a scale is of no values, or of more than there were", 1 <= values <= state.examples)
        ensure("a scale is too large", abs(mean) <= LONGEST, 0.0 <= squares <= 8.0 * values * LONGEST**2)


def _write_weights(weights: tuple[NamedWeights, ...], path: str, arrays: Arrays) -> int:
    for place, row in enumerate(weights):
        pairs = np.array(list(row.values()), dtype=np.complex128)
        arrays[f"names.{place}"] = encode_names(row, "a feature name")
        arrays[f"weights.{place}"], arrays[f"drift.{place}"] = pairs.real.copy(), pairs.imag.copy()
    return len(weights)


def _read_weights(number: Any, path: str, arrays: Arrays) -> tuple[NamedWeights, ...]:
    ensure("the number of weight vectors is none", type(number) is int and 1 <= number <= len(arrays))
    rows = []
    for place in range(number):
        parts = dict.fromkeys((f"weights.{place}", f"drift.{place}"), np.float64)
        names, columns = take_named(arrays, f"names.{place}", parts)
        rows.append(dict(zip(names, map(complex, *columns), strict=True)))
        ensure("the weight of the constant is missing", Intercept in rows[-1])
    return tuple(rows)


def _write_scales(scales: Mapping[Any, RunningScale], path: str, arrays: Arrays) -> bool:
    arrays["scales.names"] = encode_names(scales, "a feature name")
    for name, kind in SCALES.items():
        arrays[f"scales.{name}"] = np.array([getattr(scale, name) for scale in scales.values()], dtype=kind)
    return True


def _read_scales(plain: Any, path: str, arrays: Arrays) -> dict[Any, RunningScale]:
    names, columns = take_named(arrays, "scales.names", {f"scales.{name}": kind for name, kind in SCALES.items()})
    return dict(zip(names, map(RunningScale, *columns), strict=True))


ONLINE = Format(
    KeptOnline,
    _online,
    _kept,
    forms={
        declared_fields(OnlineState)["weights"]: TypeForm(_write_weights, _read_weights),
        dict[Any, RunningScale]: TypeForm(_write_scales, _read_scales),
    },
    own=("readout",),  # auto, no vote
)

# -- structures -------------------------------------------------------------------------------------------------------


def _write_memory(memory: StructureMemory, path: str, arrays: Arrays) -> dict[str, Any]:
    arrays |= {
        "names": encode_names(memory.weights, "a feature"),
        "weights": np.array(list(memory.weights.values()), dtype=np.float64),
        "drift": np.array([memory.drift[name] for name in memory.weights], dtype=np.float64),
    }
    return Codec().write_fields(memory, arrays, path, NOT_FIELDS)


def _read_memory(plain: Any, path: str, arrays: Arrays) -> StructureMemory:
    known = Codec().read_fields(StructureMemory, plain, arrays, path, NOT_FIELDS)
    names, (weights, drift) = take_named(arrays, "names", {"weights": np.float64, "drift": np.float64})
    pairs = (dict(zip(names, numbers, strict=True)) for numbers in (weights, drift))
    return StructureMemory(FeatureWeights(next(pairs)), next(pairs), **known)


def _structured(model: StructuredModel) -> StructuredModel:
    parameters, memory, rows = model.parameters, model.memory, model.mistake_rows
    ensure("the parameters are not those of a StructuredPerceptron", parameters.keys() == set(structure.PARAMETERS))
    check_memory(memory)
    ensure("there are more mistakes than examples", memory.updates <= memory.examples)
    ensure("voting is not supported for structures", model.readout != "vote")
    ensure("the read-out of the parameters differs from the model's", model.readout == parameters["readout"])
    search = StructureSearch(*(parameters[name] for name in ("features", "decode", "loss")))
    return replace(model, search=search, mistake_rows=None if rows is None else rows.tolist())


STRUCTURED = Format(
    StructuredModel,
    _structured,
    forms={
        StructureMemory: TypeForm(_write_memory, _read_memory),
        StructureSearch: TypeForm(lambda search, path, arrays: None, lambda plain, path, arrays: None),
    },
)
