"""Whether parameters make sense, by their names: a model that could not be used is not loaded.

The learners check their parameters themselves, when they are used. A file is checked before, without importing them.
"""

import math
import random
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.keep.layout import ModelFileError

Check = Callable[[Any], bool]
LARGEST = int(sys.float_info.max)
MOST_LEAD = 1e6 + 1.0


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that no learner takes; names that are not known here may be anything."""
    for name, value in parameters.items():
        if name in CHECKS and not CHECKS[name](value):
            raise ModelFileError(f"the parameter {name}={value!r:.60} makes no sense")


def _one_of(*choices: Any) -> Check:
    return lambda value: isinstance(value, str | None) and value in choices


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_) or (type(value) is int and value in (0, 1))


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return False
    return math.isfinite(value) if not isinstance(value, int) else abs(value) <= LARGEST


def _number(
    least: float = -math.inf, below: float = math.inf, *, above: float = -math.inf, or_none: bool = False
) -> Check:
    def check(value: Any) -> bool:
        if value is None:
            return or_none
        return _is_number(value) and bool(least <= value < below and value > above)

    return check


def _whole(*, or_none: bool = False) -> Check:
    def check(value: Any) -> bool:
        if value is None:
            return or_none
        return _is_number(value) and bool(value == int(value) and 1 <= value <= 2**62)

    return check


def _is_random_state(value: Any) -> bool:
    if value is None or isinstance(value, np.random.RandomState | np.random.Generator | random.Random):
        return True
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < 2**128


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)


def _is_gamma(value: Any) -> bool:
    return value in ("scale", "auto") if isinstance(value, str) else _number(above=0.0)(value)


FLAGS = ("fit_intercept", "shuffle", "warm_start", "record_mistakes", "zero_based", "early_stopping")
KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")
CHECKS: dict[str, Check] = {
    "readout": _one_of("last", "average", "vote", "recent", "auto"),
    "half_life": _number(least=1.0, below=2.0**53),
    "tie": _one_of("mistake", "predict"),
    "budget_rule": _one_of("forgetron", "random", "projectron"),
    "violation": _one_of(None, "early", "max"),
    "kernel": lambda value: callable(value) or _one_of(*KERNELS)(value),
    "gamma": _is_gamma,
    "coef0": _is_number,
    "kernel_params": lambda value: value is None or isinstance(value, dict),
    "features": callable,
    "decode": callable,
    "loss": lambda value: value is None or callable(value),
    "random_state": _is_random_state,
    "templates": lambda value: value is None or _are_texts(value),
    "columns": _are_texts,
    "constraint": lambda value: value is None or callable(value) or isinstance(value, str),
    "label": lambda value: value is None or isinstance(value, str),
    "eta0": _number(above=0.0),
    "tol": _number(least=0.0, or_none=True),
    "verbose": _is_number,
    "penalty": _one_of(None),
    **dict.fromkeys(("alpha", "l1_ratio"), _is_number),
    "n_jobs": lambda value: value is None or (_is_number(value) and value == int(value) != 0),
    "cost": _number(least=0.0),
    "lead": lambda value: value == "auto" if isinstance(value, str) else _number(least=0.0, below=MOST_LEAD)(value),
    "scale": lambda value: value == "auto" if isinstance(value, str) else value is None or _is_flag(value),
    "held_out": _number(above=0.0, below=1.0, or_none=True),
    "validation_fraction": _number(above=0.0, below=1.0),
    **dict.fromkeys(("min_margin", "time_limit"), _number(above=0.0, or_none=True)),
    **dict.fromkeys(("max_iter", "budget"), _whole(or_none=True)),
    **dict.fromkeys(("degree", "min_count", "n_iter_no_change"), _whole()),
    **dict.fromkeys(FLAGS, _is_flag),
}
