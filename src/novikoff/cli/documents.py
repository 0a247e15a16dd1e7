"""The answers of commands as plain values: the one schema of all --json output.

Every answer is an object with `schema`, `version` and `command`. A number that is not finite is null, and integers are
numbers however large.
"""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from novikoff import __version__

if TYPE_CHECKING:
    from novikoff.features.encode import Encoding
    from novikoff.prove.existence.certificate import Existence
    from novikoff.prove.separable.certificate import Certificate

SCHEMA = 1

STATEMENT = ("name", "predictor", "wrong", "at_least", "at_most", "confidence", "assumes")

Document = dict[str, Any]


def document(command: str, **parts: Any) -> Document:
    """Return an answer."""
    return {"schema": SCHEMA, "version": __version__, "command": command, **{k: plain(v) for k, v in parts.items()}}


def plain(value: Any) -> Any:
    """Convert a value to what JSON supports.

    >>> plain({"bound": (1, float("inf"))})
    {'bound': [1, None]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def described_data(
    files: tuple[str, ...],
    label: str | None,
    encoding: "Encoding | None",
    size: tuple[int, int],
    classes: Any,
    counts: tuple[int, ...],
) -> Document:
    """Describe what was read."""
    return {
        "files": files,
        "rows": size[0],
        "label": label,
        "classes": classes,
        "class_counts": counts,
        "columns": described_columns(encoding),
        "features": size[1],
    }


def described_columns(encoding: "Encoding | None") -> list[Document]:
    """Describe how each column of a table is used."""
    notes = () if encoding is None else encoding.describe()
    return [{"name": note.column, "kind": note.kind, "detail": note.detail} for note in notes]


def described_run(run: Any) -> Document:
    """Describe what a learner did."""
    known = run.generalisation()
    return {
        **_picked(run, "readout", "epochs", "mistakes", "mistakes_per_epoch", "examples"),
        "stopped": None if run.stopped is None else run.stopped.name,
        "errors": run.errors,
        "rows": run.n_rows,
        **_picked(run, "radius", "weights_length", "margin_at_most"),
        "cycle": None if run.cycle is None else asdict(run.cycle),
        "new_rows": {
            "delivered": None if known.delivered is None else _picked(known.delivered, *STATEMENT),
            "why_not": known.why_not,
            "statements": [_picked(statement, *STATEMENT) for statement in known.statements],
        },
        **(_picked(run, "lead", "narrow", "narrow_per_epoch", "margin_at_least") if run.lead else {}),
        **(_picked(run, "validation_errors") if run.validation_errors else {}),
        **(_picked(run, "mixed_mistakes", "shards") if run.mixed_mistakes is not None else {}),
    }


def described_model(model: Any) -> Document:
    """Return the class weights, in the order of the classes, and what is proved of the predictions that are not
    reviewed, if there were any, or was requested."""
    weights, review = getattr(getattr(model, "memory", None), "class_weights", None), getattr(model, "review", None)
    known: Document = {} if weights is None else {"class_weights": weights}
    if review is not None:
        counts = {"held_out": review.n_rows, "accepted": review.n_accepted, "wrong": review.n_wrong}
        asked = _picked(review, "error", "confidence", "threshold")
        known["review"] = {**asked, **counts, "is_void": review.is_void, "in_words": str(review)}
    return known


def _picked(value: Any, *names: str) -> Document:
    """Return some attributes, by name."""
    return {name: getattr(value, name) for name in names}


def described_certificate(certificate: "Certificate | None") -> Document | None:
    """Describe what is proved of the data."""
    if certificate is None:
        return None
    return {
        "verdict": certificate.verdict.value,
        **_picked(certificate, "arithmetic", "meaning"),
        "problem": certificate.problem.value,
        **_picked(certificate, "fit_intercept", "margin", "geometric_margin", "radius", "mistake_bound"),
        "obstruction_rows": None if certificate.obstruction is None else certificate.obstruction.rows,
        "estimates": None if certificate.estimates is None else described_estimates(certificate.estimates),
    }


def described_estimates(found: "Existence") -> Document:
    """Describe what is known of the estimates of a regression."""
    return {
        "family": found.family,
        "formula": None if found.about.formula is None else found.about.formula._asdict(),
        **_picked(found.about, "classes", "ties"),
        "rows": found.n_rows,
        "omitted_rows": found.omitted,
        "estimate": found.estimate.value,
        **_picked(found, "arithmetic", "coefficients", "diverging"),
        "separated_rows": found.separated_positions,
        "message": str(found),
    }


def described_kernel(model: Any) -> Document | None:
    """Describe the kernel of a model and how many examples it keeps; None without one."""
    kernel = getattr(getattr(model, "memory", None), "kernel", None)
    if kernel is None:
        return None
    form = kernel.form if isinstance(kernel.form, str) else str(kernel)
    return {"form": form, **kernel.numbers, "support": model.n_support, "in_words": model.in_words}


def described_weights(model: Any, most: int | None, *, with_bias: bool = True) -> list[Document]:
    """Return the largest weights by name; a vote or a kernel has none of its own."""
    if getattr(model, "readout", None) == "vote" or not hasattr(model, "weights_by_name"):
        return []
    from novikoff.learn.linear.memory import LinearModel

    n_biases = 0 if with_bias else len(getattr(model, "classes", ()))
    enough = {} if most is None or not isinstance(model, LinearModel) else {"most": most + n_biases}
    named = [
        {"class": label, "name": "(bias)" if name is None else str(name), "weight": weight}
        for label, name, weight in model.weights_by_name(**enough)
        if with_bias or name is not None
    ]
    return named[:most]
