"""The online perceptron as a River classifier: for its pipelines, its evaluations and its checks.

River requires classifiers to inherit from its own class. This one is a thin shell around an `OnlinePerceptron`. It
needs River, so it is imported only on use, by `OnlinePerceptron.to_river`.
"""

import copy
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from river import base

from novikoff.learn.online.memory import OnlineReadout
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.options import Tie

NO_PROBABILITIES = (
    "a perceptron has no probabilities: its score says on which side an example lies, and not how likely a label is; "
    "take metrics of labels, such as Accuracy or F1, and online.decision_one(x) for the score"
)


class RiverPerceptron(base.Classifier):
    """A perceptron for two or more labels; the parameters are those of `OnlinePerceptron`.

    `online` is the learner itself, with its counts, weights and record.

    >>> from river import preprocessing
    >>> model = preprocessing.StandardScaler() | OnlinePerceptron().to_river()
    >>> for height, kind in [(1.0, "low"), (9.0, "high"), (2.0, "low"), (8.0, "high")]:
    ...     model.learn_one({"height": height}, kind)
    >>> model.predict_one({"height": 3.0})
    'low'
    >>> model["RiverPerceptron"].online
    OnlinePerceptron(): 2 mistakes on 4 examples
    """

    # fmt: off
    def __init__(
        self, readout: OnlineReadout = "auto", fit_intercept: bool = True, tie: Tie = "mistake",
        classes: Sequence[Hashable] | None = None, scale: bool = False, lead: float = 0.0,
    ) -> None:
        vars(self).update({name: value for name, value in locals().items() if name != "self"})
        self.online = OnlinePerceptron(**self._get_params())
    # fmt: on

    @classmethod
    def going_on_from(cls, online: OnlinePerceptron) -> "RiverPerceptron":
        """A classifier with the parameters of a learner, and a copy of what it has learned."""
        names = ("readout", "fit_intercept", "tie", "scale", "lead")
        classes = online.classes if online.classes_are_fixed else None
        model = cls(classes=classes, **{name: getattr(online, name) for name in names})
        model.online = copy.deepcopy(online)
        return model

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        self.online.learn_one(x, y)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        return self.online.predict_one(x)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Not supported: a score says on which side an example lies, and not how likely a label is."""
        raise NotImplementedError(NO_PROBABILITIES)

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for readout in ("auto", "average", "last"):
            for tie in ("mistake", "predict"):
                yield {"readout": readout, "tie": tie}
        yield {"lead": 0.5}
