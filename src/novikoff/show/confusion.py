"""Confusion: which class was predicted for which, and how often."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from novikoff.show.style import Display, axes

# With more classes, numbers in cells are too small to read.
READABLE = 25


@dataclass(eq=False)
class ConfusionDisplay(Display):
    """Counts of rows by their class (down) and the predicted class (across).

    The shade of a cell is its fraction of the row, so that rare classes are visible, too; the number is the count.

    >>> display = ConfusionDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"])
    >>> display.classes, display.counts.tolist(), display.errors
    (('a', 'b'), [[1, 1], [0, 1]], 1)
    """

    counts: NDArray[np.int64]
    classes: tuple[Any, ...]

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, *, classes: Any = None) -> Self:
        """Create from true and predicted labels; for sequences, the labels of all tokens."""
        right, guessed = _flat(y_true), _flat(y_pred)
        if not right:
            raise ValueError("there are no labels to compare")
        if len(right) != len(guessed):
            raise ValueError(f"there are {len(right)} right labels, but {len(guessed)} predicted ones")
        known = list(dict.fromkeys(classes)) if classes is not None else _in_order({*right, *guessed})
        places = {label: i for i, label in enumerate(known)}
        counts = np.zeros((len(known), len(known)), dtype=np.int64)
        for row, pair in enumerate(zip(right, guessed, strict=True)):
            for label in pair:
                if label not in places:
                    raise ValueError(f"label {label!r} in row {row} was not in classes={known}")
            counts[places[pair[0]], places[pair[1]]] += 1
        return cls(counts, tuple(known))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """Create from a fitted classifier, or sequence labeller, and rows with their labels."""
        return cls.from_predictions(y, estimator.predict(X))

    @property
    def errors(self) -> int:
        """The rows off the diagonal."""
        return int(self.counts.sum() - np.trace(self.counts))

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on `ax`, or on a new figure; `kwargs` go to `imshow`."""
        n = len(self.classes)
        side = min(3.2 + 0.42 * n, 11)
        ax = axes(ax, (side + 0.9, side))
        totals = self.counts.sum(axis=1, keepdims=True)
        shares = np.divide(self.counts, totals, out=np.zeros((n, n)), where=totals > 0)
        image = ax.imshow(shares, **{"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, **kwargs})
        if n <= READABLE:
            for (i, j), count in np.ndenumerate(self.counts):
                colour = "white" if shares[i, j] > 0.55 else "black"
                ax.text(j, i, f"{count:,}", ha="center", va="center", color=colour, fontsize=11 if n <= 12 else 7)
        names = [str(name) for name in self.classes]
        slanted = max(map(len, names)) > 4
        turned = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
        ax.set_xticks(range(n), names, **turned)
        ax.set_yticks(range(n), names)
        ax.set(xlabel="predicted class", ylabel="true class")
        total = int(self.counts.sum())
        ax.set_title(f"{self.errors:,} of {total:,} wrong")
        ax.figure.colorbar(image, ax=ax, label="fraction of the true class", shrink=0.8)
        return self._drawn(ax)


def _flat(labels: Any) -> list[Any]:
    """Return labels of rows, or of the tokens of sequences, in one list."""
    values = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    if values and isinstance(values[0], list | tuple | np.ndarray):
        return [
            label for sequence in values for label in (sequence.tolist() if hasattr(sequence, "tolist") else sequence)
        ]
    return values


def _in_order(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=str)
