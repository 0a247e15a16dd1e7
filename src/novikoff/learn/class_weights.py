"""Weights of classes and of rows: numbers by which examples are multiplied before they are learned.

Multiplied examples are examples, so the theorem holds for them: with c the weight of its class, z = c y x, R is the
longest of these and gamma their margin. A score c y <w, x> has the sign of y <w, x>, so the same examples are mistakes;
but one of a heavy class moves the weights further.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from novikoff.engine.rounding import OUTWARDS

ClassWeight = Literal["balanced"] | Mapping[Any, float] | Sequence[float] | None
ExampleWeights = NDArray[np.float64] | None

# Beyond these, squares of lengths could overflow or underflow.
LIGHTEST, HEAVIEST = 1e-30, 1e30


def class_weights(asked: ClassWeight, classes: NDArray[Any], counts: Sequence[int]) -> ExampleWeights:
    """The weight of every class, in their order; None if examples are not weighted.

    >>> class_weights("balanced", np.array(["no", "yes"]), (30, 10)).round(3).tolist()
    [0.667, 2.0]
    >>> class_weights({"yes": 2.0}, np.array(["no", "yes"]), (30, 10)).tolist()
    [1.0, 2.0]
    """
    if asked is None:
        return None
    if isinstance(asked, str):
        if asked != "balanced":
            raise ValueError(f'class_weight={asked!r} is unknown; it is "balanced", or a number for every class')
        numbers = [sum(counts) / (len(classes) * max(count, 1)) for count in counts]
    elif isinstance(asked, Mapping):
        known = classes.tolist()
        for name in asked:
            if name not in known:
                raise ValueError(f"class_weight has a number for {name!r}, which is not among the classes {known}")
        numbers = [asked.get(name, 1.0) for name in known]
    else:
        numbers = list(asked)
        if len(numbers) != len(classes):
            raise ValueError(f"class_weight has {len(numbers)} numbers, but there are {len(classes)} classes: one each")
    for name, number in zip(classes.tolist(), numbers, strict=True):
        if not (isinstance(number, int | float) and math.isfinite(number) and LIGHTEST <= number <= HEAVIEST):
            raise ValueError(f"class_weight[{name!r}]={number!r} must be a positive number")
    return np.array(numbers, dtype=np.float64)


def weights_of_rows(of_classes: ExampleWeights, places: NDArray[Any], own: ExampleWeights = None) -> ExampleWeights:
    """The number by which each row is multiplied: the weight of its class, whose place is given, times its own.

    >>> weights_of_rows(np.array([1.0, 2.0]), np.array([1, 0]), np.array([3.0, 4.0])).tolist()
    [6.0, 4.0]
    """
    if of_classes is None:
        return own
    return of_classes[places] if own is None else of_classes[places] * own


def sample_weights(asked: Any, n_rows: int) -> ExampleWeights:
    """One checked weight per row; None if rows are not weighted."""
    if asked is None:
        return None
    if isinstance(asked, int | float):
        asked = np.full(n_rows, float(asked))
    weights = np.asarray(asked, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} rows: one weight per row is required"
        )
    good = (weights == 0.0) | ((weights >= LIGHTEST) & (weights <= HEAVIEST))
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        raise ValueError(
            f"sample_weight[{row}]={float(weights[row])!r} must be 0, which omits the row, or a positive number"
        )
    return weights


def multiplied_squares(squares: NDArray[np.float64], weights: ExampleWeights) -> NDArray[np.float64]:
    """The squared lengths of rows times their weights; rounded up."""
    return squares if weights is None else squares * weights**2 * OUTWARDS
