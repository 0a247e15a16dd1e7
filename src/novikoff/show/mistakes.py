"""Mistakes per epoch, their sum, and its bound."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novikoff.say.words import counted, whole_at_most
from novikoff.show.style import (
    DARK,
    DRAWABLE,
    GAMMA,
    INK,
    LIGHT,
    Display,
    axes,
    hide_frame,
    last_step,
    legend_below,
)

if TYPE_CHECKING:
    from novikoff.learn.run import Run
    from novikoff.prove.separable.certificate import Certificate

# If the bound exceeds the mistakes by this factor, the axis is logarithmic: a linear one would flatten them.
FAR = 5


@dataclass(eq=False)
class MistakesDisplay(Display):
    """The mistakes of each epoch, their cumulative sum, and its bound.

    With a lead, narrow examples count, too. The theorem of Block and Novikoff bounds the sum, not the epochs: the line
    of the sum stays below the dashed one. If the bound is far above, the axis is logarithmic (and linear from 0 to 1).

    >>> from novikoff import Perceptron, certify
    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> model = Perceptron(readout="last", fit_intercept=False, shuffle=False).fit(X, y)
    >>> display = MistakesDisplay.from_estimator(model, certificate=certify(X, y, fit_intercept=False))
    >>> display.mistakes_per_epoch, display.bound
    ((3, 0), 5)
    """

    mistakes_per_epoch: tuple[int, ...]
    bound: int | None = None

    @classmethod
    def from_run(cls, run: "Run", *, bound: int | None = None) -> Self:
        """Create from the record of a run (`run_`), with a bound on its mistakes if one is known."""
        if not run.mistakes_per_epoch:
            raise ValueError("the run has no epochs: fit keeps their mistakes, partial_fit and learn_one see no epochs")
        return cls(run.updates_per_epoch, bound)

    @classmethod
    def from_estimator(cls, estimator: Any, *, certificate: "Certificate | None" = None) -> Self:
        """Create from a fitted model, with the bound of the certificate of its training data, if given."""
        model = last_step(estimator)
        if certificate is not None:
            _check_that_they_belong(model, certificate)
        return cls.from_run(
            model.run_, bound=None if certificate is None else certificate.update_bound(model.run_.lead)
        )

    @property
    def mistakes(self) -> int:
        """The mistakes of all recorded epochs."""
        return sum(self.mistakes_per_epoch)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on `ax`, or on a new figure; `kwargs` go to the line of the sum."""
        ax = axes(ax)
        made = np.array(self.mistakes_per_epoch)
        epochs = np.arange(1, len(made) + 1)
        ax.stairs(made, np.arange(len(made) + 1) + 0.5, fill=True, color=LIGHT, label="mistakes in this epoch")
        line = {"color": DARK, "marker": "o" if len(made) <= 40 else "", "label": "mistakes so far", **kwargs}
        ax.plot(epochs, np.cumsum(made), **line)
        title = f"{counted(self.mistakes, 'mistake')} made in {counted(len(made), 'epoch')}"
        if self.bound is not None:
            title += f"; the theorem allows {whole_at_most(self.bound)}"
            self._draw_bound(ax, self.bound)
        ax.set(xlabel="epoch", ylabel="mistakes", title=title, xlim=(0.4, len(made) + 0.6))
        ax.set_ylim(bottom=0)
        ax.locator_params(axis="x", integer=True)
        hide_frame(ax)
        legend_below(ax, 3)
        return self._drawn(ax)

    def _draw_bound(self, ax: Any, bound: int) -> None:
        label = f"the bound (R/{GAMMA})²"
        if bound > DRAWABLE:
            return
        height = float(bound)
        ax.axhline(height, color=INK, linestyle="--", linewidth=1.4, label=label)
        if bound > FAR * max(self.mistakes, 1):
            ax.set_yscale("symlog", linthresh=1)
            ax.set_ylim(top=height * 3)
            ax.yaxis.set_major_formatter(lambda value, _: whole_at_most(int(value)))
        else:
            ax.set_ylim(top=max(height, self.mistakes, 1) * 1.08)


def _check_that_they_belong(model: Any, certificate: "Certificate") -> None:
    """Check that certificate and model have the same labels, bias and space, so that the bound applies."""
    classes = np.asarray(model.classes_).tolist()
    if sorted(map(str, certificate.classes)) != sorted(map(str, classes)):
        raise ValueError(f"the certificate is about the labels {list(certificate.classes)}, the model about {classes}")
    if model.run_.weighted:
        raise ValueError("the certificate is about the examples, not about these times the weights of their classes")
    is_kernel = hasattr(model, "support_")
    if is_kernel and len(classes) > 2:
        raise ValueError("a kernel perceptron learns each class against the rest; certify one of these questions")
    if is_kernel != (certificate.kernel is not None):
        raise ValueError("the certificate and the model are about different spaces: one of a kernel's, one of columns")
    if not is_kernel and model.fit_intercept != certificate.fit_intercept:
        raise ValueError(
            f"the model has fit_intercept={model.fit_intercept}, the certificate {certificate.fit_intercept}, and so "
            f"another bound: certify(X, y, fit_intercept={model.fit_intercept})"
        )
