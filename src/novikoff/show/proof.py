"""The proof of the mistake bound as a picture: two curves that must meet, and the run between them."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from novikoff.engine.rounding import up
from novikoff.engine.words import counted, whole_at_most
from novikoff.prove.separable.margin import Separator
from novikoff.show.style import (
    DARK,
    DRAWABLE,
    GAMMA,
    GREY,
    INK,
    LIGHT,
    Display,
    Floats,
    axes,
    hide_frame,
    legend_below,
    linear_of_two_classes,
    recorded_mistakes,
)

if TYPE_CHECKING:
    from novikoff.prove.run.follow import FollowedProof

# Where the curves meet so many times beyond the run, straight axes would hide the run.
FAR = 15


@dataclass(eq=False)
class ProofDisplay(Display):
    """k gamma <= <w, u> <= ||w|| <= sqrt(k) R, after every mistake k (Block 1962, Novikoff 1962).

    The floor k gamma grows faster than the ceiling sqrt(k) R. They meet at k = (R/gamma)^2, and beyond it there is no
    room for weights: that is the proof.

    >>> from novikoff import Separator, follow_proof
    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> proof = follow_proof(X, y, [0, 2, 4], Separator([1.0, 0.0]), fit_intercept=False)
    >>> display = ProofDisplay.from_proof(proof)
    >>> display.bound, round(display.crossing, 9)
    (5, 5.0)
    """

    progress_floor: Floats
    progress: Floats
    length: Floats
    length_ceiling: Floats
    margin: float
    radius: float
    bound: int
    holds: bool

    @classmethod
    def from_proof(cls, proof: "FollowedProof") -> Self:
        """From what `follow_proof` returns."""
        return cls(
            proof.progress_floor,
            proof.progress,
            proof.length,
            proof.length_ceiling,
            proof.margin,
            proof.radius,
            proof.bound,
            proof.holds,
        )

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, separator: Separator | None = None) -> Self:
        """From a Perceptron of two classes that was fitted to X and y with record_mistakes=True.

        The proof is followed with `separator`, or with the widest one, which `certify` finds.
        """
        from novikoff.prove.run.follow import follow_proof

        has_bias = linear_of_two_classes(estimator).fit_intercept
        rows = recorded_mistakes(estimator)
        plane = _widest(X, y, has_bias) if separator is None else separator
        return cls.from_proof(follow_proof(X, y, rows, plane, fit_intercept=has_bias))

    @property
    def mistakes(self) -> int:
        """k, at the end of the run."""
        return len(self.progress) - 1

    @property
    def crossing(self) -> float:
        """(R/gamma)^2, where the floor meets the ceiling; rounded up, infinite beyond the floats."""
        try:
            return up(float((Fraction(self.radius) / Fraction(self.margin)) ** 2))
        except OverflowError:
            return math.inf

    def plot(self, ax: Any = None, *, scale: Literal["linear", "log"] | None = None, **kwargs: Any) -> Self:
        """Draw on `ax`, or on a new figure; `kwargs` go to the two curves of the run.

        `scale` of both axes: "log" where the curves meet far beyond the run, unless named.
        """
        ax = axes(ax, (7.2, 4.8))
        end = min(self.crossing, float(DRAWABLE))
        scale = scale or ("log" if end > FAR * max(self.mistakes, 1) else "linear")
        k = np.geomspace(1, max(end, 2), 300) if scale == "log" else np.linspace(0, end, 300)
        self._draw_room(ax, k)
        self._draw_run(ax, 1 if scale == "log" else 0, kwargs)
        self._mark_crossing(ax, end)
        ax.set(xscale=scale, yscale=scale, xlabel="mistakes k", ylabel="length")
        if scale == "log":
            ax.xaxis.set_major_formatter("{x:,g}")
            ax.yaxis.set_major_formatter("{x:,g}")
        else:
            ax.set(xlim=(0, max(end, self.mistakes) * 1.06), ylim=(0, None))
        verdict = "every inequality held" if self.holds else "not every inequality held"
        ax.set_title(f"k·{GAMMA} ≤ ⟨w,u⟩ ≤ ‖w‖ ≤ √k·R: {counted(self.mistakes, 'mistake')}, {verdict}")
        hide_frame(ax)
        legend_below(ax, 2)
        return self._drawn(ax)

    def _draw_room(self, ax: Any, k: Floats) -> None:
        floor, ceiling = k * self.margin, np.sqrt(k) * self.radius
        ax.fill_between(k, floor, np.maximum(floor, ceiling), color="#eeeeee", linewidth=0)
        ax.plot(k, ceiling, color=GREY, linestyle="--", linewidth=1.6, label="√k·R: the length has this ceiling")
        ax.plot(k, floor, color=GREY, linestyle=":", linewidth=2.2, label=f"k·{GAMMA}: the progress has this floor")

    def _draw_run(self, ax: Any, first: int, kwargs: dict[str, Any]) -> None:
        k = np.arange(first, self.mistakes + 1)
        few = len(k) <= 60
        curves = (
            (self.length, LIGHT, "s", "‖w‖: how long the weights are"),
            (self.progress, DARK, "o", "⟨w,u⟩: how far they got along the separator"),
        )
        for values, colour, marker, label in curves:
            style = {"color": colour, "marker": marker if few else "", "markersize": 4.5, "linewidth": 2, "zorder": 3}
            ax.plot(k, values[first:], **{**style, **kwargs, "label": label})

    def _mark_crossing(self, ax: Any, end: float) -> None:
        if self.crossing > end:
            return
        height = end * self.margin
        ax.axvline(end, color=INK, linewidth=0.8)
        ax.plot([end], [height], "D", color=INK, zorder=4)
        ax.annotate(
            f"(R/{GAMMA})²: at most {whole_at_most(self.bound)} mistakes",
            (end, 0.03),
            xycoords=("data", "axes fraction"),
            xytext=(-6, 0),
            textcoords="offset points",
            ha="right",
            va="bottom",
        )


def _widest(X: Any, y: ArrayLike, fit_intercept: bool) -> Separator:
    from novikoff.prove.separable.search.certify import certify

    certificate = certify(X, y, fit_intercept=fit_intercept, diverging=False)
    plane = certificate.separator
    if not isinstance(plane, Separator):
        raise ValueError(f"the proof needs a plane that separates the classes. {certificate}")
    return plane
