"""The protocol of online learning, for any learner: an example is predicted, then its label is revealed and learned."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Round(NamedTuple):
    """One round of the protocol: what was predicted, what was true, and the wrong predictions up to here."""

    prediction: Any
    truth: Any
    mistakes: int


def predict_reveal_learn(model: Any, examples: Iterable[tuple[Any, Any]]) -> Iterator[Round]:
    """Run the protocol (Littlestone 1988) over pairs of example and label, with any model that has `predict_one` and
    `learn_one`, River's too.

    An example is predicted, its label revealed, both are learned, and the round is yielded; the next pair is not drawn
    before the next round is asked for. `mistakes` counts wrong predictions. A perceptron's own count is the theorem's:
    there a tie is a mistake even if +1 would be right, the last weights are tried even if their average predicts, and
    the very first label is no mistake, while here it was not predicted.

    >>> from novikoff import OnlinePerceptron
    >>> model = OnlinePerceptron()
    >>> for played in predict_reveal_learn(model, [({"x": 1}, "right"), ({"x": -1}, "left"), ({"x": 2}, "right")]):
    ...     print(played)
    Round(prediction=None, truth='right', mistakes=1)
    Round(prediction='right', truth='left', mistakes=2)
    Round(prediction='right', truth='right', mistakes=2)
    >>> model.mistakes
    1
    """
    mistakes = 0
    for x, y in examples:
        prediction = model.predict_one(x)
        mistakes += bool(prediction != y)
        model.learn_one(x, y)
        yield Round(prediction, y, mistakes)
