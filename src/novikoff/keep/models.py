"""Models in files: `save` writes one, `load` gives it back as it was. Nothing in a file is ever run.

A file holds one model in the safetensors layout (`novikoff.keep.layout`): its header says what was learned, how, from
what, and what was proved about it, and its arrays are the numbers. Predictions after loading are those from before, bit
by bit, and learning goes on as if nothing had happened.
"""

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.data import strict_json
from novikoff.keep.header import MAY_BE_FUNCTIONS, Evidence, FunctionError
from novikoff.keep.layout import ModelFileError, Parts, dumped, read, too_large, write
from novikoff.keep.layout import read_header as read_header

if TYPE_CHECKING:
    from novikoff.prove.separable.certificate import Certificate

# The module of each learner's files. They are imported on use: a tagger needs no kernels, and none needs scikit-learn.
CODECS = {
    "Perceptron": "linear",
    "KernelPerceptron": "kernel",
    "SequencePerceptron": "sequence",
    "OnlinePerceptron": "online",
    "StructuredPerceptron": "structured",
    "Paraboloid": "lift",
}

# What can be saved: estimators, and the same free of scikit-learn.
LEARNERS = {
    "novikoff.estimators.perceptron.Perceptron": "Perceptron",
    "novikoff.estimators.kernel_perceptron.KernelPerceptron": "KernelPerceptron",
    "novikoff.estimators.sequence_perceptron.SequencePerceptron": "SequencePerceptron",
    "novikoff.estimators.lifts.Paraboloid": "Paraboloid",
    "novikoff.learn.linear_model.LinearModel": "Perceptron",
    "novikoff.keep.kernel.KernelModel": "KernelPerceptron",
    "novikoff.keep.lift.LiftModel": "Paraboloid",
    "novikoff.learn.tagger.Tagger": "SequencePerceptron",
    "novikoff.learn.online.OnlinePerceptron": "OnlinePerceptron",
    "novikoff.learn.structured.StructuredPerceptron": "StructuredPerceptron",
}

# What may go wrong when something else than a model is read as one.
NONSENSE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    certificate: "Certificate | str | None" = None,
    fingerprint: str | None = None,
) -> None:
    """Write a model to a file, for `load`.

    A `certificate` of the training data may go with it, and a `fingerprint`, which is their SHA-256 (that of the
    certificate, if only this is given). The file at the path is replaced in one step, so that whatever happens it is
    either the old or the new one. A process that is killed in the middle may leave a file beside it, with a dot before
    its name and `.part` behind; it can be deleted.

    >>> import tempfile
    >>> from novikoff import Perceptron
    >>> model = Perceptron().fit([[0.0], [1.0]], ["off", "on"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder, "switch.novikoff"))
    ...     load(Path(folder, "switch.novikoff")).predict([[2.0]]).tolist()
    ['on']
    """
    parts = _parts_of(model, _as_evidence(certificate, fingerprint))
    header = {"format": 1, "novikoff": import_module("novikoff").__version__, **parts.header}
    # What is written can be read: the same checks, before anything touches the file.
    own = vars(model) | dict(getattr(model, "parameters", {}))
    functions = {name: own[name] for name in MAY_BE_FUNCTIONS if callable(own.get(name))}
    try:
        _codec(header["learner"]).from_parts(Parts(strict_json.parse(dumped(header)), parts.arrays), functions)
    except ModelFileError as error:
        raise ValueError(f"this {type(model).__name__} cannot be saved: {error}") from error
    write(path, header, parts.arrays)


def load(path: str | os.PathLike[str], **functions: Callable[..., Any]) -> Any:
    """The model in a file: an estimator, an `OnlinePerceptron` or a `StructuredPerceptron`.

    A file holds no code. So a model that was learned with functions of your own needs them again, under the names of
    the parameters: `load(path, kernel=shared)`, `load(path, features=features, decode=decode)`. Of these only
    `constraint`, which matters for learning alone, may be left out.

    A file that is no model, or is damaged, or was made to do harm, is a `ValueError` that says what is wrong.
    """
    plain = _plain(path, functions)
    if type(plain).__name__ in ("OnlinePerceptron", "StructuredPerceptron"):
        return plain
    from novikoff.keep.estimators import estimator_of

    return estimator_of(plain)


def load_plain(path: str | os.PathLike[str], **functions: Callable[..., Any]) -> Any:
    """The model in a file, without scikit-learn.

    A `LinearModel` for a `Perceptron`, a `Tagger` for a `SequencePerceptron`, a `KernelModel` for a `KernelPerceptron`;
    the others as they are. A `Paraboloid` becomes a `LiftModel`, which knows its columns only.
    """
    plain = _plain(path, functions)
    return getattr(plain, "tagger", plain)


def _plain(path: str | os.PathLike[str], functions: Mapping[str, Callable[..., Any]]) -> Any:
    for name, function in functions.items():
        if name not in MAY_BE_FUNCTIONS:
            raise TypeError(
                f"load() has no argument {name!r}; functions that it may need are {', '.join(MAY_BE_FUNCTIONS)}"
            )
        if not callable(function):
            raise TypeError(f"{name}={function!r} cannot be called; give the function itself")
    parts = read(path)
    path = Path(path)
    learner = parts.header.get("learner")
    if type(learner) is not str or learner not in CODECS:
        raise ModelFileError(f"{path} has a model of {learner!r:.60}, which is none of {', '.join(CODECS)}")
    try:
        return _codec(learner).from_parts(parts, functions)
    except FunctionError as error:
        raise FunctionError(f"{path}: {error}") from None
    except MemoryError:
        raise too_large(path) from None
    except NONSENSE as error:
        raise ModelFileError(f"{path} has no {learner} that novikoff can have written: {str(error)[:300]}") from error


def _codec(learner: str) -> Any:
    return import_module(f"novikoff.keep.{CODECS[learner]}")


def _parts_of(model: Any, evidence: Evidence) -> Parts:
    """What is to be written of a model of any kind."""
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    if kind not in LEARNERS:
        raise TypeError(
            f"a {type(model).__name__} cannot be saved; {', '.join(CODECS)} can, each in a file of its own. Of a "
            "pipeline, save those steps one by one"
        )
    plain = model
    if kind.startswith("novikoff.estimators."):
        from novikoff.keep.estimators import plain_of

        plain = plain_of(model)
    parts: Parts = _codec(LEARNERS[kind]).to_parts(plain, evidence)
    return parts


def _as_evidence(certificate: Any, fingerprint: str | None) -> Evidence:
    if certificate is None:
        return Evidence(None, fingerprint)
    if isinstance(certificate, str):
        from novikoff.prove.separable.certificate import Certificate

        certificate = Certificate.from_json(certificate)
    return Evidence(certificate.to_json(), certificate.data_hash if fingerprint is None else fingerprint)
