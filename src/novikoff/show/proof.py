"""The three proofs of the mistake bound as a picture: each constrains the run more and more."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from novikoff.engine.rounding import up
from novikoff.say.words import counted, whole_at_most
from novikoff.show.style import (
    ALPHA,
    DARK,
    DRAWABLE,
    GAMMA,
    GREY,
    INK,
    LIGHT,
    MINUS,
    Display,
    Floats,
    as_learned,
    hide_frame,
    legend_below,
    pyplot,
    recorded_mistakes,
)

if TYPE_CHECKING:
    from novikoff.prove.run.follow import FollowedProof

# If the curves meet this many times beyond the run, axes are logarithmic: linear ones would hide the run.
FAR = 15


@dataclass(eq=False)
class ProofDisplay(Display):
    """The proofs of the notes after every mistake k (Block 1962, Novikoff 1962).

    - k gamma <= <w, u> <= ||w|| <= sqrt(k) R: the floor grows faster than the ceiling. They meet at k = (R/gamma)^2,
      beyond which no weights are possible.
    - The cosine of w and u is at most 1, and its floor sqrt(k) gamma/R rises.
    - The distance alpha_k = ||w - (R^2/gamma) u||^2 falls by at least R^2 with every mistake, and never below 0.

    With a loss, R^2 + 2 max loss replaces R^2.

    >>> from novikoff import Separator, Steps, follow_proof
    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> steps = Steps.of_rows(X, y, [0, 2, 4], fit_intercept=False)
    >>> display = ProofDisplay(follow_proof(steps, Separator([1.0, 0.0])))
    >>> display.bound, round(display.crossing, 9)
    (5, 5.0)
    """

    proof: "FollowedProof"

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, separator: Any = None) -> Self:
        """Create from a Perceptron that was fitted on X and y with record_mistakes=True.

        The proof is followed with `separator`, or with the one of maximum margin, which `certify` finds.
        """
        from novikoff.prove.run.follow import follow_proof
        from novikoff.prove.run.steps import Steps

        has_bias = getattr(estimator, "fit_intercept", None)
        if has_bias is None:
            raise ValueError(
                f"this picture is drawn of a linear perceptron, not of this {type(estimator).__name__}: follow_proof "
                "follows other learners, and ProofDisplay takes what it returns; from a pipeline take the last step, "
                "with the examples that it sees"
            )
        rows = recorded_mistakes(estimator)
        if estimator.run_.weighted:
            raise ValueError("the proof is about examples times the weights of their classes: multiply the rows, first")
        lead, X = estimator.run_.lead, as_learned(estimator, X)
        steps = Steps.of_rows(X, y, rows, estimator.mistake_guesses_, fit_intercept=has_bias, lead=lead)
        return cls(follow_proof(steps, _widest(X, y, has_bias) if separator is None else separator))

    @property
    def mistakes(self) -> float:
        """k, at the end of the run."""
        return self.proof.mistakes

    @property
    def bound(self) -> int:
        """The most mistakes that can be made."""
        return self.proof.bound

    @property
    def holds(self) -> bool:
        """Whether every inequality held."""
        return self.proof.holds

    @property
    def crossing(self) -> float:
        """(R/gamma)^2, where the floor meets the ceiling; rounded up, infinite beyond the range of floats."""
        try:
            return up(float(Fraction(self.proof.step_square) / Fraction(self.proof.margin) ** 2))
        except OverflowError:
            return math.inf

    def plot(self, ax: Any = None, *, scale: Literal["linear", "log"] | None = None, **kwargs: Any) -> Self:
        """Draw the three proofs on three axes `ax`, or on a new figure; on a single axis, only the first.

        `kwargs` go to the curves of the run. The axes are logarithmic if the curves meet far beyond the run, unless
        `scale` is given; the cosine and the distance have linear vertical axes.
        """
        if ax is None:
            figure = pyplot().figure(figsize=(11, 6.4), layout="constrained")
            places = figure.subplot_mosaic([["length", "cosine"], ["length", "distance"]], width_ratios=[3, 2])
            ax = np.array([places[name] for name in ("length", "cosine", "distance")])
        panels = np.ravel(ax)
        if len(panels) not in (1, 3):
            raise ValueError(f"the proofs are drawn on one axis or on three; ax has {len(panels)}")
        end = min(self.crossing, float(DRAWABLE))
        scale = scale or ("log" if end > FAR * max(self.mistakes, 1) else "linear")
        k = np.geomspace(1, max(end, 2), 300) if scale == "log" else np.linspace(0, end, 300)
        for panel, draw in zip(panels, (self._draw_length, self._draw_cosine, self._draw_distance), strict=False):
            panel.set_xscale(scale)
            draw(panel, k, kwargs)
            panel.set_xlabel(f"{self.symbols[3]}s k")
            if scale == "log":
                panel.xaxis.set_major_formatter("{x:,g}")
            else:
                panel.set(xlim=(0, max(end, self.mistakes) * 1.06), ylim=(0, None))
            hide_frame(panel)
            legend_below(panel, 2 if panel is panels[0] else 1)
        if scale == "log":
            panels[0].set_yscale("log")
            panels[0].yaxis.set_major_formatter("{x:,g}")
        self._mark_crossing(panels[0], end)
        self.ax_, self.figure_ = ax, panels[0].figure
        return self

    @property
    def _root(self) -> float:
        return math.sqrt(self.proof.step_square)

    @property
    def symbols(self) -> tuple[str, str, str, str]:
        """The symbols for R, R^2 and R^4, which differ if a learner requires more than a positive score; and what k
        counts."""
        R, S, fourth = ("√S", "S", "S²") if self.proof.asks_for_more else ("R", "R²", "R⁴")
        return R, S, fourth, "update" if self.proof.lead else "mistake"

    def _draw_length(self, ax: Any, k: Floats, kwargs: dict[str, Any]) -> None:
        R, _, _, made = self.symbols
        draw_room(ax, k, k * self.proof.margin, np.sqrt(k) * self._root, f"√k·{R}")
        self._draw_run(ax, self.proof.length, LIGHT, "s", "‖w‖: how long the weights are", kwargs)
        label = "⟨w,u⟩: how far they got along the separator"
        self._draw_run(ax, self.proof.progress, DARK, "o", label, kwargs)
        verdict = "every inequality held" if self.holds else "not every inequality held"
        ax.set_title(f"k·{GAMMA} ≤ ⟨w,u⟩ ≤ ‖w‖ ≤ √k·{R}: {counted(self.mistakes, made)}, {verdict}")

    def _draw_cosine(self, ax: Any, k: Floats, kwargs: dict[str, Any]) -> None:
        R = self.symbols[0]
        floor = np.minimum(np.sqrt(k) * (self.proof.margin / self._root), 1.0)
        ax.fill_between(k, floor, 1.0, color="#eeeeee", linewidth=0)
        ax.axhline(1.0, color=GREY, linestyle="--", linewidth=1.6)
        ax.plot(k, floor, color=GREY, linestyle=":", linewidth=2.2, label=f"√k·{GAMMA}/{R}: its floor")
        self._draw_run(ax, self.proof.cosine, DARK, "o", "cos = ⟨w,u⟩/‖w‖", kwargs)
        ax.set_title("The cosine is at most 1")
        ax.set_ylabel("cosine of w and u")

    def _draw_distance(self, ax: Any, k: Floats, kwargs: dict[str, Any]) -> None:
        _, S, fourth, _ = self.symbols
        first = min(self.proof.distance[0], float(DRAWABLE))
        ceiling = first * np.maximum(1.0 - k / self.crossing, 0.0)
        ax.fill_between(k, 0.0, ceiling, color="#eeeeee", linewidth=0)
        label = f"{fourth}/{GAMMA}² {MINUS} k·{S}: its ceiling"
        ax.plot(k, ceiling, color=GREY, linestyle="--", linewidth=1.6, label=label)
        distance = np.minimum(self.proof.distance, float(DRAWABLE))
        self._draw_run(ax, distance, DARK, "o", f"{ALPHA}ₖ = ‖w {MINUS} ({S}/{GAMMA})·u‖²", kwargs)
        ax.set_title("The distance is at least 0")
        ax.set_ylabel(f"distance {ALPHA}ₖ")

    def _draw_run(self, ax: Any, values: Floats, colour: str, marker: str, label: str, kwargs: dict[str, Any]) -> None:
        first = 1 if ax.get_xscale() == "log" else 0  # k = 0 is infinitely far to the left
        few = len(values) <= 60
        style = {"color": colour, "marker": marker if few else "", "markersize": 4.5, "linewidth": 2, "zorder": 3}
        ax.plot(self.proof.made[first:], values[first:], **{**style, **kwargs, "label": label})

    def _mark_crossing(self, ax: Any, end: float) -> None:
        if self.crossing > end:
            return
        ax.axvline(end, color=INK, linewidth=0.8)
        ax.plot([end], [end * self.proof.margin], "D", color=INK, zorder=4)
        formula = f"S/{GAMMA}²" if self.proof.asks_for_more else f"(R/{GAMMA})²"
        ax.annotate(
            f"{formula}: at most {whole_at_most(self.bound)} {self.symbols[3]}s",
            (end, 0.03),
            xycoords=("data", "axes fraction"),
            xytext=(-6, 0),
            textcoords="offset points",
            ha="right",
            va="bottom",
        )


def draw_room(ax: Any, k: Floats, floor: Floats, ceiling: Floats, name: str) -> Any:
    """Draw the range that the theorem allows: between k gamma and sqrt(k) R, which is called `name`."""
    ax.fill_between(k, floor, np.maximum(floor, ceiling), color="#eeeeee", linewidth=0)
    ax.plot(k, ceiling, color=GREY, linestyle="--", linewidth=1.6, label=f"{name}: the length has this ceiling")
    ax.plot(k, floor, color=GREY, linestyle=":", linewidth=2.2, label=f"k·{GAMMA}: the progress has this floor")
    ax.set(xlabel="mistakes k", ylabel="length")
    hide_frame(ax)
    legend_below(ax)
    return ax


def draw_ruled_out(ax: Any, lengths: Floats) -> Any:
    """Draw the margins still possible after every mistake, also on inseparable data: none above ||w||/k."""
    k = np.arange(1.0, len(lengths))
    ax.plot(k, lengths[1:] / k, color=DARK, label="‖w‖/k: no separator has a wider margin")
    ax.set(xscale="log", yscale="log", xlabel="mistakes k", ylabel="margin")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,g}")
    hide_frame(ax)
    legend_below(ax)
    return ax


def _widest(X: Any, y: ArrayLike, fit_intercept: bool) -> Any:
    from novikoff.prove.separable.search.certify import certify

    certificate = certify(X, y, fit_intercept=fit_intercept)
    if certificate.vector is None:
        raise ValueError(f"the proof needs a separator. {certificate}")
    return certificate.vector
