"""Row classifiers in files, linear and kernel ones: the classes, the columns, and the learned state."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.keep import checks
from novikoff.keep.checks import ensure, take
from novikoff.keep.codec import OF_MODELS, RECORDS, Codec, declared_fields, goes_on, read_run, write_model
from novikoff.keep.layout import Arrays, FileParts
from novikoff.keep.parameters import decode_parameters
from novikoff.keep.values import decode_array, encode_array
from novikoff.learn.model import Classifier

BY_HAND = (*OF_MODELS, "classes", "encoding", "feature_names", "memory")

Functions = Mapping[str, Callable[..., Any]]


def write_classifier(model: Classifier, memory: Any, codec: Codec) -> FileParts:
    """Return the parts of a file for a classifier and its memory."""
    arrays, encoding = Arrays(), model.encoding
    has_own = encoding is not None and encoding.names_features
    header = {
        **write_model(model, model.record),
        "classes": encode_array(np.asarray(model.classes), "classes_"),
        "feature_names": None if has_own or model.feature_names is None else list(model.feature_names),
        "encoding": None if encoding is None else encoding.to_dict(),
        **codec.write_fields(model, arrays, without=BY_HAND),
        "memory": codec.write_fields(memory, arrays),
    }
    if model.mistake_guesses is not None:
        arrays["mistake_guesses"] = np.searchsorted(model.classes, model.mistake_guesses).astype(np.int64)
    return FileParts(header, arrays)


def read_classifier(
    kind: Any, parts: FileParts, functions: Functions, codec: Codec, check: Callable[[Any, int], bool]
) -> Any:
    """Return a classifier of this kind. `check` verifies that the memory fits the number of classes, and returns
    whether it can vote."""
    header, arrays = parts.header, dict(parts.arrays)
    classes = _classes(header)
    memory = codec.read(declared_fields(kind)["memory"], header["memory"], arrays)
    may_vote = check(memory, len(classes))
    checks.class_weights(memory, len(classes))
    guesses = take(arrays, "mistake_guesses", np.int64, may_be_none=True)
    known = codec.read_fields(kind, header, arrays, without=BY_HAND)
    checks.all_taken(arrays)
    checks.mistake_rows(known["mistake_rows"])
    if guesses is not None:
        rows = known["mistake_rows"]
        checks.shape(guesses, "mistake_guesses", len(guesses if rows is None else rows))
        checks.within(guesses, "mistake_guesses", len(classes))
    run, parameters = read_run(header, most_mistakes=len(classes)), decode_parameters(header, functions)
    checks.memory(memory, run)
    readout = known["readout"]
    ensure(readout != "vote" or may_vote, "there is to be a vote, and no mistakes were kept for it")
    ensure(parameters.get("readout", readout) == readout, "the read-out of the parameters differs from the model's")
    return kind(
        memory,
        classes,
        run=None if goes_on(header) else run,
        parameters=parameters,
        mistake_guesses=None if guesses is None else classes[guesses],
        **_columns(header, memory.n_columns),
        **known,
    )


def _classes(header: Mapping[str, Any]) -> NDArray[Any]:
    """Return the classes, which must be sorted and distinct."""
    classes = decode_array(header["classes"])
    ensure(classes.ndim == 1 and len(classes) >= 1, "classes are no list of labels")
    ensure(bool(np.all(classes[:-1] < classes[1:])), "classes are not sorted, or not different")
    return classes


def _columns(header: Mapping[str, Any], n_columns: int | None) -> dict[str, Any]:
    """Return the encoding, and the names of columns, as fields of a classifier."""
    encoding, names = None, RECORDS.read(tuple[str, ...] | None, header["feature_names"], {}, "feature_names")
    if header["encoding"] is not None:
        from novikoff.features.encode import Encoding

        encoding = Encoding.from_dict(header["encoding"])
        ensure(encoding.n_columns == n_columns, "there are not as many names as features")
        names = None if encoding.names_features else names
    ensure(names is None or len(names) == n_columns, "there are not as many names as features")
    return {"encoding": encoding, "feature_names": names}
