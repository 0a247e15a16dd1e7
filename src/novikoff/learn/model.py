"""What the models of all spaces have in common: the record of the run, its parameters, facts about the data.

A model owns what was learned, its classes and its read-out; it scores, predicts, and shows its weights by name. It
knows nothing of scikit-learn: estimators hold a model and forward to it, and files, the command line and the lab use
models alone.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from novikoff.learn.review import Review, leads
from novikoff.learn.run import Run
from novikoff.options import Readout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from novikoff.features.encode import Encoding
    from novikoff.learn.fit import Fitted


class NamedWeight(NamedTuple):
    """A weight: its class (None: the second of two, or no classes), its feature (None: the intercept), its value."""

    label: Any
    name: Any
    weight: float


def heaviest_first(weights: Iterable[NamedWeight]) -> list[NamedWeight]:
    """The weights that are not 0, the largest absolute value first."""
    return sorted((weight for weight in weights if weight.weight), key=lambda weight: -abs(weight.weight))


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnedModel:
    """A model of any space.

    `run` is the record of a fit, or None if learning continues. `parameters` are those the user gave. `mistake_rows`
    are the mistakes in order and `mistake_guesses` the wrong predictions, if they were recorded. `certificate` is JSON
    (see `novikoff.Certificate`) and `fingerprint` a hash, both of the training data; a model that continues to learn
    has neither, and its `review` is void.
    """

    run: Run | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    mistake_rows: "NDArray[np.int64] | None" = None
    mistake_guesses: Any = None
    certificate: str | None = None
    fingerprint: str | None = None
    review: Review | None = None


@dataclass(frozen=True, eq=False)
class Decided:
    """The decisions about some rows, and, by column, how many values were not seen in training, or were missing.

    Labels are decided, and scores computed, on first use: scores take longer.
    """

    label: "Callable[[], NDArray[Any]]"
    score: "Callable[[], NDArray[np.float64]]"
    unseen: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def labels(self) -> "NDArray[Any]":
        return self.label()

    @cached_property
    def scores(self) -> "NDArray[np.float64]":
        """The score of every example; one column per class if there are more than two."""
        return self.score()

    @property
    def leads(self) -> "NDArray[np.float64]":
        return leads(self.scores)


@dataclass(frozen=True, eq=False)
class Classifier(LearnedModel):
    """A model of two or more classes, which can continue learning from its `memory`.

    `classes` are sorted; of two, the second has the scores of 0 and above. `n_iter` counts epochs of a fit, or calls.
    `encoding` turns the columns of a table into numbers, and lifts them; without one, the columns may have
    `feature_names`.
    """

    memory: Any
    classes: "NDArray[Any]"
    _: KW_ONLY
    readout: Readout = "average"
    encoding: "Encoding | None" = None
    feature_names: tuple[str, ...] | None = None
    n_iter: int = 1

    # The options that the read-out of such a model depends on.
    READ_BY: ClassVar[tuple[str, ...]] = ("readout",)

    @classmethod
    def of(cls, learned: "Fitted", parameters: Mapping[str, Any], **more: Any) -> Self:
        """The model that was learned, with these options."""
        mistakes, guesses = learned.mistakes, getattr(learned.mistakes, "wrong", None)
        own = {
            **{name: parameters[name] for name in cls.READ_BY if name in parameters},
            "encoding": learned.encoding,
            "run": learned.run,
            "fingerprint": learned.fingerprint,
            "parameters": dict(parameters),
            "n_iter": learned.run.epochs,
            "mistake_rows": None if mistakes is None else mistakes.rows,
            "mistake_guesses": None if guesses is None else learned.classes[guesses],
        }
        return cls(learned.memory, learned.classes, **(own | more))

    def decide_rows(self, rows: Any) -> Decided:
        raise NotImplementedError

    def decide(self, batch: Any) -> Decided:
        """The label and the score of every example as it is in a file, and what the encoding does not know.

        Examples are a batch of numbers, records of a table, or other input that the model takes.
        """
        from novikoff.data.batches import Batch, Records
        from novikoff.engine.rows import as_rows

        if self.encoding is None:
            if isinstance(batch, Records):
                raise ValueError("this model was learned from numbers, and has no encoding for the columns of a table")
            return self.decide_rows(batch.rows if isinstance(batch, Batch) else batch)
        encoded = self.encoding.encode(batch if isinstance(batch, Batch | Records) else Batch(as_rows(batch), None))
        return replace(self.decide_rows(encoded.rows), unseen=encoded.unseen, missing=encoded.missing)

    def scores(self, batch: Any) -> "NDArray[np.float64]":
        """The score of every example times the learning rate, or the vote fraction; of more classes, a column each."""
        return self.decide(batch).scores

    def predict(self, batch: Any) -> "NDArray[Any]":
        return self.decide(batch).labels

    @property
    def n_columns(self) -> int | None:
        """How many columns examples have; None if they are not rows of numbers."""
        columns: int | None = self.memory.n_columns
        return columns

    @property
    def n_inputs(self) -> int | None:
        """How many columns examples have before they are encoded."""
        return self.n_columns if self.encoding is None else self.encoding.n_inputs

    @property
    def input_names(self) -> tuple[str, ...] | None:
        """The names of the columns before they are encoded; None if they have none."""
        encoding = self.encoding
        return self.feature_names if encoding is None or not encoding.is_of_table else encoding.inputs

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of all features; None if they have none."""
        if self.encoding is None or not self.encoding.names_features:
            return self.feature_names
        return self.encoding.feature_names

    @property
    def takes_a_table(self) -> bool:
        """Whether the model was learned from named columns."""
        return self.encoding is not None and bool(self.encoding.is_of_table)

    @property
    def record(self) -> Run:
        """The record of the run, also while learning continues."""
        record: Run = self.memory.recorded(self.readout, order="given") if self.run is None else self.run
        return record
