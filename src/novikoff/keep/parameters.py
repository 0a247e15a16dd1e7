"""Parameters in files. Functions, which are code, are replaced by notes.

A model with invalid parameters is not loaded. `novikoff.options` declares the valid values of options; here are the
parameters that are not declared there, and those that depend on more than their value.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from novikoff.data.chunks import SCHEMES
from novikoff.keep.layout import ModelFileError
from novikoff.keep.values import decode, encode
from novikoff.options import DECLARED, Number, Whole, is_number

Check = Callable[[Any], bool]
Functions = Mapping[str, Callable[..., Any]]

# The parameters that may be functions; all but a constraint are needed to predict.
MAY_BE_FUNCTIONS = ("kernel", "constraint", "features", "decode", "loss")

# Only a seed may be a larger integer: others must be convertible to a float, or a count.
LARGEST = 2**62


class FunctionError(ValueError):
    """A required function was not given, or one was given that is not needed."""


def encode_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters by name, with notes in place of functions and generators."""
    return {name: _parameter(name, value) for name, value in parameters.items()}


def _parameter(name: str, value: Any) -> Any:
    if callable(value) and not isinstance(value, type):
        return {"function": getattr(value, "__qualname__", type(value).__name__)}
    if name == "random_state":
        try:
            return encode(value)
        except ValueError:
            return {"not_kept": f"random_state was a {type(value).__name__}, whose state a model file cannot hold"}
    return encode(value, f"the parameter {name}")


def decode_parameters(found: Any, functions: Functions, own: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the parameters, with the caller's functions; one that is not needed, or missing, is refused.

    Parameters with an `own` meaning to a learner are left to it to check.
    """
    if not isinstance(found, dict):
        raise ModelFileError("the parameters are no object")
    noted = {name: plain["function"] for name, plain in found.items() if _is_note(plain, "function")}
    left_out = {*noted, *(name for name, plain in found.items() if _is_note(plain, "not_kept"))}
    for name in functions:
        if name not in noted:
            raise FunctionError(f"{name}= was given, but this model was learned without such a function; leave it out")
    for name in left_out:
        if name not in (MAY_BE_FUNCTIONS if name in noted else ("random_state",)):
            raise ModelFileError(f"the parameter {name!r:.60} is left out, and it may not be")
    for name, function in noted.items():
        if name != "constraint" and name not in functions:
            raise FunctionError(
                f"this model was learned with the function {name}={function!s:.100}, and a model file holds no code; "
                f"pass it: load(path, {name}={function!s:.100})"
            )
    parameters = {name: decode(plain) for name, plain in found.items() if name not in left_out}
    check_parameters({name: value for name, value in parameters.items() if name not in own})
    return {name: functions.get(name) if name in left_out else parameters[name] for name in found}


def _is_note(plain: Any, kind: str) -> bool:
    return isinstance(plain, dict) and plain.keys() == {kind}


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse values that no learner accepts; parameters with unknown names are not checked."""
    for name, value in parameters.items():
        if not _fits(name, value):
            raise ModelFileError(f"the parameter {name}={value!r:.60} is invalid")


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
    if value is None:
        return True
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= int(value) < 2**128


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)


def _is_gamma(value: Any) -> bool:
    return value in ("scale", "auto") if isinstance(value, str) else POSITIVE.accepts(value)


POSITIVE, FINITE = Number(""), Number("", low=-math.inf)
KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")
CHECKS: dict[str, Check] = {
    "budget": lambda value: value is None or Whole().accepts(value),
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
    "constraint": lambda value: callable(value) or _one_of(None, *SCHEMES)(value),
    "label": lambda value: value is None or isinstance(value, str),
    "cost": lambda value: POSITIVE.accepts(value) or (is_number(value) and value == 0),
    "zero_based": lambda value: isinstance(value, bool | np.bool_),
    "n_jobs": lambda value: value is None or (FINITE.accepts(value) and value == int(value) != 0),
    "penalty": _one_of(None),
    **dict.fromkeys(("verbose", "alpha", "l1_ratio"), FINITE.accepts),
}
