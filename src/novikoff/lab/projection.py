"""The hypothetical projection behind Freund and Schapire's bound: the first pass over points that nothing separates."""

from typing import Any

from novikoff.engine.rounding import at_least
from novikoff.lab.state import State
from novikoff.lab.walk import Walk
from novikoff.prove.run.bounds import lift_inseparable
from novikoff.prove.run.follow import FollowedProof, follow_proof
from novikoff.prove.run.search.freund_schapire import freund_schapire_bound

PARTS = ("progress", "cosine", "length", "distance")
BOUNDS = ("progress_floor", "cosine_floor", "length_ceiling", "distance_ceiling")


def projection_as_json(state: State, walk: Walk) -> dict[str, Any] | None:
    """The three proofs of the first pass in d + m dimensions, over its mistakes; None where no plane helps."""
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
        "words": f"with a coordinate of its own for every example, in {dimensions} dimensions, a plane separates them "
        f"with margin {at_least(followed.margin)}",
        "dimensions": dimensions,
        "radius": followed.radius,
        "margin": followed.margin,
        "bound": followed.bound,
        "left": [followed.bound - k for k in range(len(followed.length))],
    }


def numbers_of(followed: FollowedProof) -> dict[str, list[float]]:
    """The arrays of a proof, over the mistakes k = 0, 1, ..."""
    return {name: getattr(followed, name).tolist() for name in (*PARTS, *BOUNDS)}
