"""What the headers of all learners have in common: parameters, classes, the record of the run, and evidence."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from novikoff.data.strict_json import Fields
from novikoff.keep.expect import ensure
from novikoff.keep.parameters import check_parameters
from novikoff.keep.values import decode, decode_array, encode, encode_array
from novikoff.learn.class_weights import HEAVIEST, LIGHTEST, Weights
from novikoff.learn.cycles import Cycle
from novikoff.learn.history import History
from novikoff.learn.model import Model
from novikoff.learn.run import Run, Stopped

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding


class FunctionError(ValueError):
    """A function is needed that was not given, or was given and is not needed."""


@dataclass(frozen=True)
class Evidence:
    """What is known about the training data: a certificate, as JSON, and a SHA-256."""

    certificate: str | None = None
    fingerprint: str | None = None

    @classmethod
    def of(cls, model: Model) -> "Evidence":
        return cls(model.certificate, model.fingerprint)

    def to_model(self) -> dict[str, Any]:
        """The fields of a model that hold it."""
        return {"certificate": self.certificate, "fingerprint": self.fingerprint}

    def to_header(self) -> dict[str, Any]:
        return {"certificate": self.certificate, "training_data": self.fingerprint}

    def unless(self, newer: "Evidence") -> "Evidence":
        """The newer evidence, and where there is none, this."""
        return Evidence(newer.certificate or self.certificate, newer.fingerprint or self.fingerprint)

    @classmethod
    def from_header(cls, header: Fields) -> "Evidence":
        return cls(header.optional_text("certificate"), header.optional_text("training_data"))


# The parameters that may be functions.
MAY_BE_FUNCTIONS = ("kernel", "constraint", "features", "decode", "loss")


# ---------------------------------------------------------------------------------------------------------------------
# Parameters
# ---------------------------------------------------------------------------------------------------------------------


def encode_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by name. In the place of a function or a generator that no file can hold there is a note."""
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
    header: Fields, functions: Mapping[str, Callable[..., Any]], *, own: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The parameters, with the functions that the caller has brought; where none is needed, none may be brought.

    Those that mean something of their `own` to a learner are left to it to check.
    """
    found = dict(header.part("parameters").content)
    for name in functions:
        if name not in found or _function_name(found[name]) is None:
            raise FunctionError(f"{name}= was given, but this model was learned without such a function; leave it out")
    for name, plain in found.items():
        if _is_left_out(plain):
            may_be = MAY_BE_FUNCTIONS if "function" in plain else ("random_state",)
            ensure(name in may_be, f"the parameter {name!r:.60} is left out, and only {', '.join(may_be)} may be")
    parameters = {name: functions.get(name) if _is_left_out(plain) else decode(plain) for name, plain in found.items()}
    here = (name for name in parameters if name not in own and not _is_left_out(found[name]))
    check_parameters({name: parameters[name] for name in here})
    return parameters


def needed_function(header: Fields, name: str, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Ask for a function that the model cannot do without."""
    plain = header.part("parameters").content.get(name)
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


# ---------------------------------------------------------------------------------------------------------------------
# Classes and records
# ---------------------------------------------------------------------------------------------------------------------


def encode_classes(classes: NDArray[Any]) -> dict[str, Any]:
    return encode_array(np.asarray(classes), "classes_")


def decode_classes(header: Fields, least: int = 2) -> NDArray[Any]:
    """The classes: sorted, each once."""
    classes = decode_array(header.value("classes"))
    ensure(classes.ndim == 1 and len(classes) >= least, "classes are no list of labels")
    ensure(bool(np.all(classes[:-1] < classes[1:])), "classes are not sorted, or not different")
    return classes


def encode_lead(memory: History) -> dict[str, Any]:
    """The lead, and how many examples were narrow."""
    return {"lead": float(memory.lead), "narrow": memory.narrow}


def decode_lead(state: Fields) -> dict[str, Any]:
    """The same as fields of a memory."""
    lead, narrow = state.number("lead", least=0.0), state.whole("narrow")
    ensure(lead > 0 or not narrow, "there are narrow examples without a lead")
    return {"lead": lead, "narrow": narrow}


def encode_class_weights(memory: Any) -> dict[str, Any]:
    """The weights of the classes, or None."""
    return {"class_weights": None if memory.class_weights is None else memory.class_weights.tolist()}


def decode_class_weights(state: Fields, n_classes: int) -> Weights:
    """The same as an array."""
    if state.value("class_weights") is None:
        return None
    weights = state.each("class_weights", lambda value, name: state.as_number(value, name, least=LIGHTEST))
    ensure(len(weights) == n_classes and max(weights) <= HEAVIEST, "the weights of the classes make no sense")
    return np.array(weights, dtype=np.float64)


def decode_encoding(header: Fields) -> "Encoding | None":
    """How the columns of a table become numbers, if the model was learned from one."""
    if header.value("encoding") is None:
        return None
    from novikoff.features.encode import Encoding

    return Encoding.from_dict(header.part("encoding").content)


def check_unencoded(header: Fields) -> None:
    """Refuse an encoding that a learner of this kind would not apply to its inputs."""
    ensure(header.value("encoding") is None, "it has an encoding of tables, which this kind of model does not apply")


def encode_run(run: Run) -> dict[str, Any]:
    """The record."""
    known = {field.name: getattr(run, field.name) for field in fields(run)}
    known |= {"stopped": None if run.stopped is None else run.stopped.name, "cycle": _kept_cycle(run.cycle)}
    return {name: encode(_own(value)) for name, value in known.items()}


def _kept_cycle(cycle: Cycle | None) -> tuple[Any, ...] | None:
    """The mistakes that cancel; guesses that a file cannot hold are left out with them."""
    if cycle is None:
        return None
    parts = (cycle.since, cycle.until, cycle.rows, cycle.times, cycle.rivals)
    try:
        encode(_own(parts))
    except ValueError:
        return None
    return parts


def _own(value: Any) -> Any:
    """Numbers of NumPy as Python's, which equal them."""
    if isinstance(value, tuple):
        return tuple(map(_own, value))
    return value.item() if isinstance(value, np.generic) else value


def decode_run(header: Fields, kind: type[Run] = Run, *, most_mistakes: int = 1) -> Run:
    """The record, if it can be one: an example can be so many mistakes."""
    plain = header.part("run")
    names = [field.name for field in fields(kind)]
    ensure(plain.content.keys() == set(names), "the record of the run has other fields")
    values = {name: decode(plain.value(name)) for name in names}
    stopped = plain.optional_choice("stopped", tuple(reason.name for reason in Stopped))
    values["stopped"] = None if stopped is None else Stopped[stopped]
    for name, value in values.items():
        ensure(_fits(name, value), f"the record of the run has {name}={value!r:.60}")
    if values["cycle"] is not None:
        values["cycle"] = Cycle(*values["cycle"])
    run = kind(**values)
    ensure(len(run.mistakes_per_epoch) <= run.epochs, "the record has mistakes of more epochs than there were")
    ensure(run.updates <= most_mistakes * run.examples, "the record has more mistakes than examples")
    ensure(sum(run.mistakes_per_epoch) <= run.mistakes, "the record has more mistakes in its epochs than in all")
    sound = run.lead > 0 or not (run.narrow or run.narrow_per_epoch or run.margin_at_least)
    ensure(sound, "the record has narrow examples without a lead")
    whole = len(run.narrow_per_epoch) in (0, len(run.mistakes_per_epoch))
    ensure(whole and sum(run.narrow_per_epoch) <= run.narrow, "the record has more narrow examples in its epochs")
    _check_counts(run)
    return run


def _check_counts(run: Run) -> None:
    """Refuse counts of rows that cannot be."""
    n_rows = run.n_rows or 0
    elsewhere = (run.mistaken_rows or 0) + (run.errors_elsewhere or 0)
    ensure(run.n_rows is None or max(run.errors or 0, elsewhere) <= n_rows, "the record has more errors than rows")
    ensure((run.held_out_errors or 0) <= run.held_out_rows, "the record has more errors than rows that were held out")
    folds = zip(run.fold_errors, run.fold_rows, strict=False)
    sound = len(run.fold_errors) == len(run.fold_rows) and all(wrong <= rows for wrong, rows in folds)
    ensure(sound, "the record has more errors than rows in a fold")


NUMBERS = ("mixed_mistakes", "radius", "weights_length", "margin_at_most", "lead", "margin_at_least")
FINITE = ("mixed_mistakes", "lead", "margin_at_least")
MAYBE = ("n_rows", "errors", "mistaken_rows", "errors_elsewhere", "held_out_errors", "mixed_mistakes", "cycle")
LISTS = (
    *("mistakes_per_epoch", "wrong_tokens_per_epoch", "seconds_per_epoch", "validation_errors"),
    *("fold_rows", "fold_errors", "narrow_per_epoch"),
)


def _fits(name: str, value: Any) -> bool:
    if value is None and name in MAYBE:
        return True
    if name in NUMBERS:
        return type(value) is float and value >= 0 and (name not in FINITE or value < math.inf)
    if name == "stopped":
        return True
    if name == "cycle":
        return type(value) is tuple and len(value) == 5 and _is_cycle(*value)
    if name == "readout":
        return value in ("last", "average", "vote")
    if name == "order":
        return value in (None, "given", "mixed", "random")
    if name == "scaled":
        return value is None or type(value) is str
    if name in ("encoded", "weighted"):
        return type(value) is bool
    if name in LISTS:
        numbers = float if name.startswith("seconds") else int
        return type(value) is tuple and all(type(part) in (numbers, int) and part >= 0 for part in value)
    return type(value) is int and value >= 0


def _is_cycle(since: Any, until: Any, rows: Any, times: Any, rivals: Any) -> bool:
    if not all(type(part) is tuple for part in (rows, times, () if rivals is None else rivals)):
        return False
    same = len(rows) == len(times) == len(rows if rivals is None else rivals)
    return same and all(type(number) is int and number >= 0 for number in (since, until, *rows, *times))
