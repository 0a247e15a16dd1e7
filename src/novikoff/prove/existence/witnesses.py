"""What a search has found about a likelihood, and a check needs: each alone proves nothing until it is tried."""

import enum
from dataclasses import dataclass
from typing import NamedTuple

FINITE, UNIDENTIFIED, UNDETERMINED, INFINITE = "finite", "not identified", "sign undetermined", "infinite"
UP, DOWN = "+inf", "-inf"
SIGNS = (UP, DOWN, UNDETERMINED, INFINITE, UNIDENTIFIED)


class Estimate(enum.Enum):
    """What is known of the maximum likelihood estimate."""

    EXISTS = "exists"
    INFINITE = "infinite"
    NO_START = "no start"
    UNDECIDED = "undecided"


class Combination(NamedTuple):
    """Rows of a cone, ascending, and a whole number other than 0 for each."""

    rows: tuple[int, ...]
    weights: tuple[int, ...]


class SignProof(NamedTuple):
    """Rows with positive weights that give `scale` times a coefficient, with its sign, but for the span of the face."""

    coefficient: int
    rows: tuple[int, ...]
    weights: tuple[int, ...]
    scale: int


@dataclass(frozen=True)
class Witnesses:
    """Directions of the cone, the first of which is positive wherever any is; the combination of rows that is 0 and
    spans the face; and why coefficients have their signs.

    For the log link also a `start`: coefficients and, last, what they are to be divided by; or, as `no_start`, rows
    that contradict each other.
    """

    directions: tuple[tuple[int, ...], ...] = ()
    obstruction: Combination | None = None
    signs: tuple[SignProof, ...] = ()
    start: tuple[int, ...] | None = None
    no_start: Combination | None = None
