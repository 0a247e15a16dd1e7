"""Predictions, and their errors, for all shards."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novikoff.cluster.engine import Engine, Local
from novikoff.cluster.shards import SHARD_BYTES, Shard, shards_of
from novikoff.cluster.survey import joined_types
from novikoff.cluster.worker import Worker
from novikoff.learn.measures import RocScores
from novikoff.learn.model import Classifier


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """The label of every row, in the order of the data, and its scores, as `Perceptron.decision_function` has them."""

    labels: NDArray[Any]
    scores: NDArray[np.float64]
    unseen: Mapping[str, int]
    missing: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class ErrorCounts:
    """How many rows a model gets wrong. `confusion` counts, for every label, the predicted ones.

    `labels` are the classes of the model, in its order, and then all other labels of the rows. `unseen` and `missing`
    count, by column, the values that were not seen, or not missing, in training. `auc` is the area under the ROC curve
    of two classes.
    """

    rows: int
    errors: int
    labels: tuple[Any, ...]
    confusion: tuple[tuple[int, ...], ...]
    unseen: Mapping[str, int]
    missing: Mapping[str, int]
    auc: float | None = None

    @property
    def accuracy(self) -> float:
        return 1 - self.errors / self.rows

    def __str__(self) -> str:
        return f"{self.errors:,} errors on {self.rows:,} rows ({self.errors / self.rows:.2%})"


def predict(
    model: Any,
    source: Any,
    *,
    engine: Engine | None = None,
    format: str | None = None,
    shard_bytes: int = SHARD_BYTES,
) -> PredictedRows:
    """Predict all rows of a source, as `cluster.fit` takes it, with a `Perceptron`.

    The indices of svmlight text begin where they began in training.
    """
    plain = _plain(model)
    parts = _on_shards(plain, source, engine, format, shard_bytes, None)
    labels = plain.classes[np.concatenate([part[0] for part in parts])]
    return PredictedRows(labels, np.concatenate([part[1] for part in parts]), *_unknown(parts))


def score(
    model: Any,
    source: Any,
    *,
    label: str | None = None,
    engine: Engine | None = None,
    format: str | None = None,
    shard_bytes: int = SHARD_BYTES,
) -> ErrorCounts:
    """Count the rows of a source that a `Perceptron` gets wrong; the `label` is that of training, unless named."""
    plain = _plain(model)
    label = label or getattr(source, "label", None) or plain.parameters.get("label")
    if plain.takes_a_table and label is None:
        raise ValueError("the model does not record its label column; name it with label=")
    parts = _on_shards(plain, source, engine, format, shard_bytes, label or "")
    pairs: Counter[tuple[Any, Any]] = sum((part[1] for part in parts), Counter())
    known = plain.classes.tolist()
    names = [*known, *sorted({truth for truth, _ in pairs} - set(known), key=str)]
    rows, right = pairs.total(), sum(pairs[name, name] for name in known)
    confusion = tuple(tuple(pairs[truth, guess] for guess in known) for truth in names)
    auc = RocScores(known, [part for shard in parts for part in shard[0]]).area()
    return ErrorCounts(rows, rows - right, tuple(names), confusion, *_unknown(parts), auc)


def _plain(model: Any) -> Classifier:
    """Return the model without scikit-learn, and without what it has prepared to predict."""
    return replace(model.to_model() if hasattr(model, "to_model") else model)


def _unknown(parts: Sequence[Any]) -> tuple[Counter[str], Counter[str]]:
    return sum((part[2] for part in parts), Counter()), sum((part[3] for part in parts), Counter())


def _on_shards(
    model: Classifier, source: Any, engine: Engine | None, format: str | None, shard_bytes: int, label: str | None
) -> list[Any]:
    """Return what all shards predict; with a `label` that is not None, their confusion counts."""
    shards = shards_of(source, format=format, shard_bytes=shard_bytes)
    check_kind(model, shards)
    engine = engine or Local()
    try:
        engine.start(Worker, shards)
        types = model.encoding.types if model.encoding is not None and model.takes_a_table else None
        if types is not None and label is not None:
            types = {**types, **joined_types(shards, engine.call("apply", None, type_of_label, label))}
        return engine.call("apply", None, decided, model, label, types)
    finally:
        engine.close()


def check_kind(model: Classifier, shards: Sequence[Shard]) -> None:
    """Refuse numbers where a model needs a table, and vice versa."""
    if shards[0].is_table and not model.takes_a_table:
        raise ValueError(f"{shards[0].name} is a table, but the model was learned from numbers without names")
    if not shards[0].is_table and model.takes_a_table:
        raise ValueError(f"{shards[0].name} is svmlight text, but the model was learned from a table")


# -- what shards do ---------------------------------------------------------------------------------------------------


def type_of_label(worker: Worker, _: Any, label: str) -> dict[str, str]:
    """Return the type of the label column."""
    return {label: worker.shard.reader(label, {label: None}).column_types[label]}


def decided(worker: Worker, _: Any, model: Classifier, label: str | None, types: Mapping[str, str] | None) -> Any:
    """Return the indices of the predicted labels and the scores, or the confusion counts.

    After them, by column, the values that were not seen, or not missing, in training.
    """
    places, scores, pairs = [], [], Counter[tuple[Any, Any]]()
    curve = RocScores(model.classes.tolist())
    unseen, missing = Counter[str](), Counter[str]()
    for batch in worker.shard.reader(label or None, types, model.parameters.get("zero_based", True)):
        found = model.decide(batch)
        unseen.update(found.unseen)
        missing.update(found.missing)
        if label is None:
            places.append(np.searchsorted(model.classes, found.labels))
            scores.append(found.scores)
        else:
            assert batch.labels is not None
            pairs.update(zip(batch.labels.tolist(), found.labels.tolist(), strict=True))
            curve.add(found, batch.labels)
    if not places and not pairs:
        raise ValueError(f"{worker.shard.name} has no rows to predict")
    if label is not None:
        return curve.parts, pairs, unseen, missing
    return (
        np.concatenate(places).astype(np.min_scalar_type(len(model.classes))),
        np.concatenate(scores),
        unseen,
        missing,
    )
