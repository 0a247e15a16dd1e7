"""The answers of a model's state: predictions and the reasons for them, its record, its largest weights.

The last weights are the sum of the mistakes z_k, so a score is the sum of <z_k, x>. The average of the weights after
each of n examples contains z_k with the factor (n - a_k)/n, where a_k examples came before it. Either way every mistake
contributes to the lead of an answer over its rival, and the contributions add up.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from novikoff.features.names import Intercept, as_numbers
from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.prove.run.bounds import mistake_bound
from novikoff.serve import events, messages
from novikoff.serve.events import Example, Label, LogRow, Prediction, Settings
from novikoff.serve.fold import Mistake, ModelState, Path, path_to, scaled_numbers
from novikoff.serve.messages import Contribution, PastMistake, Score, Why
from novikoff.serve.replay import mistakes_of, rollbacks_of
from novikoff.serve.store import Store
from novikoff.serve.tally import WINDOW

MISTAKES_AT_ONCE = 500


def predict(learner: OnlinePerceptron, x: Mapping[Any, Any]) -> tuple[Label | None, list[Score]]:
    """Return the label that the read-out predicts, and its scores of all classes; of two, they are opposite."""
    decision = learner.decision_one(x)
    if isinstance(decision, dict):
        best = max(decision, key=decision.__getitem__)
        return best, [Score(label, score) for label, score in decision.items()]
    if len(learner.classes) < 2:
        return next(iter(learner.classes), None), [Score(label, 0.0) for label in learner.classes]
    first, second = learner.classes
    return (second if decision >= 0.0 else first), [Score(first, -decision), Score(second, decision)]


def to_remember(name: str, state: ModelState, x: Any, label: Label | None, scores: list[Score]) -> Prediction:
    """Return what to store of a prediction, so that it can be judged by its label and explained later."""
    learner, served = state.learner, None
    if state.settings.judge == "served":
        served = learner.serve_one(x)._replace(point=None)  # stored beside it
    own = [score.score for score in scores if score.label == label]
    others = [score for score in scores if score.label != label]
    rival = max(others, key=lambda score: score.score) if others else None
    lead = own[0] - rival.score if rival else 0.0
    return Prediction(
        *(name, x, label, state.seq, learner.examples, learner.updates, lead),
        rival=rival.label if rival else None,
        served=served,
        point=scaled_numbers(learner, x),
        readout=learner.predicts_with,
    )


def about(name: str, state: ModelState) -> messages.About:
    """Return how a model learns, and how far it is."""
    learner = state.learner
    return messages.About(
        *(name, state.settings, state.seq, list(learner.classes), learner.examples, learner.mistakes),
        features=len(learner.feature_names()),
    )


def record(state: ModelState, waiting: int, margin: float | None) -> messages.Record:
    """Return what happened and what it proves, with the bound for a margin, or for the largest not ruled out."""
    run, counts = state.learner.run, state.counts
    if margin is None and 0.0 < run.margin_at_most < math.inf:
        margin = run.margin_at_most
    drift = counts.drift
    return messages.Record(
        seq=state.seq,
        examples=run.examples,
        mistakes=run.mistakes,
        narrow=run.narrow,
        revealed=counts.revealed,
        wrong=counts.wrong,
        waiting=waiting,
        judge=state.settings.judge,
        radius=run.radius,
        weights_length=run.weights_length,
        margin_at_most=None if math.isinf(run.margin_at_most) else run.margin_at_most,
        delay=messages.Delay(float(mean_delay(state)), counts.longest_wait),
        bound=None if margin is None else bound(state, margin),
        curve=counts.curve,
        drift=messages.DriftReport(WINDOW, drift.examples, drift.mistakes, drift.expected, drift.alarms),
    )


def mean_delay(state: ModelState) -> Fraction:
    """Return tau: the mean over all updates of how many were learned between serving and learning."""
    learner = state.learner
    waited = learner.waited if state.settings.judge == "served" else state.counts.waited
    return Fraction(waited, learner.updates) if learner.updates else Fraction(0)


def bound(state: ModelState, margin: float) -> messages.Bound:
    """Return how many updates are possible if some weights separate the stream with this margin, for both judges."""
    learner = state.learner
    known: dict[str, Any] = {"n_classes": max(len(learner.classes), 2), "lead": learner.lead}
    # If no example so far is as long as the margin, nothing was learned that it could bound.
    is_possible = margin * margin <= learner.radius**2 * (1 if known["n_classes"] == 2 else 2)
    delays = (0, mean_delay(state))
    exact = [mistake_bound(learner.radius, margin, delay=d, **known) if is_possible else 0 for d in delays]
    on_arrival, as_served = (most if most < 2**63 else None for most in exact)
    holds = as_served if state.settings.judge == "served" else on_arrival
    return messages.Bound(margin, on_arrival, as_served, holds, margin > learner.margin_at_most)


def weights(state: ModelState, top: int) -> messages.HeaviestWeights:
    """Return the weights of each class that are furthest from 0, the largest first."""
    learner = state.learner
    labels = learner.classes if len(learner.classes) > 2 else learner.classes[1:] or (None,)
    classes = []
    for label in labels:
        asked = label if learner.classes else None
        heaviest = heapq.nlargest(top, learner.weights(asked).items(), key=lambda item: abs(item[1]))
        listed = [messages.FeatureWeight(str(name), weight) for name, weight in heaviest]
        classes.append(messages.ClassWeights(label, learner.intercept(asked), listed))
    return messages.HeaviestWeights(state.seq, classes)


def why(store: Store, model: int, state: ModelState, said: Prediction, top: int) -> Why:
    """Return the features and the mistakes that contributed most to a prediction."""
    settings, path = state.settings, path_to(said.seq, rollbacks_of(store, model))
    x, given = _folded(said.x, said.point, settings), _folded(said.x, None, settings)
    by_feature: dict[Any, float] = defaultdict(float)
    past: list[PastMistake] = []
    n_mistakes, total = 0, 0.0
    for mistake, example in _examples(store, model, path, said.seq):
        n_mistakes += 1
        share = _sign(mistake, example.y, said) * _share(mistake, said)
        z = _folded(example.x, mistake.point, settings)
        products = {name: share * z[name] * value for name, value in x.items() if name in z}
        for name, product in products.items():
            by_feature[name] += product
        contribution = sum(products.values())
        total += contribution
        past.append(PastMistake(mistake.seq, example.x, example.y, contribution))
        if len(past) > 4 * top:
            past = heapq.nlargest(top, past, key=_size)
    features = [
        Contribution("(intercept)" if name is Intercept else str(name), float(given[name]), contribution)
        for name, contribution in by_feature.items()
    ]
    return Why(
        *(said.id, said.label, said.rival, said.seq, said.lead),
        features=heapq.nlargest(top, features, key=_size),
        past=heapq.nlargest(top, past, key=_size),
        mistakes=n_mistakes,
        rest=said.lead - total,
    )


def _size(part: PastMistake | Contribution) -> float:
    return abs(part.contribution)


def _folded(x: Mapping[str, Any], point: Mapping[str, float] | None, settings: Settings) -> dict[Any, float]:
    """Return the example as it was scaled, if it was, with its constant."""
    return {**as_numbers({**x, **(point or {})}), **({Intercept: 1.0} if settings.fit_intercept else {})}


def _share(mistake: Mistake, said: Prediction) -> float:
    """Return the fraction of a mistake that is in the weights that answered."""
    return 1.0 if said.readout == "last" else 1.0 - mistake.before / said.examples


def _sign(mistake: Mistake, y: Label, said: Prediction) -> int:
    """Return how often the mistake was added to the predicted label, and subtracted from its rival."""
    other = mistake.rival
    if other is None:
        other = said.rival if y == said.label else said.label
    return (y == said.label) - (other == said.label) - (y == said.rival) + (other == said.rival)


def _examples(store: Store, model: int, path: Path, upto: int) -> Iterator[tuple[Mistake, Example]]:
    """Yield the mistakes up to an event, with their examples, as far as these are still in the log."""
    mistakes = [mistake for mistake in mistakes_of(store, model, path, 0)[0] if mistake.seq <= upto]
    for start in range(0, len(mistakes), MISTAKES_AT_ONCE):
        some = mistakes[start : start + MISTAKES_AT_ONCE]
        rows = store.rows_of(model, [mistake.seq for mistake in some])
        examples = {seq: example for row in rows for seq, example in _examples_of(row)}
        yield from ((mistake, examples[mistake.seq]) for mistake in some if mistake.seq in examples)


def _examples_of(row: LogRow) -> Iterator[tuple[int, Example]]:
    for seq, event in enumerate(events.decode(row.kind, row.body), start=row.first):
        yield seq, event if row.kind == "learn" else Example(event.prediction.x, event.y)
