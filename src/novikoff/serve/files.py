"""A learner as the bytes of a model file, and back."""

import tempfile
from pathlib import Path

import msgspec

from novikoff.keep.models import load_plain, save
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.serve.events import Settings

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
        except (ValueError, TypeError) as error:
            raise ValueError(str(error).replace(str(path), "the file")) from None
    if not isinstance(learner, OnlinePerceptron):
        raise ValueError(f"the file has a {type(learner).__name__}; a service learns with an OnlinePerceptron")
    return learner


def learner_of(settings: Settings) -> OnlinePerceptron:
    """A learner with these settings, or that of their file."""
    if settings.file is not None:
        return from_file(settings.file)
    return OnlinePerceptron(**{name: getattr(settings, name) for name in PARAMETERS})


def settled(settings: Settings) -> Settings:
    """The settings as they will be: a file brings its own parameters, and must bring all that the others need.

    What makes no sense is a ValueError.
    """
    learner = learner_of(settings)
    given = [name for name in PARAMETERS if getattr(settings, name) != getattr(Settings(), name)]
    if settings.file is not None and given:
        raise ValueError(f"a model file brings its own {' and '.join(given)}; leave that out")
    if settings.judge == "served" and not learner.classes_are_fixed:
        raise ValueError('judge="served" needs classes from the start: no label may be new when it is revealed')
    return msgspec.structs.replace(
        settings,
        readout=learner.readout,
        tie=learner.tie,
        fit_intercept=learner.fit_intercept,
        scale=learner.scale,
        half_life=float(learner.half_life),
        lead=learner.lead,
        classes=list(learner.classes) if learner.classes_are_fixed else None,
    )
