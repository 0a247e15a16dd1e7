"""Models in files: `save` writes one, `load` restores it. Nothing in a file is ever executed.

A file holds one model in the safetensors layout (`novikoff.keep.layout`): its header states what was learned, how, from
which data, and what was proved about it, and its arrays are the numbers. Predictions after loading are bitwise the
same, and learning resumes where it stopped.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from novikoff.data import strict_json
from novikoff.keep.layout import (
    FORMAT,
    LENGTH,
    FileParts,
    ModelFileError,
    check_replaceable,
    dumped,
    read,
    read_header,
    too_large,
    write,
)
from novikoff.keep.parameters import MAY_BE_FUNCTIONS, FunctionError
from novikoff.keep.values import check_room

if TYPE_CHECKING:
    from novikoff.keep.codec import Format
    from novikoff.prove.certificates import AnyCertificate
    from novikoff.prove.separable.certificate import Certificate

# Of each learner the module and the name of its format, its model, and the estimator that holds that, if there is one.
# They are imported on use: a tagger needs no kernels, and no model needs scikit-learn.
LEARNERS = {
    "Perceptron": ("classifiers", "LINEAR", "LinearModel", "estimators.perceptron"),
    "KernelPerceptron": ("classifiers", "KERNEL", "KernelModel", "estimators.kernel_perceptron"),
    "SequencePerceptron": ("sequence", "FORMAT", "Tagger", "estimators.sequence_perceptron"),
    "OnlinePerceptron": ("named", "ONLINE", "OnlinePerceptron", None),
    "StructuredPerceptron": ("named", "STRUCTURED", "StructuredModel", "learn.structure.perceptron"),
    "Paraboloid": ("classifiers", "LIFT", "LiftModel", "estimators.lifts"),
}
LEARNER_OF = {model: learner for learner, (_, _, model, _) in LEARNERS.items()}

# Header fields about the file, not the model.
ABOUT_THE_FILE = ("sha256", "format", "novikoff", "learner", "transposed")

# A model file begins with the length of its header, in 8 bytes, of which the highest are 0: no JSON text has these.
NO_TEXT, JSON_BEGINS = b"\0", b" \t\r\n{"

# Exceptions that parsing invalid content may raise.
NONSENSE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    certificate: "Certificate | str | None" = None,
    fingerprint: str | None = None,
    force: bool = False,
) -> None:
    """Write a model to a file, for `load`. It replaces a model file; any other file is kept, unless `force`.

    A `certificate` of the training data may be included, and a `fingerprint`, which is their SHA-256 (that of the
    certificate, if only this is given). The file at the path is replaced atomically. A process that is killed may leave
    a temporary file next to it, with a dot before its name and `.part` after it; it can be deleted.

    >>> import tempfile
    >>> from novikoff import Perceptron
    >>> model = Perceptron().fit([[0.0], [1.0]], ["off", "on"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder, "switch.novikoff"))
    ...     load(Path(folder, "switch.novikoff")).predict([[2.0]]).tolist()
    ['on']
    """
    if not force:
        check_replaceable(path)
    learner, form, kept = _kept(model)
    if isinstance(certificate, str):
        from novikoff.prove.separable.certificate import Certificate

        certificate = Certificate.from_json(certificate)
    if certificate is not None:
        kept = replace(kept, certificate=certificate.to_json(), fingerprint=certificate.data_hash)
    parts = form.to_parts(kept if fingerprint is None else replace(kept, fingerprint=fingerprint))
    # Only readable content is written: the same checks, before the file is touched.
    parameters = getattr(kept, "parameters", {})
    functions = {name: parameters[name] for name in MAY_BE_FUNCTIONS if callable(parameters.get(name))}
    try:
        text = dumped(parts.header)
        again = FileParts(strict_json.parse(text), parts.arrays)
        check_room(again.header, len(text) + sum(array.nbytes for array in again.arrays.values()))
        form.from_parts(again, functions)
    except ModelFileError as error:
        raise ValueError(f"this {type(model).__name__} cannot be saved: {error}") from error
    about = {"format": FORMAT, "novikoff": import_module("novikoff").__version__, "learner": learner}
    write(path, {**about, **parts.header}, parts.arrays)


def parts_of(model: Any) -> FileParts:
    """Return what a file of the model would hold."""
    _, form, kept = _kept(model)
    return form.to_parts(kept)


def _kept(model: Any) -> "tuple[str, Format, Any]":
    """Return the learner, its format, and what is kept of the model."""
    plain = _plain_of(model)
    learner = LEARNER_OF[type(plain).__name__]
    form = _format(learner)
    return learner, form, form.kept(plain)


def load(path: str | os.PathLike[str], **functions: Callable[..., Any]) -> Any:
    """Load the model in a file: an estimator, an `OnlinePerceptron` or a `StructuredPerceptron`.

    A file holds no code. So a model that was trained with your own functions needs them again, by parameter name:
    `load(path, kernel=shared)`, `load(path, features=features, decode=decode)`. Only `constraint`, which matters only
    for learning, may be omitted.

    Raises a `ValueError` that says what is wrong if a file is not a model, or is damaged or malicious.
    """
    plain = load_plain(path, **functions)
    learner = LEARNER_OF[type(plain).__name__]
    home = LEARNERS[learner][3]
    return plain if home is None else getattr(import_module(f"novikoff.{home}"), learner).from_model(plain)


def load_plain(path: str | os.PathLike[str], **functions: Callable[..., Any]) -> Any:
    """Load the model in a file, without scikit-learn and without its estimator.

    A `LinearModel` for a `Perceptron`, a `Tagger` for a `SequencePerceptron`, a `KernelModel` for a `KernelPerceptron`,
    a `StructuredModel` for a `StructuredPerceptron`; an `OnlinePerceptron` is its own model. A `Paraboloid` becomes a
    `LiftModel`, which has only its columns.
    """
    for name, function in functions.items():
        if name not in MAY_BE_FUNCTIONS:
            raise TypeError(
                f"load() has no argument {name!r}; functions that it may need are {', '.join(MAY_BE_FUNCTIONS)}"
            )
        if not callable(function):
            raise TypeError(f"{name}={function!r} is not callable; pass the function itself")
    parts = read(path)
    path = Path(path)
    learner = parts.header.get("learner")
    if type(learner) is not str or learner not in LEARNERS:
        raise ModelFileError(f"{path} has a model of {learner!r:.60}, which is not one of {', '.join(LEARNERS)}")
    try:
        check_room(parts.header, path.stat().st_size)
        own = {name: value for name, value in parts.header.items() if name not in ABOUT_THE_FILE}
        return _format(learner).from_parts(FileParts(own, parts.arrays), functions)
    except FunctionError as error:
        raise FunctionError(f"{path}: {error}") from None
    except MemoryError:
        raise too_large(path) from None
    except NONSENSE as error:
        raise ModelFileError(f"{path} has no {learner} that novikoff can have written: {str(error)[:300]}") from error


def _format(learner: str) -> "Format":
    module, name, *_ = LEARNERS[learner]
    form: Format = getattr(import_module(f"novikoff.keep.{module}"), name)
    return form


def _plain_of(model: Any) -> Any:
    """Return a model of any kind, without its estimator."""
    kind, module = type(model).__name__, type(model).__module__
    if kind in LEARNERS and module == f"novikoff.{LEARNERS[kind][3]}":
        try:
            return model.to_model()
        except AttributeError as error:
            raise ValueError(f"{error}, then save") from None
    if module.startswith("novikoff.") and kind in LEARNER_OF:
        return model
    if hasattr(model, "steps"):
        raise TypeError(
            f"a {type(model).__name__} has steps that are code of other libraries, and a model file holds none. "
            "save(pipeline[-1], path) keeps the model, and joblib.dump(pipeline[:-1], other) the steps before it; "
            "make_pipeline(joblib.load(other), load(path)) puts them together again. A table that goes to the model "
            "itself needs no such steps: its columns are encoded and scaled inside the model"
        )
    raise TypeError(f"a {type(model).__name__} cannot be saved; {', '.join(LEARNERS)} can, each in a file of its own")


def read_certificate(path: Path) -> "AnyCertificate":
    """Return the certificate in a file of its own, as `--out` of some commands writes, or in a model, unchecked."""
    from novikoff.prove.certificates import read_certificate as read_text
    from novikoff.prove.exact.document import CertificateError

    try:
        text = certificate_text(path)
        if text is None:
            raise CertificateError("the model has none; novikoff fit puts one in unless --no-certify says otherwise")
        return read_text(text)
    except CertificateError as error:
        why = str(error).removeprefix("this is not a certificate: ")
        raise CertificateError(
            f"{path} is not a certificate, or is truncated ({why}); novikoff certify --out makes one"
        ) from None


def certificate_text(path: Path) -> str | bytes | None:
    """Return the JSON text of the certificate in a file; None if that is a model without one."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; name the certificate or the model in it")
    with path.open("rb") as file:
        beginning = file.read(LENGTH.size)
    if not beginning or (beginning[0] in JSON_BEGINS and NO_TEXT not in beginning):
        return path.read_bytes()
    text = read_header(path).get("certificate")
    return None if text is None else str(text)
