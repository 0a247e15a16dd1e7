"""The Open Inference protocol: rows whose features are tensors, one a feature, and predictions as tensors."""

import math
from typing import Any

from novikoff.serve.answering import predict
from novikoff.serve.events import Label
from novikoff.serve.fold import State
from novikoff.serve.messages import Inferred, ModelMetadata, OutTensor, Tensor, TensorAbout, ToInfer

MOST_ROWS = 10_000
MOST_INPUTS_SHOWN = 1000


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
