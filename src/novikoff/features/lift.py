"""The lift onto the paraboloid, as far as there is something to remember of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LiftModel:
    """The paraboloid over so many columns."""

    n_columns: int
    feature_names: tuple[str, ...] | None = None
