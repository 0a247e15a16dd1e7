"""Model files, as commands need them: the right kind of model, or a sentence that says which kind it is."""

from typing import TypeVar

Model = TypeVar("Model")

COMMANDS = {
    "LinearModel": "novikoff predict and novikoff score",
    "KernelModel": "novikoff predict and novikoff score",
    "Tagger": "novikoff tag run and novikoff tag score",
    "OnlinePerceptron": "novikoff online",
}


def load_model(path: str, kind: type[Model]) -> Model:
    """The model in a file, if it is of this kind."""
    from novikoff.keep.models import load_plain

    model = load_plain(path)
    if not isinstance(model, kind):
        found = type(model).__name__
        use = f"; use {COMMANDS[found]}" if found in COMMANDS else ""
        raise ValueError(f"{path} holds a {found}, not a {kind.__name__}{use}")
    return model
