"""Whether parameters make sense, by their names: a model that could not be used is not loaded.

What an option may be is declared in `novikoff.options`; here are the parameters that are declared nowhere, and those
that depend on more than their value.
"""

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.keep.layout import ModelFileError
from novikoff.options import DECLARED, Number, Whole, is_number

Check = Callable[[Any], bool]

# No parameter but a seed is a larger whole number: it could not become a float, or a count.
LARGEST = 2**62


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that no learner takes; names that are not known here may be anything."""
    for name, value in parameters.items():
        if not _fits(name, value):
            raise ModelFileError(f"the parameter {name}={value!r:.60} makes no sense")


def _fits(name: str, value: Any) -> bool:
    if type(value) is int and abs(value) > LARGEST and name != "random_state":
        return False
    if name in CHECKS:
        return CHECKS[name](value)
    try:
        if name in DECLARED:
            DECLARED[name].kind.check(name, value)
    except ValueError:
        return False
    return True


def _one_of(*choices: Any) -> Check:
    return lambda value: isinstance(value, str | None) and value in choices


def _is_random_state(value: Any) -> bool:
    if value is None or isinstance(value, np.random.RandomState | np.random.Generator | random.Random):
        return True
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < 2**128


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)


def _is_gamma(value: Any) -> bool:
    return value in ("scale", "auto") if isinstance(value, str) else POSITIVE.accepts(value)


POSITIVE, FINITE = Number(""), Number("", low=-math.inf)
KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")
CHECKS: dict[str, Check] = {
    "half_life": Number("", low=1.0, high=2.0**53, is_open=False).accepts,
    "budget": lambda value: value is None or Whole().accepts(value),
    "budget_rule": _one_of("forgetron", "random", "projectron"),
    "violation": _one_of(None, "early", "max"),
    "kernel": lambda value: callable(value) or _one_of(*KERNELS)(value),
    "gamma": _is_gamma,
    "coef0": FINITE.accepts,
    "degree": Whole().accepts,
    "kernel_params": lambda value: value is None or isinstance(value, dict),
    "features": callable,
    "decode": callable,
    "loss": lambda value: value is None or callable(value),
    "random_state": _is_random_state,
    "templates": lambda value: value is None or _are_texts(value),
    "columns": _are_texts,
    "min_count": Whole().accepts,
    "constraint": lambda value: value is None or callable(value) or isinstance(value, str),
    "label": lambda value: value is None or isinstance(value, str),
    "cost": lambda value: POSITIVE.accepts(value) or (is_number(value) and value == 0),
    "scale": lambda value: value == "auto" if isinstance(value, str) else isinstance(value, bool | np.bool_),
    "zero_based": lambda value: isinstance(value, bool | np.bool_),
    "n_jobs": lambda value: value is None or (FINITE.accepts(value) and value == int(value) != 0),
    "penalty": _one_of(None),
    **dict.fromkeys(("verbose", "alpha", "l1_ratio"), FINITE.accepts),
}
