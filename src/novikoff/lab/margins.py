"""Tiny margins: systems on which a plain perceptron makes very many mistakes, and Dunagan and Vempala's rescaling."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from novikoff.engine.rounding import at_least
from novikoff.features.fold import fold_bias, unit_length
from novikoff.lab.shapes import clipped, plane_shape
from novikoff.lab.state import KNOWN, Floats, View, checked
from novikoff.learn.linear.space import perceptron
from novikoff.options import Choice, Whole
from novikoff.prove.inequalities.search.phases import Phase, dunagan_vempala
from novikoff.prove.inequalities.search.solve import System
from novikoff.prove.separable.margin import Separator, radius
from novikoff.prove.separable.search.certify import certify
from novikoff.say.words import counted, radius_in_words, whole_at_most
from novikoff.show.style import typeset

SIZES = range(2, 11)
# The paper's phases make 16 m^2 mistakes; with fewer there is more to see.
PATIENCE, SEED = 1.0, 1
DOTS = 160
# The window of the slices: its height, relative to the last slice's inner circle, and its aspect ratio.
WINDOW, WINDOW_ASPECT = 3.2, 1.6

PLAIN: dict[str, Any] = {"fit_intercept": False, "shuffle": False, "max_iter": None}

SCENES = tuple(scene["name"] for scene in KNOWN["margins"])


def answer_margins(document: Any) -> dict[str, Any]:
    """Return what the page Tiny margins shows of {"scene": ..., "n": ...}."""
    asked = document if isinstance(document, dict) else {}
    scene = checked("scene", asked.get("scene"), Choice(words=SCENES))
    return margins_as_json(scene, checked("n", asked.get("n", SIZES.start), Whole.between(SIZES[0], SIZES[-1])))


@lru_cache(maxsize=32)
def margins_as_json(scene: str, n: int) -> dict[str, Any]:
    """Return the rows, the plain run on them, and the phases of the rescaled one."""
    rows = rows_of(scene, n)
    return {
        "rows": rows.tolist(),
        "plain": plain_as_json(rows),
        "counts": counts() if scene == "chain" else [],
        "compared": [] if scene == "chain" else compared(),
        "rescaled": rescaled_as_json(rows),
    }


def rows_of(scene: str, n: int) -> Floats:
    """Return the folded examples y (x, 1), or the chain e_j - e_1 - ... - e_(j-1), which has no labels to fold.

    >>> rows_of("chain", 3).tolist()
    [[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 1.0]]
    """
    if scene == "chain":
        return np.eye(n) - np.tril(np.ones((n, n)), -1)
    year = 1997.0 if scene == "cars" else 1998.0
    return np.array([[4.0, 1997.0, 6.0, 1.0], [0.0, -year, -3.0, -1.0]])


@lru_cache(maxsize=1)
def counts() -> list[dict[str, int]]:
    """Return the mistakes of the plain run on the chain, with the bounds: 2^(n-1) and the theorem's."""
    return [
        {"n": n, "mistakes": mistakes_on(rows), "floor": 2 ** (n - 1), "bound": _widest(rows)[2]}
        for n in SIZES
        for rows in [rows_of("chain", n)]
    ]


@lru_cache(maxsize=1)
def compared() -> list[dict[str, Any]]:
    """Return the mistakes on the two cars as stored, and preprocessed."""
    stored = rows_of("cars", 0)
    cars = np.array([[4.0, 1997.0, 6.0], [0.0, 1998.0, 3.0]])
    scaled = fold_bias((cars - cars.mean(axis=0)) / cars.std(axis=0)) * [[1.0], [-1.0]]
    found = {
        "as stored": stored,
        "the year corrected": rows_of("mended", 0),
        "as stored, of length 1": unit_length(stored),
        "corrected, centred and scaled": scaled,
    }
    return [{"words": words, "mistakes": mistakes_on(rows)} for words, rows in found.items()]


def mistakes_on(rows: Floats) -> int:
    """Count the mistakes of the plain run, in order, until none is wrong.

    >>> mistakes_on(rows_of("chain", 5))
    341
    """
    return int(perceptron(rows, np.ones(len(rows)), **PLAIN).run.mistakes)


def plain_as_json(rows: Floats) -> dict[str, Any]:
    """Run the perceptron on the rows, in order, until none is wrong; with the proof at some of its mistakes."""
    learned = perceptron(rows, np.ones(len(rows)), record_mistakes=True, **PLAIN)
    assert learned.mistakes is not None
    u, margin, bound = _widest(rows)
    k, R = learned.run.mistakes, radius(rows, fit_intercept=False)
    weights = np.vstack([np.zeros(rows.shape[1]), np.cumsum(rows[learned.mistakes.rows], axis=0)])
    shown = np.unique(np.linspace(0, k, DOTS).astype(int))
    return {
        "mistakes": k,
        "words": f"{counted(k, 'mistake')}, and the theorem allows {whole_at_most(bound)}",
        "weights": learned.memory.weights[0, :-1].tolist(),
        "bound": bound,
        "margin": margin,
        "constants": typeset(f"gamma >= {at_least(margin, 4)}, {radius_in_words(R)}"),
        "radius": R,
        "curve": {
            "k": shown.tolist(),
            "length": np.linalg.norm(weights[shown], axis=1).tolist(),
            "progress": (weights[shown] @ u).tolist(),
        },
    }


def rescaled_as_json(rows: Floats) -> dict[str, Any]:
    """Return the phases of the rescaled perceptron, each with a slice through the middle of its solutions."""
    seen = list(dunagan_vempala(System(rows), np.random.default_rng(SEED), PATIENCE))
    window = View(0.0, 0.0, WINDOW * math.tan(math.asin(_widest(seen[-1].rows)[1])), WINDOW_ASPECT)
    phases = [_phase(phase, window, is_last=phase is seen[-1]) for phase in seen]
    made = sum(phase["mistakes"] for phase in phases)
    words = f"{counted(made, 'mistake')} in {counted(len(phases), 'phase')}, on rows of length 1"
    solution = None if seen[-1].solution is None else seen[-1].solution.tolist()
    return {"phases": phases, "words": words, "solution": solution, "half": window.half}


def _phase(phase: Phase, window: View, *, is_last: bool) -> dict[str, Any]:
    """A slice of the solutions: the points u + s a + t b, with u in their middle, a along the stretch, b towards w."""
    u, margin, _ = _widest(phase.rows)
    made = int(phase.mistakes.sum())
    stretch = phase.rows[0] if phase.direction is None else phase.direction
    along, towards = _orthogonal(stretch, u, phase.weights), _orthogonal(phase.weights, u)
    products = np.column_stack([phase.rows @ along, phase.rows @ towards, phase.rows @ u])
    region = window.corners
    for constraint in products.tolist():
        region = clipped(region, *constraint)
    ahead = float(phase.weights @ u)
    if phase.direction is None:
        words = f"{counted(made, 'mistake')}, and then none: w is a solution."
    elif is_last:
        words = f"{counted(made, 'mistake')} were not enough, but z, a random vector corrected, is a solution."
    else:
        words = f"{counted(made, 'mistake')} were not enough. Stretch the space twofold along z, and start again."
    return {
        "region": region,
        "edges": [curve for row in products.tolist() for curve in plane_shape(row, window).curves],
        "w": [float(phase.weights @ along) / ahead, float(phase.weights @ towards) / ahead] if ahead > 0 else None,
        "stretched": not is_last,
        "opening": math.degrees(math.asin(margin)),
        "mistakes": made,
        "words": words,
    }


def _orthogonal(vector: Floats, *others: Floats) -> Floats:
    """Return the part of a vector orthogonal to others, of length 1, or any such direction; 0 if there is none."""
    if len(others) >= len(vector):
        return np.zeros(len(vector))
    basis, _ = np.linalg.qr(np.column_stack([*others, vector, np.eye(len(vector))]))
    direction = basis[:, len(others)]
    return np.asarray(direction if direction @ vector >= 0 else -direction)


def _widest(rows: Floats) -> tuple[Floats, float, int]:
    """Return the unit vector whose smallest product with a row is largest, that product, and the mistakes it allows."""
    signs = np.where(np.arange(len(rows)) % 2, -1, 1)
    certificate = certify(rows * signs[:, None], signs, fit_intercept=False)
    assert isinstance(certificate.separator, Separator)
    u = certificate.separator.weights
    return np.asarray(u / np.linalg.norm(u)), certificate.margin.lower, certificate.mistake_bound or 0
