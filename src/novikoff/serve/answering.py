"""What a state of a model answers: predictions, its record, its heaviest weights.

The Open Inference protocol has tensors for rows: one for each feature, and predictions as tensors.
"""

import heapq
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from novikoff.learn.online.perceptron import OnlinePerceptron
from novikoff.prove.run.bounds import mistake_bound
from novikoff.serve import messages
from novikoff.serve.events import Label, Prediction
from novikoff.serve.fold import Line, State, scaled_numbers
from novikoff.serve.messages import Inferred, ModelMetadata, OutTensor, Score, Tensor, TensorAbout, ToInfer
from novikoff.serve.tally import WINDOW

MOST_ROWS = 10_000
MOST_INPUTS_SHOWN = 1000


def predict(learner: OnlinePerceptron, x: Mapping[Any, Any]) -> tuple[Label | None, list[Score]]:
    """The label that the read-out gives to an example, and its scores of all classes; of two, they are opposite."""
    decision = learner.decision_one(x)
    if isinstance(decision, dict):
        best = max(decision, key=decision.__getitem__)
        return best, [Score(label, score) for label, score in decision.items()]
    if len(learner.classes) < 2:
        return next(iter(learner.classes), None), [Score(label, 0.0) for label in learner.classes]
    first, second = learner.classes
    return (second if decision >= 0.0 else first), [Score(first, -decision), Score(second, decision)]


def to_remember(name: str, state: State, x: Any, label: Label | None, scores: list[Score]) -> Prediction:
    """What has to be remembered of a prediction, so that its label can be judged and its reasons be given."""
    learner, served = state.learner, None
    if state.line.settings.judge == "served":
        served = learner.serve_one(x)._replace(point=None)  # it stands beside
    own = [score.score for score in scores if score.label == label]
    others = [score for score in scores if score.label != label]
    rival = max(others, key=lambda score: score.score) if others else None
    lead = own[0] - rival.score if rival else 0.0
    return Prediction(
        *(name, x, label, state.seq, state.line.number, learner.examples, learner.updates, lead),
        rival=rival.label if rival else None,
        served=served,
        point=scaled_numbers(learner, x),
        readout=learner.predicts_with,
    )


def about(name: str, state: State) -> messages.About:
    """How a model learns, and how far it is."""
    learner = state.learner
    return messages.About(
        *(name, state.line.settings, state.seq, list(learner.classes), learner.examples, learner.mistakes),
        features=len(learner.feature_names()),
        challengers=list(state.challengers),
    )


def record(state: State, waiting: int, margin: float | None) -> messages.Record:
    """What happened, and what it proves; with the bound for a margin, or for the largest that is not ruled out."""
    run, counts = state.learner.run, state.line.counts
    if margin is None and 0.0 < run.margin_at_most < math.inf:
        margin = run.margin_at_most
    curve, drift = counts.curve, counts.drift
    return messages.Record(
        seq=state.seq,
        examples=run.examples,
        mistakes=run.mistakes,
        narrow=run.narrow,
        revealed=counts.revealed,
        wrong=counts.wrong,
        waiting=waiting,
        judge=state.line.settings.judge,
        radius=run.radius,
        weights_length=run.weights_length,
        margin_at_most=None if math.isinf(run.margin_at_most) else run.margin_at_most,
        delay=messages.Delay(float(mean_delay(state.line)), counts.longest_wait),
        bound=None if margin is None else bound(state.line, margin),
        curve=messages.Curve(curve.stride, curve.mistakes),
        drift=messages.DriftReport(WINDOW, drift.examples, drift.mistakes, drift.expected, drift.alarms),
        challengers=[
            messages.Comparison(
                *(name, rival.line.settings, rival.line.number, rival.examples, rival.wrong, rival.model_wrong),
                mistakes=rival.line.learner.mistakes,
            )
            for name, rival in state.challengers.items()
        ],
    )


def mean_delay(line: Line) -> Fraction:
    """tau: how many updates were learned between serving and learning, in the mean over all updates."""
    learner, judge = line.learner, line.settings.judge
    waited = learner.waited if judge == "served" else line.counts.waited
    return Fraction(waited, learner.updates) if learner.updates else Fraction(0)


def bound(line: Line, margin: float) -> messages.Bound:
    """How many updates there can be if some weights separate the stream with this margin, for both judges."""
    learner = line.learner
    known: dict[str, Any] = {"n_classes": max(len(learner.classes), 2), "lead": learner.lead}
    # No example so far may be as long as the margin asked for: then nothing was learned that it could bound.
    is_possible = margin * margin <= learner.radius**2 * (1 if known["n_classes"] == 2 else 2)
    delays = (0, mean_delay(line))
    exact = [mistake_bound(learner.radius, margin, delay=d, **known) if is_possible else 0 for d in delays]
    on_arrival, as_served = (most if most < 2**63 else None for most in exact)
    holds = as_served if line.settings.judge == "served" else on_arrival
    return messages.Bound(margin, on_arrival, as_served, holds, margin > learner.margin_at_most)


def weights(state: State, top: int) -> messages.Weights:
    """The weights of each class that are furthest from 0, the heaviest first."""
    learner = state.learner
    labels = learner.classes if len(learner.classes) > 2 else learner.classes[1:] or (None,)
    classes = []
    for label in labels:
        asked = label if learner.classes else None
        heaviest = heapq.nlargest(top, learner.weights(asked).items(), key=lambda item: abs(item[1]))
        listed = [messages.Weight(str(name), weight) for name, weight in heaviest]
        classes.append(messages.ClassWeights(label, learner.intercept(asked), listed))
    return messages.Weights(state.seq, classes)


def infer(name: str, state: State, asked: ToInfer) -> Inferred:
    """The labels and scores of rows; a ValueError says what is wrong with the tensors."""
    columns = {tensor.name: _column(tensor) for tensor in asked.inputs}
    sizes = {len(column) for column in columns.values()}
    if len(columns) < len(asked.inputs) or len(sizes) != 1:
        raise ValueError("every feature is one tensor, and all have as many values as there are rows")
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    learner = state.learner
    answers = [predict(learner, row) for row in rows]
    labels: list[Label | None] = [label for label, _ in answers]
    scores = [score.score for _, scores in answers for score in scores]
    kind = _datatype(list(learner.classes))
    said: list[Any] = ["" if label is None else str(label) for label in labels] if kind == "BYTES" else labels
    outputs = [
        OutTensor("label", [len(rows)], kind, said),
        OutTensor("score", [len(rows), len(learner.classes)], "FP64", scores),
    ]
    return Inferred(name, str(state.seq), asked.id, outputs)


def _column(tensor: Tensor) -> list[Any]:
    rows = tensor.shape[0] if tensor.shape else -1
    if rows not in range(1, MOST_ROWS + 1) or math.prod(tensor.shape) != rows or len(tensor.shape) > 2:
        raise ValueError(f"{tensor.name!r:.60} must have the shape [rows] or [rows, 1], with 1 to {MOST_ROWS:,} rows")
    if len(tensor.data) != rows:
        raise ValueError(f"{tensor.name!r:.60} has {len(tensor.data)} values for {rows} rows")
    if any(isinstance(value, str) != (tensor.datatype == "BYTES") for value in tensor.data):
        raise ValueError(f"{tensor.name!r:.60} has texts if it is of BYTES, and else numbers")
    return tensor.data


def _datatype(labels: list[Label]) -> str:
    kinds = {type(label) for label in labels}
    fits = all(not isinstance(label, int) or abs(label) < 2**63 for label in labels)
    return (
        {bool: "BOOL", int: "INT64", float: "FP64"}.get(kinds.pop(), "BYTES") if len(kinds) == 1 and fits else "BYTES"
    )


def metadata(name: str, state: State) -> ModelMetadata:
    """The tensors of a model: features may be new at any time, so the inputs are those that it has weights for."""
    learner = state.learner
    known = [feature for feature in learner.feature_names() if isinstance(feature, str)]
    inputs = [TensorAbout(feature, [-1], "FP64") for feature in known[:MOST_INPUTS_SHOWN]]
    outputs = [
        TensorAbout("label", [-1], _datatype(list(learner.classes))),
        TensorAbout("score", [-1, len(learner.classes)], "FP64"),
    ]
    return ModelMetadata(name, [str(state.seq)], "novikoff", inputs, outputs)
