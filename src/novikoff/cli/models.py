"""Model files, as commands need them: the right kind of model, or a sentence that says which kind it is."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.learn.chain.tagger import Tagger
    from novikoff.learn.linear.model import LinearModel
    from novikoff.learn.online import OnlinePerceptron

COMMANDS = {
    "LinearModel": "novikoff predict and novikoff score",
    "Tagger": "novikoff tag run and novikoff tag score",
    "OnlinePerceptron": "novikoff online",
}


def load_linear(path: str) -> "LinearModel":
    """A model of `novikoff fit`, or of a Perceptron."""
    from novikoff.learn.linear.model import LinearModel

    model: LinearModel = _of_kind(path, LinearModel)
    return model


def load_tagger(path: str) -> "Tagger":
    """A model of `novikoff tag train`, or of a SequencePerceptron."""
    from novikoff.learn.chain.tagger import Tagger

    model: Tagger = _of_kind(path, Tagger)
    return model


def load_online(path: str) -> "OnlinePerceptron":
    """A model of `novikoff online`, or an OnlinePerceptron."""
    from novikoff.learn.online import OnlinePerceptron

    model: OnlinePerceptron = _of_kind(path, OnlinePerceptron)
    return model


def _of_kind(path: str, kind: type) -> Any:
    from novikoff.keep.models import load_plain

    model = load_plain(path)
    if not isinstance(model, kind):
        found = type(model).__name__
        use = f"; use {COMMANDS[found]}" if found in COMMANDS else ""
        raise ValueError(f"{path} holds a {found}, not a {kind.__name__}{use}")
    return model
