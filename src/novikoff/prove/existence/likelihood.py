"""The likelihood to maximise: a family, the columns of a design, and the response, as exact numbers.

The fingerprint covers all of it, byte by byte as `docs/certificates.md` specifies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.separable.subject import Fingerprint

Floats = NDArray[np.float64]
# The name of a fixed effect, its first column in the design, and the first after its last.
Effect = tuple[str, int, int]

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
COLUMNS = ("weights", "offset", "strata")
TIES = ("efron", "breslow", "exact")


class ModelOptions(TypedDict, total=False):
    """The options of a model besides its design and response; see `existence`. None means not given."""

    family: str | None
    weights: Any
    offset: Any
    fixed_effects: Any
    strata: Any
    ties: str | None
    reference: Any
    success: Any
    fit_intercept: bool


@dataclass(frozen=True, eq=False)
class Likelihood:
    """A family, a design in CSR floats with named columns, and the numbers of every row.

    `classes` are the labels of the response, if any, the reference or lowest first. Rows with weight 0 are ignored.
    `formula` is the one that the design was made from, if any; `omitted` are the positions of given rows that are not
    in it. The `row_labels`, such as those of a frame's index, and an `offset` that does not affect the answer, are not
    part of the fingerprint.
    """

    family: str
    X: Any
    columns: tuple[str, ...]
    numbers: Mapping[str, Floats]
    classes: tuple[Any, ...] | None = None
    ties: str | None = None
    effects: tuple[Effect, ...] = ()
    formula: Mapping[str, Any] | None = None
    omitted: tuple[int, ...] = ()
    row_labels: Any = None
    offset: Floats | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def labels_of(self, rows: Sequence[int]) -> tuple[Any, ...]:
        """Return the labels of rows; their positions in the original data if there are no labels."""
        if self.row_labels is None:
            return given_positions(rows, self.n_rows, self.omitted)
        return tuple(self.row_labels[list(rows)].tolist())

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
            "effects": [list(effect) for effect in self.effects],
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


def given_positions(rows: Sequence[int], n_rows: int, omitted: Sequence[int]) -> tuple[int, ...]:
    """Return the positions of rows of a design of `n_rows` in the data as given, before some rows were omitted.

    >>> given_positions((0, 2), 3, omitted=(0, 2))
    (1, 4)
    """
    left = np.delete(np.arange(n_rows + len(omitted)), list(omitted))
    return tuple(left[list(rows)].tolist())
