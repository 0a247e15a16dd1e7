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

# The parameters that may be functions.
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


def decode_parameters(
    header: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]], *, own: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the parameters, with the caller's functions; a function that is not needed is refused.

    Parameters with an `own` meaning to a learner are left to it to check.
    """
    found = header["parameters"]
    if not isinstance(found, dict):
        raise ModelFileError("the parameters are no object")
    for name in functions:
        if name not in found or _function_name(found[name]) is None:
            raise FunctionError(f"{name}= was given, but this model was learned without such a function; leave it out")
    for name, plain in found.items():
        if _is_left_out(plain):
            may_be = MAY_BE_FUNCTIONS if "function" in plain else ("random_state",)
            if name not in may_be:
                raise ModelFileError(f"the parameter {name!r:.60} is left out, and only {', '.join(may_be)} may be")
    parameters = {name: functions.get(name) if _is_left_out(plain) else decode(plain) for name, plain in found.items()}
    here = (name for name in parameters if name not in own and not _is_left_out(found[name]))
    check_parameters({name: parameters[name] for name in here})
    return parameters


def needed_function(header: Mapping[str, Any], name: str, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Raise FunctionError if a function that the model requires was not given."""
    plain = header["parameters"].get(name)
    function = _function_name(plain)
    if function is not None and not callable(functions.get(name)):
        raise FunctionError(
            f"this model was learned with the function {name}={function}, and a model file holds no code; "
            f"pass it: load(path, {name}={function})"
        )


def _function_name(plain: Any) -> str | None:
    return str(plain["function"])[:100] if isinstance(plain, dict) and plain.keys() == {"function"} else None


def _is_left_out(plain: Any) -> bool:
    return isinstance(plain, dict) and plain.keys() in ({"function"}, {"not_kept"})


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
