"""The run as data: everything that the page shows of all steps at once, and of one moment."""

from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.engine.rounding import at_least, at_most
from novikoff.lab.evidence import balls_as_json, certificate_of, evidence_as_json, has_margin
from novikoff.lab.shapes import Shape, area, clipped, grid_shape, plane_shape
from novikoff.lab.state import State, StateError, View
from novikoff.lab.walk import (
    Walk,
    coefficients_along,
    decided,
    gram_of,
    memory_at,
    scores_along,
    walk_of,
    weights_along,
)
from novikoff.learn.linear.memory import LinearMemory, predicted, read_out
from novikoff.learn.linear.notes import batch_descent, perceptron_criterion
from novikoff.learn.run import Cycle
from novikoff.options import Readout
from novikoff.prove.run.bounds import lift_inseparable
from novikoff.prove.run.follow import FollowedProof, follow_proof
from novikoff.prove.run.search.freund_schapire import freund_schapire_bound
from novikoff.prove.run.steps import Steps
from novikoff.prove.separable.margin import Separator
from novikoff.prove.separable.question import Verdict
from novikoff.say import runs as say
from novikoff.show.style import GAMMA

# The path of the weights is fitted into a box with this aspect ratio; the page shows more around it.
WEIGHTS_ASPECT = 2.2
AROUND = 2.5

# The grid of the criterion has so many nodes a side. The batch rule begins opposite to the solutions, and its first
# step is this fraction of the half-width of the surface.
CRITERION_NODES = 25
FIRST_STEP = 0.3
BATCH_STEPS = 60


def run_as_json(state: State) -> dict[str, Any]:
    """Return all steps: lists over the steps, and, in `proof` and `weights`, over the mistakes k = 0, 1, ..."""
    walk = walk_of(state)
    score = scores_along(state, walk)
    n = max(1, len(state.points))
    return {
        "steps": {
            "row": walk.visits.tolist(),
            "epoch": (np.arange(len(walk.visits)) // n + 1).tolist(),
            "score": score.tolist(),
            "predicted": (2 * predicted(score) - 1).tolist(),
            "mistake": walk.mistaken.tolist(),
            "narrow": (walk.mistaken & (score * state.learned[1][walk.visits] > 0)).tolist(),
            "mistakes": np.cumsum(walk.mistaken).tolist(),
        },
        "examples": _examples(state),
        "labels": state.learned[1].tolist(),
        "drawn": state.drawn.tolist(),
        "stopped": None if walk.stopped is None else walk.stopped.name,
        "ending": _ending(state, walk),
        "cycle": None if walk.cycle is None else _cycle(walk, walk.cycle, n),
        "weights": _weights(state, walk),
        "proof": proof_as_json(state, walk),
        "certificate": evidence_as_json(state),
        "balls": balls_as_json(state),
    }


def _ending(state: State, walk: Walk) -> str | None:
    """Return when and why it stopped."""
    if walk.stopped is None:
        return None
    return say.after(walk.stopped, len(walk.visits) // max(1, len(state.points)), state.lead)


def _cycle(walk: Walk, cycle: Cycle, n: int) -> dict[str, Any]:
    """Return between which epochs, and between how many mistakes, the weights returned to what they had been."""
    made = [int(walk.mistaken[: epochs * n].sum()) for epochs in (cycle.since, cycle.until)]
    return {"since": cycle.since, "until": cycle.until, "mistakes": made, "words": str(cycle)}


def _examples(state: State) -> list[list[float]]:
    """Return the rows as the learner adds them, the constant last."""
    rows, _ = state.learned
    examples: list[list[float]] = state.as_plane(np.hstack([rows, np.full((len(rows), 1), state.adds_one)])).tolist()
    return examples


# ---------------------------------------------------------------------------------------------------------------------
# The proof, mistake by mistake
# ---------------------------------------------------------------------------------------------------------------------


def proof_as_json(state: State, walk: Walk) -> dict[str, Any]:
    """Return the three proofs: k gamma <= <w, u> <= ||w|| <= sqrt(k) R, the cosine above sqrt(k) gamma/R, and alpha_k
    below R^4/gamma^2 - k R^2; without a separator only ||w||, and the three proofs in a space where there is one.

    With a lead, S = (1 + 2 lead) R^2 takes the place of R^2, and its name is in `symbols`.
    """
    symbols = {"root": "√S", "meeting": f"S/{GAMMA}²"} if state.lead else {"root": "R", "meeting": f"(R/{GAMMA})²"}
    return {**_proof(state, walk), "symbols": symbols}


def _proof(state: State, walk: Walk) -> dict[str, Any]:
    if not state.points:
        return {"length": [0.0], "length_ceiling": [0.0], "margin_at_most": [None]}
    certificate, steps = certificate_of(state), steps_of(state, walk)
    if certificate is None or not has_margin(certificate):
        ceiling = np.sqrt(np.arange(len(steps.lengths)) * (1.0 + 2.0 * state.lead)) * steps.radius
        numbers = {"length": steps.lengths.tolist(), "length_ceiling": ceiling.tolist()}
        inseparable = certificate is not None and certificate.verdict is not Verdict.SEPARABLE and not state.is_kernel
        projection = projection_as_json(state, walk) if inseparable and not state.lead else None
        return {**numbers, "margin_at_most": _margins_ruled_out(numbers["length"]), "projection": projection}
    followed = follow_proof(steps, certificate.coefficients if state.is_kernel else certificate.separator)
    numbers = numbers_of(followed)
    left = [(certificate.update_bound(state.lead) or 0) - k for k in range(len(steps.order) + 1)]
    return {**numbers, "margin_at_most": _margins_ruled_out(numbers["length"]), "left": left}


def projection_as_json(state: State, walk: Walk) -> dict[str, Any] | None:
    """Return the three proofs of the first pass in d + m dimensions, over its mistakes; None if no hyperplane helps."""
    best = freund_schapire_bound(state.rows, state.labels, fit_intercept=state.adds_one)
    if best.separator is None:
        return None
    examples = (state.rows, state.labels, best.separator, best.margin)
    lifted = lift_inseparable(*examples, fit_intercept=state.adds_one)
    n = len(state.points)
    followed = follow_proof(lifted.steps(walk.visits[:n][walk.mistaken[:n]]), lifted.separator)
    dimensions = lifted.X.shape[1] + state.adds_one
    return {
        **numbers_of(followed),
        "words": f"with an extra coordinate for every example, in {dimensions} dimensions, a hyperplane separates them "
        f"with margin {at_least(followed.margin)}",
        "dimensions": dimensions,
        "radius": followed.radius,
        "margin": followed.margin,
        "bound": followed.bound,
        "left": [followed.bound - k for k in range(len(followed.length))],
    }


def numbers_of(followed: FollowedProof) -> dict[str, list[float]]:
    """Return the arrays of a proof, over the mistakes k = 0, 1, ..."""
    names = ["progress", "progress_floor", "cosine", "cosine_floor"]
    names += ["length", "length_ceiling", "distance", "distance_ceiling"]
    return {name: getattr(followed, name).tolist() for name in names}


def steps_of(state: State, walk: Walk) -> Steps:
    """Return what the mistakes added, in the plane or in the space of a kernel."""
    if state.is_kernel:
        return Steps.of_kernel(gram_of(state), state.labels, walk.mistake_rows, lead=state.lead)
    return Steps.of_rows(state.rows, state.labels, walk.mistake_rows, fit_intercept=state.adds_one, lead=state.lead)


def _margins_ruled_out(lengths: list[float]) -> list[str | None]:
    """Return the margins that no separator exceeds: ||w||/k after k mistakes."""
    return [at_most(length / k, 4) if k else None for k, length in enumerate(lengths)]


# ---------------------------------------------------------------------------------------------------------------------
# Weight space
# ---------------------------------------------------------------------------------------------------------------------


def _weights(state: State, walk: Walk) -> dict[str, Any]:
    """Return the path of the weights; with a kernel, how often each point was added."""
    if state.is_kernel:
        return {"kind": "counts", "after": np.abs(coefficients_along(state, walk)).astype(int).tolist()}
    weights = state.as_plane(weights_along(state, walk))
    view = weights_view(state)
    # Without an intercept or a lift, weight space is a plane; otherwise a slice of it is drawn.
    sliced = state.fit_intercept or state.space == "circle"
    separator = None if sliced else _unit_separator(state)
    return {
        "kind": "slice" if sliced else "plane",
        "after": weights.tolist(),
        "view": [view.x, view.y, view.half],
        "separator": separator,
        "criterion": None if sliced or not state.points else criterion_as_json(state, walk, separator),
    }


def criterion_as_json(state: State, walk: Walk, separator: list[float] | None) -> dict[str, Any]:
    """Return heights over a square grid, rows from below, and the two paths with their heights."""
    examples, labels = state.rows, state.labels
    online = weights_along(state, walk)[:, :2]
    reach = 1.2 * float(np.abs(online).max()) or 1.0
    axis = np.linspace(-reach, reach, CRITERION_NODES)
    heights = perceptron_criterion(examples, labels, np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2))
    start = -0.85 * reach * np.array(separator or [0.8, 0.6])
    wrong = (examples @ start) * labels <= 0
    pull = float(np.linalg.norm((examples * labels[:, None])[wrong].sum(axis=0))) or 1.0
    batch = batch_descent(examples, labels, start=start, rate=FIRST_STEP * reach / pull, max_steps=BATCH_STEPS)
    return {
        "reach": reach,
        "heights": heights.reshape(CRITERION_NODES, CRITERION_NODES).tolist(),
        "online": perceptron_criterion(examples, labels, online).tolist(),
        "batch": np.column_stack([batch, perceptron_criterion(examples, labels, batch)]).tolist(),
    }


def _unit_separator(state: State) -> list[float] | None:
    certificate = certificate_of(state)
    if certificate is None or not isinstance(certificate.separator, Separator):
        return None
    weights: list[float] = certificate.separator.weights.tolist()
    return weights


def weights_view(state: State) -> View:
    """Return a view of the path of the first two weights, with the origin and some room around them."""
    weights = weights_along(state, walk_of(state))[:, :2]
    low, high = weights.min(axis=0), weights.max(axis=0)
    width, height = high - low
    half = 0.62 * max(float(height), float(width) / WEIGHTS_ASPECT, 1e-9)
    if not weights.any():
        half = 1.0
    x, y = (low + high) / 2
    return View(float(x), float(y), half, WEIGHTS_ASPECT)


def around(view: View) -> View:
    """Return a larger view with the same centre."""
    return replace(view, half=AROUND * view.half)


def solution_region(state: State, weights: list[float]) -> list[tuple[float, float]]:
    """Return the weights (w1, w2) that classify every example strictly correctly, the others fixed: a convex polygon,
    clipped to the view (Duda & Hart 1973).
    """
    certificate = certificate_of(state)
    if not has_margin(certificate):
        return []
    region = around(weights_view(state)).corners
    rest = state.placed[:, 2:] @ np.array(weights[2:-1]) + (weights[-1] if state.fit_intercept else 0.0)
    for (x1, x2), label, constant in zip(state.plane.tolist(), state.labels.tolist(), rest.tolist(), strict=True):
        region = clipped(region, label * x1, label * x2, label * constant)
    return region if area(region) > 0 else []


def tie_line(state: State, row: int, weights: list[float]) -> list[list[tuple[float, float]]]:
    """Return the weights (w1, w2) that give an example the score 0, the others fixed."""
    rest = float(state.placed[row, 2:] @ np.array(weights[2:-1])) + (weights[-1] if state.fit_intercept else 0.0)
    return plane_shape([*state.plane[row].tolist(), rest], around(weights_view(state))).curves


# ---------------------------------------------------------------------------------------------------------------------
# One moment
# ---------------------------------------------------------------------------------------------------------------------


def moment_as_json(state: State, step: int) -> dict[str, Any]:
    """Return the boundaries after a step, the boundary before it, each read-out's errors, and the solution region."""
    walk = walk_of(state)
    if not 0 <= step <= len(walk.visits):
        raise StateError("step", f"step {step} is not among the steps from 0 to {len(walk.visits)}")
    memory = memory_at(state, step)
    fields: dict[str, Any] = {"step": step, "boundaries": {}, "errors": {}, "before": None, "region": [], "tie": []}
    for readout in state.readouts:
        shape = boundary(state, memory, readout)
        fields["boundaries"][readout] = None if shape is None else shape.as_json()
        fields["errors"][readout] = errors(state, memory, readout)
    if step and walk.mistaken[step - 1]:
        before = boundary(state, memory_at(state, step - 1), "last")
        fields["before"] = None if before is None else before.as_json()
    if isinstance(memory, LinearMemory) and state.points:
        weights = state.as_plane(memory.weights[0]).tolist()
        fields["region"] = solution_region(state, weights)
        fields["tie"] = tie_line(state, int(walk.visits[step - 1]), weights) if step else []
    return fields


def boundary(state: State, memory: Any, readout: Readout) -> Shape | None:
    """Return the decision boundary of a read-out; None before the first mistake."""
    if not memory.updates:
        return None
    if isinstance(memory, LinearMemory) and readout != "vote":
        return plane_shape(state.as_plane(read_out(memory, readout)[0]).tolist(), state.view)
    is_vote = readout == "vote"
    return grid_shape(lambda plane: decided(state, memory, readout, plane), state.view, jumps=is_vote)


def errors(state: State, memory: Any, readout: Readout) -> int:
    """Count the points that a read-out gets wrong."""
    if not state.points:
        return 0
    scores = decided(state, memory, readout, state.plane)
    return int(np.count_nonzero((2 * predicted(scores) - 1) != state.labels))
