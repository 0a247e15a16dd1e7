"""The paraboloid of the third note (30.2): a plane above, a circle below."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novikoff.show.style import (
    DARK,
    GREY,
    INK,
    LIGHT,
    MARKERS,
    Display,
    Floats,
    labels_for,
    last_step,
    matrix_of,
    pyplot,
)

if TYPE_CHECKING:
    from novikoff.prove.expressivity.ball import Ball, NoBall

WHY = "the picture of a circle"


@dataclass(eq=False)
class ParaboloidDisplay(Display):
    """Points lifted to (x, ||x - o||^2), the plane that separates them, and the circle that it cuts out below.

    `inside` says which rows the circle holds. The origin o, where the paraboloid touches the floor, is that of the data
    unless named: any other gives the same circles, and a centre among the points the better picture.

    >>> X, y = [[0, 0], [1, 0], [0, 1], [5, 5], [-5, 0]], ["in", "in", "in", "out", "out"]
    >>> display = ParaboloidDisplay.from_points(X, y, inside="in")
    >>> round(display.radius, 5), display.inside.tolist()
    (3.00012, [True, True, True, False, False])
    """

    X: Floats
    inside: NDArray[np.bool_]
    center: Floats
    radius: float
    names: tuple[str, str] = ("inside", "outside")
    origin: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def from_ball(
        cls, ball: "Ball | NoBall", X: ArrayLike, y: ArrayLike, *, origin: Sequence[float] = (0.0, 0.0)
    ) -> Self:
        """From the circle that `separating_ball` found."""
        from novikoff.prove.expressivity.ball import Ball

        points, labels = matrix_of(X, 2, WHY), labels_for(X, y)
        if not isinstance(ball, Ball):
            raise ValueError(f"there is no circle to draw. {ball}")
        inside = labels == ball.inside
        return cls(points, inside, ball.center, ball.radius, _names(labels, inside), (origin[0], origin[1]))

    @classmethod
    def from_points(
        cls, X: ArrayLike, y: ArrayLike, *, inside: Any = None, origin: Sequence[float] = (0.0, 0.0)
    ) -> Self:
        """From points of two labels: the circle that holds `inside` is found by `separating_ball`."""
        from novikoff.prove.expressivity.search.separating_ball import separating_ball

        return cls.from_ball(separating_ball(X, y, inside=inside), X, y, origin=origin)

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, y: ArrayLike) -> Self:
        """From a pipeline of `Paraboloid` and a linear classifier of two classes: its plane <a, x> + c z + d = 0."""
        points, labels = matrix_of(X, 2, WHY), labels_for(X, y)
        model = last_step(estimator)
        if len(model.classes_) != 2 or np.shape(model.coef_) != (1, 3):
            raise ValueError("the plane above a circle has three weights; fit a pipeline of Paraboloid and Perceptron")
        first, second, c = model.coef_[0].tolist()
        d = float(np.ravel(model.intercept_)[0])
        if c == 0:
            raise ValueError("the plane is vertical: it cuts out a straight line, and no circle")
        center = np.array([-first / (2 * c), -second / (2 * c)])
        square = float(center @ center) - d / c
        if square <= 0:
            raise ValueError("the plane lies below the paraboloid: it cuts out no circle, and all rows are on one side")
        held = model.classes_[0 if c > 0 else 1]  # with c > 0 the inside has negative scores
        inside = labels == held
        return cls(points, inside, center, math.sqrt(square), _names(labels, inside))

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on `ax`, which must have three dimensions, or on a new figure; `kwargs` go to the points' `scatter`."""
        plt = pyplot()
        if ax is None:
            ax = plt.figure(figsize=(7, 6.2), layout="constrained").add_subplot(projection="3d")
        if not hasattr(ax, "plot_surface"):
            raise ValueError('a paraboloid needs axes of three dimensions: figure.add_subplot(projection="3d")')
        # The painter's order by depth gets surfaces wrong that cross each other; here it is known.
        ax.computed_zorder = False
        rim = self.center + self.radius * _circle()
        top = 1.05 * float(max(self.lift(self.X).max(), self.lift(rim).max()))
        floor = -0.5 * top
        self._draw_surfaces(ax, top)
        self._draw_circles(ax, rim, floor)
        self._draw_points(ax, floor, kwargs)
        height = "squared distance from o" if any(self.origin) else "squared length"
        ax.set(xlabel="x₁", ylabel="x₂", zlabel=height, zlim=(floor, top))
        ax.set_zticks([tick for tick in ax.get_zticks() if 0 <= tick <= top])
        # From the plane's lower side, and a little beside it: one sees its face, and that it is tilted.
        low_side = math.degrees(math.atan2(*(np.array(self.origin) - self.center)[::-1]))
        ax.view_init(elev=17, azim=low_side + 38)
        ax.set_box_aspect((1, 1, 0.85), zoom=1.08)
        ax.set_title("A plane above, a circle below")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)
        return self._drawn(ax)

    def lift(self, points: Floats) -> Floats:
        """The height of the paraboloid above points."""
        moved = points - np.array(self.origin)
        return np.asarray((moved * moved).sum(axis=1))

    def plane(self, points: Floats) -> Floats:
        """The height of the plane above points: the same as the paraboloid's above the circle, and only there."""
        center = self.center - np.array(self.origin)
        return np.asarray(2 * (points - np.array(self.origin)) @ center + self.radius**2 - center @ center)

    def _draw_surfaces(self, ax: Any, top: float) -> None:
        rings = np.sqrt(np.linspace(0, top, 24))[:, None, None] * _circle(49) + np.array(self.origin)
        _surface(ax.plot_wireframe, rings, self.lift, color="#b5b5b5", linewidth=0.5, rstride=2, cstride=3, zorder=1)
        disc = self.center + self.radius * np.array([0.0, 1.45])[:, None, None] * _circle(49)
        _surface(ax.plot_surface, disc, self.plane, color=DARK, alpha=0.22, linewidth=0, shade=False, zorder=2)

    def _draw_circles(self, ax: Any, rim: Floats, floor: float) -> None:
        heights = self.lift(rim)
        ax.plot(*rim.T, heights, color=INK, linewidth=2, zorder=3, label="where the plane cuts")
        ax.plot(*rim.T, floor, color=INK, linewidth=2, linestyle="--", zorder=1, label="the circle below")
        for (x, z), height in zip(rim[::8], heights[::8], strict=True):
            ax.plot([x, x], [z, z], [floor, height], color=GREY, linewidth=0.6, linestyle=":", zorder=1)

    def _draw_points(self, ax: Any, floor: float, style: dict[str, Any]) -> None:
        for place, (chosen, colour) in enumerate(((~self.inside, DARK), (self.inside, LIGHT))):
            look = {"c": colour, "marker": MARKERS[place], "edgecolors": INK, "linewidths": 0.5, "s": 34, **style}
            points = self.X[chosen]
            label = f"{self.names[1 - place]}, {('outside', 'inside')[place]}"
            ax.scatter(*points.T, self.lift(points), **look, depthshade=False, zorder=4, label=label)
            ax.scatter(*points.T, floor, **{**look, "s": 12, "linewidths": 0}, depthshade=False, zorder=2)


def _circle(n: int = 97) -> Floats:
    turn = np.linspace(0, 2 * math.pi, n)
    return np.column_stack([np.cos(turn), np.sin(turn)])


def _surface(draw: Any, points: Floats, height: Any, **style: Any) -> None:
    """A surface over a mesh of points."""
    heights = height(points.reshape(-1, 2)).reshape(points.shape[:2])
    draw(points[..., 0], points[..., 1], heights, **style)


def _names(labels: NDArray[Any], inside: NDArray[np.bool_]) -> tuple[str, str]:
    """What the classes in and out of the circle are called."""
    held, kept_out = labels[inside], labels[~inside]
    return (str(held[0]) if len(held) else "none", str(kept_out[0]) if len(kept_out) else "none")
