"""Models whose weights have names, in files: the online and the structured perceptron. Names are any plain values.

The functions of a structured perceptron are code, and passed to `load`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novikoff.data.missing import is_missing
from novikoff.features.names import LONGEST, Intercept, RunningScale
from novikoff.keep.codec import Format, TypeForm, by_name, check_memory, ensure
from novikoff.learn.model import LearnedModel
from novikoff.learn.online.memory import OnlineState
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.learn.structure import perceptron as structure
from novikoff.learn.structure.perceptron import StructuredModel
from novikoff.learn.structure.space import FeatureWeights, StructureSearch

PARAMETERS = ("readout", "fit_intercept", "tie", "lead")


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
    ensure("the weight of the constant is missing", all(Intercept in weights for weights in state.weights))
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


ONLINE = Format(
    KeptOnline,
    _online,
    _kept,
    forms={dict[Any, RunningScale]: by_name("f8, f8, f8", RunningScale._make, read_as="i8, f8, f8")},
    own=("readout",),  # auto, no vote
)

# -- structures -------------------------------------------------------------------------------------------------------


def _structured(model: StructuredModel) -> StructuredModel:
    parameters, memory, rows = model.parameters, model.memory, model.mistake_rows
    ensure("the parameters are not those of a StructuredPerceptron", parameters.keys() == set(structure.PARAMETERS))
    check_memory(memory)
    ensure("there is not a drift for every weight", memory.drift.keys() == memory.weights.keys())
    ensure("there are more mistakes than examples", memory.updates <= memory.examples)
    ensure("voting is not supported for structures", model.readout != "vote")
    ensure("the read-out of the parameters differs from the model's", model.readout == parameters["readout"])
    search = StructureSearch(*(parameters[name] for name in ("features", "decode", "loss")))
    return replace(model, search=search, mistake_rows=None if rows is None else rows.tolist())


STRUCTURED = Format(
    StructuredModel,
    _structured,
    forms={
        FeatureWeights: by_name(np.float64, whole=FeatureWeights),
        StructureSearch: TypeForm(lambda search, path, arrays: None, lambda plain, path, arrays: None),
    },
)
