"""The kernel perceptron on a budget: at most B support rows, and no claim about (R/gamma)^2.

The rule says what happens when a mistake finds them full: `random` forgets any row (Cavallanti, Cesa-Bianchi & Gentile
2007); `forgetron` shrinks all coefficients just as much as is needed to forget the oldest row safely (Dekel, Shalev-
Shwartz & Singer 2008, self-tuned; their theorem is about K(x, x) <= 1 and two classes); `projectron` keeps its rows and
adds the new one's projection on their span (Orabona, Keshet & Caputo 2008). An average with the forgotten rows would
need all of them, and without them it would be no average: so it begins anew whenever a row is forgotten. The Projectron
forgets none, averages best, and is the default.
"""

from typing import TYPE_CHECKING

import numpy as np

from novikoff.engine.gram import (
    DONE,
    DOUBT,
    FORGETRON,
    FULL,
    PROJECTRON,
    RANDOM,
    Budget,
    Candidates,
    Pass,
    visit_block,
    visit_block_on_a_budget,
)
from novikoff.learn.kernel.kernels import Floats, GrowingArray, GrowingPoints, Points, check_finite
from novikoff.learn.kernel.memory import BudgetRule, Numbers

if TYPE_CHECKING:
    from novikoff.learn.kernel.expansion import Expansion

BUDGET_RULES: dict[BudgetRule, int] = {"projectron": PROJECTRON, "forgetron": FORGETRON, "random": RANDOM}


def check_budget(
    budget: int | None,
    rule: str,
    *,
    readout: str = "average",
    min_margin: float | None = None,
    weighted: bool = False,
) -> None:
    if rule not in BUDGET_RULES:
        raise ValueError(f"budget_rule={rule!r} is unknown; choose one of {', '.join(BUDGET_RULES)}")
    if budget is None:
        return
    if isinstance(budget, bool) or int(budget) != budget or budget < 1:
        raise ValueError(f"budget={budget!r} must be a whole number of at least 1, or None for no limit")
    if readout == "vote":
        raise ValueError(
            f'readout="vote" needs all mistakes, and budget={budget} forgets some; use readout="average", or no budget'
        )
    if weighted and rule == "forgetron":
        raise ValueError(
            'class_weight multiplies examples, and budget_rule="forgetron" shrinks by what steps of 1 may do; use '
            '"projectron"'
        )
    if min_margin is not None:
        raise ValueError(
            f"min_margin={min_margin} can be ruled out only by the sum of all mistakes, and budget={budget} forgets "
            "some; leave one of them out"
        )


def visit_on_a_budget(space: "Expansion", rows: Numbers) -> tuple[int, int]:
    """One block with at most B support rows, which are candidates for the support beside those of the block."""
    memory = space.memory
    if memory.projector is not None:
        return _visit_projected(space, rows)
    assert memory.budget is not None
    block, own = space.block(rows)
    support = memory.support.points(space.matrix())
    values = memory.kernel.between(support, block)
    memory.largest = max(memory.largest, check_finite(values))
    gram = np.ascontiguousarray(np.block([[memory.gram, values], [values.T, own]]))
    m, b = len(support), len(rows)
    among = _candidates(space, rows, m)
    draws = space.generator.random(b)
    budget = Budget(memory.budget, BUDGET_RULES[memory.budget_rule], draws)
    added, scores = np.zeros((len(space.labels), b)), np.zeros((len(space.labels), b))
    narrow, updates = np.zeros(added.shape, dtype=np.bool_), memory.by_class.copy()
    labels = np.ascontiguousarray(space.labels[:, rows])
    task = (space.along(rows), updates, added, narrow, budget, among)
    step, why = visit_block_on_a_budget(gram, labels, scores, 0, False, *task)
    while why == DOUBT:
        alive = among.alive[: among.counts[0]]
        one = block.take(np.array([step]))
        old, new = alive[alive < m], alive[alive >= m]
        parts = [
            (support.take(old), among.coefficients[:, old].T),
            (block.take(new - m), among.coefficients[:, new].T),
        ]
        scores[:, step] = space.exact_scores(parts, one)
        step, why = visit_block_on_a_budget(gram, labels, scores, step, True, *task)
    space.note(rows[:step], added[:, :step], narrow[:, :step])
    _keep(space, rows, block, support, gram, among)
    memory.by_class = updates
    memory.examples += step
    if why == FULL:
        memory.projector = np.asarray(np.linalg.pinv(memory.gram, hermitian=True), dtype=np.float64)
    return step, why


def _candidates(space: "Expansion", rows: Numbers, m: int) -> Candidates:
    memory = space.memory
    b, n_classes = len(rows), len(space.labels)
    more = np.zeros((n_classes, b))
    where = {row: place for place, row in enumerate(memory.rows.array.tolist())}
    twins = [where.get(row, -1) for row in (rows + space.first).tolist()]
    return Candidates(
        np.hstack([memory.coefficients.array.T, more]),
        np.hstack([memory.drift.array.T, more]),
        np.arange(m + b),
        np.array([m, memory.rounds, memory.since]),
        np.array(twins, dtype=np.int64),
        memory.damage.copy(),
    )


def _keep(space: "Expansion", rows: Numbers, block: Points, support: Points, gram: Floats, among: Candidates) -> None:
    """Make the candidates that are alive the support."""
    memory, m = space.memory, len(support)
    alive = among.alive[: among.counts[0]]
    old, new = alive[alive < m], alive[alive >= m]  # the oldest first, so the old ones come before the new
    kept, numbers = GrowingPoints(), GrowingArray.empty(np.int64)
    kept.extend(support.take(old) if len(old) else block.take(old))
    kept.extend(block.take(new - m))
    numbers.extend(memory.rows.array[old])
    numbers.extend(rows[new - m] + space.first)
    memory.support, memory.rows = kept, numbers
    memory.rounds, memory.since = int(among.counts[1]), int(among.counts[2])
    memory.gram, memory.damage = gram[np.ix_(alive, alive)], among.damage
    memory.coefficients = GrowingArray.of(among.coefficients[:, alive].T.copy())
    memory.drift = GrowingArray.of(among.drift[:, alive].T.copy())


def _visit_projected(space: "Expansion", rows: Numbers) -> tuple[int, int]:
    """One block after the Projectron's budget is full: the perceptron with products in the span of its rows."""
    memory = space.memory
    assert memory.projector is not None
    block = space.points.take(rows)
    values = memory.kernel.between(memory.support.points(space.matrix()), block)
    check_finite(values)
    shares = memory.projector @ values
    gram = values.T @ shares
    scores = memory.coefficients.array.T @ values
    added, narrow = np.zeros(scores.shape), np.zeros(scores.shape, dtype=np.bool_)
    certain = Pass(*space.rule(rows), np.full(len(scores), -1.0), memory.examples, 0.0, 0.0)
    labels = np.ascontiguousarray(space.labels[:, rows])
    task = (gram, labels, np.ascontiguousarray(scores), 0, True, certain)
    updates = memory.by_class.copy()
    visit_block(*task, updates, np.zeros(len(scores)), added, narrow)
    space.note(rows, added, narrow)
    ages = memory.examples + np.arange(len(rows))
    memory.coefficients = GrowingArray.of(memory.coefficients.array + shares @ added.T)
    memory.drift = GrowingArray.of(memory.drift.array + shares @ (added * ages).T)
    memory.by_class = updates
    memory.examples += len(rows)
    return len(rows), DONE
