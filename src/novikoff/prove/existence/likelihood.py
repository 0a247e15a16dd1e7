"""The likelihood to maximise: a family, the columns of a design, and the response, as exact numbers.

The fingerprint covers all of it, byte by byte as `docs/certificates.md` specifies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.separable.subject import Fingerprint

Floats = NDArray[np.float64]

# The numbers that each family has for every row, in the order in which they are hashed. Some may be omitted.
NUMBERS = {
    "binomial": ("weight", "successes", "failures"),
    "log-binomial": ("weight", "successes", "failures", "offset"),
    "poisson": ("weight", "count"),
    "negative-binomial": ("weight", "count"),
    "multinomial": ("weight", "class"),
    "ordinal": ("weight", "class"),
    "cox": ("weight", "time", "event", "entry", "stratum"),
    "conditional": ("weight", "case", "stratum"),
}
# Options of a formula that may name columns of the table.
COLUMNS = ("weights", "offset", "strata", "event", "entry")
TIES = ("efron", "breslow", "exact")
MISSING = ("drop", "raise")


class ModelOptions(TypedDict, total=False):
    """The options of a model besides its design and response; see `existence`. None means not given."""

    family: str | None
    weights: Any
    offset: Any
    fixed_effects: Any
    strata: Any
    event: Any
    entry: Any
    ties: str | None
    reference: Any
    success: Any
    fit_intercept: bool
    missing: str


@dataclass(frozen=True)
class Effect:
    """The columns of a design that are the levels of a fixed effect: from `start`, before `stop`."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a design comes from: names of its columns, the formula, labels of its rows, such as those of a frame's
    index, and the positions of omitted rows. None where there are none."""

    names: Sequence[str] | None = None
    formula: Mapping[str, Any] | None = None
    row_labels: Any = None
    omitted: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class RowNames:
    """The labels of a design's rows in the original data, such as those of a frame's index, and their positions there,
    which differ from those in the design if some rows were omitted. None if unknown."""

    labels: Any = None
    positions: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, n_rows: int, labels: Any, omitted: Sequence[int]) -> "RowNames":
        """Return names for `n_rows` rows; labels of another number of rows are ignored."""
        positions = np.delete(np.arange(n_rows + len(omitted)), list(omitted)) if omitted else None
        return cls(None if labels is None or len(labels) != n_rows else labels, positions)

    def positions_of(self, rows: Sequence[int]) -> tuple[int, ...]:
        return tuple(rows) if self.positions is None else tuple(self.positions[list(rows)].tolist())

    def labels_of(self, rows: Sequence[int]) -> tuple[Any, ...]:
        """Return the labels of rows; their positions if there are no labels."""
        return self.positions_of(rows) if self.labels is None else tuple(self.labels[list(rows)].tolist())


@dataclass(frozen=True, eq=False)
class Likelihood:
    """A family, a design in CSR floats with named columns, and the numbers of every row.

    `classes` are the labels of the response, if any, the reference or lowest first. Rows with weight 0 are ignored.
    `formula` is the one that the design was made from, if any; `omitted` are the positions of given rows that are not
    in it. The names in `rows`, and an `offset` that does not affect the answer, are not part of the fingerprint.
    """

    family: str
    X: Any
    columns: tuple[str, ...]
    numbers: Mapping[str, Floats]
    classes: tuple[Any, ...] | None = None
    ties: str | None = None
    effects: tuple[Effect, ...] = ()
    formula: Mapping[str, Any] | None = field(default=None)
    omitted: tuple[int, ...] = ()
    rows: RowNames = field(default_factory=RowNames)
    offset: Floats | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def used(self) -> NDArray[np.int64]:
        """The rows whose weight is not 0."""
        return np.flatnonzero(self.numbers["weight"] > 0)

    def about(self) -> dict[str, Any]:
        """Return the description of the data in a certificate, with which the fingerprint begins."""
        return {
            "family": self.family,
            "rows": self.n_rows,
            "columns": list(self.columns),
            "classes": None if self.classes is None else list(self.classes),
            "ties": self.ties,
            "effects": [[effect.name, effect.start, effect.stop] for effect in self.effects],
            "numbers": [name for name in NUMBERS[self.family] if name in self.numbers],
            "formula": None if self.formula is None else dict(self.formula),
            "omitted": list(self.omitted) or None,
        }

    @cached_property
    def sha256(self) -> str:
        """The fingerprint of the description, the design and the numbers."""
        fingerprint = Fingerprint(self.about())
        fingerprint.add(self.X)
        parts = [np.ascontiguousarray(self.numbers[name] + 0.0, dtype="<f8") for name in self.about()["numbers"]]
        return fingerprint.with_labels([part.view("<u4") for part in parts])
