"""What the models of all spaces have in common: the record of the run, what was asked for, what is known of the data.

A model owns what was learned, its classes and its read-out; it scores, predicts, and shows its weights by name. It
knows nothing of scikit-learn: estimators hold a model and forward to it, and files, the command line and the lab use
models alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from novikoff.learn.history import Readout, Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class NamedWeight(NamedTuple):
    """A weight: its class (None: the second of two, or there are none), its feature (None: the bias), its size."""

    label: Any
    name: Any
    weight: float


def heaviest_first(weights: Iterable[NamedWeight]) -> list[NamedWeight]:
    """Those that are not 0, the largest in size first."""
    return sorted((weight for weight in weights if weight.weight), key=lambda weight: -abs(weight.weight))


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """A model of any space.

    `run` is the record of a fit, or None if learning goes on. `parameters` are what the user asked for. `mistake_rows`
    are the mistakes in order and `mistake_guesses` what was taken instead, if they were to be recorded. `certificate`
    is JSON (see `novikoff.Certificate`) and `fingerprint` a hash, both of the training data; a model that learns on has
    neither.
    """

    run: Run | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    mistake_rows: "NDArray[np.int64] | None" = None
    mistake_guesses: Any = None
    certificate: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, eq=False)
class Classifier(Model):
    """A model of two or more classes, which can go on learning from its `memory`.

    `classes` are sorted; of two, the second has the scores of 0 and above. `n_iter` counts epochs of a fit, or calls.
    """

    memory: Any
    classes: "NDArray[Any]"
    _: KW_ONLY
    readout: Readout = "average"
    feature_names: tuple[str, ...] | None = None
    n_iter: int = 1

    @property
    def n_columns(self) -> int | None:
        """How many columns examples have; None if they are not rows of numbers."""
        columns: int | None = self.memory.n_columns
        return columns

    @property
    def record(self) -> Run:
        """The record of the run, also while learning goes on."""
        record: Run = self.memory.recorded(self.readout, order="given") if self.run is None else self.run
        return record
