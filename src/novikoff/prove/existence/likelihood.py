"""The likelihood to maximise: a family, the columns of a design, and the response, as exact numbers.

The fingerprint covers all of it, byte by byte as `docs/certificates.md` specifies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

from novikoff.prove.exact.codec import Label, written_part
from novikoff.prove.separable.subject import Fingerprint

Floats = NDArray[np.float64]
# The name of a fixed effect, its first column in the design, and the first after its last.
Effect = tuple[str, int, int]
Family = Literal[
    "binomial", "log-binomial", "poisson", "negative-binomial", "multinomial", "ordinal", "cox", "conditional"
]
Ties = Literal["efron", "breslow", "exact"]

# The numbers that each family has for every row, in the order in which they are hashed. Some may be omitted.
NUMBERS: dict[Family, tuple[str, ...]] = {
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
TIES = get_args(Ties)


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


class FormulaOptions(TypedDict, total=False):
    """The options of a formula that are plain: names of columns, and labels."""

    weights: str
    offset: str
    strata: str
    ties: Ties
    reference: Label
    success: Label
    fit_intercept: bool


class Formula(NamedTuple):
    """The formula that a design was made from."""

    text: str
    options: FormulaOptions


class LikelihoodFacts(NamedTuple):
    """The description of a likelihood in a certificate.

    `numbers` names those that the rows have; `omitted` are the positions of given rows that are not in the design.
    """

    family: Family
    rows: int
    columns: tuple[str, ...]
    effects: tuple[Effect, ...]
    numbers: tuple[str, ...]
    classes: tuple[Label, ...] | None = None
    ties: Ties | None = None
    formula: Formula | None = None
    omitted: tuple[int, ...] = ()
    sha256: str = ""


@dataclass(frozen=True, eq=False)
class Likelihood:
    """A family, a design in CSR floats with named columns, and the numbers of every row.

    `classes` are the labels of the response, if any, the reference or lowest first. Rows with weight 0 are ignored.
    `formula` is the one that the design was made from, if any; `omitted` are the positions of given rows that are not
    in it. The `row_labels`, such as those of a frame's index, and an `offset` that does not affect the answer, are not
    part of the fingerprint.
    """

    family: Family
    X: Any
    columns: tuple[str, ...]
    numbers: Mapping[str, Floats]
    classes: tuple[Any, ...] | None = None
    ties: Ties | None = None
    effects: tuple[Effect, ...] = ()
    formula: Formula | None = None
    omitted: tuple[int, ...] = ()
    row_labels: Any = None
    offset: Floats | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def labels_of(self, rows: Sequence[int]) -> tuple[Any, ...]:
        """Return the labels of rows; their positions in the original data if there are no labels."""
        if self.row_labels is None:
            return given_positions(rows, self.omitted)
        return tuple(self.row_labels[list(rows)].tolist())

    @property
    def used(self) -> NDArray[np.int64]:
        """The rows whose weight is not 0."""
        return np.flatnonzero(self.numbers["weight"] > 0)

    @cached_property
    def header(self) -> dict[str, Any]:
        """The description with which the fingerprint begins, as values of JSON."""
        return {name: None for name in LikelihoodFacts._fields if name != "sha256"} | written_part(self._unnamed)

    @property
    def _unnamed(self) -> LikelihoodFacts:
        numbers = tuple(name for name in NUMBERS[self.family] if name in self.numbers)
        size = (self.family, self.n_rows, self.columns, self.effects, numbers)
        return LikelihoodFacts(*size, self.classes, self.ties, self.formula, self.omitted)

    @cached_property
    def about(self) -> LikelihoodFacts:
        """The description in a certificate, with the fingerprint of itself, the design and the numbers."""
        fingerprint = Fingerprint(self.header)
        fingerprint.add(self.X)
        parts = [np.ascontiguousarray(self.numbers[name] + 0.0, dtype="<f8") for name in self._unnamed.numbers]
        return self._unnamed._replace(sha256=fingerprint.with_labels([part.view("<u4") for part in parts]))


def given_positions(rows: Sequence[int], omitted: Sequence[int]) -> tuple[int, ...]:
    """Return the positions of rows of a design in the data as given, before some rows were omitted.

    >>> given_positions((0, 2), omitted=(0, 2))
    (1, 4)
    """
    left_out = np.array(omitted, dtype=np.int64)
    moved = np.searchsorted(left_out - np.arange(len(left_out)), rows, side="right")
    return tuple((np.array(rows, dtype=np.int64) + moved).tolist())
