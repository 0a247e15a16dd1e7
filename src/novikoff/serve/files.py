"""A learner as the bytes of a model file, and back."""

import math
import tempfile
from pathlib import Path

import msgspec

from novikoff.keep.models import load_plain, save
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.serve import events
from novikoff.serve.events import Label, Settings

PARAMETERS = ("readout", "tie", "fit_intercept", "scale", "half_life", "lead", "classes")


def to_file(learner: OnlinePerceptron) -> bytes:
    """A model file, which `novikoff predict` and `novikoff.load` read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.novikoff")
        save(learner, path)
        return path.read_bytes()


def from_file(content: bytes) -> OnlinePerceptron:
    """The online perceptron of a model file; anything else is a ValueError that says what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.novikoff")
        path.write_bytes(content)
        try:
            learner = load_plain(path)
        except (ValueError, TypeError, MemoryError) as error:
            raise ValueError(str(error).replace(str(path), "the file")) from None
    if not isinstance(learner, OnlinePerceptron):
        raise ValueError(
            f"the file has a {type(learner).__name__}, and a service learns with an OnlinePerceptron, from examples "
            "with named features: make one with novikoff online, or use this model with novikoff predict"
        )
    return learner


def learner_of(settings: Settings) -> OnlinePerceptron:
    """A learner with these settings, or that of their file."""
    if settings.file is not None:
        return from_file(settings.file)
    return OnlinePerceptron(**{name: getattr(settings, name) for name in PARAMETERS})


def settled(settings: Settings) -> tuple[Settings, OnlinePerceptron]:
    """The settings as they will be, and their learner: a file brings its own parameters, and must bring all that the
    others need, and nothing that a log cannot hold.

    What is invalid is a ValueError.
    """
    learner = learner_of(settings)
    given = [name for name in PARAMETERS if getattr(settings, name) != getattr(Settings(), name)]
    if settings.file is not None and given:
        raise ValueError(f"a model file brings its own {' and '.join(given)}; leave that out")
    if settings.judge == "served" and not learner.classes_are_fixed:
        raise ValueError('judge="served" needs classes from the start: no label may be new when it is revealed')
    wanted = msgspec.structs.replace(
        settings,
        readout=learner.readout,
        tie=learner.tie,
        fit_intercept=learner.fit_intercept,
        scale=learner.scale,
        half_life=float(learner.half_life),
        lead=learner.lead,
        classes=list(learner.classes) if learner.classes_are_fixed else None,
    )
    try:
        events.decode("create", events.encode([wanted]))
        labels = msgspec.convert(list(learner.classes), list[Label])
    except (msgspec.MsgspecError, TypeError) as error:
        raise ValueError(f"the file has parameters or labels that a service cannot write down: {error}") from None
    if any(isinstance(label, float) and not math.isfinite(label) for label in labels):
        raise ValueError("the file has an infinite label, which JSON does not know")
    return wanted, learner
