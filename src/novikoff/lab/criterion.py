"""The criterion J_p as a surface over the plane of weights, and two ways down: example by example, and in batches."""

from typing import Any

import numpy as np

from novikoff.lab.state import State
from novikoff.lab.walk import Walk, weights_along
from novikoff.learn.linear.descent import batch_descent, perceptron_criterion

NODES = 25
# The batch rule begins opposite to the solutions, and its first step has this share of the half-width of the surface.
FIRST_STEP = 0.3
MOST_STEPS = 60


def criterion_as_json(state: State, walk: Walk, separator: list[float] | None) -> dict[str, Any]:
    """Heights over a square grid, rows from below, and the two paths with their heights."""
    examples, labels = state.rows, state.labels
    online = weights_along(state, walk)[:, :2]
    reach = 1.2 * float(np.abs(online).max()) or 1.0
    axis = np.linspace(-reach, reach, NODES)
    heights = perceptron_criterion(examples, labels, np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2))
    start = -0.85 * reach * np.array(separator or [0.8, 0.6])
    wrong = (examples @ start) * labels <= 0
    pull = float(np.linalg.norm((examples * labels[:, None])[wrong].sum(axis=0))) or 1.0
    batch = batch_descent(examples, labels, start=start, rate=FIRST_STEP * reach / pull, max_steps=MOST_STEPS)
    return {
        "reach": reach,
        "heights": heights.reshape(NODES, NODES).tolist(),
        "online": perceptron_criterion(examples, labels, online).tolist(),
        "batch": np.column_stack([batch, perceptron_criterion(examples, labels, batch)]).tolist(),
    }
